//! One operation of an `OpenAPI` document: its parameters and its body as one object of arguments.

use std::sync::Arc;

use indexmap::IndexMap;
use juror_document::{Look, Path};
use juror_json::Object;
use serde_json::json;
use serde_json::value::RawValue;

use super::described::{
    ArgumentPlace, BodyForm, Described, ListStyle, PoolKind, RequestPart, parameters_of,
};
use super::functions::uncallable;
use super::openapi::{object, server_url, text};
use super::references::{References, SchemaWriter};
use crate::tool_file::Api;

/// Headers that are no parameters, whatever a document says.
const RESERVED: [&str; 3] = ["accept", "content-type", "authorization"];

/// What is known of an operation before it is read.
pub(super) struct Operation<'o, 'd> {
    pub(super) method: &'static str,
    /// The path, with placeholders.
    pub(super) address: &'o str,
    /// The address of its server; empty if unknown.
    pub(super) server: &'o str,
    /// The parameters of all operations of the path.
    pub(super) shared: Option<&'d RawValue>,
    pub(super) shared_path: Path,
}

/// Reads an operation. Reports what it cannot use.
pub(super) fn read_operation<'d>(
    look: &mut Look<'d>,
    references: &References<'d>,
    operation: &Operation<'_, 'd>,
    value: &'d RawValue,
    path: &Path,
) -> Option<Api> {
    let fields = look.object(value, path, "an operation")?;
    let Operation { method, address, .. } = operation;
    let name = match text(&fields, "operationId") {
        empty if empty.trim().is_empty() => format!("{method} {address}"),
        id => id.trim().to_owned(),
    };
    let mut arguments = Arguments::new(references);
    let own = fields.get_set("parameters");
    let lists = [(operation.shared, &operation.shared_path), (own, &path.key("parameters"))];
    for (list, path) in lists {
        arguments.read_parameters(look, list, path);
    }
    if let Some(body) = fields.get_set("requestBody") {
        arguments.read_body(look, body, &path.key("requestBody"));
    }
    if !address.starts_with('/') {
        look.note(value.get(), path.clone(), uncallable("its path does not begin with `/`"));
        return None;
    }
    let server = server_url(&fields).unwrap_or_else(|| operation.server.to_owned());
    let schema = arguments.schema(look)?;
    let (required, optional) = parameters_of(&schema);
    Some(Api {
        name,
        description: description_of(&fields),
        method: method.to_uppercase(),
        url: format!("{server}{address}"),
        required,
        optional,
        schema: None,
        described: Some(Arc::new(Described {
            kind: PoolKind::OpenApi,
            schema,
            path: (*address).to_owned(),
            request: arguments.places,
            body: arguments.body,
        })),
    })
}

/// The summary and the description, unless one contains the other.
fn description_of(fields: &Object<'_>) -> String {
    let (summary, description) = (text(fields, "summary"), text(fields, "description"));
    match (summary.trim(), description.trim()) {
        (summary, "") => summary.to_owned(),
        ("", description) => description.to_owned(),
        (summary, description) if description.starts_with(summary) => description.to_owned(),
        (summary, description) => format!("{summary}\n\n{description}"),
    }
}

/// The arguments of an operation, as far as they are read.
struct Arguments<'r, 'd> {
    references: &'r References<'d>,
    writer: SchemaWriter<'r, 'd>,
    /// Schemas by name, as JSON.
    properties: IndexMap<String, String>,
    required: Vec<String>,
    places: Vec<ArgumentPlace>,
    body: BodyForm,
}

impl<'r, 'd> Arguments<'r, 'd> {
    fn new(references: &'r References<'d>) -> Arguments<'r, 'd> {
        Arguments {
            references,
            writer: SchemaWriter::new(references),
            properties: IndexMap::new(),
            required: Vec::new(),
            places: Vec::new(),
            body: BodyForm::default(),
        }
    }

    /// Reads a list of parameters. Later ones override those of the same name and part of the request: those
    /// of an operation those of its path, and the last of a list that has one twice.
    fn read_parameters(&mut self, look: &mut Look<'d>, list: Option<&'d RawValue>, path: &Path) {
        let Some(list) = list else { return };
        for (index, value) in look.list(list, path, "a list").into_iter().flatten().enumerate() {
            let path = path.index(index);
            if let Some((fields, target)) = self.references.settled(look, value, &path) {
                self.read_parameter(look, &fields, &target.path);
            }
        }
    }

    fn read_parameter(&mut self, look: &mut Look<'d>, fields: &Object<'d>, path: &Path) {
        let name = text(fields, "name").into_owned();
        let part = match &*text(fields, "in") {
            "path" => RequestPart::Path,
            "query" => RequestPart::Query,
            "cookie" => RequestPart::Cookie,
            "header" if !RESERVED.contains(&name.to_lowercase().as_str()) => RequestPart::Header,
            _ => return,
        };
        if name.is_empty() {
            return;
        }
        let is_it = |place: &ArgumentPlace| place.name == name && place.part == part;
        if let Some(at) = self.places.iter().position(is_it) {
            let argument = self.places.remove(at).argument;
            self.properties.shift_remove(&argument);
            self.required.retain(|other| *other != argument);
        }
        let (schema, style) = self.parameter_schema(look, fields, path, part);
        let argument = self.free_name(&name, part);
        let is_required = fields.get("required").is_some_and(|value| value.get() == "true");
        if is_required || part == RequestPart::Path {
            self.required.push(argument.clone());
        }
        self.properties.insert(argument.clone(), schema);
        self.places.push(ArgumentPlace { argument, name, part, style });
    }

    /// Returns the schema of a parameter, with the parameter's description, and how it is written.
    fn parameter_schema(
        &mut self,
        look: &mut Look<'d>,
        fields: &Object<'d>,
        path: &Path,
        part: RequestPart,
    ) -> (String, ListStyle) {
        let written = match (fields.get_set("schema"), fields.get_set("content")) {
            (Some(schema), _) => self.writer.write(look, schema, &path.key("schema")),
            (None, Some(content)) => {
                let path = path.key("content");
                let media = object(Some(content)).iter().next().map(|(name, value)| {
                    (path.key(&name).key("schema"), object(Some(value)).get_set("schema"))
                });
                match media {
                    Some((path, Some(schema))) => self.writer.write(look, schema, &path),
                    _ => "{}".to_owned(),
                }
            }
            (None, None) => "{\"type\":\"string\"}".to_owned(),
        };
        let style = match fields.get_set("content") {
            Some(_) => ListStyle::Json,
            None => style_of(fields, part),
        };
        (with_description(written, &text(fields, "description")), style)
    }

    /// Returns a name that no other argument has.
    fn free_name(&self, name: &str, part: RequestPart) -> String {
        let suffix = match part {
            RequestPart::Path => "path",
            RequestPart::Query => "query",
            RequestPart::Header => "header",
            RequestPart::Cookie => "cookie",
            RequestPart::Field | RequestPart::Body => "body",
        };
        let mut free = name.to_owned();
        while self.properties.contains_key(&free) {
            free = format!("{free}_{suffix}");
        }
        free
    }

    /// Reads the body: an object gives an argument for each field, anything else is one argument.
    fn read_body(&mut self, look: &mut Look<'d>, value: &'d RawValue, path: &Path) {
        let Some((fields, target)) = self.references.settled(look, value, path) else { return };
        let content = object(fields.get_set("content"));
        let Some((media, value)) = chosen(&content) else { return };
        self.body = form_of(&media);
        let path = target.path.key("content").key(&media).key("schema");
        let is_required = fields.get("required").is_some_and(|value| value.get() == "true");
        let Some(schema) = object(Some(value)).get_set("schema") else {
            return self.whole_body("{}".to_owned(), is_required);
        };
        let written = self.writer.write(look, schema, &path);
        if !self.merge_fields(&written, is_required) {
            self.whole_body(written, is_required);
        }
    }

    fn whole_body(&mut self, schema: String, is_required: bool) {
        let argument = self.free_name("body", RequestPart::Body);
        if is_required {
            self.required.push(argument.clone());
        }
        self.properties.insert(argument.clone(), schema);
        self.places.push(ArgumentPlace {
            name: argument.clone(),
            argument,
            part: RequestPart::Body,
            style: ListStyle::Json,
        });
    }

    /// Adds the fields of a body, if it is a plain object and no field has the name of another
    /// argument. A body with further rules, such as `oneOf`, would lose them.
    fn merge_fields(&mut self, schema: &str, is_required: bool) -> bool {
        const PLAIN: [&str; 8] = [
            "type",
            "properties",
            "required",
            "description",
            "title",
            "example",
            "examples",
            "additionalProperties",
        ];
        let Ok(fields) = juror_json::from_str::<Object<'_>>(schema) else { return false };
        let properties = object(fields.get_set("properties"));
        let is_plain =
            fields.iter().all(|(key, _)| PLAIN.contains(&&*key) || key.starts_with("x-"));
        let is_open =
            fields.get_set("additionalProperties").is_some_and(|open| open.get() != "false");
        let is_taken = properties.iter().any(|(name, _)| self.properties.contains_key(&*name));
        if properties.iter().next().is_none() || !is_plain || is_open || is_taken {
            return false;
        }
        let required = fields.get_set("required").map_or("[]", RawValue::get);
        let required: Vec<String> = serde_json::from_str(required).unwrap_or_default();
        for (name, value) in properties.iter() {
            let argument = name.clone().into_owned();
            self.properties.insert(argument.clone(), value.get().to_owned());
            self.places.push(ArgumentPlace {
                name: argument.clone(),
                argument,
                part: RequestPart::Field,
                style: ListStyle::Json,
            });
        }
        let is_field = |name: &String| is_required && properties.get(name).is_some();
        self.required.extend(required.into_iter().filter(is_field));
        true
    }

    /// Writes the schema of all arguments.
    fn schema(&mut self, look: &mut Look<'d>) -> Option<Box<RawValue>> {
        let field = |(name, value): (&String, &String)| format!("{}:{value}", json!(name));
        let properties: Vec<String> = self.properties.iter().map(field).collect();
        let mut parts = vec![
            "\"type\":\"object\"".to_owned(),
            format!("\"properties\":{{{}}}", properties.join(",")),
        ];
        if !self.required.is_empty() {
            parts.push(format!("\"required\":{}", json!(self.required)));
        }
        let definitions = self.writer.definitions(look);
        if !definitions.is_empty() {
            let fields: Vec<String> =
                definitions.iter().map(|(name, value)| field((name, value))).collect();
            parts.push(format!("\"$defs\":{{{}}}", fields.join(",")));
        }
        RawValue::from_string(format!("{{{}}}", parts.join(","))).ok()
    }
}

/// How a parameter writes lists and objects.
fn style_of(fields: &Object<'_>, part: RequestPart) -> ListStyle {
    let style = text(fields, "style");
    let explodes = match fields.get("explode").map(RawValue::get) {
        Some(word) => word == "true",
        None => matches!(&*style, "" | "form"),
    };
    match (part, &*style) {
        (RequestPart::Query | RequestPart::Cookie, "" | "form") if explodes => ListStyle::Repeated,
        (RequestPart::Query, "deepObject") => ListStyle::Deep,
        (RequestPart::Query, "spaceDelimited") => ListStyle::Joined(" "),
        (RequestPart::Query, "pipeDelimited") => ListStyle::Joined("|"),
        _ => ListStyle::Joined(","),
    }
}

/// The media type of a body that is used: JSON, a form, or the first.
fn chosen<'d>(content: &Object<'d>) -> Option<(String, &'d RawValue)> {
    let all: Vec<(String, &RawValue)> =
        content.iter().map(|(media, value)| (media.into_owned(), value)).collect();
    let best = |form: BodyForm| all.iter().find(|(media, _)| form_of(media) == form);
    let found =
        best(BodyForm::Json).or_else(|| best(BodyForm::Form)).or_else(|| best(BodyForm::Text));
    found.or(all.first()).cloned()
}

fn form_of(media: &str) -> BodyForm {
    let media = media.split(';').next().unwrap_or_default().trim().to_lowercase();
    match media.as_str() {
        "application/x-www-form-urlencoded" => BodyForm::Form,
        "*/*" => BodyForm::Json,
        media if media == "application/json" || media.ends_with("+json") => BodyForm::Json,
        media if media.starts_with("text/") => BodyForm::Text,
        _ => BodyForm::Other,
    }
}

/// Adds a description to a schema that has none.
fn with_description(schema: String, description: &str) -> String {
    let fields: Object<'_> = juror_json::from_str(&schema).unwrap_or_default();
    if description.is_empty() || fields.get("description").is_some() {
        return schema;
    }
    let description = json!(description);
    match schema.strip_suffix('}') {
        Some("{") => format!("{{\"description\":{description}}}"),
        Some(open) => format!("{open},\"description\":{description}}}"),
        None => schema,
    }
}
