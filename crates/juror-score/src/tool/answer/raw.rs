//! An agent's own log: what is needed of it, found in one pass.

use super::json::is_something;
use crate::walk::{Walk, Walked};

/// The parts of a log that an answer is made of.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Log<'a> {
    pub(super) query: Option<&'a str>,
    pub(super) functions: Option<&'a str>,
    pub(super) final_answer: Option<&'a str>,
    /// Whether the agent came to an end that counts.
    pub(super) is_valid: bool,
    /// The conversation that led to the end: the last of those that were kept.
    pub(super) messages: Option<&'a str>,
    /// The nodes of the oldest try, where the agent tried chains.
    pub(super) chain: Option<&'a str>,
    /// The tree, where the agent searched one.
    pub(super) tree: Option<&'a str>,
    /// Whether the log says anything of an answer.
    pub(super) is_log: bool,
}

pub(super) fn read_log(text: &str) -> Walked<Log<'_>> {
    let mut walk = Walk::new(text);
    let mut log = Log::default();
    if !walk.opens(b'{') {
        return Ok(log);
    }
    while let Some(key) = walk.next_key()? {
        match &*key {
            "answer_generation" if walk.opens(b'{') => read_generation(&mut walk, &mut log)?,
            "trys" if walk.opens(b'[') => log.chain = read_first_try(&mut walk)?,
            "tree" if walk.opens(b'{') => log.tree = rest_of_object(&mut walk, "tree")?,
            _ => drop(walk.pass()?),
        }
    }
    walk.end()?;
    Ok(log)
}

fn read_generation<'a>(walk: &mut Walk<'a>, log: &mut Log<'a>) -> Walked<()> {
    log.is_log = true;
    while let Some(key) = walk.next_key()? {
        if key == "train_messages" && walk.opens(b'[') {
            while walk.next_item()? {
                log.messages = Some(walk.pass()?);
            }
            continue;
        }
        match &*key {
            "query" => log.query = Some(walk.value()?),
            // They are copied, and Python may have written what only Python reads.
            "function" => log.functions = Some(walk.pass()?),
            "final_answer" => log.final_answer = Some(walk.value()?),
            "valid_data" => log.is_valid = is_something(walk.value()?),
            _ => drop(walk.pass()?),
        }
    }
    Ok(())
}

fn read_first_try<'a>(walk: &mut Walk<'a>) -> Walked<Option<&'a str>> {
    let mut first = None;
    let mut n_tries = 0;
    while walk.next_item()? {
        n_tries += 1;
        if n_tries == 1 && walk.opens(b'{') {
            first = rest_of_object(walk, "chain")?;
        } else {
            walk.pass()?;
        }
    }
    Ok(first)
}

/// One field of an object that was entered.
fn rest_of_object<'a>(walk: &mut Walk<'a>, wanted: &str) -> Walked<Option<&'a str>> {
    let mut found = None;
    while let Some(key) = walk.next_key()? {
        let value = walk.pass()?;
        if key == wanted {
            found = Some(value);
        }
    }
    Ok(found)
}
