//! What an agent is told before it begins.

use std::fmt::Write;

use super::offer::Offer;
use crate::tool::function::python_trim;
use crate::tool::names::standardize;

/// Descriptions of tools are cut to this many characters.
const LONGEST_DESCRIPTION: usize = 512;

/// The task, followed by the tools, each once, numbered in the order they first come in.
pub(super) fn describe(task: &str, offers: &[Offer<'_>]) -> String {
    let mut text = task.to_owned();
    let mut told: Vec<(&str, String)> = Vec::new();
    for offer in offers {
        let tool = (offer.category, standardize(offer.tool));
        if told.contains(&tool) {
            continue;
        }
        let description = one_line(offer.tool_description);
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}.{}: {description}", told.len() + 1, tool.1);
        told.push(tool);
    }
    text
}

fn one_line(description: &str) -> String {
    let cut: String =
        description.chars().take(LONGEST_DESCRIPTION).filter(|c| *c != '\n').collect();
    match python_trim(&cut) {
        "" => "None".to_owned(),
        line => line.to_owned(),
    }
}
