//! Formats annotations for people: clocks, evaluations, NAGs, comments.

use pgndex::pgn::{Eval, MoveNumbers, time};
use pgndex::store::PositionAnnotations;
use unicode_width::UnicodeWidthStr as _;

use crate::cli::render::text::printable;

const MINUTE: u32 = 6000;

/// A clock: `3:00`, `1:02:03`, and tenths below a minute: `0:12.3`.
pub(crate) fn clock(centiseconds: u32) -> String {
    let step = if centiseconds < MINUTE { 10 } else { 100 };
    let text = time(centiseconds / step * step);
    match text.strip_prefix("0:") {
        Some(short) => short.strip_prefix('0').unwrap_or(short).to_owned(),
        None => text,
    }
}

/// Time used: `2.5s`, `1:30`.
fn elapsed(centiseconds: u32) -> String {
    match (centiseconds / 100, centiseconds / 10 % 10) {
        _ if centiseconds >= MINUTE => clock(centiseconds),
        (seconds, 0) => format!("{seconds}s"),
        (seconds, tenths) => format!("{seconds}.{tenths}s"),
    }
}

/// An evaluation: `+0.35`, `#-3`.
pub(crate) fn value(eval: Eval) -> String {
    match eval {
        Eval::Mate(moves) => format!("#{moves}"),
        Eval::Centipawns(0) => "0.00".to_owned(),
        Eval::Centipawns(value) => {
            let (sign, value) = (if value < 0 { '-' } else { '+' }, value.unsigned_abs());
            format!("{sign}{}.{:02}", value / 100, value % 100)
        }
    }
}

/// The time shown for a move: the time left on the clock, or otherwise the time used.
pub(crate) fn move_time(numbers: MoveNumbers) -> Option<String> {
    numbers.clock.map(clock).or(numbers.elapsed.map(elapsed))
}

/// The comments to show: an engine's scores and lists of values are omitted.
pub(crate) fn comments(remarks: &PositionAnnotations) -> impl Iterator<Item = String> {
    remarks
        .comments
        .iter()
        .filter(|text| !is_list_of_values(text) && !is_score(text))
        .map(|text| printable(text))
}

/// Whether a comment is a list such as `d=33, sd=33, mt=37918, wv=0.60`: at least half of its parts have this
/// form.
fn is_list_of_values(text: &str) -> bool {
    let is_pair = |item: &str| {
        let key = item.trim_ascii().split_once('=').map(|(key, _)| key);
        key.is_some_and(|key| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    };
    let (mut items, mut pairs) = (0, 0);
    for item in text.split(',').filter(|item| !item.trim_ascii().is_empty()) {
        items += 1;
        pairs += usize::from(is_pair(item));
    }
    pairs > 0 && pairs * 2 >= items
}

/// Whether a comment is only an engine's score, such as `+0.25/12 2.3s`.
fn is_score(text: &str) -> bool {
    let score =
        text.strip_prefix('(').and_then(|text| text.split_once(") ")).map_or(text, |(_, score)| score);
    let is_sign = |byte: u8| {
        byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b':' | b'/' | b' ' | b',' | b's' | b'M')
    };
    score.contains('/') && score.contains(['.', 'M']) && score.bytes().all(is_sign)
}

/// Wraps a text at `width` columns; a longer word gets a line of its own.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut columns = 0;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let length = word.width();
        match lines.last_mut().filter(|_| columns + 1 + length <= width) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
                columns += 1 + length;
            }
            None => {
                lines.push(word.to_owned());
                columns = length;
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_values_are_short() {
        for (centiseconds, text) in [
            (18_000, "3:00"),
            (372_300, "1:02:03"),
            (1_239, "0:12.3"),
            (6_090, "1:00"),
            (60_000, "10:00"),
            (0, "0:00"),
        ] {
            assert_eq!(clock(centiseconds), text);
        }
        for (centiseconds, text) in [(0, "0s"), (155, "1.5s"), (200, "2s"), (9_050, "1:30")] {
            assert_eq!(elapsed(centiseconds), text);
        }
        for (eval, text) in [
            (Eval::Centipawns(35), "+0.35"),
            (Eval::Centipawns(-1205), "-12.05"),
            (Eval::Centipawns(0), "0.00"),
            (Eval::Mate(-3), "#-3"),
        ] {
            assert_eq!(value(eval), text);
        }
    }

    #[test]
    fn lists_of_values_are_distinguished_from_texts() {
        for text in ["d=33, sd=33, mt=37918, wv=0.60,", "book, mb=+0+0+0+0+0,", "d=1, pv=e4 e5, White mates"]
        {
            assert!(is_list_of_values(text), "{text}");
        }
        for text in ["+0.25/12 2.3s", "-M9/30", "(e7e5) +0.12/13 1:05"] {
            assert!(is_score(text), "{text}");
        }
        for text in ["1/2", "1.5/2 for him", "+0.25/12 2.3s, White mates"] {
            assert!(!is_score(text), "{text}");
        }
        for text in ["a good move", "after x=y, this, that and more", "12.Nd4, 13.Qxc6", ""] {
            assert!(!is_list_of_values(text), "{text}");
        }
    }

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrapped("a bb ccc dddddddd e", 6), ["a bb", "ccc", "dddddddd", "e"]);
        assert_eq!(wrapped("\u{4e2d}\u{6587} \u{4e2d} a", 6), ["\u{4e2d}\u{6587}", "\u{4e2d} a"]);
        assert!(wrapped("", 6).is_empty());
    }
}
