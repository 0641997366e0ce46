//! The address of a database, and what it may not show.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use juror_store::StoreError;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use sha2::{Digest, Sha256};
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;
use url::Url;

use crate::password;

const EXAMPLE: &str =
    "for example postgresql://user@host/database?sslmode=verify-full&schema=juror";

/// What cannot stand in the name of a run as it is.
const IN_NAMES: &AsciiSet = &CONTROLS.add(b' ').add(b'#').add(b'%').add(b'&').add(b'+').add(b'\'');

/// How long to wait for a server that went away.
const PATIENCE: Duration = Duration::from_mins(1);

/// How long to wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The address of a database, with the password to it. Its `Display` and `Debug` leave the password
/// out.
#[derive(Clone)]
pub struct Address {
    user: String,
    password: Option<String>,
    host: Host,
    port: u16,
    database: String,
    pub(crate) schema: String,
    pub(crate) tls: Tls,
    pub(crate) patience: Duration,
    pub(crate) connect_timeout: Duration,
    /// The name of one run in the database.
    run: Option<String>,
}

#[derive(Clone, PartialEq, Eq)]
enum Host {
    Name(String),
    /// The folder of a Unix socket.
    Socket(PathBuf),
}

/// How the connection is protected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tls {
    /// Not at all.
    Off,
    /// The server proves that it is the host that the address names, by the certificates in a file
    /// or those that the system trusts.
    VerifyFull { roots: Option<PathBuf> },
}

impl Address {
    /// Whether a place is meant as the address of a database.
    pub fn is_meant(place: &str) -> bool {
        ["postgresql://", "postgres://"].iter().any(|scheme| place.starts_with(scheme))
    }

    /// Reads an address. The password comes from it, from `PGPASSWORD` or from the password file.
    pub fn read(text: &str) -> Result<Address, StoreError> {
        Address::read_with(text, &|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn read_with(
        text: &str,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Address, StoreError> {
        // The text may hold a password, so that no message repeats it.
        let url =
            Url::parse(text).map_err(|error| wrong(format!("it is not an address: {error}")))?;
        if url.fragment().is_some() {
            return Err(wrong("a `#` in it must be written as %23"));
        }
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let given = Some(decoded(url.username())).filter(|user| !user.is_empty());
        let own = || environment("PGUSER").or_else(|| environment("USER"));
        let user = given.or_else(own).ok_or_else(|| wrong("it names no user"))?;
        let database = decoded(url.path().trim_start_matches('/'));
        if database.is_empty() {
            return Err(wrong("it names no database"));
        }
        let host = decoded(url.host_str().unwrap_or_default());
        let mut address = Address {
            user,
            password: url.password().map(decoded),
            host: Host::of(&host),
            port: url.port().unwrap_or(5432),
            database,
            schema: "juror".into(),
            tls: Tls::Off,
            patience: PATIENCE,
            connect_timeout: CONNECT_TIMEOUT,
            run: None,
        };
        address.set_parameters(&url)?;
        if address.password.is_none() {
            address.password = password::find(&address, environment);
        }
        Ok(address)
    }

    fn set_parameters(&mut self, url: &Url) -> Result<(), StoreError> {
        let (mut mode, mut roots) = (None, None);
        for (name, value) in url.query_pairs() {
            match &*name {
                "sslmode" => mode = Some(value.into_owned()),
                "sslrootcert" => roots = Some(PathBuf::from(&*value)),
                "schema" => self.schema = schema_name(&value)?,
                "host" => self.host = Host::of(&value),
                "connect_timeout" => self.connect_timeout = seconds(&name, &value)?,
                "patience" => self.patience = seconds(&name, &value)?,
                "run" => self.run = Some(run_name(&value)?),
                name => {
                    let known =
                        "sslmode, sslrootcert, schema, host, connect_timeout, patience, run";
                    let problem = format!("it has a parameter `{name}`; there are {known}");
                    return Err(wrong(problem));
                }
            }
        }
        self.tls = match mode.as_deref() {
            Some("disable") => Tls::Off,
            None if self.host.is_here() => Tls::Off,
            Some("verify-full") | None => Tls::VerifyFull { roots },
            Some(mode) => {
                let problem = format!("`sslmode={mode}` does not verify the server");
                return Err(StoreError::Address {
                    problem: format!("the address of the database: {problem}"),
                    hint: Some(
                        "sslmode=verify-full, with sslrootcert=FILE for certificates of your own; \
                         or sslmode=disable within a network that you trust",
                    ),
                });
            }
        };
        Ok(())
    }

    /// Returns the name of the run that the address is of, if it is of one.
    pub fn run(&self) -> Option<&str> {
        self.run.as_deref()
    }

    /// Returns the address of a run in this database.
    #[must_use]
    pub fn of_run(&self, name: &str) -> Address {
        Address { run: Some(name.to_owned()), ..self.clone() }
    }

    /// Returns the address of all runs in this database.
    #[must_use]
    pub fn of_all_runs(&self) -> Address {
        Address { run: None, ..self.clone() }
    }

    /// Refuses the address of a run where that of a whole database is meant.
    pub(crate) fn of_no_run(self) -> Result<Address, StoreError> {
        match &self.run {
            None => Ok(self),
            Some(run) => Err(wrong(format!("`run={run}` names a run, and a store is meant"))),
        }
    }

    /// Returns how to connect.
    pub(crate) fn config(&self) -> Config {
        let mut config = Config::new();
        config.user(&self.user).dbname(&self.database).port(self.port);
        config.application_name("juror").connect_timeout(self.connect_timeout);
        // A machine that vanishes is noticed within a minute.
        config.keepalives_idle(Duration::from_secs(30));
        config.keepalives_interval(Duration::from_secs(10)).keepalives_retries(3);
        match &self.host {
            Host::Name(name) => config.host(name),
            Host::Socket(folder) => config.host_path(folder),
        };
        if let Some(password) = &self.password {
            config.password(password);
        }
        config.ssl_mode(match self.tls {
            Tls::Off => SslMode::Disable,
            Tls::VerifyFull { .. } => SslMode::Require,
        });
        config
    }

    /// Returns whether a password is known.
    pub(crate) fn has_password(&self) -> bool {
        self.password.is_some()
    }

    /// Returns host, port, database and user, as a password file names them.
    pub(crate) fn for_password(&self) -> [String; 4] {
        let host = match &self.host {
            Host::Name(name) => name.clone(),
            Host::Socket(_) => "localhost".into(),
        };
        [host, self.port.to_string(), self.database.clone(), self.user.clone()]
    }

    /// Returns the number of a lock, which is the same for all processes and differs by schema.
    pub(crate) fn lock_number(&self, hash: &[u8]) -> i64 {
        let mut all = Sha256::new();
        all.update(self.schema.as_bytes());
        all.update([0]);
        all.update(hash);
        let digest = all.finalize();
        let mut first = [0; 8];
        first.copy_from_slice(&digest[..8]);
        i64::from_be_bytes(first)
    }
}

impl Host {
    fn of(host: &str) -> Host {
        match host {
            "" => Host::Name("localhost".into()),
            socket if socket.starts_with('/') => Host::Socket(socket.into()),
            // An address of IPv6 stands in brackets.
            name => Host::Name(name.trim_matches(['[', ']']).to_owned()),
        }
    }

    /// Whether nothing leaves this machine.
    fn is_here(&self) -> bool {
        match self {
            Host::Socket(_) => true,
            Host::Name(name) => ["localhost", "127.0.0.1", "::1"].contains(&name.as_str()),
        }
    }
}

/// Names that need no quotes, so that they can stand in any statement.
fn schema_name(name: &str) -> Result<String, StoreError> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let starts = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    if starts && name.len() < 64 && name.chars().all(is_plain) {
        return Ok(name.to_owned());
    }
    Err(wrong(format!("`schema={name}`: a schema has small letters, digits and `_`")))
}

/// Names that can be those of folders too.
fn run_name(name: &str) -> Result<String, StoreError> {
    let is_plain = |c: char| !c.is_control() && !"/\\".contains(c);
    let is_one = !name.trim().is_empty() && !name.starts_with('.') && name.len() <= 255;
    if is_one && name.chars().all(is_plain) {
        return Ok(name.to_owned());
    }
    Err(wrong(format!("`run={}`: a run is named like a folder", name.escape_debug())))
}

fn seconds(name: &str, value: &str) -> Result<Duration, StoreError> {
    let seconds = value.parse().ok().map(Duration::from_secs);
    seconds.ok_or_else(|| wrong(format!("`{name}={value}` is not a number of seconds")))
}

fn wrong(problem: impl std::fmt::Display) -> StoreError {
    let problem = format!("the address of the database: {problem}");
    StoreError::Address { problem, hint: Some(EXAMPLE) }
}

/// Shows an address that can be given again, where a password comes from elsewhere.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (user, database, schema) = (&self.user, &self.database, &self.schema);
        let (host, socket) = match &self.host {
            Host::Name(host) if host.contains(':') => (format!("[{host}]"), None),
            Host::Name(host) => (host.clone(), None),
            Host::Socket(folder) => ("localhost".to_owned(), Some(folder.display())),
        };
        write!(f, "postgresql://{user}@{host}")?;
        if self.port != 5432 {
            write!(f, ":{}", self.port)?;
        }
        write!(f, "/{database}?")?;
        if let Some(socket) = socket {
            write!(f, "host={socket}&")?;
        }
        match &self.tls {
            Tls::Off if !self.host.is_here() => write!(f, "sslmode=disable&")?,
            Tls::VerifyFull { roots: Some(roots) } => {
                write!(f, "sslrootcert={}&", roots.display())?;
            }
            Tls::Off | Tls::VerifyFull { roots: None } => {}
        }
        write!(f, "schema={schema}")?;
        match &self.run {
            Some(run) => write!(f, "&run={}", utf8_percent_encode(run, IN_NAMES)),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Address, StoreError> {
        let environment = |name: &str| (name == "PGUSER").then(|| "me".to_owned());
        Address::read_with(text, &environment)
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        for (text, shown) in [
            ("postgresql://ann:hush@db.org/evals", "postgresql://ann@db.org/evals?schema=juror"),
            ("postgres://db.org:6543/e?schema=a_1", "postgresql://me@db.org:6543/e?schema=a_1"),
            (
                "postgresql://localhost:6543/e?host=/run/pg",
                "postgresql://me@localhost:6543/e?host=/run/pg&schema=juror",
            ),
            ("postgresql://a%40b:h%2Fush@[::1]/e", "postgresql://a@b@[::1]/e?schema=juror"),
            (
                "postgresql://ann:hush@db.org/e?sslmode=disable&run=a%20%26b",
                "postgresql://ann@db.org/e?sslmode=disable&schema=juror&run=a%20%26b",
            ),
        ] {
            let address = read(text).expect("an address");
            assert_eq!(address.to_string(), shown);
            assert!(!format!("{address:?}").contains("ush"));
        }
    }

    #[test]
    fn only_this_machine_is_spoken_to_without_encryption_unless_that_is_said() {
        let tls = |text: &str| read(text).expect("an address").tls;
        let verified = Tls::VerifyFull { roots: None };
        assert_eq!(tls("postgresql://localhost/e"), Tls::Off);
        assert_eq!(tls("postgresql:///e?host=/run/pg"), Tls::Off);
        assert_eq!(tls("postgresql://db.org/e"), verified);
        assert_eq!(tls("postgresql://localhost/e?sslmode=verify-full"), verified);
        assert_eq!(tls("postgresql://db.org/e?sslmode=disable"), Tls::Off);
        let own = tls("postgresql://db.org/e?sslrootcert=ca.pem");
        assert_eq!(own, Tls::VerifyFull { roots: Some("ca.pem".into()) });
    }

    #[test]
    fn a_wrong_address_is_refused_without_repeating_it() {
        for (text, told) in [
            ("postgresql://ann:hush@db.org", "it names no database"),
            ("postgresql://ann:hush@db.org:port/e", "it is not an address"),
            ("postgresql://ann:hush@db.org/e?sslmode=require", "does not verify the server"),
            ("postgresql://ann:hush@db.org/e?schema=A-b", "a schema has small letters"),
            ("postgresql://ann:hush@db.org/e?pool=3", "a parameter `pool`"),
            ("postgresql://ann:hush@db.org/e?patience=long", "not a number of seconds"),
            ("postgresql://ann:hush@db.org/e?run=a/b", "a run is named like a folder"),
            ("postgresql://ann:hush@db.org/e?run=..", "a run is named like a folder"),
            ("postgresql://ann:hush@db.org/e#x", "must be written as %23"),
        ] {
            let error = read(text).expect_err("refused");
            assert!(error.to_string().contains(told), "{error}");
            assert!(error.hint().is_some() && !error.to_string().contains("hush"), "{error}");
            assert!(!error.is_outside());
        }
    }

    #[test]
    fn locks_differ_by_schema() {
        let number = |text: &str| read(text).expect("an address").lock_number(&[1; 32]);
        let (one, two) = ("postgresql://db.org/e", "postgresql://db.org/e?schema=other");
        assert_eq!(number(one), number("postgresql://ann@db.org/e"));
        assert_ne!(number(one), number(two));
    }
}
