"""Statistical methods as plain functions, for notebooks.

    from juror import stats

    found = stats.paired(before, after, clusters=templates)
    found["delta"], found["interval"], found["p"]

They are the methods behind Juror's own intervals, comparisons and gates. Numbers come in as lists,
tuples, arrays or anything else that can be iterated over; a dict comes out. A value is `None` where
there is no such number, for example the standard error of a single value.

**Clusters.** Questions of one template resemble each other: a system that gets one right gets most of
them right. Ten such questions say little more than one, and an interval that takes them as
independent is too narrow. Pass `clusters`, a label for each value (the template, the document, or the
question that several trials repeat), and the standard error counts whole clusters.

What cannot be used (lists of different lengths, `nan`, a negative count, a confidence of 95) raises
`ValueError` with its place.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from . import _juror

__all__ = [
    "agreement",
    "alpha",
    "corrected_rate",
    "fleiss",
    "gate",
    "judge_noise",
    "macro",
    "mcnemar",
    "mean",
    "multiplicity",
    "newcombe",
    "paired",
    "planning",
    "prediction_powered",
    "proportion",
    "trials",
]


def mean(
    values: Iterable[float], clusters: Iterable[Hashable] | None = None, confidence: float = 0.95
) -> dict[str, Any]:
    """Returns a mean and how far it can be trusted.

        >>> found = stats.mean([1, 1, 0, 1, 1, 0, 0, 0, 1, 1, 1, 1], clusters="aaaabbbbcccc")
        >>> round(found["se_independent"], 3), round(found["se"], 3)
        (0.142, 0.22)

    | key | meaning |
    |---|---|
    | `n`, `mean` | how many values, and their mean |
    | `interval` | the t-interval: in 95 of 100 repetitions, it holds the true mean |
    | `se` | the standard error: of clusters (CR1) if there are any, else of independent values |
    | `se_independent` | the standard error if all values were independent |
    | `n_clusters`, `df` | the number of clusters, and the degrees of freedom of the interval |
    | `deff`, `n_eff` | how many times larger clusters make the variance, and how many independent values would tell as much |
    | `is_degenerate` | whether nothing varies: an interval of width 0 does not mean certainty |

    With fewer than ten clusters the interval is a rough one, and with one cluster there is none. For
    values that are 0 or 1, and independent, `proportion` is better.
    """
    return _juror.stats_mean(values, clusters, confidence)


def proportion(successes: int, n: int, confidence: float = 0.95) -> dict[str, Any]:
    """Returns intervals of a share of independent outcomes.

        >>> [round(end, 3) for end in stats.proportion(9, 10)["wilson"]]
        [0.596, 0.982]

    `wilson` holds the true share about as often as it says, for few and for many outcomes.
    `clopper_pearson` holds it at least as often, and is wider: for promises that must not be broken.
    The usual `share ± 2 * se` reaches 1.09 for nine of ten, and has no width for ten of ten.
    """
    return _juror.stats_proportion(successes, n, confidence)


def macro(templates: Mapping[Any, Iterable[float]] | Iterable[Iterable[float]]) -> dict[str, Any]:
    """Returns the mean of templates' means, in which each template counts the same.

        >>> stats.macro({"capitals": [1, 1, 0, 1], "rivers": [0, 1]})["mean"]
        0.625

    Two questions have two standard errors. `se_templates_sampled`: would other templates have given
    another mean? `se_templates_fixed`: these templates are all that matters, but would other questions
    of theirs have given another mean? The first is usually the larger and the right one.
    """
    return _juror.stats_macro(templates)


def paired(
    a: Iterable[float],
    b: Iterable[float],
    clusters: Iterable[Hashable] | None = None,
    confidence: float = 0.95,
) -> dict[str, Any]:
    """Compares two runs on the same questions: `a` and `b` have their scores in the same order.

        >>> found = stats.paired([1, .8, .6, 1, .5, .4, .9, .7], [.9, .5, .6, .8, .5, .1, .7, .8])
        >>> round(found["delta"], 3), round(found["p"], 3)
        (-0.125, 0.049)

    Two means side by side hide that both runs find the same questions hard. Differences, question by
    question, do not, and find smaller effects.

    | key | meaning |
    |---|---|
    | `n`, `a`, `b` | the number of pairs, and both means |
    | `delta`, `se`, `interval`, `df` | the mean of `b - a`, its standard error, t-interval and degrees of freedom |
    | `p` | how often chance alone makes so large a difference (two-sided t-test, clustered like `se`) |
    | `probability_positive` | how likely the true difference is above 0 |
    | `won`, `lost`, `tied` | pairs where `b` is higher, lower, equal |
    | `mde` | the least true difference that such a comparison finds in 80 % of cases: if it is larger than what you care about, the comparison could not have told |
    | `p_sign_flip_exact` | an exact p for 2 to 12 clusters (or pairs, without clusters), else `None` |
    | `n_clusters` | the number of clusters |
    | `is_degenerate` | whether the differences do not vary, so that `p` says nothing |

    Average the trials of a question first, or pass the questions as `clusters`.
    """
    return _juror.stats_paired(a, b, clusters, confidence)


def mcnemar(lost: int, won: int) -> dict[str, float]:
    """Returns p for two runs whose questions are right or wrong, and independent of each other.

        >>> round(stats.mcnemar(lost=1, won=7)["p_mid"], 3)
        0.039

    Only questions that one run got right and the other wrong tell the runs apart: `lost` only the
    first got right, `won` only the second. `p_exact` is rather too large; `p_mid` is recommended.
    """
    return _juror.stats_mcnemar(lost, won)


def newcombe(both: int, lost: int, won: int, neither: int, confidence: float = 0.95) -> dict[str, Any]:
    """Returns the difference of two shares of the same questions, with Newcombe's interval.

        >>> [round(end, 3) for end in stats.newcombe(both=20, lost=2, won=12, neither=16)["interval"]]
        [0.056, 0.329]

    Counts questions that both runs got right, only the first (`lost`), only the second (`won`), and
    neither. Unlike a t-interval it never leaves -1 to 1, and keeps a width where the runs agree.
    """
    return _juror.stats_newcombe(both, lost, won, neither, confidence)


def multiplicity(p: Iterable[float]) -> dict[str, list[float]]:
    """Adjusts several p, in the order given.

        >>> [round(p, 3) for p in stats.multiplicity([.01, .04, .03, .005])["holm"]]
        [0.03, 0.06, 0.06, 0.02]

    Of twenty comparisons without any effect, one has a p below 0.05. `holm` keeps the risk of a single
    false alarm at 0.05: for decisions. `benjamini_hochberg` keeps the share of false alarms among the
    alarms at 0.05: for exploring.
    """
    return _juror.stats_multiplicity(p)


def trials(trials: int, successes: int, k: int) -> dict[str, float | None]:
    """Returns pass@k and pass^k of a task that was tried several times.

        >>> found = stats.trials(trials=8, successes=6, k=4)
        >>> found["pass_at_k"], round(found["pass_hat_k"], 3)
        (1.0, 0.214)

    `pass_at_k` is the chance that at least one of `k` trials succeeds, `pass_hat_k` that all do. Both
    draw from the trials that were made, and are `None` if `k` is more than that. The power
    `(successes / trials) ** k` would be too high: 0.32 here. Over tasks, take the `mean` with an
    interval over tasks, not over trials.
    """
    return _juror.stats_trials(trials, successes, k)


def judge_noise(verdicts: Iterable[Iterable[float]]) -> dict[str, Any]:
    """Splits the noise of a judge from how questions differ: a list of verdicts for each question.

        >>> stats.judge_noise([[1, 1, 1], [0, 1, 0], [1, 1, 0], [0, 0, 0]])["flip_rate"]
        0.5

    | key | meaning |
    |---|---|
    | `mean`, `se` | the mean verdict, and its standard error over questions |
    | `judge_variance` | how verdicts on one question vary: repeats make this smaller |
    | `question_variance` | how questions vary: only more questions make this smaller |
    | `icc` | the share of the variance that is the questions' |
    | `flip_rate` | the share of questions whose verdicts are not unanimous |

    The standard deviation of the means of whole runs is no error bar: it lacks the questions.
    """
    return _juror.stats_judge_noise(verdicts)


def agreement(table: Iterable[Iterable[int]]) -> dict[str, Any]:
    """Returns the agreement of two judges: a row for each category of the first, a column for each of
    the second.

        >>> round(stats.agreement([[20, 5], [10, 15]])["kappa"], 3)
        0.4

    `observed` is the share of equal verdicts. `kappa` takes off what chance gives, with its standard
    error `kappa_se`; `kappa_linear` and `kappa_quadratic` count near categories as half a match. Where
    one category is rare, kappa is low however well judges agree: look at `prevalence`, `pabak` and
    `ac1` beside it.
    """
    return _juror.stats_agreement(table)


def fleiss(table: Iterable[Iterable[int]]) -> dict[str, float | None]:
    """Returns Fleiss' kappa of several judges who each judge everything.

        >>> round(stats.fleiss([[3, 0], [0, 3], [2, 1], [3, 0]])["kappa"], 3)
        0.625

    A row for each thing, with how many judges chose each category.
    """
    return _juror.stats_fleiss(table)


def alpha(ratings: Iterable[Iterable[float | None]]) -> dict[str, float | None]:
    """Returns Krippendorff's alpha of any number of judges, who may leave things out.

        >>> round(stats.alpha([[1, 3, 1, None], [2, 4, 1, 5]])["interval"], 3)
        0.792

    A list for each judge, with a rating for each thing in the same order, or `None`. 1 is full
    agreement, 0 what chance gives. The level says what ratings are: `nominal` names, `ordinal` ranks,
    `interval` numbers, `ratio` numbers from 0 up. Choose the level before you look.
    """
    return _juror.stats_alpha(ratings)


def corrected_rate(
    judge_passes: int,
    n: int,
    human_passes: int,
    judge_agrees_on_passes: int,
    human_fails: int,
    judge_agrees_on_fails: int,
    confidence: float = 0.95,
) -> dict[str, Any]:
    """Returns the pass rate that people would give, from a judge and a labelled sample.

        >>> found = stats.corrected_rate(
        ...     judge_passes=140, n=200,
        ...     human_passes=50, judge_agrees_on_passes=45,
        ...     human_fails=50, judge_agrees_on_fails=40,
        ... )
        >>> round(found["rate"], 3)
        0.714

    The judge passed `judge_passes` of `n` answers. Of a random sample, people passed `human_passes`
    answers, and the judge agreed on some of them; likewise for the answers that people failed. That
    gives the judge's `sensitivity` and `specificity`, and the rate without its errors (Rogan and
    Gladen): `raw`, with `se` and `interval`, and `rate`, which is moved into 0 to 1.

    `refused` is true, with the `reason`, if the labels do not tell, or if the judge hardly tells good
    from bad (sensitivity + specificity - 1 at most 0.1).
    """
    return _juror.stats_corrected_rate(
        judge_passes, n, human_passes, judge_agrees_on_passes, human_fails, judge_agrees_on_fails, confidence
    )


def prediction_powered(
    judge_all: Iterable[float],
    judge_labelled: Iterable[float],
    human_labelled: Iterable[float],
    confidence: float = 0.95,
) -> dict[str, Any]:
    """Returns the mean that people would give: a judge on everything, corrected by people on some.

        >>> judge = [.9, .7, .8, .6, 1, .8]
        >>> round(stats.prediction_powered(judge, judge[:3], [.8, .6, .7])["mean"], 3)
        0.7

    `judge_labelled` and `human_labelled` have both scores of a random sample, in the same order. `mean`
    is the judge's mean plus `correction`, what people add to the judge in the sample; `se` and
    `interval` count both. `se_labels_alone` is the error without the judge: if it is not larger, the
    judge adds nothing.
    """
    return _juror.stats_prediction_powered(judge_all, judge_labelled, human_labelled, confidence)


def planning(
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
    """Says how many questions a difference takes, or what difference so many questions find.

        >>> stats.planning(0.03, variance_of_differences=1 / 9)["questions"]
        969

    | given | returned |
    |---|---|
    | `delta` | `questions`: how many it takes to find this difference |
    | `questions` | `delta`: the least difference that so many find |
    | both | `repeats`, too: how often each run has to answer each question, or `None` if no number is enough |

    `variance_of_differences` is how the true difference varies from question to question (1/9 is usual
    for scores from 0 to 1), `variance_within` how one run varies on one question, which `repeats` make
    smaller, and `deff` the design effect of clusters. `power` is the chance to find the difference,
    `significance` that of a false alarm.
    """
    return _juror.stats_planning(
        delta,
        variance_of_differences=variance_of_differences,
        variance_within=variance_within,
        repeats=repeats,
        deff=deff,
        power=power,
        significance=significance,
        questions=questions,
    )


def gate(interval: Iterable[float] | None, max_drop: float, level: str = "block") -> dict[str, str]:
    """Says whether a run is good enough, given the interval of `b - a` where higher is better.

        >>> stats.gate([-0.032, -0.003], max_drop=0.02)
        {'verdict': 'inconclusive'}

    `pass` if the whole interval is within the allowed drop, `block` (or `warn`, by `level`) if all of it
    is beyond, else `inconclusive`: more questions would tell. So is `None`, the interval of too few
    questions. Where lower is better, swap the runs first.
    """
    return _juror.stats_gate(interval, max_drop, level)
