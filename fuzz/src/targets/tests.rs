//! The targets are fed what they should be, and nothing gives way to the first inputs of each.

use juror_sparql::SparqlResult;

use super::*;
use crate::report::Tally;
use crate::targets::readers::{in_string, quick_readers_agree};
use crate::worker::{Maker, listen_for_panics, try_one};

#[test]
fn results_in_strings_reach_the_reader_of_such_results() {
    let seeds = seeds::sparql_json();
    let texts = seeds.iter().filter_map(|seed| std::str::from_utf8(seed).ok());
    let reads =
        |text: &str| SparqlResult::parse_escaped(&in_string(text), LIMITS.of_tables()).is_some();
    let n_read = texts.filter(|text| reads(text)).count();
    assert!(n_read > seeds.len() / 2, "{n_read} of {}", seeds.len());
}

#[test]
fn what_is_known_to_hurt_is_made_in_every_soak() {
    let maker = Maker::new(1);
    for (n, target) in targets().iter().enumerate().filter(|(_, own)| !own.shapes.is_empty()) {
        let sizes = (0..4_000).map(|index| maker.input(index, n).len());
        let n_large = sizes.filter(|size| *size > 3 << 10).count();
        assert!(n_large > 8, "{}: {n_large}", target.name);
    }
}

#[test]
fn shapes_are_of_the_size_that_is_asked_for() {
    for shape in targets().iter().flat_map(|target| target.shapes) {
        let mut random = juror_testing::Random::of_input(3, 5);
        let (small, large) = (shape(&mut random, 1 << 10), shape(&mut random, 64 << 10));
        assert!(small.len() < 80 << 10 && large.len() < 256 << 10);
    }
}

#[test]
#[should_panic(expected = "differs in a string")]
fn quick_readers_that_differ_are_a_finding() {
    let truth = r#"{"head": {}, "boolean": true}"#;
    quick_readers_agree(truth, &in_string(&truth.replace("true", "false")));
}

#[test]
fn names_of_targets_are_theirs_alone() {
    for (n, target) in targets().iter().enumerate() {
        assert_eq!(position_of(target.name), Some(n), "{}", target.name);
    }
}

#[test]
fn seeds_are_read_as_what_they_are() {
    use juror_graph::{LoadOptions, Triples};
    let formats = [
        ("a.ttl", seeds::turtle()),
        ("a.nt", seeds::n_triples()),
        ("a.trig", seeds::trig()),
        ("a.rdf", seeds::rdf_xml()),
        ("a.jsonld", seeds::json_ld()),
    ];
    for (name, seeds) in formats {
        for seed in seeds {
            let read = Triples::parse(name, &seed, &LoadOptions::default());
            assert!(
                read.is_ok_and(|triples| !triples.is_empty()),
                "{}",
                String::from_utf8_lossy(&seed)
            );
        }
    }
    for seed in seeds::zips() {
        let entries = juror_files::zip::entries(&seed).expect("a ZIP file");
        assert_eq!(entries[0].read().expect("an entry"), b"{\"id\": 1}");
    }
    for seed in seeds::partials() {
        assert!(juror_partial::Partial::from_bytes(&seed).is_ok());
    }
}

/// How many inputs of readers and comparisons are read here.
const FEW: u64 = 120;

/// How many inputs of scanners are read here.
const FEW_SMALL: u64 = 2_000;

#[test]
fn nothing_gives_way_to_the_first_inputs_of_each_target() {
    listen_for_panics();
    let (maker, folder) = (Maker::new(22), tempfile::tempdir().expect("a folder"));
    let mut found = Vec::new();
    for (n, target) in targets().iter().enumerate() {
        let n_inputs = if target.kind == Kind::Scanner { FEW_SMALL } else { FEW };
        for index in 0..n_inputs / target.divisor {
            let input = maker.input(index, n);
            // Large inputs take long without optimization, and the soak reads them.
            if input.len() > 16 << 10 {
                continue;
            }
            let kind = try_one(n, &input, folder.path(), &mut Tally::default(), index);
            let kind = kind.filter(|kind| kind.name() != "slow");
            found.extend(kind.map(|kind| format!("{} {index}: {kind:?}", target.name)));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
