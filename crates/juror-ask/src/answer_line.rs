//! A line about an answered question.

use std::fmt;

/// What became of a question, on one line.
#[derive(Clone, Debug)]
pub struct AnswerLine {
    /// How many questions have ended, including this one.
    pub n_done: usize,
    /// How many there are.
    pub n_all: usize,
    /// The question's id.
    pub id: String,
    /// Which of several answers to the question it is, counting from 1.
    pub trial: Option<usize>,
    /// The question.
    pub question: String,
    /// The number of steps, if they are known.
    pub n_steps: Option<usize>,
    /// How long the agent took, if known.
    pub seconds: Option<f64>,
    /// What went wrong.
    pub error: Option<String>,
    /// What is to be known about the answer, such as parts of it that could not be kept.
    pub remarks: Vec<String>,
}

/// How many characters of a question and of an error are shown.
const QUESTION_WIDTH: usize = 60;
const ERROR_WIDTH: usize = 120;

impl fmt::Display for AnswerLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.n_all.to_string().len();
        write!(f, "[{:>width$}/{}] ", self.n_done, self.n_all)?;
        if let Some(n) = self.n_steps {
            write!(f, "{n} step{} | ", if n == 1 { "" } else { "s" })?;
        }
        if let Some(seconds) = self.seconds {
            write!(f, "{seconds:.2} s | ")?;
        }
        f.write_str(&self.id)?;
        if let Some(trial) = self.trial {
            write!(f, " (trial {trial})")?;
        }
        match &self.error {
            Some(error) => write!(f, ": error: {}", shorten(error, ERROR_WIDTH))?,
            None => write!(f, ": {}", shorten(&self.question, QUESTION_WIDTH))?,
        }
        self.remarks.iter().try_for_each(|remark| write!(f, "\n  note: {remark}"))
    }
}

fn shorten(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        None => line,
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_what_is_known() {
        let line = AnswerLine {
            n_done: 3,
            n_all: 12,
            id: "q1".into(),
            trial: Some(2),
            question: "Which\ntaxa?".into(),
            n_steps: Some(1),
            seconds: Some(0.5),
            error: None,
            remarks: Vec::new(),
        };
        assert_eq!(line.to_string(), "[ 3/12] 1 step | 0.50 s | q1 (trial 2): Which taxa?");
        let remarked = AnswerLine { remarks: vec!["it was cut off".into()], ..line.clone() };
        assert!(remarked.to_string().ends_with(": Which taxa?\n  note: it was cut off"));
        let error = Some("x".repeat(200));
        let failed = AnswerLine { trial: None, n_steps: None, seconds: None, error, ..line };
        assert_eq!(failed.to_string(), format!("[ 3/12] q1: error: {}…", "x".repeat(120)));
    }
}
