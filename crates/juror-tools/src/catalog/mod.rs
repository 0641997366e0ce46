//! All tools that agents can call: what their files say, their names, and ways to find them.
//!
//! | by | found with |
//! |---|---|
//! | number | [`Catalog::api`], [`Catalog::offer`] |
//! | any name that a function ever had | [`Catalog::registry`] |
//! | words | [`Catalog::find`] |
//! | category, tool and API of a request | [`Catalog::requested_api`] |
//! | the list of a query | [`Catalog::offers_of`] |

mod document;
mod functions;
mod load;
mod offers;
mod tool_files;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use hashbrown::HashMap;
use juror_document::Problems;
use juror_toolbench::names::{standard_name, standardize, standardize_category};
use juror_toolbench::{Api, FolderNames, Registry, Tool};

pub use document::{ApiDocument, ApiNames, ToolDocument};
pub use functions::list_offers;
pub use load::LoadError;

use crate::search::{Match, Search};

/// Tools with their APIs, which are numbered in the order of the tools.
///
/// A process loads one catalog and shares it, so that everyone who lists, searches or calls APIs has
/// the same numbers and names for them. The registry and the search index take a tenth of a second
/// each with 16,000 APIs; each is built when it is first needed, and once.
#[derive(Default)]
pub struct Catalog {
    /// The folder the tools came from.
    root: PathBuf,
    tools: Vec<Tool>,
    problems: Problems,
    n_files: usize,
    n_apis: usize,
    /// The number of the first API of each tool.
    first: Vec<usize>,
    /// Tools by category and name, as requests have them. The category is empty for tools whose
    /// files have none.
    by_request: HashMap<(String, String), usize>,
    /// Tools by name alone; of several, the first.
    by_tool: HashMap<String, usize>,
    /// Tools whose files have no category, in order.
    without_category: BTreeSet<usize>,
    registry: OnceLock<Registry>,
    search: OnceLock<Search>,
}

impl Catalog {
    /// Takes tools in order. Of those that share category and name, requests mean the first.
    pub fn new(tools: Vec<Tool>) -> Catalog {
        let mut catalog = Catalog::default();
        for (at, tool) in tools.iter().enumerate() {
            catalog.first.push(catalog.n_apis);
            catalog.n_apis += tool.apis.len();
            let name = standardize(&tool.name);
            let category = standardize_category(tool.category.as_deref().unwrap_or_default());
            if tool.category.is_none() {
                catalog.without_category.insert(at);
            }
            catalog.by_request.entry((category, name.clone())).or_insert(at);
            catalog.by_tool.entry(name).or_insert(at);
        }
        Catalog { tools, ..catalog }
    }

    /// Gives tools whose files have no category the one that `find` knows for their standard name.
    /// Returns how many tools are left without one. Requests may still name any category for them.
    pub fn fill_categories(&mut self, find: impl Fn(&str) -> Option<Arc<str>>) -> usize {
        let mut n_left = 0;
        for &at in &self.without_category {
            let tool = &mut self.tools[at];
            let name = standardize(&tool.name);
            tool.category = find(&name);
            match &tool.category {
                None => n_left += 1,
                Some(category) => {
                    self.by_request.entry((standardize_category(category), name)).or_insert(at);
                }
            }
        }
        // Both were built from the categories, if they were.
        (self.registry, self.search) = (OnceLock::new(), OnceLock::new());
        n_left
    }

    /// The tools, in the order of their files' paths.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// What could not be used, and was left out.
    pub fn problems(&self) -> &Problems {
        &self.problems
    }

    /// How many files were found.
    pub fn n_files(&self) -> usize {
        self.n_files
    }

    /// How many APIs the tools have.
    pub fn n_apis(&self) -> usize {
        self.n_apis
    }

    /// An API by its number.
    pub fn api(&self, number: usize) -> Option<(&Tool, &Api)> {
        // A tool without APIs has the number of the next one's first.
        let tool = self.first.partition_point(|first| *first <= number).checked_sub(1)?;
        let api = self.tools[tool].apis.get(number - self.first[tool])?;
        Some((&self.tools[tool], api))
    }

    /// Leads from any name of an API to its number.
    pub fn registry(&self) -> &Registry {
        self.registry.get_or_init(|| Registry::of_tools(&self.tools))
    }

    /// The function names of the APIs, in the order of their numbers. An API has the same name in
    /// every list, and no two APIs have the same.
    pub fn names(&self) -> &[String] {
        self.registry().function_names()
    }

    /// The APIs that fit a text best.
    pub fn find(&self, text: &str, most: usize) -> Vec<Match> {
        self.search.get_or_init(|| Search::new(&self.tools)).find(text, most)
    }

    /// The tool that a request names.
    pub fn requested_tool(&self, names: &FolderNames) -> Option<&Tool> {
        let whole = names.standard_tool.as_str();
        // Requests may put the category after the tool, in other words than ours.
        let cut = whole.split_once("_for_").map_or(whole, |(tool, _)| tool);
        let find = |tool: &str| self.position(&names.category, tool);
        find(whole).or_else(|| find(cut)).map(|at| &self.tools[at])
    }

    /// The API that a request names.
    pub fn requested_api(&self, names: &FolderNames) -> Option<(&Tool, &Api)> {
        let tool = self.requested_tool(names)?;
        let api = tool.apis.iter().find(|api| standard_name(&api.name) == names.api)?;
        Some((tool, api))
    }

    /// The index of a tool, by its category and name as requests have them. If either side has no
    /// category, the name alone decides.
    fn position(&self, category: &str, tool: &str) -> Option<usize> {
        let by_name = || {
            let at = self.by_tool.get(tool)?;
            (category.is_empty() || self.without_category.contains(at)).then_some(at)
        };
        let key = (category.to_owned(), tool.to_owned());
        self.by_request.get(&key).or_else(by_name).copied()
    }
}

#[cfg(test)]
mod tests;
