"""What comparisons and statistics have in common: keys, tables, texts."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from ._frames import Columns, pandas_frame, polars_frame


class Made(Protocol):
    """What the engine made."""

    def data(self) -> dict[str, Any]: ...
    def json(self) -> str: ...
    def text(self) -> str: ...
    def html(self) -> str: ...
    def save(self, path: str) -> None: ...


class Report(Mapping[str, Any]):
    """A mapping with the keys of its JSON, which prints as a terminal shows it.

    Pickling or copying gives the plain dict.
    """

    _columns: Columns

    def __init__(self, made: Made) -> None:
        self._engine = made
        self._data = made.data()

    def __getitem__(self, key: str) -> Any:
        return self._data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __str__(self) -> str:
        return self._engine.text().rstrip("\n")

    def _repr_html_(self) -> str:
        return self._engine.html()

    def __reduce__(self) -> tuple[Any, ...]:
        # What the engine made cannot leave this process.
        return dict, (self._data,)

    def to_json(self) -> str:
        """Returns the JSON that the program would write."""
        return self._engine.json()

    def to_pandas(self) -> Any:
        """Returns a pandas data frame with the columns of the TSV file; pandas must be installed."""
        return pandas_frame(self._rows(), self._columns)

    def to_polars(self) -> Any:
        """Returns a polars data frame with the columns of the TSV file; polars must be installed."""
        return polars_frame(self._rows(), self._columns)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file, which appears whole or not at all; the ending picks the format."""
        self._engine.save(os.fspath(path))

    @abstractmethod
    def _rows(self) -> Iterator[dict[str, Any]]:
        """The rows of data frames."""


def with_ends(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """Returns numbers with the ends of their interval as `low` and `high`."""
    low, high = numbers["interval"] or (None, None)
    return {**numbers, "low": low, "high": high}
