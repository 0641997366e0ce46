//! What was asked of models and what they replied, for whoever wants to show it.

use std::sync::{Arc, Mutex, PoisonError};

use crate::cache::Kept;
use crate::call::ChatCall;
use crate::model::Outcome;
use crate::tally::Cost;

/// What stands for the marker of a prompt, which is drawn anew whenever the prompt is sent.
pub const SHOWN_MARKER: &str = "[marker]";

/// A call as it was made, and its reply.
#[derive(Clone, Debug, PartialEq)]
pub struct TapedCall {
    /// The purpose of the call.
    pub purpose: String,
    /// The step of a trajectory that it is about, if any.
    pub step: Option<usize>,
    /// The number that tells it from equal calls.
    pub repeat: u32,
    /// The model, as `provider/model`.
    pub model: String,
    /// The messages, each with its role. [`SHOWN_MARKER`] stands for the marker.
    pub messages: Vec<(&'static str, String)>,
    /// The reply; `None` if there is none.
    pub reply: Option<TapedReply>,
}

/// A reply to a call.
#[derive(Clone, Debug, PartialEq)]
pub struct TapedReply {
    /// What the model said.
    pub said: Outcome,
    /// Tokens sent.
    pub input_tokens: u64,
    /// Tokens written by the model.
    pub output_tokens: u64,
    /// The price in US dollars, if it is known.
    pub usd: Option<f64>,
}

/// Records the calls of [`Models`](crate::Models), in the order in which they ended.
#[derive(Clone, Debug, Default)]
pub struct Tape(Arc<Mutex<Vec<TapedCall>>>);

impl Tape {
    /// Returns the calls since the last time, and forgets them.
    pub fn take(&self) -> Vec<TapedCall> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn add(&self, call: TapedCall) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(call);
    }
}

impl TapedCall {
    pub(crate) fn of_chat(call: &ChatCall, model: &str, reply: Option<TapedReply>) -> TapedCall {
        let (system, user) = call.prompt.rendered_with(SHOWN_MARKER);
        let system = system.map(|text| ("system", text));
        TapedCall {
            purpose: call.purpose.clone(),
            step: call.step,
            repeat: call.repeat,
            model: model.to_owned(),
            messages: system.into_iter().chain([("user", user)]).collect(),
            reply,
        }
    }

    pub(crate) fn of_embedding(
        texts: &[String],
        model: &str,
        reply: Option<TapedReply>,
    ) -> TapedCall {
        TapedCall {
            purpose: "embedding".into(),
            step: None,
            repeat: 0,
            model: model.to_owned(),
            messages: texts.iter().map(|text| ("text", text.clone())).collect(),
            reply,
        }
    }
}

impl TapedReply {
    /// A reply with its price.
    pub(crate) fn of(kept: &Kept, cost: Cost) -> TapedReply {
        TapedReply {
            said: kept.said.clone(),
            input_tokens: kept.input_tokens,
            output_tokens: kept.output_tokens,
            usd: cost.usd(),
        }
    }

    /// Vectors, of which only the number is told.
    pub(crate) fn of_vectors(kept: &Kept, cost: Cost, n_vectors: usize) -> TapedReply {
        let said = Outcome::Text(format!("{n_vectors} vectors"));
        TapedReply { said, ..TapedReply::of(kept, cost) }
    }
}
