//! A model server that answers by script, and the models that ask it.

use std::collections::HashMap;
use std::future::ready;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use juror_agents::chat_agent::{
    AgentLimits, ChatAgent, QueuedModel, Stopped, Tools, Transcript, prompts, wording,
};
use juror_agents::environment::Setup;
use juror_models::{
    CacheMode, CallKey, Kept, Limits, ModelSpec, Models, ModelsSetup, Pending, Prices, Provider,
    ReplyCache, Secret, Width,
};
use juror_scripted::Server;
use serde_json::{Map, Value, json};

use crate::scripted::{Shelf, block_on, environment};

/// Replies kept in memory.
#[derive(Clone, Default)]
pub(crate) struct Memory(Arc<Mutex<HashMap<CallKey, Kept>>>);

impl Memory {
    pub(crate) fn len(&self) -> usize {
        self.0.lock().expect("a map").len()
    }
}

impl ReplyCache for Memory {
    fn get<'a>(&'a self, key: &'a CallKey) -> Pending<'a, Result<Option<Kept>, String>> {
        Box::pin(ready(Ok(self.0.lock().expect("a map").get(key).cloned())))
    }

    fn keep<'a>(&'a self, key: &'a CallKey, kept: Kept) -> Pending<'a, Result<Kept, String>> {
        let mut all = self.0.lock().expect("a map");
        Box::pin(ready(Ok(all.entry(*key).or_insert(kept).clone())))
    }

    fn replace<'a>(&'a self, key: &'a CallKey, kept: Kept) -> Pending<'a, Result<Kept, String>> {
        self.0.lock().expect("a map").insert(*key, kept.clone());
        Box::pin(ready(Ok(kept)))
    }
}

/// A server with a script, and how it is asked.
pub(crate) struct Stage {
    pub(crate) server: Server,
    pub(crate) provider: &'static str,
    pub(crate) stream: bool,
    pub(crate) parameters: Value,
    pub(crate) cache: Memory,
    pub(crate) mode: CacheMode,
    pub(crate) limits: Limits,
    pub(crate) told: Arc<Mutex<Vec<String>>>,
}

impl Stage {
    pub(crate) fn new(script: Value) -> Stage {
        let script = serde_json::from_value(script).expect("a script");
        let limits =
            Limits { retries: 2, first_wait: Duration::from_millis(1), ..Limits::default() };
        Stage {
            server: Server::start(script),
            provider: "openai",
            stream: false,
            parameters: json!({"temperature": 0.2}),
            cache: Memory::default(),
            mode: CacheMode::ReadWrite,
            limits,
            told: Arc::default(),
        }
    }

    /// A server whose model gives these replies.
    pub(crate) fn of(replies: &[Value]) -> Stage {
        Stage::new(json!({"replies": {"functions": replies}}))
    }

    pub(crate) fn models(&self) -> Models {
        let address = self.server.address().clone();
        let is_openai = self.provider == "openai";
        let parameters: Map<String, Value> =
            self.parameters.as_object().expect("an object").clone();
        let chat = ModelSpec {
            provider: Provider::of(self.provider).expect("a provider"),
            model: "m".into(),
            key: Some(Secret::new("sk-secret-key")),
            address: if is_openai { format!("{address}/v1") } else { address },
            is_gateway: false,
            api_version: None,
            stream: self.stream,
            headers: Vec::new(),
            parameters,
            timeout: Duration::from_secs(10),
            width: Width::fixed(16),
            is_paid: true,
        };
        let own = HashMap::from([("m".to_owned(), json!({"input": 1.0, "output": 1.0}))]);
        let own = own
            .into_iter()
            .map(|(name, price)| (name, serde_json::from_value(price).expect("a price")));
        let told = Arc::clone(&self.told);
        Models::new(ModelsSetup {
            chat,
            conversing: None,
            embedding: None,
            limits: self.limits.clone(),
            prices: Prices::new(own.collect()),
            cache: Some(Box::new(self.cache.clone())),
            mode: self.mode,
            retry_unreadable: false,
            only_count: false,
            tell: Arc::new(move |text: &str| told.lock().expect("a list").push(text.to_owned())),
        })
        .expect("models")
    }

    pub(crate) fn run(&self, method: &str, tools: &dyn Tools) -> Result<Transcript, Stopped> {
        run_with(&self.models(), method, tools)
    }

    /// What the user was told.
    pub(crate) fn told(&self) -> Vec<String> {
        self.told.lock().expect("a list").clone()
    }
}

/// One attempt with models that are there already.
pub(crate) fn run_with(
    models: &Models,
    method: &str,
    tools: &dyn Tools,
) -> Result<Transcript, Stopped> {
    let limits = AgentLimits { max_steps: 20, max_queries: 20, max_idle: usize::MAX };
    let method = method.parse().expect("a method");
    let agent = ChatAgent { method, limits, prompts: prompts() };
    let setup = Setup { wording: wording(), ..Setup::default() };
    let environment = environment(&["a_for_t", "b_for_u"], &setup);
    let model = QueuedModel::new(models, 0);
    block_on(agent.answer("Which city?", environment, &model, tools))
}

/// Tools that always reply.
pub(crate) fn shelf() -> Shelf {
    let data = r#"{"error": "", "response": "data"}"#;
    Shelf::new(&[("a", data), ("b", data)])
}

/// A reply of the script that calls functions.
pub(crate) fn call(calls: &[(&str, Value)]) -> Value {
    let call = |(name, arguments): &(&str, Value)| json!({"name": name, "arguments": arguments});
    json!({"calls": {"calls": calls.iter().map(call).collect::<Vec<_>>()}})
}

/// The reply that ends with an answer.
pub(crate) fn answer() -> Value {
    call(&[("Finish", json!({"return_type": "give_answer", "final_answer": "Oslo"}))])
}

/// The reply that gives up.
pub(crate) fn give_up() -> Value {
    call(&[("Finish", json!({"return_type": "give_up_and_restart"}))])
}
