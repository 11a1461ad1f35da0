//! Draws a game's evaluations and clocks as small curves.

use std::io::{self, Write};

use pgndex::board::Color;
use pgndex::pgn::Eval;
use pgndex::store::GameAnnotations;

use crate::cli::render::annotation;
use crate::cli::render::board::is_ascii;

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
        let (from, to) = (annotation::value(from), annotation::value(to));
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
            let (from, to) = (annotation::clock(from), annotation::clock(to));
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
