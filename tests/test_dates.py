"""Dates in X are refused by the column's name, and the conversion that the error names works."""

from __future__ import annotations

import datetime as dt
import re

import numpy as np
import pandas as pd
import pytest

from contree import ConTreeClassifier, ConTreeRegressor

DAYS = [dt.date(2020, 1, day) for day in range(1, 7)]
MOMENTS = [dt.datetime(2020, 1, day, 3) for day in range(1, 7)]
SPANS = [dt.timedelta(days=day) for day in range(6)]
HOURS = [dt.time(hour) for hour in range(6)]
y = [0, 0, 0, 1, 1, 1]

COLUMNS = {
    "datetime64": pd.Series(pd.to_datetime(DAYS)),
    "with a missing one": pd.Series(pd.to_datetime([None, *DAYS[1:]])),
    "with a time zone": pd.Series(pd.to_datetime(DAYS).tz_localize("Europe/Paris")),
    "timedelta64": pd.Series(pd.to_timedelta(SPANS)),
    "Period": pd.Series(pd.period_range("2020-01", periods=6, freq="M")),
    "date": pd.Series(DAYS),
    "date after None": pd.Series([None, *DAYS[1:]], dtype=object),
    "datetime": pd.Series(MOMENTS, dtype=object),
    "timedelta": pd.Series(SPANS, dtype=object),
    "time": pd.Series(HOURS),
    "NumPy's as objects": pd.Series([np.datetime64(day) for day in DAYS], dtype=object),
}


def conversion(X, estimator=None) -> str:
    """Return the conversion in the error for X, whose column is called day."""
    with pytest.raises(ValueError, match="column 'day' has dates or times") as caught:
        (estimator or ConTreeClassifier(2)).fit(X, y)
    return re.search(r": ([^:]*)\.$", str(caught.value))[1]


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_a_column_of_a_frame(column):
    frame = pd.DataFrame({"other": range(6), "day": column})
    for estimator in (ConTreeClassifier(2), ConTreeRegressor(2)):
        converted = eval(
            conversion(frame, estimator), {"column": column, "pandas": pd, "numpy": np}
        )
        assert ConTreeClassifier(1).fit(frame.assign(day=converted)[["day"]], y).errors_ == 0


@pytest.mark.parametrize("values", [DAYS, MOMENTS, SPANS, HOURS], ids="DMSH")
def test_a_column_of_polars(values):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"other": list(range(6)), "day": values})
    converted = eval(conversion(frame), {"column": frame["day"]})
    assert ConTreeClassifier(1).fit(pl.DataFrame({"day": converted}), y).errors_ == 0
    objects = pl.DataFrame({"day": pl.Series(values, dtype=pl.Object)})
    assert conversion(objects)


def test_arrays_and_lists():
    days = np.array(DAYS, dtype="datetime64[D]")[:, np.newaxis]
    for X in (
        days,
        days - days[0],
        days.astype(object),
        days.tolist(),
        [[day] for day in days[:, 0]],
    ):
        with pytest.raises(ValueError, match="column 0 has dates or times"):
            ConTreeClassifier(1).fit(X, y)
    mixed = [[1.0, day] for day in days[:, 0]]
    with pytest.raises(ValueError, match="column 1 has dates or times"):
        ConTreeClassifier(1).fit(mixed, y)


def test_prediction():
    clf = ConTreeClassifier(1).fit(np.arange(6.0)[:, np.newaxis], y)
    for X in (pd.DataFrame({"day": DAYS}), [[day] for day in DAYS]):
        with pytest.raises(ValueError, match="has dates or times"):
            clf.predict(X)
