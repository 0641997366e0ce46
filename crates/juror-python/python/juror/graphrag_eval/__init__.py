"""The names, keywords and submodules of the Python library graphrag-eval, computed by Juror.

    import juror.graphrag_eval as graphrag_eval             # was: import graphrag_eval
    from juror.graphrag_eval.steps.sparql import compare_sparql_results

Code for releases 5 and 6 of the library runs on it unchanged. Where the releases differ, the call
says which one is meant: `juror.graphrag_eval._release` explains how. `juror.graphrag_eval.v5` and
`juror.graphrag_eval.v6` are one release each, whatever the call looks like.
"""

from . import evaluation  # The library's modules are there after `import graphrag_eval`, too.
from . import aggregation
from . import v5, v6
from ._release import compute_aggregates, run_evaluation

__all__ = ["aggregation", "compute_aggregates", "evaluation", "run_evaluation", "v5", "v6"]
