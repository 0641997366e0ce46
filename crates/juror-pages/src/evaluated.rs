//! The scores of a run, answer by answer, for other systems.

use juror_compare::Kind;
use juror_json::{Object, text_of};
use juror_report::{Evaluated, Evaluation, ExportedRun};
use juror_score::{AnswerErrorKey, Aspect, KeyPart, ScoreColumn, ScoredItem, Standing, Unit};

use crate::answers::answers;
use crate::scored_run::{ScoredRun, first_miss};

impl ScoredRun {
    /// What identifies the run in exported scores.
    pub fn exported(&self) -> ExportedRun<'_> {
        let times = self.manifest.as_ref().map(|run| (run.ended.as_deref(), run.began.as_str()));
        let time = times.map(|(ended, began)| ended.unwrap_or(began));
        ExportedRun {
            name: &self.facts.name,
            id: self.facts.id.as_deref(),
            unix_nanos: time.and_then(unix_nanos).unwrap_or_default(),
        }
    }

    /// The scores of every answer or attempt. Costs, tokens and times are left out: traces have them.
    pub fn evaluated(&self) -> Vec<Evaluated<'_>> {
        let texts = answers(self, None).into_iter();
        let rows = self.scores.items().iter().zip(texts);
        let mut all: Vec<(Evaluated<'_>, ResultText<'_>)> =
            rows.map(|(item, text)| self.begin(item, text.result)).collect();
        for column in self.scores.columns().iter().filter(|column| is_score(column)) {
            self.add_column(column, &mut all);
        }
        all.into_iter().map(|(answer, _)| answer).collect()
    }

    fn begin<'r>(
        &'r self,
        item: &'r ScoredItem,
        text: Option<&'r str>,
    ) -> (Evaluated<'r>, ResultText<'r>) {
        let result = ResultText::new(text);
        let evaluated = Evaluated {
            group: self.scores.group_of(item),
            id: &item.id,
            trial: item.trial,
            is_error: item.is_error,
            trace_id: result.text("trace_id"),
            span_id: result.text("span_id"),
            evaluations: Vec::new(),
        };
        (evaluated, result)
    }

    fn add_column<'r>(
        &'r self,
        column: &'r ScoreColumn,
        all: &mut [(Evaluated<'r>, ResultText<'r>)],
    ) {
        let is_judged = column.info.is_none_or(|info| info.is_judged);
        // A metric that no answer has was not asked for, and lacks nowhere.
        let is_used = !column.values().is_empty();
        let mut values = column.values().iter().peekable();
        let standings = self.scores.standings(column).enumerate();
        for ((row, standing), (answer, result)) in standings.zip(all) {
            let mut own = None;
            while let Some(value) = values.next_if(|value| value.item as usize == row) {
                own = Some(value.value);
            }
            let (score, explanation) = match standing {
                Standing::Scored => (own, self.reason(column, own, result)),
                Standing::Missing if is_used || result.judge_error(column).is_some() => {
                    let why = result.judge_error(column);
                    (None, why.or_else(|| result.text("error")))
                }
                Standing::Missing | Standing::NotApplicable => continue,
            };
            let metric = &*column.name;
            answer.evaluations.push(Evaluation { metric, score, explanation, is_judged });
        }
    }

    /// Why an answer has its score: a judge's words, or the step that was missed.
    fn reason(
        &self,
        column: &ScoreColumn,
        score: Option<f64>,
        result: &ResultText<'_>,
    ) -> Option<String> {
        let is_missed = column.name == "steps_score" && score.is_some_and(|score| score < 1.0);
        match (self.facts.kind, is_missed) {
            (Kind::Eval, true) => first_miss(result.json?, self.profile()),
            (Kind::Eval, false) => result.text(&aspect_of(column).key(KeyPart::Reason)),
            (Kind::Bench, _) if column.info.is_some_and(|info| info.is_judged) => result.verdict(),
            (Kind::Bench, _) => None,
        }
    }
}

/// A result, of which few keys are read.
struct ResultText<'r> {
    json: Option<&'r str>,
    fields: Option<Object<'r>>,
}

impl<'r> ResultText<'r> {
    fn new(json: Option<&'r str>) -> ResultText<'r> {
        ResultText { json, fields: json.and_then(|json| juror_json::from_str(json).ok()) }
    }

    fn text(&self, key: &str) -> Option<String> {
        let text = text_of(self.fields.as_ref()?.get_set(key)?)?;
        Some(text.into_owned()).filter(|text| !text.is_empty())
    }

    /// Why the judge of a metric came to no score.
    fn judge_error(&self, column: &ScoreColumn) -> Option<String> {
        match aspect_of(column) {
            Aspect::Claims(_) => [AnswerErrorKey::Eval, AnswerErrorKey::Correctness]
                .iter()
                .find_map(|key| self.text(key.as_str())),
            aspect => self.text(&aspect.key(KeyPart::Error)),
        }
    }

    /// What the judge of an attempt said.
    fn verdict(&self) -> Option<String> {
        let evaluation = self.fields.as_ref()?.get_set("evaluation")?;
        ResultText::new(Some(evaluation.get())).text("reason")
    }
}

/// Whether a column has scores, rather than costs, tokens, times or counts.
fn is_score(column: &ScoreColumn) -> bool {
    column.info.is_none_or(|info| matches!(info.unit, Unit::Fraction | Unit::Cosine))
}

/// What a metric is a look at, which decides the keys of its reason and its error.
fn aspect_of(column: &ScoreColumn) -> Aspect {
    let claims = Aspect::Claims(AnswerErrorKey::Correctness);
    match (column.info, claims.part(&column.name)) {
        (Some(_), Some(KeyPart::Value(_))) => claims,
        (Some(info), _) => Aspect::Metric(info.name),
        (None, _) => Aspect::custom(&*column.name, vec![column.name.to_string()]),
    }
}

fn unix_nanos(time: &str) -> Option<u64> {
    let time: jiff::Timestamp = time.parse().ok()?;
    u64::try_from(time.as_nanosecond()).ok()
}
