//! The texts that an agent is asked in.

use juror_score::tool::agent::Prompts;
use juror_score::tool::environment::Wording;

/// What the model is told to be and to do.
pub fn prompts() -> Prompts {
    Prompts {
        system: include_str!("../../../prompts/agent/system.md").trim_end().to_owned(),
        user: include_str!("../../../prompts/agent/user.md").trim_end().to_owned(),
        again: include_str!("../../../prompts/agent/again.md").trim_end().to_owned(),
        observed: include_str!("../../../prompts/agent/observed.md").to_owned(),
    }
}

/// What it is told of its task and of the functions that come with every query.
pub fn wording() -> Wording {
    let text = |text: &str| text.trim_end().replace('\n', " ");
    Wording {
        task: include_str!("../../../prompts/agent/task.md").to_owned(),
        tools: include_str!("../../../prompts/agent/tools.md").to_owned(),
        no_tools: include_str!("../../../prompts/agent/no_tools.md").to_owned(),
        finish: text(include_str!("../../../prompts/agent/finish.md")),
        final_answer: text(include_str!("../../../prompts/agent/final_answer.md")),
        search: text(include_str!("../../../prompts/agent/search.md")),
    }
}
