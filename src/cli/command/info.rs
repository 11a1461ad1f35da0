//! `pgndex info`: prints the contents of a database.

use std::io::{self, Write};

use pgndex::query::{DatabaseContents, GamesByResult, LongestGame};
use pgndex::store::{Database, DuplicateCount, GameStatistics, TreeSize};
use serde_json::Value;

use crate::cli::args::{InfoArgs, InfoFormat};
use crate::cli::render::board::sign;
use crate::cli::render::histogram::{bars, write_bars};
use crate::cli::render::number::{bytes, counted, duration, grouped, percent};
use crate::cli::render::output::{stdout, terminal_width, write_json};
use crate::cli::render::table::{Cell, TableWriter};
use crate::cli::render::text::printable;

/// How many of the latest sources and runs a table lists without `--all`; JSON lists all.
const LISTED: usize = 20;
/// The width of charts without a terminal.
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

fn write_table(out: &mut impl Write, held: &DatabaseContents, listed: usize) -> io::Result<()> {
    let (path, size) = (printable(&held.path), bytes(held.bytes));
    writeln!(out, "{path}: {size}, schema version {}\n", held.schema_version)?;
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
        write_bars(out, &bars(&held.ratings, GameStatistics::RATING_STEP), held.unrated, width)?;
    }
    write_problems(out, held)?;
    write_sources(out, held, listed)?;
    write_imports(out, held, listed)?;
    held.sizes.as_ref().map_or(Ok(()), |sizes| write_sizes(out, sizes))
}

fn write_totals(out: &mut impl Write, held: &DatabaseContents) -> io::Result<()> {
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

fn write_openings(out: &mut impl Write, held: &DatabaseContents) -> io::Result<()> {
    let is_named = held.openings.iter().any(|opening| opening.name.is_some());
    let rows = held.openings.iter().map(|opening| {
        let share = percent(opening.games, held.games);
        let mut row =
            vec![Cell::number(grouped(opening.games)), Cell::number(share), Cell::text(&opening.eco)];
        row.extend(opening.name.as_deref().map(Cell::text));
        row
    });
    let columns = ["games", "share", "eco", "name"];
    section(out, "openings", &columns[..if is_named { 4 } else { 3 }], rows, 0)
}

/// In how many games something was lost.
fn lost(held: &DatabaseContents) -> String {
    let parts = [(held.truncated, "cut short"), (held.skipped, "without moves")];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    parts.map(|(count, what)| format!("{} {what}", counted(*count, "game"))).collect::<Vec<_>>().join(", ")
}

/// The numbers of duplicate games by kind.
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

fn write_results(out: &mut impl Write, held: &DatabaseContents) -> io::Result<()> {
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

fn write_problems(out: &mut impl Write, held: &DatabaseContents) -> io::Result<()> {
    let rows = held.problems.iter().map(|problem| {
        vec![Cell::number(grouped(problem.count)), Cell::text(&problem.severity), Cell::text(&problem.kind)]
    });
    section(out, "problems", &["number", "severity", "kind"], rows, 0)
}

fn write_sources(out: &mut impl Write, held: &DatabaseContents, listed: usize) -> io::Result<()> {
    let hidden = held.sources.len().saturating_sub(listed);
    let rows = held.sources[hidden..].iter().map(|source| {
        vec![
            Cell::number(source.source.0.to_string()),
            Cell::number(grouped(source.games)),
            Cell::number(grouped(source.problems)),
            Cell::number(source.bytes.map_or_else(String::new, bytes)),
            Cell::text(source.indexed_at.as_deref().unwrap_or("not finished")),
            Cell::text(&source.path.to_string_lossy()),
        ]
    });
    section(out, "sources", &["id", "games", "problems", "size", "indexed", "path"], rows, hidden)
}

fn write_imports(out: &mut impl Write, held: &DatabaseContents, listed: usize) -> io::Result<()> {
    let hidden = held.imports.len().saturating_sub(listed);
    let options: Vec<_> = held.imports[hidden..].iter().map(|import| options(&import.options)).collect();
    let columns = ["id", "began", "took", "games", "pgndex", "options"];
    let shown = if options.iter().all(String::is_empty) { 5 } else { 6 };
    let rows = held.imports[hidden..].iter().zip(&options).map(|(import, options)| {
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
    section(out, "runs", &columns[..shown], rows, hidden)
}

/// A run's options for people: those that are on, and those with a value. Hashes are shortened. Invalid JSON
/// is shown unchanged.
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

/// Whether a text is a hash, which is shortened for people; JSON has it in full.
fn is_hash(text: &str) -> bool {
    text.len() >= 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn write_sizes(out: &mut impl Write, sizes: &[TreeSize]) -> io::Result<()> {
    let total = sizes.iter().map(|tree| tree.bytes).sum();
    let rows = sizes.iter().map(|tree| {
        let name = if tree.name == tree.table {
            tree.name.clone()
        } else {
            format!("{} (index of {})", tree.name, tree.table)
        };
        vec![Cell::number(bytes(tree.bytes)), Cell::number(percent(tree.bytes, total)), Cell::text(&name)]
    });
    section(out, "sizes", &["size", "share", "table"], rows, 0)
}

/// Writes a heading and a table, or nothing if there are no rows. `hidden` is the number of earlier rows,
/// which are not listed.
fn section(
    out: &mut impl Write,
    title: &str,
    columns: &[&str],
    rows: impl ExactSizeIterator<Item = Vec<Cell>>,
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
    let mut table = TableWriter::new(Indented { out, at_start: true }, columns, None);
    for row in rows {
        table.row(row)?;
    }
    table.finish()?;
    Ok(())
}

/// Indents each line by two blanks.
struct Indented<'a, W> {
    out: &'a mut W,
    at_start: bool,
}

impl<W: Write> Write for Indented<'_, W> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            if self.at_start {
                self.out.write_all(b"  ")?;
            }
            self.out.write_all(line)?;
            self.at_start = line.ends_with(b"\n");
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
