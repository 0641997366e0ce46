//! What an agent does, one rule at a time.

use juror_agents::chat_agent::{
    AgentLimits, AskError, ChatAgent, Ending, Method, Reply, Stopped, Transcript, prompts,
};
use juror_agents::environment::{Code, Setup};
use juror_agents::tree::INVENTED;
use juror_models::Message;
use juror_toolbench::Offer;
use serde_json::json;

use crate::scripted::{Script, Shelf, api, block_on, calls, environment, setup};

const ANSWER: &str = r#"{"return_type": "give_answer", "final_answer": "Oslo"}"#;
const GIVE_UP: &str = r#"{"return_type": "give_up_and_restart"}"#;
const DATA: &str = r#"{"error": "", "response": "data"}"#;

fn shelf() -> Shelf {
    Shelf::new(&[("a", DATA), ("b", DATA)])
}

fn agent(method: &str, max_steps: usize, max_queries: usize) -> ChatAgent {
    let limits = AgentLimits { max_steps, max_queries, max_idle: usize::MAX };
    ChatAgent { method: method.parse().expect("a method"), limits, prompts: prompts() }
}

fn run_with(
    agent: &ChatAgent,
    script: &Script,
    tools: &Shelf,
    setup: &Setup,
) -> Result<Transcript, Stopped> {
    let environment = environment(&["a_for_t", "b_for_u"], setup);
    block_on(agent.answer("Which city?", environment, script, tools))
}

fn run(method: &str, replies: Vec<Result<Reply, AskError>>) -> (Transcript, Script, Shelf) {
    let (script, tools) = (Script::new(replies), shelf());
    let attempt = run_with(&agent(method, 20, 20), &script, &tools, &setup("Do.\n"));
    (attempt.expect("asking goes on"), script, tools)
}

const METHODS: [&str; 2] = ["CoT@1", "DFS_woFilter_w2"];

#[test]
fn several_calls_at_once_are_made_in_order() {
    for method in METHODS {
        let replies = vec![
            calls(Some("both"), &[("a_for_t", "{\"q\": 1}"), ("b_for_u", "not JSON")]),
            calls(None, &[("Finish", ANSWER)]),
        ];
        let (attempt, script, tools) = run(method, replies);
        assert_eq!(attempt.ending, Ending::Answered("Oslo".into()), "{method}");
        let called = tools.called.lock().expect("a list").clone();
        let wanted = [("a", "{\"q\": 1}"), ("b", "not JSON")];
        assert_eq!(called, wanted.map(|(api, text)| (api.to_owned(), text.to_owned())));
        let roles: Vec<&str> = script.last_asked().iter().map(|message| message.role()).collect();
        assert_eq!(roles, ["system", "user", "assistant", "tool", "tool"], "{method}");
        let made: Vec<(&str, Code)> =
            attempt.calls.iter().map(|call| (&*call.target.api, call.code)).collect();
        assert_eq!(made, [("a", Code::Done), ("b", Code::Done)]);
    }
}

#[test]
fn nothing_is_done_after_an_end() {
    for method in METHODS {
        let replies = vec![calls(None, &[("Finish", ANSWER), ("a_for_t", "{}")])];
        let (attempt, _, tools) = run(method, replies);
        assert_eq!(attempt.ending, Ending::Answered("Oslo".into()), "{method}");
        assert!(tools.called.lock().expect("a list").is_empty(), "{method}");
        assert_eq!(json!(attempt.raw())["answer_generation"]["final_answer"], json!(ANSWER));
    }
}

#[test]
fn a_wrong_end_is_no_end() {
    for method in METHODS {
        let replies = vec![
            calls(None, &[("Finish", "{}"), ("a_for_t", "{}")]),
            calls(None, &[("Finish", ANSWER)]),
        ];
        let (attempt, _, tools) = run(method, replies);
        assert_eq!(attempt.ending, Ending::Answered("Oslo".into()), "{method}");
        assert_eq!(tools.called.lock().expect("a list").len(), 1, "{method}");
    }
}

#[test]
fn invented_names_are_not_shown_again() {
    for method in METHODS {
        let replies = vec![
            calls(None, &[("a_for_t", "{}"), ("made_up", "{}")]),
            calls(None, &[("Finish", ANSWER)]),
        ];
        let (attempt, script, _) = run(method, replies);
        assert_eq!(attempt.calls.len(), 1, "{method}");
        let asked = script.last_asked();
        let Message::Assistant(said) = &*asked[2] else { panic!("{asked:?}") };
        assert_eq!(said.calls[1].name, INVENTED);
        let Message::Tool { name, content, .. } = &*asked[4] else { panic!("{asked:?}") };
        assert_eq!(name, INVENTED);
        assert!(content.contains("No such function name: made_up"), "{content}");
        let raw = json!(attempt.raw()).to_string();
        assert!(raw.contains("\"description\":\"made_up\""), "the tree has what was said");
    }
}

#[test]
fn replies_that_say_nothing_are_steps_and_questions() {
    let nothing = || calls(None, &[]);
    let chain = agent("CoT@2", 3, 20);
    let script = Script::new((0..20).map(|_| nothing()));
    let attempt = run_with(&chain, &script, &shelf(), &setup("")).expect("asking goes on");
    assert_eq!((attempt.n_queries, attempt.ending), (6, Ending::RanOut), "three steps a try");

    for (method, n_asked) in [("CoT@9", 5), ("DFS_woFilter_w9", 5)] {
        let script = Script::new((0..20).map(|_| nothing()));
        let agent = agent(method, 100, 5);
        let attempt = run_with(&agent, &script, &shelf(), &setup("")).expect("asking goes on");
        assert_eq!((attempt.n_queries, &attempt.ending), (n_asked, &Ending::RanOut), "{method}");
    }
}

#[test]
fn a_chain_begins_again_after_giving_up() {
    let replies = || {
        vec![
            calls(None, &[("Finish", GIVE_UP), ("a_for_t", "{}")]),
            calls(None, &[("Finish", ANSWER)]),
        ]
    };
    let (attempt, _, _) = run("CoT@2", replies());
    assert_eq!(attempt.ending, Ending::Answered("Oslo".into()));
    assert_eq!(json!(attempt.raw())["try_count"], json!(2));
    let (attempt, script, _) = run("CoT@1", replies());
    assert_eq!((attempt.ending, script.n_asked()), (Ending::GaveUp, 1));
}

#[test]
fn a_search_goes_back_past_the_call_that_led_to_giving_up() {
    let replies = vec![
        calls(None, &[("a_for_t", "{}")]),
        calls(None, &[("Finish", GIVE_UP)]),
        calls(None, &[("b_for_u", "{}")]),
        calls(None, &[("Finish", ANSWER)]),
    ];
    let (attempt, script, _) = run("DFS_woFilter_w2", replies);
    assert_eq!(attempt.ending, Ending::Answered("Oslo".into()));
    let third = script.asked.lock().expect("a list")[2].clone();
    assert_eq!(third.len(), 3, "back at the root");
    let Message::User { content, is_valid: true } = &*third[2] else { panic!("{third:?}") };
    assert!(content.contains("\"name\": \"a_for_t\""), "{content}");
    let seen: Vec<bool> = script.last_asked().iter().map(|message| message.is_valid()).collect();
    assert_eq!(seen, [true, true, false, true, true], "the question was for once");
}

#[test]
fn steps_are_limited() {
    for method in METHODS {
        let script = Script::new((0..50).map(|_| calls(Some("on"), &[("a_for_t", "{}")])));
        let agent = agent(method, 6, 200);
        let attempt = run_with(&agent, &script, &shelf(), &setup("")).expect("asking goes on");
        assert_eq!(attempt.ending, Ending::RanOut, "{method}");
        assert_eq!(attempt.n_queries, if method == "CoT@1" { 2 } else { 6 }, "{method}");
    }
}

#[test]
fn questions_are_limited() {
    for (method, n_followed) in [("CoT@9", 3), ("DFS_woFilter_w9", 2)] {
        let script = Script::new((0..50).map(|_| calls(None, &[("a_for_t", "{}")])));
        let tools = shelf();
        let agent = agent(method, 100, 3);
        let attempt = run_with(&agent, &script, &tools, &setup("")).expect("asking goes on");
        assert_eq!((script.n_asked(), attempt.ending), (3, Ending::RanOut), "{method}");
        assert_eq!(tools.called.lock().expect("a list").len(), n_followed, "{method}");
    }
}

#[test]
fn calls_in_one_reply_are_limited() {
    let many: Vec<(&str, &str)> = (0..1000).map(|_| ("a_for_t", "{}")).collect();
    let (attempt, _, _) = run("CoT@1", vec![calls(None, &many)]);
    assert_eq!(attempt.calls.len(), 128);
}

#[test]
fn a_model_that_does_not_reply_ends_a_try() {
    let fail = || Err(AskError::Failed("no reply within 60 s".into()));
    let (attempt, _, _) = run("CoT@2", vec![fail(), calls(None, &[("Finish", ANSWER)])]);
    assert_eq!(attempt.ending, Ending::Answered("Oslo".into()));
    assert_eq!(attempt.failures, ["no reply within 60 s"]);
    let (attempt, _, _) = run("DFS_woFilter_w2", vec![fail(), fail()]);
    assert_eq!(attempt.ending, Ending::Failed("no reply within 60 s".into()));
    let root = &json!(attempt.raw())["tree"]["tree"];
    assert_eq!(root["children"][0]["observation_code"], json!(-1));
    assert_eq!(root["children"][0]["description"], json!("no reply within 60 s"));
}

#[test]
fn when_asking_stops_the_query_is_open() {
    for method in METHODS {
        let stop = Stopped("the cost ceiling is reached".into());
        let script = Script::new([calls(None, &[("a_for_t", "{}")]), Err(stop.clone().into())]);
        let outcome = run_with(&agent(method, 20, 20), &script, &shelf(), &setup(""));
        assert_eq!(outcome.map(|attempt| attempt.ending), Err(stop), "{method}");
    }
}

#[test]
fn tools_that_fail_are_told_of() {
    for method in METHODS {
        let (script, tools) = (
            Script::new([calls(None, &[("a_for_t", "{}")]), calls(None, &[("Finish", ANSWER)])]),
            Shelf::default(),
        );
        let attempt = run_with(&agent(method, 20, 20), &script, &tools, &setup(""));
        let attempt = attempt.expect("asking goes on");
        assert_eq!(attempt.calls[0].code, Code::TimedOut);
        assert_eq!(attempt.ending, Ending::Answered("Oslo".into()), "{method}");
    }
}

#[test]
fn what_a_search_finds_can_be_called_on_its_branch_alone() {
    let found = api("Found");
    let offer =
        Offer { category: "Data", tool: "t", tool_description: "", api: &found, name: None };
    let mut tools = Shelf::new(&[("found", DATA)]);
    tools.found = vec![offer.into()];
    let script = Script::new([
        calls(None, &[("search_tools", r#"{"query": "cities", "k": 3}"#)]),
        calls(None, &[("found_for_t", "{}")]),
        calls(None, &[("Finish", GIVE_UP)]),
        calls(None, &[("found_for_t", "{}")]),
        calls(None, &[("Finish", GIVE_UP)]),
        calls(None, &[("found_for_t", "{}")]),
        calls(None, &[("Finish", ANSWER)]),
    ]);
    let setup = Setup { has_search: true, ..setup("") };
    let attempt = run_with(&agent("DFS_woFilter_w2", 20, 20), &script, &tools, &setup);
    let attempt = attempt.expect("asking goes on");
    assert_eq!(attempt.ending, Ending::Answered("Oslo".into()));
    assert_eq!(tools.searched.lock().expect("a list")[0].query, "cities");
    let own = ["a_for_t", "b_for_u", "search_tools", "Finish"];
    let more = ["a_for_t", "b_for_u", "found_for_t", "search_tools", "Finish"];
    let offered = script.offered.lock().expect("a list").clone();
    assert_eq!(offered[0], own);
    assert_eq!(offered[1], more);
    // Searched, called, given up: back where the search's result is known.
    assert_eq!(offered[3], more);
    let last = attempt.calls.last().expect("a call");
    assert_eq!(last.target.api, "Found");
    let raw = json!(attempt.raw());
    let functions = raw["answer_generation"]["function"].as_array().expect("a list");
    assert_eq!(functions.len(), 5, "all that could be called anywhere");
}

#[test]
fn attempts_can_be_made_on_any_thread() {
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    let (script, tools) = (Script::new([calls(None, &[("Finish", ANSWER)])]), shelf());
    let agent = agent("DFS_woFilter_w2", 20, 20);
    let environment = environment(&["a_for_t"], &setup(""));
    let attempt = is_send(agent.answer("q", environment, &script, &tools));
    assert!(block_on(attempt).is_ok());
}

#[test]
fn our_own_words_have_all_places() {
    let words = prompts();
    for (text, place) in [
        (&words.system, "{{task}}"),
        (&words.user, "{{query}}"),
        (&words.again, "{{candidates}}"),
        (&words.observed, "{{observation}}"),
    ] {
        assert_eq!(text.matches(place).count(), 1, "{text}");
    }
    assert_eq!("CoT@1".parse(), Ok(Method::Chain { tries: 1 }));
}
