//! Calls that something is still to be found for, looked up without going through all of them: a
//! trace may have thousands without ids.

use std::collections::VecDeque;

use hashbrown::HashMap;

use crate::args::Args;
use crate::call::Call;

/// In what a request may be like a call that was carried out.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Likeness {
    /// It has these arguments.
    Exact(String),
    /// Its only argument is this.
    Only(String),
    /// This text stands in for its arguments.
    Plain(String),
    /// Its arguments are not recorded.
    Unknown,
    /// Whatever its arguments are.
    Any,
}

/// Requests that nothing was carried out for, in their order.
#[derive(Debug, Default)]
pub(super) struct OpenRequests {
    /// By whether they have ids, by name, by likeness.
    queues: HashMap<(bool, String, Likeness), VecDeque<usize>>,
}

impl OpenRequests {
    /// Takes the next request.
    pub(super) fn add(&mut self, call: &Call, at: usize) {
        let args = &call.args;
        let mut likenesses = vec![Likeness::Any, Likeness::Exact(args.canonical())];
        if args.is_missing {
            likenesses.push(Likeness::Unknown);
        }
        if let Some(only) = args.only() {
            likenesses.extend(args.is_plain.then(|| Likeness::Plain(only.clone())));
            likenesses.push(Likeness::Only(only));
        }
        for likeness in likenesses {
            let key = (call.id.is_some(), spelled(&call.name), likeness);
            self.queues.entry(key).or_default().push_back(at);
        }
    }

    /// Returns the first open request that a call without one of its id may be: with equal
    /// arguments, or else with some that agree. Ids that differ are of different calls.
    pub(super) fn find(&mut self, call: &Call, is_open: impl Fn(usize) -> bool) -> Option<usize> {
        let mut first = |likeness: Likeness| {
            let mut key = (false, spelled(&call.name), likeness);
            let unnamed = front(self.queues.get_mut(&key), &is_open);
            key.0 = true;
            let may_be_named = call.id.is_none();
            let named =
                if may_be_named { front(self.queues.get_mut(&key), &is_open) } else { None };
            unnamed.into_iter().chain(named).min()
        };
        if call.args.is_missing {
            return first(Likeness::Any);
        }
        if let Some(at) = first(Likeness::Exact(call.args.canonical())) {
            return Some(at);
        }
        let only = |args: &Args| {
            let only = args.only()?;
            Some(if args.is_plain { Likeness::Only(only) } else { Likeness::Plain(only) })
        };
        let agreeing = [Some(Likeness::Unknown), only(&call.args)];
        agreeing.into_iter().flatten().filter_map(first).min()
    }
}

/// Handovers are named by what the model calls, or by the agent, which may have blanks and capitals.
fn spelled(name: &str) -> String {
    if !name.starts_with("transfer_to_") {
        return name.to_owned();
    }
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    name.chars().map(plain).collect()
}

/// Calls that wait for results without ids, in their order: by name, and all together.
#[derive(Debug, Default)]
pub(super) struct Unanswered {
    queues: HashMap<Option<String>, VecDeque<usize>>,
}

impl Unanswered {
    /// Takes the next call.
    pub(super) fn add(&mut self, call: &Call, at: usize) {
        for name in [None, Some(call.name.clone())] {
            self.queues.entry(name).or_default().push_back(at);
        }
    }

    /// Returns the first call of a name that waits, or of any if there is none.
    pub(super) fn find(
        &mut self,
        name: Option<&String>,
        waits: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        front(self.queues.get_mut(&name.cloned()), &waits)
    }
}

/// Returns the first that is open, and forgets those before it: what was closed stays so.
fn front(queue: Option<&mut VecDeque<usize>>, is_open: &impl Fn(usize) -> bool) -> Option<usize> {
    let queue = queue?;
    while queue.front().is_some_and(|at| !is_open(*at)) {
        queue.pop_front();
    }
    queue.front().copied()
}
