//! What is doubtful about questions that were made, or why others were not.

use std::fmt;

/// A doubt about a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Several values make the same question.
    Equal {
        /// The question.
        question: String,
        /// How many values make it.
        n: usize,
        /// How many more questions are such.
        n_more: usize,
    },
    /// Another template has the same questions.
    EqualElsewhere {
        /// The first such question.
        question: String,
        /// How many there are.
        n: usize,
        /// The id of the other template of the first.
        template: String,
    },
    /// Questions have no result.
    Empty {
        /// The first such question.
        question: String,
        /// How many there are.
        n: usize,
    },
    /// Results have too many rows.
    Large {
        /// The first such question.
        question: String,
        /// How many there are.
        n: usize,
        /// The most rows.
        most: usize,
    },
    /// Queries fail.
    Fails {
        /// The first such question; `None` if it is a query of values.
        question: Option<String>,
        /// How many fail.
        n: usize,
        /// Why.
        why: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// Values are missing, or are blank nodes.
    NoValue {
        /// How many rows have one.
        n: usize,
    },
    /// There are too many combinations of values.
    TooMany {
        /// The most.
        most: usize,
    },
    /// The question names an IRI.
    IriInText {
        /// The name.
        name: String,
        /// The IRI.
        iri: String,
    },
    /// Too many candidates were left out to go on.
    GivenUp {
        /// How many were tried.
        n_tried: usize,
        /// How many there are.
        n_all: usize,
    },
    /// The template made one question, or none.
    Few {
        /// How many.
        n: usize,
    },
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doubt::Equal { question, n, n_more } => {
                let more = if *n_more > 0 { format!(", and {n_more} more") } else { String::new() };
                write!(f, "{n} rows of values make the question `{question}`{more}; left out")
            }
            Doubt::EqualElsewhere { question, n, template } => {
                let questions = questions(*n, "is", "are");
                write!(
                    f,
                    "{questions} also asked by another template, such as `{question}` by `{template}`; left out here"
                )
            }
            Doubt::Empty { question, n } => {
                write!(
                    f,
                    "{} no result, such as `{question}`; left out",
                    questions(*n, "has", "have")
                )
            }
            Doubt::Large { question, n, most } => {
                let questions = questions(*n, "has", "have");
                write!(f, "{questions} more than {most} rows, such as `{question}`; left out")
            }
            Doubt::Fails { question: Some(question), n, why, .. } => {
                write!(
                    f,
                    "{} without an answer, such as `{question}`: {why}",
                    questions(*n, "is", "are")
                )
            }
            Doubt::Fails { question: None, why, .. } => {
                write!(f, "there are no values: {why}")
            }
            Doubt::NoValue { n: 1 } => f.write_str(
                "1 row of values has an empty cell, a blank node or no proper IRI; left out",
            ),
            Doubt::NoValue { n } => {
                write!(
                    f,
                    "{n} rows of values have an empty cell, a blank node or no proper IRI; left out"
                )
            }
            Doubt::TooMany { most } => {
                write!(f, "there are more than {most} combinations of values")
            }
            Doubt::IriInText { name, iri } => {
                write!(f, "the question shows `{{{name}}}` as an IRI, such as `{iri}`")
            }
            Doubt::GivenUp { n_tried, n_all } => {
                write!(f, "given up after {n_tried} of {n_all} values, since so many were left out")
            }
            Doubt::Few { n: 0 } => f.write_str("the template made no question"),
            Doubt::Few { .. } => f.write_str("the template made only one question"),
        }
    }
}

fn questions(n: usize, one: &str, several: &str) -> String {
    if n == 1 { format!("1 question {one}") } else { format!("{n} questions {several}") }
}

impl Doubt {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Doubt::Equal { .. } => {
                "nothing tells which of them is meant: name something in the question by which they differ"
            }
            Doubt::Empty { .. } => {
                "let `values` give only what has a result, or say `allow_empty: true`"
            }
            Doubt::Large { .. } => "ask for less, or allow more with `most_rows`",
            Doubt::Fails { hint, .. } => return hint.clone(),
            Doubt::TooMany { .. } => "join them by one query, which gives what belongs together",
            Doubt::IriInText { .. } => "let `values` give a name of it in another column",
            Doubt::Few { .. } => "a template should make several questions: check `values`",
            Doubt::EqualElsewhere { .. } | Doubt::NoValue { .. } | Doubt::GivenUp { .. } => {
                return None;
            }
        };
        Some(hint.to_owned())
    }

    /// How many questions it is about, if they are counted.
    pub(super) fn count(&mut self) -> Option<&mut usize> {
        match self {
            Doubt::EqualElsewhere { n, .. }
            | Doubt::Empty { n, .. }
            | Doubt::Large { n, .. }
            | Doubt::Fails { n, .. } => Some(n),
            _ => None,
        }
    }

    /// Whether it is a query that has no answer.
    pub fn is_failure(&self) -> bool {
        matches!(self, Doubt::Fails { .. })
    }

    /// Returns the key of the template that it is about.
    pub(super) fn key(&self) -> &'static str {
        match self {
            Doubt::Empty { .. } | Doubt::Large { .. } | Doubt::Fails { question: Some(_), .. } => {
                "reference_steps"
            }
            Doubt::Fails { question: None, .. }
            | Doubt::NoValue { .. }
            | Doubt::TooMany { .. }
            | Doubt::GivenUp { .. }
            | Doubt::Few { .. } => "values",
            Doubt::Equal { .. } | Doubt::EqualElsewhere { .. } | Doubt::IriInText { .. } => {
                "question_text"
            }
        }
    }
}
