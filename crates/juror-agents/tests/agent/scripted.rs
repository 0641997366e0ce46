//! A model and tools that answer by script, in the process.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use juror_agents::chat_agent::{Ask, AskError, Model, Reply, Tools};
use juror_agents::environment::{Environment, Search, Setup, ToolCall, ToolReply, Wording};
use juror_models::{Call, Message, Pending, Said};
use juror_toolbench::{Api, Offer, OwnedOffer, Parameters};
use serde_json::Value;

/// A model that gives replies in turn, and notes what it was asked.
#[derive(Default)]
pub(crate) struct Script {
    replies: Mutex<VecDeque<Result<Reply, AskError>>>,
    pub(crate) asked: Mutex<Vec<Vec<Arc<Message>>>>,
    /// The names of the functions each ask came with.
    pub(crate) offered: Mutex<Vec<Vec<String>>>,
}

impl Script {
    pub(crate) fn new(replies: impl IntoIterator<Item = Result<Reply, AskError>>) -> Script {
        Script { replies: Mutex::new(replies.into_iter().collect()), ..Script::default() }
    }

    pub(crate) fn n_asked(&self) -> usize {
        self.asked.lock().expect("a list").len()
    }

    pub(crate) fn last_asked(&self) -> Vec<Arc<Message>> {
        self.asked.lock().expect("a list").last().expect("something was asked").clone()
    }
}

impl Model for Script {
    fn ask<'a>(&'a self, ask: Ask<'a>) -> Pending<'a, Result<Reply, AskError>> {
        self.asked.lock().expect("a list").push(ask.messages.to_vec());
        let names = ask.environment.functions().map(|function| function.name.clone()).collect();
        self.offered.lock().expect("a list").push(names);
        let reply = self.replies.lock().expect("a list").pop_front();
        Box::pin(async move { reply.expect("the script goes on") })
    }
}

/// A reply that calls functions, given by name and arguments.
#[expect(clippy::unnecessary_wraps, reason = "it stands beside replies that fail")]
pub(crate) fn calls(content: Option<&str>, calls: &[(&str, &str)]) -> Result<Reply, AskError> {
    let call = |(index, (name, arguments)): (usize, &(&str, &str))| Call {
        id: format!("c{index}"),
        name: (*name).to_owned(),
        arguments: (*arguments).to_owned(),
    };
    let calls = calls.iter().enumerate().map(call).collect();
    let content = content.map(str::to_owned);
    Ok(Reply { said: Said { content, calls, provider: Vec::new() }, n_tokens: 10 })
}

/// Tools that reply by the name of the API, and note what was called.
#[derive(Default)]
pub(crate) struct Shelf {
    replies: Vec<(String, ToolReply)>,
    pub(crate) found: Vec<OwnedOffer>,
    pub(crate) called: Mutex<Vec<(String, String)>>,
    pub(crate) searched: Mutex<Vec<Search>>,
}

impl Shelf {
    pub(crate) fn new(replies: &[(&str, &str)]) -> Shelf {
        let reply =
            |(api, body): &(&str, &str)| ((*api).to_owned(), ToolReply::of((*body).to_owned()));
        Shelf { replies: replies.iter().map(reply).collect(), ..Shelf::default() }
    }

    /// Replies as recorded cases have them: by API, status and body.
    pub(crate) fn recorded(replies: &Value) -> Shelf {
        let reply = |(api, reply): (&String, &Value)| {
            let status = reply[0].as_u64().and_then(|status| u16::try_from(status).ok());
            let (status, body) = (status.expect("a status"), reply[1].as_str().expect("a text"));
            (api.clone(), ToolReply::Answered { status, body: body.to_owned() })
        };
        let replies = replies.as_object().expect("an object").iter().map(reply).collect();
        Shelf { replies, ..Shelf::default() }
    }
}

impl Tools for Shelf {
    fn call<'a>(&'a self, call: &'a ToolCall) -> Pending<'a, ToolReply> {
        let api = &call.target.standard_api;
        self.called.lock().expect("a list").push((api.clone(), call.arguments.clone()));
        let reply = self.replies.iter().find(|(of, _)| of == api);
        let reply = reply.map_or(ToolReply::TimedOut, |(_, reply)| reply.clone());
        Box::pin(async move { reply })
    }

    fn search<'a>(&'a self, search: &'a Search) -> Pending<'a, Result<Vec<OwnedOffer>, String>> {
        self.searched.lock().expect("a list").push(search.clone());
        let found = self.found.iter().take(search.most).cloned().collect();
        Box::pin(async move { Ok(found) })
    }
}

/// An API without parameters.
pub(crate) fn api(name: &str) -> Api {
    Api {
        name: name.to_owned(),
        description: String::new(),
        method: String::new(),
        url: String::new(),
        required: Parameters::default(),
        optional: Parameters::default(),
        schema: None,
        described: None,
    }
}

/// An environment with functions named `api_for_tool`.
pub(crate) fn environment(functions: &[&str], setup: &Setup) -> Environment {
    let pairs = functions.iter().map(|name| name.split_once("_for_").expect("two names"));
    let pairs: Vec<(Api, &str)> = pairs.map(|(name, tool)| (api(name), tool)).collect();
    let offers: Vec<Offer<'_>> = pairs
        .iter()
        .map(|(api, tool)| Offer { category: "Data", tool, tool_description: "", api, name: None })
        .collect();
    Environment::new(&offers, setup)
}

/// A setup whose only words are the task's.
pub(crate) fn setup(task: &str) -> Setup {
    let wording = Wording { task: task.to_owned(), ..Wording::default() };
    Setup { wording, ..Setup::default() }
}

/// Runs something that waits for nothing but itself.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(future)
}
