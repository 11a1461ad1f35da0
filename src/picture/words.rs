//! Describes a picture in words.

use crate::board::{Color, MoveCode, Piece, PieceKind, Position, Special, Square};
use crate::picture::arrow::Arrow;

/// A complete description of the picture.
pub(super) fn description(
    position: &Position,
    orientation: Color,
    last_move: Option<MoveCode>,
    arrows: &[Arrow],
) -> String {
    let mut words = format!("{}. ", state(position));
    for color in [Color::White, Color::Black] {
        words += &format!("{}: {}. ", color.name(), pieces(position, color));
    }
    if let Some(move_in_words) = last_move.and_then(move_in_words) {
        words += &format!("Last move: {move_in_words}. ");
    }
    words += &format!("{} is at the bottom. ", orientation.name());
    if !arrows.is_empty() {
        let labels: Vec<_> = arrows
            .iter()
            .map(|arrow| match arrow.label.as_str() {
                "" => format!("{} to {}", arrow.from, arrow.to),
                label => format!("{} to {} ({label})", arrow.from, arrow.to),
            })
            .collect();
        words += &format!("Arrows: {}. ", labels.join(", "));
    }
    words + &format!("FEN: {}", position.fen())
}

/// The side to move, or the mate or stalemate that ended the game.
pub(super) fn state(position: &Position) -> String {
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
