//! The import of one file.

use std::collections::BTreeMap;
use std::io::Read;

use juror_files::zip;
use serde_json::Value;

use super::sniff::{delimited, describe, is_envelope, is_lines};
use super::{Each, ImportError, Importer, emit};
use crate::container::{Containers, Content, is_whole};
use crate::dialect::{Dialect, Unit, mcp, together};
use crate::lines::{Blocks, Line, read_lines};
use crate::oddity::Oddity;
use crate::question_key::id_in;
use crate::repair::cut_off;
use crate::spans::{
    Histories, Packed, PackedBefore, SpanFacts, agents_sdk, langchain_events, langfuse, langsmith,
    otlp_json, otlp_protobuf, phoenix,
};
use crate::table;
use crate::transcript::Transcript;

/// The import of one file.
pub(super) struct FileImport<'i> {
    import: &'i mut Importer,
    each: Each<'i>,
    name: &'i str,
    /// Conversations whose records are lines, by session.
    sessions: Vec<(Option<String>, Dialect, Transcript)>,
    mcp: Option<mcp::Sessions>,
    containers: Containers,
    /// What the first record looks like, if it was not recognized.
    found: Option<String>,
}

impl<'i> FileImport<'i> {
    pub(super) fn of(import: &'i mut Importer, name: &'i str, each: Each<'i>) -> FileImport<'i> {
        FileImport {
            import,
            each,
            name,
            sessions: Vec::new(),
            mcp: None,
            containers: Containers::default(),
            found: None,
        }
    }

    pub(super) fn read(&mut self, source: &mut dyn Read) -> Result<(), ImportError> {
        let mut blocks = Blocks::new(source);
        let head = blocks.head()?;
        if head.iter().all(u8::is_ascii_whitespace) {
            self.found = Some("it is empty".to_owned());
            return Ok(());
        }
        if zip::is_zip(head) {
            return self.read_zip(&blocks.rest()?);
        }
        if is_lines(head) {
            return self.read_lines(&mut blocks);
        }
        let bytes = blocks.rest()?;
        match std::str::from_utf8(&bytes) {
            Ok(text)
                if text.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '[']) =>
            {
                self.read_json(text)
            }
            Ok(text) if table::is_known(text) => {
                for (at, row) in table::rows(text).into_iter().enumerate() {
                    self.value(&row, &format!("{}:", at + 2))?;
                }
                Ok(())
            }
            _ => self.read_protobuf(&bytes),
        }
    }

    /// Reads one JSON value; of a text that is cut off, what is complete.
    fn read_json(&mut self, text: &str) -> Result<(), ImportError> {
        let text = text.trim_start_matches('\u{feff}');
        if let Some(kept) = self.envelope(text, "")? {
            if !kept {
                self.odd(Oddity::CutOff, "");
            }
            return Ok(());
        }
        match serde_json::from_str::<Value>(text) {
            Ok(value) => self.value(&value, ""),
            Err(error) => match cut_off(text).filter(|_| error.is_eof()) {
                Some(value) => {
                    self.odd(Oddity::CutOff, &format!("line {}", error.line()));
                    self.value(&value, "")
                }
                None => {
                    self.found = Some(format!("it is not JSON: {error}"));
                    Ok(())
                }
            },
        }
    }

    /// Reads an envelope of OTLP. Returns `None` if it is none, and otherwise whether it is whole.
    fn envelope(&mut self, text: &str, place: &str) -> Result<Option<bool>, ImportError> {
        if !is_envelope(text) {
            return Ok(None);
        }
        let mut kept = Vec::new();
        let read = otlp_json::read_envelope(
            text,
            place,
            &self.import.rules,
            &mut Histories::default(),
            &mut |facts| kept.push(facts),
        );
        self.recognized(Dialect::Otlp);
        self.keep_all(kept)?;
        Ok(Some(read.is_ok()))
    }

    fn read_zip(&mut self, bytes: &[u8]) -> Result<(), ImportError> {
        for entry in zip::entries(bytes)? {
            let is_sample = entry.name.starts_with("samples/") && !entry.name.ends_with('/');
            if !is_sample {
                continue;
            }
            let plain = entry.read()?;
            match serde_json::from_slice::<Value>(&plain) {
                Ok(value) => self.value(&value, &format!("{}#", entry.name))?,
                Err(_) => self.odd(Oddity::NotJson, &entry.name),
            }
        }
        self.found.get_or_insert_with(|| "a ZIP file without `samples/`".to_owned());
        Ok(())
    }

    fn read_protobuf(&mut self, bytes: &[u8]) -> Result<(), ImportError> {
        let mut messages = Vec::new();
        if otlp_protobuf::is_request(bytes) {
            messages.push(bytes);
        } else {
            let (whole, rest) = delimited(bytes);
            if !whole.is_empty() && !rest.is_empty() {
                self.odd(Oddity::CutOff, "");
            }
            messages.extend(whole);
        }
        let mut kept = Vec::new();
        for message in &messages {
            self.recognized(Dialect::Otlp);
            let read = otlp_protobuf::read_request(message, &self.import.rules, &mut |facts| {
                kept.push(facts);
            });
            if read.is_err() {
                self.odd(Oddity::CutOff, "");
            }
        }
        if messages.is_empty() {
            self.found = Some("neither JSON nor OTLP's protobuf".to_owned());
        }
        self.keep_all(kept)
    }

    fn read_lines(&mut self, blocks: &mut Blocks<'_>) -> Result<(), ImportError> {
        let mut n_lines = 0;
        while let Some(block) = blocks.next()? {
            let first = n_lines + 1;
            let lines = read_lines(&block.bytes, first, &self.import.rules);
            n_lines += lines.len();
            for (at, line) in lines.into_iter().enumerate() {
                let is_last = block.is_last && first + at == n_lines;
                // A file of one line is one value: places in it need no line.
                let place = if is_last && n_lines == 1 {
                    String::new()
                } else {
                    format!("{}:", first + at)
                };
                self.line(line, &place, is_last)?;
            }
        }
        Ok(())
    }

    fn line(&mut self, line: Line, place: &str, is_last: bool) -> Result<(), ImportError> {
        match line {
            Line::Blank => Ok(()),
            Line::Spans { packed, conventions, is_whole } => {
                self.recognized(Dialect::Otlp);
                self.add_conventions(conventions);
                if !is_whole {
                    self.odd(Oddity::CutOff, place);
                }
                packed.into_iter().try_for_each(|packed| Ok(self.import.gatherer.add(packed)?))
            }
            Line::Value(value) => self.value_of_line(&value, place),
            Line::Broken { text, is_eof } => {
                let mended = cut_off(&text).filter(|_| is_eof);
                let oddity = if is_eof || is_last { Oddity::CutOff } else { Oddity::NotJson };
                self.odd(oddity, place);
                match mended {
                    Some(value) => self.value_of_line(&value, place),
                    None => Ok(()),
                }
            }
        }
    }

    /// A line is a record of a conversation, a conversation of its own, or holds several.
    fn value_of_line(&mut self, value: &Value, place: &str) -> Result<(), ImportError> {
        let dialect = Dialect::of(value)
            .filter(|dialect| dialect.unit() == Unit::Items && *dialect != Dialect::Mcp);
        let Some(dialect) = dialect.filter(|_| !is_whole(value)) else {
            return self.value(value, place);
        };
        self.recognized(dialect);
        let key = match dialect {
            Dialect::ClaudeCode => {
                value.get("sessionId").and_then(Value::as_str).map(str::to_owned)
            }
            _ => None,
        };
        let is_mine = |(known, _, _): &&mut (Option<String>, Dialect, Transcript)| {
            *known == key || key.is_none() && dialect == Dialect::ClaudeCode
        };
        if self.sessions.iter_mut().find(is_mine).is_none() {
            self.sessions.push((key.clone(), dialect, Transcript::default()));
        }
        let Some((_, known, transcript)) = self.sessions.iter_mut().find(is_mine) else {
            return Ok(());
        };
        if transcript.question_id.is_none() {
            transcript.question_id = id_in(value, self.import.rules.question_id.as_deref());
        }
        let (read_as, is_mixed) = together(*known, value);
        *known = read_as.min(*known);
        if is_mixed {
            transcript.odd(Oddity::MixedDialects, place);
        }
        read_as.read_item(transcript, value, place);
        Ok(())
    }

    /// Reads any value: a record, a list of them, an object of conversations.
    fn value(&mut self, value: &Value, place: &str) -> Result<(), ImportError> {
        let mut containers = std::mem::take(&mut self.containers);
        let pieces = containers.pieces(value, place, self.import.rules.question_id.as_deref());
        let unknown = containers.take_unknown();
        self.containers = containers;
        if pieces.is_empty() {
            self.found.get_or_insert_with(|| describe(value));
            self.odd(Oddity::UnknownRecord, place);
        }
        for place in unknown {
            self.odd(Oddity::UnknownRecord, &place);
        }
        for piece in pieces {
            self.recognized(piece.dialect);
            match piece.content {
                Content::Whole(transcript) => self.conversation(*transcript),
                Content::Records(records) => {
                    for (record, place) in records {
                        self.record(piece.dialect, record, &place)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Reads a record of logs or spans.
    fn record(&mut self, dialect: Dialect, record: &Value, place: &str) -> Result<(), ImportError> {
        let mut kept = Vec::new();
        let rules = &self.import.rules;
        match dialect {
            Dialect::Mcp => self.mcp.get_or_insert_default().read(record, place),
            Dialect::AgentsSdk => kept.push(agents_sdk::read(record, place, rules)),
            Dialect::LangSmith => {
                langsmith::read(record, place, rules, &mut |facts| kept.push(facts));
            }
            Dialect::LangChainEvents => kept.extend(langchain_events::read(record, place, rules)),
            Dialect::Langfuse => {
                langfuse::read(record, place, rules, &mut |facts| kept.push(facts));
            }
            Dialect::Phoenix => kept.push(phoenix::read(record, place.to_owned(), rules)),
            Dialect::Otlp => {
                let text = record.to_string();
                let _ = otlp_json::read_envelope(
                    &text,
                    place,
                    rules,
                    &mut Histories::default(),
                    &mut |facts| kept.push(facts),
                );
            }
            _ => {}
        }
        self.keep_all(kept)
    }

    fn keep_all(&mut self, kept: Vec<SpanFacts>) -> Result<(), ImportError> {
        let (mut conventions, mut before) = (BTreeMap::new(), PackedBefore::default());
        for facts in kept {
            if !facts.convention.is_empty() {
                *conventions.entry(facts.convention).or_default() += 1;
            }
            self.import.gatherer.add(Packed::of(facts, &mut before))?;
        }
        self.add_conventions(conventions);
        Ok(())
    }

    fn add_conventions(&mut self, conventions: BTreeMap<&'static str, usize>) {
        let Some(file) = self.import.report.files.last_mut() else { return };
        for (name, n) in conventions {
            *file.conventions.entry(name).or_default() += n;
        }
    }

    fn recognized(&mut self, dialect: Dialect) {
        if let Some(file) = self.import.report.files.last_mut() {
            *file.dialects.entry(dialect).or_default() += 1;
        }
    }

    fn odd(&mut self, oddity: Oddity, place: &str) {
        let place = format!("{}:{place}", self.name);
        let place = place.trim_end_matches(':');
        self.import.report.oddities.add(oddity, place);
        if let Some(file) = self.import.report.files.last_mut() {
            file.oddities.add(oddity, place);
        }
    }

    fn conversation(&mut self, transcript: Transcript) {
        let conversation = transcript.settle(&self.import.rules);
        emit(&mut self.import.report, conversation, self.each);
    }

    /// Passes on what is still held back.
    pub(super) fn finish(mut self) -> Result<(), ImportError> {
        let held = std::mem::take(&mut self.containers).finish();
        let sessions =
            std::mem::take(&mut self.sessions).into_iter().map(|(_, _, transcript)| transcript);
        let logs = self.mcp.take().map(mcp::Sessions::finish).unwrap_or_default();
        for transcript in held.into_iter().chain(sessions).chain(logs) {
            self.conversation(transcript);
        }
        let is_recognized =
            self.import.report.files.last().is_some_and(|file| !file.dialects.is_empty());
        if is_recognized {
            return Ok(());
        }
        let found = self.found.take().unwrap_or_else(|| "no record in it could be read".to_owned());
        Err(ImportError::NotRecognized { found })
    }
}
