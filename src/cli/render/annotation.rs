//! Formats annotations for people: clocks, evaluations, NAGs, comments.

use std::io::{self, Write};

use pgndex::board::Color;
use pgndex::pgn::{Eval, MoveNumbers, time};
use pgndex::store::{GameAnnotations, PositionAnnotations};
use unicode_width::UnicodeWidthStr as _;

use crate::cli::render::{is_ascii, printable};

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

/// The maximum width of a curve, in columns.
const WIDTH: usize = 60;
/// The maximum width of the texts before and after a curve, added up.
const TEXT: usize = 38;
/// The characters of a curve, from the lowest to the highest.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The characters of a curve in ASCII, from the lowest to the highest.
const DIGITS: [char; 8] = ['1', '2', '3', '4', '5', '6', '7', '8'];

/// Writes a line for the evaluations of a game and one for each player's clock, as far as the PGN has them.
/// `first` is the side that moves first.
///
/// # Errors
/// Errors of writing.
pub(crate) fn write_curves(
    out: &mut impl Write,
    annotations: &GameAnnotations,
    first: Color,
    columns: usize,
) -> io::Result<()> {
    let width = columns.saturating_sub(TEXT).clamp(10, WIDTH);
    let mut lines = Vec::new();
    let values: Vec<Eval> = annotations.numbers().filter_map(|(_, numbers)| numbers.eval).collect();
    if let Some((from, to)) = ends(&values) {
        let chances: Vec<f64> = chances(&values).collect();
        let curve = curve(&chances, width, |chances| (chances + 1.0) / 2.0);
        let (from, to) = (value(from), value(to));
        lines.push(format!("  Evaluation     {curve}  {from} to {to}"));
    }
    for (side, name) in [(Color::White, "White's clock"), (Color::Black, "Black's clock")] {
        let moved = |ply: u32| if ply % 2 == 1 { first } else { first.other() };
        let clocks: Vec<u32> = annotations
            .numbers()
            .filter(|(ply, _)| ply.0 > 0 && moved(ply.0) == side)
            .filter_map(|(_, numbers)| numbers.clock)
            .collect();
        if let Some((from, to)) = ends(&clocks) {
            let most = f64::from(clocks.iter().copied().max().unwrap_or(1).max(1));
            let curve = curve(&clocks, width, |clock| f64::from(clock) / most);
            let (from, to) = (clock(from), clock(to));
            lines.push(format!("  {name}  {curve}  {from} to {to}"));
        }
    }
    if !lines.is_empty() {
        writeln!(out, "\n{}", lines.join("\n"))?;
    }
    Ok(())
}

/// The first and the last value, if there are at least two.
fn ends<T: Copy>(values: &[T]) -> Option<(T, T)> {
    values.first().copied().zip(values.last().copied()).filter(|_| values.len() > 1)
}

/// White's chances, from -1 to 1. A mate on the board counts like the position before.
fn chances(values: &[Eval]) -> impl Iterator<Item = f64> {
    values.iter().scan(0.0, |last, eval| {
        *last = eval.winning_chances().unwrap_or(*last);
        Some(*last)
    })
}

/// One column per value, or per group of consecutive values; `part` returns the height, from 0 to 1.
fn curve<T: Copy>(values: &[T], width: usize, part: impl Fn(T) -> f64) -> String {
    let columns = values.len().min(width);
    let levels = if is_ascii() { DIGITS } else { LEVELS };
    let level = |column: usize| {
        let run = &values[values.len() * column / columns..values.len() * (column + 1) / columns];
        let mean = run.iter().map(|&value| part(value)).sum::<f64>() / run.len() as f64;
        levels[((mean * levels.len() as f64) as usize).min(levels.len() - 1)]
    };
    (0..columns).map(level).collect()
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

    #[test]
    fn mate_on_the_board_keeps_the_value_before_it() {
        let values = [Eval::Mate(-1), Eval::Mate(0)];
        let chances: Vec<f64> = chances(&values).collect();
        assert!(chances[0] < -0.9 && chances[0].total_cmp(&chances[1]).is_eq(), "{chances:?}");
    }

    #[test]
    fn a_curve_has_a_column_for_each_value_or_for_several() {
        let text = curve(&[0.0, 0.5, 1.0], WIDTH, |part| part);
        assert_eq!(text, "▁▅█");
        let many: Vec<f64> = (0..1000).map(|index| f64::from(index) / 999.0).collect();
        let text: Vec<char> = curve(&many, WIDTH, |part| part).chars().collect();
        assert_eq!((text.len(), text[0], text[WIDTH - 1]), (WIDTH, '▁', '█'));
        assert!(text.is_sorted());
    }
}
