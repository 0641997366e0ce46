//! The model that judges, and the one that is judged.

use std::collections::BTreeSet;

use juror_scripted::{Script, Server};

use crate::stage::{Ended, Stage, agent};

/// Writes settings that name models by role, all of the same provider.
fn settings(stage: &Stage, models: &[(&str, &str)]) {
    let model =
        |(role, model): &(&str, &str)| format!("{role}: {{provider: openai, model: {model}}}");
    let models: Vec<String> = models.iter().map(model).collect();
    stage.write("juror.yaml", &format!("llm: {{{}}}\n", models.join(", ")));
}

fn bench(stage: &Stage, server: &Server, agent: &str, options: &str) -> Ended {
    let address = format!("{}/v1", server.address());
    let variables = [("OPENAI_API_KEY", "sk-x"), ("OPENAI_BASE_URL", address.as_str())];
    let options = format!("-c juror.yaml --pool own --query-id 1 {options}");
    stage.bench_with(agent, &options, &variables)
}

/// The models that were asked to act, and those that were asked to judge.
fn asked(server: &Server) -> [Vec<String>; 2] {
    [true, false].map(|acts| {
        let seen = server.seen().into_iter();
        let models = seen.filter(|own| own.body.get("tools").is_some() == acts);
        models.map(|own| own.model).collect::<BTreeSet<_>>().into_iter().collect()
    })
}

#[test]
fn agent_and_judge_have_models_of_their_own() {
    for models in [
        [("generation", "actor"), ("judge", "critic")],
        [("generation", "critic"), ("agent", "actor")],
        [("agent", "actor"), ("judge", "critic")],
    ] {
        let stage = Stage::new();
        let server = Server::start(Script::default());
        settings(&stage, &models);
        let ended = bench(&stage, &server, "chat", "");
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert_eq!(asked(&server), [["actor"], ["critic"]], "{models:?}");
        assert!(!ended.stderr.contains("judges itself"), "{}", ended.stderr);
        let config = &stage.results()["metadata"]["config"];
        assert_eq!(config["model"], "openai/actor");
        assert_eq!(config["evaluator_model"], "openai/critic");
        let run = stage.json("run/run.json");
        assert_eq!(run["identity"]["model"]["model"], "openai/actor");
        assert_eq!(run["judge"]["model"], "openai/critic");
    }
}

#[test]
fn a_model_that_judges_itself_is_told_of_once() {
    for models in [
        vec![("generation", "same")],
        vec![("generation", "other"), ("agent", "same"), ("judge", "same")],
    ] {
        let stage = Stage::new();
        let server = Server::start(Script::default());
        settings(&stage, &models);
        let ended = bench(&stage, &server, "chat", "");
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert_eq!(
            ended.stderr.matches("openai/same judges itself").count(),
            1,
            "{}",
            ended.stderr
        );
        let hint = "hint: name another model for judging in `llm.judge` of the settings";
        assert!(ended.stderr.contains(hint), "{}", ended.stderr);
        assert_eq!(asked(&server), [["same"], ["same"]]);
    }
}

#[test]
fn a_judge_that_is_asked_otherwise_or_elsewhere_is_another_judge() {
    let judge = |model: &str| {
        let stage = Stage::new();
        let server = Server::start(Script::default());
        let address = format!("{}/v1", server.address());
        let model = format!("provider: openai_compatible, base_url: '{address}', {model}");
        stage.write("juror.yaml", &format!("llm: {{judge: {{{model}}}}}\n"));
        let agent = agent(&stage, "say(task, final_answer='x')");
        let ended = stage.bench(&agent, "-c juror.yaml --pool own --query-id 1");
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let mut judge = stage.json("run/run.json")["judge"].take();
        assert_eq!(judge["address"], address);
        judge["address"].take();
        judge
    };
    let cold = judge("model: m");
    assert_eq!(cold, judge("model: m"));
    assert_ne!(cold, judge("model: n"));
    assert_ne!(cold, judge("model: m, temperature: 0.7"));
}

#[test]
fn another_judge_is_no_other_run_and_another_agent_is() {
    let stage = Stage::new();
    let server = Server::start(Script::default());
    settings(&stage, &[("generation", "a"), ("judge", "x")]);
    assert_eq!(bench(&stage, &server, "chat", "").code, 0);
    settings(&stage, &[("generation", "a"), ("judge", "y")]);
    let finished = bench(&stage, &server, "chat", "");
    assert!(finished.stderr.contains("this run is finished"), "{}", finished.stderr);
    settings(&stage, &[("generation", "a"), ("judge", "x"), ("agent", "b")]);
    let other = bench(&stage, &server, "chat", "");
    assert!(other.stderr.contains("limits (model), model (model) changed"), "{}", other.stderr);
}

#[test]
fn a_model_for_one_role_is_not_taken_for_the_other() {
    let stage = Stage::new();
    let server = Server::start(Script::default());
    let address = format!("{}/v1", server.address());
    let model = |role: &str| {
        format!(
            "llm: {{{role}: {{provider: openai_compatible, model: m, base_url: '{address}'}}}}\n"
        )
    };
    let options = "-c juror.yaml --pool own --query-id 1";
    stage.write("juror.yaml", &model("agent"));
    let unjudged = stage.bench("chat", options);
    assert_eq!(unjudged.code, 0, "{}", unjudged.stderr);
    assert_eq!(stage.results()["summary"]["unjudged_count"], 1);
    let refused = stage.bench("chat", &format!("{options} --judge model --fresh"));
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("no model is configured"), "{}", refused.stderr);
    stage.write("juror.yaml", &model("judge"));
    let refused = stage.bench("chat", &format!("{options} --fresh"));
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("name one in `llm.agent`"), "{}", refused.stderr);
    let judged =
        stage.bench(&agent(&stage, "say(task, final_answer='x')"), &format!("{options} --fresh"));
    assert_eq!(judged.code, 0, "{}", judged.stderr);
    assert_eq!(stage.results()["results"][0]["evaluation"]["answer_status"], "Solved");
}

#[test]
fn one_ceiling_and_its_prices_cover_both_models() {
    let stage = Stage::new();
    let server = Server::start(Script::default());
    settings(&stage, &[("judge", "gpt-4o-mini"), ("agent", "nobody-knows")]);
    let unpriced = bench(&stage, &server, "chat", "--max-cost 1");
    assert_eq!(unpriced.code, 2, "{}", unpriced.stderr);
    assert!(unpriced.stderr.contains("the price of openai/nobody-knows"), "{}", unpriced.stderr);
    settings(&stage, &[("judge", "gpt-4o"), ("agent", "gpt-4o-mini")]);
    let stopped = bench(&stage, &server, "chat", "--max-cost 0.0000001");
    assert_eq!(stopped.code, 3, "{}", stopped.stderr);
    assert!(server.seen().is_empty());
}

#[test]
fn the_key_of_a_judge_is_withheld_from_agents() {
    let stage = Stage::new();
    let server = Server::start(Script::default());
    let address = format!("{}/v1", server.address());
    stage.write(
        "juror.yaml",
        &format!("llm: {{judge: {{provider: openai_compatible, model: m, base_url: '{address}', api_key: 'env:CRITIC'}}}}\n"),
    );
    let agent = agent(&stage, "say(task, final_answer=os.environ.get('CRITIC', 'withheld'))");
    let ended =
        stage.bench_with(&agent, "-c juror.yaml --query-id 1", &[("CRITIC", "sk-critic-key")]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(stage.results()["results"][0]["system_answer"]["final_answer"], "withheld");
    assert_eq!(server.seen()[0].key.as_deref(), Some("sk-critic-key"));
}
