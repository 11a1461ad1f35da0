//! `pgndex game`: one game as a score sheet, as JSON or as PGN.

use std::io::{self, Write};

use pgndex::board::Color;
use pgndex::store::row::{GameId, GameStatus};
use pgndex::store::{Database, GameRecord};
use serde_json::{Map, json};
use unicode_width::UnicodeWidthStr as _;

use super::args::{BoardPly, GameArgs, GameFormat};
use super::board::BoardStyle;
use super::note;
use super::output::stdout;
use super::position_query::number_before;
use super::replay::{Step, replay, start_position};
use super::table::printable;

/// PGN's export format has lines of fewer than 80 columns.
const MAX_LINE: usize = 79;
/// The tags of PGN's roster, which stand first.
const ROSTER: [&str; 7] = ["Event", "Site", "Date", "Round", "White", "Black", "Result"];

/// Shows one game.
///
/// # Errors
/// When the database cannot be read or has no such game.
pub(super) fn run(args: &GameArgs) -> anyhow::Result<()> {
    let database = Database::open_read_only(&args.database)?;
    let record = database.game(GameId(args.game))?;
    let steps = replay(&record)?;
    let mut out = stdout();
    match args.format {
        GameFormat::Table => write_table(&mut out, &record, &steps, args)?,
        GameFormat::Json => write_json(&mut out, &record, &steps)?,
        GameFormat::Pgn => write_pgn(&mut out, &record, &steps)?,
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

/// The tag pairs, roster first, each once. A value that did not fit its column is kept among the other tags: it takes
/// the place of the unknown one.
fn tags(record: &GameRecord) -> Vec<(String, String)> {
    let mut tags = record.tags();
    let others = tags.split_off(ROSTER.len().min(tags.len()));
    for (name, value) in others {
        match tags.iter_mut().find(|(known, _)| *known == name) {
            // The result must be that of the movetext's end.
            Some((_, known)) if known.starts_with('?') && name != "Result" => *known = value,
            Some(_) => {}
            None => tags.push((name, value)),
        }
    }
    tags
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

fn write_table(
    out: &mut impl Write,
    record: &GameRecord,
    steps: &[Step],
    args: &GameArgs,
) -> anyhow::Result<()> {
    writeln!(out, "Game {}\n", record.summary.game.0)?;
    let tags = headers(record);
    let width = tags.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
    for (name, value) in tags {
        writeln!(out, "  {name:width$}  {}", printable(&value))?;
    }
    writeln!(out)?;
    let sans = steps.iter().filter_map(|step| step.played.as_ref()).map(|played| played.san.len());
    let mut sheet = Sheet { out, san_width: sans.max().unwrap_or(0), open: None };
    let style = BoardStyle::new(&args.board);
    let mut position = start_position(record.start_fen.as_deref())?;
    for (index, step) in steps.iter().enumerate() {
        if is_drawn(args, step) {
            sheet.close()?;
            let last = index.checked_sub(1).and_then(|before| steps[before].played.as_ref());
            if index > 0 {
                writeln!(sheet.out)?;
            }
            style.write(sheet.out, &position, last.map(|played| played.code))?;
            writeln!(sheet.out)?;
        }
        if let Some(played) = &step.played {
            sheet.write_move(step, &played.san)?;
            position.make(played.code)?;
        }
    }
    let is_blank = steps.last().is_some_and(|last| is_drawn(args, last) || last.ply.0 == 0);
    sheet.close()?;
    writeln!(out, "{}{}", if is_blank { "" } else { "\n" }, record.summary.result.as_str())?;
    Ok(())
}

/// Whether a position's board is wanted.
fn is_drawn(args: &GameArgs, step: &Step) -> bool {
    let (ply, is_last) = (step.ply.0, step.played.is_none());
    args.ply.contains(&BoardPly::After(ply))
        || (is_last && args.ply.contains(&BoardPly::End))
        || args.board_every.is_some_and(|every| is_last || (ply > 0 && ply.is_multiple_of(every)))
}

/// The moves of a score sheet, White's and Black's on one line.
struct Sheet<'a, W> {
    out: &'a mut W,
    /// The width of White's column.
    san_width: usize,
    /// How wide White's move is on a line that Black's is to follow.
    open: Option<usize>,
}

impl<W: Write> Sheet<'_, W> {
    fn write_move(&mut self, step: &Step, san: &str) -> io::Result<()> {
        if step.side == Color::White {
            self.close()?;
            self.open = Some(san.len());
            return write!(self.out, "{:>5}.  {san}", step.number);
        }
        let written = match self.open.take() {
            Some(written) => written,
            None => {
                write!(self.out, "{:>5}.  ...", step.number)?;
                3
            }
        };
        let gap = self.san_width.max(3).saturating_sub(written) + 2;
        writeln!(self.out, "{:gap$}{san}", "")
    }

    /// Ends a line that has White's move only.
    fn close(&mut self) -> io::Result<()> {
        if self.open.take().is_some() { writeln!(self.out) } else { Ok(()) }
    }
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

fn write_pgn(out: &mut impl Write, record: &GameRecord, steps: &[Step]) -> io::Result<()> {
    for (name, value) in tags(record) {
        writeln!(out, "[{name} \"{}\"]", escaped(&value))?;
    }
    writeln!(out)?;
    let mut line = Line { out, width: 0 };
    for (index, step) in steps.iter().enumerate() {
        let Some(played) = &step.played else { continue };
        if step.side == Color::White || index == 0 {
            line.token(&number_before(step.number, step.side))?;
        }
        line.token(&played.san)?;
    }
    line.token(record.summary.result.as_str())?;
    writeln!(out, "\n")
}

/// A tag's value as it stands between quotes: on one line, quotes and backslashes escaped.
fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for letter in value.chars() {
        match letter {
            '"' | '\\' => text.extend(['\\', letter]),
            _ if letter.is_control() => text.push(' '),
            _ => text.push(letter),
        }
    }
    text
}

/// Movetext, broken into lines between tokens.
struct Line<'a, W> {
    out: &'a mut W,
    width: usize,
}

impl<W: Write> Line<'_, W> {
    fn token(&mut self, token: &str) -> io::Result<()> {
        if self.width == 0 {
            self.width = token.len();
        } else if self.width + 1 + token.len() <= MAX_LINE {
            self.width += 1 + token.len();
            self.out.write_all(b" ")?;
        } else {
            self.width = token.len();
            self.out.write_all(b"\n")?;
        }
        self.out.write_all(token.as_bytes())
    }
}
