//! API Call Score: how many of the right APIs an agent called.

use std::borrow::Cow;

use hashbrown::HashSet;

use super::answer::{Answer, FINISH, Node, SEARCH};
use super::names::{document_name, official_name};
use super::registry::{Registry, resolve};

/// What an agent called.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Called<'a> {
    /// An API, by the raw names of its tool and itself.
    Api(Cow<'a, str>, Cow<'a, str>),
    /// A name that belongs to no API.
    Unknown(Cow<'a, str>),
}

impl Called<'_> {
    /// Returns the names of tool and API as result files write them; a name that belongs to no API
    /// follows an empty string.
    pub fn into_pair(self) -> (String, String) {
        match self {
            Called::Api(tool, api) => (tool.into_owned(), api.into_owned()),
            Called::Unknown(name) => (String::new(), name.into_owned()),
        }
    }
}

/// Returns what an answer called, in order. Leaves out `Finish`, and the search for functions
/// unless an API has that name.
///
/// If the agent lists its calls itself, the list counts; otherwise the names in its nodes do.
pub fn called_apis<'a>(answer: &'a Answer<'_>, registries: &[&'a Registry]) -> Vec<Called<'a>> {
    if answer.called_apis.is_empty() {
        named_apis(&answer.nodes, registries)
    } else {
        listed_apis(&answer.called_apis, registries)
    }
}

/// Resolves a list of tools and APIs in any form. A function name follows an empty string.
pub fn listed_apis<'a>(
    list: &'a [(String, String)],
    registries: &[&'a Registry],
) -> Vec<Called<'a>> {
    let listed = |(tool, api): &'a (String, String)| match tool.as_str() {
        "" => named_api(Cow::Borrowed(api), registries),
        tool => Some(listed_api(tool, api, registries)),
    };
    list.iter().filter_map(listed).collect()
}

/// Resolves the calls in nodes. Looks names up in a query's own APIs first, then in the pool.
pub fn named_apis<'a>(nodes: &'a [Node<'_>], registries: &[&'a Registry]) -> Vec<Called<'a>> {
    let names = nodes.iter().filter_map(Node::called_name);
    names.filter_map(|name| named_api(name, registries)).collect()
}

/// Resolves the name of a function.
fn named_api<'a>(name: Cow<'a, str>, registries: &[&'a Registry]) -> Option<Called<'a>> {
    match resolve(&name, registries) {
        _ if name == FINISH => None,
        Some(entry) => Some(Called::Api(Cow::Borrowed(&*entry.tool), Cow::Borrowed(&entry.api))),
        None => (name != SEARCH).then_some(Called::Unknown(name)),
    }
}

/// Resolves the names of a tool and an API, which may be raw or in the form of requests and
/// functions.
fn listed_api<'a>(tool: &'a str, api: &'a str, registries: &[&'a Registry]) -> Called<'a> {
    let is_raw = |registry: &&Registry| {
        registry.entries().iter().any(|entry| &*entry.tool == tool && entry.api == api)
    };
    if !registries.iter().any(is_raw) {
        let names = [document_name(tool, api), official_name(tool, api)];
        if let Some(entry) = names.iter().find_map(|name| resolve(name, registries)) {
            return Called::Api(Cow::Borrowed(&*entry.tool), Cow::Borrowed(&entry.api));
        }
    }
    Called::Api(tool.into(), api.into())
}

/// How well the calls match the right APIs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallScore {
    /// The number of right APIs; duplicates count once.
    pub n_gold: usize,
    /// How many of them were called, however often.
    pub n_found: usize,
    /// The number of distinct APIs and unknown names called.
    pub n_called: usize,
    /// The number of calls to anything else.
    pub n_other_calls: usize,
}

impl CallScore {
    /// Compares calls with the pairs of tool and API that are right.
    pub fn of(called: &[Called<'_>], gold: &[(String, String)]) -> CallScore {
        let gold: HashSet<Called<'_>> =
            gold.iter().map(|(tool, api)| Called::Api(tool.into(), api.into())).collect();
        let distinct: HashSet<&Called<'_>> = called.iter().collect();
        CallScore {
            n_gold: gold.len(),
            n_found: distinct.iter().filter(|called| gold.contains(**called)).count(),
            n_called: distinct.len(),
            n_other_calls: called.iter().filter(|called| !gold.contains(*called)).count(),
        }
    }

    /// Returns the share of the right APIs that were called, or `None` if no API is right.
    pub fn score(&self) -> Option<f64> {
        (self.n_gold > 0).then(|| self.n_found as f64 / self.n_gold as f64)
    }

    /// Returns the share of the called APIs that are right, or `None` if nothing was called.
    pub fn precision(&self) -> Option<f64> {
        (self.n_called > 0).then(|| self.n_found as f64 / self.n_called as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Entry;

    fn score(called: &[&str], gold: &[&str]) -> CallScore {
        let pair =
            |name: &&str| name.split_once('/').map(|(tool, api)| (tool.to_owned(), api.to_owned()));
        let gold: Vec<_> = gold.iter().filter_map(pair).collect();
        let called: Vec<_> = called
            .iter()
            .map(|name| match pair(name) {
                Some((tool, api)) => Called::Api(tool.into(), api.into()),
                None => Called::Unknown((*name).into()),
            })
            .collect();
        CallScore::of(&called, &gold)
    }

    #[test]
    fn a_search_for_functions_is_no_call() {
        let details = r#"[{"role": "tool", "message": {"name": "search_tools"}, "next": [
            {"role": "tool", "message": {"name": "a_for_t"}, "next": []}]}]"#;
        let text = format!(r#"{{"final_answer": "x", "answer_details": {details}}}"#);
        let answer = crate::answer::read_answer(&text).expect("an answer");
        let registry = |tool: &str, api: &str| {
            Registry::new(vec![Entry { category: None, tool: tool.into(), api: api.into() }])
        };
        let own = registry("t", "a");
        let called = called_apis(&answer, &[&own]);
        let score = CallScore::of(&called, &[("t".to_owned(), "a".to_owned())]);
        assert_eq!((score.precision(), score.n_other_calls), (Some(1.0), 0));
        let pool = registry("search", "tools");
        assert_eq!(called_apis(&answer, &[&own, &pool]).len(), 2, "an API is called so");
    }

    #[test]
    fn right_apis_are_counted_once() {
        let check = |called: &[&str], gold: &[&str], wanted: (Option<f64>, Option<f64>, usize)| {
            let score = score(called, gold);
            assert_eq!((score.score(), score.precision(), score.n_other_calls), wanted);
        };
        check(&["t/a", "t/b"], &["t/a", "t/b"], (Some(1.0), Some(1.0), 0));
        check(&["t/a", "t/a"], &["t/a", "t/b", "t/b"], (Some(0.5), Some(1.0), 0));
        check(&["t/a", "u/a", "u/a", "x"], &["t/a"], (Some(1.0), Some(1.0 / 3.0), 3));
        check(&[], &["t/a"], (Some(0.0), None, 0));
        check(&["t/a"], &[], (None, Some(0.0), 1));
    }
}
