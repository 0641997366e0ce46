//! The built-in agent's tools: calls go to a server, searches to the catalog.

use std::sync::Arc;

use juror_agents::chat_agent::{Tools, VirtualServer};
use juror_agents::environment::{Search, ToolCall, ToolReply};
use juror_models::Pending;
use juror_toolbench::OwnedOffer;
use juror_tools::Catalog;

/// Calls tools over HTTP and searches the catalog in memory.
pub(super) struct CatalogTools {
    pub(super) server: VirtualServer,
    pub(super) catalog: Arc<Catalog>,
}

impl Tools for CatalogTools {
    fn call<'a>(&'a self, call: &'a ToolCall) -> Pending<'a, ToolReply> {
        self.server.call(call)
    }

    fn search<'a>(&'a self, search: &'a Search) -> Pending<'a, Result<Vec<OwnedOffer>, String>> {
        Box::pin(async move {
            let (catalog, search) = (self.catalog.clone(), search.clone());
            let find = move || -> Vec<OwnedOffer> {
                let found = catalog.find_offers(&search.query, search.most);
                found.into_iter().map(OwnedOffer::from).collect()
            };
            tokio::task::spawn_blocking(find).await.map_err(|error| error.to_string())
        })
    }
}
