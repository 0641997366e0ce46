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
        let error = "LookupError: no idea (my_agent.py:18, in answer)";
        assert_eq!(responses[1]["error"], error);
        let shown = format!("{error}\n  my_agent.py:18, in answer: raise LookupError('no idea')\n");
        assert!(ended.stderr.contains(&shown), "{ended}");
        assert!(!ended.stderr.contains("Traceback"), "{ended}");
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
        assert!(!ended.stderr.contains("Traceback"), "{agent}: {ended}");
    }
    stage.write("lacking.py", "import nothing_like_it\n");
    stage.write("broken.py", "def answer(:\n");
    stage.write(
        "failing.py",
        "class Agent:\n    def __init__(self):\n        raise ValueError('no key')\n",
    );
    for (agent, told, hint) in [
        (
            "nowhere:answer",
            "cannot import `nowhere`",
            "run juror in the folder that has nowhere.py",
        ),
        ("lacking:answer", "(lacking.py:1, in <module>)", "install `nothing_like_it` for "),
        ("broken:answer", "SyntaxError: invalid syntax (broken.py:1)", "imports it"),
        ("my_agent:nobody", "no attribute 'nobody'", "it has: answer, slowly, Agent, agent"),
        (
            "failing:Agent",
            "`Agent()` fails: ValueError: no key (failing.py:3, in __init__)",
            "a class",
        ),
    ] {
        let ended = stage.ask(&format!("python:{agent}"), "");
        assert!(ended.code == 2 && ended.stderr.contains(told), "{agent}: {ended}");
        let hints = ended.stderr.lines().filter(|line| line.starts_with("  hint: "));
        let hints: Vec<&str> = hints.collect();
        assert!(hints.len() == 1 && hints[0].contains(hint), "{agent}: {ended}");
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
