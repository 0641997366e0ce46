//! The token that requests have to bring.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hyper::Request;
use hyper::header::COOKIE;
use juror_models::Secret;
use juror_serve::access::{constant_time_eq, has_token};
use sha2::{Digest, Sha256};

const COOKIE_NAME: &str = "juror_view";

/// A token, and the cookie that stands for it.
pub(crate) struct Token {
    secret: Secret,
    cookie: String,
}

impl Token {
    pub(crate) fn new(secret: Secret) -> Token {
        // A hash, because a token may have characters that cookies cannot.
        let cookie = URL_SAFE_NO_PAD.encode(Sha256::digest(secret.expose().as_bytes()));
        Token { secret, cookie }
    }

    /// Whether a text is the token.
    pub(crate) fn is(&self, text: &str) -> bool {
        constant_time_eq(text.as_bytes(), self.secret.expose().as_bytes())
    }

    /// Whether a request brings the token, as a bearer or by its cookie.
    pub(crate) fn is_in<B>(&self, request: &Request<B>) -> bool {
        has_token(request, &self.secret) || self.is_in_cookies(request)
    }

    fn is_in_cookies<B>(&self, request: &Request<B>) -> bool {
        let cookies = request.headers().get_all(COOKIE).iter();
        let mut pairs = cookies
            .filter_map(|cookies| cookies.to_str().ok())
            .flat_map(|cookies| cookies.split(';'))
            .filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(name, value)| {
            name == COOKIE_NAME && constant_time_eq(value.as_bytes(), self.cookie.as_bytes())
        })
    }

    /// The cookie for browsers that brought the token. No script sees it, and no other site's page
    /// makes browsers send it.
    pub(crate) fn cookie(&self) -> String {
        format!("{COOKIE_NAME}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_brought_as_a_bearer_or_by_its_cookie() {
        let token = Token::new(Secret::new("s3;cret"));
        let brings = |name: &str, value: &str| {
            let request = Request::builder().header(name, value).body(()).expect("a request");
            token.is_in(&request)
        };
        let own = token.cookie().split(';').next().expect("a pair").to_owned();
        assert!(brings("authorization", "Bearer s3;cret"));
        assert!(brings("cookie", &own) && brings("cookie", &format!("a=b; {own}; c")));
        for wrong in ["juror_view=s3;cret", "juror_view=", "other=1", &own[..own.len() - 1]] {
            assert!(!brings("cookie", wrong), "{wrong}");
        }
        assert!(token.is("s3;cret") && !token.is("s3;cres") && !token.is(""));
    }
}
