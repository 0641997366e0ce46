//! Access control: known host names, cross-origin requests, tokens.

use std::net::IpAddr;

use hyper::header::{AUTHORIZATION, HOST, HeaderValue, ORIGIN};
use hyper::http::uri::Authority;
use hyper::{Request, StatusCode, Version};
use juror_models::Secret;

/// How many characters of an unknown host name an error quotes.
const MOST_REPEATED: usize = 100;

/// Why a request is not answered.
#[derive(Debug)]
pub struct Rejection {
    /// The status of the response.
    pub status: StatusCode,
    /// The reason, as a sentence without its full stop.
    pub why: String,
}

fn rejection(status: StatusCode, why: impl Into<String>) -> Rejection {
    Rejection { status, why: why.into() }
}

/// Rejects requests for unknown hosts, and requests that a page of another site makes in someone's
/// browser.
///
/// Any page can make a name of its own resolve to this machine (DNS rebinding); its origin and the
/// requested host are then both that name. So if the server was reached on a loopback address, only
/// names that nobody else can own are accepted.
pub fn check_host<B>(
    request: &Request<B>,
    reached: Option<IpAddr>,
    allowed: &[String],
) -> Result<(), Rejection> {
    let host = host_of(request)?;
    let is_checked = !allowed.is_empty() || reached.is_none_or(|address| address.is_loopback());
    let authority = request.uri().authority().map(Authority::as_str);
    for host in [host, authority].into_iter().flatten() {
        if is_checked && !is_known(host, reached, allowed) {
            let shown: String = host.chars().take(MOST_REPEATED).collect();
            let why = format!("The host `{shown}` is not known here (--allow-host)");
            return Err(rejection(StatusCode::FORBIDDEN, why));
        }
    }
    let Some(origin) = request.headers().get(ORIGIN) else { return Ok(()) };
    let own = host.map(|host| format!("http://{host}"));
    if origin.to_str().ok() != own.as_deref() {
        let why = "Requests of web pages are not answered";
        return Err(rejection(StatusCode::FORBIDDEN, why));
    }
    Ok(())
}

/// The requested host. HTTP/1.0 requests may have none.
fn host_of<B>(request: &Request<B>) -> Result<Option<&str>, Rejection> {
    let mut hosts = request.headers().get_all(HOST).iter();
    let bad = |why: &str| rejection(StatusCode::BAD_REQUEST, why);
    match (hosts.next(), hosts.next()) {
        (None, _) if request.version() == Version::HTTP_11 => Err(bad("The request names no host")),
        (None, _) => Ok(None),
        (Some(host), None) => host.to_str().map(Some).map_err(|_| bad("The host is not text")),
        (Some(_), Some(_)) => Err(bad("The request names several hosts")),
    }
}

/// Whether a name is the server's: its own address, a name of this machine, or an allowed one.
fn is_known(host: &str, reached: Option<IpAddr>, allowed: &[String]) -> bool {
    let name = without_port(host);
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    if let Ok(address) = bare.parse::<IpAddr>() {
        let address = address.to_canonical();
        let is_own = address.is_loopback() || address.is_unspecified() || reached == Some(address);
        return is_own || is_allowed(host, name, allowed);
    }
    name.trim_end_matches('.').eq_ignore_ascii_case("localhost") || is_allowed(host, name, allowed)
}

fn is_allowed(host: &str, name: &str, allowed: &[String]) -> bool {
    let is_it = |own: &String| own.eq_ignore_ascii_case(host) || own.eq_ignore_ascii_case(name);
    allowed.iter().any(is_it)
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        // A colon inside brackets belongs to an IPv6 address.
        Some((name, port)) if !port.contains(']') && !name.is_empty() => name,
        _ => host,
    }
}

/// Whether a request has the right bearer token.
pub fn has_token<B>(request: &Request<B>, token: &Secret) -> bool {
    let given = request.headers().get(AUTHORIZATION).map(HeaderValue::as_bytes);
    let given = given.and_then(|given| given.split_at_checked(b"Bearer ".len()));
    given.is_some_and(|(scheme, given)| {
        scheme.eq_ignore_ascii_case(b"Bearer ")
            && constant_time_eq(given, token.expose().as_bytes())
    })
}

/// Compares in a time that does not depend on where the two differ.
pub fn constant_time_eq(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_anybody_could_own_are_not_known_on_loopback() {
        let reached = Some(IpAddr::from([127, 0, 0, 1]));
        let allowed = ["juror.example".to_owned(), "proxy:8443".to_owned()];
        for host in [
            "localhost",
            "LOCALHOST:80",
            "localhost.",
            "127.0.0.1:8080",
            "127.8.8.8",
            "[::1]",
            "[::1]:8080",
            "[::ffff:127.0.0.1]:1",
            "0.0.0.0:8080",
            "Juror.Example:1",
            "proxy:8443",
        ] {
            assert!(is_known(host, reached, &allowed), "{host}");
        }
        for host in [
            "evil.com",
            "evil.com:8080",
            "localhost.evil.com",
            "127.0.0.1.evil.com",
            "127.0.0.1@evil.com",
            "192.168.1.5",
            "proxy",
            "proxy:80",
            "",
            ":80",
            "[",
            "[::1",
            "a.juror.example",
        ] {
            assert!(!is_known(host, reached, &allowed), "{host}");
        }
        let reached = Some(IpAddr::from([192, 168, 1, 5]));
        assert!(is_known("192.168.1.5:8080", reached, &allowed));
        assert!(!is_known("192.168.1.6:8080", reached, &allowed));
    }
}
