//! Answer files of the public benchmark, one per query. This module only writes them.

use hashbrown::HashSet;
use juror_models::Callable;
use juror_toolbench::answer::{FINISH, SEARCH};
use serde::Serialize;

use super::message_file::{Nulls, Written};
use super::node::{NodeId, Tree};
use super::record::{NodeRecord, TreeRecord, chain, whole};
use super::search::Search;
use super::train::train_messages;

/// An answer file.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum RawAnswer {
    /// Of an agent that goes straight on.
    Chain(ChainAnswer),
    /// Of an agent that goes back and tries something else.
    Tree(TreeAnswer),
}

/// The query, and what answering it took.
#[derive(Clone, Debug, Default)]
pub struct Spent {
    /// The query.
    pub query: String,
    /// How often the model was asked.
    pub n_queries: usize,
    /// The tokens used.
    pub n_tokens: u64,
}

/// The settings of a chain.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ChainArgs {
    /// Maximum steps of a try.
    pub single_chain_max_step: usize,
    /// Maximum number of tries.
    pub pass_at: usize,
    /// How many answers are wanted.
    pub answer: usize,
    /// How often the model may be asked.
    pub max_query_count: usize,
}

/// The settings of a tree search.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TreeArgs {
    /// Maximum steps of a branch.
    pub single_chain_max_step: usize,
    /// Maximum branches of a place.
    pub tree_beam_size: usize,
    /// How often the model may be asked.
    pub max_query_count: usize,
    /// How many answers are wanted.
    pub answer: usize,
    /// Whether to compare branches before following them.
    pub with_filter: bool,
}

/// The result of a chain.
#[derive(Clone, Debug, Serialize)]
pub struct ChainAnswer {
    win: bool,
    try_count: usize,
    trys: Vec<Try>,
    compare_candidates: Vec<Vec<NodeRecord>>,
    forward_args: ChainArgs,
    answer_generation: ChainGeneration,
}

#[derive(Clone, Debug, Serialize)]
struct Try {
    chain: Vec<NodeRecord>,
    /// Whether an earlier try won, as in the public files. None did, since it would have been the
    /// last.
    win: bool,
}

#[derive(Clone, Debug, Serialize)]
struct ChainGeneration {
    valid_data: bool,
    final_answer: String,
    function: Vec<Callable>,
    query_count: usize,
    total_tokens: u64,
    train_messages: Vec<Vec<Written>>,
    chain: [(); 0],
    query: String,
}

/// The result of a tree search.
#[derive(Clone, Debug, Serialize)]
pub struct TreeAnswer {
    win: bool,
    tree: TreeRecord,
    forward_args: TreeArgs,
    compare_candidates: Vec<Vec<NodeRecord>>,
    answer_generation: TreeGeneration,
}

#[derive(Clone, Debug, Serialize)]
struct TreeGeneration {
    valid_data: bool,
    query_count: usize,
    total_tokens: u64,
    final_answer: String,
    finish_type: &'static str,
    function: Vec<Callable>,
    chain: [(); 0],
    #[serde(skip_serializing_if = "Option::is_none")]
    train_messages: Option<Vec<Vec<Written>>>,
    query: String,
}

impl RawAnswer {
    /// Makes the file of a search.
    pub fn of(search: &Search, spent: Spent) -> RawAnswer {
        match search {
            Search::Chain { tries, args } => RawAnswer::of_chain(tries, *args, spent),
            Search::Tree { tree, answers, given_up, args } => {
                RawAnswer::of_tree(tree, answers, given_up, *args, spent)
            }
        }
    }

    fn of_chain(tries: &[(Tree, NodeId)], args: ChainArgs, spent: Spent) -> RawAnswer {
        let won = tries.iter().filter(|(tree, end)| tree.node(*end).is_terminal);
        let won: Vec<&(Tree, NodeId)> = won.collect();
        let first = won.first();
        RawAnswer::Chain(ChainAnswer {
            win: first.is_some(),
            try_count: tries.len(),
            trys: tries
                .iter()
                .map(|(tree, end)| Try { chain: chain(tree, *end), win: false })
                .collect(),
            compare_candidates: won.iter().map(|(tree, end)| chain(tree, *end)).collect(),
            forward_args: args,
            answer_generation: ChainGeneration {
                valid_data: first.is_some(),
                final_answer: first
                    .map(|(tree, end)| tree.node(*end).description.clone())
                    .unwrap_or_default(),
                function: functions(tries.iter().map(|(tree, _)| tree)),
                query_count: spent.n_queries,
                total_tokens: spent.n_tokens,
                train_messages: first
                    .map(|(tree, end)| train_messages(tree, *end, Nulls::Kept))
                    .unwrap_or_default(),
                chain: [],
                query: spent.query,
            },
        })
    }

    fn of_tree(
        tree: &Tree,
        answers: &[NodeId],
        given_up: &[NodeId],
        args: TreeArgs,
        spent: Spent,
    ) -> RawAnswer {
        // The public agents pick one of several given-up branches at random; the first is as good.
        let end = answers.first().or(given_up.first());
        let is_given_up = answers.is_empty() && end.is_some();
        RawAnswer::Tree(TreeAnswer {
            win: !answers.is_empty(),
            tree: whole(tree),
            forward_args: args,
            compare_candidates: answers.iter().map(|end| chain(tree, *end)).collect(),
            answer_generation: TreeGeneration {
                valid_data: end.is_some(),
                query_count: spent.n_queries,
                total_tokens: spent.n_tokens,
                final_answer: end
                    .map(|end| tree.node(*end).description.clone())
                    .unwrap_or_default(),
                finish_type: if is_given_up { "give_up" } else { "give_answer" },
                function: functions([tree]),
                chain: [],
                train_messages: end.map(|end| train_messages(tree, *end, Nulls::LeftOut)),
                query: spent.query,
            },
        })
    }
}

/// Returns all functions that could be called anywhere, with those that come with every query last.
fn functions<'t>(trees: impl IntoIterator<Item = &'t Tree>) -> Vec<Callable> {
    let (mut found, mut own) = (Vec::new(), Vec::new());
    let mut names = HashSet::new();
    let mut last = None;
    for node in trees.into_iter().flat_map(Tree::nodes) {
        let environment = std::sync::Arc::as_ptr(&node.environment);
        if last.replace(environment) == Some(environment) {
            continue;
        }
        for function in node.environment.functions() {
            if names.insert(function.name.clone()) {
                let is_own = matches!(&*function.name, FINISH | SEARCH);
                if is_own { &mut own } else { &mut found }.push(function.clone());
            }
        }
    }
    found.extend(own);
    found
}
