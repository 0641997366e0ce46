//! What holds for every store holds for `SQLite` files.

use juror_store::contract::Site;
use juror_store::{Replies, ReplyStore, ToolReplies, ToolStore};
use tempfile::TempDir;

struct Folder(TempDir);

impl Site for Folder {
    fn replies(&self) -> Box<dyn ReplyStore> {
        Box::new(Replies::open(self.0.path()).expect("a store"))
    }

    fn tools(&self) -> Box<dyn ToolStore> {
        Box::new(ToolReplies::open(self.0.path()).expect("a store"))
    }
}

juror_store::contract!(Some(Folder(tempfile::tempdir().expect("a folder"))));
