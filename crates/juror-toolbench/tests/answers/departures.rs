//! Places where the public systems are wrong, and what is right instead.

use juror_toolbench::answer::{Thoughts, answer_id, convert, read_answer};
use serde_json::{Value, json};

use crate::reading::{document, written};
use crate::{Checked, same, text};

/// Nothing for those that a server, a search, a pool of tools or an agent has to get right.
pub(crate) fn check(case: &Value) -> Option<Checked> {
    conversion(case)
        .or_else(|| finish(case))
        .or_else(|| crate::calls::departure(case))
        .or_else(|| crate::judging::departure(case))
        .or_else(|| crate::results::departure(case))
}

fn messages(of_agent: &Value) -> Value {
    let opening = json!([{"role": "system", "content": ""}, {"role": "user", "content": ""}]);
    let mut messages = opening.as_array().expect("a list").clone();
    messages.extend(of_agent.as_array().expect("a list").iter().cloned());
    json!({"answer_generation": {"valid_data": true, "final_answer": "", "function": [],
        "query": "q", "train_messages": [messages]}})
}

/// The roles and names of what comes of messages.
fn shown(log: &Value, thoughts: Thoughts) -> Result<Vec<String>, String> {
    let document = document(&log.to_string());
    let recorded =
        convert(&document, "CoT@1", thoughts).map_err(|problems| problems.to_string())?;
    written(&recorded)?;
    let node = |node: &juror_toolbench::answer::Node<'_>| {
        node.called_name().map_or_else(|| node.role.to_string(), std::borrow::Cow::into_owned)
    };
    Ok(recorded.answer.nodes[2..].iter().map(node).collect())
}

fn call(id: &str, name: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}})
}

fn conversion(case: &Value) -> Option<Checked> {
    let check = |of_agent: Value, thoughts: Thoughts, wanted: &[&str]| -> Checked {
        same(&json!(shown(&messages(&of_agent), thoughts)?), &json!(wanted))
    };
    let reply = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "r"});
    let thinking = || {
        let calls = json!([call("1", "a")]);
        json!([{"role": "assistant", "content": "hm", "tool_calls": calls}, reply("1")])
    };
    Some(match text(&case["id"]) {
        "dep-conv-1" => the_first_is_taken(),
        "dep-conv-2" => check(thinking(), Thoughts::Dropped, &["a"])
            .and_then(|()| check(thinking(), Thoughts::Kept, &["assistant", "a"])),
        "dep-conv-3" => {
            let of_agent = json!([{"role": "assistant", "content": "x", "tool_calls": []},
                {"role": "assistant", "tool_calls": [call("1", "a"), call("2", "b")]}, reply("2")]);
            check(of_agent, Thoughts::Dropped, &["b"])
        }
        "dep-conv-4" => {
            let calls = json!([call("1", "a"), call("2", "Finish"), call("3", "b")]);
            let of_agent =
                json!([{"role": "assistant", "tool_calls": calls}, reply("1"), reply("3")]);
            check(of_agent, Thoughts::Dropped, &["a", "Finish"])
        }
        "dep-conv-5" => {
            let id = |name| json!(answer_id(name, "CoT@1"));
            same(&id("588_CoT@1.json"), &json!("588"))
                .and_then(|()| same(&id("588_CoT@10.json"), &json!(null)))
        }
        "dep-conv-6" => {
            let calls = json!([call("1", "Finish")]);
            let of_agent =
                json!([{"role": "assistant", "function_call": null, "tool_calls": calls}]);
            check(of_agent, Thoughts::Dropped, &["Finish"])
        }
        _ => return None,
    })
}

fn the_first_is_taken() -> Checked {
    let node = |kind: &str, said: &str, children: Value| {
        json!({"node_type": kind, "description": said,
        "children": children, "observation": "o"})
    };
    let call = |name: &str, children: Value| {
        node("Action", name, json!([node("Action Input", "{}", children)]))
    };
    let tree = node(
        "Action Input",
        "",
        json!([
            call("a", json!([call("b", json!([])), call("c", json!([]))])),
            call("d", json!([]))
        ]),
    );
    let log = json!({"answer_generation": {"valid_data": false}, "tree": {"tree": tree}});
    same(&json!(shown(&log, Thoughts::Dropped)?), &json!(["a", "b"]))?;
    let tries = json!([{"chain": [node("Thought", "t", json!([]))]}, {"chain": []}]);
    let log = json!({"answer_generation": {"valid_data": false}, "trys": tries});
    same(&json!(shown(&log, Thoughts::Dropped)?), &json!(["assistant"]))
}

fn finish(case: &Value) -> Option<Checked> {
    let has_finish = |details: Value| {
        let answer = json!({"answer": {"final_answer": "", "answer_details": details}}).to_string();
        read_answer(&answer).map(|answer| answer.has_finish())
    };
    let node = |message: Value| json!({"role": "tool", "message": message, "next": []});
    let finish = json!({"name": "Finish", "arguments": {}, "response": ""});
    let wanted = &case["recommended_value"];
    Some(match text(&case["id"]) {
        "dep-finish-1" => same(&json!(has_finish(json!([node(finish)]))), wanted),
        "dep-finish-2" => {
            same(&json!(has_finish(json!([node(json!(finish.to_string()))]))), wanted)
        }
        "dep-finish-3" => {
            let nodes = ["a", "b", "Finish"].map(|name| node(json!({"name": name})));
            let answer = json!({"answer_details": nodes}).to_string();
            let answer = read_answer(&answer)?;
            same(&json!(answer.called_names().collect::<Vec<_>>()), &json!(["a", "b", "Finish"]))
        }
        "dep-finish-4" => {
            let nodes =
                json!([node(json!("x")), node(json!([1])), node(json!(null)), node(finish)]);
            same(&json!(has_finish(nodes)), &json!(true))
        }
        "dep-legacy-1" => {
            let cut = json!("{'name': 'Finish', 'arguments': '{\n  \"return_type\": \"give");
            same(&json!(has_finish(json!([node(cut)]))), &json!(true))
        }
        // Both shapes of functions are read for every legacy answer; nothing can be written to.
        "dep-legacy-2" => Ok(()),
        _ => return None,
    })
}
