//! The kinds of problems that games and files can have.

use crate::store::row::Severity;

/// Makes the kinds, their list and their words of one table, so that none is left out of one of them.
macro_rules! kinds {
    ($($(#[$doc:meta])+ $kind:ident => $word:literal,)+) => {
        /// What is wrong, as a word in the database.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Kind {
            $($(#[$doc])+ $kind,)+
        }

        impl Kind {
            /// All there are.
            const ALL: &'static [Self] = &[$(Self::$kind),+];

            /// The word in the database.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$kind => $word,)+
                }
            }
        }
    };
}

kinds! {
    /// A file or directory cannot be read.
    UnreadableSource => "unreadable-source",
    /// An archive or a stream is damaged or ends too early: what follows is lost.
    DamagedArchive => "damaged-archive",
    /// A move that the rules forbid.
    IllegalMove => "illegal-move",
    /// A move that fits two legal moves.
    AmbiguousMove => "ambiguous-move",
    /// A move whose text cannot be read.
    UnreadableMove => "unreadable-move",
    /// A comment without an end: what follows in the game is lost.
    UnclosedComment => "unclosed-comment",
    /// A variation without an end: what follows in the game is lost.
    UnclosedVariation => "unclosed-variation",
    /// A start position that is none.
    InvalidFen => "invalid-fen",
    /// A variant whose rules are not known: its games are skipped on purpose, and nothing of them is lost by accident.
    UnsupportedVariant => "unsupported-variant",
    /// Tags of which only a part is kept, as they are very long or very many.
    LongTags => "long-tags",
    /// Annotations of which only a part is kept, as they are very long or nested very deep.
    LongAnnotations => "long-annotations",
    /// A game so long that only its beginning is kept.
    LongGame => "long-game",
    /// A move of a variation that cannot be played: the variation ends before it. The game itself goes on.
    VariationMove => "variation-move",
    /// A `(` before the first move that is not closed.
    StrayOpening => "stray-opening",
    /// A `)` or `}` that closes nothing.
    StrayClosing => "stray-closing",
    /// A word in the movetext that is none of its parts.
    UnknownToken => "unknown-token",
    /// A move and what follows it without a space between.
    MissingSpace => "missing-space",
    /// No result after the moves.
    MissingResult => "missing-result",
    /// The result after the moves is not that of the tag.
    ResultMismatch => "result-mismatch",
    /// A tag pair without its end.
    UnclosedTag => "unclosed-tag",
    /// A tag whose value cannot be read, or a line among the tags that is none.
    InvalidTag => "invalid-tag",
    /// A tag that a game has twice.
    DuplicateTag => "duplicate-tag",
    /// Text in an unknown encoding, or with some bytes of another one.
    InvalidText => "invalid-text",
    /// A start position with more than 16 pieces of one side.
    ManyPieces => "many-pieces",
    /// Text that belongs to no game.
    OutsideText => "outside-text",
    /// A file has text and no game.
    NoGame => "no-game",
}

impl Kind {
    /// The kind that a word in the database means.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == word)
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
            | Self::LongAnnotations
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::PROBLEM_KINDS;

    #[test]
    fn the_words_are_those_that_readers_know() {
        assert_eq!(Kind::ALL.iter().map(|kind| kind.as_str()).collect::<Vec<_>>(), PROBLEM_KINDS);
    }

    #[test]
    fn the_word_of_each_kind_is_read_as_that_kind() {
        for &kind in Kind::ALL {
            assert_eq!(Kind::parse(kind.as_str()), Some(kind));
        }
        assert_eq!(Kind::parse("no-game"), Some(Kind::NoGame));
        assert_eq!(Kind::parse("no-kind"), None);
    }

    /// The documentation has each kind in a table, with the errors before the warnings; its words are read as kinds of that severity.
    #[test]
    fn all_kinds_are_documented_and_read() {
        let document = include_str!("../../docs/indexing.md");
        let begin = document.find("\n| error | ").expect("the errors");
        let tables = document[begin..].split("\nThese options").next().expect("the tables");
        let (errors, warnings) = tables.split_once("\n| warning | ").expect("the warnings");
        let mut found = Vec::new();
        for (table, severity) in [(errors, Severity::Error), (warnings, Severity::Warning)] {
            let names = table.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
            for word in names.flat_map(|names| names.split(", ")).map(|word| word.trim_matches('`')) {
                let kind = Kind::parse(word).unwrap_or_else(|| panic!("{word} is not read"));
                assert_eq!((kind.as_str(), kind.severity()), (word, severity));
                found.push(kind);
            }
        }
        found.sort_unstable();
        let mut all = Kind::ALL.to_vec();
        all.sort_unstable();
        assert_eq!(found, all);
    }
}
