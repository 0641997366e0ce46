//! References inside a document: following them, and writing schemas without them.

use std::cell::RefCell;
use std::rc::Rc;

use hashbrown::HashMap;
use indexmap::IndexMap;
use juror_document::{Look, Path, Problem, ToolsProblem};
use juror_json::{Object, text_of};
use percent_encoding::percent_decode_str;
use serde_json::json;
use serde_json::value::RawValue;

/// The longest schema of an operation, in bytes, before references are no longer followed.
const MOST_BYTES: usize = 64 << 10;

/// How deeply values are nested, with the references that lead to them.
const DEEPEST: usize = 100;

/// How many keys a reference may have. Text that is nested more deeply is not read.
const MOST_KEYS: usize = 128;

/// How many references lead from one to the next before they are taken for a circle.
const MOST_HOPS: usize = 16;

/// Keys whose values are data, where `$ref` means nothing.
const DATA: [&str; 5] = ["default", "example", "examples", "enum", "const"];

/// A value that a reference leads to, and its path.
#[derive(Clone)]
pub(super) struct Target<'d> {
    pub(super) value: &'d RawValue,
    pub(super) path: Path,
}

/// The parts of a document that references lead to.
pub(super) struct References<'d> {
    root: Rc<Parts<'d>>,
    /// What references lead through, by its pointer, parsed once; `None` if there is nothing.
    known: RefCell<HashMap<String, Option<Rc<Parts<'d>>>>>,
}

/// The parts of a value.
enum Parts<'d> {
    Fields(Object<'d>),
    Items(Vec<&'d RawValue>),
}

impl<'d> References<'d> {
    pub(super) fn new(root: &Object<'d>) -> References<'d> {
        References { root: Rc::new(Parts::Fields(root.clone())), known: RefCell::default() }
    }

    /// Follows a reference, or says why it cannot be followed.
    pub(super) fn find(&self, reference: &str) -> Result<Target<'d>, &'static str> {
        let pointer = reference.strip_prefix('#').ok_or("leads to another file")?;
        let pointer = pointer.strip_prefix('/').ok_or("leads to no part of the file")?;
        let is_short = pointer.split('/').take(MOST_KEYS + 1).count() <= MOST_KEYS;
        let value = is_short.then(|| self.part(pointer)).flatten().ok_or("leads nowhere")?;
        let path = pointer.split('/').fold(Path::default(), |path, key| path.key(&unescaped(key)));
        Ok(Target { value, path })
    }

    /// Returns the value at a pointer.
    fn part(&self, pointer: &str) -> Option<&'d RawValue> {
        let (parent, last) = pointer.rsplit_once('/').unwrap_or(("", pointer));
        match &*self.parts(parent)? {
            Parts::Fields(fields) => fields.get(&unescaped(last)),
            Parts::Items(items) => items.get(last.parse::<usize>().ok()?).copied(),
        }
    }

    /// Returns the parts of the value at a pointer.
    fn parts(&self, pointer: &str) -> Option<Rc<Parts<'d>>> {
        if pointer.is_empty() {
            return Some(self.root.clone());
        }
        if let Some(known) = self.known.borrow().get(pointer) {
            return known.clone();
        }
        let found = self.part(pointer).and_then(parts_of).map(Rc::new);
        self.known.borrow_mut().insert(pointer.to_owned(), found.clone());
        found
    }

    /// Returns the object that a value is, or that its reference leads to. Reports a reference
    /// that cannot be followed.
    pub(super) fn settled(
        &self,
        look: &mut Look<'d>,
        value: &'d RawValue,
        path: &Path,
    ) -> Option<(Object<'d>, Target<'d>)> {
        let mut target = Target { value, path: path.clone() };
        // The last reference that was followed, and where it stands.
        let mut followed: Option<(String, Target<'d>)> = None;
        let mut unfollowed = |reference: String, from: &Target<'d>, why| {
            let problem = Problem::Tools(ToolsProblem::Reference { reference, why });
            look.note(from.value.get(), from.path.key("$ref"), problem);
        };
        for _ in 0..MOST_HOPS {
            let Ok(fields) = juror_json::from_str::<Object<'d>>(target.value.get()) else {
                if let Some((reference, from)) = followed {
                    unfollowed(reference, &from, "leads to something that is not an object");
                }
                return None;
            };
            let Some(reference) = reference_of(&fields) else { return Some((fields, target)) };
            match self.find(&reference) {
                Ok(next) => {
                    let from = std::mem::replace(&mut target, next);
                    followed = Some((reference, from));
                }
                Err(why) => {
                    unfollowed(reference, &target, why);
                    return None;
                }
            }
        }
        let fields: Object<'d> = juror_json::from_str(value.get()).ok()?;
        let from = Target { value, path: path.clone() };
        unfollowed(reference_of(&fields)?, &from, "goes round in a circle");
        None
    }

    /// Whether a reference leads to itself through nothing but references.
    fn is_circle(&self, reference: &str) -> bool {
        let mut next = reference.to_owned();
        for _ in 0..MOST_HOPS {
            let Ok(target) = self.find(&next) else { return false };
            let fields = juror_json::from_str::<Object<'d>>(target.value.get());
            match fields.ok().as_ref().and_then(reference_of) {
                None => return false,
                Some(own) => next = own,
            }
        }
        true
    }
}

fn parts_of(value: &RawValue) -> Option<Parts<'_>> {
    let fields = juror_json::from_str(value.get()).map(Parts::Fields);
    fields.or_else(|_| juror_json::from_str(value.get()).map(Parts::Items)).ok()
}

/// Returns the reference that an object is.
fn reference_of(fields: &Object<'_>) -> Option<String> {
    fields.get("$ref").and_then(text_of).map(std::borrow::Cow::into_owned)
}

/// A key as pointers write it. References in the wild contain `%7B` and the like.
fn unescaped(token: &str) -> String {
    let decoded = percent_decode_str(token).decode_utf8();
    decoded.as_deref().unwrap_or(token).replace("~1", "/").replace("~0", "~")
}

/// Writes schemas with everything that they refer to in its place. A reference that contains
/// itself becomes a definition.
pub(super) struct SchemaWriter<'r, 'd> {
    references: &'r References<'d>,
    /// The references that lead to where the writer is.
    open: Vec<String>,
    /// References that become definitions, and their names.
    definitions: IndexMap<String, String>,
    n_bytes: usize,
}

impl<'r, 'd> SchemaWriter<'r, 'd> {
    pub(super) fn new(references: &'r References<'d>) -> SchemaWriter<'r, 'd> {
        let (open, definitions) = (Vec::new(), IndexMap::new());
        SchemaWriter { references, open, definitions, n_bytes: 0 }
    }

    /// Writes a schema.
    pub(super) fn write(
        &mut self,
        look: &mut Look<'d>,
        value: &'d RawValue,
        path: &Path,
    ) -> String {
        let mut out = String::new();
        self.push(look, value, path, &mut out);
        out
    }

    /// Writes the definitions that schemas refer to, as the fields of `$defs`.
    pub(super) fn definitions(&mut self, look: &mut Look<'d>) -> Vec<(String, String)> {
        let mut written = Vec::new();
        while let Some((reference, name)) = self.definitions.get_index(written.len()) {
            let (reference, name) = (reference.clone(), name.clone());
            let Ok(target) = self.references.find(&reference) else { break };
            self.open = vec![reference];
            let text = self.write(look, target.value, &target.path);
            written.push((name, text));
        }
        self.open.clear();
        written
    }

    fn push(&mut self, look: &mut Look<'d>, value: &'d RawValue, path: &Path, out: &mut String) {
        let is_deep = path.0.len() + self.open.len() > DEEPEST;
        match value.get().as_bytes().first() {
            Some(b'{' | b'[') if is_deep => out.push_str("{}"),
            Some(b'{') => self.push_object(look, value, path, out),
            Some(b'[') => self.push_list(look, value, path, out),
            _ => self.push_text(value.get(), out),
        }
    }

    fn push_text(&mut self, text: &str, out: &mut String) {
        self.n_bytes += text.len();
        out.push_str(text);
    }

    fn push_list(
        &mut self,
        look: &mut Look<'d>,
        value: &'d RawValue,
        path: &Path,
        out: &mut String,
    ) {
        let values: Vec<&'d RawValue> = juror_json::from_str(value.get()).unwrap_or_default();
        out.push('[');
        for (index, value) in values.into_iter().enumerate() {
            out.push_str(if index == 0 { "" } else { "," });
            self.push(look, value, &path.index(index), out);
        }
        out.push(']');
    }

    fn push_object(
        &mut self,
        look: &mut Look<'d>,
        value: &'d RawValue,
        path: &Path,
        out: &mut String,
    ) {
        let fields: Object<'d> = juror_json::from_str(value.get()).unwrap_or_default();
        let Some(reference) = reference_of(&fields) else {
            return self.push_fields(look, &fields, path, &Object::default(), out);
        };
        let place = (value.get(), path.key("$ref"));
        if self.open.contains(&reference) {
            return self.push_definition(look, &reference, place, out);
        }
        let target = self.references.find(&reference);
        let target = target.and_then(|target| {
            if self.n_bytes > MOST_BYTES {
                Err("is not followed, as the schema is too long")
            } else if self.references.is_circle(&reference) {
                Err("goes round in a circle")
            } else {
                Ok(target)
            }
        });
        match target {
            Err(why) => {
                let problem = ToolsProblem::Reference { reference, why };
                look.note(place.0, place.1, Problem::Tools(problem));
                out.push_str("{}");
            }
            Ok(target) => {
                self.open.push(reference);
                match juror_json::from_str::<Object<'d>>(target.value.get()) {
                    // What stands beside a reference overrides what it leads to.
                    Ok(own) if reference_of(&own).is_none() => {
                        self.push_fields(look, &own, &target.path, &fields, out);
                    }
                    _ => self.push(look, target.value, &target.path, out),
                }
                self.open.pop();
            }
        }
    }

    /// Writes the fields of an object, with `others` in place of those of the same names.
    fn push_fields(
        &mut self,
        look: &mut Look<'d>,
        fields: &Object<'d>,
        path: &Path,
        others: &Object<'d>,
        out: &mut String,
    ) {
        let overridden =
            |key: &RawValue| text_of(key).is_some_and(|key| others.get(&key).is_some());
        let own = fields.iter_raw().filter(|(key, _)| !overridden(key));
        let beside = others.iter_raw().filter(|(key, _)| key.get() != "\"$ref\"");
        out.push('{');
        for (n, (key, value)) in own.chain(beside).enumerate() {
            out.push_str(if n == 0 { "" } else { "," });
            self.push_text(key.get(), out);
            out.push(':');
            let name = text_of(key).unwrap_or_default();
            if DATA.contains(&&*name) {
                self.push_text(value.get(), out);
            } else {
                self.push(look, value, &path.key(&name), out);
            }
        }
        out.push('}');
    }

    fn push_definition(
        &mut self,
        look: &mut Look<'d>,
        reference: &str,
        (part, path): (&'d str, Path),
        out: &mut String,
    ) {
        if !self.definitions.contains_key(reference) {
            let problem = ToolsProblem::Recursive { reference: reference.to_owned() };
            look.note(part, path, Problem::Tools(problem));
            let last = reference.rsplit('/').next().unwrap_or_default();
            let is_taken = |name: &String| self.definitions.values().any(|taken| taken == name);
            let mut name = unescaped(last);
            while is_taken(&name) {
                name.push('_');
            }
            self.definitions.insert(reference.to_owned(), name);
        }
        let name = &self.definitions[reference];
        let pointer = name.replace('~', "~0").replace('/', "~1");
        out.push_str(&json!({"$ref": format!("#/$defs/{pointer}")}).to_string());
    }
}
