//! An agent with the tools it may call.

use std::sync::Arc;

use juror_run::Interrupt;
use juror_tools::Catalog;

use crate::agent::Agent;
use crate::attempt::Attempt;
use crate::pool::Pool;
use crate::queries::Selected;
use crate::serving::Serving;

/// An agent that is ready to be asked, and the tools that are served to it.
pub struct EquippedAgent {
    pub(super) agent: Agent,
    pub(super) pool: Pool,
    pub(super) catalog: Arc<Catalog>,
    pub(super) serving: Serving,
}

/// Says that the user stopped the run.
pub(super) const INTERRUPTED: &str = "interrupted";

impl EquippedAgent {
    /// Returns the agent's name for itself, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.agent.name()
    }

    /// Begins a run on the server of tools, if that is another process.
    pub async fn begin(&self) {
        // If the run cannot be opened there, opening its queries reports why.
        let _ = self.serving.begin().await;
    }

    /// Tells the agent that there are no more queries.
    pub async fn close(&self) {
        self.agent.close().await;
    }

    /// Ends the run on the server of tools.
    pub async fn end(&self) {
        self.serving.end().await;
    }

    /// Has the agent attempt a query. Fails with the reason if the query stays open because the run
    /// stops; an error of the agent is part of the attempt.
    pub async fn attempt(
        &self,
        selected: &Selected,
        interrupt: &Interrupt,
    ) -> Result<Attempt, String> {
        if interrupt.is_set() {
            return Err(INTERRUPTED.into());
        }
        let attempt = self.agent.attempt(selected, self.pool, &self.catalog, &self.serving);
        let attempted = tokio::select! {
            biased;
            tried = attempt => tried.map_err(|stopped| stopped.0)?,
            () = interrupt.wait() => return Err(INTERRUPTED.into()),
        };
        // An interrupt may have stopped the agent, too, which is not the agent's error.
        if attempted.error.is_some() && interrupt.is_set() {
            return Err(INTERRUPTED.into());
        }
        Ok(attempted)
    }
}
