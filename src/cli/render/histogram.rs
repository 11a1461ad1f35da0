//! Small bar charts.

use std::io::{self, Write};

use crate::cli::render::board::is_ascii;
use crate::cli::render::number::grouped;
use pgndex::SortedMap;

/// The maximum number of bars.
const MAX_BARS: u16 = 12;
/// The maximum width of a bar, in columns.
const MAX_WIDTH: usize = 40;
/// The last column of a bar, filled from zero to seven eighths.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bar {
    label: String,
    count: u64,
}

/// Groups counts by number into at most twelve bins of equal width. Each number is the first of the `step`
/// numbers that were counted together.
///
/// The first and the last thousandth of all counts may be outliers: they go into the first and the last bin,
/// which are then open.
pub(crate) fn bars(counts: &SortedMap<u16, u64>, step: u16) -> Vec<Bar> {
    let rare = counts.values().sum::<u64>() / 1000;
    let (Some(low), Some(high)) = (bound(counts.iter(), rare), bound(counts.iter().rev(), rare)) else {
        return Vec::new();
    };
    let widths = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];
    let bin = |number: u16, width: u16| number / step / width;
    let fits = |width: &u16| bin(high, *width) - bin(low, *width) < MAX_BARS;
    let width = widths.into_iter().find(fits).unwrap_or(u16::MAX);
    let (first, last) = (bin(low, width), bin(high, width));
    let mut bars: Vec<_> = (first..=last)
        .map(|bin| {
            let start = u32::from(bin) * u32::from(width) * u32::from(step);
            let end = start + u32::from(width) * u32::from(step) - 1;
            let label = if start == end { start.to_string() } else { format!("{start}-{end}") };
            (start, end, Bar { label, count: 0 })
        })
        .collect();
    for (number, count) in counts.iter() {
        bars[usize::from(bin(*number, width).clamp(first, last) - first)].2.count += count;
    }
    let is_outside =
        |number: Option<&u16>, bound: u16| number.is_some_and(|number| bin(*number, width) != bound);
    if is_outside(counts.keys().next(), first) && first != last {
        bars[0].2.label = format!("to {}", bars[0].1);
    }
    if is_outside(counts.keys().next_back(), last) && first != last {
        let open = bars.len() - 1;
        bars[open].2.label = format!("from {}", bars[open].0);
    }
    bars.into_iter().map(|(_, _, bar)| bar).collect()
}

/// The first number up to which the counts add up to more than `rare`.
fn bound<'a>(counts: impl Iterator<Item = (&'a u16, &'a u64)>, rare: u64) -> Option<u16> {
    let mut seen = 0;
    let (number, _) = counts.into_iter().find(|(_, count)| {
        seen += **count;
        seen > rare
    })?;
    Some(*number)
}

/// Writes bars, one per line, in at most `width` columns. Below them, writes the number of unknown values, if
/// there are any.
///
/// # Errors
/// Errors of writing.
pub(crate) fn write_bars(out: &mut impl Write, bars: &[Bar], unknown: u64, width: usize) -> io::Result<()> {
    let unknown = (unknown > 0).then(|| Bar { label: "unknown".to_owned(), count: unknown });
    let all = || bars.iter().chain(&unknown);
    let label_width = all().map(|bar| bar.label.len()).max().unwrap_or(0);
    let count_width = all().map(|bar| grouped(bar.count).len()).max().unwrap_or(0);
    let room = width.saturating_sub(label_width + count_width + 6).min(MAX_WIDTH) as u64;
    let most = bars.iter().map(|bar| bar.count).max().unwrap_or(0).max(1);
    for bar in all() {
        write!(out, "  {:label_width$}  {:>count_width$}", bar.label, grouped(bar.count))?;
        let is_known = unknown.as_ref() != Some(bar);
        // Rounded up, so that no bar with a count is empty.
        let eighths = (u128::from(bar.count) * u128::from(room) * 8).div_ceil(u128::from(most));
        let eighths = usize::try_from(eighths).unwrap_or_default();
        if is_known && eighths > 0 {
            match is_ascii() {
                true => write!(out, "  {}", "#".repeat(eighths.div_ceil(8)))?,
                false => write!(out, "  {}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(counts: &[(u16, u64)], step: u16, unknown: u64, width: usize) -> Vec<String> {
        let mut out = Vec::new();
        let counts = counts.iter().copied().collect();
        write_bars(&mut out, &bars(&counts, step), unknown, width).unwrap();
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn few_numbers_have_a_bar_each() {
        assert_eq!(
            chart(&[(2019, 100), (2021, 1000), (2022, 2)], 1, 12, 24),
            [
                "  2019       100  ▋",
                "  2020         0",
                "  2021     1,000  ██████",
                "  2022         2  ▏",
                "  unknown     12",
            ]
        );
    }

    #[test]
    fn many_numbers_share_bars() {
        let years: Vec<_> = (1850..=2023).map(|year| (year, 1)).collect();
        let lines = chart(&years, 1, 0, 80);
        assert_eq!(lines.len(), 10);
        assert_eq!(lines[0], format!("  1840-1859  10  {}", "█".repeat(20)));
        assert_eq!(lines[1], format!("  1860-1879  20  {}", "█".repeat(40)));
        assert_eq!(lines[8], "  2000-2019  20  ████████████████████████████████████████");
        assert_eq!(
            chart(&[(2200, 3), (2300, 1), (3300, 1), (3500, 2)], 100, 0, 80).first().map(String::as_str),
            Some("  2200-2399  4  ████████████████████████████████████████")
        );
    }

    #[test]
    fn outliers_do_not_squeeze_the_other_bars() {
        let lines = chart(&[(1, 1), (2020, 600), (2021, 1399), (9999, 1)], 1, 0, 80);
        assert_eq!(lines[0], "  to 2020      601  █████████████████▎");
        assert_eq!(lines[1], format!("  from 2021  1,400  {}", "█".repeat(40)));
        assert_eq!(lines.len(), 2);
    }

    #[test]
    fn any_counts_can_be_drawn() {
        assert_eq!(chart(&[], 1, 0, 80), [""; 0]);
        assert_eq!(chart(&[(0, u64::MAX / 2)], 1, 0, 5).len(), 1);
        assert_eq!(chart(&[(0, 1), (u16::MAX, 1)], 1, 0, 80).len(), 7);
        assert_eq!(chart(&[(0, 1), (65500, 1)], 100, 0, 80).len(), 7);
    }
}
