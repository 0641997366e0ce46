//! The APIs offered to an agent, and the names of their functions.

use hashbrown::{HashMap, HashSet};

use crate::query::QueryApi;
use crate::registry::{Entry, Registry};
use crate::tool_file::Api;
use crate::unique::{Cut, hashed_name};

/// An API that an agent may call, with details of its tool.
#[derive(Clone, Copy, Debug)]
pub struct Offer<'a> {
    /// The category, as calls write it.
    pub category: &'a str,
    /// The tool's raw name.
    pub tool: &'a str,
    /// The provider's description of the tool; may be empty.
    pub tool_description: &'a str,
    /// The API.
    pub api: &'a Api,
    /// The name to call it by, if a catalog assigns one. It is the same in every list.
    pub name: Option<&'a str>,
}

/// An [`Offer`] that owns its data.
#[derive(Clone, Debug)]
pub struct OwnedOffer {
    /// The category, as calls write it.
    pub category: String,
    /// The tool's raw name.
    pub tool: String,
    /// The provider's description of the tool; may be empty.
    pub tool_description: String,
    /// The API.
    pub api: Api,
    /// The name to call it by, if a catalog assigns one.
    pub name: Option<String>,
}

impl OwnedOffer {
    /// Borrows the offer.
    pub fn as_offer(&self) -> Offer<'_> {
        Offer {
            category: &self.category,
            tool: &self.tool,
            tool_description: &self.tool_description,
            api: &self.api,
            name: self.name.as_deref(),
        }
    }
}

impl From<Offer<'_>> for OwnedOffer {
    fn from(offer: Offer<'_>) -> OwnedOffer {
        OwnedOffer {
            category: offer.category.to_owned(),
            tool: offer.tool.to_owned(),
            tool_description: offer.tool_description.to_owned(),
            api: offer.api.clone(),
            name: offer.name.map(str::to_owned),
        }
    }
}

impl Offer<'_> {
    fn entry(&self) -> Entry {
        Entry {
            category: Some(self.category.into()),
            tool: self.tool.into(),
            api: self.api.name.clone(),
        }
    }
}

/// Offers the API as the query describes it.
impl<'a> From<&'a QueryApi> for Offer<'a> {
    fn from(listed: &'a QueryApi) -> Offer<'a> {
        Offer {
            category: &listed.category,
            tool: &listed.tool,
            tool_description: "",
            api: &listed.api,
            name: None,
        }
    }
}

/// Returns unique function names for one list. APIs of a catalog choose first, so that they keep
/// their names wherever they are in the list.
pub fn function_names(offers: &[Offer<'_>]) -> Vec<String> {
    let registry = Registry::new(offers.iter().map(Offer::entry).collect());
    let (catalogued, others): (Vec<usize>, Vec<usize>) =
        (0..offers.len()).partition(|at| offers[*at].name.is_some());
    let mut taken = TakenNames::default();
    let mut names = vec![String::new(); offers.len()];
    for at in catalogued.into_iter().chain(others) {
        let name = offers[at].name.unwrap_or(&registry.function_names()[at]);
        names[at] = taken.take(name, &offers[at]);
    }
    names
}

/// The names that the functions of a list already have.
#[derive(Default)]
pub struct TakenNames {
    names: HashSet<String>,
    /// How often the same name of the same API had to be changed.
    attempts: HashMap<(String, String), u32>,
}

impl TakenNames {
    /// Starts with the names of a list.
    pub fn new(names: impl IntoIterator<Item = String>) -> TakenNames {
        TakenNames { names: names.into_iter().collect(), ..TakenNames::default() }
    }

    /// Returns the name of one more function.
    pub fn add(&mut self, offer: &Offer<'_>) -> String {
        let registry = Registry::new(vec![offer.entry()]);
        self.take(offer.name.unwrap_or(&registry.function_names()[0]), offer)
    }

    /// Takes a name for an API, with a hash if another function has it.
    fn take(&mut self, name: &str, offer: &Offer<'_>) -> String {
        if self.names.insert(name.to_owned()) {
            return name.to_owned();
        }
        let identity = offer.entry().identity();
        let attempt = self.attempts.entry((name.to_owned(), identity.clone())).or_default();
        hashed_name(name, &identity, Cut::Front, attempt, &mut self.names)
    }
}
