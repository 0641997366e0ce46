//! One queue for all calls of a run: bounded, paced, retried, joined, kept, paid once.

mod converse;

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OnceCell, watch};
use tokio::time::Instant;

use crate::adapt::Tell;
use crate::cache::{CacheMode, Kept, ReplyCache};
use crate::call::{CallKey, ChatCall, KeyMaker};
use crate::lanes::{Fared, Lanes, Width};
use crate::model::{
    ChatModel, ChatRequest, Embedder, ModelError, ModelReply, Outcome, Pending, Usage,
};
use crate::prices::Prices;
use crate::provider::ModelSpec;
use crate::secret::Secrets;
use crate::tally::{Calls, Cost, Tally};
use crate::vectors;

/// The longest a provider may ask us to wait.
const LONGEST_WAIT: Duration = Duration::from_mins(5);

/// How long a model may take to be loaded, and how often it is asked whether it is.
const LONGEST_LOADING: Duration = Duration::from_mins(15);
const LOADING_WAIT: Duration = Duration::from_secs(5);

/// What questions that were judged as a whole before are counted under.
const WHOLE: &str = "whole questions";

/// After how many failures without any success nobody is thought to be there.
const MOST_FAILED_FIRST: u32 = 10;

/// How many tokens a reply is thought to take before it is there.
const EXPECTED_OUTPUT: u64 = 200;

/// How much and how fast may be asked.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Calls at a time.
    pub width: Width,
    /// Calls a minute.
    pub requests_per_minute: Option<u64>,
    /// Tokens a minute, sent and expected.
    pub tokens_per_minute: Option<u64>,
    /// How often a call that failed for a passing reason is asked again.
    pub retries: u32,
    /// The wait before the first of them; each next is twice as long.
    pub first_wait: Duration,
    /// US dollars after which nothing more is asked.
    pub max_cost: Option<f64>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            width: Width::fixed(16),
            requests_per_minute: None,
            tokens_per_minute: None,
            retries: 5,
            first_wait: Duration::from_millis(500),
            max_cost: None,
        }
    }
}

/// Why nothing more is asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Stop {
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The provider refuses the key.
    #[error("the model refuses the key: {0}")]
    BadKey(String),
    /// There is no such model, or nothing at its address.
    #[error("there is no such model or address: {0}")]
    NotThere(String),
    /// So many calls failed, and none succeeded, that nobody seems to be there.
    #[error("nobody answers: {0}")]
    Unreachable(String),
    /// The same, and the last of them was given up because it took too long.
    #[error("nobody answers: {0}")]
    TooSlow(String),
    /// Replies cannot be kept, and would have to be bought again.
    #[error("replies cannot be kept: {0}")]
    CannotKeep(String),
    /// The next call could pass the ceiling.
    #[error("the cost ceiling of {0} USD is reached")]
    CostCeiling(f64),
}

/// Why a call has no usable reply.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CallError {
    /// The model failed.
    #[error(transparent)]
    Failed(#[from] ModelError),
    /// The reply says nothing that can be used.
    #[error("{0}")]
    Unreadable(String),
    /// Asking had stopped, or stopped with this call.
    #[error("not asked: {0}")]
    NotAsked(Stop),
    /// Only recorded replies may be used, and there is none.
    #[error("no recorded reply to this `{purpose}` call (key {key})")]
    NotRecorded {
        /// What the call was for.
        purpose: String,
        /// The beginning of its key.
        key: String,
    },
    /// Calls are only counted.
    #[error("only counted")]
    OnlyCounted,
    /// No model of this kind is configured.
    #[error("no embedding model is configured")]
    NoEmbedder,
}

impl CallError {
    /// Whether there is no reply at all, rather than one that says nothing usable.
    pub fn is_unasked(&self) -> bool {
        self.is_outside() || matches!(self, CallError::OnlyCounted | CallError::NoEmbedder)
    }

    /// Whether a reply did not come in time: asking again with no more time is of little use.
    pub fn is_late(&self) -> bool {
        matches!(
            self,
            CallError::Failed(ModelError::TimedOut(_)) | CallError::NotAsked(Stop::TooSlow(_))
        )
    }

    /// Whether it lies outside: a later run may well succeed.
    pub fn is_outside(&self) -> bool {
        match self {
            CallError::Failed(error) => {
                !matches!(error, ModelError::Declined(_) | ModelError::Unusable(_))
            }
            CallError::NotAsked(_) | CallError::NotRecorded { .. } => true,
            _ => false,
        }
    }
}

/// Why something is missing, where the reason lies outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutsideReason {
    /// In words.
    pub why: String,
    /// Whether a reply did not come in time.
    pub is_late: bool,
}

impl OutsideReason {
    /// The reason of an error, if it lies outside.
    pub fn of(error: &CallError) -> Option<OutsideReason> {
        let is_late = error.is_late();
        error.is_outside().then(|| OutsideReason { why: error.to_string(), is_late })
    }
}

/// A reply read, or why not, and what it cost.
#[derive(Clone, Debug)]
pub struct Answer<T> {
    /// The reply as read.
    pub outcome: Result<T, CallError>,
    /// What was paid for it, now or when it was first asked.
    pub cost: Cost,
}

/// What a queue is made of.
pub struct ModelsSetup {
    /// The model that writes.
    pub chat: ModelSpec,
    /// The model that compares meanings.
    pub embedding: Option<ModelSpec>,
    /// How much and how fast.
    pub limits: Limits,
    /// What calls cost.
    pub prices: Prices,
    /// Where replies are kept.
    pub cache: Option<Box<dyn ReplyCache>>,
    /// How the cache is used.
    pub mode: CacheMode,
    /// Whether a kept reply that says nothing usable is asked again.
    pub retry_unreadable: bool,
    /// Whether calls are counted and not sent.
    pub only_count: bool,
    /// Told once of each thing the user should know.
    pub tell: Tell,
}

/// The models of a run, behind their queue.
pub struct Models {
    chat: Side<dyn ChatModel>,
    /// The beginning of the keys of conversations with the chat model.
    conversation_keys: Keys,
    embedding: Option<Side<dyn Embedder>>,
    limits: Limits,
    prices: Prices,
    cache: Option<Box<dyn ReplyCache>>,
    mode: CacheMode,
    retry_unreadable: bool,
    only_count: bool,
    tell: Tell,
    /// What replies must not repeat.
    secrets: [Secrets; 2],
    /// The models that somebody is paid for.
    paid: Vec<String>,
    told: Mutex<BTreeSet<String>>,
    lanes: Lanes,
    requests: Option<crate::pace::Pace>,
    tokens: Option<crate::pace::Pace>,
    paused_until: Mutex<Option<Instant>>,
    stop: watch::Sender<Option<Stop>>,
    in_flight: Mutex<HashMap<CallKey, Arc<OnceCell<Bought>>>>,
    /// Calls that failed for good while none has succeeded; `u32::MAX` once one has.
    n_failed_first: AtomicU32,
    tally: Mutex<Tally>,
}

/// How a call ended.
type Bought = Result<Kept, CallError>;

/// A model, what it is called, and the beginning of its keys.
struct Side<M: ?Sized> {
    model: Box<M>,
    name: String,
    keys: Keys,
}

/// The beginning of the keys of a model's calls.
struct Keys {
    own: KeyMaker,
    /// A replay asks nobody. What was recorded at the provider's own address serves it, too,
    /// whatever address the environment names.
    replay: Option<KeyMaker>,
}

impl Keys {
    fn new(kind: &str, spec: &ModelSpec, mode: CacheMode) -> Keys {
        let has_other = mode == CacheMode::ReadOnly && spec.other_address().is_some();
        let replay = has_other.then(|| KeyMaker::of_provider(kind, spec));
        Keys { own: KeyMaker::of_model(kind, spec), replay }
    }

    /// The keys of a call.
    fn of(&self, key: impl Fn(&KeyMaker) -> CallKey) -> (CallKey, Option<CallKey>) {
        (key(&self.own), self.replay.as_ref().map(key))
    }
}

/// Sends a call, anew each time.
type Send<'s> = dyn Fn() -> Pending<'s, Result<ModelReply, ModelError>> + Sync + 's;

/// A call on its way through the queue, whatever it asks.
struct Ticket<'t> {
    key: CallKey,
    /// The key of the same call at the provider's own address, where a replay may use that.
    replay_key: Option<CallKey>,
    purpose: &'t str,
    model: &'t str,
    input_tokens: u64,
    output_tokens: u64,
    /// Whether the reply may be one that was given before, and serve others after.
    is_shared: bool,
}

impl Models {
    /// Makes the models ready; asks nothing yet.
    pub fn new(setup: ModelsSetup) -> Result<Models, String> {
        let tell = &setup.tell;
        let chat = Side {
            model: setup.chat.chat_model(tell.clone())?,
            name: setup.chat.name(),
            keys: Keys::new("chat", &setup.chat, setup.mode),
        };
        let embedding = match &setup.embedding {
            None => None,
            Some(spec) => Some(Side {
                model: spec.embedder(tell.clone())?,
                name: spec.name(),
                keys: Keys::new("embedding", spec, setup.mode),
            }),
        };
        let limits = setup.limits;
        let specs = [Some(&setup.chat), setup.embedding.as_ref()].into_iter().flatten();
        let paid = specs.filter(|spec| spec.is_paid).map(ModelSpec::name).collect();
        Ok(Models {
            conversation_keys: Keys::new("conversation", &setup.chat, setup.mode),
            chat,
            embedding,
            lanes: Lanes::new(limits.width),
            requests: limits.requests_per_minute.map(crate::pace::Pace::per_minute),
            tokens: limits.tokens_per_minute.map(crate::pace::Pace::per_minute),
            limits,
            prices: setup.prices,
            cache: setup.cache,
            mode: setup.mode,
            retry_unreadable: setup.retry_unreadable,
            only_count: setup.only_count,
            tell: setup.tell,
            secrets: [
                setup.chat.secrets(),
                setup.embedding.as_ref().map(ModelSpec::secrets).unwrap_or_default(),
            ],
            paid,
            told: Mutex::default(),
            paused_until: Mutex::default(),
            stop: watch::Sender::new(None),
            in_flight: Mutex::default(),
            n_failed_first: AtomicU32::new(0),
            tally: Mutex::default(),
        })
    }

    /// The model that writes, as `provider/model`.
    pub fn chat_name(&self) -> &str {
        &self.chat.name
    }

    /// The model that compares meanings, as `provider/model`.
    pub fn embedding_name(&self) -> Option<&str> {
        self.embedding.as_ref().map(|side| side.name.as_str())
    }

    /// Whether calls are counted and not sent.
    pub fn only_counts(&self) -> bool {
        self.only_count
    }

    /// Whether only known replies are used.
    pub fn only_replays(&self) -> bool {
        self.mode == CacheMode::ReadOnly
    }

    /// How many calls go out at a time, at most.
    pub fn concurrency(&self) -> usize {
        self.lanes.most()
    }

    /// What was asked so far.
    pub fn tally(&self) -> Tally {
        locked(&self.tally).clone()
    }

    /// How far asking has come.
    pub fn calls(&self) -> Calls {
        let under_way = self.lanes.under_way();
        locked(&self.tally).calls(under_way)
    }

    /// What was made of the replies for whole questions, where that is known and may be used.
    pub fn judgements(&self, keys: &[CallKey]) -> Vec<Option<String>> {
        let nothing = || vec![None; keys.len()];
        let cache = self.cache.as_ref().filter(|_| self.mode != CacheMode::Off);
        let Some(cache) = cache else { return nothing() };
        let found = cache.judgements(keys).unwrap_or_else(|error| {
            self.tell_once(&format!("kept judgements cannot be read: {error}"));
            nothing()
        });
        let n_known = found.iter().flatten().count();
        if n_known > 0 {
            locked(&self.tally).of(WHOLE).known += n_known as u64;
        }
        found
    }

    /// Keeps what was made of the replies for a whole question.
    pub fn keep_judgement(&self, key: &CallKey, text: &str) {
        if let Some(cache) = self.cache.as_ref().filter(|_| self.mode == CacheMode::ReadWrite)
            && let Err(error) = cache.keep_judgement(key, text)
        {
            self.tell_once(&format!("judgements cannot be kept: {error}"));
        }
    }

    /// What decides costs, besides the calls: the prices of the models.
    pub fn prices(&self) -> String {
        let of = |name: Option<&str>| name.map(|name| self.prices.of(name));
        format!("{:?}", (of(Some(self.chat_name())), of(self.embedding_name())))
    }

    /// Asks nothing more; calls on their way are waited for.
    pub fn stop(&self, why: Stop) {
        self.stop.send_if_modified(|stop| {
            let first = stop.is_none();
            stop.get_or_insert(why);
            first
        });
    }

    /// Asks again after it had stopped, as if nothing had been asked yet.
    pub fn resume(&self) {
        self.n_failed_first.store(0, Ordering::Relaxed);
        self.stop.send_replace(None);
    }

    /// Why nothing more is asked, if so.
    pub fn stopped(&self) -> Option<Stop> {
        self.stop.borrow().clone()
    }

    /// Asks the chat model, or finds its reply, and reads it.
    pub async fn ask<T>(
        &self,
        call: &ChatCall,
        read: impl Fn(&str) -> Result<T, String> + Sync,
    ) -> Answer<T> {
        let Answer { outcome, cost } = self.ask_text(call, |text| read(text).is_ok()).await;
        let outcome = outcome.and_then(|text| read(&text).map_err(CallError::Unreadable));
        Answer { outcome, cost }
    }

    /// Asks the chat model, or finds its reply, whatever it says; `usable` tells whether it says
    /// what it should.
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
        match self.fetch(&ticket, usable, &send).await {
            Err(error) => Answer { outcome: Err(error), cost: Cost::default() },
            Ok(kept) => {
                let cost = self.cost(&kept);
                Answer { outcome: kept.said.into_text().map_err(CallError::from), cost }
            }
        }
    }

    /// Asks the embedding model for one vector a text, all of one size.
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
        match self.fetch(&ticket, |text| vectors::decode(text).is_ok(), &send).await {
            Err(error) => Answer { outcome: Err(error), cost: Cost::default() },
            Ok(kept) => Answer {
                outcome: vectors::decode(kept.said.as_str()).map_err(CallError::Unreadable),
                cost: self.cost(&kept),
            },
        }
    }

    fn cost(&self, kept: &Kept) -> Cost {
        let price = self.prices.of(&kept.model);
        if price.is_none() && self.price_matters(&kept.model) {
            self.tell_once(&format!(
                "the price of {} is not known: its costs are left out (set it in llm.prices)",
                kept.model
            ));
        }
        Cost::of(price.map(|price| price.of(kept.usage())))
    }

    /// Whether a price that is not known is worth a word. Nobody is billed for a model of one's own,
    /// and of a server at some address it is not known whether anybody is.
    fn price_matters(&self, model: &str) -> bool {
        let is_paid = self.paid.iter().any(|name| name == model);
        is_paid || self.limits.max_cost.is_some() || self.prices.has_own()
    }

    fn tell_once(&self, text: &str) {
        if locked(&self.told).insert(text.to_owned()) {
            (self.tell)(text);
        }
    }

    /// The reply to a call: known, shared with an equal call on its way, or bought.
    async fn fetch(
        &self,
        ticket: &Ticket<'_>,
        usable: impl Fn(&str) -> bool,
        send: &Send<'_>,
    ) -> Result<Kept, CallError> {
        locked(&self.tally).asked += 1;
        let outcome = self.find_or_buy(ticket, usable, send).await;
        locked(&self.tally).ended += 1;
        outcome
    }

    async fn find_or_buy(
        &self,
        ticket: &Ticket<'_>,
        usable: impl Fn(&str) -> bool,
        send: &Send<'_>,
    ) -> Result<Kept, CallError> {
        if let Some(kept) = self.known(ticket, usable) {
            locked(&self.tally).of(ticket.purpose).known += 1;
            return Ok(kept);
        }
        if self.only_count {
            self.count(ticket);
            return Err(CallError::OnlyCounted);
        }
        if self.mode == CacheMode::ReadOnly {
            locked(&self.tally).of(ticket.purpose).failed += 1;
            let key = ticket.key.to_hex()[..12].to_owned();
            return Err(CallError::NotRecorded { purpose: ticket.purpose.to_owned(), key });
        }
        if !ticket.is_shared {
            let outcome = self.buy(ticket, send).await;
            if outcome.is_err() {
                locked(&self.tally).of(ticket.purpose).failed += 1;
            }
            return outcome;
        }
        let cell = locked(&self.in_flight).entry(ticket.key).or_default().clone();
        let mut is_first = false;
        let outcome = cell
            .get_or_init(|| {
                is_first = true;
                self.buy(ticket, send)
            })
            .await
            .clone();
        if is_first {
            locked(&self.in_flight).remove(&ticket.key);
        }
        let mut tally = locked(&self.tally);
        match &outcome {
            Ok(_) if !is_first => tally.of(ticket.purpose).known += 1,
            Err(_) => tally.of(ticket.purpose).failed += 1,
            Ok(_) => {}
        }
        outcome
    }

    fn known(&self, ticket: &Ticket<'_>, usable: impl Fn(&str) -> bool) -> Option<Kept> {
        let is_read = match self.mode {
            CacheMode::Off => false,
            // Who allows nothing but kept replies wants this one, too.
            CacheMode::ReadOnly => true,
            CacheMode::ReadWrite => ticket.is_shared,
        };
        let cache = self.cache.as_ref().filter(|_| is_read)?;
        let get = |key: &CallKey| {
            cache.get(key).unwrap_or_else(|error| {
                self.tell_once(&format!("a kept reply cannot be read: {error}"));
                None
            })
        };
        let kept = get(&ticket.key).or_else(|| get(ticket.replay_key.as_ref()?));
        let is_usable = |kept: &Kept| matches!(&kept.said, Outcome::Text(text) if usable(text));
        kept.filter(|kept| !self.retry_unreadable || is_usable(kept))
    }

    fn count(&self, ticket: &Ticket<'_>) {
        let price = self.prices.of(ticket.model);
        let mut tally = locked(&self.tally);
        let count = tally.of(ticket.purpose);
        count.counted += 1;
        count.input_tokens += ticket.input_tokens;
        count.output_tokens += ticket.output_tokens;
        count.usd += price.map_or(0.0, |price| price.of(ticket.usage()));
        count.priced &= price.is_some();
    }

    /// Asks until there is a reply or no hope of one.
    async fn buy(&self, ticket: &Ticket<'_>, send: &Send<'_>) -> Result<Kept, CallError> {
        let mut attempt = 0;
        let mut loading = Duration::ZERO;
        loop {
            let error = match self.try_once(ticket, send).await? {
                Ok(reply) => return Ok(self.keep(ticket, reply)),
                Err(error) => error,
            };
            if matches!(error, ModelError::Loading(_)) && loading < LONGEST_LOADING {
                self.tell_once("the model is being loaded: waiting for it");
                let wait = loading_wait(loading, self.limits.first_wait);
                loading += wait;
                self.pause(wait);
                self.or_stop(tokio::time::sleep(wait)).await?;
                continue;
            }
            if !error.may_pass() || attempt >= self.limits.retries {
                self.note_failure(&error);
                // A failure that ends all asking leaves its call as open as those behind it.
                return Err(self.stopped().map_or(error.into(), CallError::NotAsked));
            }
            let mut wait = jittered(self.limits.first_wait * 2_u32.pow(attempt.min(10)));
            if let ModelError::RateLimited { retry_after: Some(told), .. } = &error {
                // The provider means everyone.
                self.pause((*told).min(LONGEST_WAIT));
                wait = wait.max(*told);
            }
            attempt += 1;
            let _waits = NextTry::of(&self.tally);
            self.or_stop(tokio::time::sleep(wait.min(LONGEST_WAIT))).await?;
        }
    }

    /// Has every call wait.
    fn pause(&self, wait: Duration) {
        let until = Instant::now() + wait;
        let mut paused = locked(&self.paused_until);
        *paused = Some(paused.map_or(until, |paused| paused.max(until)));
    }

    /// Stops asking where a failure shows that no other call would fare better.
    fn note_failure(&self, error: &ModelError) {
        let count = |n: u32| (n < u32::MAX - 1).then(|| n + 1);
        let before = self.n_failed_first.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count);
        let none_succeeded = before.is_ok();
        match error {
            ModelError::Unauthorized(why) => self.stop(Stop::BadKey(why.clone())),
            ModelError::NotThere(why) => self.stop(Stop::NotThere(why.clone())),
            // Firewalls say so of single texts, providers of keys.
            ModelError::Forbidden(why) if none_succeeded => self.stop(Stop::BadKey(why.clone())),
            error if error.may_pass() && before.is_ok_and(|n| n + 1 >= MOST_FAILED_FIRST) => {
                let why = error.to_string();
                self.stop(match error {
                    ModelError::TimedOut(_) => Stop::TooSlow(why),
                    _ => Stop::Unreachable(why),
                });
            }
            _ => {}
        }
    }

    /// Waits for a turn and sends the call once. The outer error says that nothing was sent.
    async fn try_once(
        &self,
        ticket: &Ticket<'_>,
        send: &Send<'_>,
    ) -> Result<Result<ModelReply, ModelError>, CallError> {
        let mut lane = self.or_stop(self.lanes.enter()).await?;
        loop {
            let paused = *locked(&self.paused_until);
            match paused.filter(|until| *until > Instant::now()) {
                Some(until) => self.or_stop(tokio::time::sleep_until(until)).await?,
                None => break,
            }
        }
        let tokens = ticket.input_tokens + ticket.output_tokens;
        let turns = [
            self.requests.as_ref().map(|pace| pace.take(1)),
            self.tokens.as_ref().map(|pace| pace.take(tokens)),
        ];
        if let Some(turn) = turns.into_iter().flatten().max() {
            self.or_stop(tokio::time::sleep_until(turn)).await?;
        }
        let reserved = self.reserve(ticket)?;
        lane.begin();
        let outcome = send().await;
        lane.leave(ticket.purpose, fared(&outcome));
        locked(&self.tally).reserved -= reserved;
        Ok(outcome)
    }

    /// Sets aside what a call may cost, unless that could pass the ceiling.
    fn reserve(&self, ticket: &Ticket<'_>) -> Result<f64, CallError> {
        let expected = self.prices.of(ticket.model).map_or(0.0, |price| price.of(ticket.usage()));
        let mut tally = locked(&self.tally);
        if let Some(most) = self.limits.max_cost
            && tally.usd + tally.reserved + expected > most
        {
            drop(tally);
            self.stop(Stop::CostCeiling(most));
            return Err(CallError::NotAsked(Stop::CostCeiling(most)));
        }
        tally.reserved += expected;
        tally.of(ticket.purpose).requests += 1;
        Ok(expected)
    }

    /// Counts a reply and keeps it before anyone sees it.
    fn keep(&self, ticket: &Ticket<'_>, reply: ModelReply) -> Kept {
        self.n_failed_first.store(u32::MAX, Ordering::Relaxed);
        let redact = |text| self.secrets.iter().fold(text, |text, own| own.redact(text));
        let said = reply.said.map(redact);
        // A provider that does not tell still wants to be paid.
        let usage = reply.usage.unwrap_or(Usage {
            input_tokens: ticket.input_tokens,
            output_tokens: if ticket.output_tokens == 0 {
                0
            } else {
                said.as_str().len() as u64 / 4
            },
        });
        let kept = Kept {
            purpose: ticket.purpose.to_owned(),
            model: ticket.model.to_owned(),
            said,
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
        };
        let is_kept = ticket.is_shared && self.mode == CacheMode::ReadWrite;
        if let Some(cache) = self.cache.as_ref().filter(|_| is_kept)
            && let Err(error) = cache.keep(&ticket.key, &kept)
        {
            self.stop(Stop::CannotKeep(error));
        }
        let price = self.prices.of(ticket.model);
        let usd = price.map_or(0.0, |price| price.of(usage));
        let mut tally = locked(&self.tally);
        tally.usd += usd;
        let count = tally.of(ticket.purpose);
        count.bought += 1;
        count.input_tokens += kept.input_tokens;
        count.output_tokens += kept.output_tokens;
        count.usd += usd;
        count.priced &= price.is_some();
        kept
    }

    /// Waits for something, but not once asking has stopped.
    async fn or_stop<T>(&self, wait: impl Future<Output = T>) -> Result<T, CallError> {
        let mut stop = self.stop.subscribe();
        tokio::select! {
            biased;
            stopped = stop.wait_for(Option::is_some) => {
                let why = stopped.ok().and_then(|stop| stop.clone());
                Err(CallError::NotAsked(why.unwrap_or(Stop::Interrupted)))
            }
            done = wait => Ok(done),
        }
    }
}

/// A call that waits for its next try, and is counted for as long.
struct NextTry<'m>(&'m Mutex<Tally>);

impl NextTry<'_> {
    fn of(tally: &Mutex<Tally>) -> NextTry<'_> {
        locked(tally).to_try_again += 1;
        NextTry(tally)
    }
}

impl Drop for NextTry<'_> {
    fn drop(&mut self) {
        locked(self.0).to_try_again -= 1;
    }
}

impl Ticket<'_> {
    fn usage(&self) -> Usage {
        Usage { input_tokens: self.input_tokens, output_tokens: self.output_tokens }
    }
}

/// What the end of a call tells about the server.
fn fared(outcome: &Result<ModelReply, ModelError>) -> Fared {
    match outcome {
        Ok(_) => Fared::Answered,
        Err(
            ModelError::RateLimited { .. } | ModelError::Unavailable(_) | ModelError::TimedOut(_),
        ) => Fared::Troubled,
        Err(_) => Fared::Otherwise,
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How long to wait for a model that is being loaded, after so long: longer and longer, to a point.
fn loading_wait(so_far: Duration, first: Duration) -> Duration {
    so_far.max(first).min(LOADING_WAIT)
}

/// Between half and one and a half of a time, so that calls that failed together do not return
/// together.
fn jittered(wait: Duration) -> Duration {
    let mut byte = [128];
    // Without randomness the wait is simply not changed.
    let _ = getrandom::fill(&mut byte);
    wait.mul_f64(0.5 + f64::from(byte[0]) / 256.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_is_being_loaded_is_asked_about_every_few_seconds() {
        let seconds = Duration::from_secs;
        for (so_far, first, wait) in [(0, 1, 1), (3, 1, 3), (60, 1, 5), (0, 6, 5), (60, 6, 5)] {
            assert_eq!(loading_wait(seconds(so_far), seconds(first)), seconds(wait), "{first}");
        }
    }
}
