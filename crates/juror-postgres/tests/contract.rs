//! What holds for every store holds for a database.
#![cfg(target_os = "linux")]

use juror_postgres::{Address, SharedReplies, SharedToolReplies};
use juror_store::contract::Site;
use juror_store::{ReplyStore, ToolStore};
use juror_testing::Postgres;

struct Schema(Address);

impl Site for Schema {
    fn replies(&self) -> Box<dyn ReplyStore> {
        Box::new(SharedReplies::open(self.0.clone()).expect("a store"))
    }

    fn tools(&self) -> Box<dyn ToolStore> {
        Box::new(SharedToolReplies::open(self.0.clone()).expect("a store"))
    }
}

fn schema() -> Option<Schema> {
    let address = Postgres::shared()?.address();
    Some(Schema(Address::read(&address).expect("an address")))
}

juror_store::contract!(schema());
