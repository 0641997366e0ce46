//! Finds an API by any of its names.
//!
//! Names are built in every form and looked up, never split: raw names contain the separators.

use std::sync::Arc;

use hashbrown::HashMap;

use super::names::{
    LONGEST_NAME, Letters, document_name, end_of, full_official_name, plain_name, sanitize,
    standardize_category,
};
use super::tool_file::{Api, Tool};
use super::unique::{Cut, unique_names};

/// An API and where it belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The category, if known.
    pub category: Option<Arc<str>>,
    /// The tool's raw name.
    pub tool: Arc<str>,
    /// The API's raw name.
    pub api: String,
}

impl Entry {
    /// Returns a string that identifies the API among all others.
    pub(crate) fn identity(&self) -> String {
        format!("{}\0{}\0{}", self.category(), self.tool, self.api)
    }

    /// Returns the category; empty if unknown.
    fn category(&self) -> &str {
        self.category.as_deref().unwrap_or("")
    }

    /// Returns whether it belongs to a category, as far as both are known.
    fn may_be_of(&self, category: &str) -> bool {
        let own = self.category();
        own.is_empty()
            || category.is_empty()
            || standardize_category(own) == standardize_category(category)
    }
}

/// APIs by all their names.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    entries: Vec<Entry>,
    functions: Vec<String>,
    by_name: HashMap<String, u32>,
}

impl Registry {
    /// Takes APIs in order. If several share a name, the first one gets it.
    pub fn new(entries: Vec<Entry>) -> Registry {
        Registry::named(entries, |_| None)
    }

    /// Takes APIs in order. `own` gives the function name of an API that has one of its own.
    fn named(entries: Vec<Entry>, own: impl Fn(usize) -> Option<String>) -> Registry {
        let identities: Vec<String> = entries.iter().map(Entry::identity).collect();
        let make = |name: fn(&Entry) -> String| entries.iter().map(name).collect::<Vec<String>>();
        let documents = make(|entry| document_name(&entry.tool, &entry.api));
        let spaced = make(|entry| format!("{} {}", entry.tool, entry.api));
        let sanitize = |letters| -> Vec<String> {
            documents.iter().map(|name| sanitize(name, letters, LONGEST_NAME)).collect()
        };
        let full = make(|entry| full_official_name(&entry.tool, &entry.api));
        let official: Vec<String> = full
            .iter()
            .enumerate()
            .map(|(at, name)| own(at).unwrap_or_else(|| end_of(name).to_owned()))
            .collect();
        // Names in older answers begin with a digit.
        let older: Vec<String> =
            full.iter().map(|name| end_of(without_get(name)).to_owned()).collect();
        let unique_official = unique_names(&official, &identities, Cut::Front);
        // Names that differ only in characters that are not plain become equal.
        let plain: Vec<String> = unique_official.iter().map(|name| plain_name(name)).collect();
        let functions = unique_names(&plain, &identities, Cut::Front);
        let sanitized = sanitize(Letters::Ascii);
        let unique_sanitized = unique_names(&sanitized, &identities, Cut::Back);
        let of_any_script = sanitize(Letters::Any);
        // The most certain forms come first.
        let forms = [
            &documents,
            &spaced,
            &functions,
            &unique_official,
            &official,
            &full,
            &plain,
            &of_any_script,
            &sanitized,
            &unique_sanitized,
            &older,
        ];
        let mut by_name = HashMap::with_capacity(entries.len() * 4);
        for names in forms {
            for (index, name) in (0..).zip(names) {
                by_name.entry_ref(name.as_str()).or_insert(index);
            }
        }
        Registry { entries, functions, by_name }
    }

    /// Collects the APIs of tools, in order.
    pub fn of_tools(tools: &[Tool]) -> Registry {
        let entries = tools.iter().flat_map(|tool| {
            let name: Arc<str> = Arc::from(tool.name.as_str());
            tool.apis.iter().map(move |api| Entry {
                category: tool.category.clone(),
                tool: Arc::clone(&name),
                api: api.name.clone(),
            })
        });
        let apis: Vec<&Api> = tools.iter().flat_map(|tool| &tool.apis).collect();
        Registry::named(entries.collect(), |at| {
            apis[at].described.as_ref().map(|_| own_name(apis[at]))
        })
    }

    /// Returns the position of an API in the order given to [`Registry::new`].
    pub fn position(&self, name: &str) -> Option<usize> {
        let index = self.by_name.get(name).map(|index| *index as usize);
        index.or_else(|| self.dotted_position(name))
    }

    /// Finds names such as `TheClique.Transfermarkt_details`, which the document also writes. With
    /// `_` for the dot, this is the sanitized form of the document name and of no other.
    fn dotted_position(&self, name: &str) -> Option<usize> {
        if !name.contains('.') {
            return None;
        }
        let sanitized = |name: &str| sanitize(name, Letters::Any, LONGEST_NAME);
        let wanted = sanitized(name);
        let index = *self.by_name.get(&wanted)? as usize;
        let entry = &self.entries[index];
        (sanitized(&document_name(&entry.tool, &entry.api)) == wanted).then_some(index)
    }

    /// Returns the API that a name refers to.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.get(self.position(name)?)
    }

    /// Returns all APIs, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the function names, in the same order and all distinct: official names in characters
    /// that every model provider accepts, with a hash where two APIs would share one.
    pub fn function_names(&self) -> &[String] {
        &self.functions
    }

    /// Returns the entry for the same API, whose names may be spelled differently.
    fn counterpart(&self, other: &Entry) -> Option<&Entry> {
        let full = full_official_name(&other.tool, &other.api);
        // Most APIs have none; this lookup avoids searching the entries for them.
        self.by_name.get(&full)?;
        let is_it = |own: &&Entry| {
            full_official_name(&own.tool, &own.api) == full && own.may_be_of(other.category())
        };
        self.entries.iter().find(is_it)
    }
}

/// The function name of an API that a document describes: its own, in characters that every model
/// provider accepts.
fn own_name(api: &Api) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if api.name.len() <= LONGEST_NAME && !api.name.is_empty() && api.name.chars().all(is_plain) {
        return api.name.clone();
    }
    sanitize(&api.name, Letters::Ascii, LONGEST_NAME)
}

/// Removes the `get_` that was put before a digit.
fn without_get(name: &str) -> &str {
    let rest = name.strip_prefix("get_").unwrap_or(name);
    if rest.starts_with(|c: char| c.is_ascii_digit()) { rest } else { name }
}

/// Finds the API that a name refers to, in a query's own APIs first, then in the pool.
///
/// If only the pool knows the name, returns the query's own entry for that API, if it has one. Only
/// the pool has names with a hash, but the query lists the right APIs in its own spelling.
pub fn resolve<'a>(name: &str, registries: &[&'a Registry]) -> Option<&'a Entry> {
    let of = |(at, registry): (usize, &&'a Registry)| Some((at, registry.get(name)?));
    let (at, entry) = registries.iter().enumerate().find_map(of)?;
    let own = registries[..at].iter().find_map(|registry| registry.counterpart(entry));
    Some(own.unwrap_or(entry))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::official_name;

    fn registry(apis: &[(&str, &str)]) -> Registry {
        let entry = |(tool, api): &(&str, &str)| Entry {
            category: None,
            tool: Arc::from(*tool),
            api: (*api).to_owned(),
        };
        Registry::new(apis.iter().map(entry).collect())
    }

    #[test]
    fn every_form_of_a_name_leads_back() {
        let apis = [("Café_v3", "Get User's Orders"), ("TheClique", "Transfermarkt details")];
        let registry = registry(&apis);
        for name in [
            "Café_v3_Get User's Orders",
            "Café_v3 Get User's Orders",
            "get_user_s_orders_for_caf_v3",
            "Café_v3_Get_User_s_Orders",
            "Caf_v3_Get_User_s_Orders",
        ] {
            assert_eq!(registry.position(name), Some(0), "{name}");
        }
        assert_eq!(registry.get("orders_for_caf_v3"), None);
    }

    #[test]
    fn a_point_may_stand_between_tool_and_api() {
        let registry = registry(&[("TheClique", "Transfermarkt details"), ("t", "x")]);
        assert_eq!(registry.position("TheClique.Transfermarkt_details"), Some(0));
        assert_eq!(registry.position("TheClique.Transfermarkt details"), Some(0));
        assert_eq!(registry.position("t.x"), Some(1));
        for name in ["x.for.t", "x_for.t", "TheClique.", "Transfermarkt.details", "."] {
            assert_eq!(registry.position(name), None, "{name}");
        }
    }

    #[test]
    fn a_name_made_plain_for_a_provider_leads_back() {
        let registry = registry(&[("a^b", "天气")]);
        assert_eq!(registry.function_names(), ["___for_a_b"]);
        for name in ["___for_a_b", "天气_for_a^b"] {
            assert_eq!(registry.position(name), Some(0), "{name}");
        }
    }

    #[test]
    fn names_that_are_made_plain_stay_apart() {
        let registry = registry(&[("a^b", "天气"), ("a^b", "新闻"), ("T", "x")]);
        let names = registry.function_names();
        assert_eq!(names[2], "x_for_t");
        assert!(names[0].starts_with("for_a_b_") && names[1].starts_with("for_a_b_"), "{names:?}");
        assert_ne!(names[0], names[1]);
        for (at, name) in names.iter().enumerate() {
            assert_eq!(registry.position(name), Some(at), "{name}");
        }
        assert_eq!(registry.position("新闻_for_a^b"), Some(1));
    }

    #[test]
    fn older_names_begin_with_a_digit() {
        let registry = registry(&[("Rewards", "4. Get list"), ("Rewards", "get 5")]);
        assert_eq!(registry.position("get_4_get_list_for_rewards"), Some(0));
        assert_eq!(registry.position("4_get_list_for_rewards"), Some(0));
        assert_eq!(registry.position("get_5_for_rewards"), Some(1));
    }

    #[test]
    fn names_that_are_cut_the_same_are_told_apart() {
        let long = "x".repeat(70);
        let (one, two) = (format!("a{long}"), format!("b{long}"));
        let registry = registry(&[("t", &one), ("t", &two), ("t", "c")]);
        let names = registry.function_names();
        assert_eq!(names[2], "c_for_t");
        assert_eq!(registry.position(&names[0]), Some(0));
        assert_eq!(registry.position(&names[1]), Some(1));
        assert_eq!(registry.position(&official_name("t", &two)), Some(0), "the first has it");
        assert_eq!(registry.position(&full_official_name("t", &two)), Some(1));
    }

    #[test]
    fn a_query_is_asked_before_the_pool() {
        let (query, pool) = (registry(&[("T", "a b")]), registry(&[("t", "A B"), ("u", "c")]));
        let tool = |name| resolve(name, &[&query, &pool]).map(|entry| &*entry.tool);
        assert_eq!(tool("a_b_for_t"), Some("T"));
        assert_eq!(tool("c_for_u"), Some("u"));
        assert_eq!(tool("d_for_u"), None);
    }

    #[test]
    fn a_name_of_the_pool_means_the_api_that_the_query_has() {
        let entry = |category: &str, tool: &str, api: &str| Entry {
            category: Some(category.into()),
            tool: tool.into(),
            api: api.into(),
        };
        let pool =
            Registry::new(vec![entry("Data", "the_t", "Get X"), entry("Sports", "the_t", "Get X")]);
        let query = |category: &str| Registry::new(vec![entry(category, "The T", "get x")]);
        let names = pool.function_names();
        assert!(names.iter().all(|name| name.starts_with("get_x_for_the_t_")), "{names:?}");
        let check = |category: &str, name: &str, wanted: &str| {
            let query = query(category);
            let found = resolve(name, &[&query, &pool]).map(|entry| entry.tool.to_string());
            assert_eq!(found.as_deref(), Some(wanted), "{category} {name}");
        };
        check("Sports", &names[1], "The T");
        check("Sports", &names[0], "the_t");
        check("", &names[0], "The T");
    }
}
