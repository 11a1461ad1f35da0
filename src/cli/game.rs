//! `pgndex game`: one game as a score sheet, as JSON or as PGN.

use std::io::{self, Write};

use pgndex::board::Color;
use pgndex::export::{tags, write_pgn};
use pgndex::store::row::{GameId, GameStatus};
use pgndex::store::{Database, GameRecord};
use serde_json::{Map, json};
use unicode_width::UnicodeWidthStr as _;

use super::args::{GameArgs, GameFormat};
use super::note;
use super::output::stdout;
use super::replay::{Step, replay};
use super::table::printable;

/// Shows one game.
///
/// # Errors
/// When the database cannot be read or has no such game.
pub(super) fn run(args: &GameArgs) -> anyhow::Result<()> {
    let database = Database::open_read_only(&args.database)?;
    let record = database.game(GameId(args.game))?;
    let mut out = stdout();
    match args.format {
        GameFormat::Table => write_table(&mut out, &record, &replay(&record)?)?,
        GameFormat::Json => write_json(&mut out, &record, &replay(&record)?)?,
        GameFormat::Pgn => {
            let mut text = String::new();
            write_pgn(&mut text, &record)?;
            out.write_all(text.as_bytes())?;
        }
    }
    out.flush()?;
    if let Some(loss) = loss(&record) {
        note(&loss);
    }
    Ok(())
}

/// What the file has of the game and the database has not.
fn loss(record: &GameRecord) -> Option<String> {
    let game = record.summary.game.0;
    let what = match record.summary.status {
        GameStatus::Ok => return None,
        GameStatus::Truncated => "the moves after these are illegal or cannot be read",
        GameStatus::Skipped => {
            "its moves are not in the database, as its variant or its start position is not supported"
        }
    };
    Some(format!("game {game}: {what}; SELECT * FROM problem WHERE game_id = {game} tells more"))
}

/// The tag pairs for a score sheet: what is unknown is left out, titles and ratings stand beside the names.
fn headers(record: &GameRecord) -> Vec<(String, String)> {
    let game = &record.summary;
    let mut headers = tags(record);
    headers.retain(|(name, value)| {
        let is_beside =
            matches!(name.as_str(), "WhiteElo" | "BlackElo" | "WhiteTitle" | "BlackTitle" | "SetUp");
        !is_beside && !matches!(value.as_str(), "" | "?" | "????.??.??")
    });
    for (name, value) in &mut headers {
        let (title, elo) = match name.as_str() {
            "White" => (&game.white_title, game.white_elo),
            "Black" => (&game.black_title, game.black_elo),
            _ => continue,
        };
        if let Some(title) = title {
            value.insert_str(0, &format!("{title} "));
        }
        if let Some(elo) = elo {
            *value += &format!(" ({elo})");
        }
    }
    headers
}

fn write_table(out: &mut impl Write, record: &GameRecord, steps: &[Step]) -> io::Result<()> {
    writeln!(out, "Game {}\n", record.summary.game.0)?;
    let tags = headers(record);
    let width = tags.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
    for (name, value) in tags {
        writeln!(out, "  {name:width$}  {}", printable(&value))?;
    }
    if steps.iter().any(|step| step.played.is_some()) {
        writeln!(out)?;
    }
    let san_width = steps.iter().filter_map(|step| step.played.as_ref()).map(|played| played.san.len()).max();
    let san_width = san_width.unwrap_or(0);
    for (index, step) in steps.iter().enumerate() {
        let Some(played) = &step.played else { continue };
        match step.side {
            Color::White if steps.get(index + 1).is_some_and(|next| next.played.is_some()) => {
                write!(out, "{:>5}.  {:san_width$}", step.number, played.san)?;
            }
            Color::White => writeln!(out, "{:>5}.  {}", step.number, played.san)?,
            Color::Black if index == 0 => {
                writeln!(out, "{:>5}.  {:san_width$}  {}", step.number, "...", played.san)?
            }
            Color::Black => writeln!(out, "  {}", played.san)?,
        }
    }
    writeln!(out, "\n{}", record.summary.result.as_str())?;
    Ok(())
}

fn write_json(out: &mut impl Write, record: &GameRecord, steps: &[Step]) -> anyhow::Result<()> {
    let ply = |step: &Step| {
        let played = step.played.as_ref();
        json!({
            "ply": step.ply.0,
            "move_number": step.number,
            "side": if step.side == Color::White { "w" } else { "b" },
            "fen": step.fen,
            "key": step.key.to_string(),
            "san": played.map(|played| &played.san),
            "uci": played.map(|played| &played.uci),
            "code": played.map(|played| played.code.bits()),
        })
    };
    let tags: Map<_, _> = tags(record).into_iter().map(|(name, value)| (name, value.into())).collect();
    let game = json!({
        "game_id": record.summary.game.0,
        "tags": tags,
        "result": record.summary.result.as_str(),
        "status": record.summary.status.as_str(),
        "start_fen": record.start_fen,
        "ply_count": record.summary.ply_count,
        "source": record.source,
        "byte_offset": record.byte_offset,
        "byte_length": record.byte_length,
    });
    // The plies go out one by one: as one value, those of the longest games would take gigabytes.
    let head = game.to_string();
    write!(out, "{},\"plies\":[", head.strip_suffix('}').unwrap_or(&head))?;
    for (index, step) in steps.iter().enumerate() {
        let separator = if index == 0 { "" } else { "," };
        write!(out, "{separator}{}", ply(step))?;
    }
    writeln!(out, "]}}")?;
    Ok(())
}
