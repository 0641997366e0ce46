//! `juror view` as its users meet it: a process, sockets, files.

mod access;
mod broken;
mod command;
mod history;
mod http;
mod labels;
mod live;
mod pages;
mod stage;
