//! Chosen games as Parquet files.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use anyhow::ensure;
use pgndex::columnar::{ExportOptions, export};
use pgndex::index::IndexOptions;
use pgndex::query::choose_games;
use pgndex::store::{Database, GameFilter, GameSet};

use super::Chosen;
use crate::cli::note;
use crate::cli::render::number::{bytes, counted};
use crate::cli::terminal::progress::{Progress, Snapshot};
use crate::cli::terminal::signal::{ignore_file_size_signal, stop_on_signal};

/// How far it has come.
#[derive(Default)]
struct Seen {
    games: AtomicU64,
    plies: AtomicU64,
    stop: AtomicBool,
}

/// Writes the tables of the chosen games.
pub(super) fn run(database: &Database, chosen: &Chosen<'_>, directory: &Path) -> anyhow::Result<()> {
    let seen = Arc::new(Seen::default());
    let stopped = Arc::clone(&seen);
    stop_on_signal(move || stopped.stop.store(true, Ordering::Relaxed))?;
    ignore_file_size_signal();
    let games = games(database, chosen, &seen)?;
    if games.as_ref().is_some_and(GameSet::is_empty) {
        note(&format!("no game fits; nothing is written into {}", directory.display()));
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
    let shown = Arc::clone(&seen);
    let display = Progress::start(false, move || Snapshot {
        bytes_done: 0,
        bytes_total: 0,
        games: shown.games.load(Ordering::Relaxed),
        plies: shown.plies.load(Ordering::Relaxed),
        files: None,
        phase: "writing",
    });
    let is_stopped = || seen.stop.load(Ordering::Relaxed);
    let written = export(database, &options, &is_stopped, &|games, plies| {
        seen.games.store(games, Ordering::Relaxed);
        seen.plies.store(plies, Ordering::Relaxed);
    });
    display.stop();
    let totals = written?;
    note(&format!(
        "{} with {} written to {}: {} in {}",
        counted(totals.games, "game"),
        counted(totals.positions, "position"),
        directory.display(),
        bytes(totals.bytes),
        counted(totals.files, "file")
    ));
    Ok(())
}

/// The chosen games; `None` if these are all.
fn games(database: &Database, chosen: &Chosen<'_>, seen: &Seen) -> anyhow::Result<Option<GameSet>> {
    let args = chosen.args;
    let is_all = *chosen.filter == GameFilter::default() && args.sql.is_none() && args.limit == 0;
    if is_all && chosen.query.is_none() && chosen.course.is_none() {
        return Ok(None);
    }
    let mut games = GameSet::default();
    chosen.read(database, |choice| {
        choose_games(database, choice, |game| {
            ensure!(!seen.stop.load(Ordering::Relaxed), "stopped; nothing was written");
            games.insert(game);
            Ok(args.limit == 0 || games.len() < args.limit.into())
        })
    })?;
    Ok(Some(games))
}
