"""Which release of the library a call is written for.

Release 5 has a function `run_evaluation(qa_dataset, responses_dict)`, release 6 a coroutine, with a
third parameter. A call with settings, or one in a running event loop, is one of release 6: it returns
a coroutine. Any other is one of release 5 and returns the list. So a call that the rule mistakes
fails at once, and none is silently evaluated by the rules of the other release:

- `asyncio.run(run_evaluation(…))` of release 6 without settings: import `juror.graphrag_eval.v6`;
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

_last: Any = v6


def run_evaluation(
    qa_dataset: Templates,
    responses_dict: Responses,
    config_file_path: Config | None = None,
) -> Any:
    """Evaluates recorded answers: a list of results, or in release 6 a coroutine that returns it."""
    global _last
    _last = v6 if config_file_path is not None or _is_in_a_loop() else v5
    if _last is v6:
        return v6.run_evaluation(qa_dataset, responses_dict, config_file_path)
    return v5.run_evaluation(qa_dataset, responses_dict)


def compute_aggregates(
    samples: Path | Iterable[Mapping[str, Any]], config_file_path: Config | None = None
) -> dict[str, Any]:
    """Computes statistics of results: `per_template`, `micro` and `macro`."""
    if inspect.iscoroutine(samples):
        samples.close()
        raise TypeError(_NOT_AWAITED)
    if config_file_path is not None or _last is v6:
        return v6.compute_aggregates(samples, config_file_path)
    return v5.compute_aggregates(samples)


def _is_in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
