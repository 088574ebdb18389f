"""One search on many machines, over a Dask cluster.

See ``docs/scaling.md``.  Needs the extra ``contree[distributed]``.
"""

from __future__ import annotations

try:
    import distributed as _dask  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "contree.distributed needs Dask: pip install 'contree[distributed]'", name=error.name
    ) from error

from contree.distributed._fit import fit

__all__ = ["fit"]
