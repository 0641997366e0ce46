//! Revisions of the protocol.

/// The revision without a handshake: every request says which revision it is of.
pub(crate) const STATELESS: &str = "2026-07-28";

/// Revisions with a handshake, the latest first.
pub(crate) const WITH_HANDSHAKE: [&str; 4] =
    ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// All known revisions, the latest first.
pub(crate) fn all() -> impl Iterator<Item = &'static str> {
    std::iter::once(STATELESS).chain(WITH_HANDSHAKE)
}

/// The revision in which a handshake is answered: the requested one, or the latest.
pub(crate) fn agreed(requested: &str) -> &'static str {
    let known = WITH_HANDSHAKE.into_iter().find(|known| *known == requested);
    known.unwrap_or(WITH_HANDSHAKE[0])
}

/// The key of a request's revision in its `_meta`.
pub(crate) const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// The key of what a client can do, in the `_meta` of its requests.
pub(crate) const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The key of who a client is, in the `_meta` of its requests.
pub(crate) const META_CLIENT: &str = "io.modelcontextprotocol/clientInfo";
