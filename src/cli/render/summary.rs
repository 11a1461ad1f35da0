//! Prints the summary of a run.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use pgndex::index::{DuplicateCounts, Stages, Summary};
use pgndex::store::row::Severity;

use crate::cli::render::{bytes, counted, duration, grouped, printable, rough, shell_word};

/// The result of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Report<'a> {
    /// The database or the directory of Parquet files that was written; `None` in a dry run.
    pub(crate) target: Option<&'a Path>,
    pub(crate) summary: &'a Summary,
    /// The file of problems, if any.
    pub(crate) problems: Option<&'a Path>,
    /// The file of rejected games, if any.
    pub(crate) rejects: Option<&'a Path>,
}

/// The stages of a run in their order, each with its name and its duration.
fn stages(stages: &Stages) -> [(&'static str, Duration); 5] {
    [
        ("reading", stages.read),
        ("sorting", stages.sort),
        ("names and indexes", stages.headers),
        ("move statistics", stages.continuations),
        ("sync", stages.sync),
    ]
}

/// The sources that the database already has, as text.
fn known_sources(summary: &Summary) -> String {
    let known = match summary.known_sources {
        1 => "this file".to_owned(),
        sources => format!("all {}", counted(sources, "file")),
    };
    let gameless = match (summary.known_sources, summary.known_gameless) {
        (_, 0) => String::new(),
        (1, _) => ", which has no games".to_owned(),
        (_, gameless) => format!("; without games: {}", counted(gameless, "file")),
    };
    format!("{known}{gameless}")
}

impl Report<'_> {
    /// The summary as text.
    pub(crate) fn text(self) -> String {
        let mut text = Vec::new();
        // Writing to a vector never fails.
        let _ = self.write(&mut text);
        String::from_utf8_lossy(&text).trim_end().to_owned()
    }

    fn write(self, out: &mut dyn Write) -> io::Result<()> {
        let summary = self.summary;
        let Some(target) = self.target else { return self.write_dry_run(out) };
        let name = printable(&target.display().to_string());
        let has_problems = summary.problems.iter().next().is_some();
        if summary.added && summary.known_sources > 0 && summary.bytes == 0 && !has_problems {
            return writeln!(out, "nothing to add: {name} already contains {}", known_sources(summary));
        }
        writeln!(
            out,
            "{} {}, {}, {} in {} ({} plies/s)\n",
            if summary.added { "added" } else { "indexed" },
            counted(summary.games, "game"),
            counted(summary.plies, "ply"),
            match summary.distinct_positions {
                1 => "1 distinct position".to_owned(),
                positions => format!("{} distinct positions", rough(positions as f64)),
            },
            duration(summary.elapsed),
            rough(self.summary.plies_per_second())
        )?;
        let mut written = format!("{name}, {}", bytes(summary.file_bytes));
        if summary.parquet_files > 0 {
            written += &format!(" in {}", counted(summary.parquet_files, "file"));
        }
        // With few games, much of the file's size is that of an empty database, so this figure would mislead.
        if summary.plies >= 1000 && !summary.added {
            written += &format!(" ({:.0} bytes per ply)", summary.file_bytes as f64 / summary.plies as f64);
        }
        let what = if summary.parquet_files == 0 { "database " } else { "directory" };
        writeln!(out, "  {what}   {written}")?;
        writeln!(out, "  input       {}", bytes(summary.bytes))?;
        if summary.known_sources > 0 {
            writeln!(
                out,
                "  skipped     {} that the database already contains",
                counted(summary.known_sources, "file")
            )?;
        }
        self.write_duplicates(out)?;
        self.write_left_out(out)?;
        let stages = stages(&summary.stages).map(|(name, time)| format!("{name} {}", duration(time)));
        writeln!(out, "  time        {}", stages.join(", "))?;
        if summary.spilled_bytes > 0 {
            writeln!(out, "  spilled     {} to temporary files", bytes(summary.spilled_bytes))?;
        }
        self.write_problems(out)?;
        let word = shell_word(&name);
        if summary.parquet_files > 0 {
            return writeln!(out, "\n  next: pgndex verify --parquet {word}");
        }
        writeln!(out, "\n  next: pgndex info {word}")?;
        if has_problems && self.problems.is_none() {
            writeln!(out, "        {}", problem_query(target))?;
        }
        Ok(())
    }

    /// Writes the paths of the file of problems and of the file of rejected games, if there are such files.
    fn write_files(self, out: &mut dyn Write) -> io::Result<()> {
        let files = [(self.problems, "problems are listed"), (self.rejects, "games with errors are")];
        for (file, what) in files {
            if let Some(file) = file {
                writeln!(out, "    {what} in {}", printable(&file.display().to_string()))?;
            }
        }
        Ok(())
    }

    fn write_duplicates(self, out: &mut dyn Write) -> io::Result<()> {
        let DuplicateCounts { same, moves, prefix } = self.summary.duplicates;
        let lines = [
            (same, "skipped: same moves, players, date and result as an earlier game"),
            (moves, "skipped: same moves as an earlier game"),
            (prefix, "kept: a longer game by the same players on the same date begins with the same moves"),
        ];
        let mut lines = lines.into_iter().filter(|&(count, _)| count > 0).peekable();
        if lines.peek().is_some() {
            writeln!(out, "  duplicates")?;
        }
        for (count, what) in lines {
            writeln!(out, "    {} {what}", counted(count, "game"))?;
        }
        Ok(())
    }

    /// Writes the summary of a dry run.
    fn write_dry_run(self, out: &mut dyn Write) -> io::Result<()> {
        let summary = self.summary;
        writeln!(
            out,
            "read {}, {} in {} ({} plies/s); no database was written\n",
            counted(summary.games + summary.left_out, "game"),
            counted(summary.plies, "ply"),
            duration(summary.elapsed),
            rough(self.summary.plies_per_second())
        )?;
        writeln!(out, "  input       {}", bytes(summary.bytes))?;
        self.write_left_out(out)?;
        self.write_problems(out)?;
        let hints = [
            (self.problems, "--problems FILE to list each problem with its location"),
            (self.rejects, "--rejects FILE to save the games with errors"),
        ];
        let hints = hints.iter().filter(|(file, _)| file.is_none()).map(|(_, hint)| *hint);
        let hints = hints.collect::<Vec<_>>().join(", or ");
        if summary.problems.iter().next().is_some() && !hints.is_empty() {
            writeln!(out, "\n  hint: use {hints}")?;
        }
        Ok(())
    }

    fn write_left_out(self, out: &mut dyn Write) -> io::Result<()> {
        if self.summary.left_out > 0 {
            writeln!(out, "  left out    {} with errors", counted(self.summary.left_out, "game"))?;
        }
        Ok(())
    }

    fn write_problems(self, out: &mut dyn Write) -> io::Result<()> {
        let problems = &self.summary.problems;
        let Some(most) = problems.iter().map(|(.., count)| count).max() else {
            return writeln!(out, "  problems    none");
        };
        writeln!(out, "  problems")?;
        let width = grouped(most).len();
        for (severity, meaning) in [
            (Severity::Error, "a game or file could not be read completely"),
            (Severity::Warning, "pgndex corrected or skipped a part of the PGN"),
        ] {
            let total = problems.of(severity);
            if total > 0 {
                writeln!(out, "    {}: {meaning}", counted(total, severity.as_str()))?;
            }
            for (_, kind, count) in problems.iter().filter(|&(found, ..)| found == severity) {
                writeln!(out, "      {:>width$}  {kind}", grouped(count))?;
            }
            if severity == Severity::Error {
                for first in &self.summary.first_errors {
                    writeln!(out, "      {}", printable(first))?;
                }
                let shown = self.summary.first_errors.len() as u64;
                if 0 < shown && shown < total {
                    writeln!(out, "      ({} of {} shown)", grouped(shown), counted(total, "error"))?;
                }
            }
        }
        for (variant, &games) in self.summary.variants.iter() {
            let (what, whose) =
                (format!("{} game", printable(variant)), if games == 1 { "its" } else { "their" });
            let stored = if self.target.is_some() { "stored" } else { "would be stored" };
            writeln!(out, "    {} {stored} without {whose} moves", counted(games, &what))?;
        }
        self.write_files(out)
    }
}

/// The command that lists the problems of a database.
pub(crate) fn problem_query(database: &Path) -> String {
    let query = "SELECT path, line, kind, message FROM problem JOIN source USING (source_id)";
    sql_command(database, query)
}

/// The command that runs a query on a database. The query must not contain double quotes, `$`, backticks or
/// backslashes.
pub(crate) fn sql_command(database: &Path, query: &str) -> String {
    format!("pgndex sql {} \"{query}\"", shell_word(&database.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary() -> Summary {
        Summary {
            added: false,
            known_sources: 0,
            known_gameless: 0,
            rewritten: Vec::new(),
            parquet_files: 0,
            file_bytes: 312_345_678,
            bytes: 34_567_890,
            games: 40_000,
            plies: 3_372_442,
            threads: 2,
            positions: 3_412_442,
            distinct_positions: 2_604_118,
            duplicates: DuplicateCounts { same: 1_012, moves: 0, prefix: 1 },
            spilled_bytes: 0,
            left_out: 0,
            variants: [("Atomic".to_owned(), 12)].into_iter().collect(),
            dry_run: false,
            unreadable: Vec::new(),
            damaged: Vec::new(),
            gameless: Vec::new(),
            first_errors: vec!["a.pgn:6:8: 2.Ke2: illegal move in 8/8 w".to_owned()],
            log_left: None,
            problems: [
                (Severity::Warning, "result-mismatch", 1_204),
                (Severity::Error, "illegal-move", 12),
                (Severity::Warning, "unclosed-variation", 3),
            ]
            .into_iter()
            .collect(),
            stages: Stages {
                read: Duration::from_millis(1_810),
                sort: Duration::from_millis(340),
                headers: Duration::from_millis(150),
                continuations: Duration::from_millis(50),
                sync: Duration::from_millis(900),
            },
            elapsed: Duration::from_millis(3_200),
        }
    }

    fn print(summary: &Summary) -> String {
        Report { target: Some(Path::new("games.db")), summary, problems: None, rejects: None }.text()
    }

    #[test]
    fn a_summary_as_text() {
        insta::assert_snapshot!(print(&summary()), @r#"
        indexed 40,000 games, 3,372,442 plies, 2.60 M distinct positions in 3.2 s (1.05 M plies/s)

          database    games.db, 298 MiB (93 bytes per ply)
          input       33.0 MiB
          duplicates
            1,012 games skipped: same moves, players, date and result as an earlier game
            1 game kept: a longer game by the same players on the same date begins with the same moves
          time        reading 1.8 s, sorting 0.3 s, names and indexes 0.1 s, move statistics 0.05 s, sync 0.9 s
          problems
            12 errors: a game or file could not be read completely
                 12  illegal-move
              a.pgn:6:8: 2.Ke2: illegal move in 8/8 w
              (1 of 12 errors shown)
            1,207 warnings: pgndex corrected or skipped a part of the PGN
              1,204  result-mismatch
                  3  unclosed-variation
            12 Atomic games stored without their moves

          next: pgndex info games.db
                pgndex sql games.db "SELECT path, line, kind, message FROM problem JOIN source USING (source_id)"
        "#);
    }

    #[test]
    fn a_summary_without_games() {
        insta::assert_snapshot!(print(&Summary::default()), @r#"
        indexed 0 games, 0 plies, 0 distinct positions in 0.00 s (0 plies/s)

          database    games.db, 0 B
          input       0 B
          time        reading 0.00 s, sorting 0.00 s, names and indexes 0.00 s, move statistics 0.00 s, sync 0.00 s
          problems    none

          next: pgndex info games.db
        "#);
    }

    #[test]
    fn a_summary_of_an_addition() {
        let summary =
            Summary { added: true, known_sources: 2, problems: [].into_iter().collect(), ..summary() };
        insta::assert_snapshot!(print(&summary), @r#"
        added 40,000 games, 3,372,442 plies, 2.60 M distinct positions in 3.2 s (1.05 M plies/s)

          database    games.db, 298 MiB
          input       33.0 MiB
          skipped     2 files that the database already contains
          duplicates
            1,012 games skipped: same moves, players, date and result as an earlier game
            1 game kept: a longer game by the same players on the same date begins with the same moves
          time        reading 1.8 s, sorting 0.3 s, names and indexes 0.1 s, move statistics 0.05 s, sync 0.9 s
          problems    none

          next: pgndex info games.db
        "#);
        insta::assert_snapshot!(print(&Summary { added: true, known_sources: 1, ..Summary::default() }), @"nothing to add: games.db already contains this file");
    }

    #[test]
    fn a_summary_as_json() {
        let object = summary().object(Some(Path::new("games.db")));
        insta::assert_snapshot!(serde_json::to_string(&object).unwrap(), @r#"
        {"database":"games.db","dry_run":false,"games":40000,"left_out":0,"skipped_variants":{"Atomic":12},"plies":3372442,"threads":2,"positions":3412442,"distinct_positions":2604118,"duplicates":1012,"duplicate_kinds":[{"kind":"same","count":1012},{"kind":"prefix","count":1}],"problems":1219,"errors":12,"warnings":1207,"problem_kinds":[{"severity":"warning","kind":"result-mismatch","count":1204},{"severity":"warning","kind":"unclosed-variation","count":3},{"severity":"error","kind":"illegal-move","count":12}],"bytes":312345678,"parquet_files":0,"input_bytes":34567890,"added":false,"known_sources":0,"sources_without_games":0,"spilled_bytes":0,"seconds":3.2,"plies_per_second":1053888,"stages":{"parse_s":1.81,"sort_s":0.34,"headers_s":0.15,"continuations_s":0.05,"sync_s":0.9}}
        "#);
    }
}
