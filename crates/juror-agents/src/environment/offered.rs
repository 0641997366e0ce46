//! Functions that stand for APIs, and finding them by name.

use std::sync::Arc;

use juror_models::Callable;
use juror_toolbench::names::{LONGEST_NAME, full_official_name, standard_name, standardize};
use juror_toolbench::{Form, Offer, TakenNames, function, function_names};

/// The API that a function calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The category.
    pub category: String,
    /// The tool's raw name.
    pub tool: String,
    /// The API's raw name.
    pub api: String,
    /// The tool's name in requests.
    pub standard_tool: String,
    /// The API's name in requests.
    pub standard_api: String,
}

/// A function in the list.
#[derive(Debug)]
pub(super) struct Offered {
    pub(super) callable: Callable,
    pub(super) target: Arc<Target>,
    /// Its official name before cutting.
    full_name: String,
}

impl Offered {
    fn new(name: &str, offer: &Offer<'_>, form: Form) -> Offered {
        let standard_tool = standardize(offer.tool);
        let signature = function(name, &standard_tool, offer.api, form).function;
        let callable =
            Callable::new(&signature.name, &signature.description, &signature.parameters);
        let target = Target {
            category: offer.category.to_owned(),
            tool: offer.tool.to_owned(),
            api: offer.api.name.clone(),
            standard_tool,
            standard_api: standard_name(&offer.api.name),
        };
        let full_name = full_official_name(offer.tool, &offer.api.name);
        Offered { callable, target: Arc::new(target), full_name }
    }

    fn is(&self, offer: &Offer<'_>) -> bool {
        let target = &*self.target;
        (&*target.category, &*target.tool, &target.api)
            == (offer.category, offer.tool, &offer.api.name)
    }
}

/// Makes the functions of APIs.
pub(super) fn offer_all(offers: &[Offer<'_>], form: Form) -> Vec<Arc<Offered>> {
    let offered = |(offer, name): (&Offer<'_>, String)| Arc::new(Offered::new(&name, offer, form));
    offers.iter().zip(function_names(offers)).map(offered).collect()
}

/// Returns the function of an API, adding it to the list if it is new.
pub(super) fn add<'o>(
    offered: &'o mut Vec<Arc<Offered>>,
    offer: &Offer<'_>,
    form: Form,
) -> &'o Offered {
    let at = offered.iter().position(|known| known.is(offer)).unwrap_or_else(|| {
        let names = offered.iter().map(|known| known.callable.name.clone());
        let name = TakenNames::new(names).add(offer);
        offered.push(Arc::new(Offered::new(&name, offer, form)));
        offered.len() - 1
    });
    &offered[at]
}

/// Finds a function by its exact name. A name that is as long as a cut one also finds the only
/// function whose uncut name ends with it.
pub(super) fn find<'o>(offered: &'o [Arc<Offered>], name: &str) -> Option<&'o Offered> {
    let exact = offered.iter().find(|offered| offered.callable.name == name);
    let cut = || {
        let is_cut = name.chars().count() == LONGEST_NAME;
        let mut ending = offered.iter().filter(|known| is_cut && known.full_name.ends_with(name));
        ending.next().filter(|_| ending.next().is_none())
    };
    exact.or_else(cut).map(|offered| &**offered)
}
