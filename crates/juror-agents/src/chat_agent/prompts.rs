//! The built-in agent's prompts.

use crate::environment::Wording;
use crate::tree::Prompts;

/// Returns the prompts that define the model's role and what to do.
pub fn prompts() -> Prompts {
    Prompts {
        system: include_str!("../../prompts/system.md").trim_end().to_owned(),
        user: include_str!("../../prompts/user.md").trim_end().to_owned(),
        again: include_str!("../../prompts/again.md").trim_end().to_owned(),
        observed: include_str!("../../prompts/observed.md").to_owned(),
    }
}

/// Returns the texts that describe the task and the functions that come with every query.
pub fn wording() -> Wording {
    let text = |text: &str| text.trim_end().replace('\n', " ");
    Wording {
        task: include_str!("../../prompts/task.md").to_owned(),
        tools: include_str!("../../prompts/tools.md").to_owned(),
        no_tools: include_str!("../../prompts/no_tools.md").to_owned(),
        finish: text(include_str!("../../prompts/finish.md")),
        final_answer: text(include_str!("../../prompts/final_answer.md")),
        search: text(include_str!("../../prompts/search.md")),
    }
}
