//! Reads the stored columns of `game`, one block of games at a time: to find the games that match a
//! selection, and to look up results, ratings and dates.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{Connection, params};

use crate::board::GameResult;
use crate::store::Selection;
use crate::store::block_games::BlockGames;
use crate::store::block_set::block_of;
use crate::store::cell::{GAME, GAME_COLUMN};
use crate::store::game_column::{
    BLACK_ELO, BLACK_ID, COLUMNS, Condition, DATE, RESULT, StoredColumn, Test, WHITE_ELO, WHITE_ID, sum_in,
};
use crate::store::row::day_number;
use crate::store::row::virtual_table::Cell;

/// Reads the columns of one block at a time. A column is read when it is first needed.
pub(crate) struct BlockColumns<'c> {
    connection: &'c Connection,
    block: u32,
    /// For each column name, the column that was read last, and its block. The column's memory is reused for
    /// the next block.
    read: RefCell<HashMap<&'static str, (u32, Arc<StoredColumn>)>>,
}

/// The reason why columns cannot be used.
#[derive(Debug)]
pub(crate) enum ColumnError {
    /// A column or a set of games is missing or invalid.
    Missing,
    Sql(rusqlite::Error),
}

impl From<rusqlite::Error> for ColumnError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

/// The result of reading columns; `None` if a column or a set of games is missing or invalid.
pub(crate) fn if_known<T>(read: Result<T, ColumnError>) -> rusqlite::Result<Option<T>> {
    match read {
        Ok(found) => Ok(Some(found)),
        Err(ColumnError::Missing) => Ok(None),
        Err(ColumnError::Sql(error)) => Err(error),
    }
}

impl<'c> BlockColumns<'c> {
    pub(crate) fn new(connection: &'c Connection, block: u32) -> Self {
        Self { connection, block, read: RefCell::default() }
    }

    /// Continues with another block.
    pub(crate) const fn turn_to(&mut self, block: u32) {
        self.block = block;
    }

    /// Reads a column, reusing the memory of `column`; `None` if the column is missing or invalid.
    fn read(&self, name: &str, mut column: StoredColumn) -> rusqlite::Result<Option<StoredColumn>> {
        let sql = "SELECT name, block, cells, games FROM game_column WHERE name = ?1 AND block = ?2";
        let is_sound = GAME_COLUMN.first(self.connection, sql, params![name, self.block], |cells| {
            Ok(column.read(cells.get("cells")?, cells.get("games")?))
        });
        Ok(is_sound?.unwrap_or(false).then_some(column))
    }

    /// All columns of the block, in the order of [`COLUMNS`]; a missing or invalid column is empty. `None` if
    /// no column can be used.
    pub(crate) fn all(&self) -> rusqlite::Result<Option<[StoredColumn; COLUMNS.len()]>> {
        let mut columns: [StoredColumn; COLUMNS.len()] = Default::default();
        let mut is_usable = false;
        for (place, name) in columns.iter_mut().zip(COLUMNS) {
            if let Some(column) = self.read(name, StoredColumn::default())? {
                (*place, is_usable) = (column, true);
            }
        }
        Ok(is_usable.then_some(columns))
    }

    /// The games of the block that match a selection. The set can also contain numbers that no game has.
    pub(crate) fn selected(&self, selection: &Selection) -> Result<BlockGames, ColumnError> {
        let mut selected = BlockGames::default();
        selected.fill();
        for condition in selection.conditions() {
            selected.keep(&self.matching(condition)?);
            if selected.is_empty() {
                break;
            }
        }
        Ok(selected)
    }

    /// The games of the block that match a condition.
    pub(crate) fn matching(&self, condition: &Condition) -> Result<BlockGames, ColumnError> {
        let alternatives = match condition {
            Condition::Tests(alternatives) => alternatives,
            Condition::SumIn([one, other], ranges) => {
                return Ok(sum_in(&*self.column(one)?, &*self.column(other)?, ranges));
            }
        };
        let mut any = BlockGames::default();
        for alternative in alternatives {
            let mut all = BlockGames::default();
            all.fill();
            for (name, test) in alternative {
                all.keep(&self.fitting(name, test)?);
            }
            any.add(&all);
        }
        Ok(any)
    }

    /// The games for which a test of a column holds.
    fn fitting(&self, name: &'static str, test: &Test) -> Result<BlockGames, ColumnError> {
        if let (WHITE_ID | BLACK_ID, Test::OneOf(ids)) = (name, test)
            && ids.len() <= FEW_PLAYERS
            && let Some(games) = self.with_players(name, ids)?
        {
            return Ok(games);
        }
        Ok(self.column(name)?.games(|value| test.fits(value)))
    }

    /// Finds the games in which `column`, the id of White's or Black's player, is one of `ids`. Uses an
    /// index. `None` if there are so many games that reading the column is faster.
    fn with_players(&self, column: &str, ids: &[i64]) -> rusqlite::Result<Option<BlockGames>> {
        /// The maximum number of games to look up in the index. A look-up takes less than a microsecond per
        /// game; reading the column of players takes several hundred microseconds.
        const MOST: usize = 1_000;
        let sql = format!("SELECT game_id FROM game WHERE game_id >> 16 = ?1 AND {column} = ?2");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let (mut games, mut read) = (BlockGames::default(), 0);
        for id in ids {
            GAME.walk(statement.query(params![self.block, id])?, &mut |cells| {
                games.insert(block_of(cells.get(0)?).1);
                read += 1;
                Ok(read <= MOST)
            })?;
        }
        Ok((read <= MOST).then_some(games))
    }

    /// The results, ratings and dates of the games of the block.
    pub(crate) fn outcomes(&self) -> Result<Outcomes, ColumnError> {
        let result = |value: Cell<'_>| GameResult::parse(value.as_text()?.as_bytes());
        let elo = |value: Cell<'_>| u16::try_from(value.as_integer()?).ok();
        let day = |value: Cell<'_>| value.as_text().map_or(0, day_number);
        Ok(Outcomes {
            results: Mapped::new(self.column(RESULT)?, result),
            white_elos: Mapped::new(self.column(WHITE_ELO)?, elo),
            black_elos: Mapped::new(self.column(BLACK_ELO)?, elo),
            days: Mapped::new(self.column(DATE)?, day),
        })
    }

    /// A column of the block.
    pub(crate) fn column(&self, name: &'static str) -> Result<Arc<StoredColumn>, ColumnError> {
        let mut read = self.read.borrow_mut();
        if let Some((block, column)) = read.get(name)
            && *block == self.block
        {
            return Ok(Arc::clone(column));
        }
        let earlier = read.remove(name).and_then(|(_, column)| Arc::into_inner(column));
        let column = Arc::new(self.read(name, earlier.unwrap_or_default())?.ok_or(ColumnError::Missing)?);
        read.insert(name, (self.block, Arc::clone(&column)));
        Ok(column)
    }
}

/// For more ids than this, the column is read instead of the index.
const FEW_PLAYERS: usize = 8;

/// A column with converted values.
#[derive(Debug)]
struct Mapped<T> {
    column: Arc<StoredColumn>,
    values: Vec<T>,
}

impl<T: Copy + Default> Mapped<T> {
    fn new(column: Arc<StoredColumn>, read: impl Fn(Cell<'_>) -> T) -> Self {
        let values = column.values().map(read).collect();
        Self { column, values }
    }

    #[inline]
    fn get(&self, number: u16) -> T {
        self.column.rank(number).map_or_else(T::default, |rank| self.values[usize::from(rank)])
    }
}

/// The results, ratings and dates of the games of a block.
#[derive(Debug)]
pub(crate) struct Outcomes {
    results: Mapped<Option<GameResult>>,
    white_elos: Mapped<Option<u16>>,
    black_elos: Mapped<Option<u16>>,
    days: Mapped<u32>,
}

impl Outcomes {
    /// A game's result; `None` if there is no game with this number, or its result is invalid.
    #[inline]
    pub(crate) fn result(&self, number: u16) -> Option<GameResult> {
        self.results.get(number)
    }

    /// White's and Black's rating.
    #[inline]
    pub(crate) fn elos(&self, number: u16) -> [Option<u16>; 2] {
        [self.white_elos.get(number), self.black_elos.get(number)]
    }

    /// The game's [`day_number`].
    #[inline]
    pub(crate) fn day(&self, number: u16) -> u32 {
        self.days.get(number)
    }
}
