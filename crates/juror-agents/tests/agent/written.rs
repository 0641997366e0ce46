//! Models that write calls into their text, or call nothing at all.

use std::sync::Arc;

use juror_agents::chat_agent::{
    AgentLimits, ChatAgent, Ending, Tools, Transcript, prompts, wording,
};
use juror_agents::environment::{Environment, Setup};
use juror_models::Message;

use crate::scripted::{Script, Shelf, block_on, calls, environment, setup};

const FINISH: &str = "```json\n{\"name\": \"Finish\", \"arguments\": {\"return_type\": \"give_answer\", \"final_answer\": \"done\"}}\n```";

fn run(method: &str, script: &Script, tools: &dyn Tools, environment: Environment) -> Transcript {
    let method = method.parse().expect("a method");
    let agent = ChatAgent { method, limits: AgentLimits::default(), prompts: prompts() };
    block_on(agent.answer("q", environment, script, tools)).expect("asking goes on")
}

fn shelf() -> Shelf {
    Shelf::new(&[("get_x", r#"{"error": "", "response": "X"}"#)])
}

#[test]
fn calls_in_the_text_of_a_model_are_made() {
    for method in ["CoT@1", "DFS_woFilter_w2"] {
        let text = "I look it up.\n<tool_call>{\"name\": \"get_x_for_t\", \"arguments\": {\"a\": 1}}</tool_call>";
        let script = Script::new([calls(Some(text), &[]), calls(Some(FINISH), &[])]);
        let tools = shelf();
        let attempt = run(method, &script, &tools, environment(&["get_x_for_t"], &setup("")));
        assert_eq!(attempt.ending, Ending::Answered("done".into()), "{method}");
        assert_eq!((attempt.n_written_calls, attempt.is_idle), (2, false));
        let called = tools.called.lock().expect("a list").clone();
        assert_eq!(called, [("get_x".to_owned(), r#"{"a":1}"#.to_owned())]);
        // The model sees its words, its call and what came of it, as with a call of its own.
        let asked = script.last_asked();
        let [.., said, result] = &asked[..] else { panic!("{asked:?}") };
        let Message::Assistant(said) = &**said else { panic!("{said:?}") };
        assert_eq!(said.content.as_deref(), Some("I look it up."));
        let Message::Tool { call_id, content, .. } = &**result else { panic!("{result:?}") };
        assert_eq!(*call_id, said.calls[0].id);
        assert!(content.contains('X'), "{content}");
    }
}

#[test]
fn a_model_that_calls_nothing_is_asked_three_times_and_no_more() {
    for method in ["CoT@1", "CoT@5", "DFS_woFilter_w2"] {
        let script = Script::new((0..9).map(|_| calls(Some("It is warm."), &[])));
        let attempt = run(method, &script, &shelf(), environment(&["get_x_for_t"], &setup("")));
        assert_eq!(script.n_asked(), 3, "{method}");
        assert_eq!((attempt.ending, attempt.is_idle), (Ending::RanOut, true), "{method}");
    }
}

#[test]
fn words_between_calls_do_not_stop_an_agent() {
    let words = || [calls(Some("Hm."), &[]), calls(None, &[])];
    let call = || [calls(None, &[("get_x_for_t", "{}")])];
    let end = [calls(Some(FINISH), &[])];
    let script =
        Script::new(words().into_iter().chain(call()).chain(words()).chain(call()).chain(end));
    let attempt = run("CoT@1", &script, &shelf(), environment(&["get_x_for_t"], &setup("")));
    assert_eq!(attempt.ending, Ending::Answered("done".into()));
    assert_eq!((attempt.n_written_calls, script.n_asked()), (1, 7));
}

#[test]
fn an_agent_that_may_search_is_told_so_and_promised_no_list() {
    let system = |offered: &[&str], has_search: bool| {
        let setup = Setup { wording: wording(), has_search, ..Setup::default() };
        let script = Script::new([calls(Some(FINISH), &[])]);
        run("CoT@1", &script, &shelf(), environment(offered, &setup));
        let asked: Vec<Arc<Message>> = script.last_asked();
        let Message::System(text) = &*asked[0] else { panic!("{asked:?}") };
        text.trim_end().to_owned()
    };
    let open = system(&[], true);
    assert!(open.contains("Look for those you need with `search_tools`"), "{open}");
    assert!(!open.contains("belong to these tools"), "{open}");
    let listed = system(&["get_x_for_t"], false);
    assert!(listed.contains("belong to these tools") && listed.ends_with("1.t: None"), "{listed}");
    assert!(!listed.contains("search_tools"), "{listed}");
}
