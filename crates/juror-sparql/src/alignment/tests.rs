use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{Cell, Comparison, ResultFormat, Rules};

const ROOM: AlignmentRoom = AlignmentRoom { rows: 100, comparisons: 1 << 16 };

fn csv(text: &str) -> SparqlResult<'_> {
    SparqlResult::parse(text, ResultFormat::Csv).expect("a table")
}

fn aligned_within(
    expected: &str,
    actual: &str,
    rules: &Rules<'_>,
    mut room: AlignmentRoom,
) -> TableAlignment {
    let (expected, actual) = (csv(expected), csv(actual));
    Prepared::new(&expected, rules).align(&actual, &mut room).expect("two tables")
}

fn aligned(expected: &str, actual: &str, rules: &Rules<'_>) -> TableAlignment {
    aligned_within(expected, actual, rules, ROOM)
}

fn set() -> Rules<'static> {
    Rules::default()
}

fn bag() -> Rules<'static> {
    Rules { ignore_duplicates: false, ..Rules::default() }
}

fn sequence() -> Rules<'static> {
    Rules { ordered: true, ..Rules::default() }
}

/// The rows as JSON has them.
fn rows(alignment: &TableAlignment) -> serde_json::Value {
    serde_json::to_value(&alignment.rows).expect("JSON")
}

#[test]
fn tables_that_agree_are_paired_as_the_comparison_pairs_them() {
    let found = aligned("city,land\nOslo,NO\nRome,IT\n", "x,of,is\n1,IT,Rome\n2,NO,Oslo\n", &set());
    assert!(found.is_same);
    assert_eq!(found.columns, [(Some(0), Some(2)), (Some(1), Some(1)), (None, Some(0))]);
    assert_eq!(rows(&found), json!([[0, 1], [1, 0]]));
    // Written in another way, so that only the search finds them.
    let typed = |text: &str| {
        let column = |cells: [(&str, &str); 2]| {
            json!({"a": {"type": "literal", "value": cells[0].1,
            "datatype": format!("http://www.w3.org/2001/XMLSchema#{}", cells[0].0)},
            "b": {"type": "literal", "value": cells[1].1}})
        };
        json!({"head": {"vars": ["b", "a"]}, "results": {"bindings": [
            column([("decimal", text), ("", "x")])]}})
        .to_string()
    };
    let (one, other) = (typed("1.50"), typed("1.5"));
    let read = |text| SparqlResult::parse(text, ResultFormat::Json).expect("a table");
    let (one, other) = (read(&one), read(&other));
    let found = Prepared::new(&one, &set()).align(&other, &mut ROOM.clone()).expect("tables");
    assert!(found.is_same);
    assert_eq!(found.columns, [(Some(0), Some(0)), (Some(1), Some(1))]);
    assert_eq!((found.n_same, rows(&found)), (1, json!([[0, 0]])));
}

#[test]
fn rows_are_same_changed_missing_or_extra() {
    let expected = "city,land,size\nOslo,NO,1\nRome,IT,2\nParis,FR,3\nBern,CH,4\n";
    let actual = "city,land,size\nRome,IT,9\nOslo,NO,1\nNowhere,XX,7\nBern,CH,4\n";
    let found = aligned(expected, actual, &set());
    assert_eq!(rows(&found), json!([[0, 1], [1, 0, [2]], [2, null], [3, 3], [null, 2]]));
    let counts = (found.n_same, found.n_changed, found.n_missing, found.n_extra);
    assert_eq!(counts, (2, 1, 1, 1));
    assert_eq!((found.first_missing, found.is_same), (Some(1), false));
}

#[test]
fn a_changed_row_agrees_in_half_of_the_columns() {
    let table = |row: &str| format!("a,b,c,d\nk,l,m,n\n{row}\n");
    let changed = |row: &str| aligned(&table("1,2,3,4"), &table(row), &set()).n_changed;
    assert_eq!(changed("1,2,3,x"), 1);
    assert_eq!(changed("1,2,x,y"), 1);
    assert_eq!(changed("1,x,y,z"), 0);
    // The row with more equal cells is chosen, although another comes first.
    let found = aligned(&table("1,2,3,4"), &table("1,2,x,y\n1,2,z,4"), &set());
    assert_eq!(rows(&found), json!([[0, 0], [1, 2, [2]], [null, 1]]));
}

#[test]
fn without_room_no_changed_rows_are_looked_for() {
    let table = |row: &str| format!("a,b\nk,l\n{row}\n");
    let room = AlignmentRoom { rows: 10, comparisons: 3 };
    let found = aligned_within(&table("1,2"), &table("1,3"), &set(), room);
    assert_eq!(rows(&found), json!([[0, 0], [1, null], [null, 1]]));
    let found = aligned_within(&table("1,2"), &table("1,3"), &set(), AlignmentRoom::NONE);
    assert_eq!((found.n_missing, found.n_extra, found.rows), (1, 1, Vec::new()));
}

#[test]
fn many_rows_that_changed_in_one_column_are_found() {
    let table = |shift: usize| {
        let row = |at: usize| format!("{at},n{at},{}\n", at % 7 + shift);
        format!("id,name,size\n0,n0,8\n{}", (1..20_000).map(row).collect::<String>())
    };
    let room = AlignmentRoom { rows: 3, comparisons: 1 << 20 };
    let found = aligned_within(&table(1), &table(2), &set(), room);
    assert_eq!((found.n_same, found.n_changed, found.n_missing), (1, 19_999, 0));
    assert_eq!(rows(&found), json!([[1, 1, [2]], [2, 2, [2]], [3, 3, [2]]]));
}

#[test]
fn repeated_rows_count_by_the_rules() {
    let (expected, actual) = ("a\n1\n1\n2\n", "a\n2\n1\n2\n3\n4\n");
    let found = aligned(expected, actual, &set());
    assert_eq!(rows(&found), json!([[0, 1], [2, 0], [null, 3], [null, 4]]));
    assert_eq!((found.n_same, found.n_missing, found.n_extra), (2, 0, 2));
    let found = aligned(expected, actual, &bag());
    assert_eq!(rows(&found), json!([[0, 1], [1, null], [2, 0], [null, 2], [null, 3], [null, 4]]));
    assert_eq!(found.first_missing, Some(0), "the first of those of which there are too few");
}

#[test]
fn in_order_rows_are_paired_in_their_places() {
    let found = aligned("a\n1\n2\n3\n1\n", "a\n2\n3\n1\n", &sequence());
    assert_eq!(rows(&found), json!([[0, null], [1, 0], [2, 1], [3, 2]]));
    assert!(!found.order_differs);
    let found = aligned("a\n1\n2\n3\n", "a\n1\n9\n3\n2\n", &sequence());
    assert_eq!(rows(&found), json!([[0, 0], [null, 1], [1, 3], [2, 2]]));
    assert!(found.order_differs);
    let found = aligned("a\n1\n2\n", "a\n2\n1\n", &bag());
    assert!(!found.order_differs && found.is_same, "order does not matter");
}

#[test]
fn rows_that_differ_are_named_before_those_that_are_the_same() {
    let (expected, actual) = ("a\n1\n2\n3\n4\n5\n", "a\n1\n9\n2\n4\n5\n8\n");
    let named = |most| {
        let room = AlignmentRoom { rows: most, ..ROOM };
        rows(&aligned_within(expected, actual, &set(), room))
    };
    assert_eq!(named(4), json!([[0, 0], [2, null], [null, 1], [null, 5]]));
    assert_eq!(named(2), json!([[2, null], [null, 1]]));
}

#[test]
fn a_column_whose_values_are_nowhere_stands_beside_its_name() {
    let (expected, actual) = ("id,label\n1,a\n2,b\n", "id,label\n2,x\n1,y\n");
    let found = aligned(expected, actual, &set());
    assert_eq!(found.columns, [(Some(0), Some(0)), (Some(1), Some(1))]);
    assert_eq!(
        (found.unpaired.as_slice(), rows(&found)),
        (&[1][..], json!([[0, 1, [1]], [1, 0, [1]]]))
    );
    let found = aligned(expected, "id,other\n2,x\n", &set());
    assert_eq!(found.columns, [(Some(0), Some(0)), (Some(1), None), (None, Some(1))]);
    assert_eq!(rows(&found), json!([[0, null], [1, 0, [1]]]));
}

#[test]
fn columns_that_are_not_required_have_no_partner() {
    let required = Rules { required_columns: Some(vec!["b".into()]), ..Rules::default() };
    let found = aligned("a,b\n1,x\n2,y\n", "z\ny\nx\n", &required);
    assert_eq!(found.columns, [(Some(1), Some(0)), (Some(0), None)]);
    assert!(found.is_same && found.n_same == 2);
}

#[test]
fn tables_without_rows_are_paired_by_name_and_order() {
    let found = aligned("a,b,c\n", "x,c,a\n", &set());
    assert_eq!(found.columns, [(Some(0), Some(2)), (Some(1), Some(0)), (Some(2), Some(1))]);
    assert!(found.is_same && found.rows.is_empty());
    let found = aligned("a\n1\n2\n", "a\n", &set());
    assert_eq!((found.n_missing, found.columns.as_slice()), (2, &[(Some(0), Some(0))][..]));
}

#[test]
fn results_that_are_no_tables_are_not_aligned() {
    let (truth, table) = (SparqlResult::Truth(true), csv("a\n1\n"));
    let rules = set();
    assert_eq!(Prepared::new(&truth, &rules).align(&table, &mut ROOM.clone()), None);
    assert_eq!(Prepared::new(&table, &rules).align(&truth, &mut ROOM.clone()), None);
}

type TextRow = Vec<u8>;

fn table_of(rows: &[TextRow], n_columns: usize) -> SparqlResult<'static> {
    let cell =
        |value: u8| if value == 0 { Cell::Unbound } else { Cell::Text(value.to_string().into()) };
    SparqlResult::Table(Solutions {
        names: (0..n_columns).map(|at| at.to_string().into()).collect(),
        columns: (0..n_columns).map(|at| rows.iter().map(|row| cell(row[at])).collect()).collect(),
        n_rows: rows.len(),
    })
}

fn rules() -> impl Strategy<Value = Rules<'static>> {
    prop::sample::select(vec![set(), bag(), sequence()])
}

fn text_rows() -> impl Strategy<Value = Vec<TextRow>> {
    prop::collection::vec(prop::collection::vec(0..4_u8, 3), 1..7)
}

/// Counts missing and extra rows under a pairing of columns, the slow way.
fn counted(
    one: &[TextRow],
    other: &[TextRow],
    columns: &[usize],
    rules: &Rules<'_>,
) -> (usize, usize) {
    let mut left: HashMap<TextRow, isize> = HashMap::new();
    let mut count = |row: TextRow, by: isize| {
        *left.entry(row).or_default() += by;
    };
    let by_set = rules.ignore_duplicates && !rules.ordered;
    let projected = |rows: &[TextRow], columns: &[usize]| -> Vec<TextRow> {
        let mut rows: Vec<TextRow> =
            rows.iter().map(|row| columns.iter().map(|at| row[*at]).collect()).collect();
        if by_set {
            rows.sort();
            rows.dedup();
        }
        rows
    };
    for row in projected(one, &[0, 1, 2]) {
        count(row, 1);
    }
    for row in projected(other, columns) {
        count(row, -1);
    }
    let total = |sign: isize| -> usize {
        left.values().map(|n| usize::try_from(n * sign).unwrap_or(0)).sum()
    };
    (total(1), total(-1))
}

proptest! {
    #[test]
    fn a_table_in_any_order_has_only_rows_that_are_the_same(
        (table, shuffled) in text_rows()
            .prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle())),
        columns in Just(vec![0_usize, 1, 2]).prop_shuffle(),
        rules in rules(),
    ) {
        let others = if rules.ordered { &table } else { &shuffled };
        let turned: Vec<TextRow> =
            others.iter().map(|row| columns.iter().map(|at| row[*at]).collect()).collect();
        let (one, other) = (table_of(&table, 3), table_of(&turned, 3));
        let found = Prepared::new(&one, &rules).align(&other, &mut ROOM.clone()).expect("tables");
        prop_assert!(found.is_same && !found.order_differs);
        prop_assert_eq!((found.n_changed, found.n_missing, found.n_extra), (0, 0, 0));
        prop_assert!(found.rows.iter().all(AlignedRow::is_same));
        prop_assert_eq!(found.rows.len(), found.n_same);
        for row in &found.rows {
            let (expected, actual) = (row.expected.expect("a row"), row.actual.expect("a row"));
            for (mine, its) in &found.columns {
                prop_assert_eq!(
                    table[expected][mine.expect("a column")],
                    turned[actual][its.expect("a column")]
                );
            }
        }
    }

    #[test]
    fn every_row_is_counted_once(
        table in text_rows(),
        others in text_rows(),
        rules in rules(),
        most in 0..20_usize,
        comparisons in 0..400_usize,
    ) {
        let (one, other) = (table_of(&table, 3), table_of(&others, 3));
        let prepared = Prepared::new(&one, &rules);
        let mut room = AlignmentRoom { rows: most, comparisons };
        let found = prepared.align(&other, &mut room).expect("two tables");
        prop_assert_eq!(found.is_same, prepared.compare(&other) == Comparison::Same);
        if !rules.ignore_duplicates || rules.ordered {
            prop_assert_eq!(found.n_same + found.n_changed + found.n_missing, table.len());
            prop_assert_eq!(found.n_same + found.n_changed + found.n_extra, others.len());
        }
        if found.unpaired.is_empty() {
            let columns: Vec<usize> = found.columns.iter().filter_map(|pair| pair.1).collect();
            let (n_missing, n_extra) = counted(&table, &others, &columns, &rules);
            prop_assert_eq!(found.n_missing + found.n_changed, n_missing);
            prop_assert_eq!(found.n_extra + found.n_changed, n_extra);
        }
        let n_all = found.n_same + found.n_changed + found.n_missing + found.n_extra;
        prop_assert_eq!(found.rows.len(), n_all.min(most));
        let mut named: Vec<usize> = found.rows.iter().filter_map(|row| row.expected).collect();
        prop_assert!(named.is_sorted());
        named.dedup();
        prop_assert_eq!(named.len(), found.rows.iter().filter(|row| row.expected.is_some()).count());
    }
}
