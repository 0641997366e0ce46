//! Asks an agent all questions, several at a time.

use std::net::Ipv4Addr;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::{StreamExt, stream};
use juror_bench::{
    AgentOptions, Attempt, BenchOptions, Benchmark, EquippedAgent, JudgeWord, Pool, Prepared,
    QuerySelection, Selected, in_order_of_trials, tried,
};
use juror_run::{AskOptions, Environment, Interrupt, Listener, Settings};
use juror_runs::{Home, Resume, RunPlace};
use serde_json::Value;

use crate::answer_line::AnswerLine;
use crate::error::AskError;
use crate::response::Response;
use crate::response_log::ResponseLog;

/// How an agent is asked.
pub struct QuestioningOptions {
    /// The settings, including all options that override them.
    pub settings: Settings,
    /// The agent.
    pub agent: AgentOptions,
    /// How much of the tool pool the agent sees.
    pub pool: Pool,
    /// Whether Juror makes all calls of the agent, so that it knows them all.
    pub sees_calls: bool,
    /// How the built-in agent's model is asked.
    pub models: AskOptions,
    /// The address of a running tool server, instead of one in this process.
    pub server: Option<String>,
    /// The token that the running server requires, or `env:NAME`.
    pub server_token: Option<String>,
    /// How many questions are asked at a time.
    pub jobs: usize,
    /// How often each question is asked.
    pub trials: NonZero<u16>,
}

/// An agent, and the questions that it is asked.
pub struct Questioning {
    subject: Readiness,
    identity: Value,
    /// Each question, once for each trial.
    questions: Vec<Selected>,
    jobs: usize,
    sees_calls: bool,
}

/// How far the agent is from being asked.
enum Readiness {
    Prepared(Box<Prepared>),
    Started(Box<Benchmark>),
}

/// What became of the questions.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// How many answers are wanted.
    pub n_all: usize,
    /// How many of them earlier processes recorded.
    pub n_known: usize,
    /// How many of those are errors.
    pub n_known_failed: usize,
    /// How many answers this process recorded.
    pub n_answered: usize,
    /// How many of those are errors.
    pub n_failed: usize,
    /// What the agent says its models cost, in US dollars.
    pub usd: Option<f64>,
    /// Why some questions were not asked, if any.
    pub stopped: Option<String>,
}

impl Asked {
    /// Counts an attempt.
    fn count(&mut self, told: &Told) {
        match told {
            Told::Left(why) => self.stopped = Some(why.clone()),
            Told::Answered { failed, usd } => {
                self.n_answered += 1;
                self.n_failed += usize::from(*failed);
                self.usd = usd.map_or(self.usd, |usd| Some(self.usd.unwrap_or(0.0) + usd));
            }
        }
    }
}

/// What became of one question.
enum Told {
    /// It stays open, because the run stops.
    Left(String),
    Answered {
        failed: bool,
        usd: Option<f64>,
    },
}

impl Questioning {
    /// Resolves the options and opens the tools, without starting the agent.
    pub async fn new(
        options: QuestioningOptions,
        questions: Vec<Selected>,
        environment: Environment,
        listener: Listener,
    ) -> Result<Questioning, AskError> {
        let (jobs, trials, sees_calls) = (options.jobs, options.trials, options.sees_calls);
        let plan = options.benchmark().resolve_for(questions.clone(), environment, listener)?;
        let prepared = plan.prepare().await?;
        let identity = prepared.identity().clone();
        let subject = Readiness::Prepared(Box::new(prepared));
        let questions = tried(questions, trials);
        Ok(Questioning { subject, identity, questions, jobs, sees_calls })
    }

    /// Returns what identifies the run: the agent, the questions, and everything else that affects
    /// what it answers.
    pub fn identity(&self) -> &Value {
        &self.identity
    }

    /// Returns the questions, each once for each trial.
    pub fn questions(&self) -> &[Selected] {
        &self.questions
    }

    /// Returns what runs the agent and its tools, once it is started.
    pub fn benchmark(&self) -> Option<&Benchmark> {
        match &self.subject {
            Readiness::Prepared(_) => None,
            Readiness::Started(benchmark) => Some(benchmark),
        }
    }

    /// Starts the agent. [`Questioning::run`] does so if it is needed; whoever is about to replace
    /// earlier responses should know before that the agent can be asked.
    pub async fn start(mut self) -> Result<Questioning, AskError> {
        if let Readiness::Prepared(prepared) = self.subject {
            let started = Box::pin(prepared.start(Home::nowhere())).await?;
            self.subject = Readiness::Started(Box::new(started));
        }
        Ok(self)
    }

    /// Whether all questions have a response.
    pub fn is_answered_by(&self, log: &ResponseLog) -> bool {
        self.questions.iter().all(|question| log.known_error(question).is_some())
    }

    /// Asks every question that has no response yet. The agent is not even started if there is none.
    pub async fn run(
        self,
        log: &ResponseLog,
        interrupt: &Interrupt,
        tell: impl Fn(AnswerLine),
    ) -> Result<Asked, AskError> {
        let (open, mut asked) = self.open_questions(log);
        if open.is_empty() {
            return Ok(asked);
        }
        let (jobs, sees_calls) = (self.jobs.max(1), self.sees_calls);
        let Readiness::Started(benchmark) = self.start().await?.subject else { return Ok(asked) };
        let n_done = AtomicUsize::new(asked.n_known);
        let n_all = asked.n_all;
        let asking =
            Asking { agent: benchmark.agent(), log, interrupt, sees_calls, tell, n_done, n_all };
        asking.agent.begin().await;
        let all = asking.ask_all(&open, jobs, &mut asked).await;
        asking.agent.close().await;
        asking.agent.end().await;
        all.map(|()| asked)
    }

    fn open_questions(&self, log: &ResponseLog) -> (Vec<Selected>, Asked) {
        let mut asked = Asked { n_all: self.questions.len(), ..Asked::default() };
        let mut open = Vec::new();
        for question in &self.questions {
            match log.known_error(question) {
                None => open.push(question.clone()),
                Some(is_error) => {
                    asked.n_known += 1;
                    asked.n_known_failed += usize::from(is_error);
                }
            }
        }
        (open, asked)
    }
}

/// Asking in progress.
struct Asking<'a, T> {
    agent: &'a EquippedAgent,
    log: &'a ResponseLog,
    interrupt: &'a Interrupt,
    sees_calls: bool,
    tell: T,
    n_done: AtomicUsize,
    n_all: usize,
}

impl<T: Fn(AnswerLine)> Asking<'_, T> {
    async fn ask_all(
        &self,
        open: &[Selected],
        jobs: usize,
        asked: &mut Asked,
    ) -> Result<(), AskError> {
        let each = stream::iter(in_order_of_trials(open)).map(|at| self.ask(&open[at]));
        let mut answers = each.buffer_unordered(jobs);
        while let Some(told) = answers.next().await {
            asked.count(&told?);
        }
        Ok(())
    }

    async fn ask(&self, question: &Selected) -> Result<Told, AskError> {
        let attempt = match self.agent.attempt(question, self.interrupt).await {
            Ok(attempt) => attempt,
            Err(why) => return Ok(Told::Left(why)),
        };
        let response = Response::of(&attempt, self.sees_calls);
        self.log.append(&response).await?;
        (self.tell)(self.line(&attempt, &response));
        Ok(Told::Answered { failed: response.error().is_some(), usd: attempt.usd })
    }

    fn line(&self, attempt: &Attempt, response: &Response<'_>) -> AnswerLine {
        AnswerLine {
            n_done: self.n_done.fetch_add(1, Ordering::Relaxed) + 1,
            n_all: self.n_all,
            id: attempt.query_id.clone(),
            trial: attempt.trial,
            question: attempt.query.clone(),
            n_steps: response.n_steps(),
            seconds: attempt.seconds,
            error: response.error().map(str::to_owned),
            remarks: attempt.remarks.clone(),
        }
    }
}

impl QuestioningOptions {
    /// Returns the benchmark that asks the same: nobody judges it, and it is stored elsewhere.
    fn benchmark(self) -> BenchOptions {
        BenchOptions {
            settings: self.settings,
            queries: QuerySelection::default(),
            agent: self.agent,
            pool: self.pool,
            judge: Some(JudgeWord::Nobody),
            repeats: None,
            ask: self.models,
            server: self.server,
            server_token: self.server_token,
            host: Ipv4Addr::LOCALHOST.into(),
            reply_options: Vec::new(),
            run: RunPlace::Nowhere,
            command: Vec::new(),
            resume: Resume::default(),
            jobs: self.jobs,
            trials: self.trials,
        }
    }
}
