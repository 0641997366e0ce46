//! The dialects of traces, a file each.

pub(crate) mod openai_chat;
pub(crate) mod responses;
