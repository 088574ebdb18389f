"""Trees as text, code, pictures and other forms that leave Python."""

from contree.export.c import to_c
from contree.export.dot import to_dot
from contree.export.history import plot_history
from contree.export.json import to_json
from contree.export.page import to_html
from contree.export.plot import plot
from contree.export.python import to_python
from contree.export.sklearn import to_sklearn
from contree.export.sql import to_sql
from contree.export.text import export_text

__all__ = [
    "export_text",
    "plot",
    "plot_history",
    "to_c",
    "to_dot",
    "to_html",
    "to_json",
    "to_python",
    "to_sklearn",
    "to_sql",
]
