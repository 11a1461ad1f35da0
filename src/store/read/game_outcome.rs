//! What a game came to.

use rusqlite::Row;

use crate::board::GameResult;
use crate::store::cell::{Cells, GAME};

/// A game's result, both ratings, and date `YYYY.MM.DD`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameOutcome {
    /// The result.
    pub result: GameResult,
    /// White's rating and Black's.
    pub elos: (Option<u16>, Option<u16>),
    /// The date.
    pub date: Option<String>,
}

impl GameOutcome {
    /// What the columns `result`, `white_elo`, `black_elo`, `date` say, of which the first has this index.
    pub(crate) fn read(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        let cells = Cells::new(row, GAME);
        Ok(Self {
            result: cells.get(first)?,
            elos: (cells.get(first + 1)?, cells.get(first + 2)?),
            date: cells.get(first + 3)?,
        })
    }
}
