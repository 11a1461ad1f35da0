//! The kinds of problems that games and files can have.

use crate::store::row::Severity;

/// Generates the enum of kinds, the array of all kinds and their words from one list, so that no kind can be
/// forgotten.
macro_rules! kinds {
    ($($(#[$doc:meta])+ $kind:ident => $word:literal,)+) => {
        /// A kind of problem, stored as a word in the database.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum ProblemKind {
            $($(#[$doc])+ $kind,)+
        }

        impl ProblemKind {
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
    /// An archive or a stream is damaged or ends too early; some or all of the data after the damaged place
    /// is lost.
    DamagedArchive => "damaged-archive",
    /// A move that the rules forbid.
    IllegalMove => "illegal-move",
    /// A move text that matches several legal moves.
    AmbiguousMove => "ambiguous-move",
    /// A move whose text cannot be parsed.
    UnreadableMove => "unreadable-move",
    /// A comment that is not closed; the rest of the game after its opening bracket is left out.
    UnclosedComment => "unclosed-comment",
    /// A variation that is not closed; the rest of the game after its opening bracket is left out.
    UnclosedVariation => "unclosed-variation",
    /// An invalid start position.
    InvalidFen => "invalid-fen",
    /// A chess variant that pgndex does not support. The moves of its games are skipped on purpose, so this
    /// is not an error.
    UnsupportedVariant => "unsupported-variant",
    /// Tags that are stored only in part, because they are very long or there are very many.
    LongTags => "long-tags",
    /// Annotations that are stored only in part, because they are very long or very deeply nested.
    LongAnnotations => "long-annotations",
    /// A game that is so long that only its beginning is stored.
    LongGame => "long-game",
    /// An unplayable move in a variation: the variation ends before it. The game itself continues.
    VariationMove => "variation-move",
    /// An unclosed `(` before the first move.
    StrayOpening => "stray-opening",
    /// A `)` or `}` without a matching opening bracket.
    StrayClosing => "stray-closing",
    /// An unknown word in the movetext.
    UnknownToken => "unknown-token",
    /// A move that is followed by other text without a space.
    MissingSpace => "missing-space",
    /// No result after the moves.
    MissingResult => "missing-result",
    /// The result after the moves differs from that in the tag `Result`.
    ResultMismatch => "result-mismatch",
    /// A tag pair that is not closed, or whose value is not quoted.
    UnclosedTag => "unclosed-tag",
    /// A tag whose value cannot be parsed, or an invalid line among the tags.
    InvalidTag => "invalid-tag",
    /// A tag that occurs more than once in a game.
    DuplicateTag => "duplicate-tag",
    /// Text in an unknown encoding, text with some bytes in another encoding, or text with U+FFFD.
    InvalidText => "invalid-text",
    /// A start position with more than 16 pieces of one side.
    ManyPieces => "many-pieces",
    /// Text outside games.
    OutsideText => "outside-text",
    /// A file with text but without games, or an empty stream.
    NoGame => "no-game",
}

impl ProblemKind {
    /// Parses the word for a kind; `None` if the word is unknown.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == word)
    }

    /// The severity of problems of this kind.
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::PROBLEM_KINDS;

    #[test]
    fn the_words_of_problem_kinds_agree_with_the_readers_list() {
        assert_eq!(ProblemKind::ALL.iter().map(|kind| kind.as_str()).collect::<Vec<_>>(), PROBLEM_KINDS);
    }

    #[test]
    fn the_word_of_each_kind_is_parsed_as_that_kind() {
        for &kind in ProblemKind::ALL {
            assert_eq!(ProblemKind::parse(kind.as_str()), Some(kind));
        }
        assert_eq!(ProblemKind::parse("no-game"), Some(ProblemKind::NoGame));
        assert_eq!(ProblemKind::parse("no-kind"), None);
    }

    /// The documentation lists the kinds in two tables: first the errors, then the warnings. Each name in a
    /// table must be the word of a kind with the severity of the table.
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
                let kind = ProblemKind::parse(word).unwrap_or_else(|| panic!("{word} is not parsed"));
                assert_eq!((kind.as_str(), kind.severity()), (word, severity));
                found.push(kind);
            }
        }
        found.sort_unstable();
        let mut all = ProblemKind::ALL.to_vec();
        all.sort_unstable();
        assert_eq!(found, all);
    }
}
