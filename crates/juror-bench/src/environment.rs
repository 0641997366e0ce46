//! Decides which environment variables and headers reach an agent, and which are part of a run's
//! identity.
//!
//! A variable whose name looks like that of a key is withheld from the agent unless the user names
//! it, and is never part of the identity: it affects who pays, not what the agent answers. A
//! variable whose value contains a password is withheld as well; its value counts without the
//! password. All other variables reach the agent and are part of the identity, unless the user
//! names some variables: then only those are.

use std::collections::BTreeMap;
use std::ffi::OsString;

use juror_agents::Headers;
use juror_models::{is_secret_name, says_who_asks};
use juror_run::Settings;
use juror_runs::hidden::without_passwords;
use juror_runs::short_hash;

/// Returns the environment that may affect the answers of an agent that is a process or part of
/// this one: names, and hashes of values. If the user names variables other than keys, only those
/// count; otherwise all do, except keys and variables that differ between terminals.
pub(super) fn agent_environment(
    named: &[String],
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> BTreeMap<String, String> {
    let text = |text: OsString| text.to_string_lossy().into_owned();
    let all: BTreeMap<String, String> = variables
        .into_iter()
        .map(|(name, value)| (text(name), hash_without_passwords(text(value))))
        .collect();
    let named: Vec<&String> = named.iter().filter(|name| !is_secret_name(name)).collect();
    if named.is_empty() {
        return all.into_iter().filter(|(name, _)| decides(name)).collect();
    }
    let of = |name: &&String| {
        let value = all.get(*name).cloned();
        ((*name).clone(), value.unwrap_or_else(|| "not set".into()))
    };
    named.iter().map(of).collect()
}

fn hash_without_passwords(value: String) -> String {
    short_hash(&without_passwords(&value).unwrap_or(value))[..8].to_owned()
}

/// Returns the variables to withhold from an agent process: those that are set, that the user has
/// not named, and that are named like keys, contain a password, or provide a secret for the
/// settings.
pub(crate) fn kept_back(
    named: &[String],
    settings: &Settings,
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> Vec<String> {
    let own = secret_variables(settings);
    let is_kept = |name: &str, value: &OsString| {
        is_secret_name(name) || own.contains(&name) || has_password(name, &value.to_string_lossy())
    };
    let set = variables.into_iter().filter_map(|(name, value)| {
        let name = name.into_string().ok()?;
        (is_kept(&name, &value) && !named.contains(&name)).then_some(name)
    });
    let mut kept: Vec<String> = set.collect();
    kept.sort();
    kept
}

/// Returns whether a variable contains a password to withhold. Proxy variables are exempt, because
/// without them an agent may have no network access at all.
fn has_password(name: &str, value: &str) -> bool {
    !name.to_ascii_lowercase().ends_with("_proxy") && without_passwords(value).is_some()
}

/// Returns the variables that the settings read keys and headers from, as `env:NAME`.
fn secret_variables(settings: &Settings) -> Vec<&str> {
    let llm = settings.llm.iter();
    let llm = llm.flat_map(|llm| [&llm.generation, &llm.judge, &llm.agent, &llm.embedding]);
    let simulator = settings.tools.simulator.as_ref().map(|own| &own.model);
    let models = llm.chain(simulator).flatten();
    let of_models = models.flat_map(|model| model.api_key.iter().chain(model.headers.values()));
    let real = settings.tools.real.iter();
    let of_tools = real.flat_map(|real| {
        let headers = real.hosts.values().flatten().flat_map(BTreeMap::values);
        real.key.iter().chain(headers)
    });
    let secrets = of_models.chain(of_tools);
    secrets.filter_map(|secret| secret.strip_prefix("env:").map(str::trim)).collect()
}

/// Returns the headers that may affect an agent's answers: names, and hashes of values. Headers
/// that only identify the caller are left out.
pub(super) fn agent_headers(headers: &Headers) -> BTreeMap<String, String> {
    let decides = |name: &str| decides(name) && !says_who_asks(name);
    let hash = |value: &[u8]| short_hash(&String::from_utf8_lossy(value))[..8].to_owned();
    let deciding = headers.iter().filter(|(name, _)| decides(name));
    deciding.map(|(name, value)| (format!("header {name}"), hash(value))).collect()
}

/// Variables of shells, terminals, sessions and CI jobs. These are whole names, so that no variable
/// of an agent is mistaken for one of them.
const PASSING: [&str; 69] = [
    "_",
    "JOB_COMPLETION_INDEX",
    "PWD",
    "OLDPWD",
    "SHLVL",
    "LINES",
    "COLUMNS",
    "COLORTERM",
    "COLORFGBG",
    "LS_COLORS",
    "NO_COLOR",
    "FORCE_COLOR",
    "PS1",
    "PS2",
    "PROMPT_COMMAND",
    "PAGER",
    "EDITOR",
    "VISUAL",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "STY",
    "WINDOWID",
    "HOSTNAME",
    "USER",
    "LOGNAME",
    "MAIL",
    "SHELL",
    "GPG_TTY",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "RUST_BACKTRACE",
    "TMPDIR",
    "PYTEST_CURRENT_TEST",
    "TERM",
    "TERMCAP",
    "TERMINFO",
    "TERMINFO_DIRS",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "TERM_SESSION_ID",
    "TMUX",
    "TMUX_PANE",
    "WT_SESSION",
    "WT_PROFILE_ID",
    "HISTFILE",
    "HISTSIZE",
    "HISTFILESIZE",
    "HISTCONTROL",
    "HISTIGNORE",
    "HISTTIMEFORMAT",
    "LESS",
    "LESSOPEN",
    "LESSCLOSE",
    "LESSCHARSET",
    "LESSHISTFILE",
    "BUILD_ID",
    "BUILD_NUMBER",
    "BUILD_TAG",
    "BUILD_URL",
    "BUILD_DISPLAY_NAME",
    "RUNNER_NAME",
    "RUNNER_TEMP",
    "RUNNER_WORKSPACE",
    "RUNNER_TRACKING_ID",
    "GNOME_SHELL_SESSION_MODE",
    "GNOME_DESKTOP_SESSION_ID",
    "KDE_FULL_SESSION",
    "KDE_SESSION_UID",
    "KDE_SESSION_VERSION",
];

/// Prefixes of such names that nothing else uses.
const PASSING_FAMILIES: [&str; 25] = [
    "SLURM_",
    "JUROR_",
    "SSH_",
    "XDG_",
    "DBUS_",
    "VTE_",
    "ITERM_",
    "KITTY_",
    "ALACRITTY_",
    "GNOME_TERMINAL_",
    "KONSOLE_",
    "WEZTERM_",
    "VSCODE_",
    "SYSTEMD_",
    "GITHUB_",
    "ACTIONS_RUNTIME_",
    "ACTIONS_CACHE_",
    "ACTIONS_RESULTS_",
    "ACTIONS_ID_",
    "CI_JOB_",
    "CI_PIPELINE_",
    "CI_COMMIT_",
    "CI_RUNNER_",
    "CARGO_",
    "JENKINS_",
];

fn decides(name: &str) -> bool {
    let is_passing = PASSING.contains(&name)
        || PASSING_FAMILIES.iter().any(|beginning| name.starts_with(beginning));
    !is_secret_name(name) && !is_passing
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(named: &[&str], variables: &[(&str, &str)]) -> BTreeMap<String, String> {
        let named: Vec<String> = named.iter().map(ToString::to_string).collect();
        let own = |(name, value): &(&str, &str)| (OsString::from(name), OsString::from(value));
        agent_environment(&named, variables.iter().map(own))
    }

    #[test]
    fn what_reaches_an_agent_decides_and_what_passes_does_not() {
        let one = environment(&[], &[("MODEL", "gpt"), ("PATH", "/bin"), ("SHLVL", "1")]);
        let again = environment(&[], &[("MODEL", "gpt"), ("PATH", "/bin"), ("PWD", "/x")]);
        assert_eq!(one, again);
        assert_eq!(one.keys().collect::<Vec<_>>(), ["MODEL", "PATH"]);
        assert_ne!(one, environment(&[], &[("MODEL", "claude"), ("PATH", "/bin")]));
        let keyed = [("MODEL", "gpt"), ("PATH", "/bin"), ("OPENAI_API_KEY", "sk-1")];
        assert_eq!(one, environment(&[], &keyed), "a key decides who pays");
        assert!(!format!("{one:?}").contains("gpt"), "values are never kept");
    }

    #[test]
    fn headers_decide_unless_they_say_who_asks() {
        let headers = |lines: &[&str]| {
            let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
            agent_headers(&Headers::read(&lines, |_| None).expect("headers"))
        };
        let one = headers(&["X-Model: small", "Authorization: Bearer 1"]);
        assert_eq!(one, headers(&["X-Model: small", "X-Api-Key: 2"]));
        assert_ne!(one, headers(&["X-Model: large"]));
        assert!(!format!("{one:?}").contains("small"), "values are never kept");
    }

    #[test]
    fn named_variables_decide_alone() {
        let one = environment(&["MODEL", "SEED"], &[("MODEL", "gpt"), ("PATH", "/bin")]);
        let again = environment(&["MODEL", "SEED"], &[("MODEL", "gpt"), ("PATH", "/usr/bin")]);
        assert_eq!(one, again);
        assert_eq!(one["SEED"], "not set");
    }

    #[test]
    fn keys_reach_an_agent_only_by_name_and_never_tell_runs_apart() {
        let set = ["OPENAI_API_KEY", "RAPIDAPI_KEY", "JUROR_TOKEN", "GATE", "MAX_TOKENS", "PATH"];
        let variables = || set.map(|name| (OsString::from(name), OsString::from("x")));
        let settings = r#"{"llm": {"generation": {"provider": "openai", "model": "m",
            "api_key": "env: GATE"}}}"#;
        let settings: Settings = serde_json::from_str(settings).expect("settings");
        let named = ["OPENAI_API_KEY".to_owned(), "NOT_SET".to_owned()];
        assert_eq!(
            kept_back(&[], &settings, variables()),
            ["GATE", "JUROR_TOKEN", "OPENAI_API_KEY", "RAPIDAPI_KEY"]
        );
        assert_eq!(
            kept_back(&named, &settings, variables()),
            ["GATE", "JUROR_TOKEN", "RAPIDAPI_KEY"]
        );
        let own = [("MODEL", "gpt"), ("OPENAI_API_KEY", "x")];
        assert_eq!(environment(&["OPENAI_API_KEY"], &own), environment(&[], &own));
        assert_eq!(environment(&["OPENAI_API_KEY", "MODEL"], &own), environment(&["MODEL"], &own));
    }

    #[test]
    fn a_password_in_a_value_stays_and_tells_no_runs_apart() {
        let variables = [
            ("DATABASE_URL", "postgres://me:hush@host/data"),
            ("HTTPS_PROXY", "http://me:hush@proxy:3128"),
            ("https_proxy", "http://me:hush@proxy:3128"),
            ("SEARCH_URL", "http://search/"),
        ];
        let set = || variables.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        assert_eq!(kept_back(&[], &Settings::default(), set()), ["DATABASE_URL"]);
        let named = ["DATABASE_URL".to_owned()];
        assert_eq!(kept_back(&named, &Settings::default(), set()), [""; 0]);
        let of = |url: &str| environment(&[], &[("DATABASE_URL", url)]);
        assert_eq!(of("postgres://me:hush@host/data"), of("postgres://me:other@host/data"));
        assert_ne!(of("postgres://me:hush@host/data"), of("postgres://me:hush@host/other"));
    }

    #[test]
    fn what_only_begins_as_a_passing_name_decides() {
        for name in [
            "HISTORY_TURNS",
            "TERMINATION_MODE",
            "LESSONS_FILE",
            "RUNNER_MODEL",
            "BUILD_PROMPT",
            "CI_MODEL",
            "HOST",
            "MAX_TOKENS",
            "MONKEY",
        ] {
            assert_eq!(environment(&[], &[(name, "x")]).len(), 1, "{name}");
        }
        for name in ["HISTFILE", "TERM", "SSH_AUTH_SOCK", "BUILD_NUMBER", "GH_TOKEN", "API_KEY"] {
            assert_eq!(environment(&[], &[(name, "x")]).len(), 0, "{name}");
        }
    }
}
