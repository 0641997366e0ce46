//! Commands of `chromedriver` beyond the standard: its logs, and the browser's own protocol.

use fantoccini::wd::WebDriverCompatibleCommand;
use serde_json::{Value, json};

/// A command with a body.
#[derive(Debug)]
pub(crate) struct Own {
    path: &'static str,
    body: Value,
}

impl Own {
    /// Takes what a log got since it was last taken.
    pub(crate) fn log(name: &str) -> Own {
        Own { path: "se/log", body: json!({"type": name}) }
    }

    /// A command of the browser's own protocol.
    pub(crate) fn devtools(name: &str, parameters: &Value) -> Own {
        Own { path: "goog/cdp/execute", body: json!({"cmd": name, "params": parameters}) }
    }
}

impl WebDriverCompatibleCommand for Own {
    fn endpoint(
        &self,
        base: &url::Url,
        session: Option<&str>,
    ) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(self.body.to_string()))
    }
}

/// The text of each entry of a log.
pub(crate) fn texts(log: &Value) -> Vec<String> {
    let entries = log.as_array().into_iter().flatten();
    entries.map(|entry| entry["message"].as_str().unwrap_or_default().to_owned()).collect()
}

/// The addresses that a log of the network says were asked for, without those of the browser's own
/// pages, such as the one that it starts with.
pub(crate) fn addresses(log: &Value) -> Vec<String> {
    let address = |text: String| {
        let message: Value = serde_json::from_str(&text).ok()?;
        let message = &message["message"];
        let is_request = message["method"] == "Network.requestWillBeSent";
        is_request.then(|| message["params"]["request"]["url"].as_str().unwrap_or("?").to_owned())
    };
    let own = ["chrome:", "chrome-untrusted:"];
    let is_own = |address: &String| own.iter().any(|scheme| address.starts_with(scheme));
    texts(log).into_iter().filter_map(address).filter(|address| !is_own(address)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_found_among_other_events() {
        let event = |method: &str, address: &str| {
            let params = json!({"request": {"url": address}});
            let message = json!({"message": {"method": method, "params": params}});
            json!({"level": "INFO", "message": message.to_string()})
        };
        let report = "file:///report.html";
        let log = json!([
            event("Network.requestWillBeSent", "chrome-untrusted://new-tab-page/bar"),
            event("Network.requestWillBeSent", report),
            event("Page.frameNavigated", report),
        ]);
        assert_eq!(addresses(&log), [report]);
    }
}
