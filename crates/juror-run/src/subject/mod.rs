//! Who answers: the systems under test.

pub mod chat_agent;
