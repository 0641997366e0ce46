//! The tree of what an agent tried.

use std::sync::Arc;

use juror_models::{Call, Message, Said};

use super::prompts::{Candidate, Prompts};
use crate::environment::{Code, Environment, Observation};

/// Replaces the name of a function that does not exist when the model is shown its call again.
pub const INVENTED: &str = "invalid_hallucination_function_name";

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Thought,
    /// The name of a function.
    Action,
    /// The arguments of a call, and its result.
    ActionInput,
}

/// A place in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeId(usize);

/// A thought, the name of a function, or its arguments.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its kind.
    pub kind: Kind,
    /// The text, the name or the arguments.
    pub description: String,
    /// The result of a call; `None` for other nodes and for the root.
    pub observation: Option<Observation>,
    /// Whether an answer was given here.
    pub is_terminal: bool,
    /// Whether nothing more is tried from here.
    pub is_pruned: bool,
    /// Whether an answer was given here or not far below.
    pub is_finished: bool,
    /// The distance from the root.
    pub depth: usize,
    /// Its place in the order of visits.
    pub expand_num: usize,
    /// How often the model said nothing, here and above.
    pub n_empty: usize,
    /// How many replies in a row, up to here, called nothing.
    pub n_idle: usize,
    /// The conversation up to here.
    pub messages: Vec<Arc<Message>>,
    /// What can be called from here.
    pub environment: Arc<Environment>,
    pub(super) parent: Option<NodeId>,
    pub(super) children: Vec<NodeId>,
}

/// Nodes below a root.
#[derive(Clone, Debug)]
pub struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    /// Creates a root with the task, the query and the functions.
    pub fn new(prompts: &Prompts, environment: Arc<Environment>, query: &str) -> Tree {
        let messages = vec![
            Arc::new(Message::System(prompts.system(environment.task()))),
            Arc::new(Message::user(prompts.user(query))),
        ];
        Tree { nodes: vec![Node::new(Kind::ActionInput, String::new(), messages, environment)] }
    }

    /// The root.
    pub const ROOT: NodeId = NodeId(0);

    /// Returns a node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0]
    }

    /// Returns a node to change.
    pub fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.0]
    }

    /// Returns all nodes, in order of creation.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns how many steps lead to a node, including those in which the model said nothing.
    pub fn n_steps(&self, id: NodeId) -> usize {
        self.node(id).depth + self.node(id).n_empty
    }

    /// Adds text below a node.
    pub fn think(&mut self, parent: NodeId, words: &str) -> NodeId {
        self.add(parent, Kind::Thought, words)
    }

    /// Adds text that says why the model did not reply.
    pub fn fail(&mut self, parent: NodeId, why: &str) -> NodeId {
        let id = self.think(parent, why);
        let node = self.node_mut(id);
        node.observation = Some(Observation { text: String::new(), code: Code::ModelFailed });
        node.is_pruned = true;
        id
    }

    /// Adds a call and its result: the function's name, and below it the arguments.
    pub fn act(
        &mut self,
        parent: NodeId,
        call: &Call,
        observation: Observation,
        environment: Arc<Environment>,
    ) -> NodeId {
        let action = self.add(parent, Kind::Action, &call.name);
        let id = self.add(action, Kind::ActionInput, &call.arguments);
        let node = self.node_mut(id);
        node.is_terminal = observation.code == Code::Answered;
        node.is_pruned = observation.code == Code::GaveUp;
        node.observation = Some(observation);
        node.environment = environment;
        node.n_idle = 0;
        id
    }

    fn add(&mut self, parent: NodeId, kind: Kind, description: &str) -> NodeId {
        let id = NodeId(self.nodes.len());
        let above = self.node(parent);
        let (messages, environment) = (above.messages.clone(), Arc::clone(&above.environment));
        let mut node = Node::new(kind, description.to_owned(), messages, environment);
        node.depth = above.depth + 1;
        node.n_empty = above.n_empty;
        node.n_idle = above.n_idle;
        node.parent = Some(parent);
        self.nodes.push(node);
        self.node_mut(parent).children.push(id);
        id
    }

    /// Adds a reply and the results of its calls to the messages of the nodes made from it. `calls`
    /// are the nodes of the arguments; without calls, `last` is the node of the text.
    ///
    /// Names of functions that do not exist are not shown again.
    pub fn record(&mut self, said: &Said, calls: &[NodeId], last: NodeId) {
        let mut shown = said.clone();
        for (call, id) in shown.calls.iter_mut().zip(calls) {
            if self.node(*id).code() == Some(Code::InventedName) {
                INVENTED.clone_into(&mut call.name);
            }
        }
        let tools: Vec<Arc<Message>> = shown
            .calls
            .iter()
            .zip(calls)
            .map(|(call, id)| {
                let content = self.node(*id).observed().to_owned();
                let (name, call_id) = (call.name.clone(), call.id.clone());
                Arc::new(Message::Tool { name, content, call_id })
            })
            .collect();
        let message = Arc::new(Message::Assistant(shown));
        if calls.is_empty() {
            self.node_mut(last).messages.push(message);
            return;
        }
        for (index, id) in calls.iter().enumerate() {
            let messages = &mut self.node_mut(*id).messages;
            messages.push(Arc::clone(&message));
            messages.extend(tools[..=index].iter().cloned());
        }
    }

    /// Asks for something other than what was tried here before. Returns `false` if nothing was.
    pub fn ask_for_another(&mut self, id: NodeId, prompts: &Prompts) -> bool {
        let node = self.node(id);
        let candidates: Vec<Candidate<'_>> =
            node.children.iter().filter_map(|child| self.candidate(*child)).collect();
        if candidates.is_empty() {
            return false;
        }
        let content = prompts.again(&candidates, node.observed());
        self.node_mut(id).messages.push(Arc::new(Message::user(content)));
        true
    }

    /// Returns the first call at or below a node, following first children only.
    fn candidate(&self, id: NodeId) -> Option<Candidate<'_>> {
        let mut node = self.node(id);
        let mut name = "";
        while node.kind != Kind::ActionInput {
            name = &node.description;
            node = self.node(*node.children.first()?);
        }
        Some(Candidate { name, arguments: &node.description, observation: node.observed() })
    }

    /// Withdraws the last question at a node: its descendants have it on record, but the model does
    /// not see it.
    pub fn take_question_back(&mut self, id: NodeId) {
        if let Some(last) = self.node_mut(id).messages.last_mut()
            && let Message::User { content, .. } = &**last
        {
            *last = Arc::new(Message::User { content: content.clone(), is_valid: false });
        }
    }

    /// Marks a node and its ancestors as finished, up to and including `n_calls` further calls.
    pub fn finish(&mut self, id: NodeId, mut n_calls: usize) {
        let mut at = Some(id);
        while let Some(id) = at {
            let node = self.node_mut(id);
            node.is_finished = true;
            let is_call = node.kind == Kind::ActionInput;
            at = node.parent.filter(|_| !is_call || n_calls > 0);
            n_calls = n_calls.saturating_sub(usize::from(is_call));
        }
    }

    /// Returns the nodes from below the root to a node.
    pub fn path(&self, id: NodeId) -> Vec<NodeId> {
        let parents = std::iter::successors(Some(id), |id| self.node(*id).parent);
        let mut path: Vec<NodeId> = parents.take_while(|id| *id != Tree::ROOT).collect();
        path.reverse();
        path
    }
}

impl Node {
    fn new(
        kind: Kind,
        description: String,
        messages: Vec<Arc<Message>>,
        environment: Arc<Environment>,
    ) -> Node {
        Node {
            kind,
            description,
            observation: None,
            is_terminal: false,
            is_pruned: false,
            is_finished: false,
            depth: 0,
            expand_num: 0,
            n_empty: 0,
            n_idle: 0,
            messages,
            environment,
            parent: None,
            children: Vec::new(),
        }
    }

    /// Returns the result of its call.
    pub fn code(&self) -> Option<Code> {
        self.observation.as_ref().map(|observation| observation.code)
    }

    /// Returns what the model was told about its call.
    pub fn observed(&self) -> &str {
        self.observation.as_ref().map_or("", |observation| &observation.text)
    }

    /// Returns whether something was tried from here.
    pub fn has_children(&self) -> bool {
        !self.children.is_empty()
    }
}
