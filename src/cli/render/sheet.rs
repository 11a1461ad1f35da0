//! Prints the score sheet of a game, with annotations, and curves of evaluations and clocks.

use std::io::{self, Write};

use pgndex::board::{Color, Material, MoveCode, Position};
use pgndex::pgn::{Eval, MoveNumbers, nag_sign, time};
use pgndex::query::{number_before, replay, variation_text};
use pgndex::store::row::{GameStatus, Ply};
use pgndex::store::{GameAnnotations, GameRecord, PositionAnnotations, StoredPosition};
use unicode_width::UnicodeWidthStr as _;

use crate::cli::args::{BoardPly, GameArgs};
use crate::cli::render::{BoardStyle, counted, is_ascii, printable, terminal_width};
use crate::cli::terminal::note;

/// If the half-move clock is at least this number, it is shown below a board.
const LONG_CLOCK: u32 = 20;

/// The tag pairs for a score sheet. Unknown values are omitted, and the players' titles and ratings are added
/// to their names.
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
    out: &mut dyn Write,
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
        writeln!(out, "  {name}{}  {}", " ".repeat(width - name.width()), printable(&value))?;
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
    for step in replay(record)? {
        let (position, stored) = step?;
        if stored.ply == Ply(0) {
            first = position.side();
        }
        if is_drawn(args, stored) {
            let caption = caption(&position, last.as_ref().map(|(text, _)| text.as_str()));
            sheet.board(style, &position, last.as_ref().map(|(_, code)| *code), &caption)?;
        }
        if let Some(code) = stored.move_code {
            let san = position.san(code);
            sheet.write_move(&position, &Entry::of(&position, code, stored.ply, annotations))?;
            sheet.remarks(record, annotations, stored.ply, &position)?;
            let number = number_before(position.fullmove_number(), position.side());
            last = Some((format!("{number} {san}"), code));
        }
    }
    sheet.space()?;
    writeln!(out, "{}", record.summary.result.as_str())?;
    write_curves(out, annotations, first, text_width() + INDENT)?;
    if args.ply.iter().any(|ply| matches!(ply, BoardPly::After(ply) if *ply > plies)) {
        note(&match (record.summary.status, plies) {
            (GameStatus::Skipped, _) => format!("game {game} has no stored positions, so no board is drawn"),
            (_, 0) => format!("game {game} has no moves; for its start position, use --ply 0"),
            (_, plies) => {
                let plies = counted(plies.into(), "ply");
                format!("game {game} has only {plies}; for its last position, use --ply end")
            }
        });
    }
    Ok(())
}

/// The texts on a sheet for one move.
#[derive(Debug, Default)]
struct Entry {
    /// The move with its NAGs.
    san: String,
    /// The clock after the move, or the time used for it.
    time: String,
    /// The evaluation after the move.
    value: String,
}

impl Entry {
    /// The texts for the move `code`, which was played from `position` at `ply`.
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

/// The widths of the three parts of an entry; 0 for the time or the value if no entry has one.
#[derive(Clone, Copy, Debug, Default)]
struct Columns {
    san: usize,
    time: usize,
    value: usize,
}

impl Columns {
    fn of(record: &GameRecord, annotations: &GameAnnotations) -> anyhow::Result<Self> {
        // `...`, which replaces a missing move of White, has a width of 3.
        let mut columns = Self { san: 3, ..Self::default() };
        for step in replay(record)? {
            let (position, stored) = step?;
            let Some(code) = stored.move_code else { continue };
            let entry = Entry::of(&position, code, stored.ply, annotations);
            columns.san = columns.san.max(entry.san.width());
            columns.time = columns.time.max(entry.time.len());
            columns.value = columns.value.max(entry.value.len());
        }
        Ok(columns)
    }

    /// An entry as text: the move is aligned left, and numbers right. Trailing spaces are omitted.
    fn text(self, entry: &Entry) -> String {
        let Self { san, time, value } = self;
        let mut text = entry.san.clone();
        text += &" ".repeat(san.saturating_sub(text.width()));
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

/// The text below a board: the last move, mate or stalemate, the material balance, and the half-move clock if
/// it is at least `LONG_CLOCK`.
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
struct Sheet<'a> {
    out: &'a mut dyn Write,
    columns: Columns,
    /// The width of White's move on the current line, if Black's move can follow on this line.
    open: Option<usize>,
    /// Whether the line above is blank.
    is_spaced: bool,
}

impl Sheet<'_> {
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
        writeln!(self.out, "{}{text}", " ".repeat(gap))
    }

    /// Writes the comments after the move that was played from `position` at `ply`, and the variations that
    /// replace this move.
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
        lines.into_iter().try_for_each(|line| writeln!(self.out, "{}{line}", " ".repeat(INDENT)))
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

    /// Writes a blank line, unless the line above is blank.
    fn space(&mut self) -> io::Result<()> {
        self.close()?;
        if std::mem::replace(&mut self.is_spaced, true) { Ok(()) } else { writeln!(self.out) }
    }
}

/// A minute in hundredths of a second.
const MINUTE: u32 = 6000;

/// A clock: `3:00`, `1:02:03`, and tenths below a minute: `0:12.3`.
fn clock(centiseconds: u32) -> String {
    let step = if centiseconds < MINUTE { 10 } else { 100 };
    let text = time(centiseconds / step * step);
    match text.strip_prefix("0:") {
        Some(short) => short.strip_prefix('0').unwrap_or(short).to_owned(),
        None => text,
    }
}

/// Time used: `2.5s`, `1:30`.
fn elapsed(centiseconds: u32) -> String {
    match (centiseconds / 100, centiseconds / 10 % 10) {
        _ if centiseconds >= MINUTE => clock(centiseconds),
        (seconds, 0) => format!("{seconds}s"),
        (seconds, tenths) => format!("{seconds}.{tenths}s"),
    }
}

/// An evaluation: `+0.35`, `#-3`.
fn value(eval: Eval) -> String {
    match eval {
        Eval::Mate(moves) => format!("#{moves}"),
        Eval::Centipawns(0) => "0.00".to_owned(),
        Eval::Centipawns(value) => {
            let (sign, value) = (if value < 0 { '-' } else { '+' }, value.unsigned_abs());
            format!("{sign}{}.{:02}", value / 100, value % 100)
        }
    }
}

/// The time shown for a move: the time left on the clock, or otherwise the time used.
fn move_time(numbers: MoveNumbers) -> Option<String> {
    numbers.clock.map(clock).or(numbers.elapsed.map(elapsed))
}

/// The comments to show: an engine's scores and lists of values are omitted.
fn comments(remarks: &PositionAnnotations) -> impl Iterator<Item = String> {
    remarks
        .comments
        .iter()
        .filter(|text| !is_list_of_values(text) && !is_score(text))
        .map(|text| printable(text))
}

/// Whether a comment is a list such as `d=33, sd=33, mt=37918, wv=0.60`: at least half of its parts have the
/// form `key=value`.
fn is_list_of_values(text: &str) -> bool {
    let is_pair = |item: &str| {
        let key = item.trim_ascii().split_once('=').map(|(key, _)| key);
        key.is_some_and(|key| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    };
    let (mut items, mut pairs) = (0, 0);
    for item in text.split(',').filter(|item| !item.trim_ascii().is_empty()) {
        items += 1;
        pairs += usize::from(is_pair(item));
    }
    pairs > 0 && pairs * 2 >= items
}

/// Whether a comment is only an engine's score, such as `+0.25/12 2.3s`.
fn is_score(text: &str) -> bool {
    let score =
        text.strip_prefix('(').and_then(|text| text.split_once(") ")).map_or(text, |(_, score)| score);
    let is_sign = |byte: u8| {
        byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b':' | b'/' | b' ' | b',' | b's' | b'M')
    };
    score.contains('/') && score.contains(['.', 'M']) && score.bytes().all(is_sign)
}

/// Wraps a text at `width` columns; a longer word gets a line of its own.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut columns = 0;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let length = word.width();
        match lines.last_mut().filter(|_| columns + 1 + length <= width) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
                columns += 1 + length;
            }
            None => {
                lines.push(word.to_owned());
                columns = length;
            }
        }
    }
    lines
}

/// The maximum width of a curve, in columns.
const WIDTH: usize = 60;
/// The maximum total width of the texts before and after a curve.
const TEXT: usize = 38;
/// The characters of a curve, from the lowest to the highest.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The characters of a curve in ASCII, from the lowest to the highest.
const DIGITS: [char; 8] = ['1', '2', '3', '4', '5', '6', '7', '8'];

/// Writes a line for the evaluations of a game, and a line for each player's clock. Omits a line for which
/// the game has fewer than two values. `first` is the side that moves first, and `columns` is the width
/// available.
///
/// # Errors
/// If writing fails.
fn write_curves(
    out: &mut dyn Write,
    annotations: &GameAnnotations,
    first: Color,
    columns: usize,
) -> io::Result<()> {
    let width = columns.saturating_sub(TEXT).clamp(10, WIDTH);
    let mut lines = Vec::new();
    let values: Vec<Eval> = annotations.numbers().filter_map(|(_, numbers)| numbers.eval).collect();
    if let Some((from, to)) = ends(&values) {
        let chances: Vec<f64> = chances(&values).collect();
        let curve = curve(&chances, width, |chances| (chances + 1.0) / 2.0);
        let (from, to) = (value(from), value(to));
        lines.push(format!("  Evaluation     {curve}  {from} to {to}"));
    }
    for (side, name) in [(Color::White, "White's clock"), (Color::Black, "Black's clock")] {
        let moved = |ply: u32| if ply % 2 == 1 { first } else { first.other() };
        let clocks: Vec<u32> = annotations
            .numbers()
            .filter(|(ply, _)| ply.0 > 0 && moved(ply.0) == side)
            .filter_map(|(_, numbers)| numbers.clock)
            .collect();
        if let Some((from, to)) = ends(&clocks) {
            let most = f64::from(clocks.iter().copied().max().unwrap_or(1).max(1));
            let curve = curve(&clocks, width, |clock| f64::from(clock) / most);
            let (from, to) = (clock(from), clock(to));
            lines.push(format!("  {name}  {curve}  {from} to {to}"));
        }
    }
    if !lines.is_empty() {
        writeln!(out, "\n{}", lines.join("\n"))?;
    }
    Ok(())
}

/// The first and the last value, if there are at least two.
fn ends<T: Copy>(values: &[T]) -> Option<(T, T)> {
    values.first().copied().zip(values.last().copied()).filter(|_| values.len() > 1)
}

/// White's winning chances for each evaluation, from -1 (Black wins) to 1 (White wins). A mate on the board
/// gets the chances of the previous evaluation.
fn chances(values: &[Eval]) -> impl Iterator<Item = f64> {
    values.iter().scan(0.0, |last, eval| {
        *last = eval.winning_chances().unwrap_or(*last);
        Some(*last)
    })
}

/// Draws one column per value, or per group of consecutive values. `part` returns the height for a value,
/// from 0 to 1.
fn curve<T: Copy>(values: &[T], width: usize, part: impl Fn(T) -> f64) -> String {
    let columns = values.len().min(width);
    let levels = if is_ascii() { DIGITS } else { LEVELS };
    let level = |column: usize| {
        let run = &values[values.len() * column / columns..values.len() * (column + 1) / columns];
        let mean = run.iter().map(|&value| part(value)).sum::<f64>() / run.len() as f64;
        levels[((mean * levels.len() as f64) as usize).min(levels.len() - 1)]
    };
    (0..columns).map(level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_values_are_short() {
        for (centiseconds, text) in [
            (18_000, "3:00"),
            (372_300, "1:02:03"),
            (1_239, "0:12.3"),
            (6_090, "1:00"),
            (60_000, "10:00"),
            (0, "0:00"),
        ] {
            assert_eq!(clock(centiseconds), text);
        }
        for (centiseconds, text) in [(0, "0s"), (155, "1.5s"), (200, "2s"), (9_050, "1:30")] {
            assert_eq!(elapsed(centiseconds), text);
        }
        for (eval, text) in [
            (Eval::Centipawns(35), "+0.35"),
            (Eval::Centipawns(-1205), "-12.05"),
            (Eval::Centipawns(0), "0.00"),
            (Eval::Mate(-3), "#-3"),
        ] {
            assert_eq!(value(eval), text);
        }
    }

    #[test]
    fn lists_of_values_are_distinguished_from_texts() {
        for text in ["d=33, sd=33, mt=37918, wv=0.60,", "book, mb=+0+0+0+0+0,", "d=1, pv=e4 e5, White mates"]
        {
            assert!(is_list_of_values(text), "{text}");
        }
        for text in ["+0.25/12 2.3s", "-M9/30", "(e7e5) +0.12/13 1:05"] {
            assert!(is_score(text), "{text}");
        }
        for text in ["1/2", "1.5/2 for him", "+0.25/12 2.3s, White mates"] {
            assert!(!is_score(text), "{text}");
        }
        for text in ["a good move", "after x=y, this, that and more", "12.Nd4, 13.Qxc6", ""] {
            assert!(!is_list_of_values(text), "{text}");
        }
    }

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrapped("a bb ccc dddddddd e", 6), ["a bb", "ccc", "dddddddd", "e"]);
        assert_eq!(wrapped("\u{4e2d}\u{6587} \u{4e2d} a", 6), ["\u{4e2d}\u{6587}", "\u{4e2d} a"]);
        assert!(wrapped("", 6).is_empty());
    }

    #[test]
    fn mate_on_the_board_keeps_the_value_before_it() {
        let values = [Eval::Mate(-1), Eval::Mate(0)];
        let chances: Vec<f64> = chances(&values).collect();
        assert!(chances[0] < -0.9 && chances[0].total_cmp(&chances[1]).is_eq(), "{chances:?}");
    }

    #[test]
    fn a_curve_has_a_column_for_each_value_or_for_several() {
        let text = curve(&[0.0, 0.5, 1.0], WIDTH, |part| part);
        assert_eq!(text, "▁▅█");
        let many: Vec<f64> = (0..1000).map(|index| f64::from(index) / 999.0).collect();
        let text: Vec<char> = curve(&many, WIDTH, |part| part).chars().collect();
        assert_eq!((text.len(), text[0], text[WIDTH - 1]), (WIDTH, '▁', '█'));
        assert!(text.is_sorted());
    }
}
