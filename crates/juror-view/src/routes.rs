//! Which request gets which page.

use std::net::IpAddr;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::{HeaderValue, ORIGIN, WWW_AUTHENTICATE};
use hyper::{Method, Request, StatusCode};
use juror_serve::access::{Rejection, check_host};
use juror_serve::url_parts::{decoded, field};

use crate::message_page::{Message, not_found};
use crate::reply::{self, Reply};
use crate::request_body::read_form;
use crate::viewer::Viewer;

/// Where the viewer says that it is up. It says nothing of its runs, so nobody needs the token.
const HEALTH: &str = "/health";

impl Viewer {
    pub(crate) async fn answer(
        self: Arc<Viewer>,
        request: Request<Incoming>,
        reached: Option<IpAddr>,
    ) -> Reply {
        match self.check(&request, reached) {
            Ok(()) => self.route(request).await,
            Err(refusal) => *refusal,
        }
    }

    /// Refuses requests of other sites' pages, and those without the token.
    fn check(
        &self,
        request: &Request<Incoming>,
        reached: Option<IpAddr>,
    ) -> Result<(), Box<Reply>> {
        let refused = |why: &str, status| Box::new(Message::new("Refused", why).reply(status));
        check_host(request, reached, &self.allowed_hosts)
            .map_err(|Rejection { status, why }| refused(&why, status))?;
        if request.uri().path() != HEALTH {
            self.check_token(request)?;
        }
        // Browsers say where a form comes from; whatever does not say it is no form of ours.
        let is_reading = matches!(*request.method(), Method::GET | Method::HEAD);
        if !is_reading && !request.headers().contains_key(ORIGIN) {
            let why = "Only this server's own pages can send anything";
            return Err(refused(why, StatusCode::FORBIDDEN));
        }
        Ok(())
    }

    fn check_token(&self, request: &Request<Incoming>) -> Result<(), Box<Reply>> {
        let Some(token) = &self.token else { return Ok(()) };
        let query = request.uri().query().unwrap_or_default();
        let given = field(query, "token").filter(|_| request.uri().path() == "/");
        // The token does not stay in the address, where it would be seen and kept.
        if given.is_some_and(|given| token.is(&given)) {
            return Err(Box::new(reply::see_other("/", Some(&token.cookie()))));
        }
        if token.is_in(request) {
            return Ok(());
        }
        let why = "a token is needed\n  hint: open /?token=… once, with the token of --token";
        let mut reply = Message::new("Refused", why).reply(StatusCode::UNAUTHORIZED);
        reply.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        Err(Box::new(reply))
    }

    async fn route(self: Arc<Viewer>, request: Request<Incoming>) -> Reply {
        let query = request.uri().query().unwrap_or_default().to_owned();
        let parts: Option<Vec<String>> =
            request.uri().path().split('/').skip(1).map(decoded).collect();
        let Some(parts) = parts else { return not_found("there is no such page") };
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let is_reading = matches!(*request.method(), Method::GET | Method::HEAD);
        match parts[..] {
            [""] if is_reading => self.aside(Viewer::list).await,
            ["health"] if is_reading => reply::health(),
            ["events"] if is_reading => self.events(),
            ["run", id] if is_reading => {
                let id = id.to_owned();
                self.aside(move |viewer| viewer.report(&id)).await
            }
            ["compare"] if is_reading => self.aside(move |viewer| viewer.comparison(&query)).await,
            ["history"] if is_reading => self.aside(move |viewer| viewer.history(&query)).await,
            ["label", id] if is_reading => {
                let id = id.to_owned();
                self.aside(move |viewer| viewer.label_page(&id, &query)).await
            }
            ["label", id] if *request.method() == Method::POST => {
                let id = id.to_owned();
                match read_form(request).await {
                    Ok(form) => self.aside(move |viewer| viewer.label(&id, &form)).await,
                    Err(refusal) => *refusal,
                }
            }
            ["" | "health" | "events" | "compare" | "history"] | ["run" | "label", _] => {
                Message::new("Refused", "This page does not take that")
                    .reply(StatusCode::METHOD_NOT_ALLOWED)
            }
            _ => not_found("there is no such page"),
        }
    }

    /// Makes a reply on a thread that may wait for files.
    async fn aside(
        self: &Arc<Viewer>,
        work: impl FnOnce(&Viewer) -> Reply + Send + 'static,
    ) -> Reply {
        let viewer = self.clone();
        let made = tokio::task::spawn_blocking(move || work(&viewer)).await;
        made.unwrap_or_else(|_| {
            let why = "This cannot be shown: this is a bug in Juror";
            Message::new("Error", why).reply(StatusCode::INTERNAL_SERVER_ERROR)
        })
    }
}
