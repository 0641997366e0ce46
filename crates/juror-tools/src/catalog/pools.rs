//! Loads the tools that users name: folders, documents and live servers, together.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use juror_mcp::{Address, Client, ClientSetup, Listing};
use juror_toolbench::pool::{PoolKind, tool_of_server};

use super::Catalog;
use super::load::ToolsError;
use crate::cassette;

/// How live servers are reached, and where their lists are recorded.
pub struct PoolSetup {
    /// How to reach servers.
    pub client: ClientSetup,
    /// The folder of a cassette, in which the lists of servers are recorded.
    pub cassette: Option<PathBuf>,
    /// Whether a recorded list takes the place of a server.
    pub replays: bool,
}

/// A server whose tools are part of the catalog.
pub struct LivePool {
    /// Its address, as the user wrote it.
    pub address: String,
    /// The name of its tool in the catalog.
    pub tool: String,
    /// The server; `None` if its list was recorded earlier.
    pub client: Option<Arc<Client>>,
}

/// Loads tools by name, in order: a folder, a document, or the address of a server.
///
/// `servers` are addresses of servers that answer calls. Their tools are added, unless a document
/// lists tools of servers already.
pub async fn load_pools(
    names: &[String],
    servers: &[String],
    setup: &PoolSetup,
) -> Result<(Catalog, Vec<LivePool>), ToolsError> {
    let (mut catalogs, mut live) = (Vec::new(), Vec::new());
    for name in names {
        if Address::is_meant(name) {
            catalogs.push(load_server(name, setup, &mut live).await?);
        } else {
            catalogs.push(Catalog::load(Path::new(name))?);
        }
    }
    let is_listed = catalogs.iter().flat_map(|own| &own.tools).any(|tool| {
        let apis = tool.apis.iter();
        apis.filter_map(|api| api.described.as_ref()).any(|own| own.kind == PoolKind::Mcp)
    });
    let is_covered = is_listed && live.is_empty();
    for name in servers {
        let is_loaded = live.iter().any(|own: &LivePool| own.address == *name);
        if !is_loaded && !is_covered {
            catalogs.push(load_server(name, setup, &mut live).await?);
        }
    }
    let only = if catalogs.len() == 1 { catalogs.pop() } else { None };
    Ok((only.unwrap_or_else(|| Catalog::joined(catalogs)), live))
}

async fn load_server(
    name: &str,
    setup: &PoolSetup,
    live: &mut Vec<LivePool>,
) -> Result<Catalog, ToolsError> {
    let address = Address::read(name)?;
    let recorded = setup.cassette.as_deref().filter(|_| setup.replays);
    let recorded = recorded.and_then(|cassette| cassette::recorded_list(cassette, name));
    let (listing, client) = match recorded {
        Some(listing) => (listing, None),
        None => {
            let client = Client::connect(address, setup.client.clone()).await?;
            (client.list().await?, Some(Arc::new(client)))
        }
    };
    if let (Some(cassette), Some(_), false) = (&setup.cassette, &client, setup.replays)
        && let Err(error) = cassette::record_list(cassette, name, &listing)
    {
        (setup.client.tell)(&format!(
            "{}: the list of tools is not recorded: {error}",
            cassette.display()
        ));
    }
    let Listing { server, tools } = listing;
    let tool = tool_of_server(&server, &tools);
    live.push(LivePool { address: name.to_owned(), tool: server, client });
    Ok(Catalog::new(vec![tool]))
}
