//! The games in which some position fits a description, found by looking at every position.

use std::sync::Mutex;

use rayon::prelude::*;

use crate::store::cell::{Cells, GAME_POSITION};
use crate::store::database::{Database, SetUp};
use crate::store::error::{Error, Result};
use crate::store::read::filter::bind;
use crate::store::read::hit::{Hit, HitOrder, Part, Taken, rank_sql};
use crate::store::read::selection::Selection;
use crate::store::row::{GameId, Ply};

/// Games looked at in one go: some 20,000 positions, a few milliseconds.
const GAMES: u32 = 250;
/// Such pieces for each thread before their hits are passed on, at most.
const PIECES: usize = 16;

/// Which part of the hits of a scan is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Scan<'a> {
    /// The games that count.
    pub selection: &'a Selection,
    /// The order of the hits.
    pub order: HitOrder,
    /// How many hits at most; `None` for all.
    pub limit: Option<u32>,
    /// How many hits to skip first.
    pub offset: u32,
}

/// Connections for the threads of the pool, each opened by the thread that needs it first.
struct Readers<'a> {
    database: &'a std::path::Path,
    set_up: SetUp,
    open: Vec<Mutex<Option<Database>>>,
}

impl<'a> Readers<'a> {
    fn new(database: &'a std::path::Path, set_up: SetUp) -> Self {
        Self { database, set_up, open: (0..rayon::current_num_threads()).map(|_| Mutex::new(None)).collect() }
    }

    fn with<T>(&self, work: impl FnOnce(&Database) -> Result<T>) -> Result<T> {
        let index = rayon::current_thread_index().unwrap_or(0);
        // A thread has its own; nobody else can have panicked with it.
        let mut reader = match self.open[index].lock() {
            Ok(reader) => reader,
            Err(poisoned) => poisoned.into_inner(),
        };
        if reader.is_none() {
            *reader = Some(Database::open_read_only_with(self.database, self.set_up)?);
        }
        match &*reader {
            Some(database) => work(database),
            None => work(&Database::open_read_only_with(self.database, self.set_up)?),
        }
    }
}

impl Database {
    /// Looks at the positions of all games of a selection with all threads, and passes the first position of each game that
    /// `fits` on until `visit` gives `false`. `fits` sees canonical FENs.
    ///
    /// In the order of games, ends as soon as enough is found. In another order, all games are looked at.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn scan(
        &self,
        scan: &Scan<'_>,
        fits: impl Fn(&[u8]) -> bool + Sync,
        mut visit: impl FnMut(Hit) -> bool,
    ) -> Result<()> {
        let failed = |source| Error::sqlite(self.path(), "look at all positions", source);
        let mut rest = Part { skip: scan.offset, left: scan.limit };
        let mut pass = |game, ply| match rest.take() {
            Taken::Skip => Ok(true),
            Taken::End => Ok(false),
            Taken::Hit { is_last } => {
                let hit = self.hit(game, ply, None).map_err(failed)?;
                Ok(hit.is_none_or(&mut visit) && !is_last)
            }
        };
        if scan.order == HitOrder::Game {
            return self.scan_in_order(scan.selection, &fits, pass);
        }
        let mut found = Vec::new();
        self.scan_in_order(scan.selection, &fits, |game, ply| {
            found.push((self.rank(game, scan.order).map_err(failed)?, game, ply));
            Ok(true)
        })?;
        found.sort_unstable_by_key(|&(rank, game, ply)| {
            let latest_first = if scan.order == HitOrder::Date { !game.0 } else { game.0 };
            (rank, latest_first, ply)
        });
        for (_, game, ply) in found {
            if !pass(game, ply)? {
                break;
            }
        }
        Ok(())
    }

    /// Passes on what fits, in the order of games, until `pass` gives `false`.
    fn scan_in_order(
        &self,
        selection: &Selection,
        fits: &(impl Fn(&[u8]) -> bool + Sync),
        mut pass: impl FnMut(GameId, Ply) -> Result<bool>,
    ) -> Result<()> {
        let path = self.path();
        let failed = |source| Error::sqlite(path, "look at all positions", source);
        let sql = scan_sql(selection);
        let readers = Readers::new(path, self.set_up());
        // What is found early can be enough: the first pieces are few.
        let threads = rayon::current_num_threads();
        let mut width = threads;
        let mut next = Some(GameId(1));
        loop {
            let mut pieces = Vec::with_capacity(width);
            while pieces.len() < width
                && let Some(first) = next.take()
                && let Some(first) = self.game_from(first)?
            {
                let last = GameId(first.0.saturating_add(GAMES - 1));
                pieces.push((first, last));
                next = last.0.checked_add(1).map(GameId);
            }
            if pieces.is_empty() {
                break;
            }
            let found: Vec<_> = pieces
                .par_iter()
                .with_max_len(1)
                .map(|&range| {
                    readers.with(|database| database.scan_games(&sql, selection, range, fits).map_err(failed))
                })
                .collect();
            for piece in found {
                for (game, ply) in piece? {
                    if !pass(game, ply)? {
                        return Ok(());
                    }
                }
            }
            width = (width * 2).min(threads * PIECES);
        }
        Ok(())
    }

    /// The first position that fits of each game of a range.
    fn scan_games(
        &self,
        sql: &str,
        selection: &Selection,
        (first, last): (GameId, GameId),
        fits: impl Fn(&[u8]) -> bool,
    ) -> rusqlite::Result<Vec<(GameId, Ply)>> {
        let mut statement = self.connection().prepare_cached(sql)?;
        selection.bind(&mut statement)?;
        bind(&mut statement, ":first", first.0)?;
        bind(&mut statement, ":last", last.0)?;
        let mut rows = statement.raw_query();
        let mut found: Vec<(GameId, Ply)> = Vec::new();
        while let Some(row) = rows.next()? {
            let cells = Cells::new(row, GAME_POSITION);
            if fits(cells.get::<&str>(2)?.as_bytes()) {
                let game = GameId(cells.get(0)?);
                if found.last().is_none_or(|&(last, _)| last != game) {
                    found.push((game, Ply(cells.get(1)?)));
                }
            }
        }
        Ok(found)
    }

    /// The numbers that tell where a game stands in an order, the game's own aside.
    fn rank(&self, game: GameId, order: HitOrder) -> rusqlite::Result<(bool, i64)> {
        let sql = format!("SELECT game.result = '*', {} FROM game WHERE game_id = ?1", rank_sql(order));
        self.connection().prepare_cached(&sql)?.query_row([game.0], |row| Ok((row.get(0)?, row.get(1)?)))
    }
}

/// The positions of the games of a selection in a range.
fn scan_sql(selection: &Selection) -> String {
    if selection.is_all() {
        return "SELECT game_id, ply, fen FROM game_position WHERE game_id BETWEEN :first AND :last ORDER BY game_id, ply"
            .to_owned();
    }
    format!(
        "SELECT p.game_id, p.ply, p.fen FROM game CROSS JOIN game_position AS p ON p.game_id = game.game_id
         WHERE game.game_id BETWEEN :first AND :last{} ORDER BY game.game_id, p.ply",
        selection.sql()
    )
}
