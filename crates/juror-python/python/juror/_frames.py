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
