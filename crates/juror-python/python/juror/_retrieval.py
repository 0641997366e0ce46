"""Metrics of retrieved documents, computed from their ids."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, overload

from . import _juror
from ._names import also_named

_by_library = also_named(relevant_ids="relevant_docs", retrieved_ids="retrieved_docs")


@overload
def recall_at_k(relevant_docs: Iterable[Any], retrieved_docs: Iterable[Any], k: int = 10) -> float: ...
@overload
def recall_at_k(relevant_ids: Iterable[Any], retrieved_ids: Iterable[Any], k: int = 10) -> float: ...
@_by_library
def recall_at_k(relevant_docs: Iterable[Any], retrieved_docs: Iterable[Any], k: int = 10) -> float:
    """Returns the share of the first k relevant documents that are among the first k retrieved ones."""
    return _juror.recall_at_k(relevant_docs, retrieved_docs, k)


@overload
def average_precision(relevant_docs: Iterable[Any], retrieved_docs: Iterable[Any]) -> float: ...
@overload
def average_precision(relevant_ids: Iterable[Any], retrieved_ids: Iterable[Any]) -> float: ...
@_by_library
def average_precision(relevant_docs: Iterable[Any], retrieved_docs: Iterable[Any]) -> float:
    """Returns the mean, over the relevant documents, of the precision at the rank of each."""
    return _juror.average_precision(relevant_docs, retrieved_docs)


@overload
def average_precision_over_hits(relevant_docs: Iterable[Any], retrieved_docs: Iterable[Any]) -> float: ...
@overload
def average_precision_over_hits(relevant_ids: Iterable[Any], retrieved_ids: Iterable[Any]) -> float: ...
@_by_library
def average_precision_over_hits(relevant_docs: Iterable[Any], retrieved_docs: Iterable[Any]) -> float:
    """Returns the mean, over the relevant documents that were found, of the precision at their rank."""
    return _juror.average_precision_over_hits(relevant_docs, retrieved_docs)
