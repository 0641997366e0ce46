//! How much of the pool an agent sees.

use std::str::FromStr;

use juror_agents::environment::{Environment, Setup};
use juror_toolbench::{Offer, Query};
use juror_tools::{Catalog, list_offers};
use serde_json::value::RawValue;

/// How much of the pool an agent sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pool {
    /// Everything, through a search function.
    #[default]
    Search,
    /// This many APIs that fit the query best.
    Top(usize),
    /// The APIs that come with the query.
    Own,
    /// No APIs at all: there are no tools.
    Nothing,
}

impl FromStr for Pool {
    type Err = String;

    fn from_str(word: &str) -> Result<Pool, String> {
        match word.split_once(':') {
            None if word == "search" => Ok(Pool::Search),
            None if word == "own" => Ok(Pool::Own),
            Some(("top", number)) => match number.parse() {
                Ok(n) if n > 0 => Ok(Pool::Top(n)),
                _ => Err(format!("`{number}` is not a number of APIs")),
            },
            _ => Err(format!("there is no pool `{word}`: use search, top:20 or own")),
        }
    }
}

impl std::fmt::Display for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Pool::Search => f.write_str("search"),
            Pool::Top(n) => write!(f, "top:{n}"),
            Pool::Own => f.write_str("own"),
            Pool::Nothing => f.write_str("none"),
        }
    }
}

impl Pool {
    /// Returns the APIs that an agent sees from the start; none if it searches for them.
    fn offers<'a>(self, catalog: &'a Catalog, query: &'a Query) -> Vec<Offer<'a>> {
        match self {
            Pool::Search | Pool::Nothing => Vec::new(),
            Pool::Top(most) => catalog.find_offers(&query.text, most),
            Pool::Own => catalog.offers_of(query),
        }
    }

    /// Returns an agent's view of a query.
    pub fn environment(self, catalog: &Catalog, query: &Query, setup: &Setup) -> Environment {
        let setup = Setup { has_search: self == Pool::Search, ..setup.clone() };
        Environment::new(&self.offers(catalog, query), &setup)
    }

    /// Returns the functions that an external agent may use; `None` if the whole pool is open.
    pub fn functions(self, catalog: &Catalog, query: &Query) -> Option<Box<RawValue>> {
        if self == Pool::Search {
            return None;
        }
        RawValue::from_string(list_offers(&self.offers(catalog, query))).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use juror_document::{Document, Format};
    use juror_toolbench::read_queries;
    use serde_json::Value;

    use super::*;

    const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

    #[test]
    fn however_much_is_open_apis_have_the_names_of_the_catalog() {
        let catalog = Catalog::load(&Path::new(EXAMPLES).join("tools")).expect("tools");
        let file = std::fs::read(Path::new(EXAMPLES).join("queries.json")).expect("queries");
        let file = Document::new("queries.json", file, Format::Json).expect("UTF-8");
        for query in &read_queries(&file).0 {
            for pool in [Pool::Own, Pool::Top(3)] {
                let listed = pool.functions(&catalog, query).expect("a list");
                let listed: Vec<Value> = serde_json::from_str(listed.get()).expect("functions");
                assert!(!listed.is_empty());
                for function in listed {
                    let name = function["function"]["name"].as_str().expect("a name");
                    let entry = catalog.registry().get(name).expect("an API");
                    assert!(catalog.names().iter().any(|known| known == name), "{name}");
                    assert_eq!(function["tool_name"], *entry.tool);
                    assert_eq!(function["api_name"], *entry.api);
                }
            }
            assert!(Pool::Search.functions(&catalog, query).is_none());
        }
    }
}
