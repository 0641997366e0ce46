//! Lists of APIs as JSON functions, in the form that agents receive.

use juror_toolbench::names::standardize;
use juror_toolbench::{Form, Function, Offer, function, function_names};
use serde::Serialize;

use super::Catalog;

/// A function, and the names by which `/virtual` is called for it.
#[derive(Serialize)]
struct ListedFunction<'l> {
    #[serde(flatten)]
    function: Function,
    category: &'l str,
    tool_name: &'l str,
    api_name: &'l str,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f32>,
}

impl Catalog {
    /// Lists the APIs with these numbers.
    pub fn list(&self, numbers: impl IntoIterator<Item = usize>) -> String {
        to_json(numbers.into_iter().filter_map(|number| self.listed(number, None)))
    }

    /// Lists the APIs that match a text best, best first, with their scores.
    pub fn list_found(&self, text: &str, most: usize) -> String {
        let found = self.find(text, most).into_iter();
        to_json(found.filter_map(|found| self.listed(found.number, Some(found.score))))
    }

    fn listed(&self, number: usize, score: Option<f32>) -> Option<ListedFunction<'_>> {
        Some(listed(&self.offer(number)?, self.names().get(number)?, score))
    }
}

/// Lists what an agent is offered, in the same form.
pub fn list_offers(offers: &[Offer<'_>]) -> String {
    let names = function_names(offers);
    to_json(offers.iter().zip(&names).map(|(offer, name)| listed(offer, name, None)))
}

fn listed<'l>(offer: &Offer<'l>, name: &str, score: Option<f32>) -> ListedFunction<'l> {
    ListedFunction {
        function: function(name, &standardize(offer.tool), offer.api, Form::Schema),
        category: offer.category,
        tool_name: offer.tool,
        api_name: &offer.api.name,
        score,
    }
}

fn to_json<'l>(listed: impl Iterator<Item = ListedFunction<'l>>) -> String {
    // Serializing strings and numbers does not fail.
    serde_json::to_string(&listed.collect::<Vec<_>>()).unwrap_or_default()
}
