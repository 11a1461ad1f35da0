//! Replayed games to rows: the second half of a worker's work.

use crate::board::{FenText, MoveCode, Position};
use crate::id::{GameId, Ply};
use crate::index::game::batch::{GameBatch, ReadGame, Start};
use crate::index::game::parse::Standard;
use crate::store::sink::PositionView;

/// Replays the games of a batch, the first of which has the id `first`, and shows `sink` every position of every game in
/// order.
pub(crate) fn for_each_position<E>(
    batch: &GameBatch,
    first: GameId,
    standard: &Standard,
    mut sink: impl FnMut(PositionView<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut codes = &batch.codes[..];
    let mut setups = batch.setups.iter();
    for (game, &ReadGame { moves, start, .. }) in (first.0..).zip(&batch.games) {
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
        replay((GameId(game), start == Start::Setup), played, position, fen, &mut sink)?;
    }
    Ok(())
}

fn replay<E>(
    (game, is_setup): (GameId, bool),
    codes: &[MoveCode],
    mut position: Position,
    mut placement: FenText,
    sink: &mut impl FnMut(PositionView<'_>) -> Result<(), E>,
) -> Result<(), E> {
    for (ply, move_code) in (0..).zip(codes.iter().copied().map(Some).chain([None])) {
        let view = PositionView {
            game,
            ply: Ply(ply),
            position: &position,
            placement: &placement,
            move_code,
            is_setup,
        };
        sink(view)?;
        if let Some(code) = move_code {
            position.replay(code);
            placement.update(&position, code);
        }
    }
    Ok(())
}
