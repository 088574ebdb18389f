"""Trees as text and other forms that leave Python."""

from contree.export.sklearn import to_sklearn
from contree.export.text import export_text

__all__ = ["export_text", "to_sklearn"]
