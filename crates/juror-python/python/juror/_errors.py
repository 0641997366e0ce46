"""Errors in the input of an evaluation, with their places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """A problem in an input: what is wrong, where, and what to do about it."""

    message: str
    """What is wrong."""
    file: str | None = None
    """The file, or `None` if the input was Python objects."""
    line: int | None = None
    """Counted from 1; `None` if the input was Python objects."""
    column: int | None = None
    """Counted from 1, in characters; `None` if the input was Python objects."""
    path: str = ""
    """The path to the value, such as `[0].questions[2].id`."""
    hint: str | None = None
    """What to do about it."""

    def __str__(self) -> str:
        text = self.message
        if self.file is not None:
            place = [str(part) for part in (self.file, self.line, self.column) if part is not None]
            text = f"{':'.join(place)}: {text}"
        if self.path:
            text += f"\n  at {self.path}"
        if self.hint:
            text += f"\n  hint: {self.hint}"
        return text


class JurorError(Exception):
    """The base class of Juror's errors."""


class LocatedError(JurorError, ValueError):
    """All problems of an input, in the order of the input.

    `file`, `line`, `column`, `path` and `hint` describe the first problem.
    """

    def __init__(self, problems: Sequence[Problem], n_more: int = 0) -> None:
        texts = [str(problem) for problem in problems]
        if n_more:
            texts.append(f"and {n_more} more")
        super().__init__("\n".join(texts))
        self.problems: list[Problem] = list(problems)
        """The problems, at most 100 per file."""
        self.n_more = n_more
        """The number of further problems."""

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.problems, self.n_more))

    @property
    def _first(self) -> Problem:
        return self.problems[0] if self.problems else Problem("")

    @property
    def file(self) -> str | None:
        """The file of the first problem."""
        return self._first.file

    @property
    def line(self) -> int | None:
        """The line of the first problem, counted from 1."""
        return self._first.line

    @property
    def column(self) -> int | None:
        """The column of the first problem, counted from 1."""
        return self._first.column

    @property
    def path(self) -> str:
        """The path to the first problem."""
        return self._first.path

    @property
    def hint(self) -> str | None:
        """What to do about the first problem."""
        return self._first.hint


class DatasetError(LocatedError):
    """A reference, responses or results that cannot be used."""


class SettingsError(LocatedError):
    """Settings that cannot be used, or a model that cannot be called."""


class ComparisonError(LocatedError):
    """Runs that cannot be compared, because they differ in something that must be equal."""
