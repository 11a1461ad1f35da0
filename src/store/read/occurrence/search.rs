//! Finds the games that reached a position, and lists the games of a selection regardless of positions.

use rusqlite::{ToSql, named_params};
use serde::Serialize;

use crate::board::PositionKey;
use crate::store::cell::{Cells, GAME, POSITION_GAME, VARIATION_MOVE};
use crate::store::read::occurrence::hit::{HitLocation, OCCURRENCES, join, join_variations, rank_sql};
use crate::store::read::occurrence::reached::ExploreTarget;
use crate::store::read::occurrence::tally::Tally;
use crate::store::row::{GameId, Ply};
use crate::store::{Database, Hit, HitOrder, Lines, ListLengths, Result, Selection};

/// A search for a position, and the part of its hits to return.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    /// Key of the position.
    pub key: PositionKey,
    /// The canonical FEN of the position.
    pub fen: &'a str,
    /// The lines to search.
    pub lines: Lines,
    /// The games to search.
    pub selection: &'a Selection,
    /// The order of the hits.
    pub order: HitOrder,
    /// The maximum number of hits; `None`: all.
    pub limit: Option<u32>,
    /// How many hits to skip first.
    pub offset: u32,
}

/// How often a position occurred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OccurrenceCount {
    /// Occurrences counted.
    pub occurrences: u64,
    /// Games counted.
    pub games: u64,
    /// Whether counting stopped at the maximum, so that there can be more.
    pub capped: bool,
}

impl OccurrenceCount {
    /// Reads three columns: the number of occurrences, the number of games, and the number of rows that were
    /// read (at most `cap`).
    pub(super) fn read(cells: Cells<'_>, cap: u32) -> rusqlite::Result<Self> {
        let capped = cells.get::<u32>(2)? == cap;
        Ok(Self { occurrences: cells.get(0)?, games: cells.get(1)?, capped })
    }
}

/// The number of hits of a search, as far as it can be found in a few milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HitCount {
    /// The exact numbers of hits and games.
    Exact {
        /// Number of hits.
        occurrences: u64,
        /// Number of games with a hit.
        games: u64,
    },
    /// The number of games with a hit. How often each game reached the position is not known.
    Games(u64),
    /// A lower bound of the number of games with a hit; 0 if nothing is known.
    AtLeast(u64),
}

impl HitCount {
    /// Adds the occurrences in variations, and the games in which only variations reach the position.
    fn with(self, in_variations: OccurrenceCount) -> Self {
        let OccurrenceCount { occurrences: more, games: others, capped } = in_variations;
        match self {
            Self::Exact { occurrences, games } if !capped => {
                Self::Exact { occurrences: occurrences + more, games: games + others }
            }
            Self::Games(games) if !capped => Self::Games(games + others),
            Self::Exact { games, .. } | Self::Games(games) | Self::AtLeast(games) => {
                Self::AtLeast(games + others)
            }
        }
    }
}

/// Occurrences or games are counted one by one only up to this number.
const COUNTED: u32 = 1000;

/// Where a search starts.
#[derive(Debug)]
enum Plan {
    /// From the occurrences of the position.
    Position,
    /// From the games of the selection, which are few compared with the occurrences of the position.
    Games,
    /// From these games, which are known to come first in the order of the hits.
    Listed(Vec<GameId>),
}

impl Database {
    /// Passes the hits of a search to `visit`, one for each occurrence of the position, until `visit` returns
    /// `false`.
    ///
    /// With [`HitOrder::Game`], the search usually stops after the last returned hit. With another order, all
    /// hits are sorted first. There is one exception: a search in the main lines of all games, if the lists
    /// of the position in `level_position` have enough games.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn visit_hits(&self, search: &Search<'_>, visit: &mut dyn FnMut(Hit) -> bool) -> Result<()> {
        let (mut skip, mut left) = (search.offset, search.limit);
        if left == Some(0) {
            return Ok(());
        }
        let mut found = |place| {
            if skip > 0 {
                skip -= u32::from(self.is_at(place, search.fen)?);
                return Ok(true);
            }
            let Some(hit) = self.hit(place, Some(search.fen))? else { return Ok(true) };
            left = left.map(|left| left - 1);
            Ok(visit(hit) && left != Some(0))
        };
        let mut walk = || match self.plan(search)? {
            Plan::Listed(games) => self.walk_listed(search.key, &games, &mut found),
            plan => self.walk(&occurrences_sql(search, &plan), search, &mut found),
        };
        walk().map_err(self.failed("look up a position"))
    }

    /// The number of hits of a search, ignoring its limit and offset.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn count_hits(&self, search: &Search<'_>) -> Result<HitCount> {
        let failed = self.failed("count the games that reached a position");
        if search.selection.is_all() {
            let played = self.count_played(search)?;
            if search.lines == Lines::Main {
                return Ok(played);
            }
            let in_variations = self.count_in_variations(search.key, search.fen, COUNTED);
            return Ok(played.with(in_variations.map_err(failed)?));
        }
        let count = || {
            let few = self.count_position_rows(search.key, search.lines, COUNTED)? < COUNTED
                || self.count_games(search.selection, COUNTED)?.is_some_and(|count| count < COUNTED);
            if !few {
                return Ok(HitCount::AtLeast(0));
            }
            let (mut occurrences, mut games, mut last) = (0, 0, None);
            let search = Search { order: HitOrder::Game, ..*search };
            let sql = occurrences_sql(&search, &self.plan(&search)?);
            self.walk(&sql, &search, &mut |place| {
                if self.is_at(place, search.fen)? {
                    occurrences += 1;
                    games += u64::from(last.replace(place.game) != Some(place.game));
                }
                Ok(true)
            })?;
            Ok(HitCount::Exact { occurrences, games })
        };
        count().map_err(failed)
    }

    /// The number of hits in the main lines of all games, ignoring the selection.
    fn count_played(&self, search: &Search<'_>) -> Result<HitCount> {
        let failed = self.failed("count the games that reached a position");
        // Often no game reached the position: after the opening, most positions of a game occur in no other
        // game.
        let rows = self.count_position_rows(search.key, Lines::Main, 1);
        if rows.map_err(failed)? == 0 {
            return Ok(HitCount::Exact { occurrences: 0, games: 0 });
        }
        if let Some(visited) = self.visited(search, ListLengths::NONE).map_err(failed)? {
            return Ok(HitCount::Games(visited.games_of_all()));
        }
        let count = self.count_position(search.key, search.fen, COUNTED)?;
        Ok(match count.capped {
            true => HitCount::AtLeast(count.games),
            false => HitCount::Exact { occurrences: count.occurrences, games: count.games },
        })
    }

    /// Counts the occurrences of a position in main lines. Reads at most `cap` occurrences of its key, in
    /// half a microsecond to a few microseconds each.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn count_position(&self, key: PositionKey, fen: &str, cap: u32) -> Result<OccurrenceCount> {
        // With the cap as a parameter, SQLite would prepare the statement again each time.
        let sql = format!(
            "SELECT count(*) FILTER (WHERE p.fen = :fen), count(DISTINCT o.game_id) FILTER (WHERE p.fen = :fen), count(*)
             FROM (SELECT game_id, ply FROM {OCCURRENCES}
                   WHERE key = :key AND game_id NOT IN (SELECT game_id FROM deleted_game)
                   ORDER BY l.level, game_id, ply LIMIT {cap}) AS o
             CROSS JOIN game_position AS p ON p.game_id = o.game_id AND p.ply = o.ply"
        );
        let params = named_params! { ":key": key.as_i64(), ":fen": fen };
        let read = |cells: Cells<'_>| OccurrenceCount::read(cells, cap);
        let counts = POSITION_GAME.first(self.connection(), &sql, params, read);
        Ok(counts.map_err(self.failed("count the occurrences of a position"))?.unwrap_or_default())
    }

    fn plan(&self, search: &Search<'_>) -> rusqlite::Result<Plan> {
        /// The games of the selection are counted up to this number if the hits are in the order of games.
        /// The number is low: in this order, a search that starts from the occurrences can end early, so
        /// starting from the games gains little.
        const EARLY_END: u32 = 5_000;
        /// Like `EARLY_END`, but for the other orders, in which all hits must be sorted first.
        const NO_END: u32 = 50_000;
        if search.selection.is_all() {
            let wanted = search.limit.and_then(|limit| limit.checked_add(search.offset));
            // The lists of `level_position` do not cover variations.
            let (Some(wanted), Lines::Main) = (wanted, search.lines) else { return Ok(Plan::Position) };
            let lists = match search.order {
                HitOrder::Game => return Ok(Plan::Position),
                HitOrder::Rating => ListLengths { recent: 0, ..ListLengths::MAX },
                HitOrder::Date => ListLengths { top: 0, ..ListLengths::MAX },
            };
            let Some(visited) = self.visited(search, lists)? else { return Ok(Plan::Position) };
            let listed = [visited.lists.top.ids(), visited.lists.recent.ids()].concat();
            let is_enough = wanted as usize <= listed.len() || visited.games_of_all() == listed.len() as u64;
            return Ok(if is_enough { Plan::Listed(listed) } else { Plan::Position });
        }
        let cap = if search.order == HitOrder::Game { EARLY_END } else { NO_END };
        let rare = self.has_fewer_games(search.selection, search.key, search.lines, cap)?;
        Ok(if rare { Plan::Games } else { Plan::Position })
    }

    /// Whether searching the games of the selection for the position is faster than reading all occurrences of
    /// the position: the selection has conditions that use an index, and they match few games. Always `false`
    /// if they match `cap` games or more.
    pub(crate) fn has_fewer_games(
        &self,
        selection: &Selection,
        key: PositionKey,
        lines: Lines,
        cap: u32,
    ) -> rusqlite::Result<bool> {
        let Some(games) = self.count_games(selection, cap)? else { return Ok(false) };
        // Reading a game costs about twice as much as reading an occurrence: the game is looked up, and then
        // the position in the game.
        Ok(games < cap && self.count_position_rows(key, lines, games * 2 + 1)? > games * 2)
    }

    /// The number of occurrences of a key in these lines, at most `cap`.
    pub(super) fn count_position_rows(
        &self,
        key: PositionKey,
        lines: Lines,
        cap: u32,
    ) -> rusqlite::Result<u32> {
        let sql = match lines {
            Lines::Main => "SELECT count(*) FROM (SELECT 1 FROM position_game WHERE key = ?1 LIMIT ?2)",
            Lines::All => {
                "SELECT count(*) FROM (SELECT 1 FROM position_game WHERE key = ?1
                     UNION ALL SELECT 1 FROM variation_move WHERE key = ?1 LIMIT ?2)"
            }
        };
        self.connection().prepare_cached(sql)?.query_row((key.as_i64(), cap), |row| row.get(0))
    }

    /// The number of games, at most `cap`, that match those conditions of a selection that use an index;
    /// `None` if no condition uses an index.
    fn count_games(&self, selection: &Selection, cap: u32) -> rusqlite::Result<Option<u32>> {
        let Some(conditions) = selection.indexed_sql() else { return Ok(None) };
        let sql = format!("SELECT count(*) FROM (SELECT 1 FROM game WHERE true{conditions} LIMIT :cap)");
        let mut statement = selection.prepare(self.connection(), &sql, named_params! { ":cap": cap })?;
        let mut rows = statement.raw_query();
        rows.next()?.map(|row| row.get(0)).transpose()
    }

    /// The results of all games that reached the position, and the lists of games, but no moves. `None` in the
    /// same cases as for `tally_rows`: for example, if no level has a row for the position in `level_position`.
    fn visited(&self, search: &Search<'_>, lists: ListLengths) -> rusqlite::Result<Option<Tally>> {
        let target = ExploreTarget { database: self, key: search.key, fen: search.fen };
        let tally = target.tally_rows(Tally::new(lists, None, false), false)?;
        Ok(tally.map(|(tally, _)| tally))
    }

    /// Passes the occurrences of a key in these games to `found`, in the order of `games`, until `found`
    /// returns `false`.
    fn walk_listed(
        &self,
        key: PositionKey,
        games: &[GameId],
        found: &mut dyn FnMut(HitLocation) -> rusqlite::Result<bool>,
    ) -> rusqlite::Result<()> {
        let sql = "SELECT key, game_id, ply FROM position_game WHERE key = ?1 AND game_id = ?2 ORDER BY ply";
        for &game in games {
            let plies = POSITION_GAME
                .all(self.connection(), sql, (key.as_i64(), game.0), |cells| cells.get("ply"))?;
            for ply in plies {
                if !found(HitLocation::played(game, ply))? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Passes the occurrences that a query returns to `found` until `found` returns `false`.
    fn walk(
        &self,
        sql: &str,
        search: &Search<'_>,
        found: &mut dyn FnMut(HitLocation) -> rusqlite::Result<bool>,
    ) -> rusqlite::Result<()> {
        let params = named_params! { ":key": search.key.as_i64() };
        let mut statement = search.selection.prepare(self.connection(), sql, params)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            let line = Cells::new(row, VARIATION_MOVE).get(1)?;
            let cells = Cells::new(row, if line == 0 { POSITION_GAME } else { VARIATION_MOVE });
            if !found(HitLocation { game: cells.get(0)?, line, ply: cells.get(2)? })? {
                break;
            }
        }
        Ok(())
    }
}

/// SQL for all occurrences of a key in the games of a selection, in the order of the hits. FENs are compared
/// later: comparing them here would read a page of every game before sorting.
fn occurrences_sql(search: &Search<'_>, plan: &Plan) -> String {
    let is_plain = search.selection.is_all() && search.order == HitOrder::Game;
    let games_first = matches!(plan, Plan::Games);
    let rank = rank_columns(search.order);
    let rows = |line, plain: &str, joined: &str| {
        let tables = if is_plain { plain } else { joined };
        let mut conditions = search.selection.sql();
        if search.order == HitOrder::Game && search.selection.is_rest() {
            // The selection is the rest of a list, and `:from_game` is the first game of the rest. This
            // condition lets SQLite skip occurrences in earlier games.
            conditions += " AND o.game_id >= :from_game";
        }
        format!(
            "SELECT o.game_id AS game_id, {line} AS line, o.ply AS ply, o.key AS key{rank} FROM {tables} WHERE o.key = :key{conditions}"
        )
    };
    let played = rows("0", OCCURRENCES, join(games_first));
    match search.lines {
        Lines::Main if !games_first && search.order == HitOrder::Game => {
            format!("{played} ORDER BY l.level, o.game_id, o.ply")
        }
        Lines::Main => format!("{played} ORDER BY {}ply", order_sql(search.order)),
        Lines::All => {
            let in_variations = rows("o.line", "variation_move AS o", join_variations(games_first));
            format!("{played} UNION ALL {in_variations} ORDER BY {}line, ply", order_sql(search.order))
        }
    }
}

/// The columns that [`order_sql`] needs.
fn rank_columns(order: HitOrder) -> String {
    match order {
        HitOrder::Game => String::new(),
        order => format!(", game.result = '*' AS is_unfinished, {} AS place", rank_sql(order)),
    }
}

/// The first terms of `ORDER BY` for rows of games. By rating and by date, games have the same order as in
/// the lists of `visited_position`.
const fn order_sql(order: HitOrder) -> &'static str {
    match order {
        HitOrder::Game => "game_id, ",
        HitOrder::Rating => "is_unfinished, place, game_id, ",
        HitOrder::Date => "is_unfinished, place, game_id DESC, ",
    }
}

/// Which games of a selection to list, and in which order.
#[derive(Clone, Copy, Debug)]
pub struct Listing<'a> {
    /// The games to list.
    pub selection: &'a Selection,
    /// The order of the games.
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
    pub fn list_games(&self, listing: &Listing<'_>, visit: &mut dyn FnMut(Hit) -> bool) -> Result<()> {
        let Listing { selection, order, limit, offset } = *listing;
        let sql = games_sql(HAS_POSITIONS, selection, order) + " LIMIT :limit OFFSET :offset";
        let params = named_params! { ":limit": limit.map_or(-1, i64::from), ":offset": offset };
        let walked = self.walk_games(selection, &sql, params, &mut |game| {
            Ok(self.hit(HitLocation::played(game, Ply(0)), None)?.is_none_or(&mut *visit))
        });
        walked.map_err(self.failed("list games"))
    }

    /// Visits the ids of a selection's games in the order `order`, until `visit` returns `false`. Includes
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
        let sql = games_sql("true", selection, order);
        let walked = self.walk_games(selection, &sql, &[], &mut |game| Ok(visit(game)));
        walked.map_err(self.failed("look up the games that match a filter"))
    }

    /// Passes the games that a query returns to `found` until `found` returns `false`.
    fn walk_games(
        &self,
        selection: &Selection,
        sql: &str,
        params: &[(&str, &dyn ToSql)],
        found: &mut dyn FnMut(GameId) -> rusqlite::Result<bool>,
    ) -> rusqlite::Result<()> {
        let mut statement = selection.prepare(self.connection(), sql, params)?;
        GAME.walk(statement.raw_query(), &mut |cells| found(cells.get(0)?))
    }

    /// The number of games of a selection, without games with the status `skipped`.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn count_games_of(&self, selection: &Selection) -> Result<u64> {
        self.count_games_where(HAS_POSITIONS, selection)
    }

    /// The number of games of a selection with the status `skipped`.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn count_skipped_games_of(&self, selection: &Selection) -> Result<u64> {
        self.count_games_where("game.status = 'skipped'", selection)
    }

    fn count_games_where(&self, condition: &str, selection: &Selection) -> Result<u64> {
        let sql = format!("SELECT count(*) FROM game WHERE {condition}{}", selection.sql());
        let mut count = 0;
        let counted = selection.each(self.connection(), GAME, &sql, &[], |cells| {
            count = cells.get(0)?;
            Ok(())
        });
        counted.map_err(self.failed("count games"))?;
        Ok(count)
    }
}

/// SQL that returns the ids of a selection's games in the order `order`. Only games for which `condition` holds
/// are included. Each row also has the columns that [`order_sql`] needs.
fn games_sql(condition: &str, selection: &Selection, order: HitOrder) -> String {
    format!(
        "SELECT game.game_id AS game_id{} FROM game WHERE {condition}{} ORDER BY {}1",
        rank_columns(order),
        selection.sql(),
        order_sql(order)
    )
}
