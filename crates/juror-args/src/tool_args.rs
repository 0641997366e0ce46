//! Options for virtual tools and the sources of their replies.

#![expect(clippy::doc_markdown, reason = "these comments are the help that users read")]

use std::num::NonZero;

use clap::{Args, ValueEnum};
use juror_files::load_settings;
use juror_run::{
    ArgumentsWord, Environment, FormWord, MissWord, ModelSettings, NumbersWord, PublicConfig,
    RealSettings, Settings, SimulatorSettings, SourceWord,
};

use crate::boolish;

/// Where tools' replies come from.
#[derive(Args)]
#[command(next_help_heading = "Tools")]
pub struct ToolArgs {
    /// Settings file: juror's own, or the public server's config.yml. Options override it.
    #[arg(short, long, value_name = "FILE", env = "JUROR_CONFIG")]
    config: Option<String>,

    /// The tools: a folder of tool files, an OpenAPI document, a list of OpenAI functions or MCP
    /// tools, or a live MCP server (mcp:COMMAND, mcp+http://…). May be repeated.
    #[arg(long, value_name = "PLACE", env = "JUROR_TOOLS")]
    tools: Vec<String>,

    /// More known replies, read after those of --store and never changed: a cache folder of the
    /// public servers, or another store. May be repeated.
    #[arg(long, value_name = "FOLDER", env = "JUROR_TOOL_CACHE")]
    cache: Vec<String>,

    /// Folder or database (postgresql://…) that replies are kept in: what is there is read
    /// first, also what `juror tools import` brought, and new replies go here [default:
    /// .juror/tools].
    #[arg(long, value_name = "PLACE", env = "JUROR_TOOL_STORE")]
    store: Option<String>,

    /// Folder that replies of real tools are recorded to and replayed from, to be read and checked
    /// in; stands in for --store. Arguments named like keys are masked.
    #[arg(long, value_name = "FOLDER", env = "JUROR_CASSETTE", conflicts_with = "store")]
    cassette: Option<String>,

    /// Who is asked for a reply, in order [default: cache, then what is configured of real and
    /// simulator]. Without `cache` nothing that is known is read, and replies that are kept stay.
    #[arg(long, value_name = "LIST", value_delimiter = ',', env = "JUROR_TOOL_SOURCES")]
    sources: Option<Vec<SourceArg>>,

    /// What happens to a call whose reply is not known; `fail` replays exactly what is kept.
    #[arg(long, value_name = "ask|fail", env = "JUROR_ON_MISS")]
    on_miss: Option<MissArg>,

    /// How arguments are compared with those of known replies.
    #[arg(long = "match", value_name = "exact|any-order", env = "JUROR_TOOL_MATCH")]
    arguments: Option<MatchArg>,

    /// How numbers in arguments are compared with those of known replies: `equal` also takes a
    /// reply to 5.0 for 5, if there is no exact match [default: equal for Juror's own tools
    /// and runs, exact for other clients].
    #[arg(long, value_name = "exact|equal", env = "JUROR_MATCH_NUMBERS")]
    match_numbers: Option<NumbersArg>,

    /// Ask again for known replies, and replace the stored ones.
    #[arg(long, env = "JUROR_TOOL_REFRESH", value_parser = boolish())]
    refresh: bool,

    /// Keep no new replies.
    #[arg(long, env = "JUROR_NO_KEEP", value_parser = boolish())]
    no_keep: bool,

    /// Also write new replies into the first cache folder, as the public servers do.
    #[arg(long, env = "JUROR_WRITE_BACK", value_parser = boolish())]
    write_back: bool,

    /// Megabytes of known replies to hold in memory [default: 1024].
    #[arg(long, value_name = "MB", env = "JUROR_TOOL_MEMORY")]
    memory: Option<u32>,

    /// Megabytes of calls that may be on their way to models and real tools; those who ask for more
    /// are told so [default: 128].
    #[arg(long, value_name = "MB", env = "JUROR_IN_FLIGHT")]
    in_flight: Option<NonZero<u32>>,

    /// Let a model play tools: any chat model, or a MirrorAPI model.
    #[arg(long, value_name = "KIND", env = "JUROR_SIMULATOR")]
    simulator: Option<FormArg>,

    /// The model that plays tools, as its server calls it.
    #[arg(long, value_name = "NAME", env = "JUROR_SIMULATOR_MODEL")]
    model: Option<String>,

    /// Address of its OpenAI-compatible server, such as http://127.0.0.1:12345/v1; OpenAI itself
    /// when left out. A key is read from OPENAI_API_KEY.
    #[arg(long, value_name = "URL", env = "JUROR_SIMULATOR_URL")]
    model_url: Option<String>,

    /// Where real tools are called: an MCP server (mcp:COMMAND, mcp+http://…), the address of the
    /// API that an OpenAPI document describes, or a ToolBench proxy. May be repeated.
    #[arg(long, value_name = "ADDRESS", env = "JUROR_TOOL_PROXY")]
    proxy: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SourceArg {
    Cache,
    Real,
    Simulator,
}

#[derive(Clone, Copy, ValueEnum)]
enum MissArg {
    Ask,
    Fail,
}

#[derive(Clone, Copy, ValueEnum)]
enum MatchArg {
    Exact,
    AnyOrder,
}

#[derive(Clone, Copy, ValueEnum)]
enum NumbersArg {
    Exact,
    Equal,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormArg {
    /// Any chat model.
    Chat,
    /// A MirrorAPI model.
    Mirror,
    /// A MirrorAPI model that was trained on a cache.
    MirrorCache,
}

impl ToolArgs {
    /// Combines settings and options; also returns what only the public server's configuration has.
    pub fn settings(&self, environment: &Environment) -> anyhow::Result<(Settings, PublicConfig)> {
        let form = match self.simulator {
            None | Some(FormArg::Chat) => FormWord::Chat,
            Some(FormArg::Mirror) => FormWord::Mirror,
            Some(FormArg::MirrorCache) => FormWord::MirrorCache,
        };
        let (mut settings, public) = match &self.config {
            None => (Settings::default(), PublicConfig::default()),
            Some(name) => {
                let document = load_settings(name)?;
                match PublicConfig::read(&document) {
                    Some(public) => {
                        let public = public?;
                        (public.settings(name, form), public)
                    }
                    None => (Settings::read(&document)?, PublicConfig::default()),
                }
            }
        };
        self.override_places(&mut settings);
        let tools = &settings.tools;
        anyhow::ensure!(
            !self.write_back || (tools.keep != Some(false) && !tools.cache.is_empty()),
            "--write-back needs a cache folder to write to, and replies that are kept\n  hint: name it with --cache, and leave --no-keep out"
        );
        self.override_sources(&mut settings, form, environment)?;
        Ok((settings, public))
    }

    /// Returns the names of the given options that configure the source of replies.
    pub fn of_replies(&self) -> Vec<&'static str> {
        let given = [
            ("cache", !self.cache.is_empty()),
            ("store", self.store.is_some()),
            ("cassette", self.cassette.is_some()),
            ("sources", self.sources.is_some()),
            ("on-miss", self.on_miss.is_some()),
            ("match", self.arguments.is_some()),
            ("match-numbers", self.match_numbers.is_some()),
            ("refresh", self.refresh),
            ("no-keep", self.no_keep),
            ("write-back", self.write_back),
            ("memory", self.memory.is_some()),
            ("in-flight", self.in_flight.is_some()),
            ("simulator", self.simulator.is_some()),
            ("model", self.model.is_some()),
            ("model-url", self.model_url.is_some()),
            ("proxy", !self.proxy.is_empty()),
        ];
        given.into_iter().filter_map(|(option, is_given)| is_given.then_some(option)).collect()
    }

    fn override_places(&self, settings: &mut Settings) {
        let tools = &mut settings.tools;
        tools.name_folders(&self.tools);
        if !self.cache.is_empty() {
            tools.cache.clone_from(&self.cache);
        }
        tools.store = self.store.clone().or(tools.store.take());
        tools.cassette = self.cassette.clone().or(tools.cassette.take());
        tools.memory_mb = self.memory.or(tools.memory_mb);
        tools.in_flight_mb = self.in_flight.or(tools.in_flight_mb);
        if self.no_keep {
            tools.keep = Some(false);
        }
        if self.refresh {
            tools.refresh = Some(true);
        }
        if self.write_back {
            tools.write_back = Some(true);
        }
    }

    fn override_sources(
        &self,
        settings: &mut Settings,
        form: FormWord,
        environment: &Environment,
    ) -> anyhow::Result<()> {
        let tools = &mut settings.tools;
        let meant = |source: &SourceArg| match source {
            SourceArg::Cache => SourceWord::Cache,
            SourceArg::Real => SourceWord::Real,
            SourceArg::Simulator => SourceWord::Simulator,
        };
        if let Some(sources) = &self.sources {
            tools.sources = Some(sources.iter().map(meant).collect());
        }
        tools.on_miss = match self.on_miss {
            Some(MissArg::Ask) => Some(MissWord::Ask),
            Some(MissArg::Fail) => Some(MissWord::Fail),
            None => tools.on_miss,
        };
        tools.arguments = match self.arguments {
            Some(MatchArg::Exact) => Some(ArgumentsWord::Exact),
            Some(MatchArg::AnyOrder) => Some(ArgumentsWord::AnyOrder),
            None => tools.arguments,
        };
        tools.numbers = match self.match_numbers {
            Some(NumbersArg::Exact) => Some(NumbersWord::Exact),
            Some(NumbersArg::Equal) => Some(NumbersWord::Equal),
            None => tools.numbers,
        };
        if !self.proxy.is_empty() {
            let real = tools.real.get_or_insert_with(RealSettings::default);
            real.proxy.clone_from(&self.proxy);
        }
        if self.simulator.is_some() || self.model.is_some() {
            let simulator = tools.simulator.get_or_insert_with(SimulatorSettings::default);
            simulator.form = self.simulator.map(|_| form).or(simulator.form);
            if let Some(model) = &self.model {
                simulator.model = Some(self.model_settings(model, environment));
            }
        }
        anyhow::ensure!(
            self.model_url.is_none() || self.model.is_some(),
            "--model-url is given without --model\n  hint: name the model that is served there"
        );
        Ok(())
    }

    fn model_settings(&self, model: &str, environment: &Environment) -> ModelSettings {
        let key = self.model_url.as_ref().and(environment.get("OPENAI_API_KEY"));
        ModelSettings {
            api_key: key.map(|_| "env:OPENAI_API_KEY".into()),
            ..ModelSettings::at(self.model_url.clone(), model)
        }
    }
}
