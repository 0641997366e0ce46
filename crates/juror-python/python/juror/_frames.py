"""Results as tables, for libraries that work on those."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ._juror import Table

if TYPE_CHECKING:
    import pandas
    import polars


def to_arrow(results: Iterable[Mapping[str, Any]]) -> Table:
    """Results as a table that any library with Arrow's C interface takes as it is.

        pyarrow.table(juror.to_arrow(results))
        polars.DataFrame(juror.to_arrow(results))
        duckdb.from_arrow(juror.to_arrow(results))

    A row is a question, a column a key, in the order in which keys first appear. A column has whole
    numbers, numbers, truth values or texts; lists and objects, such as steps, are JSON texts.
    """
    return Table(results)


def to_pandas(results: Iterable[Mapping[str, Any]]) -> pandas.DataFrame:
    """The same as a data frame of pandas, which has to be installed."""
    import pandas

    return pandas.DataFrame(Table(results).to_pydict())


def to_polars(results: Iterable[Mapping[str, Any]]) -> polars.DataFrame:
    """The same as a data frame of polars, which has to be installed."""
    import polars

    return polars.DataFrame(Table(results))
