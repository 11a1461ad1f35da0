//! Texts of a batch.

/// A range of a batch's text: byte offset and length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// Offset in bytes.
    pub start: u32,
    /// Length in bytes.
    pub len: u32,
}

impl Text {
    /// Appends `piece` to a batch's text.
    ///
    /// # Panics
    /// If the batch's text, or `piece`, has 4 GiB or more.
    pub fn push(text: &mut String, piece: &str) -> Self {
        let start = u32::try_from(text.len()).expect("batch text under 4 GiB");
        text.push_str(piece);
        Self { start, len: u32::try_from(piece.len()).expect("text under 4 GiB") }
    }

    /// The text itself.
    #[must_use]
    pub fn of(self, text: &str) -> &str {
        &text[self.start as usize..][..self.len as usize]
    }
}
