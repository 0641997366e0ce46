//! What statistics, comparison and reports read: one judged thing, whatever it is.
//!
//! The answer to a question ([`Record`]) and an agent's attempt at a query are judged by different
//! rules. A scorecard has what the two have in common, so that what is computed of many of them is
//! written once.

use std::borrow::Cow;

use juror_json as json;

use crate::finding::{Finding, KeyPart, numbers_of_steps};
use crate::metric::{Level, step_metric};
use crate::record::Record;
use crate::stats::Number;
use crate::trajectory::{Ending, Usage};

/// One judged thing: the answer to a question, or an agent's attempt at a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Scorecard<'a> {
    /// [`Level::Question`] or [`Level::Attempt`]: whose metrics it has.
    pub level: Level,
    /// The id of the question or query, unique in its group.
    pub id: Cow<'a, str>,
    /// What it belongs with: the template of a question, the set of a query.
    pub group: Cow<'a, str>,
    /// Which of several answers to the same question or query it is, from 1 on; `None` if it is the
    /// only one.
    pub trial: Option<usize>,
    /// How it ended; an error's message is plain text.
    pub ending: Ending<'a>,
    /// What was found without asking a model.
    pub computed: Cow<'a, [Finding]>,
    /// What judges found out.
    pub judged: Cow<'a, [Finding]>,
    /// What it took the system under test.
    pub usage: Resources,
}

/// Tokens, money and time, as far as they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Resources {
    /// Tokens sent to models.
    pub input_tokens: Option<Number>,
    /// Tokens that models wrote.
    pub output_tokens: Option<Number>,
    /// All of them.
    pub total_tokens: Option<Number>,
    /// US dollars.
    pub usd: Option<Number>,
    /// Seconds from question to answer.
    pub seconds: Option<Number>,
}

impl Resources {
    fn of_trajectory(usage: &Usage<'_>) -> Resources {
        let number = |raw: Option<&serde_json::value::RawValue>| Number::from_json(raw?.get());
        Resources {
            input_tokens: number(usage.input_tokens),
            output_tokens: number(usage.output_tokens),
            total_tokens: number(usage.total_tokens),
            usd: None,
            seconds: number(usage.elapsed_sec),
        }
    }

    /// What is known, by the names of the metrics of questions or attempts.
    fn by_metric(&self, level: Level) -> impl Iterator<Item = (&'static str, Number)> {
        let Resources { input_tokens, output_tokens, total_tokens, usd, seconds } = *self;
        let is_attempt = level == Level::Attempt;
        let of = |attempt, question| if is_attempt { attempt } else { question };
        [
            (of(None, Some("input_tokens")), input_tokens),
            (of(None, Some("output_tokens")), output_tokens),
            (of(Some("agent_tokens"), Some("total_tokens")), total_tokens),
            (of(Some("agent_usd"), None), usd),
            (of(Some("system_answer_time"), Some("elapsed_sec")), seconds),
        ]
        .into_iter()
        .filter_map(|(name, number)| Some((name?, number?)))
    }
}

impl<'a> Scorecard<'a> {
    /// A card without findings, of the attempt at a query.
    pub fn of_attempt(group: impl Into<Cow<'a, str>>, id: impl Into<Cow<'a, str>>) -> Self {
        Scorecard {
            level: Level::Attempt,
            id: id.into(),
            group: group.into(),
            trial: None,
            ending: Ending::Responded,
            computed: Cow::Borrowed(&[]),
            judged: Cow::Borrowed(&[]),
            usage: Resources::default(),
        }
    }

    /// The card of a record. It borrows whatever it can, so that it costs next to nothing.
    pub fn of(record: &'a Record<'_>) -> Self {
        let (question, trajectory) = (record.case.question, record.case.trajectory);
        Scorecard {
            level: Level::Question,
            id: Cow::Borrowed(&question.id),
            group: Cow::Borrowed(&question.template),
            trial: trajectory.trial.map(|trial| trial.get() as usize),
            ending: match &trajectory.ending {
                Ending::Responded => Ending::Responded,
                Ending::Failed(message) => Ending::Failed(plain(message)),
                Ending::Missing => Ending::Missing,
            },
            computed: Cow::Borrowed(&record.computed),
            judged: Cow::Borrowed(record.judged()),
            usage: Resources::of_trajectory(&trajectory.usage),
        }
    }

    /// All findings: those that were computed, then those of judges.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.computed.iter().chain(&*self.judged)
    }

    /// The finding that gives a metric of the thing itself, or says why there is no number.
    pub fn finding(&self, metric: &str) -> Option<&Finding> {
        let gives = |finding: &&Finding| {
            finding.step.is_none()
                && matches!(finding.aspect.part(metric), Some(KeyPart::Value(_) | KeyPart::Cost))
        };
        self.findings().find(gives)
    }

    /// Hands on the name and the number of each metric of the thing itself.
    pub fn each_number(&self, mut each: impl FnMut(&str, Number)) {
        for finding in self.findings().filter(|finding| finding.step.is_none()) {
            finding.each_number(|name, value| {
                if let Some(number) = Number::real(value) {
                    each(&name, number);
                }
            });
        }
        for (name, number) in self.usage.by_metric(self.level) {
            each(name, number);
        }
    }

    /// The number for a metric; for a metric of steps, that of all its steps. `None` if the metric
    /// does not apply or could not be computed: [`Scorecard::finding`] says which.
    pub fn number(&self, name: &str) -> Option<f64> {
        let mut found = None;
        self.each_number(|key, number| {
            if found.is_none() && key == name {
                found = Some(number.value);
            }
        });
        found.or_else(|| step_metric(name)?.of_steps(numbers_of_steps(self.findings(), name)))
    }

    /// Why it counts as an error, if it does.
    pub fn error(&self) -> Option<&str> {
        match &self.ending {
            Ending::Responded => None,
            Ending::Failed(message) => Some(message),
            // A query that was not tried yet.
            Ending::Missing if self.level == Level::Attempt => None,
            Ending::Missing => Some("no response"),
        }
    }

    /// The same card without what it was made of.
    pub fn into_owned(self) -> Scorecard<'static> {
        Scorecard {
            level: self.level,
            id: Cow::Owned(self.id.into_owned()),
            group: Cow::Owned(self.group.into_owned()),
            trial: self.trial,
            ending: match self.ending {
                Ending::Responded => Ending::Responded,
                Ending::Failed(message) => Ending::Failed(Cow::Owned(message.into_owned())),
                Ending::Missing => Ending::Missing,
            },
            computed: Cow::Owned(self.computed.into_owned()),
            judged: Cow::Owned(self.judged.into_owned()),
            usage: self.usage,
        }
    }
}

/// The text of a message as trajectories keep it: a JSON string, or any other JSON as it is.
fn plain(message: &str) -> Cow<'_, str> {
    let inside = message.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    inside.map_or(Cow::Borrowed(message), json::unescape)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Aspect, Reason, Repeats, Score, Verdict};

    fn whole(value: f64) -> Number {
        Number { value, whole: true }
    }

    #[test]
    fn an_attempt_has_a_card_with_metrics_of_its_own() {
        let runs = Repeats::new(vec![Some(1.0), None, Some(0.5)]).expect("scores");
        let mut solved =
            Finding::new(Aspect::Metric("sopr_score"), Verdict::Scored(Score::Repeats(runs)));
        solved.cost = Some(0.25);
        let calls = Finding::new(
            Aspect::Metric("api_call_score"),
            Verdict::NotApplicable(Reason::NoRightApis),
        );
        let usage = Resources { total_tokens: Some(whole(9.0)), ..Resources::default() };
        let card = Scorecard {
            computed: vec![calls].into(),
            judged: vec![solved].into(),
            usage,
            ..Scorecard::of_attempt("G1", "588")
        };
        assert_eq!(card.number("sopr_score"), Some(0.75), "the run that failed is left out");
        assert_eq!(card.number("sopr_score_cost"), Some(0.25));
        assert_eq!(card.number("api_call_score"), None);
        let verdict = card.finding("api_call_score").map(|finding| &finding.verdict);
        assert_eq!(verdict, Some(&Verdict::NotApplicable(Reason::NoRightApis)));
        assert_eq!((card.number("agent_tokens"), card.number("total_tokens")), (Some(9.0), None));
        assert_eq!(Repeats::new(vec![None]), None);
    }

    #[test]
    fn a_query_that_was_not_tried_is_no_error() {
        let open = Scorecard { ending: Ending::Missing, ..Scorecard::of_attempt("G1", "588") };
        assert_eq!(open.error(), None);
    }
}
