//! What a server complains about, in words.

use std::error::Error as _;
use std::time::Duration;

use juror_store::StoreError;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use crate::address::Address;

const GIVE_PASSWORD: &str = "set PGPASSWORD, or add a line to ~/.pgpass that only you can read";
const NOT_POOLED: &str = "name the server's own port, or let the pooler keep sessions \
     (in PgBouncer, pool_mode = session): locks must last longer than a transaction";

/// Returns an error about a server.
pub(crate) fn trouble(
    address: &Address,
    problem: impl Into<String>,
    hint: Option<&'static str>,
) -> StoreError {
    StoreError::Server { place: address.to_string(), problem: problem.into(), hint }
}

/// Returns the error about a server that says nothing.
pub(crate) fn silent(address: &Address, limit: Duration) -> StoreError {
    trouble(address, format!("no reply within {} s", limit.as_secs_f64()), None)
}

/// Returns the error about a pooler that gives each transaction another session.
pub(crate) fn pooled(address: &Address) -> StoreError {
    let problem = "a pooler in between gives every transaction another session, so that \
                   locks do not hold";
    trouble(address, problem, Some(NOT_POOLED))
}

/// Whether the connection is gone, or the server is not ready yet.
pub(crate) fn is_gone(error: &Error) -> bool {
    let Some(state) = error.code() else { return !is_about_us(error) };
    let passing = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::TOO_MANY_CONNECTIONS,
    ];
    passing.contains(state) || state.code().starts_with("08")
}

/// Whether something is wrong with what is sent or read, rather than with the connection.
fn is_about_us(error: &Error) -> bool {
    let is_io = |mut cause: &(dyn std::error::Error + 'static)| loop {
        if cause.is::<std::io::Error>() {
            return true;
        }
        match cause.source() {
            Some(next) => cause = next,
            None => return false,
        }
    };
    !error.is_closed() && !error.source().is_some_and(is_io)
}

/// Says what is wrong, and what to do about it.
pub(crate) fn in_words(address: &Address, error: &Error) -> StoreError {
    let Some(told) = error.as_db_error() else {
        let mut why: &dyn std::error::Error = error;
        while let Some(cause) = why.source() {
            why = cause;
        }
        if why.to_string() == "password missing" {
            return trouble(address, "the server asks for a password", Some(GIVE_PASSWORD));
        }
        return trouble(address, format!("no connection: {why}"), None);
    };
    let message = told.message();
    let (problem, hint) = match told.code() {
        state if *state == SqlState::INVALID_PASSWORD => {
            let hint = (!address.has_password()).then_some(GIVE_PASSWORD);
            (format!("the password is refused: {message}"), hint)
        }
        state if *state == SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
            (format!("the server rejects this user: {message}"), None)
        }
        state if *state == SqlState::INVALID_CATALOG_NAME => {
            (message.to_owned(), Some("create it with `createdb`, or name another"))
        }
        state if *state == SqlState::INSUFFICIENT_PRIVILEGE => {
            let hint = "let the owner of the database run `juror store migrate`, and grant usage \
                        of the schema and its tables";
            (message.to_owned(), Some(hint))
        }
        state if *state == SqlState::DISK_FULL => {
            let hint = "nothing that was kept is lost; make room, and run the command again";
            (format!("the server's disk is full: {message}"), Some(hint))
        }
        state if *state == SqlState::TOO_MANY_CONNECTIONS => {
            (format!("it takes no more connections: {message}"), None)
        }
        state if *state == SqlState::READ_ONLY_SQL_TRANSACTION => {
            (format!("it is read-only: {message}"), Some("name the primary server, not a standby"))
        }
        state if *state == SqlState::UNDEFINED_TABLE => (
            message.to_owned(),
            Some("the tables were deleted; make them with `juror store migrate`"),
        ),
        // A statement that was prepared in another session, or one of another client in this one.
        state
            if [SqlState::INVALID_SQL_STATEMENT_NAME, SqlState::DUPLICATE_PSTATEMENT]
                .contains(state) =>
        {
            return pooled(address);
        }
        _ => (message.to_owned(), None),
    };
    trouble(address, problem, hint)
}
