//! Reads numbers, counts and labels; what cannot be used is a `ValueError` with its place.

use std::fmt::{self, Display};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyMapping};

/// Where a value is: an argument, or an entry of one.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    /// An argument.
    Named(&'a str),
    /// An entry of a list.
    Entry(&'a Place<'a>, usize),
}

impl Display for Place<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Named(name) => out.write_str(name),
            Place::Entry(list, at) => write!(out, "{list}[{at}]"),
        }
    }
}

/// Returns an exception: the place, and what is wrong there.
pub(super) fn refusal(place: impl Display, problem: impl Display) -> PyErr {
    PyValueError::new_err(format!("{place}: {problem}"))
}

/// Reads a list, an array, or anything else that can be iterated over.
fn items<'py, T>(
    place: Place<'_>,
    value: &Bound<'py, PyAny>,
    read: impl Fn(Place<'_>, &Bound<'py, PyAny>) -> PyResult<T>,
) -> PyResult<Vec<T>> {
    let no_list = |_| refusal(place, format_args!("expected a list, found {}", shown(value)));
    let items = value.try_iter().map_err(no_list)?.enumerate();
    items.map(|(at, item)| read(Place::Entry(&place, at), &item?)).collect()
}

/// Reads numbers, of which there may be none.
pub(super) fn any_numbers(place: Place<'_>, value: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    items(place, value, number)
}

/// Reads at least one number.
pub(super) fn numbers(place: Place<'_>, value: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let numbers = any_numbers(place, value)?;
    if numbers.is_empty() {
        return Err(refusal(place, "there are no numbers"));
    }
    Ok(numbers)
}

/// Reads at least one list of numbers.
pub(super) fn rows(place: Place<'_>, value: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<f64>>> {
    some(place, items(place, value, numbers)?)
}

/// Reads lists of numbers by name, or without names.
pub(super) fn named_rows(place: Place<'_>, value: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<f64>>> {
    let Ok(mapping) = value.cast::<PyMapping>() else { return rows(place, value) };
    let row = |item: Bound<'_, PyAny>| {
        let (name, row): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
        numbers(Place::Named(&format!("{place}[{}]", name.repr()?)), &row)
    };
    some(place, mapping.items()?.iter().map(row).collect::<PyResult<_>>()?)
}

/// Reads lists of numbers or `None`, of one length.
pub(super) fn ratings(
    place: Place<'_>,
    value: &Bound<'_, PyAny>,
) -> PyResult<Vec<Vec<Option<f64>>>> {
    let rating = |place: Place<'_>, value: &Bound<'_, PyAny>| {
        if value.is_none() { Ok(None) } else { number(place, value).map(Some) }
    };
    let rows = some(place, items(place, value, |place, row| items(place, row, rating))?)?;
    even(place, rows)
}

/// Reads lists of counts, of one length.
pub(super) fn counts(place: Place<'_>, value: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<u64>>> {
    let rows = some(place, items(place, value, |place, row| items(place, row, count))?)?;
    even(place, rows)
}

fn some<T>(place: Place<'_>, rows: Vec<T>) -> PyResult<Vec<T>> {
    if rows.is_empty() {
        return Err(refusal(place, "there are no lists"));
    }
    Ok(rows)
}

/// Checks that lists have the same length.
pub(super) fn even<T>(place: Place<'_>, rows: Vec<Vec<T>>) -> PyResult<Vec<Vec<T>>> {
    let n = rows.first().map_or(0, Vec::len);
    match rows.iter().position(|row| row.len() != n) {
        Some(at) => {
            let problem = format!("{} entries, but {n} in the first list", rows[at].len());
            Err(refusal(Place::Entry(&place, at), problem))
        }
        None => Ok(rows),
    }
}

/// Checks that two lists have the same length.
pub(super) fn same_length(one: (&str, usize), other: (&str, usize)) -> PyResult<()> {
    if one.1 == other.1 {
        return Ok(());
    }
    Err(refusal(other.0, format_args!("{} entries, but {} in `{}`", other.1, one.1, one.0)))
}

/// Reads a finite number.
pub(super) fn number(place: Place<'_>, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    match value.extract::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        Ok(number) => Err(refusal(
            place,
            format_args!("`{number}` is not a finite number; leave out what is missing"),
        )),
        Err(_) => Err(refusal(place, format_args!("expected a number, found {}", shown(value)))),
    }
}

/// Reads a whole number from 0 up.
pub(super) fn count(place: Place<'_>, value: &Bound<'_, PyAny>) -> PyResult<u64> {
    let problem = |_| format!("expected a whole number from 0 up, found {}", shown(value));
    value.extract::<u64>().map_err(|error| refusal(place, problem(error)))
}

/// Checks that a number is above 0 and below 1.
pub(super) fn inner_share(place: &str, share: f64) -> PyResult<f64> {
    if share > 0.0 && share < 1.0 {
        return Ok(share);
    }
    Err(refusal(place, format_args!("expected a number between 0 and 1, found `{share}`")))
}

/// Checks that a part is not larger than its whole.
pub(super) fn part(part: (&str, u64), whole: (&str, u64)) -> PyResult<()> {
    if part.1 <= whole.1 {
        return Ok(());
    }
    Err(refusal(
        part.0,
        format_args!("{} is more than `{}`, which is {}", part.1, whole.0, whole.1),
    ))
}

/// Reads a label for each of `n` values; equal labels get equal numbers.
pub(super) fn clusters(
    labels: Option<&Bound<'_, PyAny>>,
    of: (&str, usize),
) -> PyResult<Option<Vec<u32>>> {
    let Some(labels) = labels else { return Ok(None) };
    let ids = PyDict::new(labels.py());
    let id = |place: Place<'_>, label: &Bound<'_, PyAny>| {
        let is_nan =
            label.cast::<PyFloat>().is_ok_and(|label| label.extract().is_ok_and(f64::is_nan));
        if is_nan {
            return Err(refusal(place, "`nan` is not a label: it equals nothing"));
        }
        let known = ids.get_item(label);
        let known = known
            .map_err(|_| refusal(place, format_args!("{} cannot be a label", shown(label))))?;
        if let Some(known) = known {
            return known.extract::<u32>();
        }
        let next = u32::try_from(ids.len()).map_err(|error| refusal(place, error))?;
        ids.set_item(label, next)?;
        Ok(next)
    };
    let found = items(Place::Named("clusters"), labels, id)?;
    same_length(of, ("clusters", found.len()))?;
    Ok(Some(found))
}

/// Returns a value as messages name it.
fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| String::new(), |text| text.to_string());
    if text.is_empty() || text.chars().count() > 40 {
        return value
            .get_type()
            .name()
            .map_or_else(|_| "an object".into(), |name| format!("`{name}`"));
    }
    format!("`{text}`")
}
