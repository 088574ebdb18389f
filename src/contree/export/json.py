"""An estimator as JSON and back, without pickle: reading never runs code.

The text is one object; ``schema`` and ``version`` say how to read the rest:

==================  ================================================================================
schema, version     "contree.classifier" and 3, or "contree.regressor" and 2
contree             the version of the package that wrote it, for people
parameters          the estimator's parameters by name; a dict of class weights is a list of
                    [label, weight]
classes             of a classifier: {"dtype": NumPy's name, "labels": [...]}
targets             of a regressor: the least and the greatest of the training rows
n_features          the number of features
feature_names       a list of strings, or null
categories          null, or for each feature null (numbers) or a list of its categories
certificate         status, errors or squared_error, objective, lower_bound, the tolerances; of a
                    classifier leaves_lower_bound, 1 where it is absent
search_report       seconds, counters, history (a list of [seconds, objective, lower_bound]),
                    search, kernel, n_jobs
tree                the arrays of ClassTree or NumberTree by name, as lists; weight_unit,
                    target_unit and target_centre are an integer, or a list of numerator and
                    denominator; categories_left has for each node null, or a list of the positions
                    in categories that go left, and then threshold and threshold_gap are null
==================  ================================================================================

Numbers are written so that reading gives the same float64 again; infinity is the string "inf".
Version 2 of a classifier and version 1 of a regressor had no categories.  Version 1 of a classifier
had neither weights nor missing values: no weight_tolerance, and in the
tree no missing_go_to_left, class_weights, n_node_missing and weight_unit.
"""

from __future__ import annotations

import dataclasses
import json
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from contree.export import json_check as check
from contree.export.json_categories import read_categories, written_categories, written_sets
from contree.export.json_leaf import JsonLeaf, plain


def to_json(estimator: Any, indent: int | None = None) -> str:
    """Return a fitted estimator as JSON text.

    Parameters
    ----------
    estimator : ConTreeClassifier or ConTreeRegressor
        A fitted estimator.
    indent : int, default=None
        Spaces for each level of nesting.  None: everything on one line.

    Returns
    -------
    text : str
        JSON that ``from_json`` of the same class reads.

    Examples
    --------
    >>> from contree import ConTreeClassifier
    >>> clf = ConTreeClassifier(max_depth=1).fit([[1.0], [2.0], [3.0]], ["no", "yes", "yes"])
    >>> again = ConTreeClassifier.from_json(clf.to_json())
    >>> again.predict([[1.2], [9.0]]).tolist()
    ['no', 'yes']
    """
    check_is_fitted(estimator, "tree_")
    names = getattr(estimator, "feature_names_in_", None)
    leaf: type[JsonLeaf] = estimator._json_leaf
    report = estimator.search_report_
    return json.dumps(
        {
            "schema": leaf.schema,
            "version": leaf.version,
            "contree": version("contree"),
            "parameters": {
                name: value if isinstance(value, list) else plain(value, f"{name}=")
                for name, value in leaf.written_parameters(estimator.get_params()).items()
            },
            **leaf.learnt(estimator),
            "n_features": int(estimator.n_features_in_),
            "feature_names": None if names is None else [str(name) for name in names],
            "categories": written_categories(estimator),
            "certificate": {
                name: getattr(estimator, f"{name}_") for name in leaf.certificate_names
            },
            "search_report": {
                **{f.name: getattr(report, f.name) for f in dataclasses.fields(report)},
                "counters": dict(report.counters),
                "history": [list(step) for step in report.history],
            },
            "tree": leaf.tree(estimator.tree_) | written_sets(estimator.tree_),
        },
        indent=indent,
        allow_nan=False,
    )


def read_json(estimator_class: Any, text: str) -> Any:
    """Return the fitted estimator that `to_json` wrote.

    Parameters
    ----------
    estimator_class : type
        The class of the estimator to make.
    text : str
        JSON text.

    Returns
    -------
    estimator : ConTreeClassifier or ConTreeRegressor
        Fitted.

    Raises
    ------
    ValueError
        If the text is damaged or of another version or class; the message names what is wrong.
    """
    leaf: type[JsonLeaf] = estimator_class._json_leaf
    data = check.parse(text)
    check.schema(data, leaf.schema, leaf.version)
    estimator = _with_parameters(estimator_class, check.part(data, "parameters", dict))
    estimator.n_features_in_ = check.integer(data, "n_features", low=1)
    names = check.feature_names(data, estimator.n_features_in_)
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    if data["version"] < leaf.version:
        data = {"categories": None} | data  # older versions had none
    estimator.categories_ = read_categories(data, estimator.n_features_in_)
    leaf.read(data, estimator)
    estimator.search_report_ = check.search_report(check.part(data, "search_report", dict))
    return estimator


def read_any(text: str) -> Any:
    """Return the fitted classifier or regressor that `to_json` wrote, by its schema."""
    from contree._classifier import ConTreeClassifier  # which imports this module
    from contree._regressor import ConTreeRegressor

    is_regressor = check.parse(text).get("schema") == ConTreeRegressor._json_leaf.schema
    return read_json(ConTreeRegressor if is_regressor else ConTreeClassifier, text)


def _with_parameters(estimator_class: Any, parameters: dict[str, Any]) -> Any:
    """Return an estimator with these parameters, checked."""
    known = estimator_class().get_params()
    for name, value in parameters.items():
        if name not in known:
            raise check.damaged(f"parameters.{name} is not a parameter of this version")
        if isinstance(value, bool) and name not in ("minimize_leaves", "verbose", "warm_start"):
            raise check.damaged(f"parameters.{name} must be a number, not {value}")
    features = parameters.get("categorical_features")
    if isinstance(features, dict) or (
        isinstance(features, list) and not all(isinstance(one, (int, str)) for one in features)
    ):
        raise check.damaged("parameters.categorical_features must hold integers, bools or strings")
    estimator = estimator_class(**estimator_class._json_leaf.read_parameters(parameters))
    try:
        estimator._validate_params()
    except ValueError as error:
        raise check.damaged(f"parameters: {error}") from error
    return estimator
