//! `pgndex info`: what a database holds.

use std::io::{self, Write};

use anyhow::Context as _;
use pgndex::store::{Database, Info};
use serde_json::{Map, json};

use super::args::{InfoArgs, InfoFormat};
use super::number::{bytes, duration, grouped, percent};
use super::output::stdout;
use super::table::{Cell, TableWriter, printable};

/// How many sources and runs a table lists, the latest; JSON lists all.
const LISTED: usize = 20;

/// Shows what a database holds.
///
/// # Errors
/// When the database cannot be read.
pub(super) fn run(args: &InfoArgs) -> anyhow::Result<()> {
    let database = Database::open_read_only(&args.database)?;
    let info = database.info()?;
    let results = results(&database)?;
    let mut out = stdout();
    match args.format {
        InfoFormat::Table => {
            let name = printable(&args.database.display().to_string());
            write_totals(&mut out, &name, &info, &results)?;
            write_problems(&mut out, &info)?;
            write_sources(&mut out, &info)?;
            write_imports(&mut out, &info)?;
        }
        InfoFormat::Json => {
            writeln!(out, "{}", to_json(&args.database.display().to_string(), &info, &results))?
        }
    }
    Ok(out.flush()?)
}

/// How many games ended how. Reads the table of games, which is about a fiftieth of the database.
fn results(database: &Database) -> anyhow::Result<Vec<(String, u64)>> {
    let sql = "SELECT result, count(*) FROM game GROUP BY result
               ORDER BY CASE result WHEN '1-0' THEN 1 WHEN '1/2-1/2' THEN 2 WHEN '0-1' THEN 3 ELSE 4 END";
    let read = || {
        let mut statement = database.connection().prepare(sql)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned())))?;
        rows.collect::<rusqlite::Result<_>>()
    };
    read().context("cannot count the results")
}

/// How many distinct positions there are. Each run counts its own: of several runs, some positions would be counted twice.
fn distinct_positions(info: &Info) -> Option<u64> {
    (info.imports.len() == 1).then_some(info.totals.distinct_positions)
}

fn write_totals(out: &mut impl Write, name: &str, info: &Info, results: &[(String, u64)]) -> io::Result<()> {
    writeln!(out, "{name}: {}, schema version {}\n", bytes(info.file_bytes), info.schema_version)?;
    let mut counts = vec![
        ("games", info.totals.games),
        ("plies", info.totals.plies),
        ("positions", info.totals.positions),
        ("players", info.players),
        ("events", info.events),
        ("sites", info.sites),
        ("problems", info.totals.problems),
    ];
    if let Some(distinct) = distinct_positions(info) {
        counts.insert(3, ("distinct", distinct));
    }
    let width = counts.iter().map(|(_, count)| grouped(*count).len()).max().unwrap_or(0);
    for (name, count) in counts {
        writeln!(out, "  {name:9}  {:>width$}", grouped(count))?;
    }
    let games = results.iter().map(|(_, count)| count).sum();
    if games > 0 {
        writeln!(out, "\nresults")?;
    }
    for (result, count) in results {
        writeln!(
            out,
            "  {:9}  {:>width$}  {:>7}",
            printable(result),
            grouped(*count),
            percent(*count, games)
        )?;
    }
    Ok(())
}

fn write_problems(out: &mut impl Write, info: &Info) -> io::Result<()> {
    let rows = info.problems.iter().map(|problem| {
        vec![Cell::number(grouped(problem.count)), Cell::text(&problem.severity), Cell::text(&problem.kind)]
    });
    section(out, "problems", &["number", "severity", "kind"], rows, 0)
}

fn write_sources(out: &mut impl Write, info: &Info) -> io::Result<()> {
    let hidden = info.sources.len().saturating_sub(LISTED);
    let rows = info.sources[hidden..].iter().map(|source| {
        vec![
            Cell::number(source.source.0.to_string()),
            Cell::number(grouped(source.games)),
            Cell::number(grouped(source.problems)),
            Cell::number(source.bytes.map_or_else(String::new, bytes)),
            Cell::text(source.indexed_at.as_deref().unwrap_or("not finished")),
            Cell::text(&source.path),
        ]
    });
    section(out, "sources", &["id", "games", "problems", "size", "indexed", "path"], rows, hidden)
}

fn write_imports(out: &mut impl Write, info: &Info) -> io::Result<()> {
    let hidden = info.imports.len().saturating_sub(LISTED);
    let rows = info.imports[hidden..].iter().map(|import| {
        let finished = import.finished_at.is_some();
        vec![
            Cell::number(import.import.0.to_string()),
            Cell::text(&import.started_at),
            if finished { Cell::number(duration(import.totals.elapsed)) } else { Cell::text("not finished") },
            Cell::number(grouped(import.totals.games)),
            Cell::text(&import.program_version),
        ]
    });
    section(out, "runs", &["id", "began", "took", "games", "pgndex"], rows, hidden)
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
            "\n{title} (the latest {LISTED} of {}; --format json has all)",
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

fn to_json(name: &str, info: &Info, results: &[(String, u64)]) -> serde_json::Value {
    let sources = info.sources.iter().map(|source| {
        json!({
            "source_id": source.source.0, "path": source.path, "bytes": source.bytes, "digest": source.digest,
            "games": source.games, "plies": source.plies, "problems": source.problems,
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
            "problems": import.totals.problems, "seconds": import.totals.elapsed.as_secs_f64(),
        })
    });
    let problems = info
        .problems
        .iter()
        .map(|problem| json!({ "severity": problem.severity, "kind": problem.kind, "count": problem.count }));
    json!({
        "path": name,
        "bytes": info.file_bytes,
        "schema_version": info.schema_version.0,
        "games": info.totals.games,
        "plies": info.totals.plies,
        "positions": info.totals.positions,
        "distinct_positions": distinct_positions(info),
        "players": info.players,
        "events": info.events,
        "sites": info.sites,
        "results": results.iter().map(|(result, count)| (result.clone(), json!(count))).collect::<Map<_, _>>(),
        "problems": problems.collect::<Vec<_>>(),
        "sources": sources.collect::<Vec<_>>(),
        "imports": imports.collect::<Vec<_>>(),
    })
}
