//! The APIs that are served, as functions.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use juror_toolbench::{Form, Function, Registry, Tool, function, names};
use juror_tools::{Documentation, Search};
use serde::Serialize;

/// All APIs of a folder of tools. What takes time is made when it is first asked for.
pub struct Listing {
    documentation: Arc<Documentation>,
    /// Each API by its tool's place and its own.
    places: Vec<(usize, usize)>,
    registry: OnceLock<Registry>,
    search: OnceLock<Search>,
    rendered: OnceLock<Bytes>,
}

/// An API as agents see it: a function, and the names to call it by at `/virtual`.
#[derive(Serialize)]
struct Listed<'l> {
    #[serde(flatten)]
    function: Function,
    category: &'l str,
    tool_name: &'l str,
    api_name: &'l str,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f32>,
}

impl Listing {
    /// The APIs of tools.
    pub fn new(documentation: Arc<Documentation>) -> Listing {
        let tools = documentation.catalog().tools.iter().enumerate();
        let places = tools.flat_map(|(at, tool)| (0..tool.apis.len()).map(move |api| (at, api)));
        let places = places.collect();
        Listing {
            documentation,
            places,
            registry: OnceLock::new(),
            search: OnceLock::new(),
            rendered: OnceLock::new(),
        }
    }

    /// How many APIs there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// From any name of an API to its place in the list.
    pub fn registry(&self) -> &Registry {
        self.registry.get_or_init(|| Registry::of_tools(&self.documentation.catalog().tools))
    }

    /// All of them as a JSON list.
    pub fn all(&self) -> Bytes {
        self.rendered.get_or_init(|| self.some(0, usize::MAX)).clone()
    }

    /// Some of them as a JSON list.
    pub fn some(&self, offset: usize, limit: usize) -> Bytes {
        let end = offset.saturating_add(limit).min(self.places.len());
        let listed = (offset.min(end)..end).map(|at| self.listed(at, None));
        to_json(&listed.collect::<Vec<_>>())
    }

    /// Those that fit a text best as a JSON list, the best first.
    pub fn search(&self, query: &str, most: usize) -> Bytes {
        let catalog = self.documentation.catalog();
        let search = self.search.get_or_init(|| Search::new(catalog));
        let listed = search.find(query, most).into_iter().filter_map(|found| {
            let at = self.places.binary_search(&(found.tool, found.api)).ok()?;
            Some(self.listed(at, Some(found.score)))
        });
        to_json(&listed.collect::<Vec<_>>())
    }

    fn listed(&self, at: usize, score: Option<f32>) -> Listed<'_> {
        let (tool, api) = self.places[at];
        let tool: &Tool = &self.documentation.catalog().tools[tool];
        let api = &tool.apis[api];
        let name = &self.registry().function_names()[at];
        let standard_tool = names::standardize(&tool.name);
        Listed {
            function: function(name, &standard_tool, api, Form::Schema),
            category: tool.category.as_deref().unwrap_or(juror_toolbench::LAST_RESORT_CATEGORY),
            tool_name: &tool.name,
            api_name: &api.name,
            score,
        }
    }
}

fn to_json(listed: &[Listed<'_>]) -> Bytes {
    // Texts and numbers can always be written.
    Bytes::from(serde_json::to_vec(listed).unwrap_or_default())
}
