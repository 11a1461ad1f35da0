//! Annotations of games: what the PGN says about the moves.

use std::collections::{BTreeMap, HashMap};

use rusqlite::Connection;

use crate::board::MoveCode;
use crate::id::{GameId, Ply};
use crate::pgn::{Eval, MoveNumbers};
use crate::store::cell::{COMMAND, COMMENT, MOVE_EVAL, NAG, VARIATION, VARIATION_MOVE};
use crate::store::{Database, Result};

/// The maximum nesting depth of variations.
pub(crate) const MOST_DEPTH: usize = 1000;

/// The annotations of a game. Line 0 is the main line; all other lines are variations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameAnnotations {
    /// The annotations of positions, by line and ply.
    remarks: BTreeMap<(u32, Ply), PositionAnnotations>,
    /// The variations, by the line and the ply of the position from which their first move is played.
    variations: BTreeMap<(u32, Ply), Vec<StoredVariation>>,
}

/// The annotations of a position and of the move that led to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PositionAnnotations {
    /// Clock, time used, evaluation.
    pub numbers: MoveNumbers,
    /// Numeric annotation glyphs.
    pub nags: Vec<u32>,
    /// Comments, without their commands.
    pub comments: Vec<String>,
    /// The commands in comments (`[%name value]`), as name and value. Commands that `numbers` reproduces
    /// exactly are omitted.
    pub commands: Vec<(String, String)>,
}

/// A variation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredVariation {
    /// The variation's line.
    pub line: u32,
    /// The moves of the variation.
    pub moves: Vec<MoveCode>,
}

impl GameAnnotations {
    /// The annotations of a position; `None` if it has none.
    #[must_use]
    pub fn at(&self, line: u32, ply: Ply) -> Option<&PositionAnnotations> {
        self.remarks.get(&(line, ply))
    }

    /// The variations whose first move is played from this position.
    #[must_use]
    pub fn variations(&self, line: u32, ply: Ply) -> &[StoredVariation] {
        self.variations.get(&(line, ply)).map_or(&[], Vec::as_slice)
    }

    /// Whether there are no annotations.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.remarks.is_empty() && self.variations.is_empty()
    }

    /// The clock, the time used and the evaluation at each position of the main line, by ply. Positions that
    /// have none of these are omitted.
    pub fn numbers(&self) -> impl Iterator<Item = (Ply, MoveNumbers)> {
        let remarks = self.remarks.iter().filter(|((line, _), _)| *line == 0);
        remarks.map(|((_, ply), remarks)| (*ply, remarks.numbers)).filter(|(_, numbers)| !numbers.is_empty())
    }

    fn remarks(&mut self, line: u32, ply: u32) -> &mut PositionAnnotations {
        self.remarks.entry((line, Ply(ply))).or_default()
    }
}

impl Database {
    /// The annotations of a game; empty if the PGN has none, or if the run that read the game did not store
    /// annotations.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn annotations(&self, game: GameId) -> Result<GameAnnotations> {
        game_annotations(self.connection(), game).map_err(self.failed("look up the annotations of a game"))
    }
}

/// Determines which tables of annotations, except `variation_move`, have rows of a game. Most games have rows
/// in few of the tables or in none, so running this query first is faster than one query per table.
const HAS_ROWS: &str = "SELECT
    EXISTS (SELECT 1 FROM move_eval WHERE game_id = ?1),
    EXISTS (SELECT 1 FROM comment WHERE game_id = ?1),
    EXISTS (SELECT 1 FROM nag WHERE game_id = ?1),
    EXISTS (SELECT 1 FROM command WHERE game_id = ?1),
    EXISTS (SELECT 1 FROM variation WHERE game_id = ?1)";

pub(crate) fn game_annotations(connection: &Connection, game: GameId) -> rusqlite::Result<GameAnnotations> {
    let mut annotations = GameAnnotations::default();
    let [numbers, comments, nags, commands, variations]: [bool; 5] = connection
        .prepare_cached(HAS_ROWS)?
        .query_row([game.0], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?]))?;
    if numbers {
        let sql =
            "SELECT game_id, ply, clock, elapsed, eval_cp, eval_mate, depth FROM move_eval WHERE game_id = ?1
             ORDER BY ply";
        MOVE_EVAL.each(connection, sql, [game.0], |cells| {
            annotations.remarks(0, cells.get("ply")?).numbers = MoveNumbers {
                clock: cells.get("clock")?,
                elapsed: cells.get("elapsed")?,
                eval: Eval::from_columns(cells.get("eval_cp")?, cells.get("eval_mate")?),
                depth: cells.get("depth")?,
            };
            Ok(())
        })?;
    }
    if comments {
        let sql = "SELECT game_id, line, ply, number, text FROM comment WHERE game_id = ?1
             ORDER BY line, ply, number";
        COMMENT.each(connection, sql, [game.0], |cells| {
            annotations.remarks(cells.get("line")?, cells.get("ply")?).comments.push(cells.get("text")?);
            Ok(())
        })?;
    }
    if nags {
        let sql = "SELECT game_id, line, ply, nag FROM nag WHERE game_id = ?1 ORDER BY line, ply, nag";
        NAG.each(connection, sql, [game.0], |cells| {
            annotations.remarks(cells.get("line")?, cells.get("ply")?).nags.push(cells.get("nag")?);
            Ok(())
        })?;
    }
    if commands {
        let sql = "SELECT game_id, line, ply, number, name, value FROM command WHERE game_id = ?1
             ORDER BY line, ply, number";
        COMMAND.each(connection, sql, [game.0], |cells| {
            let command = (cells.get("name")?, cells.get("value")?);
            annotations.remarks(cells.get("line")?, cells.get("ply")?).commands.push(command);
            Ok(())
        })?;
    }
    if variations {
        annotations.variations = game_variations(connection, game)?;
    }
    Ok(annotations)
}

/// The variations of a game, by the line and the ply of the position from which their first move is played.
fn game_variations(
    connection: &Connection,
    game: GameId,
) -> rusqlite::Result<BTreeMap<(u32, Ply), Vec<StoredVariation>>> {
    let mut leaves = Vec::new();
    let mut depths = HashMap::from([(0, 0)]);
    let sql = "SELECT game_id, line, parent_line, ply FROM variation WHERE game_id = ?1 ORDER BY line";
    VARIATION.each(connection, sql, [game.0], |cells| {
        let (line, parent): (u32, u32) = (cells.get("line")?, cells.get("parent_line")?);
        // This program gives a line a greater number than its parent line, and limits the nesting depth. Rows
        // that break these rules were written by another program, and are ignored.
        let depth = depths.get(&parent).filter(|_| parent < line).map(|depth| depth + 1);
        if let Some(depth) = depth.filter(|&depth| depth <= MOST_DEPTH) {
            depths.insert(line, depth);
            leaves.push((line, (parent, cells.get("ply")?)));
        }
        Ok(())
    })?;
    let mut moves: HashMap<u32, Vec<MoveCode>> = HashMap::new();
    let sql =
        "SELECT game_id, line, ply, move_code FROM variation_move WHERE game_id = ?1 ORDER BY line, ply";
    VARIATION_MOVE.each(connection, sql, [game.0], |cells| {
        moves.entry(cells.get("line")?).or_default().push(cells.get("move_code")?);
        Ok(())
    })?;
    let mut variations: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (line, place) in leaves {
        let variation = StoredVariation { line, moves: moves.remove(&line).unwrap_or_default() };
        variations.entry(place).or_default().push(variation);
    }
    Ok(variations)
}
