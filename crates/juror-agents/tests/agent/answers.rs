//! A search becomes the answer that is read from its answer file.

use juror_agents::chat_agent::Transcript;
use juror_document::{Document, Format};
use juror_json::python::Layout;
use juror_testing::Checked;
use juror_toolbench::answer::{Answer, Messages, Thoughts, convert};

/// Compares the answer that is made of a search with the one that is read from its answer file.
pub(crate) fn check_answer(transcript: &Transcript, method: &str) -> Checked {
    let file = serde_json::to_vec(&transcript.raw()).map_err(|error| error.to_string())?;
    let file = Document::new("the answer file", file, Format::Json).expect("UTF-8");
    let read = convert(&file, method, Thoughts::Dropped).map_err(|error| error.to_string())?.answer;
    let made = Answer::from(&transcript.search);
    let [read_nodes, made_nodes] = [&read, &made].map(details);
    if read.final_answer.get() != made.final_answer.get() || read_nodes != made_nodes {
        return Err(format!("read {read_nodes}, made {made_nodes}"));
    }
    let messages = |answer: &Answer<'_>| -> Vec<(usize, String)> {
        answer.nodes.iter().map(|node| (node.depth(), node.message.get().to_owned())).collect()
    };
    assert_eq!(messages(&read), messages(&made), "to the letter");
    Ok(())
}

fn details(answer: &Answer<'_>) -> String {
    let mut details = String::new();
    answer.write_details(Messages::Objects, Layout::LINE, &mut details);
    details
}
