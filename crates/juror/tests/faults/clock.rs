//! Clocks that are set while a program works.

use juror_testing::{ClockJump, Ended};
use serde_json::Value;

use crate::eval::Outcome;
use crate::points::is_thorough;
use crate::serve;
use crate::stage::{N_QUESTIONS, Stage};

const COMMAND: &str = "eval reference.json responses.jsonl -c juror.yaml --run run --cache cache \
     -o out.jsonl -a totals.json -q";

const YEAR: i64 = 365 * 86_400;
const DAY: i64 = 86_400;

/// Jumps before the first look at the clock, at each of the next ones, and late.
fn jumps() -> Vec<ClockJump> {
    let step = if is_thorough() { 1 } else { 7 };
    let of = |seconds| (0..40).step_by(step).map(move |after| ClockJump { seconds, after });
    [YEAR, -DAY].into_iter().flat_map(of).collect()
}

#[test]
fn an_evaluation_does_not_mind_a_clock_that_jumps() {
    let stage = Stage::new();
    assert_eq!(stage.run(COMMAND).code, 0);
    let whole = Outcome::of(&stage);
    for jump in jumps() {
        let stage = Stage::new();
        let mut command = stage.command(COMMAND);
        if !jump.apply(&mut command) {
            return;
        }
        let ended = Ended::of(&mut command);
        assert_eq!(ended.code, 0, "{jump:?}: {ended}");
        assert_eq!(Outcome::of(&stage), whole, "{jump:?}");
        // Replies of the future or the past are known to whoever has another clock.
        let again = stage.run(&COMMAND.replace("--run run", "--run other"));
        assert_eq!((again.code, stage.model.seen().len()), (0, N_QUESTIONS), "{jump:?}: {again}");
        let listed = stage.run("runs . --json");
        assert_eq!(listed.code, 0, "{jump:?}: {listed}");
        let listed: Value = serde_json::from_str(&listed.stdout).expect("JSON");
        assert_eq!(listed.as_array().map(Vec::len), Some(2), "{listed}");
        assert!(listed.as_array().expect("runs").iter().all(|run| run["state"] == "complete"));
    }
}

#[test]
fn a_run_that_began_in_the_future_is_resumed() {
    for seconds in [YEAR, -DAY] {
        let stage = Stage::new();
        let line = COMMAND.replace("--run run ", "");
        stage.write("juror.yaml", &(crate::stage::SETTINGS.to_owned() + "runs: {folder: runs}\n"));
        let Some(watch) = stage.watch() else { return };
        let whole = Stage::new();
        assert_eq!(whole.run(COMMAND).code, 0);
        // Killed when some lines are written.
        let mut command = stage.failing(&watch, (juror_testing::Fault::None, 0), &line);
        assert!(ClockJump { seconds, after: 0 }.apply(&mut command));
        let n_calls = {
            let ended = Ended::of(&mut command);
            assert_eq!(ended.code, 0, "{ended}");
            watch.calls().iter().position(|call| call.ends_with("records.jsonl")).expect("a line")
        };
        std::fs::remove_dir_all(stage.path("runs")).expect("removed");
        let mut command = stage.failing(&watch, (juror_testing::Fault::Kill, n_calls + 3), &line);
        ClockJump { seconds, after: 0 }.apply(&mut command);
        Ended::of(&mut command);
        let again = stage.run(&line);
        assert_eq!(again.code, 0, "{again}");
        let runs = std::fs::read_dir(stage.path("runs")).expect("a folder").count();
        assert_eq!(runs, 1, "the run is gone on with: {again}");
        assert_eq!(stage.read("out.jsonl"), whole.read("out.jsonl"));
        assert_eq!(stage.model.seen().len(), N_QUESTIONS);
    }
}

#[test]
fn a_server_does_not_mind_a_clock_that_jumps() {
    for jump in jumps().into_iter().step_by(3) {
        let stage = serve::stage();
        let line = serve::command_line(&format!("{}/v1", stage.model.address()), "store");
        let mut command = stage.command(&line);
        if !jump.apply(&mut command) {
            return;
        }
        let serving = stage.serve(command).expect("it serves");
        let replies: Vec<_> = (0..6).map(|n| serve::call(&serving.address, n % 3)).collect();
        assert!(replies.iter().flatten().all(|reply| reply.status == 200), "{jump:?}: {replies:?}");
        assert_eq!(replies.iter().flatten().count(), 6, "{jump:?}");
        assert_eq!(stage.model.seen().len(), 3, "{jump:?}: each is asked for once");
        assert_eq!(serving.stop(), 0);
    }
}
