//! Builders, for programs that have questions and trajectories in memory rather than in files.
//!
//! A [`Question`] and a [`Trajectory`] borrow the JSON that they were read from, and results copy
//! it. So a builder owns such JSON, and `build` returns what borrows from the builder: a built
//! case scores and is written exactly like the same case read from a file.

use std::borrow::Cow;
use std::num::NonZero;

use juror_json::Object;
use juror_sparql::Rules;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::output::Output;
use crate::question::{ExpectedStep, MatchedBy, Question};
use crate::trajectory::{Ending, Step, Trajectory, Usage};

/// Builds a [`Question`].
#[derive(Clone, Debug)]
pub struct QuestionBuilder {
    id: String,
    template: String,
    text: Box<RawValue>,
    answer: Option<Box<RawValue>>,
    groups: Option<Vec<Vec<ExpectedStepBuilder>>>,
}

impl QuestionBuilder {
    /// Starts a question without a reference. Its template has the name `default`.
    pub fn new(id: &str, text: &str) -> QuestionBuilder {
        let (template, text) = ("default".to_owned(), raw(text));
        QuestionBuilder { id: id.to_owned(), template, text, answer: None, groups: None }
    }

    /// Sets the template, by which questions are grouped in statistics.
    #[must_use]
    pub fn template(mut self, template: &str) -> QuestionBuilder {
        template.clone_into(&mut self.template);
        self
    }

    /// Sets the expected answer.
    #[must_use]
    pub fn answer(mut self, answer: impl Into<Value>) -> QuestionBuilder {
        self.answer = Some(raw(answer));
        self
    }

    /// Expects a step after those expected so far.
    #[must_use]
    pub fn step(self, step: ExpectedStepBuilder) -> QuestionBuilder {
        self.group([step])
    }

    /// Expects steps, in any order, after those expected so far.
    #[must_use]
    pub fn group(
        mut self,
        steps: impl IntoIterator<Item = ExpectedStepBuilder>,
    ) -> QuestionBuilder {
        self.groups.get_or_insert_default().push(steps.into_iter().collect());
        self
    }

    /// Returns the question, borrowing from the builder.
    pub fn build(&self) -> Question<'_> {
        Question {
            id: Cow::Borrowed(&self.id),
            template: Cow::Borrowed(&self.template),
            text: &self.text,
            answer: self.answer.as_deref(),
            groups: self.groups.as_deref().map(build_groups),
        }
    }
}

fn build_groups(groups: &[Vec<ExpectedStepBuilder>]) -> Vec<Vec<ExpectedStep<'_>>> {
    groups.iter().map(|steps| steps.iter().map(ExpectedStepBuilder::build).collect()).collect()
}

/// Builds an [`ExpectedStep`].
#[derive(Clone, Debug)]
pub struct ExpectedStepBuilder {
    name: String,
    fields: StepFields,
    media_type: Option<String>,
    rules: Rules<'static>,
    matched_by: Option<MatchedBy>,
}

impl ExpectedStepBuilder {
    /// Starts a step of a kind, such as `sparql_query`.
    pub fn new(name: &str) -> ExpectedStepBuilder {
        ExpectedStepBuilder {
            name: name.to_owned(),
            fields: StepFields::default().with("name", name),
            media_type: None,
            rules: Rules::default(),
            matched_by: None,
        }
    }

    /// Sets the arguments, as a JSON object.
    #[must_use]
    pub fn args(self, args: impl Into<Value>) -> ExpectedStepBuilder {
        self.with("args", args)
    }

    /// Sets the expected output.
    #[must_use]
    pub fn output(self, output: impl Into<Value>) -> ExpectedStepBuilder {
        self.with("output", output)
    }

    /// Sets the media type of the output, such as `application/sparql-results+json`.
    #[must_use]
    pub fn media_type(mut self, media_type: &str) -> ExpectedStepBuilder {
        self.media_type = Some(media_type.to_owned());
        self.with("output_media_type", media_type)
    }

    /// Sets how SPARQL results are compared.
    #[must_use]
    pub fn rules(mut self, rules: Rules<'static>) -> ExpectedStepBuilder {
        if let Some(names) = &rules.required_columns {
            let names = names.iter().map(AsRef::as_ref).collect::<Vec<&str>>();
            self.fields = self.fields.with("required_columns", names);
        }
        let fields = self.fields.with("ordered", rules.ordered);
        self.fields = fields.with("ignore_duplicates", rules.ignore_duplicates);
        self.rules = rules;
        self
    }

    /// Sets what the step is matched by; without this, the profile decides.
    #[must_use]
    pub fn matched_by(mut self, matched_by: MatchedBy) -> ExpectedStepBuilder {
        self.matched_by = Some(matched_by);
        self.with("match", matched_by.word())
    }

    fn with(mut self, name: &str, value: impl Into<Value>) -> ExpectedStepBuilder {
        self.fields = self.fields.with(name, value);
        self
    }

    fn build(&self) -> ExpectedStep<'_> {
        let fields = self.fields.object();
        ExpectedStep {
            name: Cow::Borrowed(&self.name),
            output: fields.get_set("output").map(Output::Json),
            media_type: self.media_type.as_deref().map(Cow::Borrowed),
            rules: self.rules.clone(),
            matched_by: self.matched_by,
            fields,
        }
    }
}

/// Builds a [`Trajectory`] that ended with a response.
#[derive(Clone, Debug, Default)]
pub struct TrajectoryBuilder {
    trial: Option<NonZero<u32>>,
    answer: Option<Box<RawValue>>,
    error: Option<Box<RawValue>>,
    steps: Option<Vec<StepBuilder>>,
    tokens: Option<[Box<RawValue>; 3]>,
    elapsed_sec: Option<Box<RawValue>>,
}

impl TrajectoryBuilder {
    /// Starts a trajectory that has no answer and does not list its steps.
    pub fn new() -> TrajectoryBuilder {
        TrajectoryBuilder::default()
    }

    /// Sets the answer.
    #[must_use]
    pub fn answer(mut self, answer: impl Into<Value>) -> TrajectoryBuilder {
        self.answer = Some(raw(answer));
        self
    }

    /// Adds a step after those taken so far.
    #[must_use]
    pub fn step(mut self, step: StepBuilder) -> TrajectoryBuilder {
        self.steps.get_or_insert_default().push(step);
        self
    }

    /// Makes the trajectory end with an error.
    #[must_use]
    pub fn error(mut self, message: &str) -> TrajectoryBuilder {
        self.error = Some(raw(message));
        self
    }

    /// Says which of several answers to the question it is, from 1 on.
    #[must_use]
    pub fn trial(mut self, trial: NonZero<u32>) -> TrajectoryBuilder {
        self.trial = Some(trial);
        self
    }

    /// Sets the numbers of tokens that the model read and wrote, and their sum.
    #[must_use]
    pub fn tokens(mut self, input: u64, output: u64) -> TrajectoryBuilder {
        self.tokens = Some([raw(input), raw(output), raw(input.saturating_add(output))]);
        self
    }

    /// Sets the seconds from question to answer.
    #[must_use]
    pub fn elapsed_sec(mut self, seconds: f64) -> TrajectoryBuilder {
        self.elapsed_sec = Some(raw(seconds));
        self
    }

    /// Returns the trajectory, borrowing from the builder.
    pub fn build(&self) -> Trajectory<'_> {
        let [input_tokens, output_tokens, total_tokens] =
            self.tokens.as_ref().map_or([None; 3], |tokens| tokens.each_ref().map(|n| Some(&**n)));
        let elapsed_sec = self.elapsed_sec.as_deref();
        Trajectory {
            trial: self.trial,
            ending: match &self.error {
                Some(error) => Ending::Failed(Cow::Borrowed(error.get())),
                None => Ending::Responded,
            },
            answer: self.answer.as_deref(),
            steps: self.steps.as_deref().map(build_steps),
            usage: Usage { input_tokens, output_tokens, total_tokens, elapsed_sec },
            ..Trajectory::default()
        }
    }
}

fn build_steps(steps: &[StepBuilder]) -> Vec<Step<'_>> {
    steps.iter().map(StepBuilder::build).collect()
}

/// Builds a [`Step`] that succeeded.
#[derive(Clone, Debug)]
pub struct StepBuilder(StepFields);

impl StepBuilder {
    /// Starts a step of a kind, such as `sparql_query`, or of a tool.
    pub fn new(name: &str) -> StepBuilder {
        StepBuilder(StepFields::default().with("name", name).with("status", "success"))
    }

    /// Sets the id; without this, it is the position of the step, counted from 1.
    #[must_use]
    pub fn id(self, id: &str) -> StepBuilder {
        StepBuilder(self.0.with("id", id))
    }

    /// Sets the arguments, as a JSON object.
    #[must_use]
    pub fn args(self, args: impl Into<Value>) -> StepBuilder {
        StepBuilder(self.0.with("args", args))
    }

    /// Sets what the step returned.
    #[must_use]
    pub fn output(self, output: impl Into<Value>) -> StepBuilder {
        StepBuilder(self.0.with("output", output))
    }

    /// Sets the media type of the output, such as `application/sparql-results+json`.
    #[must_use]
    pub fn media_type(self, media_type: &str) -> StepBuilder {
        StepBuilder(self.0.with("output_media_type", media_type))
    }

    /// Makes the step fail; a failed step matches nothing.
    #[must_use]
    pub fn error(self, message: &str) -> StepBuilder {
        StepBuilder(self.0.with("status", "error").with("error", message))
    }

    fn build(&self) -> Step<'_> {
        Step::new(self.0.object())
    }
}

/// The fields of a JSON object, in order.
#[derive(Clone, Debug, Default)]
struct StepFields(Vec<(Box<RawValue>, Box<RawValue>)>);

impl StepFields {
    /// Sets a field, replacing an earlier value.
    fn with(mut self, name: &str, value: impl Into<Value>) -> StepFields {
        let (key, value) = (raw(name), raw(value));
        match self.0.iter_mut().find(|(known, _)| known.get() == key.get()) {
            Some((_, known)) => *known = value,
            None => self.0.push((key, value)),
        }
        self
    }

    fn object(&self) -> Object<'_> {
        self.0.iter().map(|(key, value)| (&**key, &**value)).collect()
    }
}

/// Writes a value as JSON, which does not fail.
fn raw(value: impl Into<Value>) -> Box<RawValue> {
    to_raw_value(&value.into()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trajectory::Status;

    #[test]
    fn what_is_set_twice_has_its_last_value() {
        let failed = StepBuilder::new("s").output("x").error("one").error("two");
        let step = failed.build();
        assert_eq!(step.status, Status::Error);
        assert_eq!(step.fields.get("error").map(RawValue::get), Some("\"two\""));
        assert_eq!(step.fields.iter().filter(|(key, _)| key == "error").count(), 1);
    }

    #[test]
    fn a_trajectory_may_fail() {
        let failed = TrajectoryBuilder::new().error("no connection");
        let trajectory = failed.build();
        assert!(matches!(trajectory.ending, Ending::Failed(why) if why == "\"no connection\""));
        assert!(trajectory.steps.is_none() && trajectory.answer.is_none());
    }
}
