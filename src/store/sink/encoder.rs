//! Encodes positions, on the workers, for a sink.

use std::sync::Arc;

use crate::board::{FenText, MAX_CANONICAL_FEN, MoveCode, Position};
use crate::id::{GameId, Ply};
use crate::store::error::Result;
use crate::store::pages::{BoardFen, LeafWriter, PageFile, PositionRecord, Segment};
use crate::store::row::{EvalRow, HeaderBatch, PositionBatch, PositionRow, Text};

/// One position of a game, as it is played.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PositionView<'a> {
    pub(crate) game: GameId,
    pub(crate) ply: Ply,
    pub(crate) position: &'a Position,
    pub(crate) placement: &'a FenText,
    /// The move played from this position.
    pub(crate) move_code: Option<MoveCode>,
    /// Whether the game starts from a set-up position.
    pub(crate) is_setup: bool,
}

/// The moves of one game.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GameMoves<'g> {
    pub(crate) game: GameId,
    /// The start position, unless it is the standard one.
    pub(crate) setup: Option<&'g Position>,
    pub(crate) codes: &'g [MoveCode],
}

/// The place of a block: chunk, and number within the chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BlockNumber {
    pub(crate) chunk: u64,
    pub(crate) batch: u32,
}

/// Encodes positions for a sink. Each worker has one encoder.
pub(crate) trait PositionEncoder: Send + Sync + Sized {
    /// The encoded data.
    type Block: Send;

    /// Whether the sink needs the blocks in order.
    const IN_ORDER: bool;

    /// Whether it takes rows of `move_eval`. If not, they are written with those of the other small tables.
    const TAKES_EVALS: bool = false;

    /// Whether it takes the moves of whole games instead of positions.
    const TAKES_MOVES: bool = false;

    /// Whether it takes the rows of games and their moves, and nothing else of them is kept. The sink gets
    /// the rows when it has the encoded data.
    const TAKES_GAMES: bool = false;

    /// A new encoder for another worker.
    fn another(&self) -> Self;

    /// Adds the next position. Returns whether the block is full.
    fn push(&mut self, position: &PositionView<'_>) -> Result<bool>;

    /// Adds the next row of `move_eval`.
    fn push_eval(&mut self, row: &EvalRow) -> Result<()> {
        debug_assert!(!Self::TAKES_EVALS, "it is not given any: {row:?}");
        Ok(())
    }

    /// Adds the moves of the next game.
    fn push_moves(&mut self, moves: &GameMoves<'_>) -> Result<()> {
        debug_assert!(!Self::TAKES_MOVES, "it is not given any: {moves:?}");
        Ok(())
    }

    /// Adds the next games. The first has the number `first`; in `rows` they are numbered from 0. `moves` are
    /// the moves of games with positions.
    fn push_games<'g>(
        &mut self,
        first: GameId,
        _rows: &HeaderBatch,
        _moves: impl Iterator<Item = GameMoves<'g>>,
    ) -> Result<()> {
        debug_assert!(!Self::TAKES_GAMES, "it is not given any: {first:?}");
        Ok(())
    }

    /// Ends a block; `None` if it is empty. The next block may reuse the memory of a `used` one.
    fn take(&mut self, used: Option<Self::Block>) -> Result<Option<Self::Block>>;
}

/// Builds the leaf pages of `game_position` and `move_eval` and writes them immediately. A block contains
/// their page numbers.
#[derive(Debug)]
pub(crate) struct LeafEncoder {
    file: Arc<PageFile>,
    positions: LeafWriter,
    /// Created with the first row, because most collections have no evaluations.
    evals: Option<LeafWriter>,
}

/// The leaves of a batch of games.
#[derive(Debug)]
pub(crate) struct GameLeaves {
    positions: Segment,
    evals: Segment,
}

/// Leaves in order of arrival.
#[derive(Debug, Default)]
pub(super) struct GameLeafList(Vec<(BlockNumber, GameLeaves)>);

impl GameLeafList {
    pub(super) fn push(&mut self, number: BlockNumber, leaves: GameLeaves) {
        self.0.push((number, leaves));
    }

    /// Returns all leaves in order: those of `game_position` and those of `move_eval`.
    pub(super) fn take(&mut self) -> (Vec<Segment>, Vec<Segment>) {
        let mut leaves = std::mem::take(&mut self.0);
        leaves.sort_by_key(|&(number, _)| number);
        leaves.into_iter().map(|(_, GameLeaves { positions, evals })| (positions, evals)).unzip()
    }
}

impl LeafEncoder {
    pub(super) fn new(file: &Arc<PageFile>) -> Self {
        Self { file: Arc::clone(file), positions: LeafWriter::new(Arc::clone(file)), evals: None }
    }
}

impl PositionEncoder for LeafEncoder {
    type Block = GameLeaves;
    const IN_ORDER: bool = false;
    const TAKES_EVALS: bool = true;

    fn another(&self) -> Self {
        Self::new(&self.file)
    }

    #[inline]
    fn push(&mut self, view: &PositionView<'_>) -> Result<bool> {
        self.positions.push(&PositionRecord {
            game: view.game,
            ply: view.ply,
            key: view.position.key(),
            halfmove_clock: view.position.halfmove_clock(),
            move_code: view.move_code,
            fen: BoardFen { position: view.position, placement: view.placement },
        })?;
        Ok(false)
    }

    #[inline]
    fn push_eval(&mut self, row: &EvalRow) -> Result<()> {
        let file = &self.file;
        Ok(self.evals.get_or_insert_with(|| LeafWriter::new(Arc::clone(file))).push(row)?)
    }

    fn take(&mut self, _: Option<GameLeaves>) -> Result<Option<GameLeaves>> {
        let positions = self.positions.finish_segment()?;
        let evals = self.evals.as_mut().map(LeafWriter::finish_segment).transpose()?.unwrap_or_default();
        Ok((!positions.is_empty()).then_some(GameLeaves { positions, evals }))
    }
}

/// Collects rows for SQL.
#[derive(Debug, Default)]
pub(crate) struct RowEncoder(PositionBatch);

impl PositionEncoder for RowEncoder {
    type Block = PositionBatch;
    const IN_ORDER: bool = true;

    fn another(&self) -> Self {
        Self::default()
    }

    fn push(&mut self, view: &PositionView<'_>) -> Result<bool> {
        const ROWS: usize = 1 << 14;
        let Self(batch) = self;
        let mut space = [0; MAX_CANONICAL_FEN];
        let length = view.placement.write_at_end(view.position, &mut space);
        let start = u32::try_from(batch.text.len()).expect("a batch is small");
        batch.text.extend(space[MAX_CANONICAL_FEN - length..].iter().copied().map(char::from));
        batch.rows.push(PositionRow {
            game: view.game,
            ply: view.ply,
            key: view.position.key(),
            halfmove_clock: view.position.halfmove_clock(),
            move_code: view.move_code,
            fen: Text { start, len: length as u32 },
        });
        Ok(batch.rows.len() >= ROWS)
    }

    fn take(&mut self, used: Option<PositionBatch>) -> Result<Option<PositionBatch>> {
        if self.0.rows.is_empty() {
            return Ok(None);
        }
        Ok(Some(std::mem::replace(&mut self.0, used.unwrap_or_default())))
    }
}

/// Encodes nothing.
#[derive(Debug)]
pub(crate) struct NoEncoder;

impl PositionEncoder for NoEncoder {
    type Block = ();
    const IN_ORDER: bool = false;

    fn another(&self) -> Self {
        Self
    }

    fn push(&mut self, _: &PositionView<'_>) -> Result<bool> {
        Ok(false)
    }

    fn take(&mut self, _: Option<()>) -> Result<Option<()>> {
        Ok(None)
    }
}
