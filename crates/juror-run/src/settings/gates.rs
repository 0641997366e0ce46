//! Gates as users write them in settings, or in a file of their own.

use juror_compare::{
    Bound, ChangeLimit, Condition, Gate, GateLevel, LevelLimit, Limit, Margin, OnInconclusive,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value;

/// A condition that a run, or the change from one run to another, must meet.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GateSettings {
    /// The metric whose mean is looked at.
    pub metric: Option<String>,
    /// Only questions of this template.
    pub template: Option<String>,
    /// Only queries of this set.
    pub set: Option<String>,
    /// The least mean.
    pub min: Option<f64>,
    /// The greatest mean.
    pub max: Option<f64>,
    /// What is compared with `min` or `max`; the mean when left out.
    pub bound: Option<BoundWord>,
    /// How much the mean may fall against the baseline: a number, or a percentage such as `10%`.
    #[schemars(schema_with = "amount_schema")]
    pub max_drop: Option<MarginWord>,
    /// How much the mean may rise against the baseline: a number, or a percentage such as `10%`.
    #[schemars(schema_with = "amount_schema")]
    pub max_rise: Option<MarginWord>,
    /// How many answers may have failed or be missing: a count, or a percentage such as `2%`.
    #[schemars(schema_with = "amount_schema")]
    pub errors: Option<LimitWord>,
    /// The ids of questions that may not break.
    pub questions: Vec<String>,
    /// How many of these questions may break all the same; 0 when left out.
    pub may_break: Option<usize>,
    /// What happens when the condition is not met; `block` when left out.
    pub level: Option<LevelWord>,
    /// What happens when the data cannot tell; it is told as inconclusive when left out.
    pub inconclusive: Option<InconclusiveWord>,
}

/// What is compared with a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BoundWord {
    /// The mean.
    Mean,
    /// The lower end of its interval.
    Lower,
    /// The upper end of its interval.
    Upper,
}

/// What happens when a condition is not met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LevelWord {
    /// The command fails.
    Block,
    /// The command says so and passes.
    Warn,
}

/// What happens when the data cannot tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InconclusiveWord {
    /// It is told; with `--strict` the command ends with 4.
    Tell,
    /// It counts as a warning.
    Warn,
    /// It counts as not met.
    Block,
}

/// A margin, as a number or a percentage.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Value")]
pub struct MarginWord(Margin);

impl TryFrom<Value> for MarginWord {
    type Error = String;
    fn try_from(value: Value) -> Result<MarginWord, String> {
        let text = text_of(&value);
        let (number, is_percent) = match text.trim().strip_suffix('%') {
            Some(percent) => (percent.trim_end(), true),
            None => (text.trim(), false),
        };
        let amount = number.parse::<f64>().ok().filter(|amount| amount.is_finite());
        let amount = amount.filter(|amount| *amount >= 0.0).ok_or_else(|| {
            format!("expected a number or a percentage, 0 or more, found `{text}`")
        })?;
        let margin = if is_percent { Margin::Percent(amount) } else { Margin::Absolute(amount) };
        Ok(MarginWord(margin))
    }
}

/// A limit, as a count or a percentage.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Value")]
pub struct LimitWord(Limit);

impl TryFrom<Value> for LimitWord {
    type Error = String;
    fn try_from(value: Value) -> Result<LimitWord, String> {
        let text = text_of(&value);
        text.parse().map(LimitWord).map_err(|error| format!("{error}; found `{text}`"))
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn amount_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": ["number", "string", "null"],
        "minimum": 0,
        "pattern": r"^\s*[0-9.]+\s*%?\s*$",
    })
}

/// Why a gate makes no sense.
pub(super) const WHAT_A_GATE_NEEDS: &str = "a gate has `metric` with one of `min`, `max`, \
    `max_drop` and `max_rise`, or `errors`, or `questions`";

impl GateSettings {
    /// Returns what is meant, or what is wrong.
    pub fn gate(&self) -> Result<Gate, &'static str> {
        let level = match self.level {
            Some(LevelWord::Warn) => GateLevel::Warn,
            Some(LevelWord::Block) | None => GateLevel::Block,
        };
        let inconclusive = match self.inconclusive {
            Some(InconclusiveWord::Warn) => OnInconclusive::Warn,
            Some(InconclusiveWord::Block) => OnInconclusive::Block,
            Some(InconclusiveWord::Tell) | None => OnInconclusive::Tell,
        };
        Ok(Gate { condition: self.condition()?, level, inconclusive })
    }

    fn condition(&self) -> Result<Condition, &'static str> {
        if self.is_about_several_things() {
            return Err("a gate asks for one thing; write another one for the rest");
        }
        if let Some(LimitWord(most)) = self.errors {
            return Ok(Condition::Errors { most });
        }
        if !self.questions.is_empty() {
            let may_break = self.may_break.unwrap_or(0);
            let (ids, metric) = (self.questions.clone(), self.metric.clone());
            return Ok(Condition::Questions { ids, metric, may_break });
        }
        let metric = self.metric.clone().ok_or(WHAT_A_GATE_NEEDS)?;
        match self.change() {
            Some(_) if self.bound.is_some() => Err("`bound` goes with `min` and `max`"),
            Some(_) if self.group().is_some() => {
                Err("changes are looked at over all questions: leave out the template or set")
            }
            Some(limit) => Ok(Condition::Change { metric, limit }),
            None => {
                let limit = self.level().ok_or(WHAT_A_GATE_NEEDS)?;
                Ok(Condition::Level { metric, group: self.group(), limit, bound: self.bound() })
            }
        }
    }

    fn is_about_several_things(&self) -> bool {
        let asked = [
            self.min.is_some(),
            self.max.is_some(),
            self.max_drop.is_some(),
            self.max_rise.is_some(),
            self.errors.is_some(),
            !self.questions.is_empty(),
        ];
        asked.into_iter().filter(|is_asked| *is_asked).count() > 1
    }

    fn level(&self) -> Option<LevelLimit> {
        self.min.map(LevelLimit::Min).or(self.max.map(LevelLimit::Max))
    }

    fn change(&self) -> Option<ChangeLimit> {
        let drop = self.max_drop.map(|MarginWord(margin)| ChangeLimit::MaxDrop(margin));
        drop.or(self.max_rise.map(|MarginWord(margin)| ChangeLimit::MaxRise(margin)))
    }

    fn group(&self) -> Option<String> {
        self.template.clone().or_else(|| self.set.clone())
    }

    fn bound(&self) -> Bound {
        match self.bound {
            Some(BoundWord::Lower) => Bound::Lower,
            Some(BoundWord::Upper) => Bound::Upper,
            Some(BoundWord::Mean) | None => Bound::Mean,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn gate(value: Value) -> Result<String, String> {
        let settings: GateSettings =
            serde_json::from_value(value).map_err(|error| error.to_string())?;
        settings.gate().map(|gate| gate.to_string()).map_err(str::to_owned)
    }

    #[test]
    fn gates_are_written_in_few_words() {
        for (value, shown) in [
            (json!({"metric": "steps_score", "min": 0.8}), "steps_score at least 0.8"),
            (
                json!({"metric": "steps_score", "min": 0.8, "bound": "lower"}),
                "steps_score at least 0.8 (lower bound)",
            ),
            (json!({"metric": "elapsed_sec", "max": 12}), "elapsed_sec at most 12"),
            (json!({"errors": "2%"}), "errors at most 2 %"),
            (json!({"errors": 5}), "errors at most 5"),
            (json!({"metric": "answer_f1", "max_drop": 0.01}), "answer_f1 may fall 0.01"),
            (json!({"metric": "total_tokens", "max_rise": "10%"}), "total_tokens may rise 10 %"),
            (
                json!({"template": "t", "metric": "steps_score", "min": 0.7}),
                "steps_score at least 0.7 in t",
            ),
            (json!({"questions": ["q1"], "may_break": 0}), "q1 may not break"),
            (json!({"questions": ["q1", "q2"], "may_break": 1}), "of 2 questions 1 may break"),
        ] {
            assert_eq!(gate(value.clone()).as_deref(), Ok(shown), "{value}");
        }
    }

    #[test]
    fn gates_that_make_no_sense_say_why() {
        for (value, why) in [
            (json!({}), "a gate has `metric`"),
            (json!({"metric": "steps_score"}), "a gate has `metric`"),
            (json!({"min": 0.5}), "a gate has `metric`"),
            (json!({"metric": "x", "min": 0.5, "max": 1}), "asks for one thing"),
            (json!({"metric": "x", "max_drop": 0.1, "bound": "lower"}), "`bound` goes with"),
            (json!({"metric": "x", "max_drop": 0.1, "template": "t"}), "over all questions"),
            (json!({"metric": "x", "max_drop": "-1%"}), "expected a number or a percentage"),
            (json!({"metric": "x", "max_drop": "NaN"}), "expected a number or a percentage"),
            (json!({"errors": "many"}), "expected a count or a percentage"),
            (json!({"metric": "x", "min": 1, "level": "shout"}), "unknown variant"),
        ] {
            let problem = gate(value.clone()).expect_err("no gate");
            assert!(problem.contains(why), "{value}: {problem}");
        }
    }
}
