//! The APIs of a catalog in the form in which they are offered to agents.

use juror_toolbench::names::{standard_name, standardize, standardize_category};
use juror_toolbench::{LAST_RESORT_CATEGORY, Offer, Query, QueryApi};

use super::Catalog;

impl Catalog {
    /// Returns an API by its number.
    pub fn offer(&self, number: usize) -> Option<Offer<'_>> {
        let (tool, api) = self.api(number)?;
        Some(Offer {
            category: tool.category.as_deref().unwrap_or(LAST_RESORT_CATEGORY),
            tool: &tool.name,
            tool_description: &tool.description,
            api,
            name: self.names().get(number).map(String::as_str),
        })
    }

    /// Returns the APIs that match a text best.
    pub fn find_offers(&self, text: &str, most: usize) -> Vec<Offer<'_>> {
        self.find(text, most).iter().filter_map(|found| self.offer(found.number)).collect()
    }

    /// Returns the APIs that a query lists, each once. Descriptions and names in the catalog take
    /// precedence over those in the query.
    pub fn offers_of<'a>(&'a self, query: &'a Query) -> Vec<Offer<'a>> {
        let mut offers: Vec<Offer<'a>> = Vec::with_capacity(query.apis.len());
        for listed in &query.apis {
            let offer = self.offer_of(listed);
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

    /// Keeps the query's category, because known replies are filed under it.
    fn offer_of<'a>(&'a self, listed: &'a QueryApi) -> Offer<'a> {
        let as_listed = Offer::from(listed);
        let category = standardize_category(&listed.category);
        let tool = standardize(&listed.tool);
        // A query may leave the category out; then the name alone decides.
        let by_name = || self.by_tool.get(&tool).filter(|_| category.is_empty()).copied();
        let Some(at) = self.position(&category, &tool).or_else(by_name) else {
            return as_listed;
        };
        let (tool, name) = (&self.tools[at], standard_name(&listed.api.name));
        let offer = Offer { tool: &tool.name, tool_description: &tool.description, ..as_listed };
        match tool.apis.iter().position(|api| standard_name(&api.name) == name) {
            None => offer,
            Some(api) => Offer {
                api: &tool.apis[api],
                name: self.names().get(self.first[at] + api).map(String::as_str),
                ..offer
            },
        }
    }
}
