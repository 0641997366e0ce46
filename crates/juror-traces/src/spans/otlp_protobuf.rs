//! OTLP as protobuf: the few messages and fields that are needed, read from the wire.
//!
//! A request is a list of resources, each a list of scopes, each a list of spans or log records.

use std::borrow::Cow;

use serde_json::{Map, Number, Value};

use super::attributes::Attributes;
use super::facts::SpanFacts;
use super::otlp_json::read_record;
use super::read::read_span;
use super::span::{Event, Span};
use crate::rules::Rules;

/// The deepest value of an attribute.
const DEEPEST: usize = 64;

/// The bytes are not a message.
#[derive(Debug, PartialEq)]
pub(crate) struct Broken;

/// The value of a field.
enum Field<'b> {
    Number(u64),
    Bytes(&'b [u8]),
}

/// Walks over the fields of a message.
struct Fields<'b> {
    rest: &'b [u8],
}

impl<'b> Fields<'b> {
    fn of(rest: &'b [u8]) -> Fields<'b> {
        Fields { rest }
    }

    fn next(&mut self) -> Result<Option<(u64, Field<'b>)>, Broken> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let field = match tag & 7 {
            0 => Field::Number(self.varint()?),
            1 => Field::Number(u64::from_le_bytes(self.take(8)?.try_into().map_err(|_| Broken)?)),
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| Broken)?;
                Field::Bytes(self.take(length)?)
            }
            5 => Field::Number(u64::from(u32::from_le_bytes(
                self.take(4)?.try_into().map_err(|_| Broken)?,
            ))),
            _ => return Err(Broken),
        };
        Ok(Some((tag >> 3, field)))
    }

    fn varint(&mut self) -> Result<u64, Broken> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Broken)
    }

    fn take(&mut self, length: usize) -> Result<&'b [u8], Broken> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Broken)?;
        self.rest = rest;
        Ok(taken)
    }
}

/// Calls `each` with the number and bytes of each field that is not a plain number.
fn each_part<'b>(
    bytes: &'b [u8],
    mut each: impl FnMut(u64, &'b [u8]) -> Result<(), Broken>,
) -> Result<(), Broken> {
    let mut fields = Fields::of(bytes);
    while let Some((number, field)) = fields.next()? {
        if let Field::Bytes(bytes) = field {
            each(number, bytes)?;
        }
    }
    Ok(())
}

/// What a request holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    Spans,
    Records,
}

/// Whether bytes are a request with spans or log records.
pub(crate) fn is_request(bytes: &[u8]) -> bool {
    let mut is_one = false;
    // The first field is a list of resources, the first one of which has scopes.
    let _ = each_part(bytes, |number, resource| {
        let mut n_scopes = 0;
        each_part(resource, |number, scope| {
            if number == 2 {
                n_scopes += 1;
                each_part(scope, |_, _| Ok(()))?;
            }
            Ok(())
        })?;
        is_one = number == 1 && n_scopes > 0;
        Err(Broken)
    });
    is_one
}

/// Reads a request. Calls `keep` with each span or log record; what came before a broken part has
/// been kept then.
pub(crate) fn read_request(
    bytes: &[u8],
    rules: &Rules,
    keep: &mut dyn FnMut(SpanFacts),
) -> Result<(), Broken> {
    let mut n_records = 0;
    each_part(bytes, |number, resource| {
        if number != 1 {
            return Ok(());
        }
        each_part(resource, |number, scope| {
            if number != 2 {
                return Ok(());
            }
            let mut name = "";
            each_part(scope, |number, part| {
                match number {
                    1 => name = text_field(part, 1)?,
                    2 => {
                        let place = format!("#{n_records}");
                        n_records += 1;
                        match holds(part)? {
                            Holds::Spans => keep(read_span(&span(part, name, place)?, rules)),
                            Holds::Records => keep(record(part, &place, rules)?),
                        }
                    }
                    _ => {}
                }
                Ok(())
            })
        })
    })
}

/// A span starts with the id of its trace, 16 bytes; a log record with a time.
fn holds(bytes: &[u8]) -> Result<Holds, Broken> {
    match Fields::of(bytes).next()? {
        Some((1, Field::Bytes(_))) => Ok(Holds::Spans),
        _ => Ok(Holds::Records),
    }
}

fn text_field(bytes: &[u8], wanted: u64) -> Result<&str, Broken> {
    let mut found = "";
    each_part(bytes, |number, part| {
        if number == wanted {
            found = text(part)?;
        }
        Ok(())
    })?;
    Ok(found)
}

fn text(bytes: &[u8]) -> Result<&str, Broken> {
    std::str::from_utf8(bytes).map_err(|_| Broken)
}

fn span<'b>(bytes: &'b [u8], scope: &'b str, place: String) -> Result<Span<'b>, Broken> {
    let mut span = Span { scope: Cow::Borrowed(scope), place, ..Span::default() };
    let mut fields = Fields::of(bytes);
    while let Some((number, field)) = fields.next()? {
        match (number, field) {
            (1, Field::Bytes(id)) => span.trace = Cow::Owned(hex(id)),
            (2, Field::Bytes(id)) => span.id = Cow::Owned(hex(id)),
            (4, Field::Bytes(id)) if !id.is_empty() => span.parent = Some(Cow::Owned(hex(id))),
            (5, Field::Bytes(name)) => span.name = Cow::Borrowed(text(name)?),
            (7, Field::Number(time)) => span.start = time,
            (8, Field::Number(time)) => span.end = time,
            (9, Field::Bytes(pair)) => attribute(&mut span.attributes, pair)?,
            (11, Field::Bytes(bytes)) => span.events.push(event(bytes)?),
            (15, Field::Bytes(status)) => (span.is_error, span.message) = status_of(status)?,
            _ => {}
        }
    }
    Ok(span)
}

fn event(bytes: &[u8]) -> Result<Event<'_>, Broken> {
    let mut event = Event::default();
    each_part(bytes, |number, part| match number {
        2 => {
            event.name = Cow::Borrowed(text(part)?);
            Ok(())
        }
        3 => attribute(&mut event.attributes, part),
        _ => Ok(()),
    })?;
    Ok(event)
}

fn status_of(bytes: &[u8]) -> Result<(Option<bool>, Option<String>), Broken> {
    let (mut is_error, mut message) = (None, None);
    let mut fields = Fields::of(bytes);
    while let Some((number, field)) = fields.next()? {
        match (number, field) {
            (2, Field::Bytes(bytes)) => message = Some(text(bytes)?.to_owned()),
            (3, Field::Number(1)) => is_error = Some(false),
            (3, Field::Number(2)) => is_error = Some(true),
            _ => {}
        }
    }
    Ok((is_error, message))
}

fn record(bytes: &[u8], place: &str, rules: &Rules) -> Result<SpanFacts, Broken> {
    let mut event = Event::default();
    let (mut trace, mut span, mut time, mut observed) = (String::new(), String::new(), 0, 0);
    let mut fields = Fields::of(bytes);
    while let Some((number, field)) = fields.next()? {
        match (number, field) {
            (1, Field::Number(at)) => time = at,
            (11, Field::Number(at)) => observed = at,
            (5, Field::Bytes(bytes)) => event.body = Some(any(bytes, DEEPEST)?),
            (6, Field::Bytes(pair)) => attribute(&mut event.attributes, pair)?,
            (9, Field::Bytes(id)) => trace = hex(id),
            (10, Field::Bytes(id)) => span = hex(id),
            (12, Field::Bytes(name)) => event.name = Cow::Borrowed(text(name)?),
            _ => {}
        }
    }
    if event.name.is_empty() {
        event.name = event.attributes.text("event.name").map(Cow::Owned).unwrap_or_default();
    }
    let time = if time > 0 { time } else { observed };
    Ok(read_record(&event, trace, span, time, place, rules))
}

fn attribute(attributes: &mut Attributes<'_>, bytes: &[u8]) -> Result<(), Broken> {
    let (key, value) = pair(bytes, DEEPEST)?;
    attributes.push(key, value);
    Ok(())
}

fn pair(bytes: &[u8], depth: usize) -> Result<(String, Value), Broken> {
    let (mut key, mut value) = (String::new(), Value::Null);
    each_part(bytes, |number, part| {
        match number {
            1 => text(part)?.clone_into(&mut key),
            2 => value = any(part, depth)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok((key, value))
}

fn any(bytes: &[u8], depth: usize) -> Result<Value, Broken> {
    let depth = depth.checked_sub(1).ok_or(Broken)?;
    let mut value = Value::Null;
    let mut fields = Fields::of(bytes);
    while let Some((number, field)) = fields.next()? {
        value = match (number, field) {
            (1, Field::Bytes(bytes)) => Value::String(text(bytes)?.to_owned()),
            (2, Field::Number(bool)) => Value::Bool(bool != 0),
            (3, Field::Number(number)) => Value::Number(number.cast_signed().into()),
            (4, Field::Number(bits)) => {
                Number::from_f64(f64::from_bits(bits)).map_or(Value::Null, Value::Number)
            }
            (5, Field::Bytes(list)) => {
                let mut items = Vec::new();
                each_part(list, |number, item| {
                    if number == 1 {
                        items.push(any(item, depth)?);
                    }
                    Ok(())
                })?;
                Value::Array(items)
            }
            (6, Field::Bytes(list)) => {
                let mut entries = Map::new();
                each_part(list, |number, entry| {
                    if number == 1 {
                        let (key, value) = pair(entry, depth)?;
                        entries.insert(key, value);
                    }
                    Ok(())
                })?;
                Value::Object(entries)
            }
            (7, Field::Bytes(bytes)) => Value::String(hex(bytes)),
            _ => value,
        };
    }
    Ok(value)
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Writes a field of bytes.
    pub(crate) fn part(number: u8, bytes: &[u8]) -> Vec<u8> {
        let mut out = vec![number << 3 | 2];
        let mut length = bytes.len();
        while length >= 0x80 {
            out.push(u8::try_from(length & 0x7f).expect("seven bits") | 0x80);
            length >>= 7;
        }
        out.push(u8::try_from(length).expect("seven bits"));
        out.extend(bytes);
        out
    }

    fn fixed(number: u8, value: u64) -> Vec<u8> {
        [vec![number << 3 | 1], value.to_le_bytes().to_vec()].concat()
    }

    fn attribute(key: &str, value: &[u8]) -> Vec<u8> {
        part(9, &[part(1, key.as_bytes()), part(2, value)].concat())
    }

    pub(crate) fn request() -> Vec<u8> {
        let text = |text: &str| part(1, text.as_bytes());
        let list = part(6, &part(1, &[part(1, b"boolean"), part(2, &[2 << 3, 1])].concat()));
        let span = [
            part(1, &[0x5b; 16]),
            part(2, &[0xee; 8]),
            part(5, b"execute_tool sparql_query"),
            fixed(7, 1_785_578_400_000_000_000),
            fixed(8, 1_785_578_401_000_000_000),
            attribute("gen_ai.operation.name", &text("execute_tool")),
            attribute("gen_ai.tool.name", &text("sparql_query")),
            attribute("gen_ai.tool.call.arguments", &text("{\"query\":\"ASK {}\"}")),
            attribute("gen_ai.tool.call.result", &list),
            part(15, &[3 << 3, 1]),
        ]
        .concat();
        let scope = [part(1, &part(1, b"mine")), part(2, &span)].concat();
        part(1, &part(2, &scope))
    }

    #[test]
    fn a_request_is_read_from_the_wire() {
        let bytes = request();
        assert!(is_request(&bytes));
        let mut kept = Vec::new();
        read_request(&bytes, &Rules::default(), &mut |facts| kept.push(facts)).expect("read");
        let [facts] = &kept[..] else { panic!("one span") };
        assert_eq!((facts.trace.len(), facts.span.as_str()), (32, "eeeeeeeeeeeeeeee"));
        let call = facts.tool.as_ref().expect("a call");
        assert_eq!(call.args.value["query"], "ASK {}");
        assert_eq!(
            call.outcome.as_ref().and_then(|outcome| outcome.content.clone()),
            Some(serde_json::json!({"boolean": true}))
        );
    }

    #[test]
    fn broken_bytes_are_refused() {
        let bytes = request();
        for end in [1, 10, 40, bytes.len() - 1] {
            let result = read_request(&bytes[..end], &Rules::default(), &mut |_| {});
            assert_eq!(result, Err(Broken), "{end}");
        }
        assert!(
            !is_request(b"{\"resourceSpans\": []}") && !is_request(b"") && !is_request(&[0xff; 40])
        );
    }
}
