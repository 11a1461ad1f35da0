//! `pgndex export`: chosen games as PGN or CSV, or their positions as FEN or EPD.

use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use anyhow::bail;
use pgndex::query::{
    Choice, GameFields, PositionFormat, PositionQuery, Positions, choose_games, near_names, write_pgn,
    write_positions,
};
use pgndex::store::row::{GameId, GameStatus, Ply};
use pgndex::store::{Database, GameAnnotations, GameFilter, Lines};
use serde::Serialize;

use crate::cli::args::{ExportArgs, ExportFormatArgs};
use crate::cli::command::variants::tell_variants;
use crate::cli::filter_note::{tell_near_players, tell_unknown_names};
use crate::cli::note;
use crate::cli::render::number::counted;
use crate::cli::render::output::{shown, stdout};
use crate::cli::render::output_file::{OutputFile, not_written};
use crate::cli::terminal::progress::{Progress, Snapshot};
use crate::cli::terminal::signal::stop_on_signal;

/// Writes games, or their positions.
///
/// # Errors
/// When the position or the database cannot be read, or the output cannot be written.
pub(crate) fn run(args: &ExportArgs) -> anyhow::Result<()> {
    let query = args.position.query()?;
    let filter = args.filter.filter()?;
    let database = Database::open_read_only(&args.database)?;
    for assumption in query.iter().flat_map(PositionQuery::assumptions) {
        note(&assumption);
    }
    let create = |path| {
        OutputFile::create(
            path,
            args.overwrite,
            Some(&args.database),
            "leave out --output to write to standard output",
        )
    };
    let target = args.output.as_deref().map(create).transpose()?;
    let counts = Arc::new(Counts::default());
    let out: Box<dyn Write> = match &target {
        Some(target) => {
            let counts = Arc::clone(&counts);
            stop_on_signal(move || counts.stop.store(true, Ordering::Relaxed))?;
            Box::new(BufWriter::with_capacity(1 << 16, target.file().try_clone()?))
        }
        None => stdout(),
    };
    let is_seen = target.is_some() || !io::stdout().is_terminal();
    let shown = Arc::clone(&counts);
    let display = Progress::start(!is_seen || !io::stderr().is_terminal(), move || shown.snapshot());
    let mut exporter = Exporter {
        database: &database,
        format: Format::new(args),
        out,
        text: String::new(),
        counts: &counts,
        is_file: target.is_some(),
    };
    let exported = exporter
        .head()
        .and_then(|()| exporter.choose(args, &filter, query.as_ref()))
        .and_then(|()| Ok(exporter.out.flush()?));
    display.stop();
    exported?;
    drop(exporter);
    let games = counts.games.load(Ordering::Relaxed);
    match target {
        Some(target) if games > 0 => {
            let path = target.finish()?;
            note(&format!("{} written to {}", counted(games, "game"), path.display()));
        }
        Some(target) => note(&not_written(target.path())),
        None if games == 0 => note("no game fits"),
        None => {}
    }
    if let Some(query) = query.filter(|_| games == 0) {
        tell_variants(&database, &query.position, Lines::Main)?;
    }
    match counts.lossy.load(Ordering::Relaxed) {
        0 => {}
        1 => note("1 game has missing moves; the table `problem` says why"),
        lossy => {
            note(&format!("{} have missing moves; the table `problem` says why", counted(lossy, "game")))
        }
    }
    Ok(())
}

/// What has been written, for the display to see.
#[derive(Default)]
struct Counts {
    games: AtomicU64,
    plies: AtomicU64,
    bytes: AtomicU64,
    /// Games of which moves are missing.
    lossy: AtomicU64,
    stop: AtomicBool,
}

impl Counts {
    fn snapshot(&self) -> Snapshot {
        Snapshot {
            bytes_done: self.bytes.load(Ordering::Relaxed),
            bytes_total: 0,
            games: self.games.load(Ordering::Relaxed),
            plies: self.plies.load(Ordering::Relaxed),
            files: None,
            phase: "writing",
        }
    }
}

enum Format {
    Pgn { plain: bool },
    Positions(PositionFormat, Positions),
    Csv,
}

impl Format {
    fn new(args: &ExportArgs) -> Self {
        let positions = match (args.ply, args.last) {
            (Some(ply), _) => Positions::At(Ply(ply)),
            (None, true) => Positions::Last,
            (None, false) => Positions::All,
        };
        match args.format {
            ExportFormatArgs { fen: true, .. } => Self::Positions(PositionFormat::Fen, positions),
            ExportFormatArgs { epd: true, .. } => Self::Positions(PositionFormat::Epd, positions),
            ExportFormatArgs { csv: true, .. } => Self::Csv,
            _ => Self::Pgn { plain: args.plain },
        }
    }
}

struct Exporter<'a> {
    database: &'a Database,
    format: Format,
    out: Box<dyn Write>,
    text: String,
    counts: &'a Counts,
    is_file: bool,
}

impl Exporter<'_> {
    fn head(&mut self) -> anyhow::Result<()> {
        match self.format {
            Format::Csv => Ok(self.out.write_all(csv_line(GameFields::NAMES)?.as_bytes())?),
            _ => Ok(()),
        }
    }

    /// Writes the chosen games.
    fn choose(
        &mut self,
        args: &ExportArgs,
        filter: &GameFilter,
        query: Option<&PositionQuery>,
    ) -> anyhow::Result<()> {
        let database = self.database;
        if let Some(sql) = &args.sql {
            return choose_games(database, Choice::Sql(sql), |game| self.game(game));
        }
        let selection = database.select(filter)?;
        tell_unknown_names(&near_names(database, &selection)?);
        tell_near_players(database, &selection)?;
        let choice = match query {
            None => Choice::Selection(&selection),
            Some(query) => Choice::Reached(query, &selection),
        };
        choose_games(database, choice, |game| self.game(game))
    }

    fn game(&mut self, game: GameId) -> anyhow::Result<()> {
        if self.counts.stop.load(Ordering::Relaxed) {
            bail!("stopped; nothing was written");
        }
        let record = self.database.game(game)?;
        self.text.clear();
        match self.format {
            Format::Pgn { plain } => {
                let annotations =
                    if plain { GameAnnotations::default() } else { self.database.annotations(game)? };
                write_pgn(&mut self.text, &record, &annotations)?;
            }
            Format::Positions(format, which) => write_positions(&mut self.text, &record, which, format)?,
            Format::Csv => self.text += &csv_line(GameFields::of(&record)?)?,
        }
        if self.text.is_empty() {
            return Ok(());
        }
        let text = if self.is_file { self.text.as_str().into() } else { shown(&self.text) };
        self.out.write_all(text.as_bytes())?;
        self.counts.games.fetch_add(1, Ordering::Relaxed);
        self.counts.plies.fetch_add(record.summary.ply_count.into(), Ordering::Relaxed);
        self.counts.bytes.fetch_add(self.text.len() as u64, Ordering::Relaxed);
        self.counts.lossy.fetch_add(u64::from(record.summary.status != GameStatus::Ok), Ordering::Relaxed);
        Ok(())
    }
}

/// A line of CSV; what is unknown is empty.
fn csv_line(fields: impl Serialize) -> anyhow::Result<String> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    writer.serialize(fields)?;
    Ok(String::from_utf8(writer.into_inner()?)?)
}
