//! What an agent tried for a query, and where that ended.

use super::answer_file::{ChainArgs, TreeArgs};
use super::node::{Node, NodeId, Tree};
use crate::environment::Code;

/// Everything an agent tried for one query.
#[derive(Clone, Debug)]
pub enum Search {
    /// Straight on, and over again if that led nowhere.
    Chain {
        /// The tries, each with the node where it ended.
        tries: Vec<(Tree, NodeId)>,
        /// Its limits.
        args: ChainArgs,
    },
    /// Back to places from which something else could be tried.
    Tree {
        /// Every branch tried.
        tree: Tree,
        /// The nodes where an answer was given.
        answers: Vec<NodeId>,
        /// The nodes where the agent gave up.
        given_up: Vec<NodeId>,
        /// Its limits.
        args: TreeArgs,
    },
}

impl Search {
    /// Returns the node of the first answer.
    pub fn answered(&self) -> Option<(&Tree, NodeId)> {
        match self {
            Search::Chain { tries, .. } => {
                let found = tries.iter().find(|(tree, end)| tree.node(*end).is_terminal);
                found.map(|(tree, end)| (tree, *end))
            }
            Search::Tree { tree, answers, .. } => Some((tree, *answers.first()?)),
        }
    }

    /// Returns the node that counts as the end: that of the first answer, or in a tree the first
    /// where the agent gave up. Returns `None` if the search ran out.
    ///
    /// The public agents pick at random one of the nodes where they gave up; the first is as good.
    pub fn end(&self) -> Option<(&Tree, NodeId)> {
        let given_up = || match self {
            Search::Chain { .. } => None,
            Search::Tree { tree, given_up, .. } => Some((tree, *given_up.first()?)),
        };
        self.answered().or_else(given_up)
    }

    /// Returns whether the agent gave up: in its last try, or anywhere in a tree.
    pub fn has_given_up(&self) -> bool {
        match self {
            Search::Chain { tries, .. } => {
                let last = tries.last().map(|(tree, end)| tree.node(*end));
                last.is_some_and(|node| node.code() == Some(Code::GaveUp))
            }
            Search::Tree { given_up, .. } => !given_up.is_empty(),
        }
    }

    /// Returns the nodes of the first try, or those along the first children of a tree, without the
    /// root.
    pub(super) fn oldest_way(&self) -> Vec<&Node> {
        match self {
            Search::Chain { tries, .. } => match tries.first() {
                Some((tree, end)) => tree.path(*end).into_iter().map(|id| tree.node(id)).collect(),
                None => Vec::new(),
            },
            Search::Tree { tree, .. } => {
                let first_child = |node: &&Node| node.children.first().map(|id| tree.node(*id));
                std::iter::successors(Some(tree.node(Tree::ROOT)), first_child).skip(1).collect()
            }
        }
    }
}
