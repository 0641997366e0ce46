//! The models of a run, and what can be asked of them.

mod attempt;
mod converse;
mod queue;

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use queue::{Bought, Ticket, locked};
use tokio::sync::{OnceCell, watch};
use tokio::time::Instant;

pub(crate) use attempt::wait_before_retry;
pub use queue::Limits;

use crate::adapt::Tell;
use crate::cache::{CacheMode, Kept, ReplyCache};
use crate::call::{CallKey, ChatCall, KeyMaker};
use crate::call_error::{CallError, Stop};
use crate::lanes::Lanes;
use crate::model::{ChatModel, ChatRequest, Embedder, ModelError, ModelReply, Outcome, Pending};
use crate::pace::Pace;
use crate::prices::Prices;
use crate::provider::ModelSpec;
use crate::secret::Secrets;
use crate::tally::{Calls, Cost, Tally};
use crate::tape::{Tape, TapedCall, TapedReply};
use crate::vectors;

/// The purpose under which questions judged as a whole in an earlier run are counted.
const WHOLE: &str = "whole questions";

/// The number of tokens expected of a reply.
const EXPECTED_OUTPUT: u64 = 200;

/// A reply as its reader sees it, and its cost.
#[derive(Clone, Debug)]
pub struct Answer<T> {
    /// The reply, or why there is none.
    pub outcome: Result<T, CallError>,
    /// What was paid for the reply, now or when it was first bought.
    pub cost: Cost,
}

/// What [`Models`] are made of.
pub struct ModelsSetup {
    /// The chat model.
    pub chat: ModelSpec,
    /// The model that holds conversations, if it is another one.
    pub conversing: Option<ModelSpec>,
    /// The embedding model.
    pub embedding: Option<ModelSpec>,
    /// Limits on rate, cost and retries.
    pub limits: Limits,
    /// Prices of models.
    pub prices: Prices,
    /// Where replies are kept.
    pub cache: Option<Box<dyn ReplyCache>>,
    /// How the cache is used.
    pub mode: CacheMode,
    /// Whether to ask again if a kept reply is not usable.
    pub retry_unreadable: bool,
    /// Whether calls are only counted, not sent.
    pub only_count: bool,
    /// Receives messages for the user, each once.
    pub tell: Tell,
}

/// The models of a run, behind their queue.
pub struct Models {
    chat: NamedModel<dyn ChatModel>,
    /// The model that holds conversations, if it is another one.
    conversing: Option<NamedModel<dyn ChatModel>>,
    /// Makes the keys of conversations with the chat model.
    conversation_keys: ModelKeys,
    embedding: Option<NamedModel<dyn Embedder>>,
    limits: Limits,
    prices: Prices,
    cache: Option<Box<dyn ReplyCache>>,
    mode: CacheMode,
    retry_unreadable: bool,
    only_count: bool,
    tell: Tell,
    /// Secrets to be removed from replies.
    secrets: [Secrets; 3],
    /// The names of models that cost money.
    paid: Vec<String>,
    /// Messages that the user has received.
    notified: Mutex<BTreeSet<String>>,
    lanes: Lanes,
    requests: Option<Pace>,
    tokens: Option<Pace>,
    paused_until: Mutex<Option<Instant>>,
    stop: watch::Sender<Option<Stop>>,
    /// Shared calls on their way; equal calls wait for the same cell.
    in_flight: Mutex<HashMap<CallKey, Arc<OnceCell<Bought>>>>,
    /// The number of calls that failed for good before any succeeded; `u32::MAX` once one has.
    n_failed_first: AtomicU32,
    tally: Mutex<Tally>,
    /// Records calls, if somebody listens.
    tape: Option<Tape>,
}

/// A model with its name and the maker of its keys.
struct NamedModel<M: ?Sized> {
    model: Box<M>,
    name: String,
    keys: ModelKeys,
}

/// Makes the keys of a model's calls.
struct ModelKeys {
    own: KeyMaker,
    /// In a replay, replies recorded at the provider's own address serve too, whatever address the
    /// environment names: nothing is sent there anyway.
    replay: Option<KeyMaker>,
}

impl ModelKeys {
    fn new(kind: &str, spec: &ModelSpec, mode: CacheMode) -> ModelKeys {
        let has_other = mode == CacheMode::ReadOnly && spec.other_address().is_some();
        let replay = has_other.then(|| KeyMaker::of_provider(kind, spec));
        ModelKeys { own: KeyMaker::of_model(kind, spec), replay }
    }

    /// Returns the key of a call, and its other key in a replay.
    fn of(&self, key: impl Fn(&KeyMaker) -> CallKey) -> (CallKey, Option<CallKey>) {
        (key(&self.own), self.replay.as_ref().map(key))
    }
}

impl Models {
    /// Creates the models without asking anything yet.
    pub fn new(setup: ModelsSetup) -> Result<Models, String> {
        let tell = &setup.tell;
        let chat = NamedModel {
            model: setup.chat.chat_model(tell.clone())?,
            name: setup.chat.name(),
            keys: ModelKeys::new("chat", &setup.chat, setup.mode),
        };
        let embedding = match &setup.embedding {
            None => None,
            Some(spec) => Some(NamedModel {
                model: spec.embedder(tell.clone())?,
                name: spec.name(),
                keys: ModelKeys::new("embedding", spec, setup.mode),
            }),
        };
        let conversing = match &setup.conversing {
            None => None,
            Some(spec) => Some(NamedModel {
                model: spec.chat_model(tell.clone())?,
                name: spec.name(),
                keys: ModelKeys::new("conversation", spec, setup.mode),
            }),
        };
        let limits = setup.limits;
        let more = [setup.embedding.as_ref(), setup.conversing.as_ref()];
        let specs = [Some(&setup.chat)].into_iter().chain(more).flatten();
        let paid = specs.filter(|spec| spec.is_paid).map(ModelSpec::name).collect();
        Ok(Models {
            conversation_keys: ModelKeys::new("conversation", &setup.chat, setup.mode),
            chat,
            conversing,
            embedding,
            lanes: Lanes::new(limits.width),
            requests: limits.requests_per_minute.map(Pace::per_minute),
            tokens: limits.tokens_per_minute.map(Pace::per_minute),
            limits,
            prices: setup.prices,
            cache: setup.cache,
            mode: setup.mode,
            retry_unreadable: setup.retry_unreadable,
            only_count: setup.only_count,
            tell: setup.tell,
            secrets: [Some(&setup.chat), more[0], more[1]]
                .map(|spec| spec.map(ModelSpec::secrets).unwrap_or_default()),
            paid,
            notified: Mutex::default(),
            paused_until: Mutex::default(),
            stop: watch::Sender::new(None),
            in_flight: Mutex::default(),
            n_failed_first: AtomicU32::new(0),
            tally: Mutex::default(),
            tape: None,
        })
    }

    /// Records all calls but conversations from now on.
    #[must_use]
    pub fn taped(self, tape: Tape) -> Models {
        Models { tape: Some(tape), ..self }
    }

    /// The chat model, as `provider/model`.
    pub fn chat_name(&self) -> &str {
        &self.chat.name
    }

    /// The model that holds conversations, as `provider/model`.
    pub fn conversation_name(&self) -> &str {
        self.conversing().name.as_str()
    }

    /// Returns the model that holds conversations.
    fn conversing(&self) -> &NamedModel<dyn ChatModel> {
        self.conversing.as_ref().unwrap_or(&self.chat)
    }

    /// Returns the maker of the keys of conversations.
    fn conversation_keys(&self) -> &ModelKeys {
        self.conversing.as_ref().map_or(&self.conversation_keys, |own| &own.keys)
    }

    /// The embedding model, as `provider/model`.
    pub fn embedding_name(&self) -> Option<&str> {
        self.embedding.as_ref().map(|side| side.name.as_str())
    }

    /// Whether calls are only counted, not sent.
    pub fn only_counts(&self) -> bool {
        self.only_count
    }

    /// Whether only kept replies are used.
    pub fn only_replays(&self) -> bool {
        self.mode == CacheMode::ReadOnly
    }

    /// The most calls sent at a time.
    pub fn concurrency(&self) -> usize {
        self.lanes.most()
    }

    /// Returns what was asked so far.
    pub fn tally(&self) -> Tally {
        locked(&self.tally).clone()
    }

    /// Returns the progress of calls.
    pub fn calls(&self) -> Calls {
        let under_way = self.lanes.under_way();
        locked(&self.tally).calls(under_way)
    }

    /// Returns kept judgements of whole questions, `None` for those that are not known or may not be
    /// used.
    pub async fn judgements(&self, keys: &[CallKey]) -> Vec<Option<String>> {
        let nothing = || vec![None; keys.len()];
        let cache = self.cache.as_ref().filter(|_| self.mode != CacheMode::Off);
        let Some(cache) = cache else { return nothing() };
        let found = cache.judgements(keys).await.unwrap_or_else(|error| {
            self.notify_once(&format!("kept judgements cannot be read: {error}"));
            nothing()
        });
        let n_known = found.iter().flatten().count();
        if n_known > 0 {
            locked(&self.tally).of(WHOLE).known += n_known as u64;
        }
        found
    }

    /// Keeps the judgement of a whole question.
    pub async fn keep_judgement(&self, key: &CallKey, text: &str) {
        if let Some(cache) = self.cache.as_ref().filter(|_| self.mode == CacheMode::ReadWrite)
            && let Err(error) = cache.keep_judgement(key, text).await
        {
            self.notify_once(&format!("judgements cannot be kept: {error}"));
        }
    }

    /// Returns the prices of the models as text, on which costs depend besides the calls.
    pub fn prices(&self) -> String {
        let of = |name: Option<&str>| name.map(|name| self.prices.of(name));
        format!("{:?}", (of(Some(self.chat_name())), of(self.embedding_name())))
    }

    /// Stops sending calls. Calls on their way are still waited for.
    pub fn stop(&self, why: Stop) {
        self.stop.send_if_modified(|stop| {
            let first = stop.is_none();
            stop.get_or_insert(why);
            first
        });
    }

    /// Resumes after a stop, as if nothing had been sent yet.
    pub fn resume(&self) {
        self.n_failed_first.store(0, Ordering::Relaxed);
        self.stop.send_replace(None);
    }

    /// Returns why calls are no longer sent, if so.
    pub fn stopped(&self) -> Option<Stop> {
        self.stop.borrow().clone()
    }

    /// Asks the chat model, or finds a kept reply, and reads it.
    pub async fn ask<T>(
        &self,
        call: &ChatCall,
        read: impl Fn(&str) -> Result<T, String> + Sync,
    ) -> Answer<T> {
        let Answer { outcome, cost } = self.ask_text(call, |text| read(text).is_ok()).await;
        let outcome = outcome.and_then(|text| read(&text).map_err(CallError::Unreadable));
        Answer { outcome, cost }
    }

    /// Asks the chat model, or finds a kept reply, and returns its text. `usable` decides whether the
    /// text is a proper reply.
    pub async fn ask_text(
        &self,
        call: &ChatCall,
        usable: impl Fn(&str) -> bool + Sync,
    ) -> Answer<String> {
        let (key, replay_key) = self.chat.keys.of(|keys| keys.chat(call));
        let ticket = Ticket {
            key,
            replay_key,
            purpose: &call.purpose,
            model: &self.chat.name,
            input_tokens: (call.prompt.n_characters() / 4) as u64,
            output_tokens: EXPECTED_OUTPUT,
            is_shared: true,
        };
        let send = || -> Pending<'_, Result<ModelReply, ModelError>> {
            let (system, user) = call.prompt.render();
            let (purpose, schema) = (call.purpose.clone(), call.schema.clone());
            let request = ChatRequest { purpose, system, user, schema };
            Box::pin(async move { self.chat.model.chat(&request).await })
        };
        let fetched = self.priced(self.fetch(&ticket, usable, &send).await);
        if let Some(tape) = &self.tape {
            let reply = fetched.as_ref().ok().map(|(kept, cost)| TapedReply::of(kept, *cost));
            tape.add(TapedCall::of_chat(call, &self.chat.name, reply));
        }
        match fetched {
            Err(error) => Answer { outcome: Err(error), cost: Cost::default() },
            Ok((kept, cost)) => {
                Answer { outcome: kept.said.into_text().map_err(CallError::from), cost }
            }
        }
    }

    /// Asks the embedding model for one vector per text, all of the same size.
    pub async fn embed(&self, texts: &[String]) -> Answer<Vec<Vec<f64>>> {
        let Some(side) = &self.embedding else {
            return Answer { outcome: Err(CallError::NoEmbedder), cost: Cost::default() };
        };
        let n_characters: usize = texts.iter().map(String::len).sum();
        let (key, replay_key) = side.keys.of(|keys| keys.embedding(texts));
        let ticket = Ticket {
            key,
            replay_key,
            purpose: "embedding",
            model: &side.name,
            input_tokens: n_characters.div_ceil(4) as u64,
            output_tokens: 0,
            is_shared: true,
        };
        let send = || -> Pending<'_, Result<ModelReply, ModelError>> {
            Box::pin(async {
                let reply = side.model.embed(texts).await?;
                let text = vectors::encode(&reply.vectors, texts.len());
                Ok(ModelReply { said: Outcome::Text(text), usage: reply.usage })
            })
        };
        let usable = |text: &str| vectors::decode(text).is_ok();
        let fetched = self.priced(self.fetch(&ticket, usable, &send).await);
        if let Some(tape) = &self.tape {
            let reply =
                |(kept, cost): &(Kept, Cost)| TapedReply::of_vectors(kept, *cost, texts.len());
            let reply = fetched.as_ref().ok().map(reply);
            tape.add(TapedCall::of_embedding(texts, &side.name, reply));
        }
        match fetched {
            Err(error) => Answer { outcome: Err(error), cost: Cost::default() },
            Ok((kept, cost)) => Answer {
                outcome: vectors::decode(kept.said.as_str()).map_err(CallError::Unreadable),
                cost,
            },
        }
    }

    /// Adds its price to a reply.
    fn priced(&self, fetched: Result<Kept, CallError>) -> Result<(Kept, Cost), CallError> {
        fetched.map(|kept| {
            let cost = self.cost(&kept);
            (kept, cost)
        })
    }

    fn cost(&self, kept: &Kept) -> Cost {
        let price = self.prices.of(&kept.model);
        if price.is_none() && self.price_matters(&kept.model) {
            self.notify_once(&format!(
                "the price of {} is not known: its costs are left out (set it in llm.prices)",
                kept.model
            ));
        }
        Cost::of(price.map(|price| price.of(kept.usage())))
    }

    /// Whether to mention that a price is not known. A local model costs nothing, and whether a
    /// server at another address does is not known.
    fn price_matters(&self, model: &str) -> bool {
        let is_paid = self.paid.iter().any(|name| name == model);
        is_paid || self.limits.max_cost.is_some() || self.prices.has_own()
    }

    fn notify_once(&self, text: &str) {
        if locked(&self.notified).insert(text.to_owned()) {
            (self.tell)(text);
        }
    }
}
