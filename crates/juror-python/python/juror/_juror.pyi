"""The engine of the package `juror`."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, final

__all__ = [
    "Ask",
    "BenchRun",
    "Compared",
    "Evaluator",
    "LazyResults",
    "Partial",
    "RunStatistics",
    "Schema",
    "Stop",
    "Table",
    "__version__",
    "api_call_details",
    "api_call_score",
    "average_precision",
    "average_precision_over_hits",
    "change_name",
    "check_gates",
    "compare_contexts",
    "compare_runs",
    "compare_sparql_results",
    "compute_aggregates",
    "match_steps",
    "metric_name_problem",
    "names_profile",
    "normalize_category",
    "official_function_name",
    "partial_of_bytes",
    "read_reference",
    "read_responses",
    "read_settings",
    "recall_at_k",
    "run_command",
    "run_evaluation",
    "run_statistics",
    "sanitize_name",
    "sanitize_param_name",
    "scores_errors",
    "standardize",
    "standardize_category",
    "stats_agreement",
    "stats_alpha",
    "stats_corrected_rate",
    "stats_fleiss",
    "stats_gate",
    "stats_judge_noise",
    "stats_macro",
    "stats_mcnemar",
    "stats_mean",
    "stats_multiplicity",
    "stats_newcombe",
    "stats_paired",
    "stats_planning",
    "stats_prediction_powered",
    "stats_proportion",
    "stats_trials",
    "table_of_parts",
    "tool_cache_file",
    "tool_cache_key",
    "write_report",
    "unmet_gates",
]

__version__: str

_Path = str | os.PathLike[str]

@final
class Ask:
    @property
    def number(self) -> int: ...
    @property
    def query(self) -> str: ...
    @property
    def trial(self) -> int | None: ...
    @property
    def url(self) -> str: ...
    @property
    def tools(self) -> str | None: ...
    @property
    def tools_url(self) -> str: ...
    @property
    def token(self) -> str | None: ...
    @property
    def n_lost(self) -> int: ...
    def answered(self, json: str, seconds: float | None = None) -> bool: ...
    def failed(self, why: str) -> bool: ...
    def lost(self) -> bool: ...
    def wait_longer(self, seconds: float) -> None: ...

@final
class BenchRun:
    @property
    def n_queries(self) -> int:
        """How many queries there are."""

    def __new__(cls, options: str) -> BenchRun: ...
    @staticmethod
    def asking(options: str) -> BenchRun: ...
    def start(self) -> None: ...
    def next_event(self, seconds: float) -> str | None: ...
    def next_ask(self) -> Ask | None: ...
    def stop(self) -> None: ...
    def close(self) -> None: ...
    def result(self) -> bytes: ...
    @staticmethod
    def shallow(json: str) -> Any: ...
    def names(self) -> list[str]: ...
    def tool_at(self, at: int) -> str: ...
    def search(self, text: str, most: int) -> str: ...
    def call(self, url: str, body: str) -> tuple[int, str]: ...
    def call_later(self, url: str, body: str, done: Callable[[int | None, str], object]) -> None: ...

@final
class Compared:
    """A comparison, and what its reports are made from."""

    def data(self) -> dict[str, Any]:
        """The comparison as a dict."""

    def json(self) -> str:
        """The comparison as JSON."""

    def text(self) -> str:
        """The comparison as terminals show it."""

    def html(self) -> str:
        """The comparison as notebooks show it."""

    def markdown(self, name: str | None = None) -> str:
        """The comparison as a comment for a pull request."""

    def junit(self, threshold: tuple[str, float] | None = None) -> str:
        """The comparison as a test report. A question fails below a threshold, if one is given."""

    def save(self, path: str) -> None:
        """Writes a file, whose ending picks the format."""

    def check(
        self, gates: object | None, config: object | None, coverage: str | None, own: Sequence[str]
    ) -> list[dict[str, Any]]:
        """Checks gates, or those that were checked: the outcomes for each candidate."""

@final
class RunStatistics:
    """The statistics of a run."""

    def data(self) -> dict[str, Any]:
        """The statistics as a dict."""

    def json(self) -> str:
        """The statistics as JSON."""

    def text(self) -> str:
        """The statistics as a table for terminals."""

    def html(self) -> str:
        """The statistics as notebooks show them."""

    def save(self, path: str) -> None:
        """Writes a file, whose ending picks the format."""

@final
class LazyResults:
    """Results that are built when they are looked at."""

    def __len__(self) -> int: ...
    def has_rules(self, config: object | None = None, profile: str | None = None) -> bool:
        """Whether the results were made by these rules, so that what was computed with them holds."""

    def aggregates(self) -> dict[str, Any]:
        """Statistics of the results as they were made."""

    def make(self, start: int, stop: int) -> list[dict[str, Any]]:
        """Makes the results from one number up to another."""

@final
class Evaluator:
    """Evaluates responses that are rows of tables: a response and its question, each as JSON text.

        evaluate = juror.Evaluator(profile="6")
        table = evaluate(batch)

    A batch is anything with `__arrow_c_stream__` or `__arrow_c_array__`, such as a table of pyarrow,
    polars or DuckDB; its texts are `string`, `large_string` or `string_view`. The result has a row for
    each of its rows, in order, and always the columns of `schema`: ids, `status`, `error`, every
    metric, and the whole result as JSON in `result`. What is wrong with a row, such as a response
    that is no JSON, is the error of this row.

    It can be pickled, and is made anew from its arguments where it arrives: paths must lead to the
    same files there.

    Args:
        reference: Templates, or the path of a file. Without it, each row has its question.
        config: Settings: a file, or the same as a dict.
        profile: The rules, "5" or "6".
        response: The column of responses. A `null` is a question without a response.
        question: The column of questions, as JSON with the keys of a reference; unused with a
            reference.
        question_id: The column of the questions' ids. Without such a column, the id in the question
            counts; with a reference, that in the response.
        template_id: The column of the questions' templates. Without such a column, the `template_id`
            in the question counts; with a reference, that of the reference always does.
        ask_models: Whether models judge the answers, as settings and environment say.
        threads: How many threads evaluate a batch.

    Raises:
        DatasetError: The reference cannot be read.
        SettingsError: The settings cannot be read, or name no model that can be asked.
        ValueError: A batch has no such columns.
    """

    def __new__(
        cls,
        reference: _Path | Iterable[Mapping[str, Any]] | None = None,
        config: _Path | Mapping[str, Any] | None = None,
        profile: str | int | None = None,
        *,
        response: str = "response",
        question: str = "question",
        question_id: str = "question_id",
        template_id: str = "template_id",
        ask_models: bool = False,
        threads: int = 1,
    ) -> Evaluator: ...
    def __call__(self, batch: object) -> Table:
        """Evaluates the rows of a table: anything with `__arrow_c_stream__` or `__arrow_c_array__`.

        Returns a row for each of them, in order. What is wrong with a row is the error of its result.
        """

    def partial(self, batch: object) -> Partial:
        """Evaluates the rows of a table, and returns their numbers alone."""

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What pickle makes it from."""

    @property
    def schema(self) -> Schema:
        """The columns of every table it returns."""

@final
class Partial:
    """The numbers of a part of an evaluation, reduced to what its aggregates and statistics need.

    Partials of any split of the same answers merge to the same bytes, in any order.
    """

    @staticmethod
    def from_bytes(bytes: bytes) -> Partial:
        """Reads what `to_bytes` wrote."""

    def to_bytes(self) -> bytes:
        """The partial as bytes."""

    def merge(self, *others: Partial) -> Partial:
        """Returns this partial and others together."""

    def finish(self, confidence: float = 0.95) -> dict[str, Any]:
        """Computes the aggregates and the statistics of everything that was merged.

        `aggregates` are those of `compute_aggregates`, `statistics` those of `statistics`.
        """

    @property
    def n_answers(self) -> int:
        """The number of answers."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        """The partial as a table of one row, whose column `partial` has its bytes."""

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        """What pickle makes it from."""

@final
class Schema:
    """The columns of a table: their names and types."""

    def __arrow_c_schema__(self) -> Any:
        """The schema in Arrow's C interface."""

    @property
    def names(self) -> list[str]:
        """The names of the columns."""

@final
class Stop:
    """Stops an evaluation from another thread."""

    def __new__(cls) -> Stop: ...
    def set(self) -> None:
        """Tells the evaluation to end."""

@final
class Table:
    """Results as columns: a row a question, a column a key. Lists and objects are JSON texts.

    Metrics of steps have columns after these: one number for all steps of a question.
    """

    def __new__(cls, results: Iterable[Mapping[str, Any]]) -> Table: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        """The table as a stream of Arrow's C interface."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[Any, Any]:
        """The table as one batch of Arrow's C interface."""

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        """What pickle makes it from."""

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""

    @property
    def num_rows(self) -> int:
        """The number of rows."""

    def __len__(self) -> int: ...
    def to_pydict(self) -> dict[str, list[Any]]:
        """The columns as lists, by name."""

def partial_of_bytes(bytes: bytes) -> Partial:
    """Reads what `Partial.to_bytes` wrote."""

def table_of_parts(columns: Sequence[tuple[str, str]], batches: Sequence[Any]) -> Table:
    """Makes a table from what pickle kept of it."""

def run_evaluation(
    reference: object,
    responses: object,
    config: object | None = None,
    profile: str | None = None,
    *,
    may_ask: bool = True,
    explain: bool = False,
    trials_in_responses: bool = False,
    threads: int | None = None,
    progress: object | None = None,
    stop: Stop | None = None,
) -> list[dict[str, Any]] | LazyResults:
    """Evaluates responses by a reference, both given as paths or as objects."""

def compute_aggregates(
    results: object,
    config: object | None = None,
    profile: str | None = None,
    *,
    metrics: Sequence[str] = ...,
) -> dict[str, Any]:
    """Folds results into statistics."""

def unmet_gates(
    results: object,
    fail_under: Sequence[tuple[str, float]],
    coverage: str | None = None,
    max_errors: str | None = None,
    config: object | None = None,
    profile: str | None = None,
    *,
    metrics: Sequence[str] = ...,
) -> list[str]:
    """Why results do not pass, none where they do."""

def compare_runs(
    runs: Sequence[object],
    gates: object | None,
    config: object | None,
    profile: str | None,
    choices: Mapping[str, Any],
) -> Compared:
    """Compares runs with the first of them."""

def write_report(
    path: str,
    runs: Sequence[object],
    config: object | None,
    profile: str | None,
    choices: Mapping[str, Any],
) -> str | None:
    """Writes runs as one HTML file, and returns what was left out, if anything."""

def run_statistics(
    results: object,
    config: object | None,
    profile: str | None,
    own: Sequence[str],
    confidence: float,
) -> RunStatistics:
    """Computes the statistics of a run. `own` names metrics of the user's own."""

def check_gates(
    results: object,
    gates: object | None,
    config: object | None,
    profile: str | None,
    coverage: str | None,
    own: Sequence[str],
    confidence: float,
) -> list[dict[str, Any]]:
    """Checks gates on one run. `own` names metrics of the user's own."""

def run_command(arguments: Sequence[str], program: Sequence[str]) -> int:
    """Runs the command that arguments ask for; returns the exit code for the process.

    `program` is how the same program is begun anew.
    """

def names_profile(config: object | None = None) -> bool:
    """Whether settings name a profile."""

def scores_errors(config: object | None = None, profile: str | None = None) -> bool:
    """Whether responses that are errors are scored."""

def metric_name_problem(name: str) -> str | None:
    """Why a metric of the user's own cannot have a name, if it cannot."""

def read_reference(reference: object) -> list[dict[str, Any]]:
    """A reference dataset as a list of templates; raises `DatasetError` with every problem of it.

    Takes a path, or templates to be checked.
    """

def read_responses(responses: object, *, strict: bool = False) -> dict[Any, dict[str, Any]]:
    """Responses by question id.

    A record that cannot be read is told in the log of `juror`; with `strict`, `DatasetError` is
    raised with all of them.
    """

def read_settings(path: object) -> Any:
    """Returns the settings of a file as a dict, checked."""

def compare_sparql_results(
    reference_sparql_result: Mapping[str, Any] | str,
    actual_sparql_result: Mapping[str, Any] | str,
    required_vars: Sequence[str] | None = None,
    results_are_ordered: bool = False,
    ignore_duplicates: bool = True,
) -> float:
    """Compares two SPARQL results in JSON; 1.0 if they agree by the rules, else 0.0.

    Results in XML, CSV or TSV are compared as outputs of steps, by `match_steps`.
    """

def recall_at_k(
    relevant_docs: Iterable[Any], retrieved_docs: Iterable[Any], k: int = 10
) -> float:
    """The share of the first k relevant documents among the first k retrieved ones."""

def average_precision(relevant_docs: Iterable[Any], retrieved_docs: Iterable[Any]) -> float:
    """The mean, over the relevant documents, of the precision at the rank where each was found."""

def average_precision_over_hits(
    relevant_docs: Iterable[Any], retrieved_docs: Iterable[Any]
) -> float:
    """The mean, over the relevant documents that were found, of the precision at their rank."""

def compare_contexts(
    reference_contexts: Sequence[str], actual_contexts: Sequence[str]
) -> dict[str, float]:
    """How well retrieved texts agree with the expected ones, by text distance."""

def match_steps(
    reference_steps: object, actual_steps: object, profile: str = "5", explain: bool = False
) -> tuple[float, list[tuple[int, int, int, float]], list[tuple[int, int, str, str]]]:
    """Finds the expected steps among the actual ones, and tells on request why others were missed."""

def tool_cache_key(tool_input: Mapping[str, Any] | str) -> str:
    """The key that replies to a call are kept under.

    Of a JSON text what it says, of an object the object itself, both as Python prints them.
    """

def tool_cache_file(category: str, tool_name: str, api_name: str) -> str:
    """The file of a reply cache that has the replies of an API."""

def standardize(name: str) -> str:
    """A raw name as the public server writes it."""

def change_name(name: str) -> str:
    """A standardized name, made different from words that Python keeps for itself."""

def standardize_category(category: str) -> str:
    """A category as it is called in folders."""

def normalize_category(category: str) -> str:
    """A category with one `_` for any run of separators."""

def official_function_name(tool_name: str, api_name: str) -> str:
    """The name of an API as public agents call it: API first, its last 64 characters."""

def sanitize_name(name: str, max_length: int = 64, ascii_only: bool = False) -> str:
    """A name with `_` for what function names must not contain."""

def sanitize_param_name(name: str) -> str:
    """A parameter's name that does not begin with `_`."""

def api_call_score(
    query: Mapping[str, Any] | Sequence[Sequence[str]],
    answer: Mapping[str, Any] | Sequence[Sequence[str]],
) -> float:
    """The share of a query's right APIs that an answer called; 0.0 where none is right.

    In place of a query or an answer, pairs of tool and API can be given.
    """

def api_call_details(
    query: Mapping[str, Any] | Sequence[Sequence[str]],
    answer: Mapping[str, Any] | Sequence[Sequence[str]],
) -> dict[str, Any]:
    """The score with what was counted for it.

    `api_call_score`, `applicable` (whether any API is right), `precision`, `other_calls`, and
    `called_apis`: pairs in order, `None` for a name that means no API.
    """

def stats_mean(values: object, clusters: object | None = None, confidence: float = 0.95) -> dict[str, Any]:
    """A mean with its standard error and interval."""

def stats_proportion(successes: object, n: object, confidence: float = 0.95) -> dict[str, Any]:
    """Intervals of a proportion."""

def stats_macro(templates: object) -> dict[str, Any]:
    """The mean of templates' means."""

def stats_paired(
    a: object, b: object, clusters: object | None = None, confidence: float = 0.95
) -> dict[str, Any]:
    """Two runs on the same questions."""

def stats_mcnemar(lost: object, won: object) -> dict[str, Any]:
    """Two runs on the same questions, each right or wrong."""

def stats_newcombe(
    both: object, lost: object, won: object, neither: object, confidence: float = 0.95
) -> dict[str, Any]:
    """The difference of two proportions of the same questions."""

def stats_multiplicity(p: object) -> dict[str, Any]:
    """Adjusted p of several comparisons."""

def stats_trials(trials: object, successes: object, k: object) -> dict[str, Any]:
    """The chance that any of `k` trials succeeds, and that all do."""

def stats_judge_noise(verdicts: object) -> dict[str, Any]:
    """The noise of a judge, apart from how questions differ."""

def stats_agreement(table: object) -> dict[str, Any]:
    """The agreement of two judges."""

def stats_fleiss(table: object) -> dict[str, Any]:
    """The agreement of several judges who each judge everything."""

def stats_alpha(ratings: object) -> dict[str, Any]:
    """Krippendorff's alpha at every level."""

def stats_corrected_rate(
    judge_passes: object,
    n: object,
    human_passes: object,
    judge_agrees_on_passes: object,
    human_fails: object,
    judge_agrees_on_fails: object,
    confidence: float = 0.95,
) -> dict[str, Any]:
    """A pass rate without the judge's errors."""

def stats_prediction_powered(
    judge_all: object, judge_labelled: object, human_labelled: object, confidence: float = 0.95
) -> dict[str, Any]:
    """A judge on everything, corrected by people on some."""

def stats_planning(
    delta: float | None = None,
    *,
    variance_of_differences: float,
    variance_within: float = 0.0,
    repeats: int = 1,
    deff: float = 1.0,
    power: float = 0.8,
    significance: float = 0.05,
    questions: int | None = None,
) -> dict[str, Any]:
    """How many questions or repeats a difference takes, and what difference so many questions find."""

def stats_gate(interval: object | None, max_drop: object, level: str = "block") -> dict[str, Any]:
    """What an interval says about a margin."""
