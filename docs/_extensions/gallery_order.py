"""The order of the pages in each gallery: that of this list, then pages without code."""

ORDER = [
    "from_csv_to_signature",
    # how-to guides
    "replace_cart",
    "choose_size",
    "read_certificate",
    "weights",
    "imbalanced",
    "missing_values",
    "categories",
    "regression",
    "time_limits",
    "ship",
    # explanation
    "why_not_greedy",
    "overfitting",
]


def key(filename: str) -> int:
    """Return the place of an example; an example that is not listed is an error."""
    return ORDER.index(filename.removesuffix(".py"))


FURTHER_GUIDES = """
.. toctree::
   :hidden:

   /scaling
   /guides/reproduce-the-paper
"""


def add_further_guides(app, docname: str, source: list[str]) -> None:
    """Name the guides without code after those that the gallery has made."""
    if docname == "auto/guides/index":
        source[0] += FURTHER_GUIDES


def setup(app) -> dict:
    app.connect("source-read", add_further_guides)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
