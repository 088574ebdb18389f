"""A classifier as JSON and back, without pickle: reading never runs code.

The text is one object; ``schema`` and ``version`` say how to read the rest:

==================  ================================================================================
schema, version     "contree.classifier" and 2
contree             the version of the package that wrote it, for people
parameters          the estimator's parameters by name; a dict of class weights is a list of
                    [label, weight]
classes             {"dtype": NumPy's name, "labels": [...]}
n_features          the number of features
feature_names       a list of strings, or null
certificate         status, errors, objective, lower_bound, weight_tolerance
search_report       seconds, counters, history (a list of [seconds, objective, lower_bound]),
                    search, kernel, n_jobs
tree                the arrays of ClassTree by name, as lists; weight_unit is an integer, or a
                    list of numerator and denominator
==================  ================================================================================

Numbers are written so that reading gives the same float64 again; infinity is the string "inf".
Version 1 had neither weights nor missing values: no weight_tolerance, and in the tree no
missing_go_to_left, class_weights, n_node_missing and weight_unit.
"""

from __future__ import annotations

import dataclasses
import json
import math
from importlib.metadata import version

import numpy as np
from sklearn.utils.validation import check_is_fitted

from contree._class_tree import ClassTree
from contree.export import json_check as check

SCHEMA, VERSION = "contree.classifier", 2


def to_json(classifier, indent=None) -> str:
    """Return a fitted classifier as JSON text.

    Parameters
    ----------
    classifier : ConTreeClassifier
        A fitted classifier.
    indent : int, default=None
        Spaces per level, for people; None gives one line.

    Returns
    -------
    text : str
        ``ConTreeClassifier.from_json`` reads it.  The module's docstring states the schema.
    """
    check_is_fitted(classifier, "tree_")
    names = getattr(classifier, "feature_names_in_", None)
    report = classifier.search_report_
    return json.dumps(
        {
            "schema": SCHEMA,
            "version": VERSION,
            "contree": version("contree"),
            "parameters": _parameters(classifier),
            "classes": {
                "dtype": str(classifier.classes_.dtype),
                "labels": [_plain(label) for label in classifier.classes_],
            },
            "n_features": int(classifier.n_features_in_),
            "feature_names": None if names is None else [str(name) for name in names],
            "certificate": {name: getattr(classifier, f"{name}_") for name in check.CERTIFICATE},
            "search_report": {
                **{f.name: getattr(report, f.name) for f in dataclasses.fields(report)},
                "counters": dict(report.counters),
                "history": [list(step) for step in report.history],
            },
            "tree": _tree(classifier.tree_),
        },
        indent=indent,
        allow_nan=False,
    )


def read_json(classifier_class, text: str):
    """Return the fitted classifier that `to_json` wrote.

    Parameters
    ----------
    classifier_class : type
        The class of the classifier to make.
    text : str
        JSON text.

    Returns
    -------
    classifier : ConTreeClassifier
        Fitted.

    Raises
    ------
    ValueError
        If the text is damaged or of another version; the message names what is wrong.
    """
    data = check.parse(text, SCHEMA, VERSION)
    classifier = _with_parameters(classifier_class, check.part(data, "parameters", dict))
    classes = check.classes(check.part(data, "classes", dict))
    n_features = check.integer(data, "n_features", low=1)
    names = check.feature_names(data, n_features)
    arrays = check.part(data, "tree", dict)
    tree = ClassTree(
        **check.tree(arrays, n_features, len(classes), data["version"]),
        n_features=n_features,
        criterion=classifier.criterion,
    )
    certificate = check.part(data, "certificate", dict)
    if data["version"] == 1:
        certificate.setdefault("weight_tolerance", 0.0)
    certificate = check.certificate(certificate, tree, classifier.ccp_alpha)
    report = check.search_report(check.part(data, "search_report", dict))

    classifier.classes_, classifier.n_classes_ = classes, len(classes)
    classifier.n_features_in_ = n_features
    if names is not None:
        classifier.feature_names_in_ = np.array(names, dtype=object)
    for name, value in certificate.items():
        setattr(classifier, f"{name}_", value)
    classifier.tree_, classifier.search_report_ = tree, report
    return classifier


def _with_parameters(classifier_class, parameters: dict):
    known = classifier_class().get_params()
    for name, value in parameters.items():
        if name not in known:
            raise check.damaged(f"parameters.{name} is not a parameter of this version")
        if isinstance(value, bool) and name not in ("verbose", "warm_start"):
            raise check.damaged(f"parameters.{name} must be a number, not {value}")
    classifier = classifier_class(**check.class_weight(parameters))
    try:
        classifier._validate_params()
    except ValueError as error:
        raise check.damaged(f"parameters: {error}") from error
    return classifier


def _parameters(classifier) -> dict:
    parameters = classifier.get_params()
    if isinstance(parameters.get("class_weight"), dict):  # its keys need not be strings
        pairs = parameters["class_weight"].items()
        # A weight may be True, which is 1; a label that is one must stay it.
        parameters["class_weight"] = [
            [_plain(label), int(weight) if isinstance(weight, bool) else _plain(weight)]
            for label, weight in pairs
        ]
    return {
        name: value if name == "class_weight" else _plain(value, f"{name}=")
        for name, value in parameters.items()
    }


def _tree(tree: ClassTree) -> dict:
    arrays = {name: getattr(tree, name).tolist() for name in check.TREE}
    for name in check.MAY_BE_INFINITE:
        arrays[name] = _written(arrays[name])
    unit = tree.weight_unit
    whole = isinstance(unit, int)
    return {**arrays, "weight_unit": unit if whole else [unit.numerator, unit.denominator]}


def _written(value):
    if isinstance(value, list):
        return [_written(one) for one in value]
    return "inf" if value == math.inf else value


def _plain(value, whose: str = ""):
    """Return a value of Python's own types that JSON can hold."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, float) and math.isinf(value):
        return None  # a time limit that never ends
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ValueError(f"JSON cannot hold {whose}{value!r} of type {type(value).__name__}.")
