//! Calls that a model wrote into its text, as many do whose server does not support calls.
//!
//! The forms differ between model families: `<tool_call>{…}</tool_call>`, `[TOOL_CALLS][{…}]`,
//! fenced or bare JSON, `<function=name>{…}`, `Action: name` and `Action Input: {…}`. In all but
//! the last two the call is a JSON object that names a function and its arguments, so that is what
//! to look for.

use serde_json::{Map, Value};

/// Calls are looked for in this many bytes; the rest of a text is not read.
const MOST_BYTES: usize = 1 << 16;

/// The keys of arguments.
const ARGUMENTS: [&str; 5] = ["arguments", "parameters", "args", "input", "action_input"];

/// The keys of a name.
const NAMES: [&str; 4] = ["name", "function", "tool", "action"];

/// The calls found in a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenCalls {
    /// The text before the first call.
    pub before: String,
    /// Names and arguments, in order.
    pub calls: Vec<(String, String)>,
}

/// Finds the calls of known functions in a text.
pub fn written_calls(text: &str, is_known: impl Fn(&str) -> bool) -> WrittenCalls {
    let end = text.floor_char_boundary(MOST_BYTES);
    let mut reader = Reader { text: &text[..end], at: 0, begin: None, calls: Vec::new() };
    while reader.at < reader.text.len() {
        if !reader.pass_thought()
            && !reader.read_json(&is_known)
            && !reader.read_named(&is_known)
            && !reader.read_action(&is_known)
        {
            reader.pass();
        }
    }
    let before = reader.begin.map(|begin| without_mark(&text[..begin]).to_owned());
    WrittenCalls { before: before.unwrap_or_default(), calls: reader.calls }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// Where the first call begins.
    begin: Option<usize>,
    calls: Vec<(String, String)>,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn pass(&mut self) {
        self.at += self.rest().chars().next().map_or(1, char::len_utf8);
    }

    fn push(&mut self, begin: usize, name: &str, arguments: String) {
        self.begin.get_or_insert(begin);
        self.calls.push((name.to_owned(), arguments));
    }

    /// Skips what a model thinks aloud, since a call it considers there is not made. An unclosed
    /// thought extends to the end of the text.
    fn pass_thought(&mut self) -> bool {
        let Some(rest) = self.rest().strip_prefix('<') else { return false };
        let Some(name) = THOUGHTS.iter().find(|name| rest.starts_with(&format!("{name}>"))) else {
            return false;
        };
        let end = format!("</{name}>");
        self.at = self.rest().find(&end).map_or(self.text.len(), |at| self.at + at + end.len());
        true
    }

    /// Returns whether a call mark precedes the current position.
    fn is_marked(&self) -> bool {
        let before = self.text[..self.at].trim_end();
        CALL_MARKS.iter().any(|mark| before.ends_with(mark))
    }

    /// Reads a JSON object or list if it holds calls.
    fn read_json(&mut self, is_known: &impl Fn(&str) -> bool) -> bool {
        let Some((value, length)) = json_at(self.rest()) else { return false };
        let mut calls = Vec::new();
        collect(&value, self.is_marked(), is_known, &mut calls);
        if calls.is_empty() {
            return false;
        }
        for (name, arguments) in calls {
            self.push(self.at, &name, arguments);
        }
        self.at += length;
        true
    }

    /// Reads `<function=name>` or `[TOOL_CALLS]name`, and the arguments after it.
    fn read_named(&mut self, is_known: &impl Fn(&str) -> bool) -> bool {
        let marks = ["<function=", "[TOOL_CALLS]"];
        let Some(rest) = marks.iter().find_map(|mark| self.rest().strip_prefix(mark)) else {
            return false;
        };
        let rest = rest.trim_start();
        let length = rest.find(|c: char| !is_of_name(c)).unwrap_or(rest.len());
        let (name, rest) = rest.split_at(length);
        if !is_known(name) {
            return false;
        }
        let rest = rest.trim_start_matches(['>', ' ', '\n', '\r']);
        let rest = rest.strip_prefix("[ARGS]").unwrap_or(rest).trim_start();
        let (arguments, rest) = match json_at(rest) {
            Some((value, length)) => (text_of(&value), &rest[length..]),
            None => tagged_parameters(rest),
        };
        self.push(self.at, name, arguments);
        self.at = self.text.len() - rest.len();
        true
    }

    /// Reads `Action: name` on a line, and `Action Input:` after it.
    fn read_action(&mut self, is_known: &impl Fn(&str) -> bool) -> bool {
        let is_line = self.at == 0 || self.text[..self.at].ends_with('\n');
        let rest = self.rest();
        let Some(line) = rest.strip_prefix("Action:").filter(|_| is_line) else { return false };
        let (line, rest) = line.split_once('\n').unwrap_or((line, ""));
        let name = bare_name(line.trim().trim_matches(['`', '*', '"']));
        if !is_known(name) {
            return false;
        }
        let input = rest.trim_start().strip_prefix("Action Input:");
        let (arguments, rest) = match input.map(str::trim_start) {
            None => ("{}".to_owned(), rest),
            Some(input) => {
                let fenced = input.trim_start_matches("```json").trim_start_matches("```");
                match json_at(fenced.trim_start()) {
                    Some((value, length)) => (text_of(&value), &fenced.trim_start()[length..]),
                    None => {
                        let (line, rest) = input.split_once('\n').unwrap_or((input, ""));
                        (line.trim().to_owned(), rest)
                    }
                }
            }
        };
        self.push(self.at, name, arguments);
        self.at = self.text.len() - rest.len();
        true
    }
}

/// Returns the JSON object or list that a text begins with, and its length.
fn json_at(text: &str) -> Option<(Value, usize)> {
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, values.byte_offset()))
}

/// Collects the calls that a value is or holds. Unless a mark says that they are calls, a name
/// without arguments is not one.
fn collect(
    value: &Value,
    is_marked: bool,
    is_known: &impl Fn(&str) -> bool,
    calls: &mut Vec<(String, String)>,
) {
    match value {
        Value::Array(items) => {
            for item in items {
                collect(item, is_marked, is_known, calls);
            }
        }
        Value::Object(fields) => match call_of(fields, is_marked, is_known) {
            Some(call) => calls.push(call),
            None => {
                for (key, is_mark) in
                    [("tool_calls", true), ("function_call", true), ("function", false)]
                {
                    if let Some(value) = fields.get(key) {
                        collect(value, is_marked || is_mark, is_known, calls);
                    }
                }
            }
        },
        _ => {}
    }
}

/// Returns a function's name and arguments. A description of a function is not a call.
fn call_of(
    fields: &Map<String, Value>,
    is_marked: bool,
    is_known: &impl Fn(&str) -> bool,
) -> Option<(String, String)> {
    let name = NAMES.iter().find_map(|key| fields.get(*key)?.as_str())?;
    let name = bare_name(name);
    let arguments = ARGUMENTS.iter().find_map(|key| fields.get(*key));
    let is_schema = arguments.is_some_and(|value| value.get("properties").is_some());
    if !is_known(name) || is_schema || fields.contains_key("description") {
        return None;
    }
    if arguments.is_none() && !is_marked {
        return None;
    }
    Some((name.to_owned(), arguments.map_or_else(|| "{}".to_owned(), text_of)))
}

/// Removes the prefix of `functions.name`, which some models write.
fn bare_name(name: &str) -> &str {
    name.strip_prefix("functions.").unwrap_or(name)
}

/// Returns arguments as a call has them: a string may already be JSON.
fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Reads arguments such as `<parameter=name>value</parameter>`, and returns what follows them.
fn tagged_parameters(mut rest: &str) -> (String, &str) {
    let mut fields = Map::new();
    while let Some(tag) = rest.trim_start().strip_prefix("<parameter=") {
        let Some((name, value)) = tag.split_once('>') else { break };
        let (value, after) = value.split_once("</parameter>").unwrap_or((value, ""));
        let value = value.trim();
        let json = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        fields.insert(name.trim().to_owned(), json);
        rest = after;
    }
    (Value::Object(fields).to_string(), rest)
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || "_-.".contains(c)
}

/// Marks that announce a call.
const CALL_MARKS: [&str; 6] = [
    "<tool_call>",
    "<|tool_call|>",
    "<function_call>",
    "<|python_tag|>",
    "[TOOL_CALLS]",
    "```tool_call",
];

/// The tags around thoughts.
const THOUGHTS: [&str; 2] = ["think", "thinking"];

/// Removes the mark that announces a call from the end of a text.
fn without_mark(text: &str) -> &str {
    let text = text.trim_end();
    let mut marks = CALL_MARKS.iter().chain(&["```json", "```"]);
    let mark = marks.find_map(|mark| text.strip_suffix(mark));
    mark.unwrap_or(text).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> WrittenCalls {
        written_calls(text, |name| ["weather_for_x", "Finish", "get-y"].contains(&name))
    }

    #[test]
    fn the_common_forms_are_read() {
        let args = r#"{"city":"Oslo"}"#;
        for text in [
            r#"<tool_call>{"name": "weather_for_x", "arguments": {"city": "Oslo"}}</tool_call>"#,
            "<tool_call>\n{\"name\": \"weather_for_x\", \"arguments\": \"{\\\"city\\\":\\\"Oslo\\\"}\"}",
            "```json\n{\"name\": \"weather_for_x\", \"arguments\": {\"city\": \"Oslo\"}}\n```",
            r#"{"name": "weather_for_x", "parameters": {"city": "Oslo"}}"#,
            r#"{"type": "function", "function": {"name": "functions.weather_for_x", "arguments": {"city": "Oslo"}}}"#,
            r#"{"tool_calls": [{"name": "weather_for_x", "args": {"city": "Oslo"}}]}"#,
            r#"[TOOL_CALLS][{"name": "weather_for_x", "arguments": {"city": "Oslo"}}]"#,
            r#"[TOOL_CALLS]weather_for_x[ARGS]{"city": "Oslo"}"#,
            r#"<|python_tag|>{"name": "weather_for_x", "parameters": {"city": "Oslo"}}"#,
            r#"<function=weather_for_x>{"city": "Oslo"}</function>"#,
            "<tool_call>\n<function=weather_for_x>\n<parameter=city>\nOslo\n</parameter>\n</function>",
            "Action: weather_for_x\nAction Input: {\"city\": \"Oslo\"}\nObservation: cold",
            "Action: `weather_for_x`\nAction Input: ```json\n{\"city\": \"Oslo\"}\n```",
            r#"{"action": "weather_for_x", "action_input": {"city": "Oslo"}}"#,
        ] {
            let found = read(text);
            assert_eq!(found.calls, [("weather_for_x".to_owned(), args.to_owned())], "{text}");
            assert_eq!(found.before, "", "{text}");
            assert_eq!(read(&format!("Let me see. é\n{text}")).before, "Let me see. é", "{text}");
        }
    }

    #[test]
    fn several_calls_are_read_in_order() {
        let text = "First:\n<tool_call>{\"name\": \"weather_for_x\"}</tool_call>\n\
            <tool_call>{\"name\": \"get-y\", \"arguments\": {}}</tool_call> then more {words}";
        let found = read(text);
        let names: Vec<&str> = found.calls.iter().map(|(name, _)| &**name).collect();
        assert_eq!((names.as_slice(), &*found.before), (&["weather_for_x", "get-y"][..], "First:"));
    }

    #[test]
    fn what_is_thought_aloud_is_not_called() {
        let finish = r#"{"name": "Finish", "arguments": {"return_type": "give_answer"}}"#;
        for text in [
            format!("<think>Shall I say {finish}?</think> Not yet."),
            format!("<thinking>\n<tool_call>{finish}</tool_call></thinking>"),
            format!("<think>Action: Finish\nAction Input: {{}}\n{finish}"),
        ] {
            assert_eq!(read(&text), WrittenCalls::default(), "{text}");
        }
        let call = r#"<tool_call>{"name": "get-y", "arguments": {}}</tool_call>"#;
        let found = read(&format!("<think>Perhaps {finish}</think>\n{call}"));
        assert_eq!(found.calls, [("get-y".to_owned(), "{}".to_owned())]);
        assert!(found.before.starts_with("<think>"), "the thought stays text: {}", found.before);
    }

    #[test]
    fn what_is_no_call_stays_text() {
        for text in [
            "",
            "I would call weather_for_x.",
            r#"{"name": "no_such_function", "arguments": {}}"#,
            r#"{"name": "weather_for_x", "description": "d", "parameters": {}}"#,
            r#"{"name": "weather_for_x", "parameters": {"type": "object", "properties": {}}}"#,
            "{\"name\": \"weather_for_x\", \"arguments\": {\"city\": ",
            "The Action: weather_for_x is next",
            "[1, 2] {} {{{{ [[[[",
            r#"There are [{"name": "weather_for_x"}, {"name": "get-y"}]"#,
            r#"{"name": "Finish"}"#,
        ] {
            assert_eq!(read(text), WrittenCalls::default(), "{text}");
        }
        let long = format!("{}{{\"name\": \"weather_for_x\"}}", "é".repeat(MOST_BYTES));
        assert_eq!(read(&long), WrittenCalls::default());
    }
}
