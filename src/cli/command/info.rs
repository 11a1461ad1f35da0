//! `pgndex info`: prints the contents of a database.

use std::io::{self, Write};

use pgndex::SortedMap;
use pgndex::query::{DatabaseContents, GamesByResult, LongestGame};
use pgndex::store::{Database, DuplicateCount, GameCharts, TreeSize};
use serde_json::Value;

use crate::cli::args::{InfoArgs, InfoFormat};
use crate::cli::render::{
    Cell, TableWriter, bytes, counted, duration, grouped, is_ascii, percent, printable, sign, stdout,
    terminal_width, write_json,
};

/// How many of the latest sources and runs are listed without `--all`; JSON lists all sources and runs.
const LISTED: usize = 20;
/// The width of charts if the width of the output is unknown.
const WIDTH: usize = 80;

/// Prints the contents of a database.
///
/// # Errors
/// If the database cannot be read, or the answer cannot be written.
pub(crate) fn run(args: &InfoArgs) -> anyhow::Result<()> {
    let database = Database::open_read_only(&args.database)?;
    let held = DatabaseContents::read(&database, args.sizes)?;
    let mut out = stdout();
    match args.format {
        InfoFormat::Table => write_table(&mut out, &held, if args.all { usize::MAX } else { LISTED })?,
        InfoFormat::Json => write_json(&mut out, &held)?,
    }
    Ok(out.flush()?)
}

fn write_table(out: &mut dyn Write, held: &DatabaseContents, listed: usize) -> io::Result<()> {
    let (path, size) = (printable(&held.path), bytes(held.bytes));
    writeln!(out, "{path}: {size}, {} layout, schema version {}\n", held.layout, held.schema_version)?;
    write_totals(out, held)?;
    if held.games == 0 {
        writeln!(out, "\nThere are no games in this database.")?;
    }
    write_results(out, held)?;
    write_openings(out, held)?;
    let width = terminal_width().unwrap_or(WIDTH);
    if !held.years.is_empty() {
        writeln!(out, "\nyears")?;
        write_bars(out, &bars(&held.years, 1), held.undated, width)?;
    }
    if !held.ratings.is_empty() {
        writeln!(out, "\nratings")?;
        write_bars(out, &bars(&held.ratings, GameCharts::RATING_STEP), held.unrated, width)?;
    }
    write_problems(out, held)?;
    write_sources(out, held, listed)?;
    write_imports(out, held, listed)?;
    held.sizes.as_ref().map_or(Ok(()), |sizes| write_sizes(out, sizes))
}

fn write_totals(out: &mut dyn Write, held: &DatabaseContents) -> io::Result<()> {
    let mut counts = vec![
        ("games", held.games, String::new()),
        ("plies", held.plies, String::new()),
        ("positions", held.positions, String::new()),
    ];
    if let Some(LongestGame { game_id, plies }) = held.longest {
        let mean = held.plies as f64 / held.games as f64;
        counts[1].2 =
            format!("{mean:.1} per game; {} in game {}, the longest", grouped(plies.into()), game_id.0);
    }
    if let Some(distinct) = held.distinct_positions {
        counts.push(("distinct", distinct, String::new()));
    }
    counts.extend([
        ("players", held.players, String::new()),
        ("events", held.events, String::new()),
        ("sites", held.sites, String::new()),
        ("problems", held.problem_count, lost(held)),
    ]);
    if !held.duplicates.is_empty() {
        let count = held.duplicates.iter().map(|duplicate| duplicate.count).sum();
        counts.push(("repeated", count, duplicates(held)));
    }
    let width = counts.iter().map(|(_, count, _)| grouped(*count).len()).max().unwrap_or(0);
    for (name, count, remark) in counts {
        let line = format!("  {name:9}  {:>width$}  {remark}", grouped(count));
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn write_openings(out: &mut dyn Write, held: &DatabaseContents) -> io::Result<()> {
    let is_named = held.openings.iter().any(|opening| opening.name.is_some());
    let mut rows = held.openings.iter().map(|opening| {
        let share = percent(opening.games, held.games);
        let mut row =
            vec![Cell::number(grouped(opening.games)), Cell::number(share), Cell::text(&opening.eco)];
        row.extend(opening.name.as_deref().map(Cell::text));
        row
    });
    let columns = ["games", "share", "eco", "name"];
    section(out, "openings", &columns[..if is_named { 4 } else { 3 }], &mut rows, 0)
}

/// How many games are cut short, and how many have no moves, as text.
fn lost(held: &DatabaseContents) -> String {
    let parts = [(held.truncated, "cut short"), (held.skipped, "without moves")];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    parts.map(|(count, what)| format!("{} {what}", counted(*count, "game"))).collect::<Vec<_>>().join(", ")
}

/// The number of duplicate games of each kind, as text.
fn duplicates(held: &DatabaseContents) -> String {
    let part = |duplicate: &DuplicateCount| {
        let meaning = match duplicate.kind.as_str() {
            "moves" => " (other players, date or result)",
            "prefix" => " (the beginning of a longer game)",
            _ => "",
        };
        format!("{} {}{meaning}", grouped(duplicate.count), printable(&duplicate.kind))
    };
    held.duplicates.iter().map(part).collect::<Vec<_>>().join(", ")
}

fn write_results(out: &mut dyn Write, held: &DatabaseContents) -> io::Result<()> {
    let GamesByResult { white_wins, draws, black_wins, unfinished } = held.results;
    let results = [("1-0", white_wins), ("1/2-1/2", draws), ("0-1", black_wins), ("*", unfinished)];
    if held.games > 0 {
        writeln!(out, "\nresults")?;
    }
    let width = results.iter().map(|(_, count)| grouped(*count).len()).max().unwrap_or(0);
    for (result, count) in results.into_iter().filter(|(_, count)| *count > 0) {
        let share = percent(count, held.games);
        writeln!(out, "  {result:9}  {:>width$}  {share:>7}", grouped(count))?;
    }
    Ok(())
}

fn write_problems(out: &mut dyn Write, held: &DatabaseContents) -> io::Result<()> {
    let mut rows = held.problems.iter().map(|problem| {
        vec![Cell::number(grouped(problem.count)), Cell::text(&problem.severity), Cell::text(&problem.kind)]
    });
    section(out, "problems", &["number", "severity", "kind"], &mut rows, 0)
}

fn write_sources(out: &mut dyn Write, held: &DatabaseContents, listed: usize) -> io::Result<()> {
    let hidden = held.sources.len().saturating_sub(listed);
    let mut rows = held.sources[hidden..].iter().map(|source| {
        vec![
            Cell::number(source.source.0.to_string()),
            Cell::number(grouped(source.games)),
            Cell::number(grouped(source.problems)),
            Cell::number(source.bytes.map_or_else(String::new, bytes)),
            Cell::text(source.indexed_at.as_deref().unwrap_or("not finished")),
            Cell::text(&source.path.to_string_lossy()),
        ]
    });
    section(out, "sources", &["id", "games", "problems", "size", "indexed", "path"], &mut rows, hidden)
}

fn write_imports(out: &mut dyn Write, held: &DatabaseContents, listed: usize) -> io::Result<()> {
    let hidden = held.imports.len().saturating_sub(listed);
    let options: Vec<_> = held.imports[hidden..].iter().map(|import| options(&import.options)).collect();
    let columns = ["id", "began", "took", "games", "pgndex", "options"];
    let shown = if options.iter().all(String::is_empty) { 5 } else { 6 };
    let mut rows = held.imports[hidden..].iter().zip(&options).map(|(import, options)| {
        let finished = import.finished_at.is_some();
        let mut row = vec![
            Cell::number(import.import.0.to_string()),
            Cell::text(&import.started_at),
            if finished { Cell::number(duration(import.totals.elapsed)) } else { Cell::text("not finished") },
            Cell::number(grouped(import.totals.games)),
            Cell::text(&import.program_version),
            Cell::text(options),
        ];
        row.truncate(shown);
        row
    });
    section(out, "runs", &columns[..shown], &mut rows, hidden)
}

/// Converts the options of a run from JSON to readable text: the options that are on, and the options that
/// have a value. Hashes are shortened. If `text` is not a JSON object, it is returned unchanged.
fn options(text: &str) -> String {
    let Ok(Value::Object(options)) = serde_json::from_str(text) else { return text.to_owned() };
    let option = |(name, value): (String, Value)| match value {
        Value::Null | Value::Bool(false) => None,
        Value::Bool(true) => Some(name),
        Value::String(value) if is_hash(&value) => {
            Some(format!("{name} {}{}", &value[..8], sign("…", "...")))
        }
        Value::String(value) => Some(format!("{name} {value}")),
        value => Some(format!("{name} {value}")),
    };
    options.into_iter().filter_map(option).collect::<Vec<_>>().join(", ")
}

/// Whether a text looks like a hash. Tables show only the beginning of a hash; JSON has the whole hash.
fn is_hash(text: &str) -> bool {
    text.len() >= 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn write_sizes(out: &mut dyn Write, sizes: &[TreeSize]) -> io::Result<()> {
    let total = sizes.iter().map(|tree| tree.bytes).sum();
    let mut rows = sizes.iter().map(|tree| {
        let name = if tree.name == tree.table {
            tree.name.clone()
        } else {
            format!("{} (index of {})", tree.name, tree.table)
        };
        vec![Cell::number(bytes(tree.bytes)), Cell::number(percent(tree.bytes, total)), Cell::text(&name)]
    });
    section(out, "sizes", &["size", "share", "table"], &mut rows, 0)
}

/// Writes a heading and a table, or nothing if there are no rows. `hidden` is the number of earlier rows,
/// which are not listed.
fn section(
    out: &mut dyn Write,
    title: &str,
    columns: &[&str],
    rows: &mut dyn ExactSizeIterator<Item = Vec<Cell>>,
    hidden: usize,
) -> io::Result<()> {
    if rows.len() == 0 {
        return Ok(());
    }
    match hidden {
        0 => writeln!(out, "\n{title}")?,
        _ => writeln!(
            out,
            "\n{title} (the latest {LISTED} of {}; --all lists all)",
            grouped((hidden + LISTED) as u64)
        )?,
    }
    let mut text = Vec::new();
    let lines: Box<dyn Write + '_> = Box::new(&mut text);
    let mut table = TableWriter::new(lines, columns, None);
    for row in rows {
        table.row(row)?;
    }
    table.finish()?;
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        out.write_all(b"  ")?;
        out.write_all(line)?;
    }
    Ok(())
}

/// The maximum number of bars.
const MAX_BARS: u16 = 12;
/// The maximum width of a bar, in columns.
const MAX_WIDTH: usize = 40;
/// The last column of a bar, filled from zero to seven eighths.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

#[derive(Clone, Debug, PartialEq, Eq)]
struct Bar {
    label: String,
    count: u64,
}

/// Groups numbers, such as years, into at most `MAX_BARS` bins of equal width, and adds up their counts. Each key
/// in `counts` is the first of the `step` numbers that were counted together.
///
/// The range of the bins is determined without the lowest and the highest thousandth of the counted values.
/// Values below the range are counted in the first bin, and values above it in the last bin. If there are
/// several bins, the label of a bin with such values has only one limit.
fn bars(counts: &SortedMap<u16, u64>, step: u16) -> Vec<Bar> {
    let rare = counts.values().sum::<u64>() / 1000;
    let (Some(low), Some(high)) = (bound(counts.iter(), rare), bound(counts.iter().rev(), rare)) else {
        return Vec::new();
    };
    let widths = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];
    let bin = |number: u16, width: u16| number / step / width;
    let fits = |width: &u16| bin(high, *width) - bin(low, *width) < MAX_BARS;
    let width = widths.into_iter().find(fits).unwrap_or(u16::MAX);
    let (first, last) = (bin(low, width), bin(high, width));
    let is_outside =
        |number: Option<&u16>, bound: u16| number.is_some_and(|number| bin(*number, width) != bound);
    let is_open_below = first != last && is_outside(counts.keys().next(), first);
    let is_open_above = first != last && is_outside(counts.keys().next_back(), last);
    let label = |bin: u16| {
        let start = u32::from(bin) * u32::from(width) * u32::from(step);
        let end = start + u32::from(width) * u32::from(step) - 1;
        match bin {
            _ if bin == first && is_open_below => format!("to {end}"),
            _ if bin == last && is_open_above => format!("from {start}"),
            _ if start == end => start.to_string(),
            _ => format!("{start}-{end}"),
        }
    };
    let mut bars: Vec<_> = (first..=last).map(|bin| Bar { label: label(bin), count: 0 }).collect();
    for (number, count) in counts.iter() {
        bars[usize::from(bin(*number, width).clamp(first, last) - first)].count += count;
    }
    bars
}

/// The first number at which the running sum of the counts is greater than `rare`; `None` if there is no such
/// number.
fn bound<'a>(counts: impl Iterator<Item = (&'a u16, &'a u64)>, rare: u64) -> Option<u16> {
    let mut seen = 0;
    let (number, _) = counts.into_iter().find(|(_, count)| {
        seen += **count;
        seen > rare
    })?;
    Some(*number)
}

/// Writes bars, one per line. A line has at most `width` columns, unless labels and counts alone are wider.
/// Below the bars, writes the number of unknown values, if there are any.
///
/// # Errors
/// If writing fails.
fn write_bars(out: &mut dyn Write, bars: &[Bar], unknown: u64, width: usize) -> io::Result<()> {
    let unknown = (unknown > 0).then(|| Bar { label: "unknown".to_owned(), count: unknown });
    let all = || bars.iter().chain(&unknown);
    let label_width = all().map(|bar| bar.label.len()).max().unwrap_or(0);
    let count_width = all().map(|bar| grouped(bar.count).len()).max().unwrap_or(0);
    let bar_width = width.saturating_sub(label_width + count_width + 6).min(MAX_WIDTH) as u64;
    let most = bars.iter().map(|bar| bar.count).max().unwrap_or(0).max(1);
    for bar in all() {
        write!(out, "  {:label_width$}  {:>count_width$}", bar.label, grouped(bar.count))?;
        let is_known = unknown.as_ref() != Some(bar);
        // Rounded up, so that a small count does not get an empty bar.
        let eighths = (u128::from(bar.count) * u128::from(bar_width) * 8).div_ceil(u128::from(most));
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
    fn rare_outliers_do_not_widen_the_bins() {
        let lines = chart(&[(1, 1), (2020, 600), (2021, 1399), (9999, 1)], 1, 0, 80);
        assert_eq!(lines[0], "  to 2020      601  █████████████████▎");
        assert_eq!(lines[1], format!("  from 2021  1,400  {}", "█".repeat(40)));
        assert_eq!(lines.len(), 2);
    }

    #[test]
    fn extreme_counts_and_numbers_can_be_drawn() {
        assert_eq!(chart(&[], 1, 0, 80), [""; 0]);
        assert_eq!(chart(&[(0, u64::MAX / 2)], 1, 0, 5).len(), 1);
        assert_eq!(chart(&[(0, 1), (u16::MAX, 1)], 1, 0, 80).len(), 7);
        assert_eq!(chart(&[(0, 1), (65500, 1)], 100, 0, 80).len(), 7);
    }
}
