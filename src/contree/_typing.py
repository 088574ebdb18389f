"""What makes the public interface known to type checkers although scikit-learn has no types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from sklearn.base import _fit_context

Method = TypeVar("Method", bound=Callable[..., Any])


def with_checked_parameters(fit: Method) -> Method:
    """Check an estimator's parameters by scikit-learn's own rules before ``fit``."""
    return cast(Method, _fit_context(prefer_skip_nested_validation=True)(fit))
