"""Evaluates question-answering systems and tool-using agents.

    from juror import compare, compute_aggregates, run_evaluation

    results = run_evaluation(reference, responses)
    aggregates = compute_aggregates(results)
    print(compare("runs/main", results))

Reference and responses are Python objects or paths. `docs/python.md` in the project describes
everything; `juror.aio` provides awaitables, and `juror.stats` statistical methods. On package indexes
the package is `juror-eval`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__distribution__ = "juror-eval"

from . import _package

_package.check()

from . import stats
from ._comparison import Comparison, compare
from ._errors import ComparisonError, DatasetError, JurorError, LocatedError, Problem, SettingsError
from ._evaluation import compute_aggregates, run_evaluation, unmet_gates
from ._frames import to_arrow, to_pandas, to_polars
from ._gates import GateOutcomes, gate
from ._juror import (
    Evaluator,
    Partial,
    Schema,
    Table,
    __version__,
    api_call_details,
    api_call_score,
    change_name,
    compare_contexts,
    compare_sparql_results,
    normalize_category,
    official_function_name,
    read_reference,
    read_responses,
    sanitize_name,
    sanitize_param_name,
    standardize,
    standardize_category,
    tool_cache_file,
    tool_cache_key,
)
from ._metrics import metric
from ._page import report
from ._retrieval import average_precision, average_precision_over_hits, recall_at_k
from ._run import Run
from ._statistics import Statistics, statistics
from ._steps import Explained, Matching, Missed, Pair, match_steps

if TYPE_CHECKING:
    from . import aio, ray, spark
    from ._bench import Attempt, AttemptLost, QueryDone, QuestionDone, Runner, Tool, ToolPool, ask, bench
else:
    _BENCH = {
        "Attempt", "AttemptLost", "QueryDone", "QuestionDone", "Runner", "Tool", "ToolPool", "ask", "bench",
    }  # fmt: skip

    def __getattr__(name):
        """Imports the modules of event loops and engines on first use, because that takes a while."""
        if name in ("aio", "ray", "spark"):
            return import_module(f".{name}", __name__)
        if name in _BENCH:
            from . import _bench

            return getattr(_bench, name)
        raise AttributeError(f"module `juror` has no attribute `{name}`")

    def __dir__():
        return sorted({*globals(), *__all__})


__all__ = [
    "Attempt",
    "AttemptLost",
    "Comparison",
    "ComparisonError",
    "DatasetError",
    "Evaluator",
    "Explained",
    "GateOutcomes",
    "JurorError",
    "LocatedError",
    "Matching",
    "Missed",
    "Pair",
    "Partial",
    "Problem",
    "QueryDone",
    "QuestionDone",
    "Run",
    "Runner",
    "Schema",
    "SettingsError",
    "Statistics",
    "Table",
    "Tool",
    "ToolPool",
    "__version__",
    "aio",
    "api_call_details",
    "api_call_score",
    "ask",
    "average_precision",
    "average_precision_over_hits",
    "bench",
    "change_name",
    "compare",
    "compare_contexts",
    "compare_sparql_results",
    "compute_aggregates",
    "gate",
    "match_steps",
    "metric",
    "normalize_category",
    "official_function_name",
    "ray",
    "read_reference",
    "read_responses",
    "recall_at_k",
    "report",
    "run_evaluation",
    "sanitize_name",
    "sanitize_param_name",
    "spark",
    "standardize",
    "standardize_category",
    "statistics",
    "stats",
    "to_arrow",
    "to_pandas",
    "to_polars",
    "tool_cache_file",
    "tool_cache_key",
    "unmet_gates",
]
