//! What holds for every store, whatever keeps the replies.
//!
//! A crate with a store says `juror_store::contract!(site())` in a test, where `site()` returns an
//! empty [`Site`], or `None` if there is none to be had. Each promise becomes a test of its own.

use std::path::{Path, PathBuf};

use crate::{
    HeldRun, Key, NewReply, Origin, ReplyStore, RunChange, RunStore, StoredReply, ToolStore, Which,
    wait,
};

/// A place for stores, which is empty at first.
pub trait Site {
    /// Opens the replies of models, as another process would.
    fn replies(&self) -> Box<dyn ReplyStore>;
    /// Opens the replies of tools, as another process would.
    fn tools(&self) -> Box<dyn ToolStore>;
}

/// Makes a test of every promise.
#[macro_export]
macro_rules! contract {
    ($site:expr) => {
        $crate::contract!(@ $site;
            a_reply_is_found_by_whoever_opens_the_store
            the_first_reply_stays_and_is_what_everybody_gets
            a_reply_is_replaced_only_where_that_is_asked_for
            any_text_comes_back_as_it_was
            an_import_keeps_what_is_there_and_counts_what_is_new
            pages_lead_through_all_replies_by_key
            judgements_are_found_by_key_in_the_order_asked_for
            what_is_kept_is_counted_by_purpose_and_model
            replies_are_deleted_by_age_purpose_and_model
            writers_at_once_lose_nothing
            the_first_reply_of_a_tool_stays
            a_reply_of_a_tool_is_replaced_where_that_is_asked_for
            replies_of_tools_come_back_in_the_order_they_came
            long_and_odd_arguments_are_kept
            hits_and_origins_are_counted
            two_processes_share_replies_of_tools
            an_empty_store_holds_nothing
        );
    };
    (@ $site:expr; $($promise:ident)*) => {
        $(
            #[test]
            fn $promise() {
                if let Some(site) = $site {
                    $crate::contract::$promise(&site);
                }
            }
        )*
    };
}

pub(crate) fn reply(text: &str, kept_at: i64) -> StoredReply {
    StoredReply {
        purpose: "answer_claims".into(),
        model: "openai/m".into(),
        text: text.into(),
        is_declined: text == "declined",
        input_tokens: 10,
        output_tokens: 2,
        kept_at,
    }
}

/// A reply is found by whoever opens the store, also a refusal.
pub fn a_reply_is_found_by_whoever_opens_the_store(site: &impl Site) {
    for (key, text) in [([1; 32], "é"), ([2; 32], "declined")] {
        wait(site.replies().keep(&key, &reply(text, 5))).expect("kept");
        let found = wait(site.replies().get(&key)).expect("read");
        assert_eq!(found, Some(reply(text, 5)));
    }
    assert_eq!(wait(site.replies().get(&[3; 32])).expect("read"), None);
}

/// The first reply stays, and `keep` returns it to whoever comes later.
pub fn the_first_reply_stays_and_is_what_everybody_gets(site: &impl Site) {
    let (one, two) = (site.replies(), site.replies());
    let kept = wait(one.keep(&[1; 32], &reply("first", 1))).expect("kept");
    assert_eq!(kept, reply("first", 1));
    let kept = wait(two.keep(&[1; 32], &reply("second", 2))).expect("kept");
    assert_eq!(kept, reply("first", 1));
    assert_eq!(wait(two.get(&[1; 32])).expect("read"), Some(reply("first", 1)));
}

/// A reply is replaced only where that is asked for.
pub fn a_reply_is_replaced_only_where_that_is_asked_for(site: &impl Site) {
    let store = site.replies();
    wait(store.keep(&[1; 32], &reply("unusable", 1))).expect("kept");
    wait(store.replace(&[1; 32], &reply("better", 2))).expect("replaced");
    wait(store.replace(&[2; 32], &reply("new", 2))).expect("kept");
    assert_eq!(wait(store.get(&[1; 32])).expect("read"), Some(reply("better", 2)));
    assert_eq!(wait(store.get(&[2; 32])).expect("read"), Some(reply("new", 2)));
}

/// Any text comes back as it was.
pub fn any_text_comes_back_as_it_was(site: &impl Site) {
    let store = site.replies();
    let long = "ß".repeat(1_000_000);
    let texts = ["", "a\0b", "\\x00", "'; DROP TABLE replies; --", "😀\r\n\t", &long];
    for (key, text) in (1..).zip(texts) {
        let mut odd = reply(text, i64::from(key));
        odd.input_tokens = u64::from(u32::MAX) + 1;
        wait(store.keep(&[key; 32], &odd)).expect("kept");
        assert_eq!(wait(store.get(&[key; 32])).expect("read"), Some(odd));
    }
}

/// An import keeps what is there, and counts what is new.
pub fn an_import_keeps_what_is_there_and_counts_what_is_new(site: &impl Site) {
    let store = site.replies();
    wait(store.keep(&[1; 32], &reply("old", 1))).expect("kept");
    let all = [([1; 32], reply("new", 2)), ([2; 32], reply("two", 2)), ([2; 32], reply("2", 3))];
    assert_eq!(wait(store.import(&all)).expect("imported"), 1);
    assert_eq!(wait(store.import(&all)).expect("imported"), 0);
    assert_eq!(wait(store.import(&[])).expect("imported"), 0);
    assert_eq!(wait(store.get(&[1; 32])).expect("read"), Some(reply("old", 1)));
    assert_eq!(wait(store.get(&[2; 32])).expect("read"), Some(reply("two", 2)));
}

/// Pages lead through all replies, sorted by key.
pub fn pages_lead_through_all_replies_by_key(site: &impl Site) {
    let store = site.replies();
    for first in [200, 3, 127, 0, 255] {
        wait(store.keep(&[first; 32], &reply("x", i64::from(first)))).expect("kept");
    }
    let (mut after, mut seen) = (None, Vec::new());
    loop {
        let page = wait(store.page(after, 2)).expect("a page");
        assert!(page.len() <= 2);
        let Some((last, _)) = page.last() else { break };
        after = Some(*last);
        seen.extend(page.into_iter().map(|(key, reply)| (key[0], reply.kept_at)));
    }
    assert_eq!(seen, [(0, 0), (3, 3), (127, 127), (200, 200), (255, 255)]);
}

/// Judgements are found by key, in the order asked for.
pub fn judgements_are_found_by_key_in_the_order_asked_for(site: &impl Site) {
    let store = site.replies();
    wait(store.keep_judgement(&[1; 32], "one", 1)).expect("kept");
    wait(store.keep_judgement(&[2; 32], "two", 1)).expect("kept");
    wait(store.keep_judgement(&[2; 32], "second", 2)).expect("kept");
    // More than are looked up at a time.
    let mut keys: Vec<Key> = (0..1_200_u32).map(numbered).collect();
    keys[1] = [2; 32];
    keys[1_100] = [1; 32];
    keys[1_101] = [2; 32];
    let found = wait(store.judgements(&keys)).expect("read");
    let known = (0..).zip(&found).filter_map(|(at, text)| Some((at, text.as_deref()?)));
    let known: Vec<(usize, &str)> = known.collect();
    assert_eq!(known, [(1, "second"), (1_100, "one"), (1_101, "second")]);
    assert_eq!(found.len(), keys.len());
}

fn numbered(number: u32) -> Key {
    let mut key = [9; 32];
    key[..4].copy_from_slice(&number.to_be_bytes());
    key
}

/// What is kept is counted by purpose and model.
pub fn what_is_kept_is_counted_by_purpose_and_model(site: &impl Site) {
    let store = site.replies();
    for key in 0..3 {
        wait(store.keep(&[key; 32], &reply("é", 0))).expect("kept");
    }
    let other = StoredReply { purpose: "relevance".into(), ..reply("abc", 0) };
    wait(store.keep(&[7; 32], &other)).expect("kept");
    let totals = wait(store.totals()).expect("totals");
    let shown: Vec<_> = totals
        .iter()
        .map(|t| (t.purpose.as_str(), t.count, t.input_tokens, t.output_tokens, t.bytes))
        .collect();
    assert_eq!(shown, [("answer_claims", 3, 30, 6, 6), ("relevance", 1, 10, 2, 3)]);
}

/// Replies are deleted by age, purpose and model, and judgements with them.
pub fn replies_are_deleted_by_age_purpose_and_model(site: &impl Site) {
    let store = site.replies();
    for key in 1..=3 {
        wait(store.keep(&[key; 32], &reply("x", i64::from(key)))).expect("kept");
    }
    wait(store.keep_judgement(&[1; 32], "one", 1)).expect("kept");
    let prune = |which: Which| wait(store.prune(&which)).expect("pruned");
    let purpose = |name: &str| Which { purpose: Some(name.into()), ..Which::default() };
    assert_eq!(prune(purpose("other")), 0);
    assert_eq!(prune(Which { before: Some(2), ..Which::default() }), 1);
    assert_eq!(wait(store.judgements(&[[1; 32]])).expect("read"), [None]);
    assert_eq!(prune(Which { model: Some("openai/m".into()), ..purpose("answer_claims") }), 2);
    assert_eq!(wait(store.totals()).expect("totals"), []);
}

/// Writers at once lose nothing, and agree on what is kept.
pub fn writers_at_once_lose_nothing(site: &impl Site) {
    let stores: Vec<_> = (0..4).map(|_| site.replies()).collect();
    let kept: Vec<Vec<StoredReply>> = std::thread::scope(|scope| {
        let writers = (0..).zip(&stores).map(|(writer, store)| {
            scope.spawn(move || {
                let keep = |n| wait(store.keep(&numbered(n), &reply(&format!("{writer}"), 0)));
                (0..50).map(|n| keep(n).expect("kept")).collect()
            })
        });
        let writers: Vec<_> = writers.collect();
        writers.into_iter().map(|writer| writer.join().expect("done")).collect()
    });
    assert!(kept.iter().all(|of_one| *of_one == kept[0]), "all get what is kept");
    assert_eq!(wait(stores[0].totals()).expect("totals")[0].count, 50);
}

fn names(api: &str) -> [String; 3] {
    ["Data", "a_for_Data", api].map(str::to_owned)
}

fn new(api: &str, key: &str, reply: &str) -> NewReply {
    let (key, reply) = (key.to_owned(), reply.to_owned());
    NewReply { names: names(api), key, reply, origin: Origin::Real, model: None, kept_at: 100 }
}

/// The first reply of a tool stays.
pub fn the_first_reply_of_a_tool_stays(site: &impl Site) {
    let replies = site.tools();
    let kept = replies.keep(&[new("x", "{}", "1"), new("x", "{}", "2")]).expect("kept");
    assert_eq!(kept.iter().map(|kept| kept.reply.as_str()).collect::<Vec<_>>(), ["1", "1"]);
    assert_eq!(kept.iter().map(|kept| kept.was_known).collect::<Vec<_>>(), [false, true]);
    assert_eq!(replies.get(&names("x"), "{}").expect("read").expect("kept").reply, "1");
    assert_eq!(replies.get(&names("y"), "{}").expect("read"), None);
}

/// A reply of a tool is replaced where that is asked for.
pub fn a_reply_of_a_tool_is_replaced_where_that_is_asked_for(site: &impl Site) {
    let replies = site.tools();
    let kept = replies.keep(&[new("x", "{}", "1"), new("x", "{'a': 1}", "2")]).expect("kept");
    replies.count_hits(&[(kept[0].id, 3)]).expect("counted");
    let mut newer = new("x", "{}", "3");
    newer.kept_at = 200;
    let twice = [newer, new("x", "{'b': 1}", "4"), new("x", "{'b': 1}", "5")];
    let replaced = replies.replace(&twice).expect("replaced");
    assert_eq!((replaced[0].id, replaced[0].was_known), (kept[0].id, false));
    let reply = |key: &str| replies.get(&names("x"), key).expect("read").expect("kept").reply;
    assert_eq!([reply("{}"), reply("{'a': 1}"), reply("{'b': 1}")], ["3", "2", "5"]);
    let totals = replies.totals().expect("totals");
    assert_eq!((totals[0].count, totals[0].hits, totals[0].last_kept_at), (3, 0, 200));
}

/// Replies of tools come back in the order they came.
pub fn replies_of_tools_come_back_in_the_order_they_came(site: &impl Site) {
    let replies = site.tools();
    let all = [new("y", "b", "1"), new("x", "z", "2"), new("y", "a", "3")];
    replies.keep(&all).expect("kept");
    let first = replies.page(0, 2).expect("a page");
    let rest = replies.page(first[1].0, 2).expect("a page");
    let seen = first.iter().chain(&rest).map(|(_, reply)| format!("{} {}", reply.api, reply.key));
    assert_eq!(seen.collect::<Vec<_>>(), ["y b", "x z", "y a"]);
    let keys = |id| replies.keys_after(&names("y"), id).expect("read");
    let all = keys(0);
    assert_eq!(all.iter().map(|(_, key)| key.as_str()).collect::<Vec<_>>(), ["b", "a"]);
    assert_eq!(keys(all[0].0), all[1..]);
    let first = replies.first(&names("y"), 1).expect("read");
    assert_eq!(first, [("b".to_owned(), "1".to_owned())]);
    let tools = replies.tools().expect("read");
    assert_eq!(tools, [("Data".to_owned(), "a_for_Data".to_owned())]);
}

/// Long and odd arguments are kept like others.
pub fn long_and_odd_arguments_are_kept(site: &impl Site) {
    let replies = site.tools();
    let long = format!("{{'text': '{}'}}", "long ".repeat(20_000));
    let odd = [&*long, "{'a': '\\x00'}", "", "{'é': \"'\"}"];
    for key in odd {
        let kept = replies.keep(&[new("x", key, "{\"error\": \"\"}")]).expect("kept");
        assert!(!kept[0].was_known);
        let found = replies.get(&names("x"), key).expect("read").expect("kept");
        assert_eq!((found.id, found.was_known), (kept[0].id, true));
    }
    let keys = replies.keys_after(&names("x"), 0).expect("read");
    assert_eq!(keys.iter().map(|(_, key)| key.as_str()).collect::<Vec<_>>(), odd);
}

/// Hits and origins are counted.
pub fn hits_and_origins_are_counted(site: &impl Site) {
    let replies = site.tools();
    let mut simulated = new("x", "a", "\"é\"");
    simulated.origin = Origin::Simulated;
    simulated.model = Some("openai/m".into());
    simulated.kept_at = 50;
    let kept = replies.keep(&[new("x", "b", "1"), simulated]).expect("kept");
    replies.count_hits(&[(kept[1].id, 3), (kept[1].id, 2)]).expect("counted");
    let totals = replies.totals().expect("totals");
    let shown: Vec<_> =
        totals.iter().map(|t| (t.origin, t.count, t.apis, t.hits, t.bytes)).collect();
    assert_eq!(shown, [(Origin::Real, 1, 1, 0, 1), (Origin::Simulated, 1, 1, 5, 4)]);
    assert_eq!(replies.count().expect("count"), 2);
    let page = replies.page(0, 9).expect("a page");
    let (_, reply) = &page[1];
    let told = (reply.origin, reply.model.as_deref(), reply.kept_at, reply.hits);
    assert_eq!(told, (Origin::Simulated, Some("openai/m"), 50, 5));
}

/// Two processes share replies of tools.
pub fn two_processes_share_replies_of_tools(site: &impl Site) {
    let (one, two) = (site.tools(), site.tools());
    one.keep(&[new("x", "a", "1")]).expect("kept");
    let kept = two.keep(&[new("x", "a", "2"), new("x", "b", "3")]).expect("kept");
    assert_eq!((kept[0].reply.as_str(), kept[0].was_known), ("1", true));
    assert_eq!(one.count().expect("count"), 2);
}

/// An empty store holds nothing.
pub fn an_empty_store_holds_nothing(site: &impl Site) {
    let (replies, tools) = (site.replies(), site.tools());
    assert_eq!(wait(replies.totals()).expect("totals"), []);
    assert_eq!(wait(replies.page(None, 5)).expect("a page"), []);
    assert_eq!(tools.totals().expect("totals"), []);
    assert_eq!(tools.count().expect("count"), 0);
    assert_eq!(tools.page(0, 5).expect("a page"), []);
    assert_eq!(tools.tools().expect("read"), []);
    tools.count_hits(&[]).expect("nothing");
    assert_eq!(tools.keep(&[]).expect("nothing"), []);
}

/// A place for runs, which is empty at first.
pub trait RunSite {
    /// Opens the store, as another process would.
    fn runs(&self) -> Box<dyn RunStore>;
    /// A folder for files of the test.
    fn folder(&self) -> &Path;
}

/// Makes a test of every promise of stores of runs. Their files are named as those of runs are.
#[macro_export]
macro_rules! run_contract {
    ($site:expr) => {
        $crate::contract!(@ $site;
            a_file_of_a_run_is_found_by_whoever_opens_the_store
            lines_come_back_in_the_order_they_were_appended
            lines_appended_at_once_are_all_there
            a_file_is_replaced_and_removed_as_a_whole
            one_process_at_a_time_holds_a_run
            a_run_that_is_gone_on_with_grows_where_it_ended
            a_run_is_removed_with_all_its_files
            an_empty_store_has_no_runs
        );
    };
}

fn held(site: &impl RunSite, run: &str) -> Box<dyn HeldRun> {
    site.runs().hold(run).expect("reached").expect("nobody has it")
}

fn append(run: &dyn HeldRun, line: &str) {
    wait(run.append("records.jsonl", format!("{line}\n").as_bytes())).expect("appended");
}

/// Writes a file for a store to take.
fn file(site: &impl RunSite, content: &[u8]) -> PathBuf {
    let path = site.folder().join("written");
    std::fs::write(&path, content).expect("written");
    path
}

fn write(site: &impl RunSite, run: &dyn HeldRun, name: &str, content: &[u8]) {
    let path = file(site, content);
    let change = RunChange { written: &[(name, &path)], ..RunChange::default() };
    run.change(&change).expect("written");
}

fn fetched(site: &impl RunSite, run: &str, file: &str) -> Option<Vec<u8>> {
    let path = site.folder().join("fetched");
    let is_there = site.runs().fetch(run, file, &path).expect("reached");
    is_there.then(|| std::fs::read(&path).expect("fetched"))
}

/// A file of a run is found by whoever opens the store, whatever is in it.
pub fn a_file_of_a_run_is_found_by_whoever_opens_the_store(site: &impl RunSite) {
    let long: Vec<u8> = (0..=250).cycle().take(1_000_000).collect();
    for (run, content) in [("a b", &b"\0\xff\n"[..]), ("b", &[]), ("\u{e9}", &long)] {
        let held = held(site, run);
        write(site, &*held, "results.jsonl", content);
        assert_eq!(fetched(site, run, "results.jsonl").as_deref(), Some(content));
        let wanted = ("results.jsonl".to_owned(), content.len() as u64);
        assert!(site.runs().files(run).expect("reached").contains(&wanted));
    }
    assert_eq!(site.runs().runs().expect("reached"), ["a b", "b", "\u{e9}"]);
    assert_eq!(fetched(site, "b", "aggregates.json"), None);
}

/// Lines come back in the order they were appended.
pub fn lines_come_back_in_the_order_they_were_appended(site: &impl RunSite) {
    let held = held(site, "a");
    let lines: Vec<String> = (0..200).map(|n| n.to_string()).collect();
    for line in &lines {
        append(&*held, line);
    }
    let all = format!("{}\n", lines.join("\n")).into_bytes();
    assert_eq!(fetched(site, "a", "records.jsonl"), Some(all));
}

/// Lines that several threads append at once are all there, each whole.
pub fn lines_appended_at_once_are_all_there(site: &impl RunSite) {
    let held = held(site, "a");
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let held = &held;
            scope.spawn(move || (0..25).for_each(|n| append(&**held, &format!("{thread} {n}"))));
        }
    });
    let all = fetched(site, "a", "records.jsonl").expect("there");
    let all = String::from_utf8(all).expect("text");
    let mut lines: Vec<&str> = all.lines().collect();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), 100);
}

/// A file is replaced and removed as a whole, also one that grew.
pub fn a_file_is_replaced_and_removed_as_a_whole(site: &impl RunSite) {
    let held = held(site, "a");
    append(&*held, "old");
    write(site, &*held, "results.jsonl", b"a long first content");
    write(site, &*held, "results.jsonl", b"short");
    assert_eq!(fetched(site, "a", "results.jsonl").as_deref(), Some(&b"short"[..]));
    let path = file(site, b"{}");
    let change =
        RunChange { removed: &["records.jsonl", "results.jsonl"], written: &[("run.json", &path)] };
    held.change(&change).expect("changed");
    assert_eq!(fetched(site, "a", "results.jsonl"), None);
    assert_eq!(fetched(site, "a", "run.json").as_deref(), Some(&b"{}"[..]));
    append(&*held, "new");
    assert_eq!(fetched(site, "a", "records.jsonl").as_deref(), Some(&b"new\n"[..]));
}

/// One process at a time holds a run; others can tell, and read it meanwhile.
pub fn one_process_at_a_time_holds_a_run(site: &impl RunSite) {
    let first = held(site, "a");
    append(&*first, "line");
    let other = site.runs();
    assert!(other.is_held("a").expect("reached") && !other.is_held("b").expect("reached"));
    assert!(other.hold("a").expect("reached").is_none());
    assert!(other.hold("b").expect("reached").is_some());
    assert_eq!(fetched(site, "a", "records.jsonl").as_deref(), Some(&b"line\n"[..]));
    drop(first);
    assert!(other.hold("a").expect("reached").is_some());
}

/// A run that another process resumes grows where it ended.
pub fn a_run_that_is_gone_on_with_grows_where_it_ended(site: &impl RunSite) {
    for line in ["one", "two", "three"] {
        append(&*held(site, "a"), line);
    }
    assert_eq!(fetched(site, "a", "records.jsonl").as_deref(), Some(&b"one\ntwo\nthree\n"[..]));
}

/// A run is removed with all its files, and no other is.
pub fn a_run_is_removed_with_all_its_files(site: &impl RunSite) {
    for run in ["a", "b"] {
        let held = held(site, run);
        append(&*held, "line");
        write(site, &*held, "run.json", b"{}");
    }
    held(site, "a").remove().expect("removed");
    assert_eq!(site.runs().runs().expect("reached"), ["b"]);
    assert_eq!(site.runs().files("a").expect("reached"), []);
    assert_eq!(fetched(site, "a", "records.jsonl"), None);
    assert_eq!(fetched(site, "b", "records.jsonl").as_deref(), Some(&b"line\n"[..]));
}

/// An empty store has no runs.
pub fn an_empty_store_has_no_runs(site: &impl RunSite) {
    let store = site.runs();
    assert!(store.runs().expect("reached").is_empty());
    assert!(store.files("a").expect("reached").is_empty());
    assert!(!store.is_held("a").expect("reached"));
    assert_eq!(fetched(site, "a", "run.json"), None);
}
