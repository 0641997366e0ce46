//! Comparing large SPARQL results.

use std::fmt::Write;

use juror_score::Rules;
use juror_sparql::{Comparison, Prepared, ResultFormat, SparqlResult};

use crate::clock::timed;
use juror_testing::Random;

/// The number of measurements, of which the shortest counts.
const ROUNDS: usize = 3;

/// Times parsing two results of `n_rows`, and parsing and comparing them.
pub(crate) fn run(n_rows: usize) -> anyhow::Result<()> {
    let (reference, actual) = documents(n_rows);
    let (mut parse, mut all) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        let (parsed, seconds) = timed(|| read_both(&reference, &actual));
        parse = parse.min(seconds);
        drop(parsed?);
        let (compared, seconds) = timed(|| compare(&reference, &actual));
        all = all.min(seconds);
        anyhow::ensure!(compared?.0 == Comparison::Same, "the results should agree");
    }
    println!("rows: {n_rows}");
    println!("bytes: {}", reference.len() + actual.len());
    println!("parse seconds: {parse:.6}");
    println!("seconds: {all:.6}");
    println!("ratio: {:.3}", all / parse);
    Ok(())
}

type BothResults<'t> = [SparqlResult<'t>; 2];

fn read_both<'t>(reference: &'t str, actual: &'t str) -> anyhow::Result<BothResults<'t>> {
    let read = |text| SparqlResult::parse(text, ResultFormat::Json);
    Ok([read(reference)?, read(actual)?])
}

/// Returns what was parsed, so that neither time includes dropping it.
fn compare<'t>(
    reference: &'t str,
    actual: &'t str,
) -> anyhow::Result<(Comparison, BothResults<'t>)> {
    let results = read_both(reference, actual)?;
    let comparison = Prepared::new(&results[0], &Rules::default()).compare(&results[1]);
    Ok((comparison, results))
}

/// Returns a result of items with a name and a number, and the same with columns renamed and permuted
/// and rows shuffled.
fn documents(n_rows: usize) -> (String, String) {
    let mut random = Random::new(1);
    let mut rows: Vec<[String; 3]> = (0..n_rows).map(|_| row(&mut random)).collect();
    let reference = document(["item", "itemName", "value"], &rows, [0, 1, 2]);
    random.shuffle(&mut rows);
    let actual = document(["count", "thing", "label"], &rows, [2, 0, 1]);
    (reference, actual)
}

/// Returns an item, its name and a number, each as a term in JSON.
fn row(random: &mut Random) -> [String; 3] {
    const WORDS: [&str; 8] =
        ["ALDER", "BIRCH", "CEDAR", "ELM", "HAZEL", "JUNIPER", "LINDEN", "ROWAN"];
    let mut word = || WORDS[random.below(WORDS.len())];
    let (first, second) = (word(), word());
    let (high, low) = (random.next() >> 32, random.next() >> 16);
    [
        format!(r#"{{"type": "uri", "value": "urn:uuid:{high:08x}-11e5-91da-{low:012x}"}}"#),
        format!(r#"{{"type": "literal", "value": "{first} {second} T{}"}}"#, random.below(1000)),
        format!(
            r#"{{"type": "literal", "datatype": "http://www.w3.org/2001/XMLSchema#integer", "value": "{}"}}"#,
            random.below(100_000)
        ),
    ]
}

fn document(names: [&str; 3], rows: &[[String; 3]], order: [usize; 3]) -> String {
    let mut text = format!(r#"{{"head": {{"vars": {names:?}}}, "results": {{"bindings": ["#);
    for (index, row) in rows.iter().enumerate() {
        text.push_str(if index == 0 { "{" } else { ", {" });
        for (at, (name, column)) in names.iter().zip(order).enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            let _ = write!(text, r#"{comma}"{name}": {}"#, row[column]);
        }
        text.push('}');
    }
    text.push_str("]}}");
    text
}
