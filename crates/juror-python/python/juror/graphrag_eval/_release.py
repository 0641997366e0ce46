"""Which release of the library a call is written for.

Release 5 has a function `run_evaluation(qa_dataset, responses_dict)`, release 6 a coroutine, with a
third parameter. A call with that parameter, even as `None`, or one in a running event loop, is one of
release 6: it returns a coroutine. Any other is one of release 5 and returns the list. So a call that the rule mistakes
fails at once, and none is silently evaluated by the rules of the other release:

- `asyncio.run(run_evaluation(…))` of release 6 without that parameter: import `juror.graphrag_eval.v6`;
- release 5 in a running loop, as in a notebook: import `juror.graphrag_eval.v5`.

`compute_aggregates` is one function in both. Programs are written for one release, so it follows the
last evaluation, and release 6 if there was none.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from .._evaluation import Config, Path, Responses, Templates
from . import v5, v6

_NOT_AWAITED = (
    "these results were not awaited: in a running event loop, `run_evaluation` is that of release 6\n"
    "  hint: write `await run_evaluation(…)`, or import from `juror.graphrag_eval.v5`"
)

_NOT_GIVEN: Any = object()

_last: Any = v6


def run_evaluation(
    qa_dataset: Templates,
    responses_dict: Responses,
    config_file_path: Config | None = _NOT_GIVEN,
) -> Any:
    """Evaluates recorded answers: a list of results, or in release 6 a coroutine that returns it."""
    global _last
    if config_file_path is _NOT_GIVEN and not _is_in_a_loop():
        _last = v5
        return v5.run_evaluation(qa_dataset, responses_dict)
    _last = v6
    return v6.run_evaluation(qa_dataset, responses_dict, _or_none(config_file_path))


def compute_aggregates(
    samples: Path | Iterable[Mapping[str, Any]], config_file_path: Config | None = _NOT_GIVEN
) -> dict[str, Any]:
    """Computes statistics of results: `per_template`, `micro` and `macro`."""
    if inspect.iscoroutine(samples):
        samples.close()
        raise TypeError(_NOT_AWAITED)
    if config_file_path is _NOT_GIVEN and _last is v5:
        return v5.compute_aggregates(samples)
    return v6.compute_aggregates(samples, _or_none(config_file_path))


def _or_none(given: Config | None) -> Config | None:
    return None if given is _NOT_GIVEN else given


def _is_in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
