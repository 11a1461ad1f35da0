//! The kinds of problems that games and files can have.

use crate::store::row::Severity;

/// What is wrong, as a word in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// A file or directory cannot be read.
    UnreadableSource,
    /// An archive or a stream is damaged or ends too early: what follows is lost.
    DamagedArchive,
    /// A move that the rules forbid.
    IllegalMove,
    /// A move that fits two legal moves.
    AmbiguousMove,
    /// A move whose text cannot be read.
    UnreadableMove,
    /// A comment without an end: what follows in the game is lost.
    UnclosedComment,
    /// A variation without an end: what follows in the game is lost.
    UnclosedVariation,
    /// A start position that is none.
    InvalidFen,
    /// A variant whose rules are not known: its games are skipped on purpose, and nothing of them is lost by accident.
    UnsupportedVariant,
    /// Tags of which only a part is kept, as they are very long or very many.
    LongTags,
    /// A game so long that only its beginning is kept.
    LongGame,
    /// A `(` before the first move that is not closed.
    StrayOpening,
    /// A `)` or `}` that closes nothing.
    StrayClosing,
    /// A word in the movetext that is none of its parts.
    UnknownToken,
    /// A move and what follows it without a space between.
    MissingSpace,
    /// No result after the moves.
    MissingResult,
    /// The result after the moves is not that of the tag.
    ResultMismatch,
    /// A tag pair without its end.
    UnclosedTag,
    /// A tag whose value cannot be read, or a line among the tags that is none.
    InvalidTag,
    /// Text that belongs to no game.
    OutsideText,
    /// A file has text and no game.
    NoGame,
}

impl Kind {
    /// All there are.
    const ALL: [Self; 21] = [
        Self::UnreadableSource,
        Self::DamagedArchive,
        Self::IllegalMove,
        Self::AmbiguousMove,
        Self::UnreadableMove,
        Self::UnclosedComment,
        Self::InvalidFen,
        Self::UnsupportedVariant,
        Self::LongTags,
        Self::LongGame,
        Self::UnclosedVariation,
        Self::StrayOpening,
        Self::StrayClosing,
        Self::UnknownToken,
        Self::MissingSpace,
        Self::MissingResult,
        Self::ResultMismatch,
        Self::UnclosedTag,
        Self::InvalidTag,
        Self::OutsideText,
        Self::NoGame,
    ];

    /// The kind that a word in the database means.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// The word in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnreadableSource => "unreadable-source",
            Self::DamagedArchive => "damaged-archive",
            Self::IllegalMove => "illegal-move",
            Self::AmbiguousMove => "ambiguous-move",
            Self::UnreadableMove => "unreadable-move",
            Self::UnclosedComment => "unclosed-comment",
            Self::InvalidFen => "invalid-fen",
            Self::UnsupportedVariant => "unsupported-variant",
            Self::LongTags => "long-tags",
            Self::LongGame => "long-game",
            Self::UnclosedVariation => "unclosed-variation",
            Self::StrayOpening => "stray-opening",
            Self::StrayClosing => "stray-closing",
            Self::UnknownToken => "unknown-token",
            Self::MissingSpace => "missing-space",
            Self::MissingResult => "missing-result",
            Self::ResultMismatch => "result-mismatch",
            Self::UnclosedTag => "unclosed-tag",
            Self::InvalidTag => "invalid-tag",
            Self::OutsideText => "outside-text",
            Self::NoGame => "no-game",
        }
    }

    /// Whether something is lost.
    #[must_use]
    pub const fn severity(self) -> Severity {
        match self {
            Self::UnreadableSource
            | Self::DamagedArchive
            | Self::IllegalMove
            | Self::AmbiguousMove
            | Self::UnreadableMove
            | Self::UnclosedComment
            | Self::UnclosedVariation
            | Self::InvalidFen
            | Self::LongTags
            | Self::LongGame
            | Self::NoGame => Severity::Error,
            _ => Severity::Warning,
        }
    }

    /// Whether a row of this kind may have this severity: its own, or that which earlier programs wrote.
    pub(crate) fn may_have(self, severity: Option<&str>) -> bool {
        let was_error = matches!(self, Self::UnsupportedVariant);
        severity == Some(self.severity().as_str())
            || (was_error && severity == Some(Severity::Error.as_str()))
    }
}
