//! Claims that a model lists and Juror counts, because small models are bad at counting.

use std::collections::HashMap;

use juror_models::Schema;
use juror_score::Claims;
use serde_json::{Value, json};

use crate::correctness::{ClaimsError, JudgedClaims};
use crate::reply::{JudgedTexts, read_verdict, shown, whole_number};

pub(crate) const PURPOSE: &str = "listed_claims";

/// The built-in prompt.
pub(crate) const PROMPT: &str = include_str!("../prompts/listed_claims.md");

/// The claims of both answers, and which of them match.
#[derive(Debug, PartialEq, Eq)]
struct ListedClaims {
    reference: Vec<String>,
    /// Each with the index of the reference claim that it matches, if any.
    actual: Vec<(String, Option<usize>)>,
}

/// Reference claims come first, so that actual claims can refer to them.
pub(crate) fn schema() -> Schema {
    let reference = Schema::object([("number", Schema::whole_number()), ("claim", Schema::text())]);
    let actual = Schema::object([("claim", Schema::text()), ("matches", Schema::whole_number())]);
    Schema::object([
        ("reference_claims", Schema::list(reference)),
        ("actual_claims", Schema::list(actual)),
    ])
}

/// Reads lists of claims and counts them.
pub(crate) fn read_listed(
    reply: &str,
    judged_texts: &JudgedTexts<'_>,
) -> Result<JudgedClaims, ClaimsError> {
    let listed = read_verdict(reply, judged_texts, listed_of_object, ListedClaims::eq);
    let unusable = |problem: String| ClaimsError { problem, reason: String::new() };
    let listed = listed.map_err(|unread| unusable(unread.why))?;
    if listed.reference.is_empty() || listed.actual.is_empty() {
        let whose = if listed.reference.is_empty() { "reference" } else { "actual" };
        return Err(unusable(format!("the {whose} answer has no claims: {}", shown(reply))));
    }
    Ok(listed.counted())
}

fn listed_of_object(value: &Value) -> Result<ListedClaims, String> {
    let mut positions = HashMap::new();
    let mut reference = Vec::new();
    for (place, entry) in (1..).zip(entries(value, "reference_claims")?) {
        let number = match entry.get("number") {
            None => place,
            Some(number) => whole_number(number, "number")?,
        };
        // With numbers from 0, `matches: 0` could mean the first claim or none.
        if number < 1 {
            return Err(format!("a reference claim has the number {number}: they begin with 1"));
        }
        if positions.insert(number, reference.len()).is_some() {
            return Err(format!("two reference claims have the number {number}"));
        }
        reference.push(claim(entry)?);
    }
    let mut actual = Vec::new();
    for entry in entries(value, "actual_claims")? {
        actual.push((claim(entry)?, position(entry, &positions)?));
    }
    Ok(ListedClaims { reference, actual })
}

fn entries<'v>(value: &'v Value, key: &str) -> Result<&'v Vec<Value>, String> {
    value.get(key).and_then(Value::as_array).ok_or_else(|| format!("`{key}` is not a list"))
}

fn claim(entry: &Value) -> Result<String, String> {
    let text = entry.get("claim").and_then(Value::as_str).unwrap_or_default().trim();
    if text.is_empty() { Err("a claim has no text".into()) } else { Ok(text.to_owned()) }
}

/// Returns the index of the reference claim that an actual claim matches.
fn position(entry: &Value, positions: &HashMap<i64, usize>) -> Result<Option<usize>, String> {
    let matches = entry.get("matches").ok_or("`matches` is missing")?;
    if matches.is_null() {
        return Ok(None);
    }
    match whole_number(matches, "matches")? {
        0 => Ok(None),
        number => match positions.get(&number) {
            None => Err(format!("no reference claim has the number {number}")),
            Some(position) => Ok(Some(*position)),
        },
    }
}

impl ListedClaims {
    /// Counts. A reference claim counts once, however many claims match it.
    fn counted(&self) -> JudgedClaims {
        let mut matched: Vec<Vec<usize>> = vec![Vec::new(); self.reference.len()];
        for (number, (_, of)) in (1..).zip(&self.actual) {
            if let Some(at) = of {
                matched[*at].push(number);
            }
        }
        let reference: Vec<Value> = self
            .reference
            .iter()
            .zip(&matched)
            .map(|(claim, by)| json!({"claim": claim, "matched_by": by}))
            .collect();
        let actual: Vec<Value> = self
            .actual
            .iter()
            .map(|(claim, of)| json!({"claim": claim, "matches": of.map(|at| at + 1)}))
            .collect();
        let claims = Claims {
            reference: self.reference.len() as u64,
            actual: self.actual.len() as u64,
            matching: matched.iter().filter(|by| !by.is_empty()).count() as u64,
            listed: Some(json!({"reference": reference, "actual": actual})),
        };
        JudgedClaims { claims, reason: self.reason(&matched) }
    }

    /// Lists the claims without a match.
    fn reason(&self, matched: &[Vec<usize>]) -> String {
        let missing = self.reference.iter().zip(matched).filter(|(_, by)| by.is_empty());
        let missing = missing.map(|(claim, _)| format!("not in the answer: {claim}"));
        let more = self.actual.iter().filter(|(_, of)| of.is_none());
        let more = more.map(|(claim, _)| format!("not in the reference answer: {claim}"));
        let unpaired: Vec<String> = missing.chain(more).collect();
        if unpaired.is_empty() { "every claim has its pair".into() } else { unpaired.join("; ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(reference: &Value, actual: &Value) -> Result<(u64, u64, u64), String> {
        let reply = json!({"reference_claims": reference, "actual_claims": actual}).to_string();
        let judged = read_listed(&reply, &JudgedTexts::default()).map_err(|error| error.problem)?;
        let claims = judged.claims;
        Ok((claims.reference, claims.actual, claims.matching))
    }

    #[test]
    fn a_reference_claim_counts_once_however_often_it_is_matched() {
        let reference = json!([{"number": 1, "claim": "a"}, {"number": 2, "claim": "b"}]);
        let actual = json!([{"claim": "x", "matches": 1}, {"claim": "y", "matches": 1},
            {"claim": "z", "matches": 0}]);
        assert_eq!(read(&reference, &actual), Ok((2, 3, 1)));
        let reply = json!({"reference_claims": reference, "actual_claims": actual}).to_string();
        let judged = read_listed(&reply, &JudgedTexts::default()).expect("claims");
        assert_eq!(judged.reason, "not in the answer: b; not in the reference answer: z");
        let listed = judged.claims.listed.expect("evidence");
        assert_eq!(listed["reference"][0], json!({"claim": "a", "matched_by": [1, 2]}));
        assert_eq!(listed["actual"][2], json!({"claim": "z", "matches": null}));
    }

    #[test]
    fn claims_go_by_their_numbers_or_by_their_places() {
        let actual = json!([{"claim": "x", "matches": 7}]);
        assert_eq!(read(&json!([{"number": 7, "claim": "a"}]), &actual), Ok((1, 1, 1)));
        let actual = json!([{"claim": "x", "matches": 2.0}, {"claim": "y", "matches": null}]);
        assert_eq!(read(&json!([{"claim": "a"}, {"claim": "b"}]), &actual), Ok((2, 2, 1)));
    }

    #[test]
    fn lists_that_cannot_be_are_errors() {
        let one = json!([{"number": 1, "claim": "a"}]);
        for (reference, actual, problem) in [
            (one.clone(), json!([{"claim": "x", "matches": 2}]), "has the number 2"),
            (one.clone(), json!([{"claim": "x", "matches": "1"}]), "not a whole number"),
            (one.clone(), json!([{"claim": "x"}]), "`matches` is missing"),
            (one.clone(), json!([{"claim": " ", "matches": 1}]), "a claim has no text"),
            (one.clone(), json!([]), "the actual answer has no claims"),
            (json!([]), json!([{"claim": "x", "matches": 0}]), "the reference answer has no"),
            (json!(2), json!([]), "`reference_claims` is not a list"),
            (
                json!([{"number": 1, "claim": "a"}, {"number": 1, "claim": "b"}]),
                json!([{"claim": "x", "matches": 1}]),
                "two reference claims have the number 1",
            ),
            (
                json!([{"number": 0, "claim": "a"}, {"number": 1, "claim": "b"}]),
                json!([{"claim": "x", "matches": 0}]),
                "has the number 0: they begin with 1",
            ),
        ] {
            let error = read(&reference, &actual).expect_err("unusable");
            assert!(error.contains(problem), "{problem}: {error}");
        }
    }
}
