//! A browser, and what tests do with it.

use std::fmt::Debug;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fantoccini::actions::{InputSource as _, KeyAction, KeyActions};
use fantoccini::wd::{Capabilities, TimeoutConfiguration};
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use url::Url;

use crate::driver::{Driver, is_installed};
use crate::key::Key;
use crate::log::{Own, addresses, texts};
use crate::scene::Scene;

/// The browser asks nobody for anything by itself.
const FLAGS: [&str; 7] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
];

/// How long a condition may take to come true on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// A headless browser with an empty profile. It ends with this value.
pub struct Browser {
    runtime: Runtime,
    client: Option<Client>,
    _driver: Driver,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts a browser. Where none is installed, says so and returns nothing.
    pub fn start() -> Option<Browser> {
        is_installed().then(|| must(Browser::launch()))
    }

    fn launch() -> anyhow::Result<Browser> {
        let driver = Driver::start()?;
        let profile = tempfile::tempdir()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let capabilities = capabilities(profile.path());
        let client = runtime.block_on(async {
            let mut builder = ClientBuilder::new(HttpConnector::new());
            let client = builder.capabilities(capabilities).connect(&driver.address).await?;
            let patience = Some(PATIENCE);
            client.update_timeouts(TimeoutConfiguration::new(patience, patience, None)).await?;
            anyhow::Ok(client)
        });
        let client = Some(client.context("the browser does not start")?);
        let browser = Browser { runtime, client, _driver: driver, _profile: profile };
        browser.show_on(Scene::DESK);
        Ok(browser)
    }

    fn client(&self) -> &Client {
        self.client.as_ref().expect("it is taken only at the end")
    }

    /// Waits for a command.
    fn wait_for<T, E: Debug>(&self, command: impl Future<Output = Result<T, E>>) -> T {
        must(self.runtime.block_on(command))
    }

    /// Opens a file, at a place that a fragment such as `#/?show=wrong` names.
    pub fn open(&self, file: &Path, fragment: &str) {
        let file = must(fs::canonicalize(file));
        let mut address = must(Url::from_file_path(file));
        address.set_fragment(fragment.strip_prefix('#'));
        // From another page, because a page is not opened again for another fragment.
        self.wait_for(self.client().goto("about:blank"));
        self.wait_for(self.client().goto(address.as_str()));
    }

    /// Opens an address.
    pub fn visit(&self, address: &str) {
        self.wait_for(self.client().goto(address));
    }

    /// Sets the screen and the settings that pages meet from now on.
    pub fn show_on(&self, scene: Scene) {
        for (name, parameters) in scene.commands() {
            self.devtools(name, &parameters);
        }
    }

    /// Lets pages that are opened from now on run scripts, or not.
    pub fn let_scripts_run(&self, are_run: bool) {
        self.devtools("Emulation.setScriptExecutionDisabled", &json!({"value": !are_run}));
    }

    /// Runs a function body in the page and returns what it returns.
    pub fn run(&self, script: &str, arguments: &[Value]) -> Value {
        self.wait_for(self.client().execute(script, arguments.to_vec()))
    }

    /// Runs the body of an asynchronous function in the page and returns what it returns.
    pub fn run_to_end(&self, script: &str, arguments: &[Value]) -> Value {
        let script = format!(
            "const done = arguments[arguments.length - 1];\n\
             (async function () {{ {script} }})(...arguments).then(done, (error) => done({{error: String(error)}}));"
        );
        self.wait_for(self.client().execute_async(&script, arguments.to_vec()))
    }

    /// The value of an expression in the page.
    pub fn value(&self, expression: &str) -> Value {
        self.run(&format!("return ({expression});"), &[])
    }

    /// Waits until an expression is true in the page, looking at every frame.
    pub fn wait(&self, condition: &str) {
        let script = format!(
            "const done = arguments[arguments.length - 1];\n\
             const look = () => {{ if ({condition}) done(true); else requestAnimationFrame(look); }};\n\
             look();"
        );
        let waited = self.client().execute_async(&script, Vec::new());
        if let Err(error) = self.runtime.block_on(waited) {
            panic!("never true: {condition}\n  at {}\n{error}", self.fragment());
        }
    }

    /// Waits until an expression is true, whichever page is there by then: what a page is asked is
    /// lost when another one takes its place.
    pub fn wait_over_pages(&self, condition: &str) {
        let script = format!("return Boolean({condition});");
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            // A page that is just being left does not answer.
            let told = self.runtime.block_on(self.client().execute(&script, Vec::new()));
            if told.is_ok_and(|told| told == true) {
                return;
            }
        }
        panic!("never true: {condition}");
    }

    /// The text of every element of a selector, as it is in the document.
    pub fn texts(&self, selector: &str) -> Vec<String> {
        let script = "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent.trim());";
        let texts = self.run(script, &[selector.into()]);
        must(serde_json::from_value(texts))
    }

    /// The text of the first element of a selector.
    pub fn text(&self, selector: &str) -> String {
        let texts = self.texts(selector);
        texts.into_iter().next().unwrap_or_else(|| panic!("nothing is `{selector}`"))
    }

    /// How many elements a selector has.
    pub fn count(&self, selector: &str) -> usize {
        self.texts(selector).len()
    }

    /// Clicks on the first element of a selector, as a person does: it must be there to click on.
    pub fn click(&self, selector: &str) {
        let element = self.wait_for(self.client().find(Locator::Css(selector)));
        // The driver would scroll no further than to the edge, which titles that stay may cover.
        let script = "document.querySelector(arguments[0]).scrollIntoView({ block: 'center' });";
        self.run(script, &[selector.into()]);
        self.wait_for(element.click());
    }

    /// Chooses an option of a select element by its text.
    pub fn choose(&self, selector: &str, option: &str) {
        let element = self.wait_for(self.client().find(Locator::Css(selector)));
        self.wait_for(element.select_by_label(option));
    }

    /// Presses keys one by one, wherever the focus is.
    pub fn press(&self, characters: &str) {
        let mut keys = KeyActions::new("keyboard".into());
        for value in characters.chars() {
            keys = keys.then(KeyAction::Down { value }).then(KeyAction::Up { value });
        }
        self.wait_for(self.client().perform_actions(keys));
    }

    /// Presses a key that has no character.
    pub fn press_key(&self, key: Key) {
        self.press(&key.character().to_string());
    }

    /// The fragment of the address, with its sign; empty if it has none.
    pub fn fragment(&self) -> String {
        let address = self.wait_for(self.client().current_url());
        address.fragment().map_or(String::new(), |fragment| format!("#{fragment}"))
    }

    /// Goes back in the history.
    pub fn back(&self) {
        self.wait_for(self.client().back());
    }

    /// Goes forward in the history.
    pub fn forward(&self) {
        self.wait_for(self.client().forward());
    }

    /// What the console got since this was last asked.
    pub fn messages(&self) -> Vec<String> {
        texts(&self.wait_for(self.client().issue_cmd(Own::log("browser"))))
    }

    /// The addresses that pages asked for since this was last asked.
    pub fn requests(&self) -> Vec<String> {
        addresses(&self.wait_for(self.client().issue_cmd(Own::log("performance"))))
    }

    /// Gives a command of the browser's own protocol.
    pub fn devtools(&self, name: &str, parameters: &Value) -> Value {
        self.wait_for(self.client().issue_cmd(Own::devtools(name, parameters)))
    }

    /// Writes a picture of the whole page, in PNG.
    pub fn picture(&self, file: &Path) {
        let parameters = json!({"format": "png", "captureBeyondViewport": true});
        let picture = self.devtools("Page.captureScreenshot", &parameters);
        let bytes = must(STANDARD.decode(picture["data"].as_str().unwrap_or_default()));
        must(fs::write(file, bytes));
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            // Ends the browser; a test that failed has said more already.
            let _ = self.runtime.block_on(client.close());
        }
    }
}

fn capabilities(profile: &Path) -> Capabilities {
    let mut flags: Vec<String> = FLAGS.iter().map(ToString::to_string).collect();
    flags.push(format!("--user-data-dir={}", profile.display()));
    let capabilities = json!({
        "goog:chromeOptions": {"args": flags},
        "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
    });
    must(serde_json::from_value(capabilities))
}

/// What a test cannot do without.
fn must<T, E: Debug>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("the browser fails: {error:?}"))
}
