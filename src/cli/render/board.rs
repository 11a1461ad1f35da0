//! Draws boards as text.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ColorChoice;
use pgndex::board::{Color, MoveCode, Piece, Position, Square};

use crate::cli::args::BoardArgs;

/// Solid figures by piece code: on coloured squares, the figure's colour shows the side.
const SOLID: [char; 16] = ['·', '·', '♟', '♟', '♞', '♞', '♚', '♚', '♝', '♝', '♜', '♜', '♛', '♛', '·', '·'];

/// The background of a dark and a light square, in the 256 colours of terminals. White and black pieces are
/// distinguishable on both, whatever the terminal's own background.
const SQUARES: [u8; 2] = [60, 66];
/// The background of a dark and a light square of the last move.
const LAST_MOVE: [u8; 2] = [94, 136];
/// The colours of White's and Black's pieces.
const PIECES: [u8; 2] = [231, 16];

/// How boards are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BoardStyle {
    /// Whether only ASCII characters are printed, such as FEN letters instead of figurines.
    ascii: bool,
    /// Whether squares are coloured, and the squares of the last move are marked.
    colored: bool,
    /// Whether Black is at the bottom.
    flipped: bool,
}

impl BoardStyle {
    /// The requested style. The defaults depend on environment variables, and on whether standard output is a
    /// terminal.
    pub(crate) fn new(args: &BoardArgs) -> Self {
        let variable = |name: &str| std::env::var_os(name);
        Self {
            ascii: args.ascii || is_ascii(),
            colored: match args.color {
                ColorChoice::Always => true,
                ColorChoice::Never => false,
                ColorChoice::Auto => io::stdout().is_terminal() && allows_color(variable),
            },
            flipped: args.flip,
        }
    }

    /// Draws a position in nine indented lines; `last` is the last move.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn write(
        self,
        out: &mut dyn Write,
        position: &Position,
        last: Option<MoveCode>,
    ) -> io::Result<()> {
        let from_top = |row| if self.flipped { row } else { 7 - row };
        let from_left = |column| if self.flipped { 7 - column } else { column };
        for row in 0..8 {
            write!(out, "  {}{}", from_top(row) + 1, if self.colored { " " } else { "" })?;
            for column in 0..8 {
                let square = Square::at(from_left(column), from_top(row));
                self.write_square(out, square, position.piece_at(square), last)?;
            }
            out.write_all(if self.colored { b"\x1b[0m\n" } else { b"\n" })?;
        }
        write!(out, "   ")?;
        (0..8).try_for_each(|column| write!(out, " {}", char::from(b'a' + from_left(column))))?;
        writeln!(out)
    }

    fn write_square(
        self,
        out: &mut dyn Write,
        square: Square,
        piece: Option<Piece>,
        last: Option<MoveCode>,
    ) -> io::Result<()> {
        let code = piece.map_or(0, |piece| usize::from(piece.code()));
        if !self.colored {
            // Letters, because Black's figures would look white on a dark background.
            let empty = if self.ascii { '.' } else { '·' };
            return write!(out, " {}", piece.map_or(empty, |piece| char::from(piece.letter())));
        }
        let is_light = usize::from((square.file() + square.rank()) % 2);
        let is_last = last.is_some_and(|code| !code.is_null() && [code.from(), code.to()].contains(&square));
        let background = if is_last { LAST_MOVE } else { SQUARES }[is_light];
        write!(out, "\x1b[48;5;{background}m")?;
        let Some(piece) = piece else { return write!(out, "  ") };
        let letter = if self.ascii { char::from(piece.letter()) } else { SOLID[code] };
        write!(out, "\x1b[38;5;{}m{letter} ", PIECES[usize::from(piece.color() == Color::Black)])
    }
}

/// Whether `--ascii` is given.
static ASCII: AtomicBool = AtomicBool::new(false);

/// Disables non-ASCII characters.
pub(crate) fn use_ascii() {
    ASCII.store(true, Ordering::Relaxed);
}

/// Whether to avoid non-ASCII characters: on request, or because the locale lacks them.
pub(crate) fn is_ascii() -> bool {
    static LACKS_THEM: LazyLock<bool> = LazyLock::new(|| !has_utf8_locale(|name| std::env::var_os(name)));
    // Tests of drawings must give the same result everywhere.
    ASCII.load(Ordering::Relaxed) || (!cfg!(test) && *LACKS_THEM)
}

/// A sign, or its ASCII replacement.
pub(crate) fn sign<'s>(sign: &'s str, ascii: &'s str) -> &'s str {
    if is_ascii() { ascii } else { sign }
}

/// Whether the locale is UTF-8; on Windows, always true. `variable` looks up a variable of the environment.
fn has_utf8_locale(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let set = |name: &&str| variable(name).is_some_and(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find(set).and_then(variable);
    let locale = locale.unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    cfg!(windows) || locale.contains("utf-8") || locale.contains("utf8")
}

/// Whether the user (see <https://no-color.org>) and the terminal allow colours.
fn allows_color(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let is_refused = variable("NO_COLOR").is_some_and(|value| !value.is_empty());
    !is_refused && variable("TERM").is_none_or(|terminal| terminal != "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(style: BoardStyle, moves: &[&str]) -> String {
        let mut position = Position::start();
        let mut last = None;
        for san in moves {
            last = Some(position.play_san(san.as_bytes()).unwrap());
        }
        let mut out = Vec::new();
        style.write(&mut out, &position, last).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn letters_are_on_the_squares_of_the_pieces() {
        let board = draw(BoardStyle::default(), &["e4", "c5", "Nf3"]);
        assert_eq!(
            board.lines().collect::<Vec<_>>(),
            [
                "  8 r n b q k b n r",
                "  7 p p · p p p p p",
                "  6 · · · · · · · ·",
                "  5 · · p · · · · ·",
                "  4 · · · · P · · ·",
                "  3 · · · · · N · ·",
                "  2 P P P P · P P P",
                "  1 R N B Q K B · R",
                "    a b c d e f g h",
            ]
        );
    }

    #[test]
    fn black_can_be_at_the_bottom() {
        let board =
            draw(BoardStyle { ascii: true, flipped: true, ..BoardStyle::default() }, &["e4", "c5", "Nf3"]);
        assert_eq!(
            board.lines().collect::<Vec<_>>(),
            [
                "  1 R . B K Q B N R",
                "  2 P P P . P P P P",
                "  3 . . N . . . . .",
                "  4 . . . P . . . .",
                "  5 . . . . . p . .",
                "  6 . . . . . . . .",
                "  7 p p p p p . p p",
                "  8 r n b k q b n r",
                "    h g f e d c b a",
            ]
        );
    }

    #[test]
    fn colours_mark_the_squares_of_the_last_move() {
        let board = draw(BoardStyle { colored: true, ..BoardStyle::default() }, &["Nf3"]);
        let lines: Vec<_> = board.lines().map(|line| line.replace('\x1b', "^")).collect();
        assert_eq!(
            lines[7],
            "  1 ^[48;5;60m^[38;5;231m♜ ^[48;5;66m^[38;5;231m♞ ^[48;5;60m^[38;5;231m♝ ^[48;5;66m^[38;5;231m♛ \
             ^[48;5;60m^[38;5;231m♚ ^[48;5;66m^[38;5;231m♝ ^[48;5;94m  ^[48;5;66m^[38;5;231m♜ ^[0m"
        );
        assert_eq!(
            lines[5],
            "  3 ^[48;5;60m  ^[48;5;66m  ^[48;5;60m  ^[48;5;66m  ^[48;5;60m  ^[48;5;136m^[38;5;231m♞ \
             ^[48;5;60m  ^[48;5;66m  ^[0m"
        );
        assert!(lines[0].contains("^[38;5;16m♜"));
        assert_eq!(lines[8], "    a b c d e f g h");
        // A null move has no squares.
        assert!(!draw(BoardStyle { colored: true, ..BoardStyle::default() }, &["--"]).contains("48;5;94m"));
    }

    /// WCAG 2.2 defines the contrast ratio, and requires at least 3 for parts of a picture.
    #[test]
    fn all_pieces_are_distinguishable_on_all_squares() {
        let light = |color: u8| -> f64 {
            let steps = [0, 95, 135, 175, 215, 255];
            let cube = usize::from(color - 16);
            let linear = |step: usize| {
                let share = f64::from(steps[step]) / 255.0;
                if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * linear(cube / 36) + 0.7152 * linear(cube / 6 % 6) + 0.0722 * linear(cube % 6) + 0.05
        };
        for square in SQUARES.into_iter().chain(LAST_MOVE) {
            for piece in PIECES {
                let (one, other) = (light(square), light(piece));
                let contrast = one.max(other) / one.min(other);
                assert!(contrast > 3.0, "{piece} on {square}: {contrast}");
            }
        }
    }

    #[test]
    fn the_first_variable_set_determines_the_locale() {
        let locale = |variables: &[(&str, &str)]| {
            let found = |name: &str| variables.iter().find(|(known, _)| *known == name);
            has_utf8_locale(|name| found(name).map(|(_, value)| value.into()))
        };
        for (variables, utf8) in [
            (&[("LANG", "de_DE.UTF-8")][..], true),
            (&[("LC_ALL", ""), ("LC_CTYPE", "C.utf8")], true),
            (&[("LC_ALL", "C"), ("LANG", "en_US.UTF-8")], cfg!(windows)),
            (&[("LANG", "ru_RU.KOI8-R")], cfg!(windows)),
            (&[], cfg!(windows)),
        ] {
            assert_eq!(locale(variables), utf8, "{variables:?}");
        }
    }

    #[test]
    fn no_color_and_dumb_terminals_are_respected() {
        let allowed = |name: &'static str, value: &'static str| {
            allows_color(|variable| (variable == name).then(|| value.into()))
        };
        assert!(allowed("TERM", "xterm-256color") && allowed("NO_COLOR", ""));
        assert!(!allowed("NO_COLOR", "1") && !allowed("TERM", "dumb"));
    }
}
