//! Matches answers with queries when only one side names sets, or both name them differently.

use std::collections::{HashMap, HashSet};

/// A query's set, empty if unknown, and its id.
pub type Place<'k> = (&'k str, &'k str);

/// The queries that answers may belong to.
#[derive(Debug, Default)]
pub struct Places<'k> {
    sets: HashSet<&'k str>,
    sets_by_id: HashMap<&'k str, Vec<&'k str>>,
}

/// Answers that share an id and whose sets are unknown, so that they cannot be matched.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{id}` is the id of a query of {}, and the answer does not say which\n  hint: use the same set names in answers and queries, or judge one set at a time", sets.join(" and of ")
)]
pub struct UnclearSet {
    id: String,
    sets: Vec<String>,
}

impl<'k> Places<'k> {
    /// Indexes the queries.
    pub fn of(queries: impl IntoIterator<Item = Place<'k>>) -> Places<'k> {
        let mut places = Places::default();
        for (set, id) in queries {
            places.sets.insert(set);
            let sets = places.sets_by_id.entry(id).or_default();
            if !sets.contains(&set) {
                sets.push(set);
            }
        }
        places
    }

    /// Returns the query of each answer of one agent; `None` for answers without a query. An answer
    /// whose set is unknown, or named like none of the queries' sets, belongs to the query with its
    /// id, if there is only one.
    pub fn of_answers(&self, answers: &[Place<'_>]) -> Result<Vec<Option<Place<'k>>>, UnclearSet> {
        let own_sets: HashSet<&str> = answers.iter().map(|(set, _)| *set).collect();
        let mut taken: HashMap<Place<'k>, &str> = HashMap::new();
        let mut found = Vec::with_capacity(answers.len());
        for (set, id) in answers {
            let place = self.of_answer((set, id), &own_sets)?;
            if let Some(place) = place {
                let first = *taken.entry(place).or_insert(set);
                if first != *set {
                    return Err(unclear(id, &[first, set]));
                }
            }
            found.push(place);
        }
        Ok(found)
    }

    fn of_answer(
        &self,
        (set, id): Place<'_>,
        own_sets: &HashSet<&str>,
    ) -> Result<Option<Place<'k>>, UnclearSet> {
        let Some((&id, sets)) = self.sets_by_id.get_key_value(id) else { return Ok(None) };
        if self.sets.contains(set) {
            return Ok(sets.iter().find(|other| **other == set).map(|set| (*set, id)));
        }
        let others: Vec<&'k str> =
            sets.iter().copied().filter(|other| !own_sets.contains(other)).collect();
        match others[..] {
            [] => Ok(None),
            [only] => Ok(Some((only, id))),
            _ => Err(unclear(id, &others)),
        }
    }
}

fn unclear(id: &str, sets: &[&str]) -> UnclearSet {
    let named = |set: &&str| match *set {
        "" => "no set".to_owned(),
        set => format!("`{set}`"),
    };
    let mut sets: Vec<String> = sets.iter().map(named).collect();
    sets.sort();
    UnclearSet { id: id.to_owned(), sets }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paired(
        queries: &[Place<'static>],
        answers: &[Place<'static>],
    ) -> Vec<Option<Place<'static>>> {
        Places::of(queries.iter().copied()).of_answers(answers).expect("clear sets")
    }

    #[test]
    fn answers_are_found_by_their_ids_where_sets_are_not_named_alike() {
        let (sets, none, other) =
            ([("G1", "1"), ("G2", "2")], [("", "1"), ("", "2")], [("all", "1"), ("all", "2")]);
        for (queries, answers) in
            [(sets, none), (none, sets), (sets, other), (other, sets), (none, other), (sets, sets)]
        {
            assert_eq!(paired(&queries, &answers), queries.map(Some), "{queries:?} {answers:?}");
        }
        assert_eq!(paired(&sets, &[("", "3")]), [None]);
    }

    #[test]
    fn an_answer_of_another_set_is_not_taken_for_one() {
        assert_eq!(paired(&[("G1", "1"), ("G1", "2")], &[("G1", "1"), ("G2", "2")])[1], None);
        assert_eq!(paired(&[("G1", "1"), ("G2", "1")], &[("G1", "1")]), [Some(("G1", "1"))]);
    }

    #[test]
    fn what_cannot_be_told_apart_is_refused() {
        let both = [("G1", "1"), ("G2", "1")];
        for (queries, answers) in [(&both[..], &[("", "1")][..]), (&[("all", "1")], &both)] {
            let refused = Places::of(queries.iter().copied()).of_answers(answers);
            let why = refused.expect_err("unclear").to_string();
            assert!(why.starts_with("`1` is the id of a query of `G1` and of `G2`"), "{why}");
        }
    }
}
