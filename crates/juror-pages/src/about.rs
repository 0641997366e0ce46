//! What is known about a run, in words.

use crate::scored_run::ScoredRun;
use juror_compare::Kind;
use juror_runs::Manifest;
use serde_json::Value;

/// Lists what was judged, by whom and when.
pub(crate) fn about(run: &ScoredRun) -> Vec<(String, String)> {
    let mut about = Vec::new();
    let mut tell = |key: &str, value: Option<String>| {
        let value = value.filter(|value| !value.is_empty());
        about.extend(value.map(|value| (key.to_owned(), value)));
    };
    tell("read from", Some(run.facts.source.clone()));
    match &run.manifest {
        None => tell("began", run.facts.began.clone()),
        Some(manifest) => of_manifest(manifest, run.facts.kind, tell),
    }
    about
}

fn of_manifest(run: &Manifest, kind: Kind, mut tell: impl FnMut(&str, Option<String>)) {
    let text = |pointer: &str| Some(run.identity.pointer(pointer)?.as_str()?.to_owned());
    match kind {
        Kind::Eval => {
            tell("reference", text("/reference/name"));
            tell("responses", text("/responses/name"));
            let release = run.identity.pointer("/rules/asked_like_release");
            tell("rules", release.map(|release| format!("profile {release}")));
            tell(
                "judged by",
                text("/judges/chat/model").or_else(|| Some("rules alone, no model".into())),
            );
            tell("relevance by", text("/judges/embedding/model"));
            tell("unjudged", run.unjudged.as_ref().map(ToString::to_string));
        }
        Kind::Bench => {
            tell("agent", text("/agent"));
            tell("model", run.identity.get("model").and_then(short));
            tell("method", text("/method"));
            let judge = |key: &str| run.judge.as_ref()?.get(key).and_then(short);
            tell("judged by", judge("model").or_else(|| judge("method")));
        }
    }
    tell("began", Some(run.began.clone()));
    tell("ended", run.ended.clone().or_else(|| Some("not finished".into())));
    tell(
        "commit",
        run.work_tree.as_ref().map(|tree| match tree.changed {
            Some(true) => format!("{}, with changes", tree.commit),
            _ => tree.commit.clone(),
        }),
    );
    tell("command", Some(run.command.join(" ")));
    tell("id", Some(run.id.clone()));
    tell("Juror", Some(run.juror.clone()));
}

/// A value on one line.
fn short(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}
