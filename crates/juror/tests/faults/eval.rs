//! Evaluations whose program fails at a write.

use juror_testing::{Ended, Fault, Interference};

use crate::points::Points;
use crate::stage::{CONCURRENCY, N_QUESTIONS, Stage, says_why};

const COMMAND: &str = "eval reference.json responses.jsonl -c juror.yaml --run run --cache cache \
     -o out.jsonl -a totals.json -q";

/// What comes of an evaluation.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    out: Option<String>,
    totals: Option<String>,
    results: Option<String>,
}

impl Outcome {
    pub(crate) fn of(stage: &Stage) -> Outcome {
        Outcome::in_folder(stage, "")
    }

    /// The same where a folder is named before every file.
    pub(crate) fn in_folder(stage: &Stage, folder: &str) -> Outcome {
        let read = |name: &str| stage.read(&format!("{folder}{name}"));
        Outcome {
            out: read("out.jsonl"),
            totals: read("totals.json"),
            results: read("run/results.jsonl"),
        }
    }

    /// Each file is what it is to be, or is not there. A program that ended by itself may have written the
    /// results so far.
    fn check_part_of(&self, whole: &Outcome, is_stopped: bool) {
        let is_part = |own: &Option<String>, wanted: &Option<String>| {
            let (Some(own), Some(wanted)) = (own, wanted) else { return own.is_none() };
            let is_told = |line: &str| is_stopped && line.contains("cannot be kept: ");
            own.lines().count() == wanted.lines().count()
                && own
                    .lines()
                    .zip(wanted.lines())
                    .all(|(own, wanted)| own == wanted || is_told(own))
        };
        assert!(is_part(&self.out, &whole.out), "half-written: {:?}", self.out);
        assert!(is_part(&self.results, &whole.results), "half-written: {:?}", self.results);
        let is_whole = self.totals.is_none() || self.totals == whole.totals;
        assert!(is_whole || is_stopped, "half-written: {:?}", self.totals);
    }
}

#[test]
fn an_evaluation_that_fails_at_a_write_loses_nothing() {
    let stage = Stage::new();
    let Some(watch) = stage.watch() else { return };
    let ended = Ended::of(&mut stage.failing(&watch, (Fault::None, 0), COMMAND));
    assert_eq!(ended.code, 0, "{ended}");
    let whole = Outcome::of(&stage);
    let points = Points::of("eval", watch.calls(), &Fault::ALL);
    points.check(24, |fault, number| fail_at(fault, number, &whole));
}

fn fail_at(fault: Fault, number: usize, whole: &Outcome) {
    let stage = Stage::new();
    let watch: Interference = stage.watch().expect("as before");
    let first = Ended::of(&mut stage.failing(&watch, (fault, number), COMMAND));
    check_end(fault, number, &first, &watch);
    stage.check_files();
    Outcome::of(&stage).check_part_of(whole, first.code == 3);
    if !fault.kills() {
        assert_eq!(stage.temporary(), Vec::<String>::new(), "{first}");
    }
    let journal = stage.read("run/records.jsonl").filter(|_| fault.is_told());
    assert!(
        journal.is_none_or(|text| text.is_empty() || text.ends_with('\n')),
        "half a line stays"
    );
    let (n_kept, n_asked) = (stage.n_kept("cache"), stage.model.seen().len());
    assert!(n_kept + CONCURRENCY >= n_asked, "{n_kept} of {n_asked} are kept\n{first}");
    let again = stage.run(COMMAND);
    if again.code == 2 && again.stderr.contains("this run is finished") {
        assert_eq!(stage.model.seen().len(), n_asked);
    } else {
        assert_eq!(again.code, 0, "after\n{first}\nit is not resumed:\n{again}");
        let n_more = stage.model.seen().len() - n_asked;
        assert!(n_more <= N_QUESTIONS - n_kept, "kept replies are not bought again");
    }
    assert_eq!(Outcome::of(&stage), *whole, "after\n{first}\nand\n{again}");
    assert_eq!(stage.temporary(), Vec::<String>::new());
}

/// How a program that failed at a call ends.
pub(crate) fn check_end(fault: Fault, number: usize, ended: &Ended, watch: &Interference) {
    // Threads take turns in any order, so that the last calls may be fewer than they were.
    let was_reached = watch.calls().len() >= number;
    match fault {
        _ if !was_reached => assert_eq!(ended.code, 0, "{ended}"),
        Fault::Kill | Fault::Tear => assert_eq!(ended.code, 137, "{ended}"),
        Fault::None | Fault::Short => assert_eq!(ended.code, 0, "{ended}"),
        Fault::Part | Fault::Full | Fault::Eio => {
            assert!([0, 3].contains(&ended.code), "{ended}");
            assert!(ended.code == 0 || says_why(ended), "{ended}");
        }
    }
}
