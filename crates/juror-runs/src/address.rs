//! Makes addresses safe to show and to store.

use juror_models::looks_like_a_key;

use crate::hidden::{Mask, in_address};

/// The characters that end the part of an address that may hold credentials.
const ENDS: [char; 4] = ['/', '\\', '?', '#'];

/// Removes credentials and trailing slashes from an address, and masks parameters that hold keys.
pub fn without_credentials(address: &str) -> String {
    in_address(address.trim_end_matches('/'), Mask::Stars)
}

/// Removes the user name and password from an address.
pub(crate) fn without_user(address: &str) -> String {
    let Some(parts) = parts(address) else { return address.to_owned() };
    format!("{}://{}{}", parts.scheme, parts.host, parts.path)
}

/// Returns whether an address has a password before its host, or a token in place of a user name.
pub(crate) fn has_password(address: &str) -> bool {
    let user = parts(address).and_then(|parts| parts.user);
    user.is_some_and(|user| match user.split_once(':') {
        Some((name, password)) => !password.is_empty() || looks_like_a_key(name),
        None => looks_like_a_key(user),
    })
}

struct Parts<'a> {
    scheme: &'a str,
    /// A user name, with or without a password.
    user: Option<&'a str>,
    host: &'a str,
    path: &'a str,
}

fn parts(address: &str) -> Option<Parts<'_>> {
    let (scheme, rest) = address.split_once("://")?;
    // HTTP clients ignore extra slashes.
    let rest = rest.trim_start_matches(['/', '\\']);
    let (authority, path) = rest.split_at(rest.find(ENDS).unwrap_or(rest.len()));
    // A password may itself contain an `@`, so the host comes after the last one.
    let (user, host) =
        authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
    Some(Parts { scheme, user, host, path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_name_and_password_and_otherwise_as_it_is() {
        for (address, shown) in [
            ("https://user:p@ss@host/v1", "https://host/v1"),
            ("https://user:pass@host:8080/v1/", "https://host:8080/v1"),
            ("https:///user:pass@host/v1", "https://host/v1"),
            ("https://token@host", "https://host"),
            ("https://user:pass@host?at=a@b", "https://host?at=a@b"),
            ("https://a/v1/@m", "https://a/v1/@m"),
            ("https://a/v1//", "https://a/v1"),
            ("https://a/v1?key=hush&tenant=b", "https://a/v1?key=***&tenant=b"),
            ("http://a?m=@b#@c", "http://a?m=@b#@c"),
        ] {
            assert_eq!(without_credentials(address), shown, "{address}");
        }
    }
}
