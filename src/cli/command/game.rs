//! `pgndex game`: games as score sheets, as JSON or as PGN.

use std::io::{self, Write};

use pgndex::board::{Color, Kind, MoveCode, Position};
use pgndex::export::write_pgn;
use pgndex::replay::replay;
use pgndex::store::row::GameId;
use pgndex::store::{Database, Error, GameProblem, GameRecord, StoredPosition};
use serde_json::{Map, Value, json};
use unicode_width::UnicodeWidthStr as _;

use crate::cli::args::{BoardPly, GameArgs, GameFormat};
use crate::cli::note;
use crate::cli::position_query::number_before;
use crate::cli::render::board::BoardStyle;
use crate::cli::render::output::{shown, stdout};
use crate::cli::render::table::{Cell, TableWriter};
use crate::cli::render::text::{blanks, escaped_json, printable};

/// From here on the half-move clock is told beside a board.
const LONG_CLOCK: u32 = 20;

/// Shows games: those that are there, before the first that is not is told.
///
/// # Errors
/// When the database cannot be read or lacks one of the games.
pub(crate) fn run(args: &GameArgs) -> anyhow::Result<()> {
    let database = Database::open_read_only(&args.database)?;
    if args.format != GameFormat::Table && (args.board_every.is_some() || !args.ply.is_empty()) {
        note("boards are drawn on score sheets only, not in json or pgn");
    }
    let last = database.last_game()?;
    let mut sheets = Sheets { database: &database, args, out: stdout(), text: String::new(), is_first: true };
    let mut missing = None;
    for range in &args.games {
        let end = range.last.min(last.map_or(0, |last| last.0));
        let outside =
            (range.first == 0).then_some(0).or((range.last > end).then(|| range.first.max(end + 1)));
        missing = missing.or(outside);
        let (mut next, mut is_found) = (Some(range.first.max(1)), false);
        while let Some(first) = next.take()
            && let Some(GameId(game)) = database.game_from(GameId(first))?
            && game <= end
        {
            is_found |= sheets.write(GameId(game))?;
            next = game.checked_add(1);
        }
        // A range passes over the number of a game that was cut off and has been read again.
        if range.first == range.last && !is_found {
            missing.get_or_insert(range.first);
        }
    }
    sheets.out.flush()?;
    match missing.map(GameId) {
        Some(game) => Err(Error::NoSuchGame { path: args.database.clone(), game, last }.into()),
        None => Ok(()),
    }
}

/// Games on their way out.
struct Sheets<'a, W> {
    database: &'a Database,
    args: &'a GameArgs,
    out: W,
    text: String,
    is_first: bool,
}

impl<W: Write> Sheets<'_, W> {
    /// Writes a game. Gives back whether it is there.
    fn write(&mut self, game: GameId) -> anyhow::Result<bool> {
        let record = match self.database.game(game) {
            Err(Error::NoSuchGame { .. }) => return Ok(false),
            record => record?,
        };
        // Before anything is printed: a damaged game is not shown as if it were sound.
        replay(&record, |_, _| {})?;
        match self.args.format {
            GameFormat::Table => {
                if !std::mem::take(&mut self.is_first) {
                    writeln!(self.out)?;
                }
                write_sheet(&mut self.out, &record, self.args)?;
                write_problems(&mut self.out, &record, &self.database.problems_of(game)?)?;
                return Ok(true);
            }
            GameFormat::Json => write_json(&mut self.out, &record, &self.database.problems_of(game)?)?,
            GameFormat::Pgn => {
                self.text.clear();
                write_pgn(&mut self.text, &record)?;
                self.out.write_all(shown(&self.text).as_bytes())?;
            }
        }
        if let Some(loss) = record.loss() {
            let GameId(game) = game;
            note(&format!("game {game}: {loss}; SELECT * FROM problem WHERE game_id = {game} tells more"));
        }
        Ok(true)
    }
}

/// Plays a game through for a writer, and stops writing at its first error.
fn write_each(
    record: &GameRecord,
    mut write: impl FnMut(&Position, &StoredPosition) -> io::Result<()>,
) -> anyhow::Result<()> {
    let mut written = Ok(());
    replay(record, |position, stored| {
        if written.is_ok() {
            written = write(position, stored);
        }
    })?;
    Ok(written?)
}

/// The tag pairs for a score sheet: what is unknown is left out, titles and ratings stand beside the names.
fn headers(record: &GameRecord) -> Vec<(String, String)> {
    let game = &record.summary;
    let mut headers = record.tags();
    headers.retain(|(name, value)| {
        let is_elsewhere = matches!(
            name.as_str(),
            "WhiteElo" | "BlackElo" | "WhiteTitle" | "BlackTitle" | "SetUp" | GameRecord::TRUNCATED
        );
        !is_elsewhere && !matches!(value.as_str(), "" | "?" | "????.??.??")
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
    if let Some(opening) = &record.opening {
        headers.retain(|(name, _)| name != "Opening");
        headers.push(("Opening".to_owned(), format!("{} {}", opening.eco, opening.name)));
    }
    headers
}

fn write_sheet(out: &mut impl Write, record: &GameRecord, args: &GameArgs) -> anyhow::Result<()> {
    let (game, plies) = (record.summary.game.0, record.summary.ply_count);
    writeln!(out, "Game {game}\n")?;
    let mut headers = headers(record);
    headers.iter_mut().for_each(|(name, _)| *name = printable(name));
    let width = headers.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
    for (name, value) in headers {
        writeln!(out, "  {name}{}  {}", blanks(width - name.width()), printable(&value))?;
    }
    writeln!(out)?;
    let mut san_width = 0;
    replay(record, |position, stored| {
        san_width = stored.move_code.map_or(0, |code| position.san(code).len()).max(san_width);
    })?;
    let mut sheet = Sheet { out: &mut *out, san_width, open: None, is_spaced: true };
    let style = BoardStyle::new(&args.board);
    let mut last: Option<(String, MoveCode)> = None;
    write_each(record, |position, stored| {
        if is_drawn(args, stored) {
            let caption = caption(position, last.as_ref().map(|(text, _)| text.as_str()));
            sheet.board(style, position, last.as_ref().map(|(_, code)| *code), &caption)?;
        }
        let Some(code) = stored.move_code else { return Ok(()) };
        let san = position.san(code);
        sheet.write_move(position, &san)?;
        last = Some((format!("{} {san}", number_before(position.fullmove_number(), position.side())), code));
        Ok(())
    })?;
    sheet.space()?;
    writeln!(out, "{}", record.summary.result.as_str())?;
    if args.ply.iter().any(|ply| matches!(ply, BoardPly::After(ply) if *ply > plies)) {
        note(&format!("game {game} ends with ply {plies}; there is no board after it"));
    }
    Ok(())
}

/// Whether a position's board is wanted.
fn is_drawn(args: &GameArgs, stored: &StoredPosition) -> bool {
    let (ply, is_last) = (stored.ply.0, stored.move_code.is_none());
    args.ply.contains(&BoardPly::After(ply))
        || (is_last && args.ply.contains(&BoardPly::End))
        || args.board_every.is_some_and(|every| is_last || (ply > 0 && ply.is_multiple_of(every)))
}

/// What stands below a board: the move that led there, mate or stalemate, the balance of material, a long half-move clock.
fn caption(position: &Position, last: Option<&str>) -> String {
    let mut parts = vec![last.map_or_else(|| "start position".to_owned(), |san| format!("after {san}"))];
    if !position.has_legal_move() {
        parts.push(if position.is_check() { "checkmate" } else { "stalemate" }.to_owned());
    }
    let balance = material(position, Color::White) - material(position, Color::Black);
    if balance != 0 {
        parts.push(format!("material {balance:+}"));
    }
    if position.halfmove_clock() >= LONG_CLOCK {
        parts.push(format!("half-move clock {}", position.halfmove_clock()));
    }
    parts.join(", ")
}

/// A side's material in pawns: a minor piece is 3, a rook 5, a queen 9.
fn material(position: &Position, color: Color) -> i32 {
    let worth = [(Kind::Pawn, 1), (Kind::Knight, 3), (Kind::Bishop, 3), (Kind::Rook, 5), (Kind::Queen, 9)];
    worth.into_iter().map(|(kind, pawns)| pawns * position.squares_of(kind, color).len().cast_signed()).sum()
}

/// The moves of a score sheet, White's and Black's on one line, and boards between them.
struct Sheet<'a, W> {
    out: &'a mut W,
    /// The width of White's column.
    san_width: usize,
    /// How wide White's move is on a line that Black's is to follow.
    open: Option<usize>,
    /// Whether the line above is blank.
    is_spaced: bool,
}

impl<W: Write> Sheet<'_, W> {
    fn write_move(&mut self, position: &Position, san: &str) -> io::Result<()> {
        let number = position.fullmove_number();
        if position.side() == Color::White {
            self.close()?;
            self.open = Some(san.len());
            self.is_spaced = false;
            return write!(self.out, "{number:>5}.  {san}");
        }
        let written = match self.open.take() {
            Some(written) => written,
            None => {
                write!(self.out, "{number:>5}.  ...")?;
                3
            }
        };
        self.is_spaced = false;
        let gap = self.san_width.max(3) - written + 2;
        writeln!(self.out, "{}{san}", blanks(gap))
    }

    fn board(
        &mut self,
        style: BoardStyle,
        position: &Position,
        last: Option<MoveCode>,
        caption: &str,
    ) -> io::Result<()> {
        self.space()?;
        style.write(self.out, position, last)?;
        writeln!(self.out, "  {caption}\n")?;
        self.is_spaced = true;
        Ok(())
    }

    /// Ends a line that has White's move only.
    fn close(&mut self) -> io::Result<()> {
        if self.open.take().is_some() { writeln!(self.out) } else { Ok(()) }
    }

    /// Sees to a blank line.
    fn space(&mut self) -> io::Result<()> {
        self.close()?;
        if std::mem::replace(&mut self.is_spaced, true) { Ok(()) } else { writeln!(self.out) }
    }
}

/// What of the game is lost, and all that was found wrong in it.
fn write_problems(out: &mut impl Write, record: &GameRecord, problems: &[GameProblem]) -> io::Result<()> {
    if let Some(loss) = record.loss() {
        writeln!(out, "\nNot complete: {loss}.")?;
    }
    if problems.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nProblems in {}\n", printable(&record.source.to_string_lossy()))?;
    let mut table = TableWriter::new(out, &["line", "ply", "severity", "kind", "message"], None);
    for problem in problems {
        table.row(vec![
            Cell::number(problem.line.to_string()),
            Cell::number(problem.ply.map_or_else(String::new, |ply| ply.0.to_string())),
            Cell::text(&problem.severity),
            Cell::text(&problem.kind),
            Cell::text(&problem.message),
        ])?;
    }
    table.finish()?;
    Ok(())
}

/// Writes one object on one line. The plies go out one by one: as one value, those of the longest games would take
/// gigabytes.
fn write_json(out: &mut impl Write, record: &GameRecord, problems: &[GameProblem]) -> anyhow::Result<()> {
    let is_chess960 = record.is_chess960();
    let tags: Map<_, _> = record.tags().into_iter().map(|(name, value)| (name, value.into())).collect();
    let game = json!({
        "game_id": record.summary.game.0,
        "tags": tags,
        "result": record.summary.result.as_str(),
        "status": record.summary.status.as_str(),
        "opening": record.opening.as_ref().map(|opening| json!({ "eco": opening.eco, "name": opening.name })),
        "chess960": is_chess960,
        "start_fen": record.start_fen,
        "ply_count": record.summary.ply_count,
        "source": record.source.to_string_lossy(),
        "byte_offset": record.byte_offset,
        "byte_length": record.byte_length,
        "problems": problems.iter().map(problem_json).collect::<Vec<_>>(),
    });
    let head = game.to_string();
    let head = escaped_json(&head);
    write!(out, "{},\"plies\":[", head.strip_suffix('}').unwrap_or(&head))?;
    write_each(record, |position, stored| {
        let separator = if stored.ply.0 == 0 { "" } else { "," };
        write!(out, "{separator}{}", ply_json(position, stored, is_chess960))
    })?;
    writeln!(out, "]}}")?;
    Ok(())
}

fn problem_json(problem: &GameProblem) -> Value {
    json!({
        "line": problem.line,
        "column_number": problem.column,
        "byte_offset": problem.byte_offset,
        "ply": problem.ply.map(|ply| ply.0),
        "token": problem.token,
        "kind": problem.kind,
        "severity": problem.severity,
        "message": problem.message,
    })
}

fn ply_json(position: &Position, stored: &StoredPosition, is_chess960: bool) -> Value {
    let code = stored.move_code;
    let uci = |code| if is_chess960 { position.uci_chess960(code) } else { position.uci(code) }.to_string();
    json!({
        "ply": stored.ply.0,
        "move_number": position.fullmove_number(),
        "side": if position.side() == Color::White { "w" } else { "b" },
        "fen": position.fen(),
        "key": stored.key.as_i64(),
        "key_hex": stored.key.to_string(),
        "san": code.map(|code| position.san(code)),
        "uci": code.map(uci),
        "code": code.map(MoveCode::bits),
    })
}
