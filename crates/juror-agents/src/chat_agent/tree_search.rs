//! `DFS_woFilter_wK`: when a branch leads nowhere, go back to a place from which to try another.
//!
//! From each place up to K branches are tried, one after the other. After an answer, or after
//! giving up, the search goes back past the last call, since what led there is likely at fault.

use super::agent_model::Stopped;
use super::session::Session;
use super::transcript::Transcript;
use crate::environment::Code;
use crate::tree::{NodeId, Search, Tree, TreeArgs};

/// How many places to go back after an answer, or after giving up.
const BACK_AFTER_END: usize = 2;

/// How many places to go back when a branch has simply ended.
const BACK_AFTER_WAY: usize = 1;

/// Goes back beyond any place, which ends the search.
const BACK_TO_START: usize = usize::MAX;

/// A place from which branches are being tried.
struct Place {
    node: NodeId,
    n_tried: usize,
}

struct TreeSearch<'s> {
    session: Session<'s>,
    tree: Tree,
    n_looked_at: usize,
    answers: Vec<NodeId>,
    given_up: Vec<NodeId>,
}

/// Searches until there is an answer.
pub(super) async fn run(session: Session<'_>, width: usize) -> Result<Transcript, Stopped> {
    let tree = session.tree();
    let (answers, given_up) = (Vec::new(), Vec::new());
    let mut search = TreeSearch { session, tree, n_looked_at: 0, answers, given_up };
    search.run(width).await?;
    Ok(search.finish(width))
}

impl TreeSearch<'_> {
    async fn run(&mut self, width: usize) -> Result<(), Stopped> {
        let mut open = Vec::new();
        let mut back = self.enter(Tree::ROOT, &mut open);
        while let Some(place) = open.last_mut() {
            if back > 0 {
                // One step back leads to this place, from which another branch may be tried.
                back = if self.answers.is_empty() { back - 1 } else { BACK_TO_START };
                if back > 0 {
                    open.pop();
                    continue;
                }
            }
            if place.n_tried == width {
                open.pop();
                back = BACK_AFTER_WAY;
                continue;
            }
            place.n_tried += 1;
            let node = place.node;
            back = match self.go_on(node).await? {
                Some(next) => self.enter(next, &mut open),
                None => BACK_TO_START,
            };
        }
        Ok(())
    }

    /// Visits a place. Opens it and returns 0, or returns how far to go back if there is nothing to
    /// try from it.
    fn enter(&mut self, at: NodeId, open: &mut Vec<Place>) -> usize {
        let is_long = self.session.is_long(&self.tree, at);
        let node = self.tree.node_mut(at);
        node.expand_num = self.n_looked_at;
        self.n_looked_at += 1;
        if node.is_terminal {
            self.answers.push(at);
            return BACK_AFTER_END;
        }
        if !is_long && !node.is_pruned {
            open.push(Place { node: at, n_tried: 0 });
            return 0;
        }
        node.is_pruned = true;
        if node.code() == Some(Code::GaveUp) {
            self.given_up.push(at);
            return BACK_AFTER_END;
        }
        BACK_AFTER_WAY
    }

    /// Tries another branch from a place. Returns `None` once the model may not be asked again; the
    /// reply to the last allowed question is not followed.
    async fn go_on(&mut self, from: NodeId) -> Result<Option<NodeId>, Stopped> {
        if self.session.never_calls() {
            return Ok(None);
        }
        let is_asked_again = self.tree.node(from).has_children()
            && self.tree.ask_for_another(from, &self.session.agent.prompts);
        let reply = self.session.ask(&self.tree, from).await?;
        if self.session.is_spent() {
            return Ok(None);
        }
        if is_asked_again {
            self.tree.take_question_back(from);
        }
        let at = self.session.follow(&mut self.tree, from, reply).await;
        if self.tree.node(at).is_terminal {
            self.tree.finish(at, BACK_AFTER_END);
        }
        Ok(Some(at))
    }

    fn finish(self, width: usize) -> Transcript {
        let TreeSearch { session, tree, answers, given_up, .. } = self;
        let limits = session.agent.limits;
        let args = TreeArgs {
            single_chain_max_step: limits.max_steps,
            tree_beam_size: width,
            max_query_count: limits.max_queries,
            answer: 1,
            with_filter: false,
        };
        session.finish(Search::Tree { tree, answers, given_up, args })
    }
}
