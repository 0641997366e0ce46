//! API Call Score.

use juror_json::Object;
use juror_toolbench::answer::read_answer;
use juror_toolbench::{CallScore, Called, Query, called_apis, read_queries};
use serde_json::{Value, json};

use crate::reading::{document, field};
use crate::{Checked, same, text};

fn query(json: &str) -> Query {
    read_queries(&document(&format!("[{json}]"))).0.remove(0)
}

/// The pairs of what was called, and how that scores.
fn score(query: &Query, answer: &str) -> Option<(Vec<Value>, CallScore)> {
    let (answer, registry) = (read_answer(answer)?, query.registry());
    let called = called_apis(&answer, &[&registry]);
    let shown = |called: &Called<'_>| match called {
        Called::Api(tool, api) => json!([tool, api]),
        Called::Unknown(_) => Value::Null,
    };
    Some((called.iter().map(shown).collect(), CallScore::of(&called, &query.gold)))
}

/// APIs of the pool alone are unknown here; with the pool, the tests of tools look them up.
pub(crate) fn api_score(input: &Object<'_>, wanted: &Value) -> Checked {
    let query = query(field(input, "query"));
    let (called, score) = score(&query, field(input, "answer")).ok_or("no answer")?;
    same(&json!(score.score().unwrap_or(0.0)), &wanted["score"])?;
    if let Some(precision) = wanted.get("precision") {
        same(&json!(score.precision()), precision)?;
        same(&json!(score.n_other_calls), &wanted["other_calls"])?;
    }
    let is_own = |pair: &&Value| {
        query.apis.iter().any(|of| **pair == json!([of.tool, of.api.name]))
            || query.gold.iter().any(|gold| **pair == json!(gold))
    };
    let wanted = wanted["called_apis"].as_array().expect("a list").iter();
    let wanted: Vec<&Value> =
        wanted.map(|pair| Some(pair).filter(is_own).unwrap_or(&Value::Null)).collect();
    same(&json!(called), &json!(wanted))
}

pub(crate) fn departure(case: &Value) -> Option<Checked> {
    let example = query(
        r#"{"relevant APIs": [["TheClique", "Transfermarkt details"], ["A_v3", "Get b"]],
            "api_list": [{"tool_name": "TheClique", "api_name": "Transfermarkt details"},
                {"tool_name": "A_v3", "api_name": "Get b"}]}"#,
    );
    let score_of = |query: &Query, messages: &[Value]| {
        let node = |message: &Value| json!({"role": "tool", "message": message, "next": []});
        let details: Vec<Value> = messages.iter().map(node).collect();
        let answer = json!({"answer": {"answer_details": details}}).to_string();
        json!(score(query, &answer).and_then(|(_, score)| score.score()))
    };
    let names = |names: [&str; 2]| names.map(|name| json!(json!({"name": name}).to_string()));
    let document_form = names(["TheClique_Transfermarkt details", "A_v3_Get b"]);
    let is_one = |messages: &[Value]| same(&score_of(&example, messages), &json!(1.0));
    Some(match text(&case["id"]) {
        "dep-api-1" => is_one(&document_form),
        "dep-api-2" => is_one(&names(["transfermarkt_details_for_theclique", "get_b_for_a_v3"])),
        "dep-api-3" => is_one(&names(["TheClique_Transfermarkt_details", "A_v3_Get_b"])),
        "dep-api-4" => is_one(
            &["transfermarkt_details_for_theclique", "get_b_for_a_v3"]
                .map(|name| json!({"name": name, "arguments": "{}", "response": ""})),
        ),
        "dep-api-5" => {
            let query = query(r#"{"api_list": [{"tool_name": "T", "api_name": "a"}]}"#);
            same(&json!(query.gold), &json!([["T", "a"]]))
        }
        // There is one scorer.
        "dep-api-6" => is_one(&document_form),
        "dep-api-7" => {
            let odd = [json!("[1]"), json!("\"x\""), json!("null"), json!("5"), json!(null)];
            is_one(&[odd.as_slice(), document_form.as_slice()].concat())
        }
        "dep-api-8" => {
            let query = query(
                r#"{"relevant APIs": [["T", "a"], ["T", "a"], ["T", "b"]], "api_list":
                    [{"tool_name": "T", "api_name": "a", "category_name": "X"},
                     {"tool_name": "T", "api_name": "a", "category_name": "Y"}]}"#,
            );
            same(&score_of(&query, &names(["T_a", "T_a"])), &json!(0.5))
        }
        "dep-load-10" => {
            let answer = json!({"answer": {"answer_details": [{"role": "tool",
                "message": document_form[0]}]}, "called_apis": []});
            let (called, _) = score(&example, &answer.to_string())?;
            let mut told = answer;
            told["called_apis"] = json!([["A_v3", "Get b"]]);
            let (called_as_told, _) = score(&example, &told.to_string())?;
            same(&json!(called), &json!([["TheClique", "Transfermarkt details"]]))
                .and_then(|()| same(&json!(called_as_told), &json!([["A_v3", "Get b"]])))
        }
        _ => return None,
    })
}
