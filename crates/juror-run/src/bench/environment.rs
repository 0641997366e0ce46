//! Which variables and headers decide what an agent answers.

use std::collections::BTreeMap;
use std::ffi::OsString;

use crate::hidden::{says_who_asks, words_of};
use crate::manifest::short_hash;
use crate::subject::Headers;

/// The environment that reaches an agent which is a process, or part of this one: names, and
/// hashes of values. Where users name variables, those alone decide; else all but those that
/// differ from one terminal to the next, and keys, which decide who pays and not what is said.
pub fn agent_environment(
    named: &[String],
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> BTreeMap<String, String> {
    let text = |text: OsString| text.to_string_lossy().into_owned();
    let all: BTreeMap<String, String> = variables
        .into_iter()
        .map(|(name, value)| (text(name), short_hash(&text(value))[..8].to_owned()))
        .collect();
    if named.is_empty() {
        return all.into_iter().filter(|(name, _)| decides(name)).collect();
    }
    let of = |name: &String| {
        let value = all.get(name).cloned();
        (name.clone(), value.unwrap_or_else(|| "not set".into()))
    };
    named.iter().map(of).collect()
}

/// The headers that are sent to an agent and may decide its answers: names, and hashes of values.
/// Who it is that asks does not decide them.
pub fn agent_headers(headers: &Headers) -> BTreeMap<String, String> {
    let decides = |name: &str| decides(name) && !says_who_asks(name);
    let hash = |value: &[u8]| short_hash(&String::from_utf8_lossy(value))[..8].to_owned();
    let deciding = headers.iter().filter(|(name, _)| decides(name));
    deciding.map(|(name, value)| (format!("header {name}"), hash(value))).collect()
}

/// Variables of shells, terminals, sessions and of jobs of continuous integration: whole names,
/// so that none that an agent may have of its own is taken for one of them.
const PASSING: [&str; 68] = [
    "_",
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

/// Beginnings of such names that nobody else uses.
const PASSING_FAMILIES: [&str; 24] = [
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

/// Last words of the names of keys, which decide who pays.
const KEYS: [&str; 6] = ["key", "apikey", "token", "secret", "password", "credentials"];

fn decides(name: &str) -> bool {
    let is_key = words_of(name).last().is_some_and(|word| KEYS.contains(&word.as_str()));
    let is_passing = PASSING.contains(&name)
        || PASSING_FAMILIES.iter().any(|beginning| name.starts_with(beginning));
    !is_key && !is_passing
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
            agent_headers(&Headers::read(&lines, &crate::Environment::nothing()).expect("headers"))
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
