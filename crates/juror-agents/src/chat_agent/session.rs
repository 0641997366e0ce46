//! One query in progress: what all methods have in common.

use std::sync::Arc;

use juror_models::{Call, Said};

use super::ChatAgent;
use super::agent_model::{Ask, AskError, Model, Stopped};
use super::agent_tools::Tools;
use super::transcript::{Ending, MadeCall, Transcript};
use crate::environment::{Code, Environment, Observation, Step, final_answer};
use crate::tree::{NodeId, Search, Tree};
use crate::written_calls::{WrittenCalls, written_calls};

/// More calls than this in one reply are a mistake rather than a plan; the rest is dropped.
const MOST_CALLS: usize = 128;

/// One query in progress.
pub(super) struct Session<'s> {
    pub(super) agent: &'s ChatAgent,
    query: &'s str,
    environment: Arc<Environment>,
    model: &'s dyn Model,
    tools: &'s dyn Tools,
    n_queries: usize,
    n_tokens: u64,
    calls: Vec<MadeCall>,
    failures: Vec<String>,
    n_written_calls: usize,
    /// How many replies in a row called nothing; `None` once any reply has called something.
    n_idle: Option<usize>,
    is_idle: bool,
}

impl<'s> Session<'s> {
    pub(super) fn new(
        agent: &'s ChatAgent,
        query: &'s str,
        environment: Arc<Environment>,
        model: &'s dyn Model,
        tools: &'s dyn Tools,
    ) -> Session<'s> {
        let (calls, failures) = (Vec::new(), Vec::new());
        Session {
            agent,
            query,
            environment,
            model,
            tools,
            n_queries: 0,
            n_tokens: 0,
            calls,
            failures,
            n_written_calls: 0,
            n_idle: Some(0),
            is_idle: false,
        }
    }

    /// Creates a tree to begin with.
    pub(super) fn tree(&self) -> Tree {
        Tree::new(&self.agent.prompts, Arc::clone(&self.environment), self.query)
    }

    /// Returns whether the model may not be asked again.
    pub(super) fn is_spent(&self) -> bool {
        self.n_queries >= self.agent.limits.max_queries || self.never_calls()
    }

    /// Returns whether the model was asked several times and never called anything.
    pub(super) fn never_calls(&self) -> bool {
        self.n_idle.is_some_and(|n| n >= self.agent.limits.max_idle)
    }

    /// Returns whether a branch may not continue.
    pub(super) fn is_long(&self, tree: &Tree, at: NodeId) -> bool {
        let limits = self.agent.limits;
        tree.n_steps(at) >= limits.max_steps || tree.node(at).n_idle >= limits.max_idle
    }

    /// Asks the model what to do at a node; the inner error says why it did not reply.
    pub(super) async fn ask(
        &mut self,
        tree: &Tree,
        at: NodeId,
    ) -> Result<Result<Said, String>, Stopped> {
        let node = tree.node(at);
        let ask = Ask { messages: &node.messages, environment: &node.environment };
        let reply = self.model.ask(ask).await;
        if let Err(AskError::Stopped(stopped)) = reply {
            return Err(stopped);
        }
        self.n_queries += 1;
        Ok(match reply {
            Ok(reply) => {
                self.n_tokens += reply.n_tokens;
                Ok(reply.said)
            }
            Err(why) => {
                self.failures.push(why.to_string());
                Err(why.to_string())
            }
        })
    }

    /// Follows a reply and returns the node it leads to.
    pub(super) async fn follow(
        &mut self,
        tree: &mut Tree,
        from: NodeId,
        reply: Result<Said, String>,
    ) -> NodeId {
        match reply {
            Ok(said) => self.act(tree, from, said).await,
            Err(why) => {
                let at = tree.fail(from, &why);
                tree.record(&Said { content: Some(why), ..Said::default() }, &[], at);
                at
            }
        }
    }

    /// Makes the calls in order, and stops after one that ends the try.
    async fn act(&mut self, tree: &mut Tree, from: NodeId, mut said: Said) -> NodeId {
        if said.calls.is_empty() {
            self.read_written(&tree.node(from).environment, &mut said);
        }
        said.calls.truncate(MOST_CALLS);
        let mut at = match &said.content {
            Some(words) => tree.think(from, words),
            None => from,
        };
        if said.calls.is_empty() {
            let node = tree.node_mut(at);
            node.n_empty += usize::from(said.content.is_none());
            node.n_idle += 1;
            self.n_idle = self.n_idle.map(|n| n + 1);
            self.is_idle = node.n_idle >= self.agent.limits.max_idle;
        } else {
            (self.n_idle, self.is_idle) = (None, false);
        }
        let mut places = Vec::with_capacity(said.calls.len());
        for call in &said.calls {
            let mut environment = Arc::clone(&tree.node(at).environment);
            let observation = self.step(&mut environment, call).await;
            let is_end = matches!(observation.code, Code::Answered | Code::GaveUp);
            at = tree.act(at, call, observation, environment);
            places.push(at);
            if is_end {
                break;
            }
        }
        tree.record(&said, &places, at);
        at
    }

    /// Takes calls from a model's text if it made none.
    fn read_written(&mut self, environment: &Environment, said: &mut Said) {
        let Some(text) = &said.content else { return };
        let WrittenCalls { before, calls } = written_calls(text, |name| environment.knows(name));
        if calls.is_empty() {
            return;
        }
        said.content = Some(before).filter(|before| !before.is_empty());
        // The provider's data for a reply without calls does not fit one with calls.
        said.provider.clear();
        for (name, arguments) in calls {
            self.n_written_calls += 1;
            // Nine letters and digits: some servers accept nothing else.
            let id = format!("text{:05}", self.n_written_calls);
            said.calls.push(Call { id, name, arguments });
        }
    }

    async fn step(&mut self, environment: &mut Arc<Environment>, call: &Call) -> Observation {
        match environment.step(&call.name, &call.arguments) {
            Step::Told(observation) => observation,
            Step::Call(call) => {
                let observation = environment.observe(&self.tools.call(&call).await);
                let (target, arguments) = (call.target, call.arguments);
                self.calls.push(MadeCall { target, arguments, code: observation.code });
                observation
            }
            Step::Search(search) => match self.tools.search(&search).await {
                Ok(found) => {
                    let offers: Vec<_> = found.iter().map(|offer| offer.as_offer()).collect();
                    Arc::make_mut(environment).find(&offers)
                }
                Err(why) => environment.find_failed(&why),
            },
        }
    }

    /// Makes the transcript when the search is over.
    pub(super) fn finish(self, search: Search) -> Transcript {
        let arguments = search.answered().map(|(tree, end)| &*tree.node(end).description);
        let ending = match (arguments, self.failures.last()) {
            (Some(arguments), _) => Ending::Answered(final_answer(arguments).unwrap_or_default()),
            (None, _) if search.has_given_up() => Ending::GaveUp,
            (None, Some(why)) => Ending::Failed(why.clone()),
            (None, None) => Ending::RanOut,
        };
        Transcript {
            query: self.query.to_owned(),
            is_idle: self.is_idle && ending == Ending::RanOut,
            search,
            ending,
            calls: self.calls,
            n_queries: self.n_queries,
            n_tokens: self.n_tokens,
            n_written_calls: self.n_written_calls,
            failures: self.failures,
        }
    }
}
