//! Juror as a Python module.
//!
//! What Python users see is the package in `python/juror`; this crate is its engine,
//! `juror._juror`. Python's objects come in, Juror's other crates do the work, and Python's objects
//! go out. An evaluation runs on threads that do not use Python: objects become JSON (`to_json`),
//! `engine` evaluates it, and each result comes back as a plan (`build_plan`) that the thread
//! holding Python executes (`build`). A benchmark turns that round: `bench` passes queries to
//! agents that run on Python's threads.
//!
//! You will not find rules of judgement here.

mod aggregates;
mod arrow_in;
mod ask_rows;
mod bench;
mod build;
mod build_plan;
mod build_sink;
mod command;
mod compared;
mod engine;
mod escape;
mod evaluation;
mod evaluator;
mod fill;
mod from_json;
mod gates;
mod input;
mod known;
mod lazy_results;
mod observe;
mod output;
mod page;
mod partial;
mod parts;
mod pieces;
mod problem;
mod read;
mod rows;
mod run_statistics;
mod runs;
mod stats;
mod stream;
mod table;
mod to_json;
mod tool;

/// Python's objects live as long as Python wants; Juror's own allocations are short-lived and
/// frequent.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The engine of the package `juror`.
#[pyo3::pymodule]
mod _juror {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::aggregates::compute_aggregates;
    #[pymodule_export]
    use crate::bench::{Ask, BenchRun};
    #[pymodule_export]
    use crate::command::run_command;
    #[pymodule_export]
    use crate::compared::{Compared, compare_runs};
    #[pymodule_export]
    use crate::evaluation::{Stop, names_profile, run_evaluation, scores_errors};
    #[pymodule_export]
    use crate::evaluator::{Evaluator, Schema};
    #[pymodule_export]
    use crate::gates::{check_gates, unmet_gates};
    #[pymodule_export]
    use crate::lazy_results::LazyResults;
    #[pymodule_export]
    use crate::page::write_report;
    #[pymodule_export]
    use crate::partial::{Partial, partial_of_bytes};
    #[pymodule_export]
    use crate::pieces::{
        average_precision, average_precision_over_hits, compare_contexts, compare_sparql_results,
        match_steps, metric_name_problem, recall_at_k,
    };
    #[pymodule_export]
    use crate::read::{read_reference, read_responses, read_settings};
    #[pymodule_export]
    use crate::run_statistics::{RunStatistics, run_statistics};
    #[pymodule_export]
    use crate::stats::{
        stats_agreement, stats_alpha, stats_corrected_rate, stats_fleiss, stats_gate,
        stats_judge_noise, stats_macro, stats_mcnemar, stats_mean, stats_multiplicity,
        stats_newcombe, stats_paired, stats_planning, stats_prediction_powered, stats_proportion,
        stats_trials,
    };
    #[pymodule_export]
    use crate::table::{Table, table_of_parts};
    #[pymodule_export]
    use crate::tool::{
        api_call_details, api_call_score, change_name, normalize_category, official_function_name,
        sanitize_name, sanitize_param_name, standardize, standardize_category, tool_cache_file,
        tool_cache_key,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
