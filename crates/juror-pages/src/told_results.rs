//! Results of questions, read by the rules that they were made by.

use std::path::Path;

use juror_document::{Document, Path as Place, Problem, Problems, UnplacedProblem};
use juror_read::read_results;
use juror_run::Plan;
use juror_runs::{RunFile, StoredRun};
use juror_score::{Aggregator, AskedLike, Profile, Release};

use crate::scored_run::plan_of;

/// Results of files, taken together and folded by the rules that they were made by.
pub struct ToldResults {
    /// Their numbers, with the rules that these were collected by.
    pub aggregator: Aggregator,
    /// How many there are.
    pub n_results: usize,
    /// Results that could not be read, and other oddities.
    pub problems: Problems,
}

impl ToldResults {
    /// Reads results. If the user chose no rules, results that tell that they are of profile 6 are read
    /// by it, and those that do not tell by profile 5, with a word where it matters.
    ///
    /// Fails if nothing in a file can be read.
    pub fn read(documents: &[Document], plan: &Plan) -> Result<ToldResults, Problems> {
        let mut read = ToldResults::by(plan, documents)?;
        let told = read.aggregator.told_rules();
        if let Some(profile) = plan.profile_for(told) {
            read = ToldResults::by(&plan.by(profile), documents)?;
        }
        if let Some(first) = documents.first() {
            read.problems.extend(unsure(first, plan.n_unsure(told)));
        }
        Ok(read)
    }

    fn by(plan: &Plan, documents: &[Document]) -> Result<ToldResults, Problems> {
        let mut all = ToldResults {
            aggregator: plan.aggregator(),
            n_results: 0,
            problems: Problems::default(),
        };
        for document in documents {
            let (n_results, problems) = read_results(document, &mut all.aggregator)?;
            if n_results == 0 && !problems.is_empty() {
                return Err(problems);
            }
            all.n_results += n_results;
            all.problems.extend(problems);
        }
        Ok(all)
    }
}

/// Says that nobody knows whether the numbers of failed responses count.
fn unsure(document: &Document, n: usize) -> Problems {
    let problem = Problem::UnknownProfile { n };
    let unplaced = UnplacedProblem { offset: 0, path: Place::default(), problem };
    if n == 0 { Problems::default() } else { document.locate(unplaced.into()) }
}

/// Returns the plan of the run in whose folder a file of results is, if it is in one, and if the user
/// chose no rules.
pub fn plan_beside(name: &str, plan: &Plan) -> Option<Plan> {
    plan.profile_of_6.as_ref()?;
    let path = Path::new(name);
    (path.file_name()? == RunFile::Results.name()).then_some(())?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let run = StoredRun::open(folder.unwrap_or(Path::new("."))).ok()?;
    run.manifest.rules().map(|_| plan_of(&run.manifest, plan))
}

/// The profile whose conventions rules follow.
pub fn release_of(profile: &Profile) -> Release {
    match profile.asked_like {
        AskedLike::Release5 => Release::Five,
        AskedLike::Release6 => Release::Six,
    }
}
