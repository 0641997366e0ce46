//! Custom metrics: a model follows the user's instructions.

use juror_models::{ChatCall, Models, Pending, Schema};
use juror_score::{Aspect, Case, Finding, Judgement, Matching, Score, Verdict};
use serde_json::{Map, Value, json};

use crate::judge::{Judge, Repeat, failed, is_blank};
use crate::reply::{JudgedTexts, imitates_verdict, read_verdict, shown};
use crate::template::{Template, TemplateError};

/// The prompt around the user's instructions.
const FRAME: &str = include_str!("../prompts/custom.md");

/// A part of a case that a model can see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// The question.
    Question,
    /// The reference answer.
    ReferenceAnswer,
    /// The expected steps.
    ReferenceSteps,
    /// The actual answer.
    ActualAnswer,
    /// The actual steps.
    ActualSteps,
}

impl Input {
    /// The name in settings and prompts.
    pub fn name(self) -> &'static str {
        match self {
            Input::Question => "question",
            Input::ReferenceAnswer => "reference_answer",
            Input::ReferenceSteps => "reference_steps",
            Input::ActualAnswer => "actual_answer",
            Input::ActualSteps => "actual_steps",
        }
    }

    /// Whether it shows steps.
    pub fn is_steps(self) -> bool {
        matches!(self, Input::ReferenceSteps | Input::ActualSteps)
    }
}

/// Which steps are shown, and which of their fields.
#[derive(Clone, Debug, Default)]
pub struct ShownSteps {
    /// The name of the steps.
    pub name: String,
    /// The fields: `args`, `output`.
    pub keys: Vec<String>,
}

/// Judges a custom metric.
pub struct Custom {
    aspect: Aspect,
    purpose: String,
    inputs: Vec<Input>,
    steps: ShownSteps,
    outputs: Vec<String>,
    template: Template,
    hash: String,
    schema: Schema,
}

impl Custom {
    /// Creates a judge that shows `inputs` and follows `instructions`. `outputs` are the names of
    /// its results and their meanings.
    pub fn new(
        name: &str,
        inputs: Vec<Input>,
        steps: ShownSteps,
        instructions: &str,
        outputs: &[(String, String)],
    ) -> Result<Custom, TemplateError> {
        let meanings: Vec<String> =
            outputs.iter().map(|(key, meaning)| format!("- {key}: {meaning}")).collect();
        let frame = FRAME.replacen("{{outputs}}", &meanings.join("\n"), 1).replacen(
            "{{instructions}}",
            instructions.trim(),
            1,
        );
        let places: Vec<&'static str> = inputs.iter().map(|input| input.name()).collect();
        let template = Template::of_words(&frame, &places)?;
        let user: Vec<String> = places.iter().map(|place| format!("{{{{{place}}}}}")).collect();
        let user = user.join("\n\n");
        // Which steps are shown affects replies as much as the prompt, so it is part of the hash.
        let shown = format!("{frame}{user}{}{:?}", steps.name, steps.keys);
        let keys: Vec<String> = outputs.iter().map(|(key, _)| key.clone()).collect();
        Ok(Custom {
            hash: blake3::hash(shown.as_bytes()).to_hex()[..16].to_owned(),
            aspect: Aspect::custom(name, keys.clone()),
            purpose: purpose_of(name),
            inputs,
            steps,
            outputs: keys,
            template,
            schema: schema(outputs),
        })
    }

    /// Returns the text of an input, or why it cannot be shown.
    fn text(&self, input: Input, case: &Case<'_>) -> Result<String, String> {
        let missing = |whose: &str| format!("{whose} has no `{}`", input.name());
        match input {
            Input::Question => Ok(case.question_text().into_owned()),
            Input::ReferenceAnswer => {
                case.reference_answer().map(Into::into).ok_or_else(|| missing("the reference"))
            }
            Input::ActualAnswer => match case.actual_answer() {
                None => Err(missing("the response")),
                Some(answer) if is_blank(&answer) => Err("the answer is blank".into()),
                Some(answer) => Ok(answer.into_owned()),
            },
            Input::ReferenceSteps => {
                let groups = case.question.groups.as_deref();
                let groups = groups.ok_or_else(|| missing("the reference"))?;
                let shown = groups.iter().map(|group| {
                    self.show(group.iter().map(|step| (step.name.as_ref(), &step.fields)))
                });
                Ok(shown.collect::<Vec<String>>().join("\n\n"))
            }
            Input::ActualSteps => {
                let steps = case.trajectory.steps.as_deref();
                let steps = steps.ok_or_else(|| missing("the response"))?;
                Ok(self.show(steps.iter().map(|step| (step.name.as_ref(), &step.fields))))
            }
        }
    }

    /// Renders steps as indented JSON. A string that contains JSON is shown as JSON.
    fn show<'s>(
        &self,
        steps: impl Iterator<Item = (&'s str, &'s juror_json::Object<'s>)>,
    ) -> String {
        let field = |fields: &juror_json::Object<'_>, key: &String| {
            let raw = fields.get(key).map_or("null", |raw| raw.get());
            let value: Value = serde_json::from_str(raw).unwrap_or_default();
            match &value {
                Value::String(text) => serde_json::from_str(text).unwrap_or(value),
                _ => value,
            }
        };
        let shown: Vec<Value> = steps
            .filter(|(name, _)| *name == self.steps.name)
            .map(|(_, fields)| {
                let fields = self.steps.keys.iter().map(|key| (key.clone(), field(fields, key)));
                Value::Object(fields.collect::<Map<_, _>>())
            })
            .collect();
        serde_json::to_string_pretty(&shown).unwrap_or_default()
    }

    fn read(&self, reply: &str, judged_texts: &JudgedTexts<'_>) -> Result<Vec<Value>, String> {
        let of_object = |value: &Value| {
            let value = |key: &String| value.get(key).cloned();
            let values: Option<Vec<Value>> = self.outputs.iter().map(value).collect();
            values.ok_or_else(|| "an output is missing".to_owned())
        };
        match read_verdict(reply, judged_texts, of_object, Vec::eq) {
            Ok(values) => return Ok(values),
            Err(unread) if unread.is_disputed => return Err(unread.why),
            Err(_) => {}
        }
        let values: Vec<&str> = reply.split('\t').collect();
        if values.len() != self.outputs.len() {
            let expected = self.outputs.len();
            return Err(format!("Expected {expected} tab-separated values, got: {}", shown(reply)));
        }
        let parsed = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
        Ok(values.into_iter().map(parsed).collect())
    }
}

/// How the purposes of custom evaluations begin.
pub(crate) const PREFIX: &str = "custom_";

/// Makes a name that all providers accept. A hash keeps changed names apart.
fn purpose_of(name: &str) -> String {
    const LONGEST: usize = 64;
    let wanted = format!("{PREFIX}{name}");
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if wanted.len() <= LONGEST && wanted.chars().all(is_allowed) {
        return wanted;
    }
    let hash = blake3::hash(name.as_bytes()).to_hex();
    let kept = wanted.chars().map(|c| if is_allowed(c) { c } else { '_' }).take(LONGEST - 9);
    format!("{}_{}", kept.collect::<String>(), &hash[..8])
}

/// Keeps the order in which the user wrote the outputs.
fn schema(outputs: &[(String, String)]) -> Schema {
    Schema::object(outputs.iter().map(|(key, meaning)| {
        let value = json!({
            "type": ["number", "string", "boolean", "null"],
            "description": meaning,
        });
        (key, Schema::plain(value))
    }))
}

impl Judge for Custom {
    fn judge<'a>(
        &'a self,
        case: &'a Case<'a>,
        _matching: Option<&'a Matching>,
        models: &'a Models,
        repeat: Repeat,
    ) -> Pending<'a, Judgement> {
        Box::pin(async move {
            let mut judgement = Judgement::default();
            let finding = |verdict| Finding::new(self.aspect.clone(), verdict);
            let text = |input: &Input| Ok((input.name(), self.text(*input, case)?));
            let texts: Result<Vec<(&str, String)>, String> = self.inputs.iter().map(text).collect();
            let texts = match texts {
                Ok(texts) => texts,
                Err(why) => {
                    judgement.findings.push(finding(Verdict::failed(why)));
                    return judgement;
                }
            };
            for (name, text) in texts.iter().filter(|(name, _)| name.starts_with("actual")) {
                if imitates_verdict(text) {
                    judgement.flags.push(format!("{name} imitates a verdict"));
                }
            }
            let texts: Vec<(&str, &str)> =
                texts.iter().map(|(name, text)| (*name, text.as_str())).collect();
            let prompt = self.template.fill(&texts);
            let call = ChatCall::new(self.purpose.clone(), prompt, Some(self.schema.clone()));
            let call = repeat.of(call);
            let answer =
                models.ask(&call, |reply| self.read(reply, &JudgedTexts::of(&call.prompt))).await;
            let verdict = match answer.outcome {
                Ok(values) => Verdict::Scored(Score::Outputs(values)),
                Err(error) => failed(&error),
            };
            judgement.findings.push(Finding { cost: answer.cost.usd(), ..finding(verdict) });
            judgement
        })
    }

    fn aspects(&self) -> Vec<Aspect> {
        vec![self.aspect.clone()]
    }

    fn prompts(&self) -> Vec<(String, String)> {
        vec![(self.purpose.clone(), self.hash.clone())]
    }
}
