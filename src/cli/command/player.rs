//! `pgndex player`: prints a player's record.

use std::io::{BufWriter, Write};
use std::time::Instant;

use pgndex::query::{CountedGames, PlayerQuery, PlayerRecord, similar_names};
use pgndex::store::Database;

use crate::cli::args::{PlayerArgs, PlayerFormat, SqlFormat, filter_option};
use crate::cli::notes::{filters_in_words, note_filtered_out, note_matching, note_similar, note_unknown};
use crate::cli::render::{
    Existing, OutputFile, Sections, check, counted, not_written, printable, refuse_pgn, refuse_source,
    stdout, terminal_width, unless_standard_output, write_json, write_page, write_tables,
};
use crate::cli::terminal::{note, note_time};

/// Advice if the path of `--output` is not that of a file.
const INSTEAD: &str = "name a file, or leave out --output to write to standard output";

/// Prints a player's record.
///
/// # Errors
/// If an argument is invalid, the database cannot be read, or the record cannot be written.
pub(crate) fn run(args: &PlayerArgs) -> anyhow::Result<()> {
    let start = args.timing.then(Instant::now);
    let filter = args.filter.with_player(&args.name).filter()?;
    let output = unless_standard_output(args.output.as_deref());
    if let Some(path) = output {
        check(path, Existing::from_overwrite(args.overwrite), Some(&args.database), INSTEAD)?;
        refuse_pgn(path)?;
    }
    let database = Database::open_read_only(&args.database)?;
    if let Some(path) = output {
        refuse_source(&database, path)?;
    }
    let selection = database.select(&filter)?;
    let query = PlayerQuery {
        database: &database,
        name: &args.name,
        selection: &selection,
        limit: if args.limit == 0 { usize::MAX } else { args.limit as usize },
        depth: args.depth,
        least_share: args.least_share.into(),
    };
    let record = query.answer()?;
    let named = |field: &str| match field {
        "player" => format!("\"{}\"", printable(args.name.text())),
        "opponent" if args.filter.opponent.is_none() => "--player".to_owned(),
        "opponent" => "--opponent".to_owned(),
        field => filter_option(field),
    };
    note_similar(&database, &selection, &named)?;
    if record.all.games == 0 {
        let unknown = similar_names(&database, &selection)?;
        note_unknown(&unknown, &named);
        if unknown.is_empty() {
            note("no game of this player passes the filters");
            note_filtered_out(&database, &filter, CountedGames::All, &|field| {
                (field != "player").then(|| filter_option(field))
            })?;
        }
    }
    note_shown(&record);
    if args.format == PlayerFormat::Json || record.all.games > 0 {
        write(args, &record, &filters_in_words(&filter))?;
    } else if let Some(path) = output {
        note(&not_written("game", path));
    }
    note_time(start);
    Ok(())
}

/// Prints notes if several players match, if games are counted twice, and if moves are omitted.
fn note_shown(record: &PlayerRecord) {
    if record.players.len() > 1 {
        let players: Vec<_> =
            record.players.iter().map(|player| (player.name.as_str(), player.games)).collect();
        note_matching("the name", players.len() as u64, &players);
    }
    let counted_twice =
        (record.all.finished() + u64::from(record.all.unfinished)).saturating_sub(record.all.games);
    if counted_twice > 0 {
        note(&format!(
            "{} between two of these players: counted twice, once for each player",
            counted(counted_twice, "game")
        ));
    }
    if record.white.lines_are_cut || record.black.lines_are_cut {
        note(
            "the lines have more moves than can be shown: these are the most frequent ones; use a higher --least-share or a lower \
             --depth",
        );
    }
}

/// Writes the record to the given file, or to standard output.
fn write(args: &PlayerArgs, record: &PlayerRecord, filters: &[String]) -> anyhow::Result<()> {
    let Some(path) = unless_standard_output(args.output.as_deref()) else {
        let mut out = stdout();
        write_to(&mut out, args.format, (record, filters), terminal_width())?;
        return Ok(out.flush()?);
    };
    let existing = Existing::from_overwrite(args.overwrite);
    let output = OutputFile::create(path, existing, Some(&args.database), INSTEAD)?;
    let mut out = BufWriter::new(output.file());
    write_to(&mut out, args.format, (record, filters), None)
        .and_then(|()| Ok(out.flush()?))
        .map_err(|error| output.failed(error))?;
    drop(out);
    note(&format!("record written to {}", output.finish()?.display()));
    Ok(())
}

fn write_to(
    mut out: &mut dyn Write,
    format: PlayerFormat,
    (record, filters): (&PlayerRecord, &[String]),
    terminal: Option<usize>,
) -> anyhow::Result<()> {
    let sections = || Sections::of(record, filters.to_vec());
    match format {
        PlayerFormat::Table => write_tables(out, &sections(), SqlFormat::Table, terminal),
        PlayerFormat::Md => write_tables(out, &sections(), SqlFormat::Md, terminal),
        PlayerFormat::Html => Ok(write_page(out, &sections())?),
        PlayerFormat::Json => write_json(&mut out, record),
    }
}
