//! Lists the games of a selection, regardless of positions.

use crate::store::cell::{Cells, GAME};
use crate::store::database::Database;
use crate::store::error::{Error, Result};
use crate::store::read::filter::bind;
use crate::store::read::occurrence::hit::{Hit, HitLocation, HitOrder, rank_sql};
use crate::store::read::occurrence::search::order_sql;
use crate::store::read::selection::Selection;
use crate::store::row::{GameId, Ply};

/// The part of the games of a selection to list.
#[derive(Clone, Copy, Debug)]
pub struct Listing<'a> {
    /// The games to list.
    pub selection: &'a Selection,
    /// Their order.
    pub order: HitOrder,
    /// The maximum number of games; `None`: all.
    pub limit: Option<u32>,
    /// How many games to skip first.
    pub offset: u32,
}

const HAS_POSITIONS: &str = "game.status <> 'skipped'";

impl Database {
    /// Visits the games of a selection, each with its first position, until `visit` returns `false`. Games
    /// with the status `skipped` have no positions and are left out.
    ///
    /// With [`HitOrder::Game`], games after the last listed one usually need not be read. With another order,
    /// the row of each game of the selection is read.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn list_games(&self, listing: &Listing<'_>, mut visit: impl FnMut(Hit) -> bool) -> Result<()> {
        self.list_games_dyn(listing, &mut visit)
    }

    fn list_games_dyn(&self, listing: &Listing<'_>, visit: &mut dyn FnMut(Hit) -> bool) -> Result<()> {
        let Listing { selection, order, limit, offset } = *listing;
        let sql = games_sql(HAS_POSITIONS, selection, order);
        let sql = format!("{sql} LIMIT :limit OFFSET :offset");
        let mut walk = || {
            let mut statement = self.connection().prepare_cached(&sql)?;
            selection.bind(&mut statement)?;
            bind(&mut statement, ":limit", limit.map_or(-1, i64::from))?;
            bind(&mut statement, ":offset", offset)?;
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next()? {
                let game = GameId(Cells::new(row, GAME).get(0)?);
                let first = HitLocation::played(game, Ply(0));
                if self.hit(first, None)?.is_some_and(|hit| !visit(hit)) {
                    break;
                }
            }
            Ok(())
        };
        walk().map_err(|source| Error::sqlite(self.path(), "list games", source))
    }

    /// Visits the numbers of the games of a selection in an order, until `visit` returns `false`. Includes
    /// games with the status `skipped`.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn visit_games(
        &self,
        selection: &Selection,
        order: HitOrder,
        mut visit: impl FnMut(GameId) -> bool,
    ) -> Result<()> {
        self.visit_games_dyn(selection, order, &mut visit)
    }

    fn visit_games_dyn(
        &self,
        selection: &Selection,
        order: HitOrder,
        visit: &mut dyn FnMut(GameId) -> bool,
    ) -> Result<()> {
        let sql = games_sql("true", selection, order);
        let mut walk = || {
            let mut statement = self.connection().prepare_cached(&sql)?;
            selection.bind(&mut statement)?;
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next()? {
                if !visit(GameId(Cells::new(row, GAME).get(0)?)) {
                    break;
                }
            }
            Ok(())
        };
        walk().map_err(|source| Error::sqlite(self.path(), "look up the games of a filter", source))
    }

    /// The number of games of a selection, without games with the status `skipped`.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn count_games_of(&self, selection: &Selection) -> Result<u64> {
        let count = || {
            let sql = format!("SELECT count(*) FROM game WHERE {HAS_POSITIONS}{}", selection.sql());
            let mut statement = self.connection().prepare_cached(&sql)?;
            selection.bind(&mut statement)?;
            let mut rows = statement.raw_query();
            rows.next()?.map_or(Ok(0), |row| row.get::<_, i64>(0)).map(i64::cast_unsigned)
        };
        count().map_err(|source| Error::sqlite(self.path(), "count games", source))
    }
}

/// SQL for the numbers of the games of a selection for which a condition holds, in an order.
fn games_sql(condition: &str, selection: &Selection, order: HitOrder) -> String {
    let rank = match order {
        HitOrder::Game => String::new(),
        order => format!(", game.result = '*' AS is_unfinished, {} AS place", rank_sql(order)),
    };
    format!(
        "SELECT game.game_id AS game_id{rank} FROM game WHERE {condition}{} ORDER BY {}1",
        selection.sql(),
        order_sql(order)
    )
}
