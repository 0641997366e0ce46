//! Files of every container, and everything that is odd about them.

use std::io::Read;

use juror_traces::{Conversation, ImportError, Importer, Oddity, Report, Rules, is_trace};
use serde_json::{Value, json};

fn import_all(files: &[&[u8]]) -> Result<(Vec<Conversation>, Report), ImportError> {
    let mut conversations = Vec::new();
    let mut importer = Importer::new(Rules::default(), None);
    for file in files {
        importer.read("trace", &mut &file[..], &mut |found| conversations.push(found))?;
    }
    let report = importer.finish(&mut |found| conversations.push(found))?;
    Ok((conversations, report))
}

fn import(text: &str) -> (Vec<Conversation>, Report) {
    import_all(&[text.as_bytes()]).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn chat(question: &str, answer: &str) -> Value {
    json!([{"role": "user", "content": question}, {"role": "assistant", "content": answer}])
}

fn answers(conversations: &[Conversation]) -> Vec<(Option<&str>, Option<&str>)> {
    conversations
        .iter()
        .map(|found| (found.question_id.as_deref(), found.answer.as_deref()))
        .collect()
}

#[test]
fn conversations_are_found_in_every_container() {
    let (one, two) = (chat("a?", "A"), chat("b?", "B"));
    let named = |id: &str, messages: &Value| json!({"question_id": id, "messages": messages});
    let both = [(Some("q1"), Some("A")), (Some("q2"), Some("B"))];
    for text in [
        json!({"q1": one, "q2": two}).to_string(),
        json!([named("q1", &one), named("q2", &two)]).to_string(),
        format!("{}\n{}\n", named("q1", &one), named("q2", &two)),
        json!({"data": [named("q1", &one), {"metadata": {"question_id": "q2"}, "messages": two}]})
            .to_string(),
        serde_json::to_string_pretty(&json!({"q1": {"messages": one}, "q2": {"messages": two}}))
            .expect("JSON"),
    ] {
        let (conversations, report) = import(&text);
        assert_eq!(answers(&conversations), both, "{text}");
        assert!(
            report.recognized().starts_with("trace: OpenAI chat messages"),
            "{}",
            report.recognized()
        );
    }
    for text in [one.to_string(), format!("{}\n{}\n", one[0], one[1]), json!([one]).to_string()] {
        assert_eq!(answers(&import(&text).0), [(None, Some("A"))], "{text}");
    }
}

#[test]
fn requests_with_their_replies_are_one_conversation() {
    let call = json!({"role": "assistant", "content": null, "tool_calls": [{"id": "a", "function": {"name": "t", "arguments": "{}"}}]});
    let first = json!({"request": {"messages": [{"role": "user", "content": "a?"}]}, "response": {"choices": [{"message": call}], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}});
    let second = json!({"request": {"messages": [{"role": "user", "content": "a?"}, call, {"role": "tool", "tool_call_id": "a", "content": "one"}]}, "response": {"choices": [{"message": {"role": "assistant", "content": "A"}}], "usage": {"prompt_tokens": 5, "completion_tokens": 1}}});
    let (conversations, report) = import(&format!("{first}\n{second}\n"));
    assert_eq!(answers(&conversations), [(None, Some("A"))]);
    assert_eq!(conversations[0].steps[0].output.as_deref(), Some("one"));
    assert_eq!(report.count(Oddity::RepeatedHistory), 1);
}

#[test]
fn several_conversations_of_a_question_are_kept_apart() {
    let messages = |answer: &str| json!({"question_id": "q1", "messages": chat("a?", answer)});
    let (conversations, _) = import(&format!("{}\n{}\n", messages("A"), messages("B")));
    assert_eq!(answers(&conversations), [(Some("q1"), Some("A")), (Some("q1"), Some("B"))]);
}

#[test]
fn what_is_cut_off_is_read_as_far_as_it_goes() {
    let whole = json!({"q1": chat("a?", "A"), "q2": chat("b?", "B")}).to_string();
    let (conversations, report) = import(&whole[..whole.len() - 20]);
    assert_eq!(conversations[0].answer.as_deref(), Some("A"));
    assert_eq!(report.count(Oddity::CutOff), 1);
    let line = json!({"question_id": "q1", "messages": chat("a?", "A")}).to_string();
    let (conversations, report) = import(&format!("{line}\n{}", &line[..line.len() - 30]));
    assert_eq!(conversations[0].answer.as_deref(), Some("A"));
    assert_eq!(report.count(Oddity::CutOff), 1);
    let span = json!({"traceId": "t", "spanId": "s", "name": "x", "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}}, {"key": "gen_ai.tool.name", "value": {"stringValue": "t"}}]});
    let spans = json!({"resourceSpans": [{"scopeSpans": [{"spans": [span, span]}]}]}).to_string();
    let (conversations, report) = import(&spans[..spans.len() - 40]);
    assert_eq!((conversations[0].steps.len(), report.count(Oddity::CutOff)), (1, 1));
}

#[test]
fn lines_that_are_not_json_are_counted_and_left_out() {
    let line = json!({"question_id": "q1", "messages": chat("a?", "A")}).to_string();
    let (conversations, report) = import(&format!("{line}\nnot JSON\n{{\"mine\": 1}}\n\n{line}\n"));
    assert_eq!(conversations.len(), 2);
    assert_eq!((report.count(Oddity::NotJson), report.count(Oddity::UnknownRecord)), (1, 1));
    let told = report.explain();
    assert!(told.contains("1 × not JSON: a record was left out; first at trace:2"), "{told}");
}

#[test]
fn what_is_no_conversation_among_conversations_is_counted() {
    let odd = [json!("garbage"), json!([]), json!(null), json!({"foo": 1}), json!(7)];
    let mut map = json!({"q1": chat("a?", "A")});
    for (at, value) in odd.iter().enumerate() {
        map[format!("q{}", at + 2)] = value.clone();
    }
    let mut list = vec![chat("a?", "A")];
    list.extend(odd);
    for (all, first) in [(map, "trace:/q2"), (json!(list), "trace:/1")] {
        let (conversations, report) = import(&all.to_string());
        assert_eq!((conversations.len(), report.count(Oddity::UnknownRecord)), (1, 5), "{all}");
        assert!(report.explain().contains(&format!("first at {first}")), "{}", report.explain());
        let warned = "trace: 5 records are of no known dialect, and were left out";
        assert_eq!(report.warnings(), [warned], "{all}");
    }
    // What stands around conversations is none.
    let (_, report) = import(&json!({"version": 1, "data": [chat("a?", "A")]}).to_string());
    assert_eq!(report.count(Oddity::UnknownRecord), 0);
}

#[test]
fn a_bad_first_line_costs_that_line_alone() {
    let line = json!({"question_id": "q1", "messages": chat("a?", "A")}).to_string();
    for (first, oddity) in [
        ("null", Oddity::UnknownRecord),
        ("1", Oddity::UnknownRecord),
        ("\"x\"", Oddity::UnknownRecord),
        ("[]", Oddity::UnknownRecord),
        ("{}", Oddity::UnknownRecord),
        ("INFO starting", Oddity::NotJson),
        ("{cut", Oddity::NotJson),
        (&line[..line.len() - 30], Oddity::CutOff),
    ] {
        let text = format!("{first}\n{line}\n{line}\n");
        let (conversations, report) = import(&text);
        let n_whole = conversations.iter().filter(|found| found.answer.is_some()).count();
        assert_eq!((n_whole, report.count(oddity)), (2, 1), "{first}");
        assert!(is_trace(text.as_bytes()), "{first}");
        assert!(report.explain().contains("first at trace:1"), "{}", report.explain());
    }
    // A value that goes on in other lines is no file of lines.
    let pretty = format!("[\n{line},\n{line}\n]");
    assert_eq!(import(&pretty).1.count(Oddity::NotJson), 0);
    import_all(&[format!("[\n{line},\n{line},\n]").as_bytes()]).expect_err("a comma too many");
}

#[test]
fn mixed_dialects_are_read_and_counted() {
    let (conversations, report) = import(&json!([
        {"role": "user", "content": "a?"},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "a", "function": {"name": "t", "arguments": "{}"}}]},
        {"type": "tool", "content": "one", "tool_call_id": "a"},
        {"role": "assistant", "content": "A"}]).to_string());
    assert_eq!(conversations[0].steps[0].output.as_deref(), Some("one"));
    assert_eq!(conversations[0].answer.as_deref(), Some("A"));
    let (_, mixed) = import(&format!(
        "{}\n{}\n",
        json!({"role": "user", "content": "a?"}),
        json!({"part_kind": 1, "kind": "response", "parts": [{"part_kind": "text", "content": "A"}]})
    ));
    assert_eq!((report.count(Oddity::MixedDialects), mixed.count(Oddity::MixedDialects)), (3, 1));
}

#[test]
fn an_unknown_dialect_is_refused_with_what_was_looked_for() {
    for (text, found) in [
        ("{\"mine\": 1}", "an object with the keys mine"),
        ("[1, 2]", "a list of a number"),
        ("", "it is empty"),
        ("plain words\nof a text", "neither JSON nor OTLP's protobuf"),
        ("{\n\"a\": }", "it is not JSON"),
    ] {
        let told = import_all(&[text.as_bytes()])
            .err()
            .unwrap_or_else(|| panic!("{text} is refused"))
            .to_string();
        assert!(told.contains(found), "{told}");
        assert!(
            told.contains("OTLP: `resourceSpans`") && told.contains("MCP log: `jsonrpc`"),
            "{told}"
        );
    }
}

#[test]
fn spans_of_a_trace_may_be_in_several_files() {
    let span = |id: &str, attributes: Value| {
        json!({"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "t", "spanId": id, "name": "x", "startTimeUnixNano": "1785578401000000000", "attributes": attributes}]}]}]}).to_string()
    };
    let text = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    let tool = span(
        "s1",
        json!([text("gen_ai.operation.name", "execute_tool"), text("gen_ai.tool.name", "t")]),
    );
    let root = span(
        "s0",
        json!([text("gen_ai.operation.name", "invoke_agent"), text("question_id", "q1")]),
    );
    let (conversations, report) =
        import_all(&[tool.as_bytes(), root.as_bytes()]).expect("imported");
    assert_eq!((conversations.len(), conversations[0].question_id.as_deref()), (1, Some("q1")));
    assert_eq!(report.files.len(), 2);
    assert_eq!(report.files[0].recognized(), "OTLP (1 record); spans: 1 of GenAI");
}

#[test]
fn traces_are_told_from_responses() {
    let check = |text: &str, wanted: bool| assert_eq!(is_trace(text.as_bytes()), wanted, "{text}");
    check("{\"question_id\": \"q1\", \"actual_answer\": \"A\"}\n", false);
    check("{\"q1\": {\"actual_steps\": []}}", false);
    check("{\"question_id\": \"q1\", \"error\": \"down\"}", false);
    check("{\"mine\": 1}", false);
    check("", false);
    check(&json!({"question_id": "q1", "messages": chat("a?", "A")}).to_string(), true);
    check("{\"resourceSpans\": [", true);
    check("user_input,response\na,b\n", true);
    let long = serde_json::to_string_pretty(
        &json!({"q1": chat(&"a".repeat(5000), &"A".repeat(500)), "q2": []}),
    )
    .expect("JSON");
    check(&long[..3000], false);
    check(&long[..5200], true);
}

/// A source that gives one byte at a time.
struct Slow<'t>(&'t [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let [first, rest @ ..] = self.0 else { return Ok(0) };
        buffer[0] = *first;
        self.0 = rest;
        Ok(1)
    }
}

#[test]
fn it_does_not_matter_how_bytes_come() {
    let line = json!({"question_id": "q1", "messages": chat("ä?", "Ä")}).to_string();
    let text = format!("{line}\r\n{line}");
    let mut conversations = Vec::new();
    let mut importer = Importer::new(Rules::default(), None);
    importer
        .read("slow", &mut Slow(text.as_bytes()), &mut |found| conversations.push(found))
        .expect("read");
    assert_eq!(answers(&conversations), [(Some("q1"), Some("Ä")), (Some("q1"), Some("Ä"))]);
}
