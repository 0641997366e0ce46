//! The APIs that an agent is offered.

use hashbrown::HashMap;
use juror_toolbench::names::{standard_name, standardize, standardize_category};
use juror_toolbench::{Api, Query, QueryApi, Tool};

/// An API that an agent may call, and what is known of its tool.
#[derive(Clone, Copy, Debug)]
pub struct Offer<'a> {
    /// The category, as calls have it.
    pub category: &'a str,
    /// The tool's raw name.
    pub tool: &'a str,
    /// What its provider says of the tool; may be empty.
    pub tool_description: &'a str,
    /// The API.
    pub api: &'a Api,
    /// The name to call it by, where it has one that all queries share: functions found by
    /// searching a pool have the pool's names.
    pub name: Option<&'a str>,
}

/// The same, for offers that outlive where they came from.
#[derive(Clone, Debug)]
pub struct OwnedOffer {
    /// The category, as calls have it.
    pub category: String,
    /// The tool's raw name.
    pub tool: String,
    /// What its provider says of the tool; may be empty.
    pub tool_description: String,
    /// The API.
    pub api: Api,
    /// The name to call it by, where it has one that all queries share.
    pub name: Option<String>,
}

impl OwnedOffer {
    /// The offer.
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

/// Tools by category and standard name.
#[derive(Clone, Debug, Default)]
pub struct Pool<'a> {
    tools: HashMap<(String, String), &'a Tool>,
    by_name: HashMap<String, &'a Tool>,
}

impl<'a> Pool<'a> {
    /// Takes tools in order. Of those that share category and name, the first counts.
    pub fn new(tools: &'a [Tool]) -> Pool<'a> {
        let mut pool = Pool::default();
        for tool in tools {
            let name = standardize(&tool.name);
            let category = standardize_category(tool.category.as_deref().unwrap_or(""));
            pool.tools.entry((category, name.clone())).or_insert(tool);
            pool.by_name.entry(name).or_insert(tool);
        }
        pool
    }

    /// The tool of a category and a raw name. Where either side says no category, the name alone
    /// decides.
    pub fn tool(&self, category: &str, name: &str) -> Option<&'a Tool> {
        let (category, name) = (standardize_category(category), standardize(name));
        let by_name = || {
            let tool = self.by_name.get(&name).copied();
            tool.filter(|tool| category.is_empty() || tool.category.is_none())
        };
        let key = (category.clone(), name.clone());
        self.tools.get(&key).copied().or_else(by_name)
    }

    /// What is offered with a query: its own APIs, each once, described as the pool has them, or
    /// else as the query does.
    pub fn offers_of(&self, query: &'a Query) -> Vec<Offer<'a>> {
        let mut offers: Vec<Offer<'a>> = Vec::with_capacity(query.apis.len());
        for listed in &query.apis {
            let offer = self.offer(listed);
            let is_it = |other: &Offer<'_>| {
                (other.category, other.tool, &other.api.name)
                    == (offer.category, offer.tool, &offer.api.name)
            };
            if !offers.iter().any(is_it) {
                offers.push(offer);
            }
        }
        offers
    }

    fn offer(&self, listed: &'a QueryApi) -> Offer<'a> {
        let tool = self.tool(&listed.category, &listed.tool);
        let name = standard_name(&listed.api.name);
        let api =
            tool.and_then(|tool| tool.apis.iter().find(|api| standard_name(&api.name) == name));
        Offer {
            category: &listed.category,
            tool: tool.map_or(&listed.tool, |tool| &tool.name),
            tool_description: tool.map_or("", |tool| &tool.description),
            api: api.unwrap_or(&listed.api),
            name: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_document::{Document, Format};
    use juror_toolbench::Parameters;
    use juror_toolbench::read_queries;

    fn tool(category: Option<&str>, name: &str, apis: &[&str]) -> Tool {
        let api = |name: &&str| Api {
            name: (*name).to_owned(),
            description: "from the pool".into(),
            method: String::new(),
            url: String::new(),
            required: Parameters::default(),
            optional: Parameters::default(),
            schema: None,
        };
        Tool {
            category: category.map(Into::into),
            name: name.into(),
            description: format!("about {name}"),
            host: String::new(),
            file: String::new(),
            apis: apis.iter().map(api).collect(),
        }
    }

    #[test]
    fn what_the_pool_says_comes_before_what_the_query_says() {
        let tools = [tool(Some("Data"), "The Tool", &["Get X"]), tool(None, "Flat", &["a"])];
        let pool = Pool::new(&tools);
        let json = r#"[{"query_id": 1, "query": "q", "api_list": [
            {"category_name": "Data", "tool_name": "the tool", "api_name": "get x"},
            {"category_name": "Data", "tool_name": "The Tool", "api_name": "Get X"},
            {"category_name": "Data", "tool_name": "The Tool", "api_name": "gone", "api_description": "own"},
            {"category_name": "Other", "tool_name": "The Tool", "api_name": "Get X"},
            {"category_name": "Other", "tool_name": "flat", "api_name": "A"}]}]"#;
        let document = Document::new("q.json", json.into(), Format::Json).expect("UTF-8");
        let (queries, _) = read_queries(&document);
        let offers: Vec<(&str, &str, &str, &str)> = pool
            .offers_of(&queries[0])
            .iter()
            .map(|offer| {
                (offer.category, offer.tool_description, &*offer.api.name, &*offer.api.description)
            })
            .collect();
        let wanted = [
            ("Data", "about The Tool", "Get X", "from the pool"),
            ("Data", "about The Tool", "gone", "own"),
            ("Other", "", "Get X", ""),
            ("Other", "about Flat", "a", "from the pool"),
        ];
        assert_eq!(offers, wanted);
    }
}
