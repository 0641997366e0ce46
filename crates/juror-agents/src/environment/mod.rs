//! What an agent sees, and what its calls lead to, one step at a time.
//!
//! An [`Environment`] is a list of functions and the APIs behind them. It decides what a call
//! means; whoever runs the agent calls the tool and hands the reply back:
//!
//! ```
//! use juror_agents::environment::{Environment, Setup, Step, ToolReply};
//! use juror_toolbench::{Offer, read_queries};
//! use juror_document::{Document, Format};
//!
//! let queries = r#"[{"query": "Rain?", "api_list": [
//!     {"category_name": "Weather", "tool_name": "Easy Weather", "api_name": "Current"}]}]"#;
//! let queries = Document::new("queries.json", queries.into(), Format::Json).unwrap();
//! let (queries, _) = read_queries(&queries);
//!
//! let offers: Vec<Offer<'_>> = queries[0].apis.iter().map(Offer::from).collect();
//! let environment = Environment::new(&offers, &Setup::default());
//! let Step::Call(call) = environment.step("current_for_easy_weather", "{}") else { panic!() };
//! assert_eq!((&*call.target.category, &*call.target.standard_api), ("Weather", "current"));
//! let reply = ToolReply::of(r#"{"error":"","response":"dry"}"#.into());
//! assert_eq!(environment.observe(&reply).text, r#"{"error": "", "response": "dry"}"#);
//! ```

mod finish;
mod observation;
mod offered;
mod search;
mod task;

use std::sync::Arc;

use juror_models::Callable;
use juror_toolbench::answer::{FINISH, SEARCH};
use juror_toolbench::{Form, Offer};

pub use finish::final_answer;
pub use observation::{Code, Observation, ToolReply};
pub use offered::Target;
pub use search::{MOST_FOUND, Search, USUAL_FOUND};

use offered::Offered;

/// The default length in characters that observations are cut to.
pub const LONGEST_OBSERVATION: usize = 1024;

/// The settings of an environment.
#[derive(Clone, Debug)]
pub struct Setup {
    /// How to describe functions.
    pub form: Form,
    /// The environment's own texts.
    pub wording: Wording,
    /// Whether the agent may search for further functions.
    pub has_search: bool,
    /// The length in characters that observations are cut to.
    pub longest_observation: usize,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            form: Form::Schema,
            wording: Wording::default(),
            has_search: false,
            longest_observation: LONGEST_OBSERVATION,
        }
    }
}

/// The texts that no tool file provides.
#[derive(Clone, Debug, Default)]
pub struct Wording {
    /// What the agent is to do.
    pub task: String,
    /// Introduces the list of tools.
    pub tools: String,
    /// Replaces the list if it is empty and the agent may search.
    pub no_tools: String,
    /// Describes the function `Finish`.
    pub finish: String,
    /// Describes a final answer.
    pub final_answer: String,
    /// Describes the function `search_tools`.
    pub search: String,
}

/// What to do about a call.
#[derive(Clone, Debug)]
pub enum Step {
    /// Nothing: show the agent this observation.
    Told(Observation),
    /// Call a tool, and give its reply to [`Environment::observe`].
    Call(ToolCall),
    /// Search for functions, and give them to [`Environment::find`].
    Search(Search),
}

/// A call to a tool.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// The API to call.
    pub target: Arc<Target>,
    /// The arguments as the model wrote them: mostly JSON.
    pub arguments: String,
}

/// The functions of an agent, including those found so far.
#[derive(Clone, Debug)]
pub struct Environment {
    offered: Vec<Arc<Offered>>,
    /// The functions that come with every query, at the end of the list.
    own: Vec<Arc<Callable>>,
    task: Arc<str>,
    form: Form,
    longest_observation: usize,
}

impl Environment {
    /// Offers APIs, in order.
    pub fn new(offers: &[Offer<'_>], setup: &Setup) -> Environment {
        let wording = &setup.wording;
        let search = setup.has_search.then(|| search::callable(&wording.search));
        let finish = finish::callable(&wording.finish, &wording.final_answer);
        Environment {
            offered: offered::offer_all(offers, setup.form),
            own: search.into_iter().chain([finish]).map(Arc::new).collect(),
            task: task::describe(wording, offers, setup.has_search).into(),
            form: setup.form,
            longest_observation: setup.longest_observation,
        }
    }

    /// Returns what the agent is to do, and with which tools.
    pub fn task(&self) -> &str {
        &self.task
    }

    /// Returns the functions as a model sees them; `Finish` is the last.
    pub fn functions(&self) -> impl Iterator<Item = &Callable> {
        let offered = self.offered.iter().map(|offered| &offered.callable);
        offered.chain(self.own.iter().map(|own| &**own))
    }

    /// Returns the APIs behind the tool functions, in the same order.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        self.offered.iter().map(|offered| &*offered.target)
    }

    /// Returns whether a function of this name can be called.
    pub fn knows(&self, name: &str) -> bool {
        self.own.iter().any(|own| own.name == name) || offered::find(&self.offered, name).is_some()
    }

    /// Decides what a call means.
    pub fn step(&self, name: &str, arguments: &str) -> Step {
        if name == FINISH {
            return Step::Told(finish::finish(arguments).cut(self.longest_observation));
        }
        if name == SEARCH && self.own.iter().any(|own| own.name == SEARCH) {
            return search::read(arguments)
                .map_or_else(|no| Step::Told(self.cut(no)), Step::Search);
        }
        match offered::find(&self.offered, name) {
            Some(offered) => Step::Call(ToolCall {
                target: Arc::clone(&offered.target),
                arguments: arguments.to_owned(),
            }),
            None => {
                let error = format!("No such function name: {name}");
                Step::Told(self.cut(Observation::error(&error, Code::InventedName)))
            }
        }
    }

    /// Returns what to tell the agent about a tool's reply.
    pub fn observe(&self, reply: &ToolReply) -> Observation {
        self.cut(Observation::of_reply(reply))
    }

    /// Adds functions that were found, and reports their names. A function offered before keeps its
    /// name and is reported again.
    pub fn find(&mut self, offers: &[Offer<'_>]) -> Observation {
        let names: Vec<String> = offers
            .iter()
            .map(|offer| offered::add(&mut self.offered, offer, self.form).callable.name.clone())
            .collect();
        self.cut(search::tell(&names.iter().map(String::as_str).collect::<Vec<&str>>()))
    }

    /// Returns what to tell the agent if the search failed, and why.
    pub fn find_failed(&self, why: &str) -> Observation {
        self.observe(&ToolReply::Failed(why.to_owned()))
    }

    fn cut(&self, observation: Observation) -> Observation {
        observation.cut(self.longest_observation)
    }
}

#[cfg(test)]
mod tests;
