//! What an agent is told before it begins.

use std::collections::HashSet;
use std::fmt::Write;

use juror_json::python;
use juror_toolbench::names::standardize;

use super::Wording;
use juror_toolbench::Offer;

/// The length in characters that tool descriptions are cut to.
const LONGEST_DESCRIPTION: usize = 512;

/// Describes the task and lists the tools, each once, numbered in order of first appearance. If
/// there are none, says so to an agent that may search.
pub(super) fn describe(wording: &Wording, offers: &[Offer<'_>], has_search: bool) -> String {
    let list = if offers.is_empty() && has_search { &wording.no_tools } else { &wording.tools };
    let mut text = [wording.task.as_str(), list].concat();
    let mut told: HashSet<(&str, String)> = HashSet::new();
    for offer in offers {
        let tool = (offer.category, standardize(offer.tool));
        let name = tool.1.clone();
        if told.insert(tool) {
            let description = one_line(offer.tool_description);
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}.{name}: {description}", told.len());
        }
    }
    text
}

fn one_line(description: &str) -> String {
    let cut: String =
        description.chars().take(LONGEST_DESCRIPTION).filter(|c| *c != '\n').collect();
    match python::trim(&cut) {
        "" => "None".to_owned(),
        line => line.to_owned(),
    }
}
