//! The shapes of pieces and coordinates, drawn for this program. A piece is drawn within a square of 100 by
//! 100 units.

use crate::board::{Color, Piece, PieceKind};

/// The filled outline of a piece, and the lines and dots on it. A dot is given by the x and y of its centre
/// and by its radius.
struct Shape {
    outline: &'static str,
    lines: &'static str,
    dots: &'static [[f64; 3]],
}

const fn shape(kind: PieceKind) -> Shape {
    match kind {
        PieceKind::Pawn => Shape {
            outline: "M41.5 41A14 14 0 1 1 58.5 41L64.5 45.5Q66.5 50 62.5 50L58.5 50C59.5 60 64 66 70 72.5C73.5 76.5 74 80 74 86L26 86C26 80 \
                      26.5 76.5 30 72.5C36 66 40.5 60 41.5 50L37.5 50Q33.5 50 35.5 45.5Z",
            lines: "M42.5 50H57.5M30.5 75H69.5",
            dots: &[],
        },
        PieceKind::Knight => Shape {
            outline: "M27 86C27 74 35 70 43 61C46 57.5 47 54 46.5 50C42 54 37 55.5 33 58C30 60 29 64 25 64.5C19 65 15 60 16 54C17 49 21 44 24 \
                      39C26 35 27 31 31 27C31 21 33 15 36 11C39 13 42 16 44 19.5C66 20 77 40 77 64C77 72 76.5 80 76 86Z",
            lines: "M46.5 50C49 47.5 50.5 44 50.5 41M51 27C63 34 68.5 48 67.5 75",
            dots: &[[36.0, 36.0, 3.0], [21.5, 56.0, 2.0]],
        },
        PieceKind::King => Shape {
            outline: "M46 27.5V21.5H38.5V14H46V6.5H54V14H61.5V21.5H54V27.5C65 28 73.5 31.5 78 39L65.5 61L69.5 65Q71.5 69.5 67.5 69.5L64.5 \
                      69.5C66 73.5 70 75 74 76.5Q79 78.5 79 86H21Q21 78.5 26 76.5C30 75 34 73.5 35.5 69.5L32.5 69.5Q28.5 69.5 30.5 65L34.5 \
                      61L22 39C26.5 31.5 35 28 46 27.5Z",
            lines: "M24.5 39.5C38 34.5 62 34.5 75.5 39.5M36 61H64M37 69.5H63M29 77H71",
            dots: &[],
        },
        PieceKind::Bishop => Shape {
            outline: "M50 19C61 27 68.5 36.5 68.5 46.5C68.5 53 65 58 60 61.5L63.5 65Q65.5 69.5 61.5 69.5C63 73.5 67.5 75 72 76.5Q77 78.5 77 \
                      86H23Q23 78.5 28 76.5C32.5 75 37 73.5 38.5 69.5Q34.5 69.5 36.5 65L40 61.5C35 58 31.5 53 31.5 46.5C31.5 36.5 39 27 50 \
                      19ZM50 7.5A5.75 5.75 0 1 1 50 19A5.75 5.75 0 1 1 50 7.5Z",
            lines: "M60 31L51.5 45.5M41.5 61.5H58.5M40 69.5H60M30 77H70",
            dots: &[],
        },
        PieceKind::Rook => Shape {
            outline: "M26 16H37V24.5H45V16H55V24.5H63V16H74V33L66 40V64L71 72Q77 74 77 80V86H23V80Q23 74 29 72L34 64V40L26 33Z",
            lines: "M28.5 33.5H71.5M36 41H64M36 64H64M31 73H69",
            dots: &[],
        },
        PieceKind::Queen => Shape {
            outline: "M29 64L17 38.5L32.5 47.5L33.5 28.5L43.5 44L50 22.5L56.5 44L66.5 28.5L67.5 47.5L83 38.5L71 64C69.5 68.5 70.5 72 73.5 \
                      75Q78 77 78 86H22Q22 77 26.5 75C29.5 72 30.5 68.5 29 64ZM15 28.5A5 5 0 1 1 15 38.5A5 5 0 1 1 15 28.5ZM32.5 18.5A5 5 0 1 \
                      1 32.5 28.5A5 5 0 1 1 32.5 18.5ZM50 12.5A5 5 0 1 1 50 22.5A5 5 0 1 1 50 12.5ZM67.5 18.5A5 5 0 1 1 67.5 28.5A5 5 0 1 1 \
                      67.5 18.5ZM85 28.5A5 5 0 1 1 85 38.5A5 5 0 1 1 85 28.5Z",
            lines: "M31 63.5C43 59.5 57 59.5 69 63.5M28.5 75C42 71 58 71 71.5 75",
            dots: &[],
        },
    }
}

/// The fill colour of pieces.
pub(super) const fn fill(color: Color) -> &'static str {
    match color {
        Color::White => "#fff",
        Color::Black => "#2e2e2e",
    }
}

/// The colour of outlines.
const EDGE: &str = "#161616";

/// The colour of lines on pieces.
const fn ink(color: Color) -> &'static str {
    match color {
        Color::White => EDGE,
        Color::Black => "#f4f4f4",
    }
}

/// The `id` of a piece's shape within a picture.
pub(super) fn name(piece: Piece) -> String {
    let color = if piece.color() == Color::White { "white" } else { "black" };
    format!("{color}-{}", piece.kind().name())
}

/// The SVG definitions of the pieces for which `is_drawn` returns true.
pub(super) fn definitions(is_drawn: impl Fn(Piece) -> bool) -> String {
    let pieces = (2..=13).filter_map(Piece::from_code).filter(|&piece| is_drawn(piece));
    format!("<defs>\n{}</defs>\n", pieces.map(definition).collect::<String>())
}

/// The SVG definition of a piece, with its `id`.
fn definition(piece: Piece) -> String {
    let Shape { outline, lines, dots } = shape(piece.kind());
    let (fill, ink) = (fill(piece.color()), ink(piece.color()));
    let dots = dots.iter().map(|[x, y, radius]| {
        format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{ink}\" stroke=\"none\"/>")
    });
    format!(
        "<g id=\"{}\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\
         <path d=\"{outline}\" fill=\"{fill}\" stroke=\"{EDGE}\" stroke-width=\"3.4\"/>\
         <path d=\"{lines}\" fill=\"none\" stroke=\"{ink}\" stroke-width=\"2.6\"/>{}</g>\n",
        name(piece),
        dots.collect::<String>(),
    )
}

/// The letters of the files, a to h, as stroke paths, so that no font is needed.
pub(super) const FILES: [&str; 8] = [
    "M9 6.5V16M9 11.3A4 4.7 0 1 1 1 11.3A4 4.7 0 1 1 9 11.3",
    "M1 1V16M1 11.3A4 4.7 0 1 1 9 11.3A4 4.7 0 1 1 1 11.3",
    "M8.8 8.5A4.2 4.7 0 1 0 8.8 14",
    "M9 1V16M9 11.3A4 4.7 0 1 1 1 11.3A4 4.7 0 1 1 9 11.3",
    "M1.2 11H9.3A4.1 4.7 0 1 0 8.3 14.5",
    "M8.5 1.6C5 0 3.8 2 3.8 4.6V16M1 7H7.6",
    "M9 6.5V17.5C9 22 2.4 21.6 1.4 19.2M9 11.3A4 4.7 0 1 1 1 11.3A4 4.7 0 1 1 9 11.3",
    "M1 1V16M1 10.6C1.6 5.2 9 5.2 9 10.6V16",
];

/// The digits of the ranks, 1 to 8, as stroke paths.
pub(super) const RANKS: [&str; 8] = [
    "M2 5.2L6.4 2V17.5",
    "M1.4 6C1.4 .6 10 .6 10 5.8C10 9.8 1.6 13 1.4 17.5H10.2",
    "M1.5 4.4C3 .9 9.8 1.2 9.8 5.4C9.8 8.2 7.4 9.2 4.8 9.2C7.8 9.2 10.4 10.2 10.4 13.2C10.4 18.4 2.6 18.8 1.2 14.6",
    "M8 17.5V2L1 12.8H10.8",
    "M9.6 2H3L2 9.2C4.6 7.2 10.4 7.6 10.4 12.6C10.4 18.2 3 18.8 1.2 15",
    "M9 2C4.6 3 1.4 7.4 1.4 12.6A4.5 4.9 0 1 0 10.4 12.6A4.5 4.9 0 1 0 1.4 12.6",
    "M1 2H10.4L4.4 17.5",
    "M5.8 9.2A3.8 3.6 0 1 1 5.8 2A3.8 3.6 0 1 1 5.8 9.2A4.5 4.15 0 1 1 5.8 17.5A4.5 4.15 0 1 1 5.8 9.2",
];
