//! The positions that are nearest to one, and the games that can have them.
//!
//! The sets of games tell how near the positions of a game can come at best. So the games are looked at in the order of these bounds, until
//! no other one can have a position that is nearer than the last of those that are wanted.

use std::collections::{BTreeMap, BinaryHeap};

use rusqlite::Connection;

use crate::board::{Material, Resemblance};
use crate::id::{GameId, Ply};
use crate::parallel;
use crate::store::block_games::BlockGames;
use crate::store::block_set::{BLOCK_GAMES, block_of, game_of};
use crate::store::cell::{Cells, GAME_POSITION};
use crate::store::database::Database;
use crate::store::error::{Error, Result};
use crate::store::passed::{PassedKind, PassedQuestion, piece_square};
use crate::store::read::filter::bind;
use crate::store::read::game_column::{BlockColumns, ColumnError};
use crate::store::read::occurrence::candidate::GameRange;
use crate::store::read::occurrence::hit::{Hit, Lines, Place};
use crate::store::read::occurrence::scan::{GAMES, Readers, scan_sql};
use crate::store::read::passed::{Passing, has_sets, visit_sets};
use crate::store::read::selection::Selection;

/// Which part of the nearest positions is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Nearest<'a> {
    /// What they are near to.
    pub to: &'a Resemblance,
    /// The games that count.
    pub selection: &'a Selection,
    /// How many games at most; `None` for all.
    pub limit: Option<u32>,
    /// How many games to skip first.
    pub offset: u32,
    /// How many games are looked at, at most, of those about which the sets tell something; `None` for as many as it takes.
    pub most_games: Option<u32>,
}

/// A game's nearest position, in the order in which they are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Near {
    distance: u32,
    game: GameId,
    ply: Ply,
}

/// Games by the least distance that their positions can have, in order.
type Bounded = BTreeMap<u32, Vec<GameId>>;

impl Database {
    /// The nearest position of each game of a selection, the nearest games first, until `visit` gives `false`; of equally near ones the
    /// game with the smaller number, and of a game the first position.
    ///
    /// Gives back from which distance on games that were not looked at may have nearer ones, if there are such games.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn nearest(&self, nearest: &Nearest<'_>, mut visit: impl FnMut(Hit) -> bool) -> Result<Option<u32>> {
        let failed = |source| self.failed_near(source);
        let mut search = Looking::new(self, nearest);
        if let Some(last) = self.last_game()? {
            let numbers = self.blocks_with_games()?;
            let has_sets = has_sets(self.connection()).map_err(failed)?;
            let blocks = search.blocks(&numbers, last, has_sets)?;
            if !search.look(bounded(blocks.iter().map(Block::alike)))? {
                let others = search.others(&blocks)?;
                search.look(bounded(others.into_iter()))?;
            }
        }
        let unseen = search.unseen;
        for near in search.kept.into_sorted_vec().into_iter().skip(nearest.offset as usize) {
            let Near { distance, game, ply } = near;
            let hit = self.hit(Place::played(game, ply), None).map_err(failed)?;
            if hit.is_some_and(|hit| !visit(Hit { distance: Some(distance), ..hit })) {
                break;
            }
        }
        Ok(unseen)
    }

    /// The numbers of the blocks in which there are games.
    fn blocks_with_games(&self) -> Result<Vec<u32>> {
        let (mut numbers, mut next) = (Vec::new(), Some(GameId(1)));
        while let Some(from) = next
            && let Some(first) = self.game_from(from)?
        {
            let (block, _) = block_of(first);
            numbers.push(block);
            next = game_of(block, u16::MAX).0.checked_add(1).map(GameId);
        }
        Ok(numbers)
    }

    fn failed_near(&self, source: rusqlite::Error) -> Error {
        Error::sqlite(self.path(), "look for the nearest positions", source)
    }
}

/// The games of all blocks.
fn bounded(blocks: impl Iterator<Item = Bounded>) -> Bounded {
    let mut all = Bounded::new();
    for (bound, games) in blocks.flatten() {
        all.entry(bound).or_default().extend(games);
    }
    all
}

/// A search, as far as it has come.
struct Looking<'a> {
    nearest: &'a Nearest<'a>,
    readers: Readers<'a>,
    /// How many games are wanted.
    wanted: usize,
    /// The nearest that were found, the farthest of them on top.
    kept: BinaryHeap<Near>,
    /// How many games may still be looked at.
    left: u32,
    unseen: Option<u32>,
}

impl<'a> Looking<'a> {
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

    fn blocks(&self, numbers: &[u32], last: GameId, has_sets: bool) -> Result<Vec<Block>> {
        let Self { readers, nearest, .. } = self;
        let (last_block, last_number) = block_of(last);
        let read = |index: usize| {
            let block = numbers[index];
            readers.with(|database| {
                let last = if block == last_block { last_number } else { u16::MAX };
                let block = Block::read(database.connection(), (block, last), has_sets, nearest);
                block.map_err(|source| database.failed_near(source))
            })
        };
        parallel::map(None, numbers.len(), read)
    }

    /// The games that do not pass the same pawns and the same material.
    fn others(&self, blocks: &[Block]) -> Result<Vec<Bounded>> {
        let Self { readers, nearest, .. } = self;
        let of_block = |index: usize| {
            readers.with(|database| {
                let others = blocks[index].others(database.connection(), nearest.to);
                others.map_err(|source| database.failed_near(source))
            })
        };
        parallel::map(None, blocks.len(), of_block)
    }

    /// Whether a game of which no more is known than that its positions are no nearer can be among those that are wanted.
    fn can_take(&self, bound: u32, game: GameId) -> bool {
        self.kept.len() < self.wanted
            || self.kept.peek().is_some_and(|last| (bound, game) < (last.distance, last.game))
    }

    /// Looks at games in the order of their bounds. Gives back whether no game with a greater bound need be looked at.
    fn look(&mut self, games: Bounded) -> Result<bool> {
        let mut games = games
            .into_iter()
            .flat_map(|(bound, games)| games.into_iter().map(move |game| (bound, game)))
            .peekable();
        // What is found can be enough: pieces are few at a time.
        let width = 2 * rayon::current_num_threads();
        while let Some(&(bound, game)) = games.peek() {
            if !self.can_take(bound, game) {
                return Ok(true);
            }
            if bound > 0 && self.left == 0 {
                self.unseen = Some(bound);
                return Ok(true);
            }
            let pieces = self.pieces(&mut games, width);
            let Self { readers, nearest: Nearest { selection, to, .. }, .. } = self;
            let look = |index: usize| {
                readers.with(|database| {
                    let found = nearest_of(database.connection(), selection, to, &pieces[index]);
                    found.map_err(|source| database.failed_near(source))
                })
            };
            let found = parallel::map(None, pieces.len(), look)?;
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

    /// The next games that are worth looking at, in so many pieces or fewer.
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

/// The games of a block that count.
struct Block {
    number: u32,
    /// Those that pass the same pawns and the same material.
    alike: BlockGames,
    /// Those that no set knows; there may be none with these numbers.
    unknown: BlockGames,
    /// All others.
    others: BlockGames,
    /// Of each game, what the pieces of the position count, twice, that never stand there where they stand here: they are missing, and
    /// stand elsewhere.
    missing: Vec<u8>,
}

impl Block {
    /// Reads what the sets and columns tell about games up to the last.
    fn read(
        connection: &Connection,
        (number, last): (u32, u16),
        has_sets: bool,
        nearest: &Nearest<'_>,
    ) -> rusqlite::Result<Self> {
        let mut block = Self {
            number,
            alike: BlockGames::default(),
            unknown: BlockGames::default().others(),
            others: BlockGames::default(),
            missing: Vec::new(),
        };
        if has_sets {
            let question = PassedQuestion::alike(nearest.to);
            let Passing { told, unknown } = Passing::of(connection, number, &question)?;
            block.others = told.others();
            block.others.keep(&unknown.others());
            (block.alike, block.unknown) = (told, unknown);
            block.keep_selected(connection, nearest.selection)?;
            block.missing = missing(connection, number, nearest.to)?;
        }
        for games in [&mut block.alike, &mut block.unknown, &mut block.others] {
            games.limit(0..=last);
        }
        Ok(block)
    }

    /// Keeps the games that the filters choose, if the columns tell; the others are left out where their rows are read.
    fn keep_selected(&mut self, connection: &Connection, selection: &Selection) -> rusqlite::Result<()> {
        if selection.is_all() {
            return Ok(());
        }
        match BlockColumns::new(connection, self.number).selected(selection) {
            Ok(selected) => {
                for games in [&mut self.alike, &mut self.unknown, &mut self.others] {
                    games.keep(&selected);
                }
            }
            Err(ColumnError::Missing) => {}
            Err(ColumnError::Sql(error)) => return Err(error),
        }
        Ok(())
    }

    /// The games that may have a position with the same pawns and the same material.
    fn alike(&self) -> Bounded {
        let mut bounded = Bounded::new();
        let mut add = |bound, number| {
            bounded.entry(bound).or_default().push(game_of(self.number, number));
        };
        self.unknown.runs().into_iter().flatten().for_each(|number| add(0, number));
        for number in self.alike.runs().into_iter().flatten() {
            add(self.missing[usize::from(number)].into(), number);
        }
        bounded
    }

    /// All others.
    fn others(&self, connection: &Connection, to: &Resemblance) -> rusqlite::Result<Bounded> {
        let mut bounded = Bounded::new();
        if self.others.is_empty() {
            return Ok(bounded);
        }
        let least = by_material(connection, self.number, to)?;
        for number in self.others.runs().into_iter().flatten() {
            let (apart, beside) = least[usize::from(number)];
            // A game without a material has no position.
            if apart < u8::MAX {
                let missing = u32::from(self.missing[usize::from(number)]);
                let bound = Resemblance::OTHER + u32::from(apart).max(missing + u32::from(beside));
                bounded.entry(bound).or_default().push(game_of(self.number, number));
            }
        }
        Ok(bounded)
    }
}

/// What is [missing](Block::missing) in each game of a block.
fn missing(connection: &Connection, block: u32, to: &Resemblance) -> rusqlite::Result<Vec<u8>> {
    let mut weights = BTreeMap::new();
    for (piece, square, weight) in to.pieces() {
        weights.insert(i64::from(piece_square(piece, square)), 2 * weight as u8);
    }
    let all: u8 = weights.values().sum();
    let mut missing = vec![all; BLOCK_GAMES as usize];
    for (value, weight) in weights {
        let place = (block, PassedKind::Piece);
        visit_sets(connection, place, value..=value, &|_| true, |_, number| {
            let missing = &mut missing[usize::from(number)];
            *missing = missing.saturating_sub(weight);
        })?;
    }
    Ok(missing)
}

/// Of each game of a block, the least that its materials make positions [apart and beside](Resemblance::bounds).
fn by_material(connection: &Connection, block: u32, to: &Resemblance) -> rusqlite::Result<Vec<(u8, u8)>> {
    let mut least = vec![(u8::MAX, u8::MAX); BLOCK_GAMES as usize];
    let mut last = (-1, (u8::MAX, u8::MAX));
    let place = (block, PassedKind::Material);
    visit_sets(connection, place, 0..=i64::MAX, &|_| true, |value, number| {
        if value != last.0 {
            // A smaller bound is a bound too.
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

/// The nearest position of each game of some ranges.
fn nearest_of(
    connection: &Connection,
    selection: &Selection,
    to: &Resemblance,
    ranges: &[GameRange],
) -> rusqlite::Result<Vec<Near>> {
    let mut statement = connection.prepare_cached(&scan_sql(selection, Lines::Main))?;
    selection.bind(&mut statement)?;
    let mut found: Vec<Near> = Vec::new();
    for &(first, last) in ranges {
        bind(&mut statement, ":first", first.0)?;
        bind(&mut statement, ":last", last.0)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            let cells = Cells::new(row, GAME_POSITION);
            let (game, distance) = (GameId(cells.get(0)?), to.distance(cells.get::<&str>(3)?.as_bytes()));
            let near = |ply| Near { distance, game, ply };
            match found.last_mut() {
                Some(last) if last.game == game => {
                    if distance < last.distance {
                        *last = near(Ply(cells.get(2)?));
                    }
                }
                _ => found.push(near(Ply(cells.get(2)?))),
            }
        }
    }
    Ok(found)
}
