//! The function that ends a try, with an answer or by giving up.

use juror_json::{python, unescape};
use juror_models::Callable;
use juror_toolbench::answer::FINISH;
use serde_json::json;

use super::observation::{Code, Observation};

const ANSWER: &str = "give_answer";
const GIVE_UP: &str = "give_up_and_restart";

/// How most models write the key of the answer.
const ANSWER_KEY: &str = "\"final_answer\": \"";

/// Makes the function, described in the given words.
pub(super) fn callable(description: &str, final_answer: &str) -> Callable {
    // Written out, since a `Value` would not keep the order.
    let parameters = format!(
        r#"{{"type":"object","properties":{{"return_type":{{"type":"string","enum":["{ANSWER}","{GIVE_UP}"]}},"final_answer":{{"type":"string","description":{}}}}},"required":["return_type"]}}"#,
        json!(final_answer)
    );
    let parameters = serde_json::value::RawValue::from_string(parameters).unwrap_or_default();
    Callable { name: FINISH.to_owned(), description: description.to_owned(), parameters }
}

/// Returns the observation after a call of it.
pub(super) fn finish(arguments: &str) -> Observation {
    let (text, code) = match Arguments::read(arguments) {
        Arguments { return_type: None, .. } => {
            ("{error:\"must have \"return_type\"\"}", Code::BadFinish)
        }
        Arguments { return_type: Some(ReturnType::GiveUp), .. } => {
            ("{\"response\":\"chose to give up and restart\"}", Code::GaveUp)
        }
        Arguments { return_type: Some(ReturnType::Answer), has_answer: true } => {
            ("{\"response\":\"successfully giving the final answer.\"}", Code::Answered)
        }
        Arguments { return_type: Some(ReturnType::Answer), has_answer: false } => {
            ("{error:\"must have \"final_answer\"\"}", Code::BadFinish)
        }
        Arguments { return_type: Some(ReturnType::Other), .. } => {
            ("{error:\"\"return_type\" is not a valid choice\"}", Code::BadFinish)
        }
    };
    Observation { text: text.to_owned(), code }
}

/// Returns the final answer in arguments: a string as it is, anything else as JSON. In arguments
/// that are not JSON, the answer is everything after its key.
pub fn final_answer(arguments: &str) -> Option<String> {
    match python::lenient_fields(arguments) {
        Ok(fields) => fields?.get("final_answer").map(|json| {
            let inside = json.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
            inside.map_or_else(|| json.clone(), |inside| unescape(inside).into_owned())
        }),
        Err(_) => arguments.split_once(ANSWER_KEY).map(|(_, rest)| rest.to_owned()),
    }
}

#[derive(Debug, PartialEq)]
enum ReturnType {
    Answer,
    GiveUp,
    Other,
}

impl ReturnType {
    fn of(text: &str) -> ReturnType {
        match text {
            ANSWER => ReturnType::Answer,
            GIVE_UP => ReturnType::GiveUp,
            _ => ReturnType::Other,
        }
    }
}

#[derive(Debug, PartialEq)]
struct Arguments {
    return_type: Option<ReturnType>,
    has_answer: bool,
}

impl Arguments {
    fn read(text: &str) -> Arguments {
        match python::lenient_fields(text) {
            Ok(Some(fields)) => Arguments {
                return_type: fields.get("return_type").map(|json| {
                    let bare = json.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
                    bare.map_or(ReturnType::Other, ReturnType::of)
                }),
                has_answer: fields.contains_key("final_answer"),
            },
            Ok(None) => Arguments { return_type: None, has_answer: false },
            Err(_) => Arguments::rescue(text),
        }
    }

    /// Searches text that is not JSON for the keys as most models write them.
    fn rescue(text: &str) -> Arguments {
        let value = |of: &str| text.contains(&format!("\"return_type\": \"{of}\""));
        let return_type = match () {
            () if value(ANSWER) => Some(ReturnType::Answer),
            () if value(GIVE_UP) => Some(ReturnType::GiveUp),
            () if text.contains("\"return_type\": \"") => Some(ReturnType::Other),
            () => None,
        };
        Arguments { return_type, has_answer: text.contains(ANSWER_KEY) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_try_ends_as_its_arguments_say() {
        let check = |arguments: &str, code: Code| {
            assert_eq!(finish(arguments).code, code, "{arguments}");
        };
        check(r#"{"return_type": "give_answer", "final_answer": "x"}"#, Code::Answered);
        check(r#"{"return_type":"give_answer","final_answer":null}"#, Code::Answered);
        check(r#"{"return_type": "give_answer", "final_answer": NaN}"#, Code::Answered);
        check("{\"return_type\": \"give_answer\", \"final_answer\": \"a\nb\"}", Code::Answered);
        check(r#"{"return_type": "give_answer"}"#, Code::BadFinish);
        check(r#"{"return_type": "give_up_and_restart"}"#, Code::GaveUp);
        check(r#"{"return_type": "give\u005fanswer", "final_answer": ""}"#, Code::Answered);
        check(r#"{"return_type": ["give_answer"], "final_answer": "x"}"#, Code::BadFinish);
        for arguments in ["", "{}", "null", "5", "[1]", "\"give_answer\"", "words"] {
            check(arguments, Code::BadFinish);
        }
    }

    #[test]
    fn what_is_no_json_is_read_as_far_as_it_goes() {
        let check = |arguments: &str, code: Code| {
            assert_eq!(finish(arguments).code, code, "{arguments}");
        };
        check(r#"{"return_type": "give_answer", "final_answer": "cut off"#, Code::Answered);
        check(r#"{"return_type": "give_answer", "final_answer": "a "b" c"}"#, Code::Answered);
        check(r#"{"return_type": "give_answer", "#, Code::BadFinish);
        check(r#"{"return_type": "give_up_and_restart", "#, Code::GaveUp);
        check(r#"{"return_type":"give_answer", "final_answer": "no space"#, Code::BadFinish);
        check(r#"{"return_type": "give_answer_now", "final_answer": "x"#, Code::BadFinish);
    }

    #[test]
    fn the_final_answer_is_read_as_far_as_it_goes() {
        let check = |arguments: &str, answer: Option<&str>| {
            assert_eq!(final_answer(arguments).as_deref(), answer, "{arguments}");
        };
        check(
            r#"{"return_type": "give_answer", "final_answer": "a \"b\" \u00e9"}"#,
            Some("a \"b\" é"),
        );
        check("{\"final_answer\": \"a\nb\"}", Some("a\nb"));
        check(r#"{"final_answer": {"a": 1}}"#, Some("{\"a\": 1}"));
        check(r#"{"final_answer": "cut "off"}"#, Some("cut \"off\"}"));
        check(r#"{"return_type": "give_answer"}"#, None);
        check("[]", None);
        check("", None);
    }

    #[test]
    fn the_function_says_what_it_takes() {
        let function = callable("ends \"it\"", "say \"all\"");
        let parameters: serde_json::Value =
            serde_json::from_str(function.parameters.get()).expect("JSON");
        assert_eq!(parameters["required"], json!(["return_type"]));
        assert_eq!(parameters["properties"]["final_answer"]["description"], "say \"all\"");
        assert_eq!(parameters["properties"]["return_type"]["enum"], json!([ANSWER, GIVE_UP]));
    }
}
