//! Why runs cannot be compared, in words that name options.

use juror_document::{Notice, option_as, phrase};

use crate::comparison::Incomparable;
use crate::run_facts::Difference;

impl Incomparable {
    /// Says why runs cannot be compared, and what to do about it.
    pub fn notice(&self) -> Notice {
        let notice = Notice::new(self.to_string());
        match self {
            Incomparable::Differ { differences, .. } if differences.contains(&Difference::Kind) => {
                notice.hint("compare evaluations with evaluations, and benchmarks with benchmarks")
            }
            Incomparable::Differ { .. } => notice.hint(phrase![
                option_as("allow-mismatch", "allow_mismatch=True"),
                " compares the questions that are the same in both"
            ]),
            Incomparable::Incomplete(_) => notice.hint(phrase![
                "finish the run with the command that began it, or compare what there is with ",
                option_as("allow-incomplete", "allow_incomplete=True")
            ]),
            Incomparable::Damaged { .. } => notice.hint(phrase![
                "run the same command again with ",
                option_as("fresh", "fresh=True"),
                ", or compare what there is with ",
                option_as("allow-incomplete", "allow_incomplete=True")
            ]),
            Incomparable::NothingInCommon { .. } => notice.hint(
                "questions are joined by `template_id` and `question_id`, queries by `test_set` and `query_id`",
            ),
            Incomparable::UnknownMetric { known, .. } => {
                let place = phrase![option_as("metric", "metrics="), ": "];
                let hint = format!("the baseline has {}", known.join(", "));
                Notice::new(place.then(notice.problem)).hint(hint)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_document::Spelling;

    #[test]
    fn hints_name_options_as_the_reader_writes_them() {
        let (a, b, differences) = ("a".into(), "b".into(), vec![Difference::Reference]);
        let notice = Incomparable::Differ { a, b, differences }.notice();
        for (spelling, option) in
            [(Spelling::Program, "--allow-mismatch"), (Spelling::Python, "`allow_mismatch=True`")]
        {
            let wanted = format!(
                "`a` and `b` cannot be compared: the reference questions differ\n  hint: {option} \
                 compares the questions that are the same in both"
            );
            assert_eq!(notice.spelled(spelling), wanted);
        }
    }

    #[test]
    fn no_option_is_offered_that_cannot_help() {
        let (a, b, differences) = ("a".into(), "b".into(), vec![Difference::Kind]);
        let told = Incomparable::Differ { a, b, differences }.notice().spelled(Spelling::Program);
        assert!(told.contains("the kind of run differs: one has answers"), "{told}");
        assert!(!told.contains("--allow-mismatch"), "{told}");
    }

    #[test]
    fn an_unknown_metric_is_placed_at_its_option() {
        let known = vec!["steps_score".into()];
        let notice = Incomparable::UnknownMetric { metric: "taste".into(), known }.notice();
        let rest = "no run has `taste`\n  hint: the baseline has steps_score";
        assert_eq!(notice.spelled(Spelling::Program), format!("--metric: {rest}"));
        assert_eq!(notice.spelled(Spelling::Python), format!("`metrics=`: {rest}"));
    }
}
