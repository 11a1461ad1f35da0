//! Pictures of boards, as SVG.
//!
//! A picture needs no font, script, style sheet or other file. Pieces, coordinates and signs are paths in the
//! picture. So all browsers and other programs that draw SVG show the same picture. It can be a file or a
//! part of a page. A picture from [`BoardPicture::to_svg_in_page`] is the exception: the page must contain the
//! shapes of the pieces. A picture is readable without colours; its `title` and `desc` describe it in words.
//!
//! ```
//! use pgndex::board::{Color, Position};
//! use pgndex::picture::BoardPicture;
//!
//! let mut position = Position::start();
//! let last_move = position.play_san(b"e4")?;
//! let picture = BoardPicture {
//!     position: &position,
//!     orientation: Color::Black,
//!     last_move: Some(last_move),
//!     arrows: &[],
//! };
//! assert!(picture.to_svg().starts_with("<svg "));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arrow;
mod piece;
mod place;
#[cfg(test)]
mod tests;

pub use arrow::{Arrow, continuation_arrows};
pub use place::escaped;

use crate::board::{Color, MoveCode, Piece, PieceKind, Position, Special, Square};
use piece::{FILES, RANKS};
use place::{BOARD, MARGIN, SIDE, SQUARE, place};

/// The colours of a light and a dark square.
const SQUARES: [&str; 2] = ["#f0f1ec", "#a3b5c0"];
/// The colours of a light and a dark square of the last move.
const LAST_MOVE: [&str; 2] = ["#f8e795", "#d9c35f"];
/// The colour of the frames around the squares of the last move. The frames mark these squares even without
/// colours.
const LAST_MOVE_FRAME: &str = "#7d6608";
/// The colours of a light and a dark square with a king in check.
const CHECK: [&str; 2] = ["#f5b7ae", "#dc8f86"];
/// The colour of the badge of a king in check.
const BADGE: &str = "#b71c1c";
/// The colour of the area around the board.
const PAPER: &str = "#fbfbf8";
/// The colour of the coordinates, and of the edges of the board and of the disc for the side to move.
const INK: &str = "#3c444a";

/// The default width and height of a picture, in pixels.
const SHOWN: u16 = 450;

/// A board with marks and arrows.
#[derive(Clone, Copy, Debug)]
pub struct BoardPicture<'a> {
    /// The position. A king in check is marked with `+`, and a mated king with `#`.
    pub position: &'a Position,
    /// The side at the bottom.
    pub orientation: Color,
    /// The last move, whose two squares are marked. For a null move, no square is marked.
    pub last_move: Option<MoveCode>,
    /// Arrows, drawn over the pieces, short ones over long ones.
    pub arrows: &'a [Arrow],
}

impl BoardPicture<'_> {
    /// The picture as an `svg` element, which can be a file or a part of an HTML page. A page can contain
    /// several pictures, although they share `id`s: an `id` always belongs to the same shape. Equal pictures
    /// always produce equal text.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let shown = format!("xmlns=\"http://www.w3.org/2000/svg\" width=\"{SHOWN}\" height=\"{SHOWN}\"");
        let is_on_board = |piece| self.pieces().any(|(_, other)| other == piece);
        self.drawn(&shown, &piece::definitions(is_on_board))
    }

    /// The picture as a part of an HTML page that contains the [shapes of the pieces](piece_shapes) and sets
    /// the picture's size.
    #[must_use]
    pub fn to_svg_in_page(&self) -> String {
        self.drawn("class=\"board\"", "")
    }

    fn drawn(&self, shown: &str, definitions: &str) -> String {
        let mut svg = format!(
            "<svg {shown} viewBox=\"0 0 {SIDE} {SIDE}\" role=\"img\">\n\
             <title>Chess board, {}</title>\n<desc>{}</desc>\n{definitions}",
            state(self.position),
            escaped(&self.description()),
        );
        self.draw_squares(&mut svg);
        self.draw_marks(&mut svg);
        self.draw_edge(&mut svg);
        self.draw_pieces(&mut svg);
        self.draw_badge(&mut svg);
        arrow::draw(&mut svg, self.arrows, self.orientation);
        svg += "</svg>\n";
        svg
    }

    /// All pieces, each with its square, from a1 to h8.
    fn pieces(&self) -> impl Iterator<Item = (Square, Piece)> {
        let squares = (0..64).map(Square::from_ordinal);
        squares.filter_map(|square| Some((square, self.position.piece_at(square)?)))
    }

    fn draw_squares(&self, svg: &mut String) {
        let [light, dark] = SQUARES;
        *svg += &format!(
            "<rect width=\"{SIDE}\" height=\"{SIDE}\" rx=\"12\" fill=\"{PAPER}\"/>\n\
             <rect x=\"{MARGIN}\" y=\"{MARGIN}\" width=\"{BOARD}\" height=\"{BOARD}\" fill=\"{light}\"/>\n\
             <path class=\"dark-squares\" fill=\"{dark}\" d=\""
        );
        for square in (0..64).map(Square::from_ordinal).filter(|square| shade(*square) == 1) {
            let (x, y) = place(square, self.orientation);
            *svg += &format!("M{x} {y}h{SQUARE}v{SQUARE}h-{SQUARE}z");
        }
        *svg += "\"/>\n";
    }

    /// Draws the edge of the board, the coordinates, and a disc for the side to move.
    fn draw_edge(&self, svg: &mut String) {
        *svg += &format!(
            "<rect x=\"{MARGIN}\" y=\"{MARGIN}\" width=\"{BOARD}\" height=\"{BOARD}\" fill=\"none\" stroke=\"{INK}\" \
             stroke-width=\"3\"/>\n<g class=\"coordinates\" fill=\"none\" stroke=\"{INK}\" stroke-width=\"2\" \
             stroke-linecap=\"round\" stroke-linejoin=\"round\">\n"
        );
        for index in 0..8_u8 {
            let (x, y) = place(Square::at(index, index), self.orientation);
            let [file, rank] = Square::at(index, index).name().map(char::from);
            *svg += &format!(
                "<path class=\"{file}\" transform=\"translate({} {}) scale(1.4)\" d=\"{}\"/>\n\
                 <path class=\"rank-{rank}\" transform=\"translate({} {}) scale(1.4)\" d=\"{}\"/>\n",
                x + SQUARE / 2 - 7,
                MARGIN + BOARD + 11,
                FILES[usize::from(index)],
                MARGIN / 2 - 9,
                y + SQUARE / 2 - 14,
                RANKS[usize::from(index)],
            );
        }
        *svg += "</g>\n";
        let side = self.position.side();
        let (_, y) = place(Square::at(0, if side == Color::White { 0 } else { 7 }), self.orientation);
        *svg += &format!(
            "<circle class=\"side-to-move\" cx=\"{}\" cy=\"{}\" r=\"11\" fill=\"{}\" stroke=\"{INK}\" stroke-width=\"3\"/>\n",
            SIDE - MARGIN / 2,
            y + SQUARE / 2,
            piece::fill(side),
        );
    }

    /// Draws the squares of the last move and the square of a king in check.
    fn draw_marks(&self, svg: &mut String) {
        for square in
            self.last_move.filter(|code| !code.is_null()).iter().flat_map(|code| [code.from(), code.to()])
        {
            let (x, y) = place(square, self.orientation);
            *svg += &format!(
                "<rect class=\"last-move {square}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" \
                 stroke=\"{LAST_MOVE_FRAME}\" stroke-width=\"5\"/>\n",
                x + 3,
                y + 3,
                SQUARE - 6,
                SQUARE - 6,
                LAST_MOVE[shade(square)],
            );
        }
        if let Some(square) = self.king_in_check() {
            let (x, y) = place(square, self.orientation);
            *svg += &format!(
                "<rect class=\"check {square}\" x=\"{x}\" y=\"{y}\" width=\"{SQUARE}\" height=\"{SQUARE}\" fill=\"{}\"/>\n",
                CHECK[shade(square)],
            );
        }
    }

    fn draw_pieces(&self, svg: &mut String) {
        *svg += "<g class=\"pieces\">\n";
        for (square, piece) in self.pieces() {
            let (x, y) = place(square, self.orientation);
            *svg += &format!("<use href=\"#{}\" x=\"{x}\" y=\"{y}\"/>\n", piece::name(piece));
        }
        *svg += "</g>\n";
    }

    /// Draws the sign of check or mate in the upper right corner of the king's square.
    fn draw_badge(&self, svg: &mut String) {
        let Some(square) = self.king_in_check() else { return };
        let (x, y) = place(square, self.orientation);
        let (name, sign) = match self.position.has_legal_move() {
            true => ("check-sign", "M-8 0H8M0 -8V8"),
            false => ("mate-sign", "M-8.5 -3.5H8.5M-8.5 3.5H8.5M-2 -9L-5 9M5 -9L2 9"),
        };
        *svg += &format!(
            "<g class=\"{name}\" transform=\"translate({} {})\" stroke=\"#fff\" stroke-width=\"3\" stroke-linecap=\"round\">\
             <circle r=\"16\" fill=\"{BADGE}\"/><path d=\"{sign}\" fill=\"none\"/></g>\n",
            x + SQUARE - 19,
            y + 19,
        );
    }

    fn king_in_check(&self) -> Option<Square> {
        self.position.is_check().then(|| self.position.king(self.position.side()))
    }

    /// A complete description of the picture.
    fn description(&self) -> String {
        let mut words = format!("{}. ", state(self.position));
        for color in [Color::White, Color::Black] {
            words += &format!("{}: {}. ", color.name(), pieces(self.position, color));
        }
        if let Some(move_in_words) = self.last_move.and_then(move_in_words) {
            words += &format!("Last move: {move_in_words}. ");
        }
        words += &format!("{} is at the bottom. ", self.orientation.name());
        if !self.arrows.is_empty() {
            let label = |arrow: &Arrow| match arrow.label.as_str() {
                "" => format!("{} to {}", arrow.from, arrow.to),
                label => format!("{} to {} ({label})", arrow.from, arrow.to),
            };
            let labels: Vec<_> = self.arrows.iter().map(label).collect();
            words += &format!("Arrows: {}. ", labels.join(", "));
        }
        words + &format!("FEN: {}", self.position.fen())
    }
}

/// The shapes of all pieces, as an invisible `svg` element. A page with pictures from
/// [`BoardPicture::to_svg_in_page`] must contain this element once.
#[must_use]
pub fn piece_shapes() -> String {
    format!("<svg width=\"0\" height=\"0\" aria-hidden=\"true\">\n{}</svg>\n", piece::definitions(|_| true))
}

/// 0 for a light square, 1 for a dark one.
fn shade(square: Square) -> usize {
    usize::from((square.file() + square.rank() + 1) % 2)
}

/// The side to move, and whether it is in check, checkmated or stalemated.
fn state(position: &Position) -> String {
    let side = position.side().name();
    match (position.has_legal_move(), position.is_check()) {
        (true, false) => format!("{side} to move"),
        (true, true) => format!("{side} to move, in check"),
        (false, true) => format!("{side} is checkmated"),
        (false, false) => format!("{side} is stalemated"),
    }
}

/// The pieces of a colour with their squares.
fn pieces(position: &Position, color: Color) -> String {
    let kinds = PieceKind::FROM_KING.into_iter().filter_map(|kind| {
        let is_on = |square: &Square| position.piece_at(*square) == Some(Piece::new(kind, color));
        let squares = (0..64).map(Square::from_ordinal).filter(is_on);
        let squares: Vec<_> = squares.map(|square| square.to_string()).collect();
        let plural = if squares.len() > 1 { "s" } else { "" };
        (!squares.is_empty()).then(|| format!("{}{plural} {}", kind.name(), squares.join(" ")))
    });
    kinds.collect::<Vec<_>>().join(", ")
}

/// A move in words; `None` for a null move.
fn move_in_words(code: MoveCode) -> Option<String> {
    let piece = code.piece().filter(|_| !code.is_null())?;
    let color = piece.color().name();
    let words = match code.special() {
        Special::CastleShort => return Some(format!("{color} castles on the king's side")),
        Special::CastleLong => return Some(format!("{color} castles on the queen's side")),
        Special::Promotion(piece) => format!(", and becomes a {}", piece.kind().name()),
        Special::EnPassant => ", en passant".to_owned(),
        _ => String::new(),
    };
    let kind = piece.kind().name();
    let step = match code.captured() {
        Some(captured) => format!("{} takes a {} on {}", code.from(), captured.kind().name(), code.to()),
        None => format!("{} to {}", code.from(), code.to()),
    };
    Some(format!("{color}'s {kind} {step}{words}"))
}
