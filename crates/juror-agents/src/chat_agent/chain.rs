//! `CoT@n`: go straight on until there is an answer, and start over if there is none.

use super::agent_model::Stopped;
use super::session::Session;
use super::transcript::Transcript;
use crate::tree::{ChainArgs, NodeId, Search, Tree};

/// Tries until a try gives an answer.
pub(super) async fn run(mut session: Session<'_>, n_tries: usize) -> Result<Transcript, Stopped> {
    let mut tries: Vec<(Tree, NodeId)> = Vec::new();
    while tries.len() < n_tries && !session.is_spent() {
        let mut tree = session.tree();
        let end = go_on(&mut session, &mut tree).await?;
        let is_answered = tree.node(end).is_terminal;
        tries.push((tree, end));
        if is_answered {
            break;
        }
    }
    let limits = session.agent.limits;
    let args = ChainArgs {
        single_chain_max_step: limits.max_steps,
        pass_at: n_tries,
        answer: 1,
        max_query_count: limits.max_queries,
    };
    Ok(session.finish(Search::Chain { tries, args }))
}

/// Runs one try and returns where it ends.
async fn go_on(session: &mut Session<'_>, tree: &mut Tree) -> Result<NodeId, Stopped> {
    let mut at = Tree::ROOT;
    loop {
        let reply = session.ask(tree, at).await?;
        at = session.follow(tree, at, reply).await;
        let is_over = session.is_long(tree, at) || session.is_spent();
        let node = tree.node_mut(at);
        node.is_pruned |= is_over && !node.is_terminal;
        if node.is_pruned || node.is_terminal {
            return Ok(at);
        }
    }
}
