//! Prints the score sheet of a game.

use std::io::{self, Write};

use pgndex::board::{Color, Material, MoveCode, Position};
use pgndex::pgn::nag_sign;
use pgndex::query::{number_before, replay, variation_text};
use pgndex::store::row::Ply;
use pgndex::store::{GameAnnotations, GameRecord, StoredPosition};
use unicode_width::UnicodeWidthStr as _;

use crate::cli::args::{BoardPly, GameArgs};
use crate::cli::render::{
    BoardStyle, blanks, comments, move_time, printable, terminal_width, value, wrapped, write_curves,
};
use crate::cli::terminal::note;

/// From this number on, the half-move clock is shown below a board.
const LONG_CLOCK: u32 = 20;

/// Replays a game and calls `write` for each position, up to the first error of writing.
fn write_each(
    record: &GameRecord,
    mut write: impl FnMut(&Position, &StoredPosition) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut written = Ok(());
    replay(record, |position, stored| {
        if written.is_ok() {
            written = write(position, stored);
        }
    })?;
    written
}

/// The tag pairs for a score sheet: unknown values are omitted, titles and ratings are shown with the names.
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

/// Writes the score sheet of a game: its tags, its moves with annotations, and curves of evaluations and
/// clocks.
///
/// # Errors
/// If a stored position or move is invalid, or the sheet cannot be written.
pub(crate) fn write_sheet(
    out: &mut impl Write,
    record: &GameRecord,
    annotations: &GameAnnotations,
    args: &GameArgs,
) -> anyhow::Result<()> {
    let (game, plies) = (record.summary.game.0, record.summary.ply_count);
    writeln!(out, "Game {game}\n")?;
    let mut headers = headers(record);
    headers.iter_mut().for_each(|(name, _)| *name = printable(name));
    let width = headers.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
    for (name, value) in headers {
        writeln!(out, "  {name}{}  {}", blanks(width - name.width()), printable(&value))?;
    }
    writeln!(out)?;
    let columns = Columns::of(record, annotations)?;
    let mut sheet = Sheet { out: &mut *out, columns, open: None, is_spaced: true };
    let style = BoardStyle::new(&args.board);
    let mut last: Option<(String, MoveCode)> = None;
    let mut first = Color::White;
    for comment in annotations.at(0, Ply(0)).into_iter().flat_map(comments) {
        sheet.remark(&comment)?;
    }
    write_each(record, |position, stored| {
        if stored.ply == Ply(0) {
            first = position.side();
        }
        if is_drawn(args, stored) {
            let caption = caption(position, last.as_ref().map(|(text, _)| text.as_str()));
            sheet.board(style, position, last.as_ref().map(|(_, code)| *code), &caption)?;
        }
        if let Some(code) = stored.move_code {
            let san = position.san(code);
            sheet.write_move(position, &Entry::of(position, code, stored.ply, annotations))?;
            sheet.remarks(record, annotations, stored.ply, position)?;
            let number = number_before(position.fullmove_number(), position.side());
            last = Some((format!("{number} {san}"), code));
        }
        Ok(())
    })?;
    sheet.space()?;
    writeln!(out, "{}", record.summary.result.as_str())?;
    write_curves(out, annotations, first, text_width() + INDENT)?;
    if args.ply.iter().any(|ply| matches!(ply, BoardPly::After(ply) if *ply > plies)) {
        note(&format!("game {game} has {plies} plies; there is no board after that"));
    }
    Ok(())
}

/// The texts on a sheet for one move.
#[derive(Debug, Default)]
struct Entry {
    /// The move with its NAGs.
    san: String,
    /// The clock after it, or the time used.
    time: String,
    value: String,
}

impl Entry {
    /// The texts for the move `code`, played from a position at a ply.
    fn of(position: &Position, code: MoveCode, ply: Ply, annotations: &GameAnnotations) -> Self {
        let mut entry = Self { san: position.san(code), ..Self::default() };
        let Some(remarks) = annotations.at(0, Ply(ply.0 + 1)) else { return entry };
        for &nag in &remarks.nags {
            match nag_sign(nag) {
                Some(sign) => entry.san.push_str(sign),
                None => entry.san += &format!(" ${nag}"),
            }
        }
        entry.time = move_time(remarks.numbers).unwrap_or_default();
        entry.value = remarks.numbers.eval.map(value).unwrap_or_default();
        entry
    }
}

/// The widths of the parts of entries; 0 for annotations that no entry has.
#[derive(Clone, Copy, Debug, Default)]
struct Columns {
    san: usize,
    time: usize,
    value: usize,
}

impl Columns {
    fn of(record: &GameRecord, annotations: &GameAnnotations) -> anyhow::Result<Self> {
        // The width of the text that replaces a missing move of White.
        let mut columns = Self { san: 3, ..Self::default() };
        replay(record, |position, stored| {
            let Some(code) = stored.move_code else { return };
            let entry = Entry::of(position, code, stored.ply, annotations);
            columns.san = columns.san.max(entry.san.width());
            columns.time = columns.time.max(entry.time.len());
            columns.value = columns.value.max(entry.value.len());
        })?;
        Ok(columns)
    }

    /// An entry: moves are aligned left, numbers right. Trailing blanks are omitted.
    fn text(self, entry: &Entry) -> String {
        let Self { san, time, value } = self;
        let mut text = entry.san.clone();
        text += &blanks(san.saturating_sub(text.width()));
        if time > 0 {
            text += &format!("  {:>time$}", entry.time);
        }
        if value > 0 {
            text += &format!("  {:>value$}", entry.value);
        }
        text.truncate(text.trim_end().len());
        text
    }

    fn width(self) -> usize {
        let part = |width| if width > 0 { 2 + width } else { 0 };
        self.san + part(self.time) + part(self.value)
    }
}

/// Whether a position's board is requested.
fn is_drawn(args: &GameArgs, stored: &StoredPosition) -> bool {
    let (ply, is_last) = (stored.ply.0, stored.move_code.is_none());
    args.ply.contains(&BoardPly::After(ply))
        || (is_last && args.ply.contains(&BoardPly::End))
        || args.board_every.is_some_and(|every| is_last || (ply > 0 && ply.is_multiple_of(every)))
}

/// The text below a board: the last move, mate or stalemate, the material balance, a long half-move clock.
fn caption(position: &Position, last: Option<&str>) -> String {
    let mut parts = vec![last.map_or_else(|| "start position".to_owned(), |san| format!("after {san}"))];
    if !position.has_legal_move() {
        parts.push(if position.is_check() { "checkmate" } else { "stalemate" }.to_owned());
    }
    let balance = Material::from_placement(position.canonical_fen().as_bytes()).balance();
    parts.push(if balance == 0 { "material equal".to_owned() } else { format!("material {balance:+}") });
    if position.halfmove_clock() >= LONG_CLOCK {
        parts.push(format!("half-move clock {}", position.halfmove_clock()));
    }
    parts.join(", ")
}

/// The indentation of a text below the moves.
const INDENT: usize = 8;

/// The width of a text below the moves, without its indentation.
fn text_width() -> usize {
    const USUAL: usize = 80;
    terminal_width().unwrap_or(USUAL).clamp(40, 100) - INDENT
}

/// The moves of a score sheet, White's and Black's on one line, with boards in between.
struct Sheet<'a, W> {
    out: &'a mut W,
    columns: Columns,
    /// The width of White's move on a line that Black's will follow.
    open: Option<usize>,
    /// Whether the line above is blank.
    is_spaced: bool,
}

impl<W: Write> Sheet<'_, W> {
    fn write_move(&mut self, position: &Position, entry: &Entry) -> io::Result<()> {
        let (number, text) = (position.fullmove_number(), self.columns.text(entry));
        self.is_spaced = false;
        if position.side() == Color::White {
            self.close()?;
            self.open = Some(text.width());
            return write!(self.out, "{number:>5}.  {text}");
        }
        let written = match self.open.take() {
            Some(written) => written,
            None => {
                write!(self.out, "{number:>5}.  ...")?;
                3
            }
        };
        let gap =
            self.columns.width() - written + if self.columns.width() == self.columns.san { 2 } else { 4 };
        writeln!(self.out, "{}{text}", blanks(gap))
    }

    /// Writes the annotations after the move played from a position at a ply, and the alternatives to it.
    fn remarks(
        &mut self,
        record: &GameRecord,
        annotations: &GameAnnotations,
        ply: Ply,
        position: &Position,
    ) -> anyhow::Result<()> {
        for comment in annotations.at(0, Ply(ply.0 + 1)).into_iter().flat_map(comments) {
            self.remark(&comment)?;
        }
        for variation in annotations.variations(0, ply) {
            let text = variation_text(record, annotations, variation, (ply, position), text_width())?;
            self.lines(text.lines().filter(|line| !line.is_empty()).map(printable))?;
        }
        Ok(())
    }

    /// Writes a text below the moves.
    fn remark(&mut self, text: &str) -> io::Result<()> {
        self.lines(wrapped(text, text_width()))
    }

    fn lines(&mut self, lines: impl IntoIterator<Item = String>) -> io::Result<()> {
        self.close()?;
        self.is_spaced = false;
        lines.into_iter().try_for_each(|line| writeln!(self.out, "{}{line}", blanks(INDENT)))
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

    /// Ends the current line, if it has only White's move so far.
    fn close(&mut self) -> io::Result<()> {
        if self.open.take().is_some() { writeln!(self.out) } else { Ok(()) }
    }

    /// Writes a blank line, unless there is one.
    fn space(&mut self) -> io::Result<()> {
        self.close()?;
        if std::mem::replace(&mut self.is_spaced, true) { Ok(()) } else { writeln!(self.out) }
    }
}
