"""Results as tables, for libraries that work on those."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ._juror import Table


def to_arrow(results: Iterable[Mapping[str, Any]]) -> Table:
    """Results as a table that any library with Arrow's C interface takes as it is.

        pyarrow.table(juror.to_arrow(results))
        polars.DataFrame(juror.to_arrow(results))
        duckdb.from_arrow(juror.to_arrow(results))

    A row is a question, a column a key, in the order in which keys first appear. A column has whole
    numbers, numbers, truth values or texts; lists and objects, such as steps, are JSON texts. After
    these come the metrics that steps have, such as `retrieval_context_recall`: the mean over the
    steps of a question, of costs the sum.
    """
    return Table(results)


def to_pandas(results: Iterable[Mapping[str, Any]]) -> Any:
    """The same as a data frame of pandas, which has to be installed."""
    import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]

    return pandas.DataFrame(Table(results).to_pydict())


def to_polars(results: Iterable[Mapping[str, Any]]) -> Any:
    """The same as a data frame of polars, which has to be installed."""
    import polars  # type: ignore[import-not-found, unused-ignore]

    return polars.DataFrame(Table(results))
