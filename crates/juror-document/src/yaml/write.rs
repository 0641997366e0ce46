//! Converts the events of a YAML parser to JSON text in one pass.

use hashbrown::HashMap;
use libyaml_safer::{Event, EventData, Mark};

use super::keys::{MappingKeys, OwnKeys};
use super::merge::merged;
use super::role::Role;
use super::scalar::{self, BadTag, Scalar, resolve, resolve_tagged};
use super::{NotYaml, Remark};
use crate::problem::{Path, Problem, Problems, Segment};

/// The deepest nesting accepted. `PyYAML` fails at little more, and the parser visits every open
/// list for every token inside it, so deeper values would take quadratic time.
pub(super) const DEEPEST: usize = 256;

/// What aliases and merge keys may add to the output: this much for any text, and more for each
/// byte of a large one. Without a limit, a few lines of nested aliases could fill all memory.
const ALIASES_OF_ANY: usize = 16 << 20;
const ALIASES_PER_BYTE: usize = 16;

/// The prefix of YAML's own tags.
const CORE: &str = "tag:yaml.org,2002:";

/// Receives events and appends their JSON.
pub(super) struct JsonWriter {
    pub(super) json: Vec<u8>,
    /// Lists and mappings that are not closed yet, innermost last.
    open: Vec<OpenCollection>,
    /// The keys of open mappings.
    keys: MappingKeys,
    anchors: HashMap<String, Anchored>,
    /// How many bytes aliases may still add.
    budget: usize,
    /// Keys used twice in one mapping.
    pub(super) repeated: Vec<Remark>,
    /// The first word of each kind that deserves a hint.
    pub(super) hints: Vec<Remark>,
    n_documents: usize,
}

/// The value of an anchor.
enum Anchored {
    Scalar(ScalarForm, String),
    /// The JSON of a list or mapping, and its depth.
    Json(Vec<u8>, usize),
}

/// How a scalar is written, which decides how it is resolved.
#[derive(Clone)]
enum ScalarForm {
    /// Neither quoted nor tagged.
    Plain,
    /// Quoted, or a block.
    Text,
    /// With a tag.
    Tagged(String),
}

/// A list or mapping that is not closed yet.
struct OpenCollection {
    /// The offset of its JSON.
    start: usize,
    n_items: usize,
    /// The depth of the lists and mappings inside.
    depth: usize,
    anchor: Option<String>,
    role: Role,
    /// Set if this is a mapping.
    fields: Option<MappingState>,
}

/// The state of an open mapping.
struct MappingState {
    keys: OwnKeys,
    /// What the next event is.
    next: Expected,
    /// Mappings, or lists of mappings, to be merged into this one.
    merges: Vec<Vec<u8>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    Key,
    Value,
    /// A value to be merged, whose JSON starts at this offset.
    Merge(usize),
}

impl JsonWriter {
    pub(super) fn new(yaml: &str) -> JsonWriter {
        JsonWriter {
            json: Vec::with_capacity(yaml.len() + yaml.len() / 8),
            open: Vec::new(),
            keys: MappingKeys::default(),
            anchors: HashMap::new(),
            budget: ALIASES_OF_ANY + ALIASES_PER_BYTE * yaml.len(),
            repeated: Vec::new(),
            hints: Vec::new(),
            n_documents: 0,
        }
    }

    pub(super) fn has_anchors(&self) -> bool {
        !self.anchors.is_empty()
    }

    pub(super) fn event(&mut self, event: Event) -> Result<(), NotYaml> {
        let at = event.start_mark;
        match event.data {
            EventData::DocumentStart { .. } => self.document(at),
            EventData::Scalar { anchor, tag, value, plain_implicit, .. } => {
                let form = match tag.filter(|tag| tag != "!") {
                    Some(tag) => ScalarForm::Tagged(tag),
                    None if plain_implicit => ScalarForm::Plain,
                    None => ScalarForm::Text,
                };
                self.scalar(&value, &form, at)?;
                if let Some(anchor) = anchor {
                    self.anchors.insert(anchor, Anchored::Scalar(form, value));
                }
                Ok(())
            }
            EventData::SequenceStart { anchor, tag, .. } => {
                check_tag(tag.as_deref(), &["seq", "omap", "pairs"], "a list", at)?;
                self.open(b'[', anchor, None, at)
            }
            EventData::MappingStart { anchor, tag, .. } => {
                check_tag(tag.as_deref(), &["map", "set"], "a mapping", at)?;
                let keys = self.keys.of_new_mapping();
                let fields = MappingState { keys, next: Expected::Key, merges: Vec::new() };
                self.open(b'{', anchor, Some(fields), at)
            }
            EventData::SequenceEnd => self.close(b']', at),
            EventData::MappingEnd => self.close(b'}', at),
            EventData::Alias { anchor } => self.alias(&anchor, at),
            EventData::StreamStart { .. }
            | EventData::StreamEnd
            | EventData::DocumentEnd { .. } => Ok(()),
        }
    }

    fn document(&mut self, at: Mark) -> Result<(), NotYaml> {
        self.n_documents += 1;
        if self.n_documents == 1 {
            return Ok(());
        }
        let hint = "put each document into a file of its own, or make a list of them";
        Err(NotYaml::new(at, "another document begins here, and only one is read").hint(hint))
    }

    /// Writes the comma before the next value if one is due, and returns the value's role.
    fn begin_value(&mut self, at: Mark) -> Result<Role, NotYaml> {
        let Some(open) = self.open.last_mut() else { return Ok(Role::Top) };
        match &mut open.fields {
            None => {
                if open.n_items > 0 {
                    self.json.push(b',');
                }
                open.n_items += 1;
                Ok(open.role.item())
            }
            Some(fields) => match fields.next {
                Expected::Key => Err(NotYaml::new(at, "a key is a text, not a list or a mapping")),
                // A merged mapping becomes part of this one.
                Expected::Merge(_) => Ok(open.role),
                Expected::Value => Ok(open.role.field(&self.json[self.keys.last()])),
            },
        }
    }

    /// Called when a value is complete.
    fn end_value(&mut self, at: Mark) -> Result<(), NotYaml> {
        let Some(fields) = self.open.last_mut().and_then(|open| open.fields.as_mut()) else {
            return Ok(());
        };
        let next = std::mem::replace(&mut fields.next, Expected::Key);
        if let Expected::Merge(start) = next {
            let merge = self.json.split_off(start);
            if !matches!(merge.first(), Some(b'{' | b'[')) {
                return Err(NotYaml::new(at, "only mappings can be merged with `<<`"));
            }
            fields.merges.push(merge);
        }
        Ok(())
    }

    fn open(
        &mut self,
        bracket: u8,
        anchor: Option<String>,
        fields: Option<MappingState>,
        at: Mark,
    ) -> Result<(), NotYaml> {
        let role = self.begin_value(at)?;
        self.check_depth(1, at)?;
        if let Some(anchor) = &anchor {
            // An alias may refer to it only once it is complete.
            self.anchors.remove(anchor);
        }
        self.open.push(OpenCollection {
            start: self.json.len(),
            n_items: 0,
            depth: 0,
            anchor,
            role,
            fields,
        });
        self.json.push(bracket);
        Ok(())
    }

    /// Records the depth of the next value, or refuses it if it is too deep.
    fn check_depth(&mut self, depth: usize, at: Mark) -> Result<(), NotYaml> {
        if self.open.len() + depth > DEEPEST {
            let message = format!("lists and mappings are nested more than {DEEPEST} deep here");
            return Err(NotYaml::new(at, message));
        }
        if let Some(open) = self.open.last_mut() {
            open.depth = open.depth.max(depth);
        }
        Ok(())
    }

    fn close(&mut self, bracket: u8, at: Mark) -> Result<(), NotYaml> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let OpenCollection { start, depth, anchor, fields, .. } = open;
        self.check_depth(depth + 1, at)?;
        self.json.push(bracket);
        if let Some(MappingState { keys, merges, .. }) = fields {
            self.keys.forget(&keys);
            if !merges.is_empty() {
                let own = self.json.split_off(start);
                let whole = merged(&merges, &own);
                let whole = whole
                    .ok_or_else(|| NotYaml::new(at, "only mappings can be merged with `<<`"))?;
                self.spend(whole.len(), at)?;
                self.json.extend_from_slice(&whole);
            }
        }
        if let Some(anchor) = anchor {
            let json = self.json[start..].to_vec();
            self.spend(json.len(), at)?;
            self.anchors.insert(anchor, Anchored::Json(json, depth + 1));
        }
        self.end_value(at)
    }

    fn alias(&mut self, anchor: &str, at: Mark) -> Result<(), NotYaml> {
        let Some((anchor, anchored)) = self.anchors.remove_entry(anchor) else {
            let message = format!("the anchor `{anchor}` is not defined completely before this");
            return Err(NotYaml::new(at, message));
        };
        match &anchored {
            Anchored::Scalar(form, text) => {
                self.spend(text.len(), at)?;
                self.scalar(text, form, at)?;
            }
            Anchored::Json(json, depth) => {
                self.spend(json.len(), at)?;
                self.check_depth(*depth, at)?;
                self.begin_value(at)?;
                self.json.extend_from_slice(json);
                self.end_value(at)?;
            }
        }
        self.anchors.insert(anchor, anchored);
        Ok(())
    }

    fn spend(&mut self, n_bytes: usize, at: Mark) -> Result<(), NotYaml> {
        let rest = self.budget.checked_sub(n_bytes);
        self.budget = rest.ok_or_else(|| {
            NotYaml::new(at, "aliases make this file too large here")
                .hint("write out what they stand for, or remove some of them")
        })?;
        Ok(())
    }

    fn scalar(&mut self, text: &str, form: &ScalarForm, at: Mark) -> Result<(), NotYaml> {
        let is_plain = matches!(form, ScalarForm::Plain);
        let fields = self.open.last_mut().and_then(|open| open.fields.as_mut());
        if let Some(fields) = fields.filter(|fields| fields.next == Expected::Key) {
            if is_plain && text == "<<" {
                fields.next = Expected::Merge(self.json.len());
                return Ok(());
            }
            resolve_scalar(text, form, at)?;
            self.key(text, at);
            return Ok(());
        }
        let role = self.begin_value(at)?;
        let value = resolve_scalar(text, form, at)?;
        // An id keeps its text if the resolved value would be written differently.
        let differs = match &value {
            Scalar::Number(json) => json != text || text.contains('.'),
            Scalar::Truth(truth) => text != if *truth { "true" } else { "false" },
            Scalar::NotFinite(_) => true,
            Scalar::Null | Scalar::Text => false,
        };
        let value = if role == Role::Id && differs { Scalar::Text } else { value };
        if value == Scalar::Text && is_plain && role != Role::Id {
            self.hint_at_truth(text, at);
        }
        match value {
            Scalar::Null => self.json.extend_from_slice(b"null"),
            Scalar::Truth(true) => self.json.extend_from_slice(b"true"),
            Scalar::Truth(false) => self.json.extend_from_slice(b"false"),
            Scalar::Number(json) => self.json.extend_from_slice(json.as_bytes()),
            Scalar::NotFinite(word) => {
                self.hint_at(Problem::NumberAsText(word), at);
                self.text(word);
            }
            Scalar::Text => self.text(text),
        }
        self.end_value(at)
    }

    fn text(&mut self, text: &str) {
        // Writing a string to memory does not fail.
        let _ = serde_json::to_writer(&mut self.json, text);
    }

    /// Writes a key, and records it if the mapping has it already.
    fn key(&mut self, text: &str, at: Mark) {
        let Some(open) = self.open.last_mut() else { return };
        let Some(fields) = &mut open.fields else { return };
        if open.n_items > 0 {
            self.json.push(b',');
        }
        open.n_items += 1;
        fields.next = Expected::Value;
        let start = self.json.len();
        let _ = serde_json::to_writer(&mut self.json, text);
        let key = start..self.json.len();
        let is_new = self.keys.add(&mut fields.keys, &self.json, key);
        self.json.push(b':');
        if !is_new {
            let problem = Problem::RepeatedKey(text.to_owned());
            // Problems beyond those shown only need to name their record.
            let longest = if self.repeated.len() < Problems::MOST { usize::MAX } else { 2 };
            self.repeated.push(Remark { at, path: self.path(longest), problem });
        }
    }

    /// Returns the path to the next value, or to the one just written, up to `longest` segments.
    fn path(&self, longest: usize) -> Path {
        let mut path = Vec::with_capacity(self.open.len().min(longest));
        for (depth, open) in self.open.iter().enumerate().take(longest) {
            match &open.fields {
                None => path.push(Segment::Index(open.n_items.saturating_sub(1))),
                Some(_) => {
                    let inner = self.open[depth + 1..].iter().find_map(|open| open.fields.as_ref());
                    let key = self.keys.last_before(inner.map(|fields| &fields.keys));
                    let key = serde_json::from_slice(&self.json[key]).unwrap_or_default();
                    path.push(Segment::Key(key));
                }
            }
        }
        Path(path)
    }

    fn hint_at_truth(&mut self, text: &str, at: Mark) {
        if let Some(truth) = scalar::truth_elsewhere(text) {
            self.hint_at(Problem::TruthAsText { word: text.to_owned(), truth }, at);
        }
    }

    /// Records a hint unless there is one of the same kind.
    fn hint_at(&mut self, problem: Problem, at: Mark) {
        let kind = std::mem::discriminant(&problem);
        if self.hints.iter().all(|hint| std::mem::discriminant(&hint.problem) != kind) {
            self.hints.push(Remark { at, path: self.path(usize::MAX), problem });
        }
    }
}

fn resolve_scalar<'t>(text: &'t str, form: &ScalarForm, at: Mark) -> Result<Scalar<'t>, NotYaml> {
    let tag = match form {
        ScalarForm::Plain => return Ok(resolve(text)),
        ScalarForm::Text => return Ok(Scalar::Text),
        ScalarForm::Tagged(tag) => tag,
    };
    let value =
        tag.strip_prefix(CORE).map_or(Err(BadTag::Unknown), |tag| resolve_tagged(text, tag));
    value.map_err(|bad| match bad {
        BadTag::Unknown => unknown_tag(tag, at),
        BadTag::Unfit => {
            NotYaml::new(at, format!("`{text}` is not what its tag `{}` says", short_tag(tag)))
        }
    })
}

/// Checks the tag of a list or mapping.
fn check_tag(tag: Option<&str>, known: &[&str], kind: &str, at: Mark) -> Result<(), NotYaml> {
    const OTHERS: [&str; 10] =
        ["str", "int", "float", "bool", "null", "seq", "map", "set", "omap", "pairs"];
    let Some(tag) = tag.filter(|tag| *tag != "!") else { return Ok(()) };
    match tag.strip_prefix(CORE) {
        Some(core) if known.contains(&core) => Ok(()),
        Some(core) if OTHERS.contains(&core) => {
            Err(NotYaml::new(at, format!("{kind} is not what its tag `{}` says", short_tag(tag))))
        }
        _ => Err(unknown_tag(tag, at)),
    }
}

fn unknown_tag(name: &str, at: Mark) -> NotYaml {
    NotYaml::new(at, format!("unknown tag `{}`", short_tag(name)))
        .hint("remove the tag; `!!str`, `!!int`, `!!float`, `!!bool` and `!!null` are known")
}

/// Returns a tag as people write it, such as `!!int`.
fn short_tag(name: &str) -> String {
    name.strip_prefix(CORE).map_or_else(|| name.to_owned(), |tag| format!("!!{tag}"))
}
