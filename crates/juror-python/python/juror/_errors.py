"""What can go wrong before judging begins, told with its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """Something wrong, where it is, and what to do about it."""

    message: str
    """What is wrong."""
    file: str | None = None
    """The file, or `None` where Python's objects were given."""
    line: int | None = None
    """Counted from 1; `None` where Python's objects were given."""
    column: int | None = None
    """Counted from 1, in characters; `None` where Python's objects were given."""
    path: str = ""
    """The way to the value, such as `[0].questions[2].id`."""
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
    """Any error of Juror's own."""


class LocatedError(JurorError, ValueError):
    """Everything that is wrong with an input, in the order of the input.

    `file`, `line`, `column`, `path` and `hint` are those of the first problem.
    """

    def __init__(self, problems: Sequence[Problem], n_more: int = 0) -> None:
        texts = [str(problem) for problem in problems]
        if n_more:
            texts.append(f"and {n_more} more")
        super().__init__("\n".join(texts))
        self.problems: list[Problem] = list(problems)
        """The problems, at most a hundred of a file."""
        self.n_more = n_more
        """How many more there are."""

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
        """The way to the first problem."""
        return self._first.path

    @property
    def hint(self) -> str | None:
        """What to do about the first problem."""
        return self._first.hint


class DatasetError(LocatedError):
    """A reference, responses or results that cannot be used."""


class SettingsError(LocatedError):
    """Settings that cannot be used, or a model that cannot be asked."""
