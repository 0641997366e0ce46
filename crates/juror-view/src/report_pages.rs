//! Reports of runs and of comparisons.

use hyper::StatusCode;
use juror_compare::{CompareOptions, ComparedRun, Difference, Gates, Incomparable, compare};
use juror_pages::{RunPages, ScoredRun, UnreadableRun};
use juror_report::{PageLink, PageOptions};
use juror_serve::url_parts::{field, fields};

use crate::address;
use crate::message_page::{Message, not_found};
use crate::page_cache::PageKey;
use crate::reply::{self, Reply};
use crate::run_list::ListedRun;
use crate::viewer::Viewer;

/// The most runs of a comparison.
const MOST_RUNS: usize = 12;

/// Why there is no report.
enum NoReport {
    Unreadable(UnreadableRun),
    Incomparable(Incomparable),
}

impl Viewer {
    /// The report of a run.
    pub(crate) fn report(&self, id: &str) -> Reply {
        let Some(run) = self.runs.find(id) else { return no_such_run(id) };
        if let Err(why) = &run.known {
            return Message::new(id, why).reply(StatusCode::UNPROCESSABLE_ENTITY);
        }
        let key = PageKey::new(std::slice::from_ref(&run), false);
        let made = self.pages.get_or_make(&key, || self.make_report(&run));
        match made {
            Ok(html) => reply::report(html),
            Err(why) => self.no_report(&run, &why),
        }
    }

    fn make_report(&self, run: &ListedRun) -> Result<String, UnreadableRun> {
        let scored = self.read(run)?;
        let pages = RunPages::new([&scored], PageOptions::default())
            .with_replies(&self.replies)
            .with_links(links(run))
            .with_notes(notes(&scored));
        Ok(pages.of_run(&Gates::default(), &[]).html)
    }

    fn read(&self, run: &ListedRun) -> Result<ScoredRun, UnreadableRun> {
        ScoredRun::read(&run.folder.display().to_string(), &self.plan)
    }

    /// What is known of a run without results: how far it came, and how to go on.
    fn no_report(&self, run: &ListedRun, why: &UnreadableRun) -> Reply {
        let Ok(summary) = &run.known else { return no_such_run(&run.id) };
        let mut words = vec![why.to_string()];
        if !summary.is_complete {
            let progress = self.progress(run);
            words.push(format!("{}: {}", progress.state, progress.text()));
        }
        if !summary.command.is_empty() {
            words.push(format!("begun {} by: {}", summary.minute(), summary.command.join(" ")));
        }
        let is_broken = summary.is_complete;
        let status = if is_broken { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
        Message::new(&summary.name, &words.join("\n")).reply(status)
    }

    /// The report of a comparison. Runs that were ticked in the list come without an order, so the
    /// oldest becomes the baseline.
    pub(crate) fn comparison(&self, query: &str) -> Reply {
        let mut runs = Vec::new();
        for id in fields(query, "run") {
            match self.runs.find(&id) {
                Some(run) if runs.iter().any(|known: &ListedRun| known.id == run.id) => {}
                Some(run) => runs.push(run),
                None => return no_such_run(&id),
            }
        }
        let allow_mismatch = field(query, "allow_mismatch").is_some_and(|word| word == "1");
        if field(query, "by").is_some() {
            runs.sort_by_key(|run| run.known.as_ref().ok().map(|own| own.began.clone()));
            return reply::see_other(&address_of(&runs, allow_mismatch), None);
        }
        if !(2..=MOST_RUNS).contains(&runs.len()) {
            let why =
                format!("a comparison takes from 2 to {MOST_RUNS} runs: tick them in the list");
            return Message::new("Nothing to compare", &why).reply(StatusCode::BAD_REQUEST);
        }
        let key = PageKey::new(&runs, allow_mismatch);
        match self.pages.get_or_make(&key, || self.compare(&runs, allow_mismatch)) {
            Ok(html) => reply::report(html),
            Err(why) => no_comparison(&runs, &why),
        }
    }

    fn compare(&self, runs: &[ListedRun], allow_mismatch: bool) -> Result<String, NoReport> {
        let read = |run| self.read(run).map_err(NoReport::Unreadable);
        let scored: Vec<ScoredRun> = runs.iter().map(read).collect::<Result<_, _>>()?;
        let sides: Vec<ComparedRun<'_>> = scored.iter().map(side).collect();
        let options = CompareOptions {
            allow_mismatch,
            allow_incomplete: true,
            gates: self.plan.gates.clone(),
            ..CompareOptions::default()
        };
        let comparison =
            compare(sides[0], &sides[1..], &options).map_err(NoReport::Incomparable)?;
        let notes = scored.iter().flat_map(notes).collect();
        let pages = RunPages::new(&scored, PageOptions::default())
            .with_replies(&self.replies)
            .with_links(links_of_comparison(runs, allow_mismatch))
            .with_notes(notes);
        Ok(pages.of_comparison(&comparison, &self.plan.gates).html)
    }
}

fn side(run: &ScoredRun) -> ComparedRun<'_> {
    ComparedRun { facts: &run.facts, scores: &run.scores }
}

pub(crate) fn no_such_run(id: &str) -> Reply {
    let shown: String = id.chars().take(100).collect();
    not_found(&format!("there is no run `{shown}` here"))
}

fn address_of(runs: &[ListedRun], allow_mismatch: bool) -> String {
    address::of_comparison(runs.iter().map(|run| run.id.as_str()), allow_mismatch)
}

fn no_comparison(runs: &[ListedRun], why: &NoReport) -> Reply {
    const TITLE: &str = "These runs cannot be compared";
    let message = match why {
        NoReport::Unreadable(why) => Message::new(TITLE, &why.to_string()),
        NoReport::Incomparable(why @ Incomparable::Differ { differences, .. })
            if !differences.contains(&Difference::Kind) =>
        {
            Message::new(TITLE, &why.to_string()).link(
                address_of(runs, true),
                "compare the questions that are the same in all of them (allow_mismatch)",
            )
        }
        NoReport::Incomparable(why) => Message::new(TITLE, &why.to_string()),
    };
    message.reply(StatusCode::UNPROCESSABLE_ENTITY)
}

fn link(href: String, text: &str) -> PageLink {
    PageLink { href, text: text.to_owned() }
}

fn links(run: &ListedRun) -> Vec<PageLink> {
    vec![
        link("/".into(), "All runs"),
        link("/history".into(), "History"),
        link(address::of_label(&run.id), "Label answers"),
    ]
}

fn links_of_comparison(runs: &[ListedRun], allow_mismatch: bool) -> Vec<PageLink> {
    let mut links = vec![link("/".into(), "All runs")];
    if let [a, b] = runs {
        let ids = [b.id.as_str(), a.id.as_str()];
        links.push(link(address::of_comparison(ids, allow_mismatch), "The other way round"));
    }
    links
}

/// What could not be read of a run, in words.
fn notes(run: &ScoredRun) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(first) = run.problems.errors.first() {
        let n = run.problems.len();
        let (name, noun) = (&run.facts.name, if n == 1 { "problem" } else { "problems" });
        notes.push(format!("{name}: the results have {n} {noun}. The first: {}", first.brief()));
    }
    notes
}
