//! Agents that are commands, and servers that speak the same objects.

use serde_json::json;

use crate::endpoint::{Endpoint, Reply};
use crate::stage::{Stage, each, end};

#[test]
fn a_command_answers_every_question_with_its_steps() {
    let stage = Stage::new();
    let agent = stage.script(
        "id = task['query_id']\n\
         assert task['query'] == f'What is {id}?' and task['tools'] == [] and 'trial' not in task\n\
         say(task, final_answer=f'It is {id}.', input_tokens=3, output_tokens=4, usd=0.5,\n\
             steps=[{'name': 'lookup', 'id': 's', 'status': 'success', 'output': id}])",
    );
    let ended = stage.ask(&agent, "--jobs 2");
    assert_eq!(ended.code, 0, "{ended}");
    let responses = stage.responses();
    assert_eq!(each(&responses, "question_id"), ["q1", "q2", "q3", "q4"], "in their order");
    let first = &responses[0];
    assert_eq!(first["actual_answer"], "It is q1.");
    assert_eq!(first["actual_steps"][0]["output"], "q1");
    assert_eq!((&first["total_tokens"], &first["usd"]), (&json!(7), &json!(0.5)));
    assert!(first["elapsed_sec"].is_f64() && first.get("status").is_none());
    assert!(ended.stderr.contains("4 responses in responses.jsonl"), "{ended}");
    let judged = end(&mut stage.command("eval", "", "responses.jsonl --no-model -o results.json"));
    assert_eq!(judged.code, 0, "{judged}");
    assert_eq!(
        each(stage.json("results.json").as_array().expect("results"), "steps_score"),
        [1.0; 4]
    );
}

#[test]
fn a_documented_response_is_an_answer_too() {
    let stage = Stage::new();
    let agent = stage.script(
        "print(json.dumps({'question_id': task['query_id'], 'actual_answer': 'a', 'elapsed_sec': 9.5,\n\
             'actual_steps': [{'name': 'lookup', 'output': 'x'}], 'total_tokens': 8}), flush=True)",
    );
    let ended = stage.ask(&agent, "");
    assert_eq!(ended.code, 0, "{ended}");
    let first = &stage.responses()[0];
    assert_eq!((&first["elapsed_sec"], &first["total_tokens"]), (&json!(9.5), &json!(8)));
    assert_eq!(first["actual_steps"], json!([{"name": "lookup", "output": "x"}]));
}

#[test]
fn lines_that_are_not_json_are_passed_on_and_cost_nothing() {
    let stage = Stage::new();
    let agent = stage.script(
        "print('Thinking of ' + task['query_id'], flush=True)\n\
         print('{\"level\": \"info\"}', flush=True)\nsay(task, final_answer='a')",
    );
    let ended = stage.ask(&agent, "--jobs 1");
    assert_eq!(ended.code, 0, "{ended}");
    for id in ["q1", "q2", "q3", "q4"] {
        assert!(ended.stderr.contains(&format!("Thinking of {id}\n")), "{ended}");
    }
    assert!(ended.stderr.contains("{\"level\": \"info\"}"), "{ended}");
    assert!(!ended.stderr.contains("warning"), "{ended}");
}

#[test]
fn a_question_whose_agent_fails_is_an_error_response_and_the_run_goes_on() {
    let stage = Stage::new();
    let agent = stage.script(
        "if task['query_id'] == 'q1': sys.exit(7)\n\
         elif task['query_id'] == 'q2': time.sleep(3600)\n\
         elif task['query_id'] == 'q3': say(task, error='no model', final_answer=None)\n\
         else: say(task, final_answer='a')",
    );
    let ended = stage.ask(&agent, "--agent-timeout 2 --jobs 2");
    assert_eq!(ended.code, 3, "{ended}");
    let responses = stage.responses();
    let error = |at: usize| responses[at]["error"].as_str().unwrap_or("none");
    assert!(error(0).contains("the agent ended (exit status: 7)"), "{responses:?}");
    assert!(error(1).contains("did not respond for 2 s"), "{responses:?}");
    assert_eq!((error(2), error(3)), ("no model", "none"));
    assert_eq!(responses[0]["status"], "error");
    assert!(ended.stderr.contains("3 of 4 answers ended with an error"), "{ended}");
}

#[test]
fn answers_go_to_standard_output_unless_a_file_is_named() {
    let stage = Stage::new();
    let agent = stage.script("say(task, final_answer='a')");
    let ended = end(&mut stage.command("ask", &agent, "--limit 2"));
    assert_eq!((ended.code, ended.stdout.lines().count()), (0, 2), "{ended}");
    assert!(ended.stdout.starts_with("{\"question_id\":\"q1\""), "{ended}");
    let one = end(&mut stage.command("ask", &agent, "--question-id q3 --quiet"));
    assert!(one.stdout.starts_with("{\"question_id\":\"q3\""), "{one}");
    assert_eq!(one.stderr, "");
}

#[test]
fn a_server_is_asked_by_post_and_its_secrets_stay_secret() {
    let stage = Stage::new();
    let server = Endpoint::start(|request, _| {
        let heard = request.head.contains("authorization: Bearer hush-hush-hush");
        let said = if heard { "I was told hush-hush-hush." } else { "nobody" };
        Reply::Json(json!({"final_answer": said, "steps": [{"name": "lookup", "output": "x"}]}))
    });
    let line = ["-o", "responses.jsonl", "--agent-header", "Authorization: Bearer env:MINE"];
    let mut command = stage.command("ask", &server.address, "");
    let ended = end(command.args(line).env("MINE", "hush-hush-hush"));
    assert_eq!(ended.code, 0, "{ended}");
    assert_eq!(stage.responses()[0]["actual_answer"], "I was told ***.");
    assert_eq!(server.seen()[0].body["type"], "answer");
    for text in
        [stage.read("responses.jsonl"), stage.read("responses.jsonl.run.json"), ended.stderr]
    {
        assert!(!text.contains("hush"), "{text}");
    }
    let mut command = stage.command("eval", &server.address, "--run run --no-model");
    let ended = end(command.args(["--agent-header", "X-Api-Key: hush-hush-hush"]));
    assert_eq!(ended.code, 0, "{ended}");
    for file in ["run/run.json", "run/attempts.jsonl", "run/results.jsonl"] {
        assert!(!stage.read(file).contains("hush"), "{file}");
    }
}

#[test]
fn tools_are_served_and_calls_are_steps() {
    let stage = Stage::new();
    let agent = stage.script(
        "import urllib.request\n\
         body = {'category': 'Weather', 'tool_name': 'garden_weather', 'api_name': 'current', 'tool_input': {'garden': 'Thornfold'}, 'strip': '', 'toolbench_key': ''}\n\
         request = urllib.request.Request(task['virtual_url'], json.dumps(body).encode(), {'Content-Type': 'application/json'})\n\
         urllib.request.urlopen(request).read()\nsay(task, final_answer='overcast')",
    );
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let tools = format!("--tools {examples}/tools --tool-cache {examples}/tool_cache --limit 1");
    let ended = stage.ask(&agent, &tools);
    assert_eq!(ended.code, 0, "{ended}");
    let step = stage.responses()[0]["actual_steps"][0].take();
    assert_eq!(
        (&step["name"], &step["status"]),
        (&json!("current_for_garden_weather"), &json!("success"))
    );
    assert_eq!(step["output"]["sky"], "overcast");
}

#[test]
fn agents_that_there_are_not_are_refused_before_anything_is_written() {
    let stage = Stage::new();
    for (agent, told) in [
        ("robot", "there is no agent `robot`"),
        ("recorded:run", "recorded answers are not asked for"),
        ("openai:host", "there is no address after `openai:`"),
        ("python:agent", "`module:object`"),
        ("command:", "names no command"),
        ("command:no-such-program", "cannot be started"),
    ] {
        let ended = stage.ask(agent, "");
        assert_eq!(ended.code, 2, "{agent}: {ended}");
        assert!(ended.stderr.contains(told), "{agent}: {ended}");
    }
    let gone = stage.ask("http://127.0.0.1:9/answer", "");
    assert_eq!(gone.code, 3, "{gone}");
    let gone = stage.eval("openai:http://127.0.0.1:9/v1", "--no-model");
    assert_eq!(gone.code, 3, "{gone}");
    for name in ["responses.jsonl", "responses.jsonl.run.json", "run"] {
        assert!(!stage.path(name).exists(), "{name}");
    }
    let odd = end(&mut stage.command("ask", "chat", "-o responses.json"));
    assert!(odd.code == 2 && odd.stderr.contains(".jsonl"), "{odd}");
}
