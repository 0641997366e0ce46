//! Agents that are objects in Python modules.

use serde_json::json;

use crate::stage::{Stage, each};

const MODULE: &str = "\
import asyncio

def answer(question):
    print('Thinking.')
    return question.upper()

async def slowly(question, trial=None):
    await asyncio.sleep(0)
    return {'final_answer': f'{question} {trial}', 'steps': [{'name': 'lookup', 'output': 'x'}]}

class Agent:
    def __init__(self):
        self.n = 0

    def answer(self, question, task):
        self.n += 1
        if task['query_id'] == 'q2':
            raise LookupError('no idea')
        return self.n

agent = Agent()
not_one = 5
";

fn stage() -> Stage {
    let stage = Stage::new();
    stage.write("my_agent.py", MODULE);
    stage
}

#[test]
fn a_function_of_a_module_answers() {
    let stage = stage();
    let ended = stage.ask("python:my_agent:answer", "");
    assert_eq!(ended.code, 0, "{ended}");
    assert_eq!(stage.responses()[0]["actual_answer"], "WHAT IS Q1?");
    assert!(ended.stderr.contains("Thinking."), "what is printed is no answer: {ended}");
}

#[test]
fn a_coroutine_is_told_its_trial() {
    let stage = stage();
    let ended = stage.ask("python:my_agent:slowly", "--trials 2 --limit 1");
    assert_eq!(ended.code, 0, "{ended}");
    let responses = stage.responses();
    assert_eq!(each(&responses, "actual_answer"), ["What is q1? 1", "What is q1? 2"]);
    assert_eq!(each(&responses, "trial"), [1, 2]);
    assert_eq!(responses[0]["actual_steps"], json!([{"name": "lookup", "output": "x"}]));
}

#[test]
fn an_object_and_a_class_answer_and_an_exception_is_that_questions_error() {
    for object in ["agent", "Agent"] {
        let stage = stage();
        let ended = stage.ask(&format!("python:my_agent:{object}"), "--jobs 1");
        assert_eq!(ended.code, 3, "{ended}");
        let responses = stage.responses();
        assert_eq!(
            each(&responses, "actual_answer"),
            [json!("1"), json!(null), json!("3"), json!("4")]
        );
        assert_eq!(responses[1]["error"], "LookupError: no idea");
        assert!(ended.stderr.contains("Traceback"), "{ended}");
    }
}

#[test]
fn what_cannot_be_imported_or_asked_is_told_with_its_reason() {
    let stage = stage();
    for (agent, told) in [
        ("python:nowhere:answer", "No module named 'nowhere'"),
        ("python:my_agent:nobody", "no attribute 'nobody'"),
        ("python:my_agent:not_one", "int has no method `answer`, and cannot be called"),
    ] {
        let ended = stage.ask(agent, "");
        assert!(ended.code == 2 && ended.stderr.contains(told), "{agent}: {ended}");
    }
}

#[test]
fn a_changed_module_is_another_agent() {
    let stage = stage();
    let ended = stage.ask("python:my_agent:answer", "--limit 1");
    assert_eq!(ended.code, 0, "{ended}");
    stage.write("my_agent.py", "answer = str.lower\n");
    let ended = stage.ask("python:my_agent:answer", "--limit 1");
    assert_eq!(ended.code, 2, "{ended}");
    assert!(ended.stderr.contains("agent files (my_agent.py) changed"), "{ended}");
}
