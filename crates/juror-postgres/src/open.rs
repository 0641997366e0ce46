//! Opens stores of replies, in folders and in databases; and stores of runs in databases.

use std::path::Path;

use juror_store::{Replies, ReplyStore, StoreError, ToolReplies, ToolStore};

use crate::{Address, SharedReplies, SharedToolReplies};

/// What a store is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreUse {
    /// To keep replies; it is made if it is not there.
    Keep,
    /// To read or tidy up what is there.
    Existing,
    /// To read what is there, without changing anything.
    Read,
}

/// Returns whether a place is the address of a database, rather than a folder.
pub fn is_database(place: &str) -> bool {
    Address::is_meant(place)
}

/// Returns a place as people may see it and files may hold it: without a password.
pub fn shown_place(place: &str) -> String {
    if !is_database(place) {
        return place.to_owned();
    }
    match Address::read(place) {
        Ok(address) => address.to_string(),
        // Where the password stands in it is not known.
        Err(_) => "postgresql://…".to_owned(),
    }
}

/// Opens a store in a database by one of two ways: one that makes it if it is not there, and one that
/// does not.
fn open_shared<S>(
    place: &str,
    use_of: StoreUse,
    open: fn(Address) -> Result<S, StoreError>,
    open_existing: fn(Address) -> Result<Option<S>, StoreError>,
) -> Result<Option<S>, StoreError> {
    let address = Address::read(place)?.of_no_run()?;
    match use_of {
        StoreUse::Keep => open(address).map(Some),
        StoreUse::Existing | StoreUse::Read => open_existing(address),
    }
}

/// Opens a store of models' replies in a folder or a database; `None` if there is none and it is not
/// to be made.
pub fn open_reply_store(
    place: &str,
    use_of: StoreUse,
) -> Result<Option<Box<dyn ReplyStore>>, StoreError> {
    if is_database(place) {
        let (open, open_existing) = (SharedReplies::open, SharedReplies::open_existing);
        let opened = open_shared(place, use_of, open, open_existing)?;
        return Ok(opened.map(|store| Box::new(store) as Box<dyn ReplyStore>));
    }
    let folder = Path::new(place);
    let opened = match use_of {
        StoreUse::Keep => Replies::open(folder).map(Some),
        StoreUse::Existing => Replies::open_existing(folder),
        StoreUse::Read => Replies::open_read_only(folder),
    };
    Ok(opened?.map(|store| Box::new(store) as Box<dyn ReplyStore>))
}

/// Opens a store of tools' replies in a folder or a database; `None` if there is none and it is not
/// to be made.
pub fn open_tool_store(
    place: &str,
    use_of: StoreUse,
) -> Result<Option<Box<dyn ToolStore>>, StoreError> {
    if is_database(place) {
        let (open, open_existing) = (SharedToolReplies::open, SharedToolReplies::open_existing);
        let opened = open_shared(place, use_of, open, open_existing)?;
        return Ok(opened.map(|store| Box::new(store) as Box<dyn ToolStore>));
    }
    let folder = Path::new(place);
    let opened = match use_of {
        StoreUse::Keep => ToolReplies::open(folder).map(Some),
        StoreUse::Existing | StoreUse::Read => ToolReplies::open_read_only(folder),
    };
    Ok(opened?.map(|store| Box::new(store) as Box<dyn ToolStore>))
}
