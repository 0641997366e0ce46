//! How much of the pool an agent sees.

use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use juror_agents::chat_agent::{Tools, VirtualServer};
use juror_agents::environment::{
    Environment, Offer, OwnedOffer, Pool, Search as Asked, Setup, ToolCall, ToolReply,
};
use juror_models::Pending;
use juror_toolbench::{LAST_RESORT_CATEGORY, Query, Registry};
use juror_tools::{Documentation, Search};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

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
    /// The names to call them by, in the order of the registry.
    names: Vec<String>,
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
        let names = registry.plain_names();
        Offers { documentation, registry, names, first, search: OnceLock::new() }
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

    /// The names to call all of them by, as functions of one list; no two are the same.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The APIs that fit a text best.
    pub fn find(&self, text: &str, most: usize) -> Vec<OwnedOffer> {
        let catalog = self.documentation.catalog();
        let search = self.search.get_or_init(|| Search::new(catalog));
        let found = search.find(text, most).into_iter();
        found.map(|found| self.offer(found.tool, found.api).into()).collect()
    }

    /// An API of the catalog, by the places of its tool and its own.
    fn offer(&self, tool: usize, api: usize) -> Offer<'_> {
        let name = &self.names[self.first[tool] + api];
        let tool = &self.documentation.catalog().tools[tool];
        Offer {
            category: tool.category.as_deref().unwrap_or(LAST_RESORT_CATEGORY),
            tool: &tool.name,
            tool_description: &tool.description,
            api: &tool.apis[api],
            name: Some(name),
        }
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
        Some(list(&self.environment(query, open, &Setup::default())))
    }

    /// The functions of all APIs that fit a text best, in the same form.
    pub fn listed_found(&self, text: &str, most: usize) -> Box<RawValue> {
        let found = self.find(text, most);
        let offers: Vec<Offer<'_>> = found.iter().map(OwnedOffer::as_offer).collect();
        list(&Environment::new(&offers, &Setup::default()))
    }

    /// The function of one API in the same form, by its place in [`Offers::names`].
    pub fn listed_at(&self, at: usize) -> Option<Box<RawValue>> {
        let tool = self.first.partition_point(|first| *first <= at).checked_sub(1)?;
        let api = at - self.first[tool];
        self.documentation.catalog().tools[tool].apis.get(api)?;
        Some(list(&Environment::new(&[self.offer(tool, api)], &Setup::default())))
    }
}

/// Functions, each with what it calls.
fn list(environment: &Environment) -> Box<RawValue> {
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
    to_raw_value(&listed).unwrap_or_default()
}

#[derive(Serialize)]
struct Listed<'l> {
    #[serde(flatten)]
    function: &'l juror_models::Callable,
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

#[cfg(test)]
mod tests {
    use super::*;
    use juror_tools::load_folder;
    use serde_json::Value;
    use std::path::Path;

    fn offers() -> Offers {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/tools"));
        let catalog = load_folder(folder).expect("tools");
        Offers::new(Arc::new(Documentation::new(folder, catalog)))
    }

    fn functions(listed: &RawValue) -> Vec<Value> {
        serde_json::from_str(listed.get()).expect("a list")
    }

    #[test]
    fn every_api_of_a_pool_is_listed_under_its_name() {
        let offers = offers();
        for (at, name) in offers.names().iter().enumerate() {
            let [function] = &functions(&offers.listed_at(at).expect("an API"))[..] else {
                panic!("one function")
            };
            let entry = &offers.registry().entries()[at];
            assert_eq!(function["function"]["name"], **name);
            assert_eq!(function["tool_name"], *entry.tool);
            assert_eq!(function["api_name"], *entry.api);
        }
        assert!(offers.listed_at(offers.len()).is_none());
    }

    #[test]
    fn what_is_found_has_the_names_of_the_pool() {
        let offers = offers();
        let found = functions(&offers.listed_found("weather forecast of a garden", 3));
        assert_eq!(found.len(), 3);
        for function in found {
            let name = function["function"]["name"].as_str().expect("a name").to_owned();
            assert!(offers.names().contains(&name), "{name}");
        }
    }
}
