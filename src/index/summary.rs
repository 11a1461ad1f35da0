//! The summary of a run, also as a JSON object.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use crate::index::ProblemKind;
use crate::sorted::SortedMap;
use crate::store::row::{DuplicateKind, GameStatus, HeaderBatch, Severity};

/// The summary of a run.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Games read, except games that were left out or skipped as duplicates. A dry run
    /// only counts games, and does not search for duplicates.
    pub games: u64,
    /// Games with an error that were omitted.
    pub left_out: u64,
    /// Games whose moves were skipped because the rules of their variant are unknown, by the variant's name.
    pub variants: SortedMap<String, u64>,
    /// Whether the input was only checked, and no database was written.
    pub dry_run: bool,
    /// Plies of the games that `games` counts.
    pub plies: u64,
    /// Worker threads; 0 if there was nothing to read.
    pub threads: usize,
    /// Positions of games: rows of `game_position`.
    pub positions: u64,
    /// Distinct positions among those that `positions` counts; positions with the same key count once. 0 in a
    /// dry run.
    pub distinct_positions: u64,
    /// Problems, by severity and kind.
    pub problems: ProblemCounts,
    /// The first errors in games, each as a sentence with its place. At most three.
    pub first_errors: Vec<String>,
    /// Games that repeat others.
    pub duplicates: DuplicateCounts,
    /// The sources that could not be read, with reasons: a sentence each.
    pub unreadable: Vec<String>,
    /// The sources that could be read only in part, with reasons: a sentence each.
    pub damaged: Vec<String>,
    /// The sources with text but without games, and standard input if it is empty: a sentence each. Empty
    /// files are not listed.
    pub gameless: Vec<String>,
    /// Why the added games could not be copied from the write-ahead log into the database file, as a
    /// sentence; `None` if there was no error.
    pub log_left: Option<String>,
    /// Whether games were added to an existing database.
    pub added: bool,
    /// Sources that were not read, because the database already has them.
    pub known_sources: u64,
    /// How many of the known sources had no games when they were read.
    pub known_gameless: u64,
    /// The sources that were read as new, because they no longer begin with the text read before: a sentence
    /// each.
    pub rewritten: Vec<String>,
    /// Bytes of PGN text read, decompressed.
    pub bytes: u64,
    /// Bytes of positions and moves written to temporary files.
    pub spilled_bytes: u64,
    /// Parquet files written; 0 if a database was written.
    pub parquet_files: u64,
    /// Size of the database, or of the Parquet files, in bytes.
    pub file_bytes: u64,
    /// The time of each stage.
    pub stages: Stages,
    /// Wall time of the whole run.
    pub elapsed: Duration,
}

impl Summary {
    /// Counts the problems, duplicates and positions of a batch.
    pub(crate) fn count(&mut self, batch: &HeaderBatch) {
        for problem in &batch.problems {
            self.problems.add(problem.severity, problem.kind);
            let message = || problem.message.of(&batch.text).to_owned();
            if problem.kind == ProblemKind::UnreadableSource.as_str() {
                self.unreadable.push(message());
            } else if problem.kind == ProblemKind::DamagedArchive.as_str() {
                self.damaged.push(message());
            } else if problem.kind == ProblemKind::NoGame.as_str() {
                self.gameless.push(message());
            } else if problem.kind == ProblemKind::UnsupportedVariant.as_str() {
                self.count_variant(problem.token.map_or("", |token| token.of(&batch.text)));
            }
        }
        batch.duplicates.iter().for_each(|duplicate| self.duplicates.add(duplicate.kind, 1));
        let replayed = batch.games.iter().filter(|game| game.status != GameStatus::Skipped);
        self.positions += replayed.map(|game| u64::from(game.ply_count) + 1).sum::<u64>();
    }

    fn count_variant(&mut self, name: &str) {
        /// The maximum number of variants that are counted separately. Any text can be the name of a variant,
        /// and garbage must not fill the memory.
        const MOST: usize = 100;
        let is_known = self.variants.len() < MOST || self.variants.contains_key(name);
        *self.variants.entry(if is_known { name } else { "others" }.to_owned()) += 1;
    }

    /// Plies per second.
    #[must_use]
    pub fn plies_per_second(&self) -> f64 {
        let seconds = self.elapsed.as_secs_f64();
        if seconds > 0.0 { self.plies as f64 / seconds } else { 0.0 }
    }
}

/// Wall time of the stages of a run, which follow one another.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stages {
    /// Reading, replaying and writing games and their positions.
    pub read: Duration,
    /// Sorting positions by key and writing them.
    pub sort: Duration,
    /// Completing the small tables and their indexes.
    pub headers: Duration,
    /// Writing the counts of visited positions, and recording which games are prefixes of others.
    pub continuations: Duration,
    /// Syncing and renaming the file, or writing the write-ahead log back into the database.
    pub sync: Duration,
}

/// Games that repeat others, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DuplicateCounts {
    /// Skipped: moves, players, date and result are those of an earlier game.
    pub same: u64,
    /// Skipped: the moves are those of an earlier game.
    pub moves: u64,
    /// Kept, although all its moves are the first moves of a longer game by the same players on the same date.
    /// Can include games that were in the database before the run.
    pub prefix: u64,
}

impl DuplicateCounts {
    pub(crate) const fn add(&mut self, kind: DuplicateKind, count: u64) {
        match kind {
            DuplicateKind::Same => self.same += count,
            DuplicateKind::Moves => self.moves += count,
            DuplicateKind::Prefix => self.prefix += count,
        }
    }

    /// The number of skipped games.
    #[must_use]
    pub const fn skipped(&self) -> u64 {
        self.same + self.moves
    }

    /// For each kind: its word in the database, and the number of games, which can be 0.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counts = [
            (DuplicateKind::Same, self.same),
            (DuplicateKind::Moves, self.moves),
            (DuplicateKind::Prefix, self.prefix),
        ];
        counts.into_iter().map(|(kind, count)| (kind.as_str(), count))
    }
}

/// Problems by severity and kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProblemCounts(SortedMap<(Severity, &'static str), u64>);

impl FromIterator<(Severity, &'static str, u64)> for ProblemCounts {
    fn from_iter<T: IntoIterator<Item = (Severity, &'static str, u64)>>(counts: T) -> Self {
        Self(counts.into_iter().map(|(severity, kind, count)| ((severity, kind), count)).collect())
    }
}

impl ProblemCounts {
    pub(crate) fn add(&mut self, severity: Severity, kind: &'static str) {
        *self.0.entry((severity, kind)) += 1;
    }

    /// Each kind that occurred: its severity, its word in the database, and the number of problems. Warnings
    /// come first.
    pub fn iter(&self) -> impl Iterator<Item = (Severity, &'static str, u64)> {
        self.0.iter().map(|(&(severity, kind), &count)| (severity, kind, count))
    }

    /// The number of problems of a severity.
    #[must_use]
    pub fn of(&self, severity: Severity) -> u64 {
        self.iter().filter(|&(found, ..)| found == severity).map(|(.., count)| count).sum()
    }
}

/// The summary of a run of `index`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SummaryObject {
    /// Path of the database, `null` in a dry run; missing if Parquet files were written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database: Option<Option<String>>,
    /// The directory of the Parquet files; missing if none were written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<Option<String>>,
    /// Whether the input was only read, and nothing was written.
    pub dry_run: bool,
    /// Number of games added; in a dry run, of games read.
    pub games: u64,
    /// Number of games with errors that were skipped; `games` does not include them.
    pub left_out: u64,
    /// Number of games whose moves were skipped because the rules of their variant are unknown, by variant.
    pub skipped_variants: SortedMap<String, u64>,
    /// Number of half-moves in the games that `games` counts.
    pub plies: u64,
    /// Number of worker threads; 0 if there was nothing to read.
    pub threads: usize,
    /// Number of positions in the games that `games` counts.
    pub positions: u64,
    /// Number of different positions among those that `positions` counts; always 0 in a dry run.
    pub distinct_positions: u64,
    /// Number of games skipped because they repeat other games.
    pub duplicates: u64,
    /// Number of games that repeat other games, by kind. Games of the kind `prefix` are kept.
    pub duplicate_kinds: Vec<KindCount>,
    /// Number of all problems.
    pub problems: u64,
    /// Number of problems of severity `error`: a part of a game or file was lost, or a file has no game.
    pub errors: u64,
    /// Number of problems of severity `warning`: they were corrected or ignored.
    pub warnings: u64,
    /// Number of problems by kind.
    pub problem_kinds: Vec<ProblemCount>,
    /// Size of the database, or of the Parquet files, in bytes.
    pub bytes: u64,
    /// Number of Parquet files; 0 if a database was written.
    pub parquet_files: u64,
    /// Size of the PGN text, decompressed, in bytes.
    pub input_bytes: u64,
    /// Whether the games were added to an existing database.
    pub added: bool,
    /// Number of sources skipped because the database already had them.
    pub known_sources: u64,
    /// Number of sources with text but without games. Standard input also counts if it is empty.
    pub sources_without_games: usize,
    /// Number of bytes of positions and moves written to temporary files.
    pub spilled_bytes: u64,
    /// Wall time of the whole run, in seconds.
    pub seconds: f64,
    /// Half-moves per second, over the whole run.
    pub plies_per_second: u64,
    /// Wall time of each stage, in seconds.
    pub stages: StageSeconds,
}

/// The number of duplicates of one kind.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct KindCount {
    /// Kind of duplicate, such as `same`.
    pub kind: &'static str,
    /// Number of games of this kind.
    pub count: u64,
}

/// The number of problems of one kind.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProblemCount {
    /// `error` or `warning`.
    pub severity: &'static str,
    /// Kind of problem, such as `illegal-move`.
    pub kind: &'static str,
    /// Number of problems of this kind.
    pub count: u64,
}

/// Wall time of each stage of a run, in seconds.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StageSeconds {
    /// Reading games and writing their positions.
    pub parse_s: f64,
    /// Sorting positions by key and writing them.
    pub sort_s: f64,
    /// Completing the small tables and their indexes.
    pub headers_s: f64,
    /// Recording relations between games and, in a new database, writing the moves played from positions that
    /// many games reached.
    pub continuations_s: f64,
    /// Syncing and renaming the files, or writing the write-ahead log back into the database.
    pub sync_s: f64,
}

impl Summary {
    /// The summary as a JSON object, with the path of the database or of the directory that was written, if
    /// any.
    #[must_use]
    pub fn object(&self, target: Option<&Path>) -> SummaryObject {
        let target = target.map(|path| path.display().to_string());
        let is_database = self.parquet_files == 0;
        let duplicates = self.duplicates.iter().filter(|&(_, count)| count > 0);
        let problems = self.problems.iter();
        SummaryObject {
            database: is_database.then(|| target.clone()),
            directory: (!is_database).then_some(target),
            dry_run: self.dry_run,
            games: self.games,
            left_out: self.left_out,
            skipped_variants: self.variants.clone(),
            plies: self.plies,
            threads: self.threads,
            positions: self.positions,
            distinct_positions: self.distinct_positions,
            duplicates: self.duplicates.skipped(),
            duplicate_kinds: duplicates.map(|(kind, count)| KindCount { kind, count }).collect(),
            problems: self.problems.iter().map(|(.., count)| count).sum(),
            errors: self.problems.of(Severity::Error),
            warnings: self.problems.of(Severity::Warning),
            problem_kinds: problems
                .map(|(severity, kind, count)| ProblemCount { severity: severity.as_str(), kind, count })
                .collect(),
            bytes: self.file_bytes,
            parquet_files: self.parquet_files,
            input_bytes: self.bytes,
            added: self.added,
            known_sources: self.known_sources,
            sources_without_games: self.gameless.len(),
            spilled_bytes: self.spilled_bytes,
            seconds: self.elapsed.as_secs_f64(),
            plies_per_second: self.plies_per_second().round() as u64,
            stages: StageSeconds {
                parse_s: self.stages.read.as_secs_f64(),
                sort_s: self.stages.sort.as_secs_f64(),
                headers_s: self.stages.headers.as_secs_f64(),
                continuations_s: self.stages.continuations.as_secs_f64(),
                sync_s: self.stages.sync.as_secs_f64(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated_file::compare_with_file;

    /// `docs/log.schema.json` contains this schema, too.
    #[test]
    fn the_published_schema_matches_the_object() {
        let mut settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
        settings.inline_subschemas = true;
        let schema = settings.into_generator().into_root_schema_for::<SummaryObject>();
        compare_with_file(&format!("{:#}\n", schema.as_value()), "docs/summary.schema.json");
    }
}
