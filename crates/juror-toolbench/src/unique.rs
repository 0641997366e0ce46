//! Makes names unique.

use hashbrown::HashMap;
use hashbrown::HashSet;

use super::names::LONGEST_NAME;

/// Which end of a name to cut to make room for a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The beginning, since official names end with their tool.
    Front,
    /// The end.
    Back,
}

/// Makes all names distinct, keeping their order.
///
/// A name that only one API has stays. If several share a name, each of them gets a short hash of
/// its identity, so that a name depends on what shares it and not on the order.
pub fn unique_names(names: &[String], identities: &[String], cut: Cut) -> Vec<String> {
    let mut counts: HashMap<&str, usize> = HashMap::with_capacity(names.len());
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    let is_shared = |name: &String| counts.get(name.as_str()).is_some_and(|count| *count > 1);
    let mut taken: HashSet<String> =
        names.iter().filter(|name| !is_shared(name)).cloned().collect();
    // How many of the same name and identity came before and took their hashes.
    let mut n_before: HashMap<(&str, &str), u32> = HashMap::new();
    let pairs = names.iter().zip(identities);
    pairs
        .map(|(name, identity)| {
            if is_shared(name) {
                let attempt = n_before.entry((name, identity)).or_default();
                hashed_name(name, identity, cut, attempt, &mut taken)
            } else {
                name.clone()
            }
        })
        .collect()
}

/// Adds the first hash that makes a name unique, starting with `attempt`.
pub(crate) fn hashed_name(
    name: &str,
    identity: &str,
    cut: Cut,
    attempt: &mut u32,
    taken: &mut HashSet<String>,
) -> String {
    loop {
        let candidate = with_hash(name, short_hash(identity, *attempt), cut);
        *attempt += 1;
        if taken.insert(candidate.clone()) {
            return candidate;
        }
    }
}

fn with_hash(name: &str, hash: u32, cut: Cut) -> String {
    let suffix = format!("_{hash:06x}");
    let room = LONGEST_NAME - suffix.len();
    let n_over = name.chars().count().saturating_sub(room);
    let kept: String = match cut {
        Cut::Front => name.chars().skip(n_over).collect(),
        Cut::Back => name.chars().take(room).collect(),
    };
    format!("{}{suffix}", kept.trim_matches('_'))
}

/// 24 bits of FNV-1a, so that names are the same in every version and on every machine.
fn short_hash(identity: &str, attempt: u32) -> u32 {
    let bytes = identity.bytes().chain(attempt.to_le_bytes());
    let hash = bytes
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    (hash >> 24) ^ (hash & 0x00ff_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unique(rows: &[(&str, &str)], cut: Cut) -> Vec<String> {
        let names: Vec<String> = rows.iter().map(|(name, _)| (*name).to_owned()).collect();
        let identities: Vec<String> = rows.iter().map(|(_, id)| (*id).to_owned()).collect();
        unique_names(&names, &identities, cut)
    }

    #[test]
    fn only_shared_names_change() {
        let names = unique(&[("a", "1"), ("b", "2"), ("a", "3")], Cut::Back);
        assert_eq!(names[1], "b");
        assert_ne!(names[0], names[2]);
        assert!(names[0].starts_with("a_") && names[0].len() == 8, "{names:?}");
    }

    #[test]
    fn ten_thousand_apis_of_one_name_have_names_of_their_own() {
        let names = vec!["a".to_owned(); 10_000];
        let made = unique_names(&names, &names, Cut::Back);
        assert_eq!(made.iter().collect::<HashSet<_>>().len(), 10_000);
        assert_eq!(made[..3], unique_names(&names[..3], &names[..3], Cut::Back)[..]);
    }

    #[test]
    fn names_do_not_depend_on_the_order() {
        let forth = unique(&[("a", "1"), ("a", "2")], Cut::Back);
        let back = unique(&[("a", "2"), ("a", "1")], Cut::Back);
        assert_eq!((&forth[0], &forth[1]), (&back[1], &back[0]));
    }

    #[test]
    fn names_stay_short_and_the_same_thing_twice_has_two() {
        let long = "x".repeat(63) + "y";
        for cut in [Cut::Front, Cut::Back] {
            let names = unique(&[(&long, "1"), (&long, "1")], cut);
            assert!(names.iter().all(|name| name.len() == 64));
            assert_ne!(names[0], names[1]);
        }
    }
}
