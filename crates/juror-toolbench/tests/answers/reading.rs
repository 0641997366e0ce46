//! Converting logs, reading answers, their steps.

use std::borrow::Cow;

use juror_document::{Document, Format};
use juror_json::{Object, text_of};
use juror_toolbench::answer::{
    Answer, Json, Messages, Recorded, Thoughts, convert as convert_log, read_answer, read_answers,
    write_answers,
};
use serde_json::{Value, json};

use crate::{Checked, same};

pub(crate) fn document(json: &str) -> Document {
    Document::new("answer.json", json.into(), Format::Json).expect("UTF-8")
}

pub(crate) fn field<'a>(input: &Object<'a>, name: &str) -> &'a str {
    input.get(name).unwrap_or_else(|| panic!("no {name}")).get()
}

fn field_text(input: &Object<'_>, name: &str) -> String {
    text_of(input.get(name).expect("a field")).expect("a text").into_owned()
}

/// A converted answer as it is written, and whether it reads back as the same.
pub(crate) fn written(recorded: &Recorded<'_>) -> Result<Value, String> {
    let file = write_answers(&[(Cow::Borrowed("1"), recorded.clone())]);
    let value: Value = serde_json::from_str(&file).map_err(|error| format!("{error}: {file}"))?;
    let document = document(&file);
    let (again, problems) = read_answers(&document);
    if !problems.is_empty() || again[0].1 != *recorded {
        return Err(format!("{file} reads as {again:?} {problems}"));
    }
    both_forms_read_alike(&recorded.answer)?;
    Ok(value["1"].clone())
}

/// Written in either form, and however it is laid out, an answer has the same calls.
fn both_forms_read_alike(answer: &Answer<'_>) -> Checked {
    for messages in [Messages::Objects, Messages::Texts] {
        for indent in [None, Some(2)] {
            let mut details = String::new();
            let layout = juror_json::python::Layout { indent, ascii: false };
            answer.write_details(messages, layout, &mut details);
            let text = format!("{{\"answer_details\": {details}}}");
            let again = read_answer(&text).ok_or_else(|| format!("{text} is no answer"))?;
            let shape = |answer: &Answer<'_>| -> Vec<(String, usize)> {
                answer.nodes.iter().map(|n| (n.role.to_string(), n.depth())).collect()
            };
            if shape(&again) != shape(answer) || !again.calls().eq(answer.calls()) {
                return Err(format!("{text} reads as {again:?}"));
            }
        }
    }
    Ok(())
}

pub(crate) fn convert(input: &Object<'_>, expected: &Value, wanted: &Value) -> Checked {
    let document = document(field(input, "data"));
    let keeps = input.get("thoughts").is_some();
    let thoughts = if keeps { Thoughts::Kept } else { Thoughts::Dropped };
    let converted = convert_log(&document, &field_text(input, "method"), thoughts);
    let got = match &converted {
        Ok(recorded) => written(recorded)?,
        // Where the public converter fails, a problem that is told is as good.
        Err(_) if expected.get("raises").is_some() && wanted.get("answer").is_none() => {
            return Ok(());
        }
        Err(problems) => return Err(problems.to_string()),
    };
    if let Some(outcomes) = expected["any_of"].as_array() {
        let is_one = outcomes.contains(&got);
        return if is_one { Ok(()) } else { Err(format!("{got} is none of the outcomes")) };
    }
    let is_known = wanted.get("answer").is_some();
    if is_known { same(&got, wanted) } else { Ok(()) }
}

pub(crate) fn legacy_answers(input: &Object<'_>, wanted: &Value) -> Checked {
    let answer = read_answer(field(input, "answer")).ok_or("no answer")?;
    both_forms_read_alike(&answer)?;
    let names: Vec<Value> = answer.called_names().map(|name| json!(name)).collect();
    same(&json!(names), &wanted["called_names"])?;
    same(&json!(answer.has_finish()), &wanted["official_has_finish"])?;
    same(&steps_of(&answer), &wanted["get_steps"])?;
    let offered: Vec<Value> =
        serde_json::from_str(field(input, "available_tool_names")).expect("names");
    for is_wrapped in [false, true] {
        let tool = |name: &Value| {
            let tool = json!({"name": name});
            if is_wrapped { json!({"type": "function", "function": tool}) } else { tool }
        };
        let tools = json!(offered.iter().map(tool).collect::<Vec<_>>()).to_string();
        let recorded = Recorded {
            set: None,
            error: None,
            query: Json::EMPTY,
            available_tools: Json::parse(&tools).expect("JSON"),
            answer: answer.clone(),
        };
        same(&json!(recorded.tool_names()), &json!(offered))?;
        same(&json!(recorded.unknown_names().is_empty()), &wanted["no_hallucination"])?;
    }
    Ok(())
}

fn steps_of(answer: &Answer<'_>) -> Value {
    let steps = answer.steps();
    json!([steps.all, steps.last])
}

pub(crate) fn steps(input: &Object<'_>, case: &Value, wanted: &Value) -> Checked {
    let text =
        format!("{{\"answer\": {{\"answer_details\": {}}}}}", field(input, "answer_details"));
    let answer = read_answer(&text).ok_or("no answer")?;
    both_forms_read_alike(&answer)?;
    let recorded = &case["expected"];
    let has_finish = wanted.get("has_finish").unwrap_or(&recorded["true_has_finish"]);
    same(&json!(answer.has_finish()), has_finish)?;
    // Steps are published as they are recorded, also where more is known of them. Of a node that
    // does not say what comes next, the public evaluation shows nothing.
    let is_shown = recorded["get_steps"].get("raises").is_none() && text.contains("\"next\"");
    if is_shown { same(&steps_of(&answer), &recorded["get_steps"]) } else { Ok(()) }
}
