//! Nodes as answer files write them.

use serde::Serialize;

use super::node::{Kind, Node, NodeId, Tree};
use crate::environment::Code;

/// The rating that the public files give every node, since nothing is compared.
const ELO: f64 = 1000.0;

/// A node.
#[derive(Clone, Debug, Serialize)]
pub(super) struct NodeRecord {
    is_terminal: bool,
    pruned: bool,
    finished: bool,
    depth: usize,
    node_type: &'static str,
    description: String,
    #[serde(rename = "Elo")]
    elo: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    observation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observation_code: Option<Code>,
    child_count: usize,
    expand_num: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    io_state: Option<Nothing>,
    #[serde(skip_serializing_if = "Option::is_none")]
    children: Option<Vec<NodeRecord>>,
}

#[derive(Clone, Debug, Serialize)]
struct Nothing {}

/// A tree and its size.
#[derive(Clone, Debug, Serialize)]
pub(super) struct TreeRecord {
    size: usize,
    max_length: usize,
    tree: NodeRecord,
}

impl NodeRecord {
    fn new(node: &Node) -> NodeRecord {
        NodeRecord {
            is_terminal: node.is_terminal,
            pruned: node.is_pruned,
            finished: node.is_finished,
            depth: node.depth,
            node_type: match node.kind {
                Kind::Thought => "Thought",
                Kind::Action => "Action",
                Kind::ActionInput => "Action Input",
            },
            description: node.description.clone(),
            elo: ELO,
            observation: Some(node.observed().to_owned()).filter(|text| !text.is_empty()),
            observation_code: node.code(),
            child_count: node.children.len(),
            expand_num: node.expand_num,
            io_state: (node.kind == Kind::ActionInput).then_some(Nothing {}),
            children: None,
        }
    }

    fn with_children(tree: &Tree, id: NodeId) -> NodeRecord {
        let node = tree.node(id);
        let children = node.children.iter().map(|child| NodeRecord::with_children(tree, *child));
        NodeRecord { children: Some(children.collect()), ..NodeRecord::new(node) }
    }
}

/// Returns the nodes from below the root to a node.
pub(super) fn chain(tree: &Tree, id: NodeId) -> Vec<NodeRecord> {
    tree.path(id).into_iter().map(|id| NodeRecord::new(tree.node(id))).collect()
}

/// Returns all nodes, each inside its parent.
pub(super) fn whole(tree: &Tree) -> TreeRecord {
    let deepest = tree.nodes().iter().map(|node| node.depth).max().unwrap_or_default();
    TreeRecord {
        size: tree.nodes().len(),
        max_length: deepest + 1,
        tree: NodeRecord::with_children(tree, Tree::ROOT),
    }
}
