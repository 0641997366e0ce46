//! One record of a file of responses.

use std::borrow::Cow;
use std::num::NonZero;

use juror_document::Problems;
use juror_json::{self as json, Object, form};
use juror_score::{Ending, Number, RecordedIn, Step, Trajectory, Usage};
use serde_json::value::RawValue;

use crate::keys::unknown_keys;

/// A record, with the id of its question if it has one.
pub(crate) struct ResponseRecord<'a> {
    pub(crate) id: Option<Cow<'a, str>>,
    pub(crate) trajectory: Trajectory<'a>,
    /// Whether it has any known key besides those that say what it is a response to.
    pub(super) says_something: bool,
    /// A `trial` that is none.
    pub(super) no_trial: Option<&'a RawValue>,
    /// The known keys it has, as a bit for each in the order of the form.
    met: u32,
    /// The unknown keys, each with the index of its step if it belongs to a step.
    pub(super) unknown: Vec<(Option<usize>, &'a str)>,
}

impl ResponseRecord<'_> {
    /// Whether the record has a key, of those that a misspelt key may stand for.
    pub(super) fn has(&self, key: &str) -> bool {
        let is_own = |(step, own): &(Option<usize>, &str)| step.is_none() && *own == key;
        match key {
            // If these are `null`, another key may have the value that was meant for them.
            "actual_answer" => self.trajectory.answer.is_some(),
            "actual_steps" => self.trajectory.steps.is_some(),
            "question_id" => self.id.is_some(),
            _ => {
                let known = ResponseForm::KEYS.iter().position(|known| *known == key);
                known.is_some_and(|at| self.met >> at & 1 == 1) || self.unknown.iter().any(is_own)
            }
        }
    }
}

/// The most steps of any response; a longer response may have one per [`BYTES_A_STEP`] bytes. A step
/// takes far more memory than the two bytes of `{}`.
pub(super) const MOST_STEPS: usize = 1 << 16;
const BYTES_A_STEP: usize = 16;

/// Reads one record.
pub(crate) fn read_record(text: &str) -> Result<ResponseRecord<'_>, serde_json::Error> {
    let mut form: ResponseForm<'_> = json::from_str(text)?;
    let n_steps = form.actual_steps.as_ref().map_or(0, Vec::len);
    if n_steps > MOST_STEPS.max(text.len() / BYTES_A_STEP) {
        let message = format!("expected at most {MOST_STEPS} steps, or steps that say something");
        return Err(serde::de::Error::custom(message));
    }
    let names = [form.question_id, form.trial, form.trace_id, form.span_id];
    let says_something = form.met.count_ones() as usize > names.iter().flatten().count();
    let mut unknown: Vec<_> =
        form.unknown.drain(..).take(Problems::MOST).map(|key| (None, key)).collect();
    for (index, step) in form.actual_steps.iter().flatten().enumerate() {
        unknown.extend(unknown_keys(step).map(|key| (Some(index), key)));
    }
    let (id, met) = (form.question_id.and_then(json::scalar_text), form.met);
    let no_trial = form.trial.filter(|trial| trial_of(trial).is_none());
    Ok(ResponseRecord { id, trajectory: form.read(), says_something, no_trial, met, unknown })
}

/// Reads a response that is a text of its own: the id of its question, if it has one, and what the
/// subject did.
pub fn read_response(
    text: &str,
) -> Result<(Option<Cow<'_, str>>, Trajectory<'_>), serde_json::Error> {
    read_record(text).map(|record| (record.id, record.trajectory))
}

/// Reads the number of a trial: a whole number from 1 on.
pub(super) fn trial_of(trial: &RawValue) -> Option<NonZero<u32>> {
    let number = Number::from_json(trial.get())?.value;
    let is_whole = number.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&number);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in range")]
    NonZero::new(if is_whole { number as u32 } else { 0 })
}

form! {
    ResponseForm<'a> {
        question_id: &'a RawValue,
        trial: &'a RawValue,
        status: &'a RawValue,
        error: &'a RawValue,
        actual_answer: &'a RawValue,
        actual_steps: Vec<Object<'a>>,
        input_tokens: &'a RawValue,
        output_tokens: &'a RawValue,
        total_tokens: &'a RawValue,
        elapsed_sec: &'a RawValue,
        trace_id: &'a RawValue,
        span_id: &'a RawValue,
    }
}

impl<'a> ResponseForm<'a> {
    fn read(self) -> Trajectory<'a> {
        let says_error = self.status.is_some_and(|status| json::is_word(status, "error"));
        let ending = match self.error {
            Some(error) => Ending::Failed(Cow::Borrowed(error.get())),
            None if says_error => Ending::Failed(Cow::Borrowed("\"no error message\"")),
            None => Ending::Responded,
        };
        Trajectory {
            trial: self.trial.and_then(trial_of),
            ending,
            answer: self.actual_answer,
            steps: self.actual_steps.map(|steps| steps.into_iter().map(Step::new).collect()),
            usage: Usage {
                input_tokens: self.input_tokens,
                output_tokens: self.output_tokens,
                total_tokens: self.total_tokens,
                elapsed_sec: self.elapsed_sec,
            },
            recorded: RecordedIn { trace_id: self.trace_id, span_id: self.span_id },
        }
    }
}
