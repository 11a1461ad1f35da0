//! `pgndex game`: games as score sheets, as JSON or as PGN.

use std::io::{self, Write};

use pgndex::board::{Color, Kind, MoveCode, Position};
use pgndex::query::{GameAnswer, number_before, replay, visit_games, write_pgn};
use pgndex::store::row::GameId;
use pgndex::store::{Database, Error, GameProblem, GameRecord, StoredPosition};
use unicode_width::UnicodeWidthStr as _;

use crate::cli::args::{BoardPly, GameArgs, GameFormat};
use crate::cli::note;
use crate::cli::render::board::BoardStyle;
use crate::cli::render::output::{shown, stdout, write_json};
use crate::cli::render::table::{Cell, TableWriter};
use crate::cli::render::text::{blanks, printable};

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
    let mut sheets = Sheets { database: &database, args, out: stdout(), text: String::new(), is_first: true };
    let ranges = args.games.iter().map(|range| range.first..=range.last);
    let missing = visit_games(&database, ranges, |record| sheets.write(record))?;
    sheets.out.flush()?;
    match missing {
        Some(game) => {
            let last = database.last_game()?;
            Err(Error::NoSuchGame { path: args.database.clone(), game, last }.into())
        }
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
    fn write(&mut self, record: &GameRecord) -> anyhow::Result<()> {
        let GameId(game) = record.summary.game;
        let problems = || self.database.problems_of(GameId(game));
        match self.args.format {
            GameFormat::Table => {
                if !std::mem::take(&mut self.is_first) {
                    writeln!(self.out)?;
                }
                write_sheet(&mut self.out, record, self.args)?;
                write_problems(&mut self.out, record, &problems()?)?;
                return Ok(());
            }
            GameFormat::Json => {
                write_json(&mut self.out, &GameAnswer::of(record, &problems()?))?;
                writeln!(self.out)?;
            }
            GameFormat::Pgn => {
                self.text.clear();
                write_pgn(&mut self.text, record)?;
                self.out.write_all(shown(&self.text).as_bytes())?;
            }
        }
        if let Some(loss) = record.loss() {
            note(&format!("game {game}: {loss}; for more: SELECT * FROM problem WHERE game_id = {game}"));
        }
        Ok(())
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
        note(&format!("game {game} has {plies} plies; there is no board after that"));
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
