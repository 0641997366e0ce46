//! A large recorded cache, and recorded requests for it.

use std::collections::HashMap;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use juror_json::Object;
use juror_testing::recorded_cases;
use serde_json::Value;

use crate::stage::{Served, Stage};

#[test]
fn recorded_requests_hit_and_miss_as_recorded() {
    let Some(vectors) = recorded_cases() else { return };
    let data = vectors.join("../data/toolbench");
    let cache = data.join("tool_response_cache_50000.tar.gz");
    let requests = data.join("requests_20000.jsonl.gz");
    if !cache.exists() || !requests.exists() {
        eprintln!("no recorded cache here: skipped");
        return;
    }
    let stage = Stage::new();
    let mut unpack = Command::new("tar");
    let unpacked = unpack.arg("xzf").arg(&cache).current_dir(stage.folder.path()).status();
    assert!(unpacked.expect("tar").success());
    let lines = Command::new("gzip").arg("-dc").arg(&requests).output().expect("gzip").stdout;
    let lines = String::from_utf8(lines).expect("UTF-8");
    let lines: Vec<&str> = lines.lines().collect();

    let (code, _, said) = stage.run("tools import tool_response_cache --store store");
    assert_eq!((code, said.contains("took in 50000 replies of 2489 APIs")), (0, true), "{said}");
    let known = Known { root: stage.path("tool_response_cache"), files: Mutex::default() };
    let store = stage.serve("--cache store --log off --on-miss fail");
    println!("from the store: {}", replay(&store, &lines, &known));
    let folder = stage.serve("--cache tool_response_cache --no-keep --log off --on-miss fail");
    println!("from the folder: {}", replay(&folder, &lines, &known));

    let (code, _, said) = stage.run("tools export out --store store");
    assert_eq!(code, 0, "{said}");
    let differ = Command::new("diff")
        .args(["-rq", "tool_response_cache", "out"])
        .current_dir(stage.folder.path())
        .output()
        .expect("diff");
    assert!(differ.status.success(), "{}", String::from_utf8_lossy(&differ.stdout));
}

/// The replies of the cache folder, by file and key.
struct Known {
    root: std::path::PathBuf,
    files: Mutex<HashMap<String, Arc<Value>>>,
}

impl Known {
    fn reply(&self, file: &str, key: &str) -> Value {
        let known = self.files.lock().expect("no panic").get(file).cloned();
        let known = known.unwrap_or_else(|| {
            let text = std::fs::read_to_string(self.root.join(file)).expect("a file");
            let read = Arc::new(serde_json::from_str(&text).expect("JSON"));
            self.files.lock().expect("no panic").insert(file.to_owned(), Arc::clone(&read));
            read
        });
        known[key].clone()
    }
}

/// Asks everything over a few connections; every line has to end as it says.
fn replay(served: &Served, lines: &[&str], known: &Known) -> String {
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let n_hits = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut client = served.client();
                while let Some(line) = lines.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let fields: Object<'_> = serde_json::from_str(line).expect("an object");
                    let body = fields.get("body").expect("a body").get();
                    let text = |name: &str| {
                        let value = fields.get(name).expect("a field");
                        juror_json::text_of(value).expect("a text").into_owned()
                    };
                    let reply = client.post("/virtual", body);
                    let is_hit = reply.header("juror-source") == Some("cache");
                    n_hits.fetch_add(usize::from(is_hit), Ordering::Relaxed);
                    let wanted = text("expect") == "hit";
                    let status = if wanted { 200 } else { 404 };
                    let is_right =
                        !wanted || reply.json() == known.reply(&text("cache_file"), &text("key"));
                    if is_hit != wanted || reply.status != status || !is_right {
                        wrong.lock().expect("no panic").push((*line).to_owned());
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no panic");
    assert!(wrong.is_empty(), "{} wrong, the first: {:?}", wrong.len(), wrong.first());
    format!("{} requests, {} hits", lines.len(), n_hits.load(Ordering::Relaxed))
}
