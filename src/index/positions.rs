//! Replayed games to rows: the second half of a worker's work.

use super::parse::{Part, Replay, Standard, Start};
use crate::board::{FenText, MAX_CANONICAL_FEN, MoveCode, Position, PositionKey};
use crate::store::row::{GameId, Ply};

/// One position of one game, as it comes by.
#[derive(Clone, Copy, Debug)]
pub(super) struct PositionView<'a> {
    pub(super) game: GameId,
    pub(super) ply: Ply,
    pub(super) key: PositionKey,
    pub(super) halfmove_clock: u32,
    pub(super) move_code: Option<MoveCode>,
    pub(super) fen: &'a [u8],
}

/// Replays the games of a part, the first of which has the id `first`, and shows `sink` every position of every game in
/// order.
pub(super) fn for_each_position<E>(
    part: &Part,
    first: GameId,
    standard: &Standard,
    mut sink: impl FnMut(PositionView<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut codes = &part.codes[..];
    let mut setups = part.setups.iter();
    for (game, &Replay { moves, start }) in (first.0..).zip(&part.replays) {
        let (played, rest) = codes.split_at(moves);
        codes = rest;
        let (position, fen) = match start {
            Start::Standard => (standard.position.clone(), standard.fen.clone()),
            Start::Setup => {
                let position = setups.next().expect("one for each game that has one").clone();
                let fen = FenText::new(&position);
                (position, fen)
            }
            Start::Nowhere => continue,
        };
        replay(GameId(game), played, position, fen, &mut sink)?;
    }
    Ok(())
}

fn replay<E>(
    game: GameId,
    codes: &[MoveCode],
    mut position: Position,
    mut placement: FenText,
    sink: &mut impl FnMut(PositionView<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut buffer = [0; MAX_CANONICAL_FEN];
    for (ply, move_code) in (0..).zip(codes.iter().copied().map(Some).chain([None])) {
        let length = placement.write(&position, &mut buffer);
        sink(PositionView {
            game,
            ply: Ply(ply),
            key: position.key(),
            halfmove_clock: position.halfmove_clock(),
            move_code,
            fen: &buffer[..length],
        })?;
        if let Some(code) = move_code {
            position.replay(code);
            placement.update(&position, code);
        }
    }
    Ok(())
}
