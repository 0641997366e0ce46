//! Problems and warnings with their hints, worded for each door.
//!
//! A message may name options. The program's `--cache` is `cache=` in Python, so a [`Phrase`] keeps
//! such names apart from its text, and whoever shows the message picks the [`Spelling`].

use std::borrow::Cow;
use std::fmt::{self, Write};

use crate::problem::{DatasetError, Problems};

/// How the names of options are spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// As options of the program: `--cache`.
    Program,
    /// As arguments in Python: `` `cache=` ``.
    Python,
}

/// A piece of a message: plain text, or the name of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Text(Cow<'static, str>),
    Option { name: &'static str, python_name: Option<&'static str> },
    ProgramOnly(&'static str),
}

/// An option of the program that Python has as an argument of the same name.
pub fn option(name: &'static str) -> Part {
    Part(Kind::Option { name, python_name: None })
}

/// An option of the program that goes by another name in Python, such as that of a setting.
pub fn option_as(name: &'static str, python_name: &'static str) -> Part {
    Part(Kind::Option { name, python_name: Some(python_name) })
}

/// Text that only the program shows, since Python has nothing like it.
pub fn program_only(text: &'static str) -> Part {
    Part(Kind::ProgramOnly(text))
}

impl Part {
    fn write(&self, spelling: Spelling, out: &mut impl Write) -> fmt::Result {
        match (&self.0, spelling) {
            (Kind::Text(text), _) => out.write_str(text),
            (Kind::ProgramOnly(text), Spelling::Program) => out.write_str(text),
            (Kind::ProgramOnly(_), Spelling::Python) => Ok(()),
            (Kind::Option { name, .. }, Spelling::Program) => write!(out, "--{name}"),
            (Kind::Option { python_name: Some(name), .. }, Spelling::Python) => {
                write!(out, "`{name}`")
            }
            (Kind::Option { name, python_name: None }, Spelling::Python) => {
                write!(out, "`{}=`", name.replace('-', "_"))
            }
        }
    }
}

impl From<&'static str> for Part {
    fn from(text: &'static str) -> Part {
        Part(Kind::Text(text.into()))
    }
}

impl From<String> for Part {
    fn from(text: String) -> Part {
        Part(Kind::Text(text.into()))
    }
}

/// A sentence that may name options; [`phrase!`](crate::phrase) builds one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phrase(Vec<Part>);

/// Builds a [`Phrase`] of texts and options.
///
/// ```
/// use juror_document::{Spelling, option, phrase};
///
/// let hint = phrase!["start over with ", option("fresh")];
/// assert_eq!(hint.spelled(Spelling::Program), "start over with --fresh");
/// assert_eq!(hint.spelled(Spelling::Python), "start over with `fresh=`");
/// ```
#[macro_export]
macro_rules! phrase {
    ($($part:expr),+ $(,)?) => {
        [$($crate::Part::from($part)),+].into_iter().collect::<$crate::Phrase>()
    };
}

impl Phrase {
    /// Several options, separated by commas.
    pub fn options(names: &[&'static str]) -> Phrase {
        let part = |(at, name): (usize, &&'static str)| {
            let comma = (at > 0).then(|| Part::from(", "));
            comma.into_iter().chain([option(name)])
        };
        names.iter().enumerate().flat_map(part).collect()
    }

    /// The sentence with all options spelled for a door.
    pub fn spelled(&self, spelling: Spelling) -> String {
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = self.write(spelling, &mut out);
        out
    }

    /// This sentence, continued by another.
    #[must_use]
    pub fn then(mut self, more: impl Into<Phrase>) -> Phrase {
        self.0.extend(more.into().0);
        self
    }

    fn write(&self, spelling: Spelling, out: &mut impl Write) -> fmt::Result {
        self.0.iter().try_for_each(|part| part.write(spelling, out))
    }
}

impl FromIterator<Part> for Phrase {
    fn from_iter<T: IntoIterator<Item = Part>>(parts: T) -> Phrase {
        Phrase(parts.into_iter().collect())
    }
}

impl From<&'static str> for Phrase {
    fn from(text: &'static str) -> Phrase {
        Phrase(vec![text.into()])
    }
}

impl From<String> for Phrase {
    fn from(text: String) -> Phrase {
        Phrase(vec![text.into()])
    }
}

/// Something the user should know, and what to do about it.
///
/// It displays with options as the program spells them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What is wrong.
    pub problem: Phrase,
    /// What to do about it.
    pub hint: Option<Phrase>,
}

impl Notice {
    /// A notice without a hint.
    pub fn new(problem: impl Into<Phrase>) -> Notice {
        Notice { problem: problem.into(), hint: None }
    }

    /// The same with a hint.
    #[must_use]
    pub fn hint(self, hint: impl Into<Phrase>) -> Notice {
        Notice { hint: Some(hint.into()), ..self }
    }

    /// The same with the place of the problem before it.
    #[must_use]
    pub fn at(self, place: &str) -> Notice {
        let problem = Phrase::from(format!("{place}: ")).then(self.problem);
        Notice { problem, ..self }
    }

    /// The same with a line below it.
    #[must_use]
    pub fn below(self, line: &str) -> Notice {
        let line = format!("\n  {line}");
        match self.hint {
            Some(hint) => Notice { hint: Some(hint.then(line)), ..self },
            None => Notice { problem: self.problem.then(line), ..self },
        }
    }

    /// The problem, and the hint on a line of its own.
    pub fn spelled(&self, spelling: Spelling) -> String {
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = self.write(spelling, &mut out);
        out
    }

    fn write(&self, spelling: Spelling, out: &mut impl Write) -> fmt::Result {
        self.problem.write(spelling, out)?;
        let Some(hint) = &self.hint else { return Ok(()) };
        out.write_str("\n  hint: ")?;
        hint.write(spelling, out)
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(Spelling::Program, f)
    }
}

impl From<String> for Notice {
    fn from(problem: String) -> Notice {
        Notice::new(problem)
    }
}

impl From<&'static str> for Notice {
    fn from(problem: &'static str) -> Notice {
        Notice::new(problem)
    }
}

impl From<&DatasetError> for Notice {
    fn from(error: &DatasetError) -> Notice {
        let path = &error.place.path;
        let place = if path.0.is_empty() { String::new() } else { format!("\n  at {path}") };
        let notice = Notice::new(format!("{}{place}", error.brief()));
        match error.hint() {
            Some(hint) => notice.hint(hint),
            None => notice,
        }
    }
}

impl From<&Problems> for Notice {
    fn from(problems: &Problems) -> Notice {
        match problems.errors.as_slice() {
            [error] if problems.n_more == 0 => error.into(),
            _ => Notice::new(problems.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_spelled_as_each_door_has_them() {
        let notice = Notice::new(phrase![option("server-token"), " has no effect"]).hint(phrase![
            "leave it out, or name another with ",
            option_as("store", "tools.store")
        ]);
        assert_eq!(
            notice.to_string(),
            "--server-token has no effect\n  hint: leave it out, or name another with --store"
        );
        assert_eq!(
            notice.spelled(Spelling::Python),
            "`server_token=` has no effect\n  hint: leave it out, or name another with `tools.store`"
        );
    }

    #[test]
    fn text_that_looks_like_an_option_stays_text() {
        let notice = Notice::new("start `juror serve` with --allow-host");
        assert_eq!(notice.spelled(Spelling::Python), "start `juror serve` with --allow-host");
    }

    #[test]
    fn what_python_does_not_have_is_left_out_there() {
        let hint = phrase!["name a model", program_only(" with --model")];
        assert_eq!(hint.spelled(Spelling::Program), "name a model with --model");
        assert_eq!(hint.spelled(Spelling::Python), "name a model");
    }

    #[test]
    fn several_options_are_listed_with_commas() {
        let options = Phrase::options(&["cache", "no-keep"]);
        assert_eq!(options.spelled(Spelling::Program), "--cache, --no-keep");
        assert_eq!(options.spelled(Spelling::Python), "`cache=`, `no_keep=`");
        assert_eq!(Phrase::options(&[]).spelled(Spelling::Program), "");
    }

    #[test]
    fn a_place_goes_before_the_problem_and_a_line_below_the_hint() {
        let notice = Notice::new("no address").hint("set `base_url`");
        let notice = notice.at("llm.generation").below("nobody is asked");
        assert_eq!(
            notice.to_string(),
            "llm.generation: no address\n  hint: set `base_url`\n  nobody is asked"
        );
        assert_eq!(Notice::new("gone").below("for good").to_string(), "gone\n  for good");
    }
}
