//! APIs by name, however it is written: whoever knows an API's name finds it first.

use hashbrown::HashMap;
use juror_toolbench::Tool;

/// The APIs of a name; their numbers rise.
pub(super) struct Names(HashMap<String, Vec<u32>>);

impl Names {
    /// The API's name alone, after its tool's, and with `for` before its tool's.
    pub(super) fn new(tools: &[Tool]) -> Names {
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
        // What has no letters is not a name: an empty query would be it.
        names.remove("");
        Names(names)
    }

    pub(super) fn get(&self, query: &str) -> &[u32] {
        self.0.get(&plain(query)).map_or(&[], Vec::as_slice)
    }
}

/// Letters and digits alone, in lower case.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
