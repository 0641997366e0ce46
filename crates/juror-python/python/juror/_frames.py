"""Results as tables, for data frame libraries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ._juror import Table


def to_arrow(results: Iterable[Mapping[str, Any]]) -> Table:
    """Returns results as a table that any library with Arrow's C interface accepts directly.

        pyarrow.table(juror.to_arrow(results))
        polars.DataFrame(juror.to_arrow(results))
        duckdb.from_arrow(juror.to_arrow(results))

    Each row is a question, each column a key, in the order in which keys first appear. A column has
    integers, floats, booleans or strings; lists and objects, such as steps, are JSON strings. After
    these come the metrics of steps, such as `retrieval_context_recall`: the mean over the steps of a
    question, or the sum for costs.
    """
    return Table(results)


def to_pandas(results: Iterable[Mapping[str, Any]]) -> Any:
    """Returns results as a pandas data frame; pandas must be installed."""
    import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]

    return pandas.DataFrame(Table(results).to_pydict())


def to_polars(results: Iterable[Mapping[str, Any]]) -> Any:
    """Returns results as a polars data frame; polars must be installed."""
    import polars  # type: ignore[import-not-found, unused-ignore]

    return polars.DataFrame(Table(results))


Columns = Mapping[str, type]
"""The columns of a table, and the type of their values: `str`, `int` or `float`."""


def pandas_frame(rows: Iterable[Mapping[str, Any]], columns: Columns) -> Any:
    """Returns rows as a pandas data frame. Every column is there, even if no row has a value."""
    import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]

    types = {int: "Int64", float: "float64", str: None}
    values = _by_column(rows, columns)
    return pandas.DataFrame({name: pandas.Series(values[name], dtype=types[columns[name]]) for name in columns})


def polars_frame(rows: Iterable[Mapping[str, Any]], columns: Columns) -> Any:
    """Returns rows as a polars data frame. Every column is there, even if no row has a value."""
    import polars  # type: ignore[import-not-found, unused-ignore]

    return polars.DataFrame(_by_column(rows, columns), schema=dict(columns))


def _by_column(rows: Iterable[Mapping[str, Any]], columns: Columns) -> dict[str, list[Any]]:
    rows = list(rows)
    return {name: [row.get(name) for row in rows] for name in columns}
