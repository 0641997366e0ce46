//! An agent's own log: finds the parts an answer needs in one pass.

use juror_json::cursor::{Cursor, Taken};

use super::json::is_something;

/// The parts of a log that make up an answer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Log<'a> {
    pub(super) query: Option<&'a str>,
    pub(super) functions: Option<&'a str>,
    pub(super) final_answer: Option<&'a str>,
    /// Whether the agent reached an end that counts.
    pub(super) is_valid: bool,
    /// The conversation that led to the end: the last one kept.
    pub(super) messages: Option<&'a str>,
    /// The nodes of the oldest try, if the agent tried chains.
    pub(super) chain: Option<&'a str>,
    /// The tree, if the agent searched one.
    pub(super) tree: Option<&'a str>,
    /// Whether the text holds any part of an answer.
    pub(super) is_log: bool,
}

pub(super) fn read_log(text: &str) -> Taken<Log<'_>> {
    let mut cursor = Cursor::new(text);
    let mut log = Log::default();
    if !cursor.opens(b'{') {
        return Ok(log);
    }
    while let Some(key) = cursor.next_key()? {
        match &*key {
            "answer_generation" if cursor.opens(b'{') => read_generation(&mut cursor, &mut log)?,
            "trys" if cursor.opens(b'[') => log.chain = read_first_try(&mut cursor)?,
            "tree" if cursor.opens(b'{') => log.tree = rest_of_object(&mut cursor, "tree")?,
            _ => drop(cursor.pass()?),
        }
    }
    cursor.end()?;
    Ok(log)
}

fn read_generation<'a>(cursor: &mut Cursor<'a>, log: &mut Log<'a>) -> Taken<()> {
    log.is_log = true;
    while let Some(key) = cursor.next_key()? {
        if key == "train_messages" && cursor.opens(b'[') {
            while cursor.next_item()? {
                log.messages = Some(cursor.pass()?);
            }
            continue;
        }
        match &*key {
            "query" => log.query = Some(cursor.value()?),
            // Copied unparsed, since Python may have written what only Python reads.
            "function" => log.functions = Some(cursor.pass()?),
            "final_answer" => log.final_answer = Some(cursor.value()?),
            "valid_data" => log.is_valid = is_something(cursor.value()?),
            _ => drop(cursor.pass()?),
        }
    }
    Ok(())
}

fn read_first_try<'a>(cursor: &mut Cursor<'a>) -> Taken<Option<&'a str>> {
    let mut first = None;
    let mut n_tries = 0;
    while cursor.next_item()? {
        n_tries += 1;
        if n_tries == 1 && cursor.opens(b'{') {
            first = rest_of_object(cursor, "chain")?;
        } else {
            cursor.pass()?;
        }
    }
    Ok(first)
}

/// Reads one field of an object already entered.
fn rest_of_object<'a>(cursor: &mut Cursor<'a>, wanted: &str) -> Taken<Option<&'a str>> {
    let mut found = None;
    while let Some(key) = cursor.next_key()? {
        let value = cursor.pass()?;
        if key == wanted {
            found = Some(value);
        }
    }
    Ok(found)
}
