//! Keys that have no character of their own.

/// A key, as the character by which `WebDriver` knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Opens, or follows a link.
    Enter,
    /// Closes, or leaves a field.
    Escape,
    /// Moves the focus on.
    Tab,
    /// Deletes the character before the cursor.
    Backspace,
    /// The arrow that points down.
    Down,
    /// The arrow that points up.
    Up,
}

impl Key {
    /// The character that stands for the key.
    pub fn character(self) -> char {
        match self {
            Key::Enter => '\u{e007}',
            Key::Escape => '\u{e00c}',
            Key::Tab => '\u{e004}',
            Key::Backspace => '\u{e003}',
            Key::Down => '\u{e015}',
            Key::Up => '\u{e013}',
        }
    }
}
