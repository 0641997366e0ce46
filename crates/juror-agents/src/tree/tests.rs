use std::sync::Arc;

use juror_models::{Call, Said};
use serde_json::{Value, json};

use super::*;
use crate::environment::{Code, Environment, Observation, Setup};

fn prompts() -> Prompts {
    Prompts {
        system: "{{task}}".into(),
        user: "{{query}}".into(),
        again: "not {{candidates}}".into(),
        observed: "after {{observation}}".into(),
    }
}

fn environment() -> Arc<Environment> {
    Arc::new(Environment::new(&[], &Setup::default()))
}

fn tree() -> Tree {
    Tree::new(&prompts(), environment(), "q")
}

fn call(name: &str) -> Call {
    Call { id: format!("id of {name}"), name: name.into(), arguments: "{}".into() }
}

/// Says something, calls functions, and returns the node that leads to.
fn say(tree: &mut Tree, from: NodeId, words: Option<&str>, calls: &[(&str, Code)]) -> NodeId {
    let mut at = words.map_or(from, |words| tree.think(from, words));
    let mut places = Vec::new();
    for (name, code) in calls {
        let observation = Observation { text: format!("of {name}"), code: *code };
        at = tree.act(at, &call(name), observation, environment());
        places.push(at);
    }
    let calls = calls.iter().map(|(name, _)| call(name)).collect();
    let content = words.map(str::to_owned);
    tree.record(&Said { content, calls, provider: Vec::new() }, &places, at);
    at
}

fn spent() -> Spent {
    Spent { query: "q".into(), n_queries: 3, n_tokens: 30 }
}

fn chain_of(tree: Tree, end: NodeId) -> Search {
    let args = ChainArgs { single_chain_max_step: 9, pass_at: 1, answer: 1, max_query_count: 8 };
    Search::Chain { tries: vec![(tree, end)], args }
}

fn tree_of(tree: &Tree, answers: &[NodeId], given_up: &[NodeId]) -> Search {
    let args = TreeArgs {
        single_chain_max_step: 9,
        tree_beam_size: 2,
        max_query_count: 8,
        answer: 1,
        with_filter: false,
    };
    let (answers, given_up) = (answers.to_vec(), given_up.to_vec());
    Search::Tree { tree: tree.clone(), answers, given_up, args }
}

/// Returns the roles in each list of messages.
fn trained(raw: &Value) -> Vec<String> {
    let lists = raw["answer_generation"]["train_messages"].as_array().expect("lists");
    let role = |message: &Value| {
        let mark = if message["valid"] == json!(false) { "!" } else { "" };
        format!("{}{mark}", message["role"].as_str().expect("a role"))
    };
    let roles = |list: &Value| {
        let roles: Vec<String> = list.as_array().expect("a list").iter().map(role).collect();
        roles.join(" ")
    };
    lists.iter().map(roles).collect()
}

#[test]
fn a_chain_is_written_with_a_conversation_for_each_step() {
    let mut tree = tree();
    let first =
        say(&mut tree, Tree::ROOT, Some("look"), &[("a", Code::Done), ("x", Code::InventedName)]);
    let end = say(&mut tree, first, None, &[("Finish", Code::Answered)]);
    let raw = json!(RawAnswer::of(&chain_of(tree, end), spent()));
    assert_eq!((&raw["win"], &raw["try_count"]), (&json!(true), &json!(1)));
    let chain = raw["trys"][0]["chain"].as_array().expect("nodes");
    let kinds: Vec<&str> =
        chain.iter().map(|node| node["node_type"].as_str().expect("a type")).collect();
    let wanted =
        ["Thought", "Action", "Action Input", "Action", "Action Input", "Action", "Action Input"];
    assert_eq!(kinds, wanted);
    assert_eq!(chain[6]["is_terminal"], json!(true));
    assert_eq!(chain[4]["observation_code"], json!(1));
    let lists = trained(&raw);
    assert_eq!(lists.len(), 3, "one a call");
    assert_eq!(lists[0], "system user assistant");
    assert_eq!(lists[2], "system user assistant tool tool assistant");
    let said = &raw["answer_generation"]["train_messages"][0][2];
    assert_eq!(said["tool_calls"][1]["function"]["name"], json!(INVENTED));
    assert_eq!(raw["forward_args"]["max_query_count"], json!(8));
}

#[test]
fn a_tree_is_written_with_the_last_question_alone() {
    let mut tree = tree();
    let first = say(&mut tree, Tree::ROOT, None, &[("a", Code::Done)]);
    say(&mut tree, first, None, &[("Finish", Code::GaveUp)]);
    assert!(tree.ask_for_another(Tree::ROOT, &prompts()));
    tree.take_question_back(Tree::ROOT);
    let second = say(&mut tree, Tree::ROOT, None, &[("b", Code::Done)]);
    let third = say(&mut tree, second, None, &[("c", Code::Done)]);
    assert!(tree.ask_for_another(second, &prompts()));
    tree.take_question_back(second);
    let end = say(&mut tree, second, None, &[("Finish", Code::Answered)]);
    tree.finish(end, 2);
    assert!(!tree.node(third).is_finished && tree.node(Tree::ROOT).is_finished);
    let raw = json!(RawAnswer::of(&tree_of(&tree, &[end], &[]), spent()));
    assert_eq!((&raw["tree"]["size"], &raw["tree"]["max_length"]), (&json!(11), &json!(5)));
    assert_eq!(raw["tree"]["tree"]["child_count"], json!(2));
    let wanted = ["system user user! assistant", "system user assistant tool user! assistant"];
    assert_eq!(trained(&raw), wanted);
    let question = &raw["answer_generation"]["train_messages"][1][4]["content"];
    assert!(question.as_str().expect("a text").ends_with("]\nafter of b"), "{question}");
}

#[test]
fn without_an_answer_the_first_place_given_up_is_told() {
    let mut tree = tree();
    let one = say(&mut tree, Tree::ROOT, Some("one"), &[("Finish", Code::GaveUp)]);
    let two = say(&mut tree, Tree::ROOT, Some("two"), &[("Finish", Code::GaveUp)]);
    let raw = json!(RawAnswer::of(&tree_of(&tree, &[], &[one, two]), spent()));
    let generation = &raw["answer_generation"];
    assert_eq!((&raw["win"], &generation["valid_data"]), (&json!(false), &json!(true)));
    assert_eq!(generation["finish_type"], json!("give_up"));
    assert_eq!(generation["train_messages"][0][2]["content"], json!("one"));
    let raw = json!(RawAnswer::of(&tree_of(&tree, &[], &[]), spent()));
    assert_eq!(raw["answer_generation"]["valid_data"], json!(false));
    assert_eq!(raw["answer_generation"].get("train_messages"), None);
}

#[test]
fn what_is_finished_ends_after_two_further_calls() {
    let mut tree = tree();
    let mut at = Tree::ROOT;
    let mut places = Vec::new();
    for name in ["a", "b", "c", "d"] {
        at = say(&mut tree, at, None, &[(name, Code::Done)]);
        places.push(at);
    }
    tree.finish(at, 2);
    let finished: Vec<bool> = places.iter().map(|id| tree.node(*id).is_finished).collect();
    assert_eq!(finished, [false, true, true, true]);
}

#[test]
fn nothing_is_asked_again_where_nothing_was_called() {
    let mut tree = tree();
    assert!(!tree.ask_for_another(Tree::ROOT, &prompts()));
    tree.fail(Tree::ROOT, "no reply");
    assert!(!tree.ask_for_another(Tree::ROOT, &prompts()));
    assert_eq!(tree.node(Tree::ROOT).messages.len(), 2);
}
