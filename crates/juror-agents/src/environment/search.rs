//! The function that finds further functions, for agents that may use a whole pool.

use juror_json::python;
use juror_models::Callable;
use juror_toolbench::answer::SEARCH;
use serde_json::{Value, json};

use super::observation::{Code, Observation};

/// How many functions to find by default.
pub const USUAL_FOUND: usize = 5;

/// How many functions to find at most.
pub const MOST_FOUND: usize = 20;

/// A model's search for functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// The search text.
    pub query: String,
    /// The number of functions wanted.
    pub most: usize,
}

/// Makes the function, described in the given words.
pub(super) fn callable(description: &str) -> Callable {
    let parameters = json!({
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "k": {"type": "integer", "minimum": 1, "maximum": MOST_FOUND, "default": USUAL_FOUND},
        },
        "required": ["query"],
    });
    Callable::new(SEARCH, description, &parameters)
}

/// Reads the arguments of a search, or returns what to tell the model if they are wrong.
pub(super) fn read(arguments: &str) -> Result<Search, Observation> {
    let refuse = |why: &str| Observation::error(why, Code::BadReply);
    let fields: Value =
        serde_json::from_str(arguments).map_err(|_| refuse("the arguments are not JSON"))?;
    let query = fields["query"].as_str().map(str::trim).filter(|query| !query.is_empty());
    let query = query.ok_or_else(|| refuse("`query` must be a text"))?.to_owned();
    let number = match &fields["k"] {
        Value::Null => Some(USUAL_FOUND as u64),
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_u64(),
    };
    let number = number.filter(|k| *k > 0).ok_or_else(|| refuse("`k` must be a number from 1"))?;
    let most = usize::try_from(number).unwrap_or(MOST_FOUND).min(MOST_FOUND);
    Ok(Search { query, most })
}

/// Reports the names of the functions found; the functions themselves join the list.
pub(super) fn tell(names: &[&str]) -> Observation {
    let names: Vec<String> = names.iter().map(|name| python::dumps_text(name)).collect();
    let names = names.join(", ");
    let text = format!("{{\"error\": \"\", \"response\": {{\"functions\": [{names}]}}}}");
    Observation { text, code: Code::Done }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_are_read_or_refused() {
        let check = |arguments: &str, wanted: Option<(&str, usize)>| {
            let wanted = wanted.map(|(query, most)| Search { query: query.to_owned(), most });
            assert_eq!(read(arguments).ok(), wanted, "{arguments}");
        };
        check(r#"{"query": " weather "}"#, Some(("weather", 5)));
        check(r#"{"query": "weather", "k": 2}"#, Some(("weather", 2)));
        check(r#"{"query": "weather", "k": "3"}"#, Some(("weather", 3)));
        check(r#"{"query": "weather", "k": 99999999999999999999}"#, None);
        check(r#"{"query": "weather", "k": 1000}"#, Some(("weather", 20)));
        check(r#"{"query": "weather", "k": 0}"#, None);
        check(r#"{"query": ""}"#, None);
        check("weather", None);
        check("[]", None);
        assert_eq!(read("").expect_err("no arguments").code, Code::BadReply);
    }
}
