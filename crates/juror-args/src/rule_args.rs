//! The rules of judgement.

use clap::{Args, ValueEnum};
use juror_files::load_settings;
use juror_run::{Plan, ProfileNumber, Settings};

/// The rules of judgement, as given on the command line.
#[derive(Args)]
pub struct RuleArgs {
    /// Settings file in YAML; see docs/formats.md.
    #[arg(short, long, value_name = "FILE", env = "JUROR_CONFIG", alias = "config-yaml-file-path")]
    pub config: Option<String>,

    /// Set of rules: 5, the published document, or 6, the library's newer release. Overrides the
    /// settings [default: 5, or the profile that the results indicate].
    #[arg(long, value_name = "5|6", env = "JUROR_PROFILE")]
    profile: Option<ProfileArg>,
}

/// A set of rules.
#[derive(Clone, Copy, ValueEnum)]
enum ProfileArg {
    /// The published document
    #[value(name = "5")]
    Five,
    /// The library's newer release
    #[value(name = "6")]
    Six,
}

impl RuleArgs {
    /// Combines settings and arguments.
    pub fn settings(&self) -> anyhow::Result<Settings> {
        let mut settings = match &self.config {
            None => Settings::default(),
            Some(name) => Settings::read(&load_settings(name)?)?,
        };
        settings.profile = match self.profile {
            Some(ProfileArg::Five) => Some(ProfileNumber::Five),
            Some(ProfileArg::Six) => Some(ProfileNumber::Six),
            None => settings.profile,
        };
        Ok(settings)
    }

    /// Returns what settings and arguments mean.
    pub fn plan(&self) -> anyhow::Result<Plan> {
        Ok(self.settings()?.plan())
    }
}
