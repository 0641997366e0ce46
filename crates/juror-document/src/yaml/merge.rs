//! Merge keys: `<<` inserts the fields of other mappings before a mapping's own.

use indexmap::IndexMap;
use juror_json::Object;
use serde_json::value::RawValue;

/// Merges mappings into another, all as JSON. Its own fields take precedence, then those of the
/// last merge; within a list, those of the first mapping. Returns `None` if anything is not a
/// mapping.
pub(super) fn merged(merges: &[Vec<u8>], own: &[u8]) -> Option<Vec<u8>> {
    let mut fields: IndexMap<&str, &RawValue> = IndexMap::new();
    for merge in merges {
        if merge.starts_with(b"[") {
            let list: Vec<Object<'_>> = serde_json::from_slice(merge).ok()?;
            list.iter().rev().for_each(|object| extend(&mut fields, object));
        } else {
            extend(&mut fields, &serde_json::from_slice(merge).ok()?);
        }
    }
    extend(&mut fields, &serde_json::from_slice(own).ok()?);
    let mut json = vec![b'{'];
    for (index, (key, value)) in fields.into_iter().enumerate() {
        if index > 0 {
            json.push(b',');
        }
        json.extend_from_slice(key.as_bytes());
        json.push(b':');
        json.extend_from_slice(value.get().as_bytes());
    }
    json.push(b'}');
    Some(json)
}

fn extend<'j>(fields: &mut IndexMap<&'j str, &'j RawValue>, object: &Object<'j>) {
    fields.extend(object.iter_raw().map(|(key, value)| (key.get(), value)));
}
