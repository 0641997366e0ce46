//! What is asked of a run before it may pass.

use std::fmt;
use std::str::FromStr;

use crate::aggregate::Summary;
use crate::coverage::Coverage;

/// Everything that is asked of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Gates {
    /// What is asked of metrics.
    pub metrics: Vec<Gate>,
    /// The share of the questions to which a gated metric applies that must have a verdict on it.
    pub coverage: f64,
    /// How many responses may have failed or be missing.
    pub max_errors: Option<Limit>,
}

/// What is asked of a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// Its name.
    pub metric: String,
    /// The least that its mean over all questions may be.
    pub least: f64,
}

/// A count, or a share of all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// So many.
    Count(usize),
    /// So many of each: 0.02 is 2 %.
    Share(f64),
}

/// A text that is neither a count nor a percentage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a count or a percentage, such as 5 or 2%")]
pub struct NotALimit;

/// Why a gate is not met.
#[derive(Clone, Debug, PartialEq)]
pub enum Unmet {
    /// No question has the metric.
    Absent(Gate),
    /// The mean is too low.
    Below {
        /// What was asked.
        gate: Gate,
        /// What came of it.
        mean: f64,
    },
    /// Too few questions have a verdict for the mean to count.
    Uncovered {
        /// The metric.
        metric: String,
        /// How many have one.
        coverage: Coverage,
        /// The share that was asked.
        least: f64,
        /// How many responses failed or are missing.
        n_errors: usize,
    },
    /// Too many responses failed or are missing.
    Errors {
        /// How many.
        n_errors: usize,
        /// Of so many.
        n_questions: usize,
        /// How many were allowed.
        most: Limit,
    },
}

impl Gates {
    /// The share of questions that must have a verdict, where nothing else is said.
    pub const COVERAGE: f64 = 0.95;

    /// Every reason why the statistics of some questions do not pass, none where they do.
    pub fn unmet(&self, summary: &Summary) -> Vec<Unmet> {
        let mut unmet: Vec<Unmet> =
            self.metrics.iter().flat_map(|gate| self.unmet_of(gate, summary)).collect();
        let n_errors = summary.n_errors;
        let n_questions = n_errors + summary.n_successes;
        if let Some(most) = self.max_errors.filter(|most| !most.allows(n_errors, n_questions)) {
            unmet.push(Unmet::Errors { n_errors, n_questions, most });
        }
        unmet
    }

    fn unmet_of(&self, gate: &Gate, summary: &Summary) -> Vec<Unmet> {
        let Some(spread) = summary.spread(&gate.metric).filter(|spread| spread.n > 0) else {
            return vec![Unmet::Absent(gate.clone())];
        };
        let mut unmet = Vec::new();
        if spread.mean < gate.least {
            unmet.push(Unmet::Below { gate: gate.clone(), mean: spread.mean });
        }
        let coverage = summary.coverage(&gate.metric).unwrap_or_default();
        if coverage.share() < self.coverage {
            unmet.push(Unmet::Uncovered {
                metric: gate.metric.clone(),
                coverage,
                least: self.coverage,
                n_errors: summary.n_errors,
            });
        }
        unmet
    }
}

impl Limit {
    /// Whether so many of all are within it.
    pub fn allows(self, n: usize, n_all: usize) -> bool {
        match self {
            Limit::Count(most) => n <= most,
            Limit::Share(most) => n as f64 / n_all.max(1) as f64 <= most,
        }
    }
}

impl FromStr for Limit {
    type Err = NotALimit;
    fn from_str(text: &str) -> Result<Limit, NotALimit> {
        match text.trim().strip_suffix('%') {
            None => text.trim().parse().map(Limit::Count).map_err(|_| NotALimit),
            Some(percent) => {
                let percent: f64 = percent.trim_end().parse().map_err(|_| NotALimit)?;
                let is_share = (0.0..=100.0).contains(&percent);
                is_share.then_some(Limit::Share(percent / 100.0)).ok_or(NotALimit)
            }
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Count(count) => write!(f, "{count}"),
            Limit::Share(share) => write!(f, "{}", Percent(*share)),
        }
    }
}

/// A share as people read it, never rounded up: 94.99 % is not 95 %.
struct Percent(f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A share such as 0.07 is a little below seven hundredths.
        let tenths = (self.0 * 1000.0 + 1e-9).floor();
        write!(f, "{} %", tenths / 10.0)
    }
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unmet::Absent(Gate { metric, least }) => {
                write!(f, "no question has {metric}, at least {least} was asked")
            }
            Unmet::Below { gate: Gate { metric, least }, mean } => {
                write!(f, "{metric} is {mean:.4}, at least {least} was asked")
            }
            Unmet::Uncovered { metric, coverage, least, n_errors } => {
                let Coverage { n_scored, n_applicable } = coverage;
                write!(
                    f,
                    "{metric} has a verdict for {n_scored} of the {n_applicable} questions to which \
                     it applies ({}), at least {} was asked",
                    Percent(coverage.share()),
                    Percent(*least)
                )?;
                match n_errors {
                    0 => Ok(()),
                    1 => f.write_str("; 1 response failed or is missing"),
                    n => write!(f, "; {n} responses failed or are missing"),
                }
            }
            Unmet::Errors { n_errors, n_questions, most } => {
                let share = Percent(*n_errors as f64 / (*n_questions).max(1) as f64);
                write!(
                    f,
                    "{n_errors} of {n_questions} responses failed or are missing ({share}), at \
                     most {most} was asked"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_count_or_a_percentage() {
        assert_eq!("5".parse(), Ok(Limit::Count(5)));
        assert_eq!("2%".parse(), Ok(Limit::Share(0.02)));
        assert_eq!(" 2.5 % ".parse(), Ok(Limit::Share(0.025)));
        for text in ["", "%", "-1", "-1%", "101%", "0.5", "NaN%", "many"] {
            assert_eq!(text.parse::<Limit>(), Err(NotALimit), "{text}");
        }
        assert!(Limit::Share(0.02).allows(2, 100) && !Limit::Share(0.02).allows(3, 100));
        assert!(Limit::Count(2).allows(2, 2) && !Limit::Count(2).allows(3, 1000));
    }

    #[test]
    fn percentages_are_never_rounded_up() {
        for (share, text) in [
            (0.95, "95 %"),
            (0.9499, "94.9 %"),
            (1.0 / 300.0, "0.3 %"),
            (0.07, "7 %"),
            (1.0, "100 %"),
        ] {
            assert_eq!(Percent(share).to_string(), text);
        }
    }
}
