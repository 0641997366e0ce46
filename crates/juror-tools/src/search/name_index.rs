//! Finds APIs by name, in any spelling: a query that is an API's name returns it first.

use hashbrown::HashMap;
use juror_toolbench::Tool;

/// The numbers of the APIs with a name, in ascending order.
pub(super) struct NameIndex(HashMap<String, Vec<u32>>);

impl NameIndex {
    /// Indexes each API by its name alone, after its tool's name, and before `for` and its tool's
    /// name.
    pub(super) fn new(tools: &[Tool]) -> NameIndex {
        let mut names: HashMap<String, Vec<u32>> = HashMap::new();
        let mut number = 0;
        for tool in tools {
            let tool_name = plain(&tool.name);
            for api in &tool.apis {
                let name = plain(&api.name);
                for form in [format!("{tool_name}{name}"), format!("{name}for{tool_name}"), name] {
                    let numbers = names.entry(form).or_default();
                    if numbers.last() != Some(&number) {
                        numbers.push(number);
                    }
                }
                number += 1;
            }
        }
        // Names without letters or digits would match the empty query.
        names.remove("");
        NameIndex(names)
    }

    pub(super) fn get(&self, query: &str) -> &[u32] {
        self.0.get(&plain(query)).map_or(&[], Vec::as_slice)
    }
}

/// Returns the letters and digits of a name, in lower case.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
