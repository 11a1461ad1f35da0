//! Finds positions in variations, and the moves that variations play.

use rusqlite::named_params;

use crate::board::{MoveCode, Position, PositionKey};
use crate::sorted::{SortedMap, distinct};
use crate::store::cell::{Cells, VARIATION, VARIATION_MOVE};
use crate::store::read::occurrence::hit::HitLocation;
use crate::store::row::Ply;
use crate::store::{Database, OccurrenceCount, Result, Selection};

const ACTION: &str = "look for variations";

/// The moves that variations play from a position. A game counts once for the position, even if its variations
/// reach it several times. A game also counts once for each move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VariationMoves {
    /// The number of games with a variation that reaches the position or begins with a move from it.
    pub games: u64,
    /// The moves, in the order of their codes, each with the number of games.
    pub moves: SortedMap<MoveCode, u64>,
}

impl Database {
    /// Whether the database has any moves of variations.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn has_variations(&self) -> Result<bool> {
        let has = self.connection().prepare_cached("SELECT 1 FROM variation_move");
        has.and_then(|mut query| query.exists([])).map_err(self.failed(ACTION))
    }

    /// Whether a variation reaches a position with this key.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn has_in_variations(&self, key: PositionKey) -> Result<bool> {
        let sql = "SELECT 1 FROM variation_move WHERE key = ?1";
        let has = self.connection().prepare_cached(sql).and_then(|mut query| query.exists([key.as_i64()]));
        has.map_err(self.failed(ACTION))
    }

    /// The moves that variations of a selection's games play from a position. The position can be in the main
    /// line or in a variation.
    ///
    /// The time depends on how often variations, not main lines, reach the position and the positions one
    /// move later.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn variation_moves(&self, position: &Position, selection: &Selection) -> Result<VariationMoves> {
        let count = || {
            let fen = position.canonical_fen();
            let (mut games, mut counts) = (Vec::new(), SortedMap::new());
            self.visit_variation_moves(position, selection, &mut |place, _| {
                games.push(place.game);
                Ok(())
            })?;
            let mut moves = Vec::new();
            position.legal_moves(&mut moves);
            moves.push(MoveCode::NULL);
            for code in moves {
                let (mut after, mut last) = (position.clone(), None);
                if after.make(code).is_err() {
                    continue;
                }
                self.visit_variation_moves(&after, selection, &mut |place, code| {
                    if last != Some(place.game) && self.follows(place, &fen)? {
                        last = Some(place.game);
                        games.push(place.game);
                        *counts.entry(code) += 1;
                    }
                    Ok(())
                })?;
            }
            Ok(VariationMoves { games: distinct(games).len() as u64, moves: counts })
        };
        count().map_err(self.failed(ACTION))
    }

    /// The number of occurrences of a position in variations, and the number of games in which only
    /// variations reach the position. Reads at most `cap` moves of variations.
    pub(crate) fn count_in_variations(
        &self,
        key: PositionKey,
        fen: &str,
        cap: u32,
    ) -> rusqlite::Result<OccurrenceCount> {
        let sql = "SELECT count(*) FILTER (WHERE v.fen = :fen),
                count(DISTINCT v.game_id) FILTER (WHERE v.fen = :fen AND NOT EXISTS (
                    SELECT 1 FROM position_game AS o
                    CROSS JOIN game_position AS p ON p.game_id = o.game_id AND p.ply = o.ply
                    WHERE o.key = :key AND o.game_id = v.game_id AND p.fen = :fen)),
                count(*)
            FROM (SELECT game_id, fen FROM variation_move WHERE key = :key LIMIT :cap) AS v";
        let params = named_params! { ":key": key.as_i64(), ":fen": fen, ":cap": cap };
        let read = |cells: Cells<'_>| OccurrenceCount::read(cells, cap);
        Ok(VARIATION_MOVE.first(self.connection(), sql, params, read)?.unwrap_or_default())
    }

    /// Visits each variation move that leads to a position, with the place of the position, in the order of
    /// places.
    fn visit_variation_moves(
        &self,
        position: &Position,
        selection: &Selection,
        visit: &mut dyn FnMut(HitLocation, MoveCode) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        let tables = if selection.is_all() {
            "variation_move AS o"
        } else {
            "variation_move AS o CROSS JOIN game ON game.game_id = o.game_id"
        };
        let sql = format!(
            "SELECT o.game_id, o.line, o.ply, o.move_code FROM {tables} WHERE o.key = :key AND o.fen = :fen{}
             ORDER BY o.game_id, o.line, o.ply",
            selection.sql()
        );
        let params = named_params! { ":key": position.key().as_i64(), ":fen": position.canonical_fen() };
        selection.each(self.connection(), VARIATION_MOVE, &sql, params, |cells| {
            let place = HitLocation { game: cells.get(0)?, line: cells.get(1)?, ply: cells.get(2)? };
            visit(place, cells.get(3)?)
        })
    }

    /// Whether the move that leads to a place in a variation was played from the position `fen`. A
    /// variation's first move is played from a position of its parent line. If the variation replaces the
    /// first move of the parent line, that position belongs to the parent of the parent line.
    fn follows(&self, place: HitLocation, fen: &str) -> rusqlite::Result<bool> {
        let Some(ply) = place.ply.0.checked_sub(1) else { return Ok(false) };
        let mut line = place.line;
        while line > 0 {
            let sql =
                "SELECT game_id, line, parent_line, ply FROM variation WHERE game_id = ?1 AND line = ?2";
            let leaves = VARIATION.first(self.connection(), sql, (place.game.0, line), |cells| {
                Ok((cells.get::<u32>("parent_line")?, cells.get::<u32>("ply")?))
            });
            match leaves? {
                Some((parent, start)) if start == ply && parent < line => line = parent,
                Some((_, start)) if start < ply => break,
                _ => return Ok(false),
            }
        }
        self.is_at(HitLocation { line, ply: Ply(ply), ..place }, fen)
    }
}
