//! placeholder
/// x
pub struct Highlights;
/// x
pub struct Palette;
/// x
pub struct QuestionNote;
/// x
pub fn summary() {}
