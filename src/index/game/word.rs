//! What words of movetext and names of variants mean.

use crate::board::Position;

/// How long the move is that a word begins with, if a result, a move number or another move is all that follows it.
pub(crate) fn glued_move(word: &[u8]) -> Option<usize> {
    let results =
        [&b"1-0"[..], b"0-1", b"1/2-1/2"].into_iter().filter_map(|result| word.strip_suffix(result));
    let digits = word.iter().rev().take(3).take_while(|byte| byte.is_ascii_digit()).count();
    let numbers = (1..=digits).map(|count| &word[..word.len() - count]);
    results.chain(numbers).find(|word| Position::is_san(word)).map(<[u8]>::len).or_else(|| glued_moves(word))
}

/// How long the first move is of two that are a word.
fn glued_moves(word: &[u8]) -> Option<usize> {
    const LONGEST: usize = 16;
    let parts = (2..word.len().min(LONGEST).saturating_sub(1)).filter(|_| word.len() <= LONGEST);
    parts.into_iter().find(|&length| {
        let (first, second) = word.split_at(length);
        Position::is_san(first) && Position::is_san(second)
    })
}

/// Whether a word, in whatever notation, may be a move: it has a letter and the number of a rank.
pub(crate) fn may_be_move(word: &str) -> bool {
    const LONGEST: usize = 24;
    word.len() <= LONGEST
        && word.contains(char::is_alphabetic)
        && word.contains(|letter| matches!(letter, '1'..='8'))
}

/// Words that annotators write in movetext and that say nothing about the moves.
pub(crate) fn is_annotation(token: &[u8]) -> bool {
    matches!(token, b"N" | b"D" | b"TN" | b"RR" | b"e.p." | b"e.p" | b"ep" | b"ch" | b"mate" | b"^" | b"%")
}

/// Names under which standard chess and Chess960 go.
pub(crate) fn is_known_variant(name: &str) -> bool {
    const NAMES: [&str; 13] = [
        "standard",
        "normal",
        "chess",
        "classical",
        "orthodox",
        "fromposition",
        "chess960",
        "960",
        "fischerandom",
        "fischerrandom",
        "fischerrandomchess",
        "fischerandomchess",
        "freestyle",
    ];
    let plain = || name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase);
    NAMES.iter().any(|known| known.chars().eq(plain()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glued_words_begin_with_a_move() {
        for (word, length) in [
            ("d62", Some(2)),
            ("Nd712", Some(3)),
            ("O-O-O120", Some(5)),
            ("e8=Q1-0", Some(4)),
            ("Kb30-1", Some(3)),
            ("Nf3Nc6", Some(3)),
            ("O-ONf6", Some(3)),
            ("e8=Qb6", Some(4)),
            ("Nc5+Nc5+", Some(4)),
            ("Nf3Nc6Bb5", None),
            ("e4e5d", None),
            ("Sf31", None),
            ("12", None),
            ("e4", None),
        ] {
            assert_eq!(glued_move(word.as_bytes()), length, "{word}");
        }
    }
}
