"""The order of the examples in each gallery: that of this list."""

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
