//! What an agent tried for a query, and where that ended.

use super::answer_file::{ChainArgs, TreeArgs};
use super::node::{Node, NodeId, Tree};
use crate::environment::Code;

/// Everything that an agent tried for one query.
#[derive(Clone, Debug)]
pub enum Search {
    /// Straight on, and from the beginning again if that led nowhere.
    Chain {
        /// The tries, each with the place where it ended.
        tries: Vec<(Tree, NodeId)>,
        /// How far it was allowed to go.
        args: ChainArgs,
    },
    /// Back to places from which something else could be tried.
    Tree {
        /// Every way that was tried.
        tree: Tree,
        /// The places where an answer was given.
        answers: Vec<NodeId>,
        /// The places where the agent gave up.
        given_up: Vec<NodeId>,
        /// How far it was allowed to go.
        args: TreeArgs,
    },
}

impl Search {
    /// The place of the first answer.
    pub fn answered(&self) -> Option<(&Tree, NodeId)> {
        match self {
            Search::Chain { tries, .. } => {
                let found = tries.iter().find(|(tree, end)| tree.node(*end).is_terminal);
                found.map(|(tree, end)| (tree, *end))
            }
            Search::Tree { tree, answers, .. } => Some((tree, *answers.first()?)),
        }
    }

    /// The place that counts as the end: of the first answer, or in a tree the first where the agent
    /// gave up. `None` if the search ran out.
    ///
    /// The public agents draw one of the places where they gave up; the first is as good.
    pub fn end(&self) -> Option<(&Tree, NodeId)> {
        let given_up = || match self {
            Search::Chain { .. } => None,
            Search::Tree { tree, given_up, .. } => Some((tree, *given_up.first()?)),
        };
        self.answered().or_else(given_up)
    }

    /// Whether the agent gave up: in its last try, or anywhere in a tree.
    pub fn has_given_up(&self) -> bool {
        match self {
            Search::Chain { tries, .. } => {
                let last = tries.last().map(|(tree, end)| tree.node(*end));
                last.is_some_and(|node| node.code() == Some(Code::GaveUp))
            }
            Search::Tree { given_up, .. } => !given_up.is_empty(),
        }
    }

    /// The nodes of the first try, or those along the first children of a tree; without the root.
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
