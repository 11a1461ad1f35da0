//! `pgndex export`: exports chosen games as PGN, CSV or Parquet, or their positions as FEN, EPD or CSV.

mod chosen;
#[cfg(feature = "parquet")]
mod parquet;

use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::mem;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use anyhow::ensure;
use chosen::Chosen;
use pgndex::query::{
    Choice, CountedGames, Draw, GameFields, PositionFields, PositionFormat, PositionQuery, Positions, Sample,
    WantedPositions, choose_games, write_normalized_pgn, write_pgn, write_positions,
};
use pgndex::store::row::{GameId, GameStatus, Ply};
use pgndex::store::{Database, GameAnnotations, GameFilter, GameRecord, GameSet, Lines};
use serde::Serialize;

use crate::cli::args::{ExportArgs, ExportFormat, filter_option};
use crate::cli::environment;
use crate::cli::error::{Stopped, wrong_value};
use crate::cli::notes::{count_or_note_skipped, note_filtered_out, note_variants};
use crate::cli::render::{
    Existing, OutputFile, check, counted, csv_cell, not_written, refuse_pgn, refuse_source, shown, stdout,
    unless_standard_output,
};
use crate::cli::terminal::{Snapshot, display, note, stop_on_signal};

/// Writes games, or their positions.
///
/// # Errors
/// If an argument is invalid, the database cannot be read, or the output cannot be written.
pub(crate) fn run(args: &ExportArgs) -> anyhow::Result<()> {
    let query = args.position.query()?;
    let sequence = args.sequence()?;
    let per_game = args.sample().map_or(1, |sample| sample.per_game);
    if sequence.is_some() && per_game > 1 {
        return Err(wrong_value(
            "options such as --material find one position of each game; leave out --per-game",
        ));
    }
    let wanted = args.wanted(sequence.as_ref())?;
    let filter = filter(args, &wanted)?;
    let database = Database::open_read_only(&args.database)?;
    for assumption in query.iter().flat_map(PositionQuery::assumptions) {
        note(&assumption);
    }
    let chosen = Chosen { args, filter: &filter, query: query.as_ref(), sequence: sequence.as_ref() };
    #[cfg(feature = "parquet")]
    if let Some(directory) = &args.format.parquet {
        return parquet::run(&database, &chosen, directory);
    }
    if let Some(sql) = &args.sql {
        // Checks the query before anything is written.
        database.query(sql)?;
    }
    let target = unless_standard_output(args.output.as_deref());
    let target = target.map(|path| create(path, args, &database)).transpose()?;
    let counts = Arc::new(Counts::default());
    let out = output(target.as_ref(), &counts)?;
    let is_on_terminal = target.is_none() && io::stdout().is_terminal();
    let mut exporter = Exporter {
        database: &database,
        args,
        wanted,
        out,
        text: String::new(),
        counts: &counts,
        is_file: target.is_some(),
    };
    let is_quiet = is_on_terminal || !io::stderr().is_terminal();
    let exported: anyhow::Result<()> = display(
        is_quiet,
        || counts.snapshot(),
        || {
            exporter.head()?;
            chosen.read(&database, |choice| exporter.write(choice))?;
            Ok(exporter.out.flush()?)
        },
    );
    exported.map_err(|error| match &target {
        Some(target) => target.failed(error),
        None => error,
    })?;
    drop(exporter);
    complete(target, args, &counts)?;
    note_outcome(&database, &chosen, &counts)
}

/// Opens the output: the file, or standard output. During the export to a file, a signal stops the export,
/// and the incomplete file is removed.
fn output(target: Option<&OutputFile>, counts: &Arc<Counts>) -> anyhow::Result<Box<dyn Write>> {
    let Some(target) = target else { return Ok(stdout()) };
    let counts = Arc::clone(counts);
    stop_on_signal(move || counts.stop.store(true, Ordering::Relaxed))?;
    Ok(Box::new(BufWriter::with_capacity(1 << 16, target.file().try_clone()?)))
}

/// Completes the file if anything was written. Prints how much was written to the file, or that nothing
/// matched.
fn complete(target: Option<OutputFile>, args: &ExportArgs, counts: &Counts) -> anyhow::Result<()> {
    let games = counts.games.load(Ordering::Relaxed);
    let unit = if args.format.is_of_games() { "game" } else { "position" };
    match target {
        Some(target) if games > 0 => {
            let path = target.finish()?;
            note(&format!("{} written to {}", counts.written(), path.display()));
        }
        Some(target) => note(&not_written(unit, target.path())),
        None if games == 0 => note(&format!("no {unit} matches")),
        None => {}
    }
    Ok(())
}

/// If nothing matched, prints notes that can help to find the reason. For a sample, prints how to choose the
/// same positions again. Also prints how many of the written games are incomplete.
fn note_outcome(database: &Database, chosen: &Chosen<'_>, counts: &Counts) -> anyhow::Result<()> {
    let games = counts.games.load(Ordering::Relaxed);
    if games == 0 && chosen.args.sql.is_none() {
        let selection = database.select(chosen.filter)?;
        if count_or_note_skipped(database, &selection)? == Some(0) {
            // The wanted positions can set `plies_min` and `with_evals` although no option gave these filters.
            let given = chosen.args.filter.filter()?;
            let option = |field: &str| match field {
                "plies_min" if given.plies_min.is_none() => None,
                "with_evals" if !given.with_evals => None,
                field => Some(filter_option(field)),
            };
            note_filtered_out(database, chosen.filter, CountedGames::All, &option)?;
        }
    }
    if let Some(query) = chosen.query.filter(|_| games == 0) {
        note_variants(database, &query.position, Lines::Main)?;
    }
    if let Some(sample) = chosen.args.sample().filter(|_| games > 0) {
        note_sample(&sample, counts.positions.load(Ordering::Relaxed));
    }
    note_lossy(counts.lossy.load(Ordering::Relaxed));
    Ok(())
}

/// Creates the output file. Fails if the file would replace a source of the database, or would replace a PGN
/// file with output in another format.
fn create(path: &Path, args: &ExportArgs, database: &Database) -> anyhow::Result<OutputFile> {
    const INSTEAD: &str = "name a file, or leave out --output to write to standard output";
    let existing = Existing::from_overwrite(args.overwrite);
    check(path, existing, Some(&args.database), INSTEAD)?;
    refuse_source(database, path)?;
    if args.format.format != Some(ExportFormat::Pgn) {
        refuse_pgn(path)?;
    }
    OutputFile::create(path, existing, Some(&args.database), INSTEAD)
}

/// The filter of the arguments, restricted to games that can have the wanted positions.
fn filter(args: &ExportArgs, wanted: &WantedPositions<'_>) -> anyhow::Result<GameFilter> {
    let mut filter = args.filter.filter()?;
    // Games that are too short for these plies are not even read.
    if let Positions::Within(plies) = &wanted.which {
        filter.plies_min = filter.plies_min.max(Some(*plies.start()).filter(|&first| first > 0));
    }
    filter.with_evals |= wanted.evaluated;
    Ok(filter)
}

/// Prints how to choose the same positions again. If fewer positions than requested could be chosen, also
/// prints how many were chosen.
fn note_sample(sample: &Sample, positions: u64) {
    if positions < sample.positions {
        let (positions, most) = (counted(positions, "position"), sample.per_game);
        note(&format!("only {positions} could be chosen, at most {most} per game; --per-game N allows more"));
    }
    note(&format!("the positions were chosen with --seed {}", sample.seed));
}

/// Prints how many of the written games are incomplete in the database.
fn note_lossy(games: u64) {
    let have = if games == 1 { "has" } else { "have" };
    if games > 0 {
        note(&format!("{} {have} missing moves; the table `problem` says why", counted(games, "game")));
    }
}

/// Counts of written data, and the stop request.
#[derive(Default)]
struct Counts {
    games: AtomicU64,
    /// The number of positions; 0 if whole games are written.
    positions: AtomicU64,
    plies: AtomicU64,
    bytes: AtomicU64,
    /// The number of games with missing moves.
    lossy: AtomicU64,
    stop: AtomicBool,
}

impl Counts {
    fn snapshot(&self) -> Snapshot {
        Snapshot {
            bytes_done: self.bytes.load(Ordering::Relaxed),
            games: self.games.load(Ordering::Relaxed),
            plies: self.plies.load(Ordering::Relaxed),
            phase: "writing",
            ..Snapshot::default()
        }
    }

    /// The number of games or positions, as text.
    fn written(&self) -> String {
        match self.positions.load(Ordering::Relaxed) {
            0 => counted(self.games.load(Ordering::Relaxed), "game"),
            positions => counted(positions, "position"),
        }
    }
}

struct Exporter<'a> {
    database: &'a Database,
    args: &'a ExportArgs,
    wanted: WantedPositions<'a>,
    out: Box<dyn Write>,
    /// A buffer for the text of a game.
    text: String,
    counts: &'a Counts,
    is_file: bool,
}

impl Exporter<'_> {
    fn format(&self) -> ExportFormat {
        self.args.format.format.expect("clap requires a format unless Parquet files are written")
    }

    fn head(&mut self) -> anyhow::Result<()> {
        let head = match self.format() {
            ExportFormat::Csv => csv_lines([GameFields::NAMES])?,
            ExportFormat::CsvPositions => csv_lines([PositionFields::NAMES])?,
            ExportFormat::Pgn | ExportFormat::Fen | ExportFormat::Epd => return Ok(()),
        };
        Ok(self.out.write_all(head.as_bytes())?)
    }

    fn write(&mut self, choice: Choice<'_>) -> anyhow::Result<()> {
        let database = self.database;
        let Some(sample) = self.args.sample() else {
            return choose_games(database, choice, |game| self.game(game));
        };
        let (mut games, last) = (GameSet::default(), database.last_game()?);
        choose_games(database, choice, |game| {
            self.check_stop()?;
            // A query can return an id greater than that of the last game. Reading a game with such an id
            // fails with the error for a missing game.
            if last < Some(game) {
                database.game(game)?;
            }
            games.insert(game);
            Ok::<_, anyhow::Error>(true)
        })?;
        // Without this transaction, each statement would lock the file again.
        let snapshot = database.connection().unchecked_transaction()?;
        let mut written = GameSet::default();
        sample.visit(&games, |draws| self.draws(&sample, draws, &mut written))?;
        drop(snapshot);
        Ok(())
    }

    /// Writes the randomly chosen positions in the order of `draws`. Reads the games in the order of their
    /// ids, because they are stored in this order. If a game with a written position is not in `written` yet,
    /// counts it and adds it to `written`. Returns the number of written positions.
    fn draws(&mut self, sample: &Sample, draws: &[Draw], written: &mut GameSet) -> anyhow::Result<u64> {
        let mut order: Vec<usize> = (0..draws.len()).collect();
        order.sort_unstable_by_key(|&at| (draws[at].game, at));
        let mut rows = vec![String::new(); draws.len()];
        for of_game in order.chunk_by(|&one, &other| draws[one].game == draws[other].game) {
            let game = draws[of_game[0]].game;
            let (record, annotations) = self.read(game)?;
            let plies = self.wanted.plies(&record, &annotations);
            let drawn = sample.positions_of(of_game.iter().map(|&at| draws[at]), plies);
            for (&at, ply) in of_game.iter().zip(drawn) {
                let Some(ply) = ply else { continue };
                self.positions(&mut rows[at], &record, &annotations, &[ply])?;
                if !written.contains(game) {
                    written.insert(game);
                    self.count(&record);
                }
            }
        }
        rows.retain(|row| !row.is_empty());
        rows.iter().try_for_each(|row| self.pass_on(row))?;
        Ok(rows.len() as u64)
    }

    /// Writes a game, or its wanted positions. Returns `false` once the maximum number of games has been
    /// written.
    fn game(&mut self, game: GameId) -> anyhow::Result<bool> {
        let (record, annotations) = self.read(game)?;
        let mut text = mem::take(&mut self.text);
        text.clear();
        match self.format() {
            ExportFormat::Pgn if self.args.normalize => {
                write_normalized_pgn(&mut text, &record, &annotations)?;
            }
            ExportFormat::Pgn => write_pgn(&mut text, &record, &annotations)?,
            ExportFormat::Csv => text += &csv_lines([GameFields::from_record(&record)?])?,
            ExportFormat::Fen | ExportFormat::Epd | ExportFormat::CsvPositions => {
                let plies = self.wanted.plies(&record, &annotations);
                self.positions(&mut text, &record, &annotations, &plies)?;
            }
        }
        if !text.is_empty() {
            self.count(&record);
            self.pass_on(&text)?;
        }
        self.text = text;
        let limit = self.args.limit;
        Ok(limit == 0 || self.counts.games.load(Ordering::Relaxed) < limit.into())
    }

    /// Reads a game and, if the output needs them, its annotations.
    fn read(&self, game: GameId) -> anyhow::Result<(GameRecord, GameAnnotations)> {
        self.check_stop()?;
        let needs_annotations = match self.format() {
            ExportFormat::Pgn => !self.args.plain,
            ExportFormat::Csv => false,
            ExportFormat::Fen | ExportFormat::Epd => self.wanted.evaluated,
            ExportFormat::CsvPositions => true,
        };
        let record = self.database.game(game)?;
        let annotations =
            if needs_annotations { self.database.annotations(game)? } else { GameAnnotations::default() };
        Ok((record, annotations))
    }

    fn check_stop(&self) -> anyhow::Result<()> {
        ensure!(!self.counts.stop.load(Ordering::Relaxed), Stopped);
        Ok(())
    }

    /// Appends the positions of a game at the given plies to `text`, and counts them.
    fn positions(
        &self,
        text: &mut String,
        record: &GameRecord,
        annotations: &GameAnnotations,
        plies: &[Ply],
    ) -> anyhow::Result<()> {
        match self.format() {
            ExportFormat::Fen => write_positions(text, record, plies, PositionFormat::Fen)?,
            ExportFormat::Epd => write_positions(text, record, plies, PositionFormat::Epd)?,
            _ => *text += &csv_lines(PositionFields::of(record, annotations, plies)?)?,
        }
        self.counts.positions.fetch_add(plies.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Counts a game that was at least partly written.
    fn count(&self, record: &GameRecord) {
        self.counts.games.fetch_add(1, Ordering::Relaxed);
        self.counts.plies.fetch_add(record.summary.ply_count.into(), Ordering::Relaxed);
        let is_lossy = record.summary.status != GameStatus::Ok;
        self.counts.lossy.fetch_add(is_lossy.into(), Ordering::Relaxed);
    }

    /// Writes text to the file, or to standard output.
    fn pass_on(&mut self, text: &str) -> anyhow::Result<()> {
        self.counts.bytes.fetch_add(text.len() as u64, Ordering::Relaxed);
        let text = if self.is_file { text.into() } else { shown(text) };
        Ok(self.out.write_all(text.as_bytes())?)
    }
}

/// Lines of CSV; unknown values are empty.
fn csv_lines(rows: impl IntoIterator<Item = impl Serialize>) -> anyhow::Result<String> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    for row in rows {
        writer.serialize(row)?;
    }
    let lines = writer.into_inner()?;
    if !environment::is_on(environment::SPREADSHEET) {
        return Ok(String::from_utf8(lines)?);
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in csv::ReaderBuilder::new().has_headers(false).from_reader(lines.as_slice()).records() {
        writer.write_record(row?.iter().map(|cell| csv_cell(cell).into_owned()))?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}
