//! What an agent sees, and the outcome of one call.
//!
//! The prompts are taken from each case, because Juror has its own.

use std::sync::OnceLock;

use juror_agents::environment::{Environment, Setup, Step, ToolReply, Wording};
use juror_json::python::dumps_of_json;
use juror_toolbench::names::official_name;
use juror_toolbench::{Api, Form, Offer, Parameters};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::families::queries;
use crate::pools::Pools;
use crate::{Checked, same, text};

/// Returns `None` if the case's pool is missing.
pub(crate) fn build(input: &Value, wanted: &Value, pools: &Pools) -> Option<Checked> {
    let catalog = pools.get(text(&input["tool_root_dir"]))?;
    let queries = queries(&json!([input]));
    let form = Form::Official;
    let setup = Setup { form, wording: wording(wanted), ..Setup::default() };
    let environment = Environment::new(&catalog.offers_of(&queries[0]), &setup);
    Some(check_built(&environment, wanted))
}

/// The text before the first tool and the description of `Finish`. Few cases have them, and all
/// have the same.
fn wording(wanted: &Value) -> Wording {
    static FINISH: OnceLock<(String, String)> = OnceLock::new();
    let task = text(&wanted["task_description"]);
    let end = task.find(" tools:\n").map_or(task.len(), |at| at + " tools:\n".len());
    if let Some(last) = wanted["functions"].as_array().and_then(|list| list.last()) {
        let of = |pointer: &str| text(last.pointer(pointer).expect("a text")).to_owned();
        let answer = "/function/parameters/properties/final_answer/description";
        FINISH.get_or_init(|| (of("/function/description"), of(answer)));
    }
    let (finish, final_answer) = FINISH.get().cloned().expect("the first case has them");
    Wording { task: task[..end].to_owned(), finish, final_answer, ..Wording::default() }
}

fn check_built(environment: &Environment, wanted: &Value) -> Checked {
    let targets: Vec<_> = environment.targets().collect();
    // Shared names have a hash (`dep-names-1`).
    let public: Vec<String> = targets
        .iter()
        .map(|target| official_name(&target.tool, &target.api))
        .chain(["Finish".to_owned()])
        .collect();
    let reflect: serde_json::Map<String, Value> = public
        .iter()
        .zip(&targets)
        .map(|(name, target)| (name.clone(), json!(target.standard_api)))
        .collect();
    let got = json!({
        "task_description": environment.task(),
        "function_names": public,
        "api_name_reflect": reflect,
        "tool_names": targets.iter().map(|target| &target.standard_tool).collect::<Vec<_>>(),
        "cate_names": targets.iter().map(|target| &target.category).collect::<Vec<_>>(),
    });
    for (key, value) in got.as_object().expect("an object") {
        same(value, &wanted[key])?;
    }
    let mut names: Vec<&str> = environment.functions().map(|function| &*function.name).collect();
    let functions: Vec<Value> = environment
        .functions()
        .zip(&public)
        .map(|(function, public)| {
            let json = json!(function).to_string().replace(&function.name, public);
            as_public(serde_json::from_str(&json).expect("JSON"))
        })
        .collect();
    if let Some(wanted) = wanted.get("functions") {
        same(&json!(functions), wanted)?;
    }
    let dumped = dumps_of_json(&json!(functions).to_string()).expect("JSON");
    let hash: String =
        Sha256::digest(dumped).iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    same(&json!(hash), &wanted["functions_sha256"])?;
    let n_functions = names.len();
    names.sort_unstable();
    names.dedup();
    same(&json!(names.len()), &json!(n_functions))
}

/// Reproduces bugs of the public agents: empty names in both lists, and no optional parameters if
/// none is required (`dep-fn-1`, `dep-fn-2`).
fn as_public(mut function: Value) -> Value {
    let parameters = &mut function["function"]["parameters"];
    if parameters.get("optional").is_none() {
        return function;
    }
    if parameters["required"] == json!([]) {
        parameters["properties"] = json!({});
        parameters["optional"] = json!([]);
    }
    for list in ["required", "optional"] {
        parameters[list].as_array_mut().expect("a list").insert(0, json!(""));
    }
    function
}

pub(crate) fn step(input: &Value, wanted: &Value) -> Checked {
    let got = with_functions(input, |environment| take_step(environment, input));
    check_step(input, &got, wanted)
}

fn names(input: &Value) -> Vec<&str> {
    input["functions"].as_array().expect("a list").iter().map(text).collect()
}

fn with_functions<T>(input: &Value, then: impl Fn(&Environment) -> T) -> T {
    let names = names(input);
    let apis: Vec<Api> = names.iter().map(|name| api(before_for(name))).collect();
    let tools: Vec<String> = (0..names.len()).map(|number| format!("t{number}")).collect();
    let offers: Vec<Offer<'_>> = names
        .iter()
        .zip(&apis)
        .zip(&tools)
        .map(|((name, api), tool)| Offer {
            category: "Data",
            tool,
            tool_description: "",
            api,
            name: Some(name),
        })
        .collect();
    let longest_observation =
        usize::try_from(input["max_observation_length"].as_u64().expect("a number")).expect("fits");
    then(&Environment::new(&offers, &Setup { longest_observation, ..Setup::default() }))
}

fn before_for(name: &str) -> &str {
    name.split("_for_").next().unwrap_or(name)
}

fn api(name: &str) -> Api {
    Api {
        name: name.to_owned(),
        description: String::new(),
        method: String::new(),
        url: String::new(),
        required: Parameters::default(),
        optional: Parameters::default(),
        schema: None,
        described: None,
    }
}

fn take_step(environment: &Environment, input: &Value) -> Value {
    let mut sent = Vec::new();
    let observation =
        match environment.step(text(&input["action_name"]), text(&input["action_input"])) {
            Step::Told(observation) => observation,
            Step::Search(search) => panic!("no search is offered: {search:?}"),
            Step::Call(call) => {
                let target = &call.target;
                sent.push(json!({"payload": {
                "category": target.category, "tool_name": target.standard_tool,
                "api_name": target.standard_api, "tool_input": call.arguments,
                "strip": "truncate", "toolbench_key": "K",
            }, "timeout": null}));
                environment.observe(&reply(&input["http_reply"]))
            }
        };
    json!({
        "observation": observation.text, "code": observation.code as i8,
        "success": i32::from(observation.code as i8 == 3), "sent": sent,
    })
}

fn reply(reply: &Value) -> ToolReply {
    match reply {
        Value::Array(pair) => ToolReply::Answered {
            status: pair[0]
                .as_u64()
                .and_then(|status| u16::try_from(status).ok())
                .expect("a status"),
            body: text(&pair[1]).to_owned(),
        },
        _ => ToolReply::TimedOut,
    }
}

fn check_step(input: &Value, got: &Value, wanted: &Value) -> Checked {
    if wanted.get("observation_is_error") == Some(&json!(true)) {
        let told = text(&got["observation"]).starts_with("{\"error\": \"");
        return same(&json!([told, got["code"]]), &json!([true, wanted["code"]]));
    }
    // The public agents take an API's name for that of a longer one (`dep-env-1`).
    let (names, action) = (names(input), text(&input["action_name"]));
    if let Some(at) = names.iter().position(|name| *name == action)
        && names.iter().position(|name| name.ends_with(action)) != Some(at)
    {
        let called = &got["sent"][0]["payload"]["tool_name"];
        return same(called, &json!(format!("t{at}")));
    }
    for (key, value) in wanted.as_object().expect("an object") {
        // The caller does the waiting (`dep-env-3`).
        if key != "sleeps" {
            same(&got[key], value)?;
        }
    }
    Ok(())
}

/// Makes a case of one step.
pub(crate) fn step_of(functions: &[&str], action: &str, arguments: &str, reply: &Value) -> Value {
    let input = json!({"functions": functions, "action_name": action, "action_input": arguments,
        "http_reply": reply, "max_observation_length": 1024});
    with_functions(&input, |environment| take_step(environment, &input))
}
