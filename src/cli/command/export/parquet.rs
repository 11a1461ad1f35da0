//! Exports chosen games as Parquet files.

use std::path::Path;
use std::sync::Arc;

use anyhow::ensure;
use pgndex::columnar::{ExportOptions, Progress, export};
use pgndex::index::IndexOptions;
use pgndex::query::choose_games;
use pgndex::store::{Database, GameFilter, GameSet};

use super::chosen::Chosen;
use crate::cli::error::Stopped;
use crate::cli::render::{bytes, counted, refuse_standard_output};
use crate::cli::terminal::{Snapshot, display, note, stop_on_signal};

/// Writes the tables of the chosen games.
pub(super) fn run(database: &Database, chosen: &Chosen<'_>, directory: &Path) -> anyhow::Result<()> {
    refuse_standard_output(directory)?;
    let progress = Arc::new(Progress::default());
    let stopped = Arc::clone(&progress);
    stop_on_signal(move || stopped.stop())?;
    let games = games(database, chosen, &progress)?;
    if games.as_ref().is_some_and(GameSet::is_empty) {
        note(&format!("no game matches; nothing is written into {}", directory.display()));
        return Ok(());
    }
    let IndexOptions { threads, memory, .. } = IndexOptions::default();
    let options = ExportOptions {
        directory: directory.to_owned(),
        shard: chosen.args.parquet_layout.shard,
        partition_by: chosen.args.parquet_layout.partition_by.into(),
        overwrite: chosen.args.overwrite,
        games: games.as_ref(),
        threads,
        memory,
        temp_dir: None,
    };
    let file_bytes = std::fs::metadata(database.path()).map_or(0, |metadata| metadata.len());
    let all = match &games {
        Some(games) => games.len(),
        None => database.last_game()?.map_or(0, |game| game.0.into()),
    };
    // The bytes done are estimated: the file size multiplied by the share of games read.
    let snapshot = || Snapshot {
        bytes_done: (progress.games() as f64 / all.max(1) as f64 * file_bytes as f64) as u64,
        bytes_total: file_bytes,
        games: progress.games(),
        plies: progress.plies(),
        phase: if progress.is_sorting() { "sorting" } else { "reading" },
        ..Snapshot::default()
    };
    let totals = display(false, snapshot, || export(database, &options, &progress))?;
    note(&format!(
        "{} with {} written to {}: {} in {}",
        counted(totals.games, "game"),
        counted(totals.positions, "position"),
        directory.display(),
        bytes(totals.bytes),
        counted(totals.files, "file")
    ));
    chosen.args.parquet_layout.note_on(totals.files, totals.bytes).into_iter().for_each(note);
    Ok(())
}

/// The chosen games; `None` for all games.
fn games(database: &Database, chosen: &Chosen<'_>, progress: &Progress) -> anyhow::Result<Option<GameSet>> {
    let args = chosen.args;
    let is_all = *chosen.filter == GameFilter::default() && args.sql.is_none() && args.limit == 0;
    if is_all && chosen.query.is_none() && chosen.sequence.is_none() {
        return Ok(None);
    }
    let mut games = GameSet::default();
    chosen.read(database, |choice| {
        choose_games(database, choice, |game| {
            ensure!(!progress.is_stopped(), Stopped);
            games.insert(game);
            Ok(args.limit == 0 || games.len() < args.limit.into())
        })
    })?;
    Ok(Some(games))
}
