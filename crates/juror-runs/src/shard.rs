//! One of several parts of a list, each for a process of its own.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A shard: whatever stands at every `of`-th position of a list, beginning with the `number`-th.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Shard {
    /// Which shard it is, from 1 on.
    pub number: u32,
    /// How many shards there are.
    pub of: u32,
}

/// More shards than anybody makes.
const MOST_SHARDS: u32 = 1_000_000;

/// What identifies a shard of a run: the whole list, and the part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShardIdentity {
    /// Which shard it is.
    #[serde(flatten)]
    pub shard: Shard,
    /// How many questions or queries the whole list has.
    pub items: usize,
    /// The hash of the whole list.
    pub whole: String,
}

/// Why a text names no shard.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAShard {
    /// It is no two numbers.
    #[error(
        "`{0}` is no shard\n  hint: write 3/10 for the third of ten, or auto/10 in a job array"
    )]
    Unreadable(String),
    /// Its number is not one of those that there are.
    #[error("there is no shard {0}: they are counted from 1 on, to a million at most")]
    OutOfRange(Shard),
    /// Nothing in the environment says which shard it is.
    #[error(
        "`{0}` leaves it to the scheduler which shard this is, and neither JOB_COMPLETION_INDEX nor SLURM_ARRAY_TASK_ID is set"
    )]
    NoJob(String),
    /// Nothing in the environment says how many there are.
    #[error("`auto` does not say how many shards there are\n  hint: write auto/10")]
    NoCount,
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl Shard {
    /// Reads `3/10`; or `auto/10`, which takes the number from the scheduler's variables; or `auto`,
    /// which takes the count from there as well: Slurm tells it, Kubernetes does not.
    pub fn read(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Shard, NotAShard> {
        let unreadable = || NotAShard::Unreadable(text.to_owned());
        let whole = |text: &str| text.trim().parse::<u32>().map_err(|_| unreadable());
        let set = |name: &str| variable(name).and_then(|value| value.trim().parse::<u32>().ok());
        let (number, of) = match text.split_once('/') {
            Some((number, of)) => (number.trim(), Some(whole(of)?)),
            None => (text.trim(), None),
        };
        let shard = if number == "auto" {
            let number = number_of_job(&set).ok_or_else(|| NotAShard::NoJob(text.to_owned()))?;
            let of = of.or_else(|| set("SLURM_ARRAY_TASK_COUNT")).ok_or(NotAShard::NoCount)?;
            Shard { number, of }
        } else {
            Shard { number: whole(number)?, of: of.ok_or_else(unreadable)? }
        };
        let exists = shard.of <= MOST_SHARDS && (1..=shard.of).contains(&shard.number);
        if exists { Ok(shard) } else { Err(NotAShard::OutOfRange(shard)) }
    }

    /// Returns the position in the whole list of what is at a position of the shard.
    pub fn position(self, at: usize) -> usize {
        at * self.of as usize + self.number as usize - 1
    }

    /// Returns how many of so many things are in the shard.
    pub fn size_of(self, n_items: usize) -> usize {
        (n_items + (self.of - self.number) as usize) / self.of as usize
    }

    /// Whether it has what is at a position of the whole list.
    pub fn has(self, position: usize) -> bool {
        position % self.of as usize == self.number as usize - 1
    }

    /// Leaves in a list what belongs to the shard, and returns the rest.
    pub fn take_out<T>(self, list: &mut Vec<T>) -> Vec<T> {
        let mut rest = Vec::new();
        let mut own = Vec::with_capacity(self.size_of(list.len()));
        for (at, item) in list.drain(..).enumerate() {
            if self.has(at) { own.push(item) } else { rest.push(item) }
        }
        *list = own;
        rest
    }
}

/// Which of its jobs a scheduler says this is, from 1 on. Kubernetes counts from 0, Slurm from
/// wherever the user says.
fn number_of_job(set: &impl Fn(&str) -> Option<u32>) -> Option<u32> {
    let of_slurm = || {
        let id = set("SLURM_ARRAY_TASK_ID")?;
        id.checked_sub(set("SLURM_ARRAY_TASK_MIN").unwrap_or(1))
    };
    set("JOB_COMPLETION_INDEX").or_else(of_slurm)?.checked_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, variables: &[(&str, &str)]) -> Result<String, String> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(own, _)| *own == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let told =
            |error: NotAShard| error.to_string().lines().next().unwrap_or_default().to_owned();
        Shard::read(text, variable).map(|shard| shard.to_string()).map_err(told)
    }

    #[test]
    fn a_shard_is_named_or_left_to_the_scheduler() {
        let kubernetes = [("JOB_COMPLETION_INDEX", "0")];
        let slurm = [
            ("SLURM_ARRAY_TASK_ID", "7"),
            ("SLURM_ARRAY_TASK_MIN", "5"),
            ("SLURM_ARRAY_TASK_COUNT", "4"),
        ];
        for (text, variables, shard) in [
            ("3/10", &[][..], "3/10"),
            (" 1 / 1 ", &[], "1/1"),
            ("auto/10", &kubernetes, "1/10"),
            ("auto/4", &slurm, "3/4"),
            ("auto", &slurm, "3/4"),
            ("auto/9", &[("SLURM_ARRAY_TASK_ID", "9")], "9/9"),
        ] {
            assert_eq!(read(text, variables), Ok(shard.to_owned()), "{text}");
        }
        for (text, variables, why) in [
            ("3", &[][..], "`3` is no shard"),
            ("a/3", &[], "`a/3` is no shard"),
            ("-1/3", &[], "`-1/3` is no shard"),
            ("0/3", &[], "there is no shard 0/3: they are counted from 1 on, to a million at most"),
            (
                "1/2000000",
                &[],
                "there is no shard 1/2000000: they are counted from 1 on, to a million at most",
            ),
            ("4/3", &[], "there is no shard 4/3: they are counted from 1 on, to a million at most"),
            ("1/0", &[], "there is no shard 1/0: they are counted from 1 on, to a million at most"),
            ("auto", &kubernetes, "`auto` does not say how many shards there are"),
            (
                "auto/2",
                &slurm,
                "there is no shard 3/2: they are counted from 1 on, to a million at most",
            ),
        ] {
            assert_eq!(read(text, variables), Err(why.to_owned()), "{text}");
        }
        assert!(read("auto/10", &[]).is_err_and(|why| why.contains("SLURM_ARRAY_TASK_ID")));
    }

    #[test]
    fn shards_are_a_list_without_gaps_and_overlaps() {
        for (n, of) in [(0, 3), (2, 3), (163, 5), (10, 10), (11, 10)] {
            let mut seen = vec![0; n];
            for number in 1..=of {
                let shard = Shard { number, of };
                let mut list: Vec<usize> = (0..n).collect();
                let rest = shard.take_out(&mut list);
                assert_eq!(list.len() + rest.len(), n);
                assert_eq!(list.len(), shard.size_of(n));
                for (at, item) in list.into_iter().enumerate() {
                    assert_eq!(shard.position(at), item);
                    seen[item] += 1;
                }
            }
            assert!(seen.iter().all(|times| *times == 1), "{n} in {of}");
        }
    }
}
