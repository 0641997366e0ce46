//! Replaces single values of a file, in the style in which they are written.

use std::ops::Range;

use juror_document::{Document, Format, ValueSpan, ValueStyle};
use juror_json::Object;
use serde_json::value::RawValue;

/// A part of a text, and what comes in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

/// Applies edits that do not overlap, each once; `None` if they do. Lines end as those of the text.
pub(crate) fn apply(text: &str, mut edits: Vec<Edit>) -> Option<String> {
    edits.sort_by_key(|edit| edit.range.start);
    edits.dedup();
    let first_end = text.find('\n').unwrap_or_default();
    let has_two = text[..first_end].ends_with('\r');
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        out.push_str(text.get(at..edit.range.start)?);
        let is_plain = !has_two || !edit.text.contains('\n');
        out.push_str(&if is_plain { edit.text } else { edit.text.replace('\n', "\r\n") });
        at = edit.range.end;
    }
    out.push_str(text.get(at..)?);
    Some(out)
}

/// What a step gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewOutput {
    pub(crate) text: String,
    /// The media type, if the step has none yet.
    pub(crate) media_type: Option<&'static str>,
}

/// Where the parts of a step are in YAML.
#[derive(Clone, Debug)]
pub(crate) struct YamlStep {
    pub(crate) output: Option<ValueSpan>,
    pub(crate) args: Option<ValueSpan>,
    /// What the output names, if it is an alias.
    pub(crate) target: Option<ValueSpan>,
}

/// Why an output cannot be replaced.
pub(crate) const MERGED: &str = "it comes from a merge key (`<<`): write it out in the step, or leave it out to have it filled in";
const NO_TEXT: &str = "it is written as a mapping or a list of YAML, not as a text: leave it out to have it filled in as a text";

impl YamlStep {
    /// Where the text of the output begins or would begin: steps of the same place share it.
    pub(crate) fn place(&self) -> Option<usize> {
        match &self.output {
            Some(output) => Some(self.target.as_ref().unwrap_or(output).range.start),
            None => Some(self.args.as_ref()?.range.end),
        }
    }

    /// Whether other parts of the file may refer to the output.
    pub(crate) fn has_names(&self) -> bool {
        let is_named = |span: &ValueSpan| span.has_anchor || span.through.is_some();
        self.target.is_some() || [&self.output, &self.args].into_iter().flatten().any(is_named)
    }

    /// Returns the edits that give the step its output. Fails with the reason if that is not possible.
    pub(crate) fn edits(
        &self,
        yaml: &str,
        new: &NewOutput,
        has_output: bool,
    ) -> Result<Vec<Edit>, &'static str> {
        let Some(output) = &self.output else {
            let args = self.args.as_ref().filter(|_| !has_output).ok_or(MERGED)?;
            return Ok(vec![inserted(yaml, args, new)]);
        };
        let written = self.target.as_ref().unwrap_or(output);
        let scalar = scalar_like(yaml, written, &new.text).ok_or(NO_TEXT)?;
        let needs_space = written.range.is_empty() && !yaml[..written.range.start].ends_with(' ');
        let space = if needs_space { " " } else { "" };
        let mut edits =
            vec![Edit { range: written.range.clone(), text: format!("{space}{scalar}") }];
        if let Some(media_type) = new.media_type {
            let text = next_entry(output, "output_media_type", media_type);
            edits.push(Edit { range: output.range.end..output.range.end, text });
        }
        Ok(edits)
    }
}

/// Writes an entry after another one of the same mapping.
fn next_entry(before: &ValueSpan, key: &str, value: &str) -> String {
    if before.in_flow {
        return format!(", {key}: {value}");
    }
    format!("\n{}{key}: {value}", " ".repeat(before.column))
}

/// Returns the edit that adds an entry after the output of a step; `None` if that is not written here.
pub(crate) fn added_entry(
    document: &Document,
    step: &Object<'_>,
    output: Option<&ValueSpan>,
    (key, text): (&str, &str),
) -> Option<Edit> {
    if document.format() == Format::Yaml {
        let output = output?;
        let at = output.range.end;
        return Some(Edit { range: at..at, text: next_entry(output, key, &quoted(text)) });
    }
    let output = step.get("output")?.get();
    let at = document.offset_of(output) + output.len();
    let value = serde_json::Value::from(text);
    Some(Edit { range: at..at, text: format!(", \"{key}\": {value}") })
}

/// Adds an output after the arguments.
fn inserted(yaml: &str, args: &ValueSpan, new: &NewOutput) -> Edit {
    let rest = &yaml[args.range.end..];
    // A comment on the line of the arguments stays there.
    let line = if args.in_flow { 0 } else { rest.lines().next().map_or(0, str::len) };
    let at = args.range.end + line;
    let literal = literal(&new.text, "|-", args.column + 2);
    let scalar = literal.filter(|_| !args.in_flow).unwrap_or_else(|| quoted(&new.text));
    let mut text = next_entry(args, "output", &scalar);
    if let Some(media_type) = new.media_type {
        text.push_str(&next_entry(args, "output_media_type", media_type));
    }
    Edit { range: at..at, text }
}

/// Writes a text in the style of the value that it replaces.
fn scalar_like(yaml: &str, old: &ValueSpan, text: &str) -> Option<String> {
    if matches!(old.style, ValueStyle::Flow | ValueStyle::Block | ValueStyle::Alias) {
        return None;
    }
    let written = &yaml[old.range.clone()];
    let is_block = matches!(old.style, ValueStyle::Literal | ValueStyle::Folded);
    if !old.in_flow && (is_block || text.contains('\n')) {
        let head = written.lines().next().unwrap_or_default();
        let head = if old.style == ValueStyle::Literal && matches!(head, "|" | "|-") {
            head
        } else {
            "|-"
        };
        let mut lines = written.lines().skip(1).filter(|line| !line.trim().is_empty());
        let indent =
            lines.next().filter(|_| is_block).map(|line| line.len() - line.trim_start().len());
        if let Some(literal) = literal(text, head, indent.unwrap_or(old.column + 2)) {
            return Some(literal);
        }
    }
    Some(quoted(text))
}

/// Writes a text as a block; `None` if a block cannot hold it.
fn literal(text: &str, head: &str, indent: usize) -> Option<String> {
    let text = text.trim_end_matches('\n');
    let is_allowed = |c: char| {
        matches!(c, '\t' | '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
            && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
    };
    if !text.chars().all(is_allowed) || text.starts_with([' ', '\t', '\n']) || text.is_empty() {
        return None;
    }
    let space = " ".repeat(indent);
    let lines = text.split('\n');
    let lines: Vec<String> = lines
        .map(|line| if line.is_empty() { String::new() } else { format!("{space}{line}") })
        .collect();
    Some(format!("{head}\n{}", lines.join("\n")))
}

/// Writes a text in quotes: single ones if it has nothing to escape.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| matches!(c, ' '..='~' | '\u{a0}'..='\u{2027}' | '\u{202a}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}' | '\u{10000}'..);
    if text.chars().all(is_plain) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    // JSON escapes what YAML does not allow, except for these.
    let json = serde_json::Value::from(text).to_string();
    let escape = |c: char| match c {
        c if is_plain(c) => c.to_string(),
        c if u32::from(c) > 0xffff => format!("\\U{:08x}", u32::from(c)),
        c => format!("\\u{:04x}", u32::from(c)),
    };
    json.chars().map(escape).collect()
}

/// Returns the edits that give a step of a JSON document its output; `None` if it is not written here.
pub(crate) fn json_edits(
    document: &Document,
    step: &Object<'_>,
    new: &NewOutput,
) -> Option<Vec<Edit>> {
    debug_assert!(document.format() != Format::Yaml, "offsets are those of JSON");
    let text = document.text();
    let range = |part: &RawValue| {
        let start = document.offset_of(part.get());
        let range = start..start + part.get().len();
        (text.get(range.clone()) == Some(part.get())).then_some(range)
    };
    let output = step.get("output");
    let args = range(step.get("args")?)?;
    let value = match output.filter(|old| !old.get().starts_with(['"', 'n'])) {
        // What was written as JSON stays JSON.
        Some(_) if serde_json::from_str::<&RawValue>(&new.text).is_ok() => new.text.clone(),
        _ => serde_json::Value::from(new.text.as_str()).to_string(),
    };
    let (colon, comma) = separators(text, step, &range);
    let mut added = String::new();
    if let Some(media_type) = new.media_type {
        added = format!("{comma}\"output_media_type\"{colon}\"{media_type}\"");
    }
    Some(vec![match output {
        Some(old) => Edit { range: range(old)?, text: value + &added },
        None => Edit {
            range: args.end..args.end,
            text: format!("{comma}\"output\"{colon}{value}{added}"),
        },
    }])
}

/// Returns what stands between a key and its value, and between two entries of an object.
fn separators(
    text: &str,
    object: &Object<'_>,
    range: &impl Fn(&RawValue) -> Option<Range<usize>>,
) -> (String, String) {
    let entries: Vec<_> =
        object.iter_raw().filter_map(|(key, value)| Some((range(key)?, range(value)?))).collect();
    let colon = entries.first().and_then(|(key, value)| text.get(key.end..value.start));
    let comma = match entries.as_slice() {
        [(_, value), (key, _), ..] => text.get(value.end..key.start),
        _ => None,
    };
    (colon.unwrap_or(": ").to_owned(), comma.unwrap_or(", ").to_owned())
}
