//! Responses that were cut off, and which of them are gone on with.

use std::fs;

use serde_json::json;

use crate::stage::{Stage, each, end};

/// Hangs at the third question until there is a file `mended`.
const HANGS_ONCE: &str = "if task['query_id'] == 'q3' and not os.path.exists('mended'): time.sleep(3600)\n\
     say(task, final_answer=str(task.get('trial', 'only')))";

#[test]
fn a_killed_run_loses_nothing_and_goes_on_where_it_was() {
    let stage = Stage::new();
    let agent = stage.script(HANGS_ONCE);
    stage.cut_off("ask", &agent, "-o responses.jsonl --jobs 1 --trials 2", 2);
    assert_eq!(stage.responses().len(), 2);
    assert_eq!(stage.json("responses.jsonl.run.json")["is_complete"], false);
    // A power cut may leave a line that is not whole.
    let torn = stage.read("responses.jsonl") + "{\"question_id\":\"q3\",\"tri";
    stage.write("responses.jsonl", &torn);
    stage.write("mended", "");
    let before = stage.n_asked();
    let ended = stage.ask(&agent, "--trials 2");
    assert_eq!(ended.code, 0, "{ended}");
    assert_eq!(stage.n_asked() - before, 6);
    let responses = stage.responses();
    let ids = ["q1", "q1", "q2", "q2", "q3", "q3", "q4", "q4"];
    assert_eq!(each(&responses, "question_id"), ids);
    assert_eq!(each(&responses, "actual_answer"), ["1", "2"].repeat(4));
    assert_eq!(stage.json("responses.jsonl.run.json")["is_complete"], true);
}

#[test]
fn finished_responses_never_pass_for_new_ones() {
    let stage = Stage::new();
    let agent = stage.script("say(task, final_answer='a')");
    assert_eq!(stage.ask(&agent, "").code, 0);
    let again = stage.ask(&agent, "");
    assert_eq!(again.code, 2, "{again}");
    assert!(again.stderr.contains("all questions are answered"), "{again}");
    let fresh = stage.ask(&agent, "--fresh");
    assert_eq!((fresh.code, stage.n_asked()), (0, 8), "{fresh}");
    assert_eq!(stage.responses().len(), 4);
}

#[test]
fn no_two_agents_share_a_file() {
    let stage = Stage::new();
    let agent = stage.script("say(task, final_answer='a')");
    assert_eq!(stage.ask(&agent, "--limit 1").code, 0);
    for (options, told) in [
        ("--limit 1 --trials 2", "trials changed"),
        ("--limit 1 --name other", "name changed"),
        ("", "queries (t/q2, t/q3, t/q4) changed"),
    ] {
        let ended = stage.ask(&agent, options);
        assert_eq!(ended.code, 2, "{ended}");
        assert!(ended.stderr.contains(told), "{told}: {ended}");
    }
    let on = stage.ask(&agent, "--resume-changed");
    assert_eq!((on.code, stage.n_asked()), (0, 4), "{on}");
}

#[test]
fn errors_are_asked_again_on_demand_only() {
    let stage = Stage::new();
    let agent = stage.script(
        "mended = os.path.exists('mended')\n\
         if task['query_id'] == 'q2' and not mended: say(task, error='no model')\n\
         else: say(task, final_answer='mended' if mended else 'a')",
    );
    assert_eq!(stage.ask(&agent, "").code, 3);
    stage.write("mended", "");
    let ended = stage.ask(&agent, "--retry-errors");
    assert_eq!(ended.code, 0, "{ended}");
    let responses = stage.responses();
    assert_eq!(each(&responses, "actual_answer"), ["a", "mended", "a", "a"]);
    assert_eq!(each(&responses, "question_id"), ["q1", "q2", "q3", "q4"]);
    assert_eq!(stage.n_asked(), 5);
}

#[test]
fn nobody_is_asked_if_the_responses_cannot_be_written() {
    let stage = Stage::new();
    let agent = stage.script("say(task, final_answer='a')");
    for (name, told) in [
        ("nowhere/x.jsonl", "nowhere/x.jsonl: cannot write: there is no such file or folder"),
        ("x.json", "x.json: responses are written one a line\n  hint: name a file that"),
    ] {
        let ended = end(&mut stage.command("ask", &agent, &format!("-o {name}")));
        assert_eq!(ended.code, 2, "{ended}");
        assert!(ended.stderr.contains(told), "{ended}");
    }
    assert!(!stage.path("nowhere").exists());
    assert_eq!(stage.n_asked(), 0);
}

#[test]
fn a_file_that_juror_did_not_write_is_left_alone() {
    let stage = Stage::new();
    let agent = stage.script("say(task, final_answer='a')");
    stage.write("responses.jsonl", "{\"question_id\": \"q1\"}\n");
    let ended = stage.ask(&agent, "--fresh");
    assert_eq!(ended.code, 2, "{ended}");
    assert_eq!(stage.read("responses.jsonl"), "{\"question_id\": \"q1\"}\n");
    fs::create_dir(stage.path("run")).expect("a folder");
    stage.write("run/attempts.jsonl", "precious\n");
    let ended = stage.eval(&agent, "--no-model");
    assert_eq!(ended.code, 2, "{ended}");
    assert_eq!(stage.read("run/attempts.jsonl"), "precious\n");
    assert!(!stage.path("run/run.json").exists());
    assert_eq!(stage.n_asked(), 0);
}

#[test]
fn keys_of_the_command_line_are_not_kept() {
    let stage = Stage::new();
    let agent = stage.script("say(task, final_answer='a')");
    let agent = format!("{agent} --api-key hush-1");
    let ended = end(&mut stage.command("ask", &agent, "-o responses.jsonl"));
    assert_eq!(ended.code, 0, "{ended}");
    let beside = stage.read("responses.jsonl.run.json");
    assert!(!beside.contains("hush"), "{beside}");
    let words = stage.json("responses.jsonl.run.json")["command"].take();
    assert!(
        words.as_array().expect("words").contains(&json!("command:python3 agent.py --api-key ***"))
    );
}

#[test]
fn an_agent_that_does_not_start_costs_no_response() {
    let stage = Stage::new();
    let agent = stage.script("say(task, final_answer='a')");
    assert_eq!(stage.ask(&agent, "").code, 0);
    let before = stage.read("responses.jsonl");
    let ended = stage.ask("command:false", "--fresh");
    assert_ne!(ended.code, 0, "{ended}");
    assert_eq!(stage.read("responses.jsonl"), before);
    assert_eq!(stage.json("responses.jsonl.run.json")["is_complete"], true);
}

#[test]
fn asking_fewer_questions_keeps_the_responses_to_all() {
    let stage = Stage::new();
    let agent = stage.script("say(task, final_answer=str(task.get('trial', 'only')))");
    assert_eq!(stage.ask(&agent, "--trials 2").code, 0);
    let ended = stage.ask(&agent, "--limit 1 --resume-changed");
    assert_eq!(ended.code, 0, "{ended}");
    let ids = ["q1", "q1", "q2", "q2", "q3", "q3", "q4", "q4"];
    assert_eq!(each(&stage.responses(), "question_id"), ids);
}
