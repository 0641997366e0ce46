//! What tool files say of an API, as simulators are shown it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use juror_json::{Object, text_of};
use juror_toolbench::names::{standard_name, standardize, standardize_category};
use juror_toolbench::{Api, FolderNames, Parameters, Tool};
use serde_json::value::{RawValue, to_raw_value};

use crate::load::Catalog;

/// Finds tools and APIs by the names that requests give them.
#[derive(Debug, Default)]
pub struct Documentation {
    /// The folder the tools came from.
    root: PathBuf,
    catalog: Catalog,
    by_names: HashMap<(String, String), usize>,
    by_tool: HashMap<String, usize>,
    /// Tools whose category stands in no file.
    placed: HashSet<usize>,
}

/// How an API's name in a file is compared with the one in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiNames {
    /// Words that Python reserves are written the same way on both sides.
    Settled,
    /// As the published servers do: an API called `id` is never found.
    Published,
}

/// An API with its JSON as the file has it; a field that is missing there is missing here.
#[derive(Clone, Debug, Default)]
pub struct ApiDocument {
    /// The name.
    pub name: String,
    /// What it does.
    pub description: Option<Box<RawValue>>,
    /// What a call must give.
    pub required: Option<Box<RawValue>>,
    /// What a call may give.
    pub optional: Option<Box<RawValue>>,
}

/// A tool and those of its APIs that have a name.
#[derive(Clone, Debug)]
pub struct ToolDocument {
    /// What the provider says of the tool.
    pub description: Box<RawValue>,
    /// The APIs of the name; commonly one.
    pub apis: Vec<ApiDocument>,
}

impl Documentation {
    /// Takes the tools that were loaded from a folder.
    pub fn new(root: &Path, catalog: Catalog) -> Documentation {
        let (mut by_names, mut by_tool) = (HashMap::new(), HashMap::new());
        for (at, tool) in catalog.tools.iter().enumerate() {
            let name = standardize(&tool.name);
            if let Some(category) = &tool.category {
                by_names.entry((standardize_category(category), name.clone())).or_insert(at);
            }
            by_tool.entry(name).or_insert(at);
        }
        let placed = HashSet::new();
        Documentation { root: root.to_owned(), catalog, by_names, by_tool, placed }
    }

    /// Gives tools whose files say no category the one that `find` has for their standard name;
    /// returns how many tools have none still. Requests may name any category for them as before.
    pub fn place(&mut self, find: impl Fn(&str) -> Option<Arc<str>>) -> usize {
        let mut n_left = 0;
        for (at, tool) in self.catalog.tools.iter_mut().enumerate() {
            if tool.category.is_some() {
                continue;
            }
            let name = standardize(&tool.name);
            tool.category = find(&name);
            match &tool.category {
                None => n_left += 1,
                Some(category) => {
                    self.by_names.entry((standardize_category(category), name)).or_insert(at);
                    self.placed.insert(at);
                }
            }
        }
        n_left
    }

    /// All tools.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The tool that a request names: of its category, or of none where files do not say one.
    pub fn tool(&self, names: &FolderNames) -> Option<&Tool> {
        let whole = names.standard_tool.as_str();
        // Requests may put the category behind the tool in other words than ours.
        let cut = whole.split_once("_for_").map_or(whole, |(tool, _)| tool);
        let of_category = |tool: &str| {
            let key = (names.category.clone(), tool.to_owned());
            self.by_names.get(&key).map(|&at| &self.catalog.tools[at])
        };
        let of_none = |tool: &str| {
            let at = *self.by_tool.get(tool)?;
            let tool = &self.catalog.tools[at];
            (tool.category.is_none() || self.placed.contains(&at)).then_some(tool)
        };
        let find = |tool: &str| of_category(tool).or_else(|| of_none(tool));
        find(whole).or_else(|| find(cut))
    }

    /// The API that a request names.
    pub fn api(&self, names: &FolderNames) -> Option<(&Tool, &Api)> {
        let tool = self.tool(names)?;
        let api = tool.apis.iter().find(|api| standard_name(&api.name) == names.api)?;
        Some((tool, api))
    }

    /// The tool that a request names, as its file has it, with the APIs of the name.
    pub fn document(&self, names: &FolderNames, how: ApiNames) -> Option<ToolDocument> {
        let tool = self.tool(names)?;
        let mut document = self.read(tool).unwrap_or_else(|| of_tool(tool));
        document.apis.retain(|api| match how {
            ApiNames::Settled => standard_name(&api.name) == names.api,
            ApiNames::Published => standardize(&api.name) == standardize(&names.api),
        });
        Some(document)
    }

    /// Reads a tool's file again: what was loaded is what agents need, not the file to the letter.
    fn read(&self, tool: &Tool) -> Option<ToolDocument> {
        let text = juror_store::read_plain_text(&self.root.join(&tool.file)).ok()?;
        let fields: Object<'_> = serde_json::from_str(&text).ok()?;
        let apis: Vec<Object<'_>> = serde_json::from_str(fields.get("api_list")?.get()).ok()?;
        let description = fields.get("tool_description").map(ToOwned::to_owned);
        let description = description.unwrap_or_else(|| raw(""));
        Some(ToolDocument { description, apis: apis.iter().map(of_fields).collect() })
    }
}

fn of_fields(fields: &Object<'_>) -> ApiDocument {
    let raw = |name: &str| fields.get(name).map(ToOwned::to_owned);
    ApiDocument {
        name: fields.get("name").and_then(text_of).unwrap_or_default().into_owned(),
        description: raw("description"),
        required: raw("required_parameters"),
        optional: raw("optional_parameters"),
    }
}

fn of_tool(tool: &Tool) -> ToolDocument {
    let of_api = |api: &Api| ApiDocument {
        name: api.name.clone(),
        description: Some(raw(&api.description)),
        required: Some(of_parameters(&api.required)),
        optional: Some(of_parameters(&api.optional)),
    };
    ToolDocument {
        description: raw(&tool.description),
        apis: tool.apis.iter().map(of_api).collect(),
    }
}

fn of_parameters(parameters: &Parameters) -> Box<RawValue> {
    let empty = || to_raw_value::<[(); 0]>(&[]).unwrap_or_default();
    parameters.json.clone().unwrap_or_else(empty)
}

fn raw(text: &str) -> Box<RawValue> {
    // Texts can always be written.
    to_raw_value(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load_folder;

    fn documentation(files: &[(&str, &str)]) -> (tempfile::TempDir, Documentation) {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        let catalog = load_folder(folder.path()).expect("a catalog");
        let documentation = Documentation::new(folder.path(), catalog);
        (folder, documentation)
    }

    #[test]
    fn tools_are_found_however_a_request_names_them() {
        let tool =
            r#"{"tool_name": "The A", "tool_description": null, "api_list": [{"name": "id"}]}"#;
        let (_folder, documentation) = documentation(&[("News_Media/the_a.json", tool)]);
        let find = |category: &str, tool: &str, api: &str| {
            let names = FolderNames::as_requested(category, tool, api);
            documentation.document(&names, ApiNames::Settled).map(|found| found.apis.len())
        };
        assert_eq!(find("News, Media", "The A", "id"), Some(1));
        assert_eq!(find("News_Media", "the_a_for_News_Media", "is_id"), Some(1));
        assert_eq!(find("News_Media", "the_a", "other"), Some(0));
        assert_eq!(find("Data", "the_a", "id"), None);
        let names = FolderNames::as_requested("News_Media", "the_a", "id");
        let published = documentation.document(&names, ApiNames::Published).expect("a tool");
        assert_eq!((published.apis.len(), published.description.get()), (0, "null"));
    }

    #[test]
    fn tools_without_category_are_found_under_any() {
        let tool = r#"{"tool_name": "A", "api_list": [{"name": "b"}]}"#;
        let (_folder, documentation) = documentation(&[("a.json", tool)]);
        let names = FolderNames::as_requested("Sports", "a", "b");
        assert!(documentation.api(&names).is_some());
    }

    #[test]
    fn tools_without_category_can_be_given_one() {
        let tool =
            |name: &str| format!(r#"{{"tool_name": "{name}", "api_list": [{{"name": "b"}}]}}"#);
        let (_folder, mut documentation) =
            documentation(&[("the_a.json", &tool("The A")), ("other.json", &tool("Other"))]);
        let n_left = documentation.place(|name| (name == "the_a").then(|| Arc::from("Sports")));
        assert_eq!(n_left, 1);
        let categories: Vec<Option<&str>> =
            documentation.catalog().tools.iter().map(|tool| tool.category.as_deref()).collect();
        assert_eq!(categories, [None, Some("Sports")]);
        for category in ["Sports", "Data"] {
            let names = FolderNames::as_requested(category, "The A", "b");
            assert!(documentation.api(&names).is_some(), "{category}");
        }
    }
}
