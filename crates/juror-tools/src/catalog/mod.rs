//! All tools that agents can call: what their files say, their names, and ways to find them.
//!
//! | by | found with |
//! |---|---|
//! | number | [`Catalog::api`], [`Catalog::offer`] |
//! | any name that a function ever had | [`Catalog::registry`] |
//! | words | [`Catalog::find`] |
//! | category, tool and API of a request | `Catalog::requested_api` |
//! | the list of a query | [`Catalog::offers_of`] |

mod document;
mod functions;
mod load;
mod offers;
mod pools;
mod tool_files;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use hashbrown::HashMap;
use juror_document::Problems;
use juror_toolbench::names::{standard_name, standardize, standardize_category};
use juror_toolbench::pool::PoolKind;
use juror_toolbench::{Api, FolderNames, Registry, Tool};

pub(crate) use document::NameMatching;
pub use functions::list_offers;
pub use load::ToolsError;
pub use pools::{LivePool, PoolSetup, load_pools};

use crate::search::{Match, Search};

/// All tools, with their APIs numbered in the order of the tools.
///
/// A process loads one catalog and shares it, so that everyone who lists, searches or calls APIs
/// uses the same numbers and names. The registry and the search index each take a tenth of a second
/// to build for 16,000 APIs, so both are built lazily, once.
#[derive(Default)]
pub struct Catalog {
    /// The folder the tools came from.
    root: PathBuf,
    tools: Vec<Tool>,
    problems: Problems,
    n_files: usize,
    n_apis: usize,
    /// The number of each tool's first API.
    first: Vec<usize>,
    /// Tools by category and name in the form of requests. The category is empty for tools whose
    /// files have none.
    by_request: HashMap<(String, String), usize>,
    /// Tools by name alone; the first wins.
    by_tool: HashMap<String, usize>,
    /// Tools whose files have no category, in order.
    without_category: BTreeSet<usize>,
    registry: OnceLock<Registry>,
    search: OnceLock<Search>,
}

impl Catalog {
    /// Takes tools in order. If several share a category and a name, requests mean the first.
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

    /// Joins the tools of several catalogs, in order.
    fn joined(catalogs: Vec<Catalog>) -> Catalog {
        let (mut tools, mut problems, mut n_files) = (Vec::new(), Problems::default(), 0);
        for catalog in catalogs {
            let Catalog { root, tools: own, problems: found, n_files: n, .. } = catalog;
            // Their files are found whichever folder they came from.
            let place = |file: &str| root.join(file).to_string_lossy().into_owned();
            tools.extend(own.into_iter().map(|tool| {
                let file = if tool.file.is_empty() { String::new() } else { place(&tool.file) };
                Tool { file, ..tool }
            }));
            problems.extend(found);
            n_files += n;
        }
        Catalog { problems, n_files, ..Catalog::new(tools) }
    }

    /// Fills in missing categories: `find` looks one up by a tool's standard name. Returns how many
    /// tools are still without a category. Requests may name any category for those.
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
        // Both depend on the categories.
        (self.registry, self.search) = (OnceLock::new(), OnceLock::new());
        n_left
    }

    /// Whether any API is described by an `OpenAPI` document.
    pub fn is_openapi(&self) -> bool {
        let mut apis = self.tools.iter().flat_map(|tool| &tool.apis);
        apis.any(|api| api.described.as_ref().is_some_and(|own| own.kind == PoolKind::OpenApi))
    }

    /// The tools, in the order of their files' paths.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// The problems of files that were left out.
    pub fn problems(&self) -> &Problems {
        &self.problems
    }

    /// The number of files that were found.
    pub fn n_files(&self) -> usize {
        self.n_files
    }

    /// The number of APIs of all tools.
    pub fn n_apis(&self) -> usize {
        self.n_apis
    }

    /// Returns an API by its number.
    pub fn api(&self, number: usize) -> Option<(&Tool, &Api)> {
        // A tool without APIs has the same first number as the next tool.
        let tool = self.first.partition_point(|first| *first <= number).checked_sub(1)?;
        let api = self.tools[tool].apis.get(number - self.first[tool])?;
        Some((&self.tools[tool], api))
    }

    /// Maps every name of an API to its number.
    pub fn registry(&self) -> &Registry {
        self.registry.get_or_init(|| Registry::of_tools(&self.tools))
    }

    /// The function names of the APIs, in the order of their numbers. They are unique, and an API
    /// has the same name in every list.
    pub fn names(&self) -> &[String] {
        self.registry().function_names()
    }

    /// Returns the APIs that match a text best.
    pub fn find(&self, text: &str, most: usize) -> Vec<Match> {
        self.search.get_or_init(|| Search::new(&self.tools)).find(text, most)
    }

    /// Finds the tool that a request names.
    pub(crate) fn requested_tool(&self, names: &FolderNames) -> Option<&Tool> {
        let whole = names.standard_tool.as_str();
        // Requests may append the category to the tool, and spell it differently.
        let cut = whole.split_once("_for_").map_or(whole, |(tool, _)| tool);
        let find = |tool: &str| self.position(&names.category, tool);
        find(whole).or_else(|| find(cut)).map(|at| &self.tools[at])
    }

    /// Finds the API that a request names.
    pub(crate) fn requested_api(&self, names: &FolderNames) -> Option<(&Tool, &Api)> {
        let tool = self.requested_tool(names)?;
        let api = tool.apis.iter().find(|api| standard_name(&api.name) == names.api)?;
        Some((tool, api))
    }

    /// Finds a tool by its category and name in the form of requests. If its file has no category,
    /// the name alone decides.
    fn position(&self, category: &str, tool: &str) -> Option<usize> {
        let by_name = || {
            let at = self.by_tool.get(tool)?;
            self.without_category.contains(at).then_some(at)
        };
        let key = (category.to_owned(), tool.to_owned());
        self.by_request.get(&key).or_else(by_name).copied()
    }
}

#[cfg(test)]
mod tests;
