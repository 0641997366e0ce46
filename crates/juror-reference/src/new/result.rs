//! Expected steps and answers with the results of queries in them.

use juror_graph::Answer;
use serde_json::Value;

use super::candidates::{Candidate, text_of};
use super::made::MadeStep;
use super::templates::UsableStep;
use super::text_pattern::TextPattern;
use crate::fresh_text::fresh_text;
use crate::refresh::media_type_of;

pub(super) fn n_rows(answer: &Answer) -> usize {
    match answer {
        Answer::Table(table) => table.rows().len(),
        Answer::Truth(_) => 1,
    }
}

/// Lists the values of a column, each once.
pub(super) fn listed(answer: &Answer, column: &str) -> Option<String> {
    let Answer::Table(table) = answer else { return None };
    let at = table.columns().position(|name| name == column)?;
    let mut values: Vec<&str> = Vec::new();
    for term in table.rows().iter().filter_map(|row| row[at].as_ref()) {
        if !values.contains(&text_of(term)) {
            values.push(text_of(term));
        }
    }
    Some(values.join(", "))
}

pub(super) fn made_step(
    step: &UsableStep,
    candidate: &Candidate<'_>,
    result: Option<(&String, &&Answer)>,
) -> MadeStep {
    let mut args = Value::Object(step.step.args.clone());
    let mut rest = Value::Object(step.step.rest.clone());
    // Names in the query are terms, and elsewhere texts.
    args.as_object_mut().and_then(|args| result.and_then(|_| args.remove("query")));
    fill_texts(&mut args, candidate);
    fill_texts(&mut rest, candidate);
    let mut fields = vec![("name".to_owned(), Value::from(step.step.name.as_str()))];
    if let (Some((query, _)), Some(args)) = (result, args.as_object_mut()) {
        args.insert("query".into(), Value::from(query.trim_end()));
    }
    fields.push(("args".into(), args));
    if let (Some((_, answer)), Some(rest)) = (result, rest.as_object_mut()) {
        let ordered = rest.get("ordered").and_then(Value::as_bool).unwrap_or_default();
        let text = fresh_text(None, answer, step.format, ordered, true);
        fields.push(("output".into(), Value::from(text)));
        fields.push(("output_media_type".into(), Value::from(media_type_of(step.format))));
        rest.remove("output");
        rest.remove("output_media_type");
    }
    if let Value::Object(rest) = rest {
        fields.extend(rest);
    }
    MadeStep(fields)
}

/// Puts texts in place of names, wherever there are texts.
fn fill_texts(value: &mut Value, candidate: &Candidate<'_>) {
    match value {
        Value::String(text) => {
            *text = TextPattern::parse(text).fill(|name| candidate.text_of(name));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| fill_texts(item, candidate)),
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| fill_texts(field, candidate));
        }
        _ => {}
    }
}
