//! How much of the pool an agent sees.

use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use juror_judge::Pending;
use juror_score::tool::environment::{
    Environment, Offer, OwnedOffer, Pool, Search as Asked, Setup, ToolCall, ToolReply,
};
use juror_score::tool::{LAST_RESORT_CATEGORY, Query, Registry};
use juror_tools::{Documentation, Search};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::subject::chat_agent::{Tools, VirtualServer};

/// How much of the pool an agent sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Open {
    /// Everything, through a function that searches it.
    #[default]
    Search,
    /// The APIs that fit the query best, so many of them.
    Top(usize),
    /// The APIs that come with the query.
    Own,
}

impl FromStr for Open {
    type Err = String;

    fn from_str(word: &str) -> Result<Open, String> {
        match word.split_once(':') {
            None if word == "search" => Ok(Open::Search),
            None if word == "own" => Ok(Open::Own),
            Some(("top", number)) => match number.parse() {
                Ok(n) if n > 0 => Ok(Open::Top(n)),
                _ => Err(format!("`{number}` is no number of APIs")),
            },
            _ => Err(format!("there is no pool `{word}`: use search, top:20 or own")),
        }
    }
}

impl std::fmt::Display for Open {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Open::Search => f.write_str("search"),
            Open::Top(n) => write!(f, "top:{n}"),
            Open::Own => f.write_str("own"),
        }
    }
}

/// All APIs, and ways to choose among them.
pub struct Offers {
    documentation: Arc<Documentation>,
    registry: Registry,
    /// The number of the first API of each tool.
    first: Vec<usize>,
    search: OnceLock<Search>,
}

impl Offers {
    /// Takes the tools of a folder.
    pub fn new(documentation: Arc<Documentation>) -> Offers {
        let tools = &documentation.catalog().tools;
        let mut first = Vec::with_capacity(tools.len());
        let mut n_apis = 0;
        for tool in tools {
            first.push(n_apis);
            n_apis += tool.apis.len();
        }
        let registry = Registry::of_tools(tools);
        Offers { documentation, registry, first, search: OnceLock::new() }
    }

    /// From any name of an API back to it.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// How many APIs there are.
    pub fn len(&self) -> usize {
        self.registry.entries().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The APIs that fit a text best.
    pub fn find(&self, text: &str, most: usize) -> Vec<OwnedOffer> {
        let catalog = self.documentation.catalog();
        let search = self.search.get_or_init(|| Search::new(catalog));
        let offer = |found: juror_tools::Match| {
            let tool = &catalog.tools[found.tool];
            let name = &self.registry.function_names()[self.first[found.tool] + found.api];
            OwnedOffer {
                category: tool.category.as_deref().unwrap_or(LAST_RESORT_CATEGORY).to_owned(),
                tool: tool.name.clone(),
                tool_description: tool.description.clone(),
                api: tool.apis[found.api].clone(),
                name: Some(name.clone()),
            }
        };
        search.find(text, most).into_iter().map(offer).collect()
    }

    /// What an agent sees of a query.
    pub fn environment(&self, query: &Query, open: Open, setup: &Setup) -> Environment {
        let setup = Setup { has_search: open == Open::Search, ..setup.clone() };
        match open {
            Open::Search => Environment::new(&[], &setup),
            Open::Top(most) => {
                let found = self.find(&query.text, most);
                let offers: Vec<Offer<'_>> = found.iter().map(OwnedOffer::as_offer).collect();
                Environment::new(&offers, &setup)
            }
            Open::Own => {
                let tools = &self.documentation.catalog().tools;
                Environment::new(&Pool::new(tools).offers_of(query), &setup)
            }
        }
    }

    /// The functions an agent outside the process may use; none when everything is open.
    pub fn listed(&self, query: &Query, open: Open) -> Option<Box<RawValue>> {
        if open == Open::Search {
            return None;
        }
        let environment = self.environment(query, open, &Setup::default());
        let listed: Vec<Listed<'_>> = environment
            .functions()
            .zip(environment.targets())
            .map(|(function, target)| Listed {
                function,
                category: &target.category,
                tool_name: &target.tool,
                api_name: &target.api,
            })
            .collect();
        // Texts can always be written.
        Some(to_raw_value(&listed).unwrap_or_default())
    }
}

#[derive(Serialize)]
struct Listed<'l> {
    #[serde(flatten)]
    function: &'l juror_score::tool::environment::Callable,
    category: &'l str,
    tool_name: &'l str,
    api_name: &'l str,
}

/// Tools behind a server, with a search of the pool.
pub(super) struct PoolTools {
    pub(super) server: VirtualServer,
    pub(super) offers: Arc<Offers>,
}

impl Tools for PoolTools {
    fn call<'a>(&'a self, call: &'a ToolCall) -> Pending<'a, ToolReply> {
        self.server.call(call)
    }

    fn search<'a>(&'a self, search: &'a Asked) -> Pending<'a, Result<Vec<OwnedOffer>, String>> {
        Box::pin(async move {
            let (offers, query, most) = (self.offers.clone(), search.query.clone(), search.most);
            let found = tokio::task::spawn_blocking(move || offers.find(&query, most)).await;
            found.map_err(|error| error.to_string())
        })
    }
}
