//! Converts replayed games to rows: the second half of a worker's work.

use crate::board::{FenText, MoveCode, Position};
use crate::id::{GameId, Ply};
use crate::index::game::batch::{GameBatch, ReadGame, Start};
use crate::store::sink::{GameMoves, PositionView};

/// The standard start position and its placement as text, computed once.
#[derive(Debug)]
pub(crate) struct Standard {
    pub(crate) position: Position,
    pub(crate) fen: FenText,
}

impl Standard {
    pub(crate) fn new() -> Self {
        let position = Position::start();
        let fen = FenText::new(&position);
        Self { position, fen }
    }
}

/// Replays the games of a batch, the first of which has the id `first`, and calls `sink` with each position
/// of each game in order.
pub(crate) fn for_each_position<E>(
    batch: &GameBatch,
    first: GameId,
    standard: &Standard,
    mut sink: impl FnMut(PositionView<'_>) -> Result<(), E>,
) -> Result<(), E> {
    moves_of(batch, first).try_for_each(|GameMoves { game, setup, codes }| {
        let (position, fen) = match setup {
            None => (standard.position.clone(), standard.fen.clone()),
            Some(position) => (position.clone(), FenText::new(position)),
        };
        replay((game, setup.is_some()), codes, position, fen, &mut sink)
    })
}

/// The moves of all games of a batch that have positions. The first game has the id `first`.
pub(crate) fn moves_of(batch: &GameBatch, first: GameId) -> impl Iterator<Item = GameMoves<'_>> {
    let mut codes = &batch.codes[..];
    let mut setups = batch.setups.iter();
    let games = (first.0..).map(GameId).zip(&batch.games);
    games.filter_map(move |(game, &ReadGame { moves, start, .. })| {
        let (played, rest) = codes.split_at(moves);
        codes = rest;
        let setup = match start {
            Start::Standard => None,
            Start::Setup => Some(setups.next().expect("one for each game that has one")),
            Start::Nowhere => return None,
        };
        Some(GameMoves { game, setup, codes: played })
    })
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
