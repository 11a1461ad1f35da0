//! Finds the positions of main lines that are nearest to a given position.
//!
//! For each game, the sets of games give a lower bound of the distance of its positions. Games are read in
//! the order of these bounds, until no unread game can have a position that is near enough to be returned.

use std::collections::BinaryHeap;

use rusqlite::Connection;

use crate::board::{Material, PositionDistance};
use crate::id::{GameId, Ply};
use crate::sorted::SortedMap;
use crate::store::block_games::BlockGames;
use crate::store::block_set::{BLOCK_GAMES, block_of, game_of};
use crate::store::blocks::blocks_with_games;
use crate::store::features::{FeatureKind, piece_square};
use crate::store::read::features::{FeatureMatches, visit_sets};
use crate::store::read::game_column::{BlockColumns, if_known};
use crate::store::read::occurrence::hit::HitLocation;
use crate::store::read::occurrence::scan::{GAMES, GameRange, Readers};
use crate::store::{Database, FeatureQuery, Hit, Lines, Result, Selection};

const ACTION: &str = "look for the nearest positions";

/// A search for the nearest positions, and the part of its hits to return.
#[derive(Clone, Copy, Debug)]
pub struct Nearest<'a> {
    /// The position from which distances are computed.
    pub to: &'a PositionDistance,
    /// The games to search.
    pub selection: &'a Selection,
    /// The maximum number of games to return; `None`: all.
    pub limit: Option<u32>,
    /// How many games to skip first.
    pub offset: u32,
    /// The maximum number of games to read; `None`: as many as necessary. Games whose lower bound of the
    /// distance is 0 do not count.
    pub most_games: Option<u32>,
}

/// A game's nearest position. Values of this type are ordered by distance, then by game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Near {
    distance: u32,
    game: GameId,
    ply: Ply,
}

/// Games, grouped by the lower bound of the distance of their positions; the smallest bound comes first.
type Bounded = SortedMap<u32, Vec<GameId>>;

impl Database {
    /// Visits the nearest position of each game of a selection, the nearest games first, until `visit`
    /// returns `false`. Of equally near games, the game with the smaller id comes first; of equally near
    /// positions of a game, the first one counts.
    ///
    /// If games were left unread because of [`Nearest::most_games`], returns a lower bound of the distance of
    /// their positions. Otherwise returns `None`.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn nearest(&self, nearest: &Nearest<'_>, visit: &mut dyn FnMut(Hit) -> bool) -> Result<Option<u32>> {
        let mut search = NearestSearch::new(self, nearest);
        if let Some(last) = self.last_game()? {
            let numbers = blocks_with_games(self.connection()).map_err(self.failed(ACTION))?;
            let (last_block, last_number) = block_of(last);
            let blocks = search.readers.map(ACTION, numbers.len(), |database, index| {
                let last = if numbers[index] == last_block { last_number } else { u16::MAX };
                Block::read(database.connection(), (numbers[index], last), nearest)
            })?;
            if !search.read_games(bounded(blocks.iter().map(Block::same_pawns_and_material)))? {
                let others = search.readers.map(ACTION, blocks.len(), |database, index| {
                    blocks[index].others(database.connection(), nearest.to)
                })?;
                search.read_games(bounded(others.into_iter()))?;
            }
        }
        let unseen = search.unseen;
        for near in search.kept.into_sorted_vec().into_iter().skip(nearest.offset as usize) {
            let Near { distance, game, ply } = near;
            let hit = self.hit(HitLocation::played(game, ply), None).map_err(self.failed(ACTION))?;
            if hit.is_some_and(|hit| !visit(Hit { distance: Some(distance), ..hit })) {
                break;
            }
        }
        Ok(unseen)
    }
}

/// Merges the games of all blocks.
fn bounded(blocks: impl Iterator<Item = Bounded>) -> Bounded {
    let mut all = Bounded::new();
    for (bound, games) in blocks.flatten() {
        all.entry(bound).extend(games);
    }
    all
}

struct NearestSearch<'a> {
    nearest: &'a Nearest<'a>,
    readers: Readers<'a>,
    /// The number of games to find, including the games to skip.
    wanted: usize,
    /// The nearest positions found so far; the farthest of them is on top of the heap.
    kept: BinaryHeap<Near>,
    /// The number of games that may still be read, not counting games with the lower bound 0.
    left: u32,
    /// The smallest lower bound of the distance in the games left unread because of [`Nearest::most_games`];
    /// `None` if there are no such games.
    unseen: Option<u32>,
}

impl<'a> NearestSearch<'a> {
    fn new(database: &'a Database, nearest: &'a Nearest<'a>) -> Self {
        let wanted = nearest.limit.map_or(usize::MAX, |limit| limit as usize + nearest.offset as usize);
        Self {
            nearest,
            readers: Readers::new(database),
            wanted,
            kept: BinaryHeap::new(),
            left: nearest.most_games.unwrap_or(u32::MAX),
            unseen: None,
        }
    }

    /// Whether a game with this lower bound can still be among the wanted games.
    fn can_take(&self, bound: u32, game: GameId) -> bool {
        self.kept.len() < self.wanted
            || self.kept.peek().is_some_and(|last| (bound, game) < (last.distance, last.game))
    }

    /// Reads games in the order of their bounds. Stops if no unread game can be near enough, or if the maximum
    /// number of games was read. Returns whether the search is complete. If it is not, games that are not in
    /// `games` must be searched too.
    fn read_games(&mut self, games: Bounded) -> Result<bool> {
        let mut games = games
            .into_iter()
            .flat_map(|(bound, games)| games.into_iter().map(move |game| (bound, game)))
            .peekable();
        // Reads only a few chunks at a time, because a few games may be enough.
        let width = 2 * rayon::current_num_threads();
        while let Some(&(bound, game)) = games.peek() {
            // Positions of games that are not in `games` have distances above `OTHER`. If a board has very
            // many pieces, bounds in `games` can exceed `OTHER`, too.
            let is_complete = bound <= PositionDistance::OTHER;
            if !self.can_take(bound, game) {
                return Ok(is_complete);
            }
            if bound > 0 && self.left == 0 {
                self.unseen = Some(self.unseen.unwrap_or(bound).min(bound));
                return Ok(is_complete);
            }
            let pieces = self.pieces(&mut games, width);
            let Self { readers, nearest: Nearest { selection, to, .. }, .. } = self;
            let found = readers.map(ACTION, pieces.len(), |database, index| {
                nearest_of(database, selection, to, &pieces[index])
            })?;
            for near in found.into_iter().flatten() {
                if self.can_take(near.distance, near.game) {
                    self.kept.push(near);
                    if self.kept.len() > self.wanted {
                        self.kept.pop();
                    }
                }
            }
        }
        Ok(false)
    }

    /// Removes the next games from `games`, and returns them in at most `width` chunks to read.
    fn pieces(
        &mut self,
        games: &mut std::iter::Peekable<impl Iterator<Item = (u32, GameId)>>,
        width: usize,
    ) -> Vec<Vec<GameRange>> {
        let mut taken: Vec<GameId> = Vec::new();
        while let Some((bound, game)) = games.next_if(|&(bound, game)| {
            taken.len() < width * GAMES as usize
                && (bound == 0 || self.left > 0)
                && self.can_take(bound, game)
        }) {
            self.left = if bound == 0 { self.left } else { self.left - 1 };
            taken.push(game);
        }
        taken.sort_unstable();
        let ranges = |piece: &[GameId]| {
            piece.chunk_by(|one, next| one.0 + 1 == next.0).map(|run| (run[0], run[run.len() - 1])).collect()
        };
        taken.chunks(GAMES as usize).map(ranges).collect()
    }
}

/// The games to search in a block.
struct Block {
    number: u32,
    /// Games that, according to the sets, can have the target's pawns in one position, and the target's
    /// material in the same or another position.
    alike: BlockGames,
    /// Games whose features are unknown. The set can also contain numbers that no game has.
    unknown: BlockGames,
    /// All other games of the block.
    others: BlockGames,
    /// For each game, twice the total weight of the target's pieces that no position of the game has on the
    /// same square. The weight counts twice because, with equal material, such a piece is missing from its
    /// square and is on another square instead.
    missing: Vec<u8>,
}

impl Block {
    /// Reads the sets and columns of block `number`. Keeps only games up to the number `last` in the block
    /// and, if the columns can be used, only selected games.
    fn read(
        connection: &Connection,
        (number, last): (u32, u16),
        nearest: &Nearest<'_>,
    ) -> rusqlite::Result<Self> {
        let query = FeatureQuery::same_pawns_and_material(nearest.to);
        let FeatureMatches { matching, unknown } = FeatureMatches::read(connection, number, &query)?;
        let mut others = matching.others();
        others.keep(&unknown.others());
        let missing = missing(connection, number, nearest.to)?;
        let mut block = Self { number, alike: matching, unknown, others, missing };
        // If the columns of the block cannot be used, the filters are applied only later, when rows are read.
        let selected = match nearest.selection {
            all if all.is_all() => None,
            selection => if_known(BlockColumns::new(connection, number).selected(selection))?,
        };
        for games in [&mut block.alike, &mut block.unknown, &mut block.others] {
            if let Some(selected) = &selected {
                games.keep(selected);
            }
            games.limit(0..=last);
        }
        Ok(block)
    }

    /// The games that can have a position with the target's pawns and material. The games are grouped by a
    /// lower bound of the distance between these positions and the target.
    fn same_pawns_and_material(&self) -> Bounded {
        let mut bounded = Bounded::new();
        let mut add = |bound, number| {
            bounded.entry(bound).push(game_of(self.number, number));
        };
        self.unknown.iter().for_each(|number| add(0, number));
        for number in self.alike.iter() {
            add(self.missing[usize::from(number)].into(), number);
        }
        bounded
    }

    /// The games in which no position has the target's pawns, or no position has the target's material. The
    /// games are grouped by the lower bound of the distance of their positions.
    fn others(&self, connection: &Connection, to: &PositionDistance) -> rusqlite::Result<Bounded> {
        let mut bounded = Bounded::new();
        if self.others.is_empty() {
            return Ok(bounded);
        }
        let least = by_material(connection, self.number, to)?;
        for number in self.others.iter() {
            let (apart, beside) = least[usize::from(number)];
            // A game that is in no set of the kind `Material` has no positions.
            if apart < u8::MAX {
                let missing = u32::from(self.missing[usize::from(number)]);
                let bound = PositionDistance::OTHER + u32::from(apart).max(missing + u32::from(beside));
                bounded.entry(bound).push(game_of(self.number, number));
            }
        }
        Ok(bounded)
    }
}

/// The [missing](Block::missing) weight of each game of a block.
fn missing(connection: &Connection, block: u32, to: &PositionDistance) -> rusqlite::Result<Vec<u8>> {
    let mut weights = SortedMap::new();
    for (piece, square, weight) in to.pieces() {
        weights.insert(i64::from(piece_square(piece, square)), 2 * weight as u8);
    }
    let all: u8 = weights.values().sum();
    let mut missing = vec![all; BLOCK_GAMES as usize];
    for (value, weight) in weights {
        let place = (block, FeatureKind::Piece);
        visit_sets(connection, place, value..=value, &|_| true, |_, number| {
            let missing = &mut missing[usize::from(number)];
            *missing = missing.saturating_sub(weight);
        })?;
    }
    Ok(missing)
}

/// For each game of a block, the minimum of each of the two [bounds](PositionDistance::bounds) over all
/// materials that occurred in the game. Both numbers are `u8::MAX` for a game that is in no set of the kind `Material`.
fn by_material(
    connection: &Connection,
    block: u32,
    to: &PositionDistance,
) -> rusqlite::Result<Vec<(u8, u8)>> {
    let mut least = vec![(u8::MAX, u8::MAX); BLOCK_GAMES as usize];
    let mut last = (-1, (u8::MAX, u8::MAX));
    let place = (block, FeatureKind::Material);
    visit_sets(connection, place, 0..=i64::MAX, &|_| true, |value, number| {
        if value != last.0 {
            // A bound above `u8::MAX - 1` is reduced to this number, which is still a lower bound.
            let [apart, beside] = to
                .bounds(Material::from_packed(value.cast_unsigned()))
                .map(|bound| u8::try_from(bound).unwrap_or(u8::MAX).min(u8::MAX - 1));
            last = (value, (apart, beside));
        }
        let (apart, beside) = &mut least[usize::from(number)];
        (*apart, *beside) = ((*apart).min(last.1.0), (*beside).min(last.1.1));
    })?;
    Ok(least)
}

/// The nearest position of each game that is in the selection and whose id is in one of the ranges.
fn nearest_of(
    database: &Database,
    selection: &Selection,
    to: &PositionDistance,
    ranges: &[GameRange],
) -> rusqlite::Result<Vec<Near>> {
    let mut found: Vec<Near> = Vec::new();
    database.each_position(selection, Lines::Main, ranges, |fen, row| {
        let (game, distance) = (row.game()?, to.distance(fen));
        let near = |ply| Near { distance, game, ply };
        match found.last_mut() {
            Some(last) if last.game == game => {
                if distance < last.distance {
                    *last = near(row.ply()?);
                }
            }
            _ => found.push(near(row.ply()?)),
        }
        Ok(())
    })?;
    Ok(found)
}
