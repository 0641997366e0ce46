//! Measures single parts of Juror inside one process, which timing whole processes cannot separate.
//! `bench/compare.py` runs it and compares its figures with those of the Python library.
//!
//! Each subcommand is a file of its name. Figures are printed as lines of the form `name: value`, for
//! programs to read; times are in seconds.
//!
//! You will not find anything that the program needs here.

#![expect(clippy::print_stdout, reason = "printing figures is what this program is for")]

mod aggregates;
mod aggregates_records;
mod answers;
mod clock;
mod coverage;
mod floor;
mod input;
mod load;
mod search;
mod sparql_columns;
mod sparql_rows;
mod tools;
mod yaml;

use anyhow::{Context, bail};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const HELP: &str = "\
Measures single parts of Juror.

Usage: juror-timings COMMAND

Commands:
  sparql-columns
          Time of one comparison of SPARQL results that do not agree, 100 rows, by the number of
          required columns, for tables that are easy and hard to tell apart
  sparql-rows [N]
          Time to parse and to compare two results of N rows (1000000) and 3 columns, which agree
          in another order of rows and columns
  aggregates RESULTS
          Time to read results from text in memory and aggregate them
  aggregates-records REFERENCE RESPONSES [TIMES]
          Time to aggregate records in memory, the records of the files TIMES times over (10)
  answers LOGS QUERIES [N]
          Time to convert N logs of agents (10000), those of a folder over and over, to write and
          read the answers, and to score their calls
  coverage [N]
          How often 95 % intervals of means and of differences hold the truth, on N simulated data
          sets (2000) for each kind of data
  floor REFERENCE RESPONSES OUT
          Time to read and parse the inputs and write as many bytes as results have: what no
          evaluation can go below
  load ADDRESS PATH CONNECTIONS SECONDS [BODIES]
          Requests a second and times of replies of a server at ADDRESS: POST with the bodies in a
          file, one a line, in turn; GET without
  search TOOLS QUERIES
          Time to index a folder of tool files and to search it for the queries of a folder, and how
          many of their right APIs are found
  tools FOLDER
          Time to load a folder of tool files, and to make all names of its APIs
  yaml REFERENCE
          Time to read a reference in YAML
";

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["-h" | "--help" | "help"] => print!("{HELP}"),
        ["sparql-columns"] => sparql_columns::run(),
        ["sparql-rows"] => sparql_rows::run(1_000_000)?,
        ["sparql-rows", n_rows] => sparql_rows::run(number(n_rows)?)?,
        ["aggregates", results] => aggregates::run(results)?,
        ["aggregates-records", reference, responses] => {
            aggregates_records::run(reference, responses, 10)?;
        }
        ["aggregates-records", reference, responses, times] => {
            aggregates_records::run(reference, responses, number(times)?)?;
        }
        ["answers", logs, queries] => answers::run(logs, queries, 10_000)?,
        ["answers", logs, queries, n_answers] => answers::run(logs, queries, number(n_answers)?)?,
        ["coverage"] => coverage::run(None),
        ["coverage", n_data_sets] => coverage::run(Some(number(n_data_sets)?)),
        ["floor", reference, responses, out] => floor::run(reference, responses, out)?,
        ["load", address, path, connections, seconds] => {
            load::run(address, path, None, number(connections)?, number(seconds)? as f64)?;
        }
        ["load", address, path, connections, seconds, bodies] => {
            let (connections, seconds) = (number(connections)?, number(seconds)? as f64);
            load::run(address, path, Some(bodies), connections, seconds)?;
        }
        ["search", folder, queries] => search::run(folder, queries)?,
        ["tools", folder] => tools::run(folder)?,
        ["yaml", reference] => yaml::run(reference)?,
        _ => bail!("no such command, or not its arguments; see `juror-timings --help`"),
    }
    Ok(())
}

fn number(word: &str) -> anyhow::Result<usize> {
    word.parse().with_context(|| format!("`{word}` is not a number"))
}
