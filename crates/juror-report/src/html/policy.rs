//! What pages may do, as content security policies say it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::page::{SCRIPT, STYLE};

/// The script of the viewer's own pages, built from `web/`.
pub const VIEW_SCRIPT: &str = include_str!("../../assets/view.js");

/// The style sheet of the viewer's own pages: that of reports, and a little more.
pub const VIEW_STYLE: &str =
    concat!(include_str!("../../assets/report.css"), include_str!("../../assets/view.css"));

/// The hash by which a content security policy knows a script or a style sheet.
pub(super) fn policy_hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

fn policy(script: &str, style: &str, rest: &str) -> String {
    let (script, style) = (policy_hash(script), policy_hash(style));
    format!(
        "default-src 'none'; script-src '{script}'; style-src '{style}'; img-src data:; \
         base-uri 'none'; frame-ancestors 'none'; {rest}"
    )
}

/// The policy of a report that a server sends: it makes no request and submits nothing.
pub fn page_policy() -> String {
    policy(SCRIPT, STYLE, "form-action 'none'")
}

/// The policy of the viewer's own pages, which talk to their own server and nobody else.
pub fn view_policy() -> String {
    policy(VIEW_SCRIPT, VIEW_STYLE, "connect-src 'self'; form-action 'self'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_allowed_but_what_is_named_by_its_hash() {
        for policy in [page_policy(), view_policy()] {
            assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
            assert!(!policy.contains("unsafe") && !policy.contains('*'), "{policy}");
        }
        assert!(!page_policy().contains("connect-src"));
    }
}
