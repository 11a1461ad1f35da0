//! Tokens of movetext.

use crate::board::GameResult;

/// A token of movetext. Move numbers are skipped, and so are annotations unless they are
/// [requested](super::Lexer::next_annotated).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// A word that could be a move.
    Move(&'a [u8]),
    /// An annotation, if [requested](super::Lexer::next_annotated).
    Annotation(Annotation<'a>),
    /// A result, which ends the game.
    Result(GameResult),
    /// A word that does not belong in movetext.
    Junk(&'a [u8]),
    /// A comment that is not closed within the game.
    UnclosedComment,
    /// A variation that is not closed within the game.
    UnclosedVariation,
    /// An unclosed bracket of a variation before the first move. There is no move that a variation could
    /// replace, so only the bracket is skipped.
    StrayOpening,
    /// A `)` or `}` without an opening bracket.
    StrayClosing,
    /// The next game begins, and this game has no result. The next game begins with a tag pair at the start
    /// of a line. After a move of this game, it can also begin with a tag pair elsewhere in a line. After a
    /// move and a blank line, it can begin with White's move 1.
    NextGame,
    /// The end of the text.
    End,
}

/// An annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Annotation<'a> {
    /// A comment without its braces or square brackets, or the text after a `;` up to the end of the line. A
    /// command outside braces, such as `[%clk 0:01:00]`, keeps its brackets.
    Comment(&'a [u8]),
    /// The number of a NAG, written as `$14` or as a sign such as `!?`.
    Nag(u32),
    /// A closed variation. The lexer is positioned after it.
    Variation(Variation),
    /// A nested variation begins.
    Opening,
    /// The nested variation ends.
    Closing,
}

/// The range of a variation, including nested ones, without its brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variation {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Variation {
    /// The length of the variation's text, in bytes.
    #[must_use]
    pub const fn length(self) -> usize {
        self.end - self.start
    }

    /// The variation's text, a part of `text`.
    #[must_use]
    pub fn text(self, text: &[u8]) -> &[u8] {
        &text[self.start..self.end]
    }
}
