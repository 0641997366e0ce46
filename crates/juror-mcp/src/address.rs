//! Where a server is, as users write it.

use std::fmt;

/// The server of tools that a user names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A command that speaks on its standard streams.
    Command(Vec<String>),
    /// A URL.
    Http(reqwest::Url),
}

/// A text that names no server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` does not name an MCP server: {why}")]
pub struct BadAddress {
    text: String,
    why: &'static str,
}

const COMMAND: &str = "mcp:";
const HTTP: &str = "mcp+";

impl Address {
    /// Whether a text is meant as the address of a server.
    pub fn is_meant(text: &str) -> bool {
        text.starts_with(COMMAND)
            || text.starts_with("mcp+http://")
            || text.starts_with("mcp+https://")
    }

    /// Reads `mcp:COMMAND`, `mcp+http://…` or `mcp+https://…`.
    pub fn read(text: &str) -> Result<Address, BadAddress> {
        let bad = |why| BadAddress { text: without_user(text), why };
        if let Some(command) = text.strip_prefix(COMMAND) {
            let words = shlex::split(command).ok_or_else(|| bad("a quote is not closed"))?;
            let is_empty = words.first().is_none_or(String::is_empty);
            return if is_empty {
                Err(bad("there is no command"))
            } else {
                Ok(Address::Command(words))
            };
        }
        let url = text.strip_prefix(HTTP).filter(|_| Address::is_meant(text));
        let url = url.ok_or_else(|| bad("write mcp:COMMAND or mcp+http://HOST/PATH"))?;
        url.parse().map(Address::Http).map_err(|_| bad("this is not a URL"))
    }

    /// Splits off the tool after the last `#`, as in `mcp:COMMAND#tool`.
    pub fn with_tool(text: &str) -> Result<(Address, String), BadAddress> {
        let bad = || BadAddress { text: without_user(text), why: "name a tool of it after `#`" };
        let (address, tool) = text.rsplit_once('#').ok_or_else(bad)?;
        if tool.trim().is_empty() {
            return Err(bad());
        }
        Ok((Address::read(address)?, tool.trim().to_owned()))
    }

    /// A short name: that of the program or the host.
    pub fn short_name(&self) -> String {
        match self {
            Address::Command(words) => {
                let program = words.first().map(String::as_str).unwrap_or_default();
                program.rsplit('/').next().unwrap_or_default().to_owned()
            }
            Address::Http(url) => url.host_str().unwrap_or_default().to_owned(),
        }
    }
}

/// Endings of files that other programs run.
const SCRIPTS: [&str; 10] =
    [".py", ".js", ".mjs", ".cjs", ".ts", ".sh", ".rb", ".jar", ".php", ".pl"];

/// The script that a command runs, or the module of Python: what tells servers apart that are run by
/// the same program. Other arguments may be secrets.
fn script_in(words: &[String]) -> Option<String> {
    let arguments = words.get(1..)?;
    let is_script = |word: &&String| SCRIPTS.iter().any(|ending| word.ends_with(ending));
    let name = |word: &String| word.rsplit('/').next().unwrap_or_default().to_owned();
    let module = || {
        let at = arguments.iter().position(|word| word == "-m")?;
        Some(format!("-m {}", arguments.get(at + 1)?))
    };
    let script = arguments
        .first()
        .filter(is_script)
        .or_else(|| arguments.get(1).filter(is_script).filter(|_| arguments[0].starts_with('-')));
    script.map(name).or_else(module)
}

/// Returns an address without a user name and a password, whatever else is wrong with it.
fn without_user(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

/// Shows a server without what may be a secret: a command's arguments, except for the script it runs,
/// and a URL's query and credentials.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Command(words) => match script_in(words) {
                Some(script) => write!(f, "`{} {script}`", self.short_name()),
                None => write!(f, "`{}`", self.short_name()),
            },
            Address::Http(url) => {
                let mut url = url.clone();
                url.set_query(None);
                // Both fail only for URLs without a host, which have no credentials.
                let _ = url.set_username("");
                let _ = url.set_password(None);
                write!(f, "{url}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_commands_or_urls() {
        let words = |text: &str| match Address::read(text) {
            Ok(Address::Command(words)) => words,
            other => panic!("{other:?}"),
        };
        assert_eq!(words("mcp:npx -y 'my server'"), ["npx", "-y", "my server"]);
        assert!(matches!(Address::read("mcp+http://127.0.0.1:1/mcp"), Ok(Address::Http(_))));
        for text in ["mcp:", "mcp: ", "mcp:'a", "mcp+http://", "mcp+ftp://a", "http://a"] {
            assert!(Address::read(text).is_err(), "{text}");
        }
        let (address, tool) = Address::with_tool("mcp:a --b#ask").expect("a tool");
        assert_eq!((address, &*tool), (Address::Command(vec!["a".into(), "--b".into()]), "ask"));
        assert!(Address::with_tool("mcp:a").is_err());
    }

    #[test]
    fn what_may_be_a_secret_is_not_shown() {
        let shown = |text: &str| Address::read(text).expect("an address").to_string();
        assert_eq!(shown("mcp:/usr/bin/srv --key s3cret"), "`srv`");
        assert_eq!(shown("mcp:python3 -u tools/garden.py --key s3cret"), "`python3 garden.py`");
        assert_eq!(
            shown("mcp:python3 -m garden.server --key s3cret"),
            "`python3 -m garden.server`"
        );
        assert_eq!(shown("mcp+https://u:p@h.example/mcp?token=x"), "https://h.example/mcp");
        let wrong = Address::with_tool("mcp+http://u:p@h/mcp").expect_err("no tool").to_string();
        assert!(wrong.contains("`mcp+http://h/mcp`"), "{wrong}");
    }
}
