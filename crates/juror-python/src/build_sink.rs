//! The sink of an evaluation: sends plans to the thread that holds Python, which builds the
//! results.

use std::sync::mpsc::{Receiver, SyncSender};

use juror_report::emit_result;
use juror_run::{Evaluation, EvaluationError, Plan, RecordWriter, Sink};
use juror_score::{Aggregator, Judgement, Profile, Record};

use crate::build_plan::{BuildPlan, Documents, PlanWriter};
use crate::engine::Message;
use crate::lazy_results::Unbuilt;

/// Sends plans as they are written, to be executed at once. If both inputs are files, plans are
/// kept instead and executed when somebody looks at the results.
pub(crate) struct BuildSink<'s> {
    documents: &'s Documents,
    plan: &'s Plan,
    messages: &'s SyncSender<Message>,
    /// Executed plans, to be reused: fresh memory is expensive.
    used: &'s Receiver<BuildPlan>,
    kept: Vec<BuildPlan>,
}

impl<'s> BuildSink<'s> {
    pub(crate) fn new(
        documents: &'s Documents,
        plan: &'s Plan,
        messages: &'s SyncSender<Message>,
        used: &'s Receiver<BuildPlan>,
    ) -> BuildSink<'s> {
        BuildSink { documents, plan, messages, used, kept: Vec::new() }
    }
}

impl Sink for BuildSink<'_> {
    type Buffer = BuildPlan;
    type Writer<'w>
        = BuildWriter<'w>
    where
        Self: 'w;
    /// Results of files, not built yet.
    type Product = Option<Box<Unbuilt>>;

    fn begin<'w>(
        &mut self,
        evaluation: &'w Evaluation<'_>,
        _: &[Judgement],
    ) -> Result<BuildWriter<'w>, EvaluationError>
    where
        Self: 'w,
    {
        Ok(BuildWriter { documents: self.documents, profile: &evaluation.plan.profile })
    }

    fn take(&mut self, plan: &mut BuildPlan) -> Result<(), EvaluationError> {
        if self.documents.are_both_files() {
            let next = BuildPlan::as_large_as(plan);
            self.kept.push(std::mem::replace(plan, next));
            return Ok(());
        }
        let next = self.used.try_recv().unwrap_or_default();
        let sent = self.messages.send(Message::Results(std::mem::replace(plan, next)));
        sent.map_err(|_| EvaluationError::Interrupted)
    }

    fn end(self, aggregator: Aggregator) -> Result<Option<Box<Unbuilt>>, EvaluationError> {
        let unbuilt = || {
            let (build_plans, plan) = (self.kept, self.plan.clone());
            Box::new(Unbuilt { build_plans, aggregator, plan })
        };
        Ok(self.documents.are_both_files().then(unbuilt))
    }
}

/// Writes plans on the scoring threads.
pub(crate) struct BuildWriter<'w> {
    documents: &'w Documents,
    profile: &'w Profile,
}

impl RecordWriter for BuildWriter<'_> {
    type Buffer = BuildPlan;
    const AHEAD: usize = 16;

    fn buffer(&self) -> BuildPlan {
        BuildPlan::default()
    }

    fn write(&self, record: &Record<'_>, _: usize, plan: &mut BuildPlan) {
        emit_result(record, self.profile, &mut PlanWriter::new(self.documents, plan));
    }
}
