//! Automatic replies to what the script leaves open: plausible, and a function of the prompt.

use serde_json::{Map, Value, json};

use crate::marker;
use crate::schema;

/// The reply to a prompt without a schema.
pub(crate) const TEXT: &str = "2\t2\t1\tautomatic";

/// The function by which agents finish.
pub(crate) const FINISH: &str = "Finish";

pub(crate) fn finish() -> Value {
    json!({"return_type": "give_answer", "final_answer": "automatic"})
}

/// Makes a reply to a prompt that asks for JSON.
pub(crate) fn reply(purpose: &str, schema: Option<&Value>, prompt: &str) -> Value {
    let mut chance = Chance::of(&marker::without_in(prompt));
    match purpose {
        "answer_claims" => {
            let (reference, actual) = (1 + chance.below(4), 1 + chance.below(4));
            json!({
                "reference_claims": reference,
                "actual_claims": actual,
                "matching_claims": chance.below(reference.min(actual) + 1),
                "reason": "automatic",
            })
        }
        "listed_claims" => {
            let (reference, actual) = (1 + chance.below(4), 1 + chance.below(4));
            let reference = (1..=reference)
                .map(|number| json!({"number": number, "claim": format!("claim {number}")}));
            let reference: Vec<Value> = reference.collect();
            let actual = (1..=actual).map(|number| {
                let matches = if number <= reference.len() as u64 { number } else { 0 };
                json!({"claim": format!("answer's claim {number}"), "matches": matches})
            });
            let actual: Vec<Value> = actual.collect();
            json!({"reference_claims": reference, "actual_claims": actual})
        }
        "generated_question" => {
            let question = format!("What is number {}?", chance.below(1_000_000));
            json!({"question": question, "noncommittal": 0})
        }
        "answer_attribution" | "context_attribution" => {
            let statements: Vec<Value> = (1..=1 + chance.below(3))
                .map(|number| {
                    let statement = format!("statement {number}");
                    let attributed = chance.below(2);
                    json!({"statement": statement, "reason": "automatic", "attributed": attributed})
                })
                .collect();
            json!({"statements": statements})
        }
        "answer_usefulness" | "context_usefulness" => {
            json!({"reason": "automatic", "useful": chance.below(2)})
        }
        "answer_status" | "answer_status_detailed" | "final_answer_status" => {
            json!({"answer_status": "Solved", "reason": "automatic"})
        }
        _ if purpose.starts_with("custom_") => custom(schema, &mut chance),
        _ => schema.map_or_else(|| json!({}), schema::instance),
    }
}

fn custom(schema: Option<&Value>, chance: &mut Chance) -> Value {
    let properties = schema.and_then(|schema| schema["properties"].as_object());
    let members = properties.into_iter().flatten();
    let members = members.map(|(name, member)| (name.clone(), score(member, chance)));
    Value::Object(members.collect::<Map<_, _>>())
}

/// Makes a number within the bounds of its schema. Other types keep their instance.
fn score(schema: &Value, chance: &mut Chance) -> Value {
    let least = schema["minimum"].as_f64().unwrap_or(0.0);
    let most = schema["maximum"].as_f64();
    match schema::type_of(schema).as_str() {
        _ if schema["enum"].is_array() => schema::instance(schema),
        "number" | "" => {
            let share = chance.below(101) as f64 / 100.0;
            json!(least + share * (most.unwrap_or(least + 1.0) - least))
        }
        "integer" => {
            let least = schema["minimum"].as_u64().unwrap_or(0);
            let most = schema["maximum"].as_u64().unwrap_or(least + 5).max(least);
            json!(least + chance.below(most - least + 1))
        }
        _ => schema::instance(schema),
    }
}

/// Pseudo-random numbers derived from a text.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn of(text: &str) -> Chance {
        // FNV-1a, because the standard library's hash may change between versions.
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Chance(hash)
    }

    /// The next number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ (bits >> 31)) % end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_does_not_depend_on_the_marker() {
        let reply = |prompt| reply("generated_question", None, prompt);
        assert_eq!(reply("a <0123456789abcdef>"), reply("a <fedcba9876543210>"));
        assert_ne!(reply("a"), reply("b"));
    }

    #[test]
    fn no_more_claims_match_than_there_are() {
        for number in 0..100 {
            let claims = reply("answer_claims", None, &number.to_string());
            let count = |name: &str| claims[name].as_u64().expect("a number");
            let (reference, actual) = (count("reference_claims"), count("actual_claims"));
            assert!(count("matching_claims") <= reference.min(actual), "{claims}");
        }
    }

    #[test]
    fn every_output_of_a_custom_evaluation_is_a_number_within_bounds() {
        let schema = json!({"properties": {
            "a": {"type": "number", "minimum": 2, "maximum": 3},
            "b": {"type": "integer", "maximum": 1},
            "c": {},
            "d": {"type": "string"},
        }});
        let outputs = reply("custom_style", Some(&schema), "prompt");
        assert!((2.0..=3.0).contains(&outputs["a"].as_f64().expect("a number")));
        assert!(outputs["b"].as_u64().expect("a number") <= 1);
        assert!((0.0..=1.0).contains(&outputs["c"].as_f64().expect("a number")));
        assert_eq!(outputs["d"], "automatic");
    }
}
