//! The runs of a folder as web pages.
//!
//! | request | response |
//! |---|---|
//! | `GET /` | all runs, the newest first, and how far those came that are not finished |
//! | `GET /events` | their progress, as server-sent events |
//! | `GET /run/{id}` | the report of a run |
//! | `GET /compare?run={id}&run={id}…` | the report of a comparison; the first run is the baseline |
//! | `GET /history?metric={name}` | a metric over all runs |
//! | `GET /history?question={id}&group={name}` | a question over all runs |
//! | `GET /label/{id}?metric={name}` | the next answer of a run for a person to label |
//! | `POST /label/{id}` | keeps a label |
//!
//! A [`Viewer`] is made from a [`ViewerSetup`], and [`Viewer::serve`] accepts connections until it is
//! told to stop. The id of a run is the name of its folder. It is looked up among the folders that
//! there are, and never becomes a path. Pages are made when they are asked for, and kept until a
//! file of their runs changes.
//!
//! You will not find the HTML of reports here, nor scoring, nor printing.

mod address;
mod connection;
mod events;
mod history_page;
mod journals;
mod judged_runs;
mod label_form;
mod label_page;
mod list_page;
mod message_page;
mod page_cache;
mod question_page;
mod reply;
mod report_pages;
mod request_body;
mod routes;
mod run_list;
mod run_summary;
mod stamp;
mod token;
mod viewer;
mod words;

pub use viewer::{Viewer, ViewerSetup};
