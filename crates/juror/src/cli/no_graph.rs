//! What stands in for graphs in a build without them: the same commands and options, which say so.

/// What every such command says.
fn refusal() -> anyhow::Error {
    anyhow::anyhow!(
        "this build of juror has no graphs\n  hint: build it without --no-default-features: cargo install --locked --path crates/juror"
    )
}

/// `--graph` of `juror eval`.
pub(super) mod graph_args {
    use clap::Args;
    use juror_document::Document;
    use juror_run::Settings;

    use super::refusal;
    use crate::cli::eval::{EvalArgs, FreshGraph};

    #[derive(Args, Clone, Debug, Default)]
    pub(in crate::cli) struct GraphArgs {
        /// This build has no graphs.
        #[arg(long = "graph", value_name = "FILE|URL", env = "JUROR_GRAPH", hide = true)]
        graphs: Vec<String>,
    }

    impl GraphArgs {
        pub(in crate::cli) fn is_given(&self) -> bool {
            !self.graphs.is_empty()
        }
    }

    /// There is none.
    pub(in crate::cli) enum FreshReference<'r> {
        #[expect(dead_code, reason = "it borrows what a reference with fresh results borrows")]
        Never(std::convert::Infallible, &'r Document),
    }

    impl<'r> FreshReference<'r> {
        pub(in crate::cli) fn ask(
            _: &EvalArgs,
            _: &Settings,
            _: &'r Document,
        ) -> anyhow::Result<FreshReference<'r>> {
            Err(refusal())
        }

        fn never(&self) -> ! {
            let FreshReference::Never(never, _) = self;
            match *never {}
        }

        pub(in crate::cli) fn document(&self) -> &Document {
            self.never()
        }

        pub(in crate::cli) fn about(&self) -> &FreshGraph {
            self.never()
        }

        pub(in crate::cli) fn is_incomplete(&self) -> bool {
            self.never()
        }

        pub(in crate::cli) fn mark(&mut self, _: Option<&FreshGraph>) -> anyhow::Result<()> {
            self.never()
        }

        pub(in crate::cli) fn rerun_actual(
            &mut self,
            _: &EvalArgs,
            _: &Document,
        ) -> anyhow::Result<Document> {
            self.never()
        }

        pub(in crate::cli) fn blame(
            &self,
            _: &EvalArgs,
            _: &Settings,
            _: &Document,
        ) -> anyhow::Result<FreshGraph> {
            self.never()
        }

        pub(in crate::cli) fn tell_moved(&self, _: &FreshGraph, _: bool) {
            self.never()
        }
    }

    /// `juror demo --graph`.
    pub(in crate::cli) fn demo() -> anyhow::Result<crate::exit::Exit> {
        Err(refusal())
    }
}

/// `juror reference`.
pub(super) mod reference {
    use std::ffi::OsString;

    use clap::Args;

    use super::refusal;
    use crate::exit::Exit;

    /// Keep expected results true, which this build cannot do: it has no graphs.
    #[derive(Args)]
    pub(in crate::cli) struct ReferenceArgs {
        /// Any arguments.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
        rest: Vec<OsString>,
    }

    pub(in crate::cli) fn run(args: &ReferenceArgs) -> anyhow::Result<Exit> {
        let _ = &args.rest;
        Err(refusal())
    }
}
