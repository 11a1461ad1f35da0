//! The summary of a run as a JSON object.

use std::path::Path;

use serde::Serialize;

use crate::index::report::summary::{Stages, Summary};
use crate::sorted::SortedMap;
use crate::store::row::Severity;

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
    /// Number of half-moves read.
    pub plies: u64,
    /// Number of worker threads; 0 if there was nothing to read.
    pub threads: usize,
    /// Number of positions of these games.
    pub positions: u64,
    /// Number of different positions among them; 0 in a dry run, which does not count them.
    pub distinct_positions: u64,
    /// Number of games skipped because they repeat other games.
    pub duplicates: u64,
    /// Number of games that repeat other games, by kind. Games of the kind `prefix` are kept.
    pub duplicate_kinds: Vec<KindCount>,
    /// Number of all problems.
    pub problems: u64,
    /// Number of problems by which a part of a game or file was lost.
    pub errors: u64,
    /// Number of problems that were corrected or ignored without loss.
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
    /// Number of sources with text but without games.
    pub sources_without_games: usize,
    /// Number of bytes written to temporary files.
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
    /// Writing the moves played from positions that many games reached.
    pub continuations_s: f64,
    /// Syncing the files to disk and renaming them.
    pub sync_s: f64,
}

impl Summary {
    /// The summary as a JSON object, with the database or the directory that was written, if any.
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
            stages: StageSeconds::from(&self.stages),
        }
    }
}

impl From<&Stages> for StageSeconds {
    fn from(stages: &Stages) -> Self {
        Self {
            parse_s: stages.read.as_secs_f64(),
            sort_s: stages.sort.as_secs_f64(),
            headers_s: stages.headers.as_secs_f64(),
            continuations_s: stages.continuations.as_secs_f64(),
            sync_s: stages.sync.as_secs_f64(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated_file::compare_with_file;

    /// The schema of the log contains it.
    #[test]
    fn the_published_schema_matches_the_object() {
        let mut settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
        settings.inline_subschemas = true;
        let schema = settings.into_generator().into_root_schema_for::<SummaryObject>();
        compare_with_file(&format!("{:#}\n", schema.as_value()), "docs/summary.schema.json");
    }
}
