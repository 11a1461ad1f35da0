//! `pgndex info`: what a database holds.

use std::io::{self, Write};

use pgndex::store::{Database, DuplicateCount, GameStatistics, Info, OpeningCount, TreeSize};
use serde_json::{Value, json};

use crate::cli::args::{InfoArgs, InfoFormat};
use crate::cli::render::histogram::{bars, write_bars};
use crate::cli::render::number::{bytes, counted, duration, grouped, percent};
use crate::cli::render::output::{stdout, terminal_width};
use crate::cli::render::table::{Cell, TableWriter};
use crate::cli::render::text::{escaped_json, printable};

/// How many sources and runs a table lists, the latest; JSON lists all.
const LISTED: usize = 20;
/// How many openings are listed.
const OPENINGS: u32 = 10;
/// How wide charts are where there is no terminal.
const WIDTH: usize = 80;

/// What is shown.
struct Report {
    path: String,
    info: Info,
    games: GameStatistics,
    openings: Vec<OpeningCount>,
    /// `None`: not asked for.
    sizes: Option<Vec<TreeSize>>,
}

/// Shows what a database holds.
///
/// # Errors
/// When the database cannot be read.
pub(crate) fn run(args: &InfoArgs) -> anyhow::Result<()> {
    let database = Database::open_read_only(&args.database)?;
    let report = Report {
        path: args.database.display().to_string(),
        info: database.info()?,
        games: database.game_statistics()?,
        openings: database.frequent_openings(OPENINGS)?,
        sizes: args.sizes.then(|| database.tree_sizes()).transpose()?,
    };
    let mut out = stdout();
    match args.format {
        InfoFormat::Table => report.write(&mut out, if args.all { usize::MAX } else { LISTED })?,
        InfoFormat::Json => writeln!(out, "{}", escaped_json(&report.to_json().to_string()))?,
    }
    Ok(out.flush()?)
}

impl Report {
    fn write(&self, out: &mut impl Write, listed: usize) -> io::Result<()> {
        let (info, games) = (&self.info, &self.games);
        let size = bytes(info.file_bytes);
        writeln!(out, "{}: {size}, schema version {}\n", printable(&self.path), info.schema_version)?;
        self.write_totals(out)?;
        if games.games == 0 {
            writeln!(out, "\nThere are no games in this database.")?;
        }
        write_results(out, games)?;
        self.write_openings(out)?;
        let width = terminal_width().unwrap_or(WIDTH);
        if !games.years.is_empty() {
            writeln!(out, "\nyears")?;
            write_bars(out, &bars(&games.years, 1), games.undated, width)?;
        }
        if !games.ratings.is_empty() {
            writeln!(out, "\nratings")?;
            write_bars(out, &bars(&games.ratings, GameStatistics::RATING_STEP), games.unrated, width)?;
        }
        write_problems(out, info)?;
        write_sources(out, info, listed)?;
        write_imports(out, info, listed)?;
        self.sizes.as_ref().map_or(Ok(()), |sizes| write_sizes(out, sizes))
    }

    fn write_totals(&self, out: &mut impl Write) -> io::Result<()> {
        let (info, games) = (&self.info, &self.games);
        let mut counts = vec![
            ("games", games.games, String::new()),
            ("plies", info.totals.plies, String::new()),
            ("positions", info.totals.positions, String::new()),
        ];
        if let Some((game, plies)) = games.longest {
            let mean = info.totals.plies as f64 / games.games as f64;
            counts[1].2 =
                format!("{mean:.1} a game; {} in game {}, the longest", grouped(plies.into()), game.0);
        }
        if let Some(distinct) = info.totals.distinct_positions {
            counts.push(("distinct", distinct, String::new()));
        }
        counts.extend([
            ("players", info.players, String::new()),
            ("events", info.events, String::new()),
            ("sites", info.sites, String::new()),
            ("problems", info.totals.problems, lost(games)),
        ]);
        if !info.duplicates.is_empty() {
            let count = info.duplicates.iter().map(|duplicate| duplicate.count).sum();
            counts.push(("repeated", count, duplicates(info)));
        }
        let width = counts.iter().map(|(_, count, _)| grouped(*count).len()).max().unwrap_or(0);
        for (name, count, remark) in counts {
            let line = format!("  {name:9}  {:>width$}  {remark}", grouped(count));
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }

    fn write_openings(&self, out: &mut impl Write) -> io::Result<()> {
        let is_named = self.openings.iter().any(|opening| opening.name.is_some());
        let rows = self.openings.iter().map(|opening| {
            let share = percent(opening.games, self.games.games);
            let mut row =
                vec![Cell::number(grouped(opening.games)), Cell::number(share), Cell::text(&opening.eco)];
            row.extend(opening.name.as_deref().map(Cell::text));
            row
        });
        let columns = ["games", "share", "eco", "name"];
        section(out, "openings", &columns[..if is_named { 4 } else { 3 }], rows, 0)
    }

    fn to_json(&self) -> Value {
        let (info, games) = (&self.info, &self.games);
        let mut report = json!({
            "path": self.path,
            "bytes": info.file_bytes,
            "schema_version": info.schema_version.0,
            "games": games.games,
            "plies": info.totals.plies,
            "positions": info.totals.positions,
            "distinct_positions": info.totals.distinct_positions,
            "players": info.players,
            "events": info.events,
            "sites": info.sites,
            "truncated": games.truncated,
            "skipped": games.skipped,
            "longest": games.longest.map(|(game, plies)| json!({ "game_id": game.0, "plies": plies })),
            "results": {
                "1-0": games.white_wins, "1/2-1/2": games.draws, "0-1": games.black_wins, "*": games.unfinished,
            },
            "years": games.years,
            "undated": games.undated,
            "ratings": games.ratings,
            "unrated": games.unrated,
        });
        report["openings"] = self
            .openings
            .iter()
            .map(|opening| json!({ "eco": opening.eco, "name": opening.name, "games": opening.games }))
            .collect();
        lists_to_json(info, &mut report);
        if let Some(sizes) = &self.sizes {
            report["sizes"] = sizes
                .iter()
                .map(|tree| json!({ "name": tree.name, "table": tree.table, "pages": tree.pages, "bytes": tree.bytes }))
                .collect();
        }
        report
    }
}

/// Of how many games something was lost.
fn lost(games: &GameStatistics) -> String {
    let parts = [(games.truncated, "cut short"), (games.skipped, "without moves")];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    parts.map(|(count, what)| format!("{} {what}", counted(*count, "game"))).collect::<Vec<_>>().join(", ")
}

/// How many games repeat another one in which way.
fn duplicates(info: &Info) -> String {
    let part =
        |duplicate: &DuplicateCount| format!("{} {}", grouped(duplicate.count), printable(&duplicate.kind));
    info.duplicates.iter().map(part).collect::<Vec<_>>().join(", ")
}

fn write_results(out: &mut impl Write, games: &GameStatistics) -> io::Result<()> {
    let results = [
        ("1-0", games.white_wins),
        ("1/2-1/2", games.draws),
        ("0-1", games.black_wins),
        ("*", games.unfinished),
    ];
    if games.games > 0 {
        writeln!(out, "\nresults")?;
    }
    let width = results.iter().map(|(_, count)| grouped(*count).len()).max().unwrap_or(0);
    for (result, count) in results.into_iter().filter(|(_, count)| *count > 0) {
        let share = percent(count, games.games);
        writeln!(out, "  {result:9}  {:>width$}  {share:>7}", grouped(count))?;
    }
    Ok(())
}

fn write_problems(out: &mut impl Write, info: &Info) -> io::Result<()> {
    let rows = info.problems.iter().map(|problem| {
        vec![Cell::number(grouped(problem.count)), Cell::text(&problem.severity), Cell::text(&problem.kind)]
    });
    section(out, "problems", &["number", "severity", "kind"], rows, 0)
}

fn write_sources(out: &mut impl Write, info: &Info, listed: usize) -> io::Result<()> {
    let hidden = info.sources.len().saturating_sub(listed);
    let rows = info.sources[hidden..].iter().map(|source| {
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

fn write_imports(out: &mut impl Write, info: &Info, listed: usize) -> io::Result<()> {
    let hidden = info.imports.len().saturating_sub(listed);
    let options: Vec<_> = info.imports[hidden..].iter().map(|import| options(&import.options)).collect();
    let columns = ["id", "began", "took", "games", "pgndex", "options"];
    let shown = if options.iter().all(String::is_empty) { 5 } else { 6 };
    let rows = info.imports[hidden..].iter().zip(&options).map(|(import, options)| {
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

/// A run's options for people: those that are on, and those with a value. What is no JSON object is shown as it is.
fn options(text: &str) -> String {
    let Ok(Value::Object(options)) = serde_json::from_str(text) else { return text.to_owned() };
    let option = |(name, value): (String, Value)| match value {
        Value::Null | Value::Bool(false) => None,
        Value::Bool(true) => Some(name),
        Value::String(value) => Some(format!("{name} {value}")),
        value => Some(format!("{name} {value}")),
    };
    options.into_iter().filter_map(option).collect::<Vec<_>>().join(", ")
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

/// A heading and a table, or nothing at all if there are no rows.
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

/// Puts two blanks before each line.
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

/// Adds problems, sources and runs.
fn lists_to_json(info: &Info, report: &mut Value) {
    let sources = info.sources.iter().map(|source| {
        json!({
            "source_id": source.source.0, "path": source.path.to_string_lossy(), "bytes": source.bytes, "digest": source.digest,
            "games": source.games, "plies": source.plies, "problems": source.problems,
            "duplicates": source.duplicates,
            "indexed_at": source.indexed_at,
        })
    });
    let imports = info.imports.iter().map(|import| {
        let options = serde_json::from_str(&import.options).unwrap_or_else(|_| json!(import.options));
        json!({
            "import_id": import.import.0, "started_at": import.started_at, "finished_at": import.finished_at,
            "program_version": import.program_version, "options": options, "games": import.totals.games,
            "plies": import.totals.plies, "positions": import.totals.positions,
            "distinct_positions": import.totals.distinct_positions,
            "problems": import.totals.problems, "duplicates": import.totals.duplicates,
            "seconds": import.totals.elapsed.as_secs_f64(),
        })
    });
    let problems = info
        .problems
        .iter()
        .map(|problem| json!({ "severity": problem.severity, "kind": problem.kind, "count": problem.count }));
    let duplicates =
        info.duplicates.iter().map(|duplicate| json!({ "kind": duplicate.kind, "count": duplicate.count }));
    report["problems"] = problems.collect();
    report["duplicates"] = duplicates.collect();
    report["sources"] = sources.collect();
    report["imports"] = imports.collect();
}
