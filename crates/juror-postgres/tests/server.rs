//! What only a database can do or suffer: turns, tables of other releases, servers that go away.
#![cfg(target_os = "linux")]

use std::sync::mpsc;

use juror_postgres::{Address, SharedReplies, SharedToolReplies, check, migrate};
use juror_store::{Key, ReplyStore, StoreError, StoredReply, ToolStore, Turn, wait};
use juror_testing::Postgres;

fn address(text: &str) -> Address {
    Address::read(text).expect("an address")
}

fn open(text: &str) -> SharedReplies {
    SharedReplies::open(address(text)).expect("a store")
}

fn refused(text: &str) -> StoreError {
    let Err(error) = SharedReplies::open(address(text)) else { panic!("{text} is not refused") };
    error
}

fn reply(text: &str) -> StoredReply {
    StoredReply {
        purpose: "answer_claims".into(),
        model: "openai/m".into(),
        text: text.into(),
        is_declined: false,
        input_tokens: 10,
        output_tokens: 2,
        kept_at: 1,
    }
}

fn schema_of(place: &str) -> &str {
    place.split_once("schema=").expect("a schema").1
}

fn numbered(number: u32) -> Key {
    let mut key = [0; 32];
    key[..4].copy_from_slice(&number.to_be_bytes());
    key
}

#[test]
fn of_two_who_want_a_reply_one_waits_until_it_is_kept() {
    let Some(server) = Postgres::shared() else { return };
    let place = server.address();
    let (one, two) = (open(&place), open(&place));
    let Ok(Some(Turn::Ours(held))) = wait(one.turn(&[1; 32])) else { panic!("nobody has it") };
    let Ok(Some(Turn::Theirs(ended))) = wait(two.turn(&[1; 32])) else { panic!("it is taken") };
    let Ok(Some(Turn::Ours(_))) = wait(two.turn(&[2; 32])) else { panic!("another is free") };
    wait(one.keep(&[1; 32], &reply("bought"))).expect("kept");
    drop(held);
    wait(ended);
    assert_eq!(wait(two.get(&[1; 32])).expect("read"), Some(reply("bought")));
}

#[test]
fn within_a_process_too_one_has_the_turn() {
    let Some(server) = Postgres::shared() else { return };
    let store = open(&server.address());
    let Ok(Some(Turn::Ours(held))) = wait(store.turn(&[1; 32])) else { panic!("it is free") };
    let Ok(Some(Turn::Theirs(_))) = wait(store.turn(&[1; 32])) else { panic!("it is taken") };
    drop(held);
}

#[test]
fn the_turn_of_a_session_that_ended_is_free() {
    let Some(server) = Postgres::start() else { return };
    let place = server.address();
    let (one, two) = (open(&place), open(&place));
    let Ok(Some(Turn::Ours(held))) = wait(one.turn(&[1; 32])) else { panic!("it is free") };
    // Its lock ends with the session, whatever becomes of the process.
    std::mem::forget(held);
    let locked = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1";
    server.sql(&format!("SELECT pg_terminate_backend(pid) FROM ({locked}) AS held"));
    loop {
        match wait(two.turn(&[1; 32])).expect("a turn").expect("known") {
            Turn::Ours(_) => break,
            Turn::Theirs(ended) => wait(ended),
        }
    }
}

#[test]
fn tables_are_made_once_by_all_who_come_at_the_same_time() {
    let Some(server) = Postgres::shared() else { return };
    let place = server.address();
    std::thread::scope(|scope| {
        for number in 0..6 {
            let place = &place;
            scope.spawn(move || {
                wait(open(place).keep(&numbered(number), &reply("x"))).expect("kept");
            });
        }
    });
    let checked = check(&address(&place)).expect("usable");
    assert_eq!(checked.version, Some(checked.wanted));
    assert_eq!(wait(open(&place).totals()).expect("totals")[0].count, 6);
}

#[test]
fn tables_of_an_older_release_are_updated_only_when_that_is_asked_for() {
    let Some(server) = Postgres::shared() else { return };
    let place = server.address();
    let schema = schema_of(&place);
    let first = include_str!("../src/schema/1-model-replies.sql");
    server.sql(&format!(
        "CREATE SCHEMA {schema}; SET search_path TO {schema};
         CREATE TABLE juror_version (version int NOT NULL); INSERT INTO juror_version VALUES (1);
         {first}
         INSERT INTO replies VALUES (decode(repeat('01', 32), 'hex'), 'p', 'm', 'old', false, 1, 1, 1)"
    ));
    let error = refused(&place);
    assert!(error.to_string().contains("made by an older release"), "{error}");
    assert!(error.to_string().contains("juror store migrate"), "{error}");
    assert_eq!(migrate(&address(&place)).expect("updated"), Some(1));
    assert_eq!(migrate(&address(&place)).expect("done already"), Some(3));
    let old = wait(open(&place).get(&[1; 32])).expect("read").expect("kept");
    assert_eq!(old.text, "old");
}

#[test]
fn tables_of_a_newer_release_are_refused_and_left_alone() {
    let Some(server) = Postgres::shared() else { return };
    let place = server.address();
    drop(open(&place));
    let schema = schema_of(&place);
    server.sql(&format!("INSERT INTO {schema}.juror_version VALUES (99)"));
    for error in [refused(&place), migrate(&address(&place)).expect_err("refused")] {
        assert!(error.to_string().contains("made by a newer release"), "{error}");
        assert!(!error.is_outside(), "this release is the wrong one");
    }
    let existing = SharedReplies::open_existing(address(&place));
    assert!(existing.is_err());
}

#[test]
fn a_store_that_is_only_read_is_not_made() {
    let Some(server) = Postgres::shared() else { return };
    let place = server.address();
    assert!(SharedReplies::open_existing(address(&place)).expect("reached").is_none());
    assert!(SharedToolReplies::open_existing(address(&place)).expect("reached").is_none());
    let schema = schema_of(&place);
    let found = format!("SELECT count(*) FROM pg_namespace WHERE nspname = '{schema}'");
    assert_eq!(server.sql(&found), "0");
}

#[test]
fn what_is_wrong_at_the_start_is_told_in_a_word_each() {
    let Some(server) = Postgres::shared() else { return };
    let right = server.address_with_password(server.password());
    drop(open(&right));
    let wrong = server.address_with_password("wrong-pass");
    let without = right.replace(&format!(":{}@", server.password()), "@");
    let missing = right.replace("/postgres?", "/nowhere?");
    let down = right.replace(&format!(":{}/", server.port()), ":1/");
    server.sql(
        "DO $$ BEGIN CREATE ROLE guest LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$",
    );
    let guest = server.address().replace("juror@", "guest@");
    for (place, told) in [
        (&wrong, "the password is refused"),
        (&without, "the server asks for a password\n  hint: set PGPASSWORD"),
        (&missing, "database \"nowhere\" does not exist\n  hint: create it with `createdb`"),
        (&down, "no connection: Connection refused"),
        (&guest, "permission denied"),
    ] {
        let error = refused(place);
        assert!(error.to_string().contains(told), "{error}");
        assert!(error.is_outside(), "{error}");
        for secret in ["wrong-pass", server.password()] {
            assert!(!format!("{error} {error:?}").contains(secret), "{error}");
        }
    }
}

#[test]
fn a_full_disk_is_told_and_what_was_kept_stays() {
    let Some(server) = Postgres::shared() else { return };
    let place = server.address();
    let store = open(&place);
    wait(store.keep(&[1; 32], &reply("before"))).expect("kept");
    let schema = schema_of(&place);
    server.sql(&format!(
        "SET search_path TO {schema};
         CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = '53100'; END $$;
         CREATE TRIGGER full_disk BEFORE INSERT ON replies EXECUTE FUNCTION full_disk()"
    ));
    let error = wait(store.keep(&[2; 32], &reply("after"))).expect_err("no room");
    assert!(error.to_string().contains("the server's disk is full"), "{error}");
    assert_eq!(wait(store.get(&[1; 32])).expect("read"), Some(reply("before")));
}

#[test]
fn a_server_that_crashes_and_comes_back_loses_nothing() {
    let Some(server) = Postgres::start() else { return };
    let place = server.address();
    let store = open(&place);
    let Ok(Some(Turn::Ours(held))) = wait(store.turn(&[9; 32])) else { panic!("it is free") };
    for number in 0..50 {
        wait(store.keep(&numbered(number), &reply("before"))).expect("kept");
    }
    server.crash();
    std::thread::scope(|scope| {
        let (begun, begins) = mpsc::channel();
        scope.spawn(move || {
            begun.send(()).expect("sent");
            // Waits for the server, as nobody has started it yet.
            wait(store.keep(&numbered(50), &reply("meanwhile"))).expect("kept");
            let news = store.news().expect("a word");
            assert!(news.contains("went away and came back"), "{news}");
            // The turn is taken again with the new session.
            wait(store.keep(&[9; 32], &reply("in turn"))).expect("kept");
            drop(held);
            assert_eq!(store.news(), None, "the lock was held");
        });
        begins.recv().expect("begun");
        server.begin();
    });
    assert_eq!(wait(open(&place).totals()).expect("totals")[0].count, 52);
}

#[test]
fn a_server_that_stays_away_is_waited_for_within_a_limit() {
    let Some(server) = Postgres::start() else { return };
    let place = format!("{}&patience=1", server.address());
    let store = open(&place);
    server.stop();
    for _ in 0..2 {
        let error = wait(store.keep(&[1; 32], &reply("lost"))).expect_err("nobody is there");
        assert!(error.is_outside(), "{error}");
        assert!(error.to_string().contains("no connection"), "{error}");
    }
    server.begin();
    wait(store.keep(&[1; 32], &reply("kept"))).expect("it is back");
}

#[test]
fn a_pooler_that_gives_transactions_another_session_is_refused() {
    let Some(server) = Postgres::shared() else { return };
    let Some(pooler) = server.pooler() else { return };
    let error = refused(&pooler.address);
    assert!(error.to_string().contains("gives every transaction another session"), "{error}");
    assert!(error.to_string().contains("pool_mode = session"), "{error}");
}

#[test]
fn turns_hold_for_replies_of_tools_too() {
    let Some(server) = Postgres::shared() else { return };
    let place = address(&server.address());
    let open = || SharedToolReplies::open(place.clone()).expect("a store");
    let (one, two) = (open(), open());
    let names = ["Data", "a", "b"].map(str::to_owned);
    let Ok(Some(Turn::Ours(held))) = wait(one.turn(&names, "{}")) else { panic!("it is free") };
    let Ok(Some(Turn::Theirs(ended))) = wait(two.turn(&names, "{}")) else { panic!("taken") };
    drop(held);
    wait(ended);
}

#[test]
fn a_server_proves_who_it_is() {
    let Some(server) = Postgres::start() else { return };
    let Some(root) = server.encrypt() else { return };
    let (port, password) = (server.port(), server.password());
    let at = |host: &str, more: &str| {
        format!("postgresql://juror:{password}@{host}:{port}/postgres?sslmode=verify-full{more}")
    };
    let own = format!("&sslrootcert={}", root.display());
    let store = open(&at("localhost", &own));
    wait(store.keep(&[1; 32], &reply("x"))).expect("kept");
    let encrypted = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE application_name = 'juror'";
    assert_eq!(server.sql(encrypted), "t");
    for (place, told) in [
        (at("127.0.0.1", &own), "certificate not valid for name"),
        (at("localhost", ""), "certificate"),
        (at("localhost", "&sslrootcert=/nowhere.pem"), "/nowhere.pem"),
    ] {
        let error = refused(&place);
        assert!(error.to_string().contains(told), "{error}");
    }
}

#[test]
fn a_server_that_does_not_encrypt_is_refused_where_that_is_asked_for() {
    let Some(server) = Postgres::shared() else { return };
    let place = server.address_with_password(server.password());
    let error = refused(&format!("{place}&sslmode=verify-full"));
    assert!(error.is_outside() && error.to_string().contains("TLS"), "{error}");
}
