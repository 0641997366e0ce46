//! Agents that answer like models of `OpenAI`.

use serde_json::json;

use crate::endpoint::{Endpoint, Reply, completion};
use crate::stage::{Stage, each, end};

#[test]
fn an_endpoint_of_chat_completions_is_asked_like_a_model() {
    let stage = Stage::new();
    let server =
        Endpoint::start(|request, _| completion(&request.question().replace("What", "That")));
    let agent = format!("openai:{}/v1", server.address);
    let ended = stage.ask(&agent, "--agent-model my-agent --jobs 1");
    assert_eq!(ended.code, 0, "{ended}");
    let responses = stage.responses();
    assert_eq!(responses[0]["actual_answer"], "That is q1?");
    assert_eq!(
        (&responses[0]["input_tokens"], &responses[0]["total_tokens"]),
        (&json!(5), &json!(7))
    );
    assert_eq!(responses[0].get("actual_steps"), None, "it does not say what it did");
    let request = &server.seen()[0];
    assert_eq!(request.path, "/v1/chat/completions");
    let messages = json!([{"role": "user", "content": "What is q1?"}]);
    assert_eq!(request.body, json!({"model": "my-agent", "messages": messages, "stream": false}));
    assert!(!request.head.to_lowercase().contains("authorization"), "{}", request.head);
}

#[test]
fn steps_that_an_endpoint_does_not_tell_are_not_scored() {
    let stage = Stage::new();
    let server = Endpoint::start(|_, _| completion("That."));
    let agent = format!("openai:{}/v1", server.address);
    let ended = stage.eval(&agent, "--no-model -o results.json");
    assert_eq!(ended.code, 0, "{ended}");
    for result in stage.json("results.json").as_array().expect("results") {
        assert_eq!(result["actual_answer"], "That.", "{result}");
        assert_eq!(result.get("steps_score"), None, "{result}");
    }
}

#[test]
fn what_an_endpoint_of_responses_did_are_its_steps() {
    let stage = Stage::new();
    let server = Endpoint::start(|request, _| {
        let id = request.question().replace("What is ", "").replace('?', "");
        Reply::Json(json!({
            "id": "r", "object": "response", "status": "completed",
            "output": [
                {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "lookup",
                    "arguments": format!("{{\"id\": \"{id}\"}}"), "status": "completed"},
                {"type": "function_call_output", "call_id": "call_1", "output": id},
                {"type": "message", "role": "assistant",
                    "content": [{"type": "output_text", "text": format!("It is {id}.")}]}],
            "usage": {"input_tokens": 11, "output_tokens": 4, "total_tokens": 15},
        }))
    });
    let agent = format!("openai:{}/v1/responses", server.address);
    let ended = stage.ask(&agent, "");
    assert_eq!(ended.code, 0, "{ended}");
    assert_eq!(server.seen()[0].body["stream"], false);
    let first = &stage.responses()[0];
    assert_eq!(
        (&first["actual_answer"], &first["total_tokens"]),
        (&json!("It is q1."), &json!(15))
    );
    let step = &first["actual_steps"][0];
    assert_eq!((&step["name"], &step["id"]), (&json!("lookup"), &json!("call_1")));
    assert_eq!((&step["args"], &step["output"]), (&json!({"id": "q1"}), &json!("q1")));
    let judged = end(&mut stage.command("eval", "", "responses.jsonl --no-model -o results.json"));
    assert_eq!(judged.code, 0, "{judged}");
    assert_eq!(
        each(stage.json("results.json").as_array().expect("results"), "steps_score"),
        [1.0; 4]
    );
}

#[test]
fn a_key_is_sent_only_to_an_address_of_the_command_line() {
    let stage = Stage::new();
    let server = Endpoint::start(|request, _| {
        let line =
            request.head.lines().find(|line| line.to_lowercase().starts_with("authorization"));
        completion(line.unwrap_or("nobody"))
    });
    let agent = format!("openai:{}/v1", server.address);
    let key = ("OPENAI_API_KEY", "sk-0123456789abcdef");
    let ask = |agent: &str, file: &str| {
        let mut command = stage.command("ask", agent, &format!("--limit 1 -o {file}"));
        command.env(key.0, key.1).env("JUROR_AGENT", format!("openai:{}/v1", server.address));
        let ended = end(&mut command);
        assert_eq!(ended.code, 0, "{ended}");
        assert!(!ended.stderr.contains("sk-0123"), "{ended}");
        assert!(!stage.read(&format!("{file}.run.json")).contains("sk-0123"));
        stage.lines(file)[0]["actual_answer"].clone()
    };
    assert_eq!(ask(&agent, "a.jsonl"), "authorization: ***");
    assert_eq!(ask("", "b.jsonl"), "nobody", "the variable names the address");
    let mut command = stage.command("ask", &agent, "--limit 1 -o c.jsonl");
    command.env(key.0, key.1).args(["--agent-header", "Authorization: Basic mine"]);
    assert_eq!(end(&mut command).code, 0);
    assert_eq!(stage.lines("c.jsonl")[0]["actual_answer"], "authorization: Basic mine");
}

#[test]
fn a_server_that_is_busy_or_broken_for_a_moment_is_asked_again() {
    let stage = Stage::new();
    let server = Endpoint::start(|_, n_before| match n_before {
        0 => Reply::Text(429, "retry-after: 0\r\n", r#"{"error": {"message": "slow down"}}"#),
        1 => Reply::Text(500, "", "oops"),
        2 => Reply::Text(503, "", ""),
        _ => completion("at last"),
    });
    let ended = stage.ask(&format!("openai:{}/v1", server.address), "--limit 1");
    assert_eq!(ended.code, 0, "{ended}");
    assert_eq!(stage.responses()[0]["actual_answer"], "at last");
    assert_eq!(server.seen().len(), 4);
}

#[test]
fn whatever_an_endpoint_sends_is_that_questions_error_at_most() {
    let stage = Stage::new();
    let server = Endpoint::start(|request, _| match request.question().as_str() {
        "What is q1?" => Reply::Text(200, "", "<html>no JSON</html>"),
        "What is q2?" => Reply::Text(400, "", r#"{"error": {"message": "which model?"}}"#),
        "What is q3?" => Reply::Hang,
        _ => completion("fine"),
    });
    let ended = stage.ask(&format!("openai:{}/v1", server.address), "--agent-timeout 2");
    assert_eq!(ended.code, 3, "{ended}");
    let responses = stage.responses();
    let error = |at: usize| responses[at]["error"].as_str().unwrap_or("none");
    assert!(error(0).contains("not JSON"), "{responses:?}");
    assert!(error(1).contains("which model?"), "{responses:?}");
    assert!(error(2).contains("did not respond for 2 s"), "{responses:?}");
    assert_eq!((error(3), &responses[3]["actual_answer"]), ("none", &json!("fine")));
    assert_eq!(server.seen().len(), 4, "what was read is not asked for again");
}

#[test]
fn an_empty_reply_is_no_answer() {
    let stage = Stage::new();
    let server = Endpoint::start(|_, _| Reply::Json(json!({"choices": []})));
    let ended = stage.ask(&format!("openai:{}/v1", server.address), "--limit 1");
    assert_eq!(ended.code, 3, "{ended}");
    let error = stage.responses()[0]["error"].take();
    assert!(error.as_str().expect("an error").contains("the agent"), "{error}");
}

#[test]
fn what_an_endpoint_answered_is_told() {
    let stage = Stage::new();
    for (status, header, body, told) in [
        (500, "", "oops", "the agent answers with status 500: oops"),
        (502, "", "<html>\n <h1>Bad\tGateway</h1>", "status 502: <html> <h1>Bad Gateway</h1>"),
        (
            429,
            "retry-after: 60\r\n",
            r#"{"error": {"message": "slow down"}}"#,
            "the agent is busy: status 429: slow down",
        ),
        (
            401,
            "",
            r#"{"error": {"message": "who?"}}"#,
            "the agent refuses the key: status 401: who?",
        ),
        (404, "", "", "the agent is not at this address: status 404"),
        (
            200,
            "",
            "<html>Sign in</html>",
            "is not JSON: expected value at line 1 column 1; it begins with `<html>Sign in</html>`",
        ),
        (200, "", "", "the agent's reply is empty"),
        (
            200,
            "",
            r#"{"detail": "gone"}"#,
            r#"neither `choices` nor `output`; it begins with `{"detail": "gone"}`"#,
        ),
        (200, "", r#"{"choices": []}"#, "has no answer: `choices` is empty"),
    ] {
        let server = Endpoint::start(move |_, _| Reply::Text(status, header, body));
        let agent = format!("openai:{}/v1", server.address);
        let ended = stage.ask(&agent, "--limit 1 --agent-timeout 2 --fresh");
        assert_eq!(ended.code, 3, "{ended}");
        let error = stage.responses()[0]["error"].take();
        assert!(error.as_str().expect("an error").contains(told), "{status} {body}: {error}");
    }
}

#[test]
fn a_password_in_an_address_is_masked_whoever_repeats_it() {
    let stage = Stage::new();
    let server = Endpoint::start(|request, _| match request.question().as_str() {
        "What is q1?" => completion("You are me:hunter2."),
        "What is q2?" => Reply::Text(400, "", r#"{"error": {"message": "wrong: hunter2"}}"#),
        "What is q3?" => Reply::Text(200, "", "hunter2 is no JSON"),
        _ => {
            let sent = request.head.lines().find(|line| line.starts_with("authorization"));
            completion(sent.unwrap_or("nobody"))
        }
    });
    let address = server.address.replace("http://", "http://me:hunter2@");
    for kind in ["openai:", ""] {
        let agent = format!("{kind}{address}/v1");
        let ended = stage.ask(&agent, "--fresh");
        assert_eq!(ended.code, 3, "{ended}");
        let text = stage.read("responses.jsonl");
        let said = [text.clone(), stage.read("responses.jsonl.run.json"), ended.to_string()];
        // The password as it is, and as requests have it.
        for secret in ["hunter2", "bWU6aHVudGVyMg=="] {
            assert!(said.iter().all(|said| !said.contains(secret)), "{said:?}");
        }
        assert!(text.contains("***"), "{text}");
    }
    let agent = format!("openai:{address}/v1");
    let ended = stage.eval(&agent, "--no-model --jobs 1");
    assert_eq!(ended.code, 3, "{ended}");
    for name in ["attempts.jsonl", "results.jsonl", "run.json"] {
        assert!(!stage.read(&format!("run/{name}")).contains("hunter2"), "{name}");
    }
}

#[test]
fn a_password_says_who_asks_in_place_of_a_key() {
    let stage = Stage::new();
    let server = Endpoint::start(|request, _| {
        let sent = request.head.lines().find(|line| line.starts_with("authorization"));
        completion(if sent.is_some_and(|sent| sent.contains("Basic ")) { "basic" } else { "other" })
    });
    let address = server.address.replace("http://", "http://me:hunter2@");
    let mut command = stage.command("ask", &format!("openai:{address}/v1"), "--limit 1 -o a.jsonl");
    assert_eq!(end(command.env("OPENAI_API_KEY", "sk-0123456789abcdef")).code, 0);
    assert_eq!(stage.lines("a.jsonl")[0]["actual_answer"], "basic");
}

#[test]
fn parts_of_an_answer_that_are_left_out_are_told() {
    let stage = Stage::new();
    let server = Endpoint::start(|_, _| {
        let parts =
            json!([{"type": "text", "text": "See:"}, {"type": "image_url", "image_url": {}}]);
        let message = json!({"role": "assistant", "content": parts});
        Reply::Json(json!({"choices": [{"message": message, "finish_reason": "length"}]}))
    });
    let ended = stage.ask(&format!("openai:{}/v1", server.address), "--limit 1");
    assert_eq!(ended.code, 0, "{ended}");
    let response = &stage.responses()[0];
    assert_eq!(response["actual_answer"], "See:");
    let remarks = json!([
        "the answer was cut off at the limit of tokens (`length`)",
        "parts that are not text were left out: 1 × image"
    ]);
    assert_eq!(response["remarks"], remarks);
    assert!(ended.stderr.contains("note: the answer was cut off"), "{ended}");
}
