//! Traces as input: what users say about them, and responses that are traces.

#![expect(clippy::doc_markdown, reason = "these comments are the help that users read")]

use std::io::Read;

use anyhow::Context;
use clap::Args;
use juror_document::{Document, Format};
use juror_files::{load_settings, open_stream};
use juror_read::read_reference;
use juror_traces::{Importer, Joined, JoinedBy, Joiner, Questions, Report, Rules, Spill, is_trace};

use crate::count;
use crate::exit::Outside;

/// The extensions of files that are traces, whatever is in them.
const BINARY: [&str; 3] = [".eval", ".pb", ".binpb"];

/// How much of a file is looked at.
const HEAD: u64 = 1 << 16;

/// What to do about warnings.
const HINT: &str = "  hint: `juror import --explain` says where\n";

/// How many conversations that join no question are named.
const NAMED: usize = 10;

/// What a user says about traces.
#[derive(Args, Clone, Default)]
pub struct TraceArgs {
    /// For traces: a YAML file with names of steps, error patterns and more; see docs/traces.md.
    #[arg(long, value_name = "FILE", env = "JUROR_MAP", help_heading = "Traces")]
    map: Option<String>,

    /// For traces: the attribute or key with the question's id, such as metadata.case
    /// [default: question_id, alone or within metadata].
    #[arg(long, value_name = "KEY", env = "JUROR_QUESTION_ID", help_heading = "Traces")]
    question_id: Option<String>,
}

impl TraceArgs {
    /// Whether the user says anything about traces.
    pub fn is_given(&self) -> bool {
        self.map.is_some() || self.question_id.is_some()
    }

    /// The file of rules, if the user names one.
    pub fn map(&self) -> Option<&String> {
        self.map.as_ref()
    }

    /// Combines the map and the arguments.
    pub fn rules(&self) -> anyhow::Result<Rules> {
        let mut rules = match &self.map {
            Some(name) => Rules::read(&load_settings(name)?)?,
            None => Rules::default(),
        };
        rules.question_id = self.question_id.clone().or(rules.question_id);
        Ok(rules)
    }

    /// Reads a trace as responses to the questions of a reference; says what was recognized.
    pub fn responses(
        &self,
        name: &str,
        reference: &Document,
    ) -> anyhow::Result<(Document, String)> {
        let mut import = Import::begin(self.rules()?, Some(questions(reference)?));
        let mut lines = Vec::new();
        import.read(name, &mut |line| lines.extend_from_slice(line.as_bytes()))?;
        let imported = import.finish(&mut |line| lines.extend_from_slice(line.as_bytes()))?;
        let told = imported.told() + &imported.unjoined() + &imported.warnings();
        Ok((Document::new(name, lines, Format::JsonLines)?, told))
    }
}

/// Whether responses are a trace, by the beginning of the file. Standard input holds responses.
pub fn holds_trace(name: &str) -> anyhow::Result<bool> {
    let lower = name.to_ascii_lowercase();
    if name == "-" || BINARY.iter().any(|end| lower.ends_with(end)) {
        return Ok(name != "-");
    }
    let mut head = Vec::new();
    let failed = || format!("{name}: cannot read");
    open_stream(name)?.take(HEAD).read_to_end(&mut head).with_context(failed)?;
    Ok(is_trace(&head))
}

/// Returns the questions of a reference, for joining.
pub fn questions(reference: &Document) -> anyhow::Result<Questions> {
    let dataset = read_reference(reference)?;
    let text = |text| juror_json::text_or_json(text).into_owned();
    let texts: Vec<_> = dataset.questions.iter().map(|question| text(question.text)).collect();
    let ids = dataset.questions.iter().map(|question| question.id.as_ref());
    Ok(Questions::new(ids.zip(texts.iter().map(String::as_str))))
}

/// An import under way: conversations become lines of responses.
pub struct Import {
    importer: Importer,
    joiner: Joiner,
    unjoined: Unjoined,
    has_reference: bool,
}

/// What came of an import.
pub struct Imported {
    /// What was read.
    pub report: Report,
    unjoined: Unjoined,
    has_reference: bool,
}

#[derive(Default)]
struct Unjoined {
    n: usize,
    first: Vec<String>,
}

impl Unjoined {
    fn note(&mut self, joined: &Joined) {
        if joined.by == JoinedBy::Nothing {
            self.n += 1;
            if self.first.len() < NAMED {
                self.first.push(joined.question_id.clone());
            }
        }
    }
}

impl Import {
    /// Begins an import; with questions, conversations are joined to them.
    pub fn begin(rules: Rules, questions: Option<Questions>) -> Import {
        // Without a place for it, everything is held in memory.
        let spill = tempfile::tempfile().ok().map(|file| Box::new(file) as Box<dyn Spill>);
        let has_reference = questions.is_some();
        Import {
            importer: Importer::new(rules, spill),
            joiner: Joiner::new(questions),
            unjoined: Unjoined::default(),
            has_reference,
        }
    }

    /// Reads a file; each response is a line.
    pub fn read(&mut self, name: &str, each: &mut dyn FnMut(String)) -> anyhow::Result<()> {
        let mut stream = open_stream(name)?;
        let Import { importer, joiner, unjoined, .. } = self;
        let told = if name == "-" { "<stdin>" } else { name };
        let read = importer.read(told, &mut stream, &mut |conversation| {
            let joined = joiner.join(&conversation);
            unjoined.note(&joined);
            each(line(&conversation, &joined));
        });
        read.map_err(|error| anyhow::anyhow!("{told}: {error}"))
    }

    /// Ends the import: traces that were spread over files come last.
    pub fn finish(self, each: &mut dyn FnMut(String)) -> anyhow::Result<Imported> {
        let Import { importer, mut joiner, mut unjoined, has_reference } = self;
        let report = importer.finish(&mut |conversation| {
            let joined = joiner.join(&conversation);
            unjoined.note(&joined);
            each(line(&conversation, &joined));
        });
        let report = report.map_err(|error| Outside(error.into()))?;
        Ok(Imported { report, unjoined, has_reference })
    }
}

fn line(conversation: &juror_traces::Conversation, joined: &Joined) -> String {
    conversation.response_line(&joined.question_id, joined.trial) + "\n"
}

impl Imported {
    /// Says what was recognized and how much was imported.
    pub fn told(&self) -> String {
        let conversations = count(self.report.n_conversations, "conversation");
        let steps = count(self.report.n_steps(), "step");
        format!("{}{conversations}, {steps}\n", self.report.recognized())
    }

    /// Warns of what costs scores, or may.
    pub fn warnings(&self) -> String {
        let warnings = self.report.warnings();
        if warnings.is_empty() {
            return String::new();
        }
        format!("warning: {}\n{HINT}", warnings.join("\nwarning: "))
    }

    /// Lists what joins no question.
    pub fn unjoined(&self) -> String {
        if self.unjoined.n == 0 {
            return String::new();
        }
        let why = if self.has_reference {
            "not joined to a question of the reference"
        } else {
            "without a question's id (--reference joins by text, --question-id names a key)"
        };
        let more = if self.unjoined.n > self.unjoined.first.len() { ", …" } else { "" };
        let n = count(self.unjoined.n, "conversation");
        format!("{n} {why}: {}{more}\n", self.unjoined.first.join(", "))
    }
}
