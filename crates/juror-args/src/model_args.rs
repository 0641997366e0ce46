//! Options for asking models, and the output about calls.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use juror_models::{CacheMode, Recorded, Stop, Tally};
use juror_report::CallRow;
use juror_run::{AskOptions, Environment, Judges, Settings, judges};
use juror_score::Profile;
use serde::Serialize;

use crate::boolish;
use crate::output;

/// How models are asked.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Models")]
pub struct ModelArgs {
    /// Ask no model, whatever settings and environment say.
    #[arg(long, env = "JUROR_NO_MODEL", value_parser = boolish())]
    pub no_model: bool,

    /// Count the calls and estimate their cost; send nothing.
    #[arg(long, env = "JUROR_DRY_RUN", value_parser = boolish())]
    pub dry_run: bool,

    /// Calls at a time; overrides the settings [default: as many as the server can handle, 16 at most].
    #[arg(long, value_name = "N", env = "JUROR_CONCURRENCY", value_parser = parse_count::<std::num::NonZero<usize>>)]
    concurrency: Option<std::num::NonZero<usize>>,

    /// Seconds a reply may take, from when its turn has come; overrides the settings.
    #[arg(long, value_name = "SECONDS", env = "JUROR_CALL_TIMEOUT", value_parser = parse_seconds)]
    timeout: Option<f64>,

    /// Stop asking before this much is spent; overrides the settings.
    #[arg(long, value_name = "USD", env = "JUROR_MAX_COST", value_parser = parse_dollars)]
    pub max_cost: Option<f64>,

    /// Where replies are kept: a folder, a database (postgresql://…) that many machines
    /// share, or a file of recorded replies to be used read-only.
    #[arg(long, value_name = "PLACE", env = "JUROR_CACHE")]
    pub cache: Option<String>,

    /// How kept replies are used; overrides the settings.
    #[arg(long, value_name = "MODE", env = "JUROR_CACHE_MODE")]
    cache_mode: Option<CacheModeArg>,

    /// Ask again what failed: errors of an earlier run, and kept replies that say nothing usable.
    #[arg(long, env = "JUROR_RETRY_ERRORS", value_parser = boolish())]
    pub retry_errors: bool,
}

/// The allowed time limits for a reply, in seconds: a day at most.
const TIMES: std::ops::RangeInclusive<f64> = 0.001..=86_400.0;

/// How kept replies are used.
#[derive(Clone, Copy, ValueEnum)]
enum CacheModeArg {
    /// Use known replies, keep new ones
    ReadWrite,
    /// Use known replies; a call that is not known fails: exact replay
    ReadOnly,
    /// Ask every call
    Off,
}

/// Parses an amount of money.
pub fn parse_dollars(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "expected an amount above 0".to_owned())
}

/// Parses a number that is not 0.
pub fn parse_count<T: FromStr>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| match text.trim().parse::<u128>() {
        Ok(number) if number > 0 => "the number is too large".to_owned(),
        _ => "expected a whole number, 1 or more".to_owned(),
    })
}

/// Parses a time in seconds.
pub fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds = text.trim().parse::<f64>().ok().filter(|seconds| TIMES.contains(seconds));
    seconds.ok_or_else(|| "expected a number of seconds from 0.001 to 86400".to_owned())
}

/// Like [`parse_seconds`], but returns a [`Duration`].
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    parse_seconds(text).map(Duration::from_secs_f64)
}

impl ModelArgs {
    /// Returns what the options mean.
    pub fn options(&self) -> AskOptions {
        let mode = |mode| match mode {
            CacheModeArg::ReadWrite => CacheMode::ReadWrite,
            CacheModeArg::ReadOnly => CacheMode::ReadOnly,
            CacheModeArg::Off => CacheMode::Off,
        };
        AskOptions {
            only_count: self.dry_run,
            retry_errors: self.retry_errors,
            cache_mode: self.cache_mode.map(mode),
            cache: self.cache.clone(),
            max_cost: self.max_cost,
            concurrency: self.concurrency.map(std::num::NonZero::get),
            timeout: self.timeout,
            recorded: None,
        }
    }

    /// Creates the judges that settings, environment and arguments configure.
    pub fn judges(
        &self,
        settings: &Settings,
        profile: &Profile,
        recorded: Option<Recorded>,
        quiet: bool,
    ) -> anyhow::Result<Option<Judges>> {
        warn_of_profile(settings, quiet);
        if self.no_model {
            return Ok(None);
        }
        // Recorded replies must not depend on the environment.
        let environment = match recorded {
            Some(_) => Environment::nothing(),
            None => Environment::read(output::warn),
        };
        let options = AskOptions { recorded, ..self.options() };
        Ok(judges(settings, profile, &environment, options, warn_unless(quiet))?)
    }
}

/// Warns if the settings look as if they were written for other rules.
pub fn warn_of_profile(settings: &Settings, quiet: bool) {
    if let Some(word) = settings.word_on_profile().filter(|_| !quiet) {
        output::warn(&word.to_string());
    }
}

/// Returns a function that prints warnings about models, unless `quiet` is set.
pub fn warn_unless(quiet: bool) -> Arc<dyn Fn(&str) + Send + Sync> {
    Arc::new(move |text| {
        if !quiet {
            output::warn(text);
        }
    })
}

/// Returns the calls as rows of a table.
pub fn rows(tally: &Tally) -> Vec<CallRow> {
    let row = |name: &str, count: &juror_models::Count| CallRow {
        purpose: name.to_owned(),
        sent: count.bought + count.counted,
        known: count.known,
        failed: count.failed,
        input_tokens: count.input_tokens,
        output_tokens: count.output_tokens,
        usd: count.priced.then_some(count.usd),
    };
    let mut rows: Vec<CallRow> =
        tally.purposes.iter().map(|(name, count)| row(name, count)).collect();
    if rows.len() > 1 {
        rows.push(row("all calls", &tally.total()));
    }
    rows
}

/// The calls, for machines.
#[derive(Serialize)]
pub struct JsonCalls {
    purpose: String,
    sent: u64,
    known: u64,
    failed: u64,
    input_tokens: u64,
    output_tokens: u64,
    usd: Option<f64>,
}

/// Returns the calls, for machines.
pub fn json_calls(tally: &Tally) -> Vec<JsonCalls> {
    let json = |row: CallRow| JsonCalls {
        purpose: row.purpose,
        sent: row.sent,
        known: row.known,
        failed: row.failed,
        input_tokens: row.input_tokens,
        output_tokens: row.output_tokens,
        usd: row.usd,
    };
    rows(tally).into_iter().map(json).collect()
}

/// The hint if models are too slow: repeating the same command would not help.
pub const MORE_TIME: &str = "give models more time with --timeout or llm.timeout_seconds";

/// Prints why asking stopped, and how to continue.
pub fn print_stop(stop: &Stop, cache: Option<&str>) {
    let kept = match cache {
        Some(place) => {
            format!("every reply so far is kept in {place}: run the same command again to continue")
        }
        None => "nothing is kept without a cache: see llm.cache in docs/models.md".into(),
    };
    match stop {
        Stop::Interrupted => output::print_note(&format!("interrupted; {kept}")),
        Stop::BadKey(_) => output::print_note(&format!(
            "error: {stop}\n  hint: check the key and its credit; nothing more was asked; {kept}"
        )),
        Stop::NotThere(_) => output::print_note(&format!(
            "error: {stop}\n  hint: check the model's name and its base_url; nothing more was asked; {kept}"
        )),
        Stop::TooSlow(_) => output::print_note(&format!(
            "error: {stop}\n  hint: {MORE_TIME}; nothing more was asked; {kept}"
        )),
        Stop::Unreachable(_) | Stop::CannotKeep(_) => {
            output::print_note(&format!("error: {stop}\n  hint: nothing more was asked; {kept}"));
        }
        Stop::CostCeiling(_) => output::print_note(&format!(
            "error: {stop}\n  hint: raise it with --max-cost or llm.max_cost_usd; {kept}"
        )),
    }
}
