//! Filters on games: by names, ratings, date, result, opening, time control, termination, length,
//! evaluations, source and variant.

use std::borrow::Cow;
#[cfg(feature = "parquet")]
use std::collections::HashSet;
use std::path::PathBuf;

use rusqlite::types::Value;
use rusqlite::{CachedStatement, Connection, ToSql, named_params};

use crate::board::{Color, GameResult};
use crate::id::NameId;
use crate::pgn::{Speed, TimeControl};
use crate::store::cell::{Cells, OPENING, Table};
use crate::store::game_column::{
    Alternative, BLACK_ELO, BLACK_ID, Condition as ColumnCondition, DATE, RESULT, Test, WHITE_ELO, WHITE_ID,
};
#[cfg(feature = "parquet")]
use crate::store::read::opening::matching_openings;
use crate::store::read::rows::prepare;
#[cfg(feature = "parquet")]
use crate::store::row::virtual_table::Cell;
use crate::store::{Database, DatePrefix, EcoRange, FilterError, NameFilter, Named, Result};

/// A filter on games: all given conditions must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameFilter {
    /// White's player.
    pub white: Option<NameFilter>,
    /// Black's player.
    pub black: Option<NameFilter>,
    /// A player, on either side.
    pub player: Option<NameFilter>,
    /// The opponent of `player`, on either side. If both are given, `player` must match the name of one side,
    /// and `opponent` the name of the other side. Without `player`, `opponent` has the effect of `player`.
    pub opponent: Option<NameFilter>,
    /// Both ratings are known and at least this.
    pub elo_min: Option<u16>,
    /// Both ratings are known and at most this.
    pub elo_max: Option<u16>,
    /// Played on this date or later. A game whose month or day is unknown matches if some possible date
    /// matches. If the month is unknown, the day is ignored. A game whose year is unknown does not match.
    pub since: Option<DatePrefix>,
    /// Played on this date or earlier. Unknown parts of a date are treated as in `since`.
    pub until: Option<DatePrefix>,
    /// This result.
    pub result: Option<GameResult>,
    /// The code in the PGN's tag `ECO` is in this range.
    pub eco: Option<EcoRange>,
    /// The code of the opening, determined by the positions of the game, is in this range.
    pub opening_eco: Option<EcoRange>,
    /// The event.
    pub event: Option<NameFilter>,
    /// The site.
    pub site: Option<NameFilter>,
    /// The name of the opening, determined by the positions of the game.
    pub opening: Option<NameFilter>,
    /// One of these speeds, computed from the time control. Empty: all games, including games with an unknown
    /// speed.
    pub speeds: Vec<Speed>,
    /// The PGN's tag `TimeControl`, such as `180+2`, in any of its [spellings](TimeControl::spellings),
    /// ignoring the case of the letters A to Z.
    pub time_control: Option<String>,
    /// The PGN's tag `Termination`, such as `Time forfeit`, ignoring the case of the letters A to Z.
    pub termination: Option<String>,
    /// At least this many half-moves.
    pub plies_min: Option<u32>,
    /// At most this many half-moves.
    pub plies_max: Option<u32>,
    /// The PGN has an engine evaluation of at least one position.
    pub with_evals: bool,
    /// Read from one of these files, given by their paths or by ids of readings, as for
    /// [`Database::readings_of`]. Empty: all games.
    pub sources: Vec<PathBuf>,
    /// The PGN's tag `Variant`, such as `Chess960`, ignoring the case of the letters A to Z. `standard` also
    /// matches games without a variant.
    pub variant: Option<String>,
}

impl GameFilter {
    /// Whether the filter has no conditions, so that every game matches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Restricts the filter to games in which `player` had this side, and `opponent` the other side.
    ///
    /// # Errors
    /// [`FilterError::SideTold`] if `player` or `opponent` would become `white` or `black`, but that field is
    /// already set.
    pub fn with_side(mut self, side: Color) -> Result<Self, FilterError> {
        let (player, opponent) = (self.player.take(), self.opponent.take());
        let (white, black) = if side == Color::White { (player, opponent) } else { (opponent, player) };
        for (place, name, field) in [(&mut self.white, white, "white"), (&mut self.black, black, "black")] {
            match (&place, name) {
                (_, None) => {}
                (Some(_), Some(_)) => return Err(FilterError::SideTold { field }),
                (None, name) => *place = name,
            }
        }
        Ok(self)
    }

    /// Fails if a lower bound is greater than its upper bound, so that no game of any database can match.
    ///
    /// # Errors
    /// [`FilterError::NoRating`], [`FilterError::NoLength`], [`FilterError::NoDate`].
    pub fn check(&self) -> Result<(), FilterError> {
        if let Some((least, most)) = self.elo_min.zip(self.elo_max).filter(|(least, most)| least > most) {
            return Err(FilterError::NoRating { least, most });
        }
        if let Some((least, most)) = self.plies_min.zip(self.plies_max).filter(|(least, most)| least > most) {
            return Err(FilterError::NoLength { least, most });
        }
        match (&self.since, &self.until) {
            // `since` can be more precise than `until`: `1992.05` to `1992` is a valid range.
            (Some(since), Some(until)) if since > until && !since.0.starts_with(&until.0) => {
                Err(FilterError::NoDate { since: since.clone(), until: until.clone() })
            }
            _ => Ok(()),
        }
    }
}

/// A [`GameFilter`] prepared for a database: its names have been looked up.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    conditions: Vec<Condition>,
    params: Vec<(&'static str, Value)>,
    unknown: Vec<UnknownName>,
    players: Vec<KnownPlayers>,
}

/// A name in a filter that matches no name in the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// The filter's field: `white`, `black`, `player`, `opponent`, `event`, `site`, `opening`.
    pub field: &'static str,
    /// The kind of name.
    pub named: Named,
    /// The name searched for.
    pub filter: NameFilter,
}

/// The players that a name in a filter matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownPlayers {
    /// The filter's field: `white`, `black`, `player`, `opponent`.
    pub field: &'static str,
    /// Whether the filter contains the exact name ([`NameFilter::Exactly`]), so that no other player can be
    /// meant.
    pub is_exact: bool,
    /// The ids of all spellings of these players in the table `player`, in ascending order.
    pub ids: Vec<NameId>,
}

/// A condition on a row of `game`.
#[derive(Clone, Debug)]
struct Condition {
    /// The condition as SQL. Values of the filter are parameters, except for the bounds of mean ratings.
    sql: Cow<'static, str>,
    /// Whether an index finds the rows that match.
    indexed: bool,
    /// The same condition for the stored columns of `game`.
    on_columns: ColumnCondition,
}

impl Selection {
    /// Whether the selection has no conditions, and so includes all games.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.conditions.is_empty()
    }

    /// The names in the filter that match no name in the database.
    #[must_use]
    pub fn unknown_names(&self) -> &[UnknownName] {
        &self.unknown
    }

    /// The players that the names in the filter match.
    #[must_use]
    pub fn players(&self) -> &[KnownPlayers] {
        &self.players
    }

    /// SQL for all conditions: each begins with ` AND `.
    pub(crate) fn sql(&self) -> String {
        self.conditions.iter().map(|condition| format!(" AND {}", condition.sql)).collect()
    }

    /// Like [`sql`](Self::sql), but only for conditions that use an index; `None` if no condition uses an
    /// index.
    pub(crate) fn indexed_sql(&self) -> Option<String> {
        let indexed = self.conditions.iter().filter(|condition| condition.indexed);
        let indexed: String = indexed.map(|condition| format!(" AND {}", condition.sql)).collect();
        (!indexed.is_empty()).then_some(indexed)
    }

    /// Prepares a query on games of the selection. Binds each value of the selection, and of `params`, for
    /// which the query has a parameter.
    pub(crate) fn prepare<'c>(
        &self,
        connection: &'c Connection,
        sql: &str,
        params: &[(&str, &dyn ToSql)],
    ) -> rusqlite::Result<CachedStatement<'c>> {
        let own = self.params.iter().map(|(name, value)| (*name, value as &dyn ToSql));
        prepare(connection, sql, own.chain(params.iter().copied()))
    }

    /// Passes all rows of a query on games of the selection to `see`.
    pub(crate) fn each(
        &self,
        connection: &Connection,
        table: Table,
        sql: &str,
        params: &[(&str, &dyn ToSql)],
        mut see: impl FnMut(Cells<'_>) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        let mut statement = self.prepare(connection, sql, params)?;
        table.walk(statement.raw_query(), &mut |cells| see(cells).map(|()| true))
    }

    /// The conditions, for the stored columns of `game`.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = &ColumnCondition> {
        self.conditions.iter().map(|condition| &condition.on_columns)
    }

    /// Adds a condition, with the values of its parameters.
    pub(super) fn add<const N: usize>(
        &mut self,
        indexed: bool,
        sql: impl Into<Cow<'static, str>>,
        alternatives: Vec<Alternative>,
        params: [(&'static str, Value); N],
    ) {
        self.add_condition(indexed, sql.into(), ColumnCondition::Tests(alternatives));
        self.params.extend(params);
    }

    pub(super) fn add_condition(
        &mut self,
        indexed: bool,
        sql: Cow<'static, str>,
        on_columns: ColumnCondition,
    ) {
        self.conditions.push(Condition { sql, indexed, on_columns });
    }

    /// Whether [`begin_at`](Self::begin_at) reduced the selection to the rest of a list. If so, the parameter
    /// `:from_game` is the first game of the rest.
    pub(super) fn is_rest(&self) -> bool {
        self.params.iter().any(|(name, _)| *name == ":from_game")
    }
}

/// SQL for the condition that a column has one of the values in the JSON array `parameter`.
pub(super) fn is_in(column: &str, parameter: &str) -> String {
    format!("game.{column} IN (SELECT value FROM json_each({parameter}))")
}

/// Ids as a JSON array.
pub(super) fn json(ids: &[u32]) -> Value {
    serde_json::json!(ids).to_string().into()
}

impl Database {
    /// Prepares a filter by looking up its names.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownSource`](crate::store::ErrorKind::UnknownSource); errors of SQLite.
    pub fn select(&self, filter: &GameFilter) -> Result<Selection> {
        let mut selection = Selection::default();
        self.add_players(&mut selection, filter)?;
        for (named, parameter, column, name, indexed) in [
            (Named::Event, ":event", "event_id", &filter.event, true),
            (Named::Site, ":site", "site_id", &filter.site, false),
            (Named::Opening, ":opening", "opening_id", &filter.opening, true),
        ] {
            if let Some(name) = name {
                let ids = self.look_up(&mut selection, named, parameter, name)?;
                selection.add(indexed, is_in(column, parameter), vec![vec![(column, ids)]], []);
            }
        }
        self.add_opening_codes(&mut selection, filter)?;
        self.add_sources(&mut selection, filter)?;
        selection.add_plain(filter);
        Ok(selection)
    }

    fn add_players(&self, selection: &mut Selection, filter: &GameFilter) -> Result<()> {
        let (player, opponent) = match &filter.player {
            Some(_) => (&filter.player, &filter.opponent),
            None => (&filter.opponent, &None),
        };
        let mut look_up = |parameter, name: &Option<NameFilter>| {
            let name = name.as_ref();
            name.map(|name| self.look_up(selection, Named::Player, parameter, name)).transpose()
        };
        let white = look_up(":white", &filter.white)?;
        let black = look_up(":black", &filter.black)?;
        let player = look_up(":player", player)?;
        let opponent = look_up(":opponent", opponent)?;
        for (ids, column, parameter) in [(white, WHITE_ID, ":white"), (black, BLACK_ID, ":black")] {
            if let Some(ids) = ids {
                selection.add(true, is_in(column, parameter), vec![vec![(column, ids)]], []);
            }
        }
        let [white, black] = [WHITE_ID, BLACK_ID].map(|column| is_in(column, ":player"));
        match (player, opponent) {
            (Some(one), Some(other)) => {
                let sides = vec![(WHITE_ID, one.clone()), (BLACK_ID, other.clone())];
                let exchanged = vec![(WHITE_ID, other), (BLACK_ID, one)];
                let [other_white, other_black] =
                    [WHITE_ID, BLACK_ID].map(|column| is_in(column, ":opponent"));
                let sql = format!("(({white} AND {other_black}) OR ({black} AND {other_white}))");
                selection.add(true, sql, vec![sides, exchanged], []);
            }
            (Some(one), None) => {
                let sides = vec![vec![(WHITE_ID, one.clone())], vec![(BLACK_ID, one)]];
                selection.add(true, format!("({white} OR {black})"), sides, []);
            }
            (None, _) => {}
        }
        Ok(())
    }

    /// Looks up the ids of a name, adds them as a parameter, and returns a test for them. The parameter is
    /// named after the filter's field. Also records the name if it is unknown, or the players that it
    /// matches.
    fn look_up(
        &self,
        selection: &mut Selection,
        named: Named,
        parameter: &'static str,
        name: &NameFilter,
    ) -> Result<Test> {
        let ids = match named {
            Named::Player => self.players(name)?,
            Named::Opening => self.openings(name)?,
            Named::Event | Named::Site => self.names(named, name)?,
        };
        let field = &parameter[1..];
        if ids.is_empty() {
            selection.unknown.push(UnknownName { field, named, filter: name.clone() });
        }
        selection.params.push((parameter, json(&ids)));
        let test = Test::one_of(ids.iter().map(|&id| id.into()));
        if named == Named::Player && !ids.is_empty() {
            let ids = ids.into_iter().map(NameId).collect();
            let is_exact = matches!(name, NameFilter::Exactly(_));
            selection.players.push(KnownPlayers { field, is_exact, ids });
        }
        Ok(test)
    }

    /// Adds the condition on the code of the opening determined by a game's positions. This code can differ
    /// from the code in the tag `ECO`.
    fn add_opening_codes(&self, selection: &mut Selection, filter: &GameFilter) -> Result<()> {
        let Some(eco) = &filter.opening_eco else { return Ok(()) };
        let ids: Vec<u32> = self.all(
            "look up openings",
            OPENING,
            "SELECT opening_id FROM opening WHERE eco >= :first AND eco < :end",
            named_params! { ":first": eco.first, ":end": eco.end() },
            |cells| cells.get(0),
        )?;
        let params = [(":opening_eco", json(&ids))];
        let test = Test::one_of(ids.into_iter().map(i64::from));
        let sql = is_in("opening_id", ":opening_eco");
        selection.add(true, sql, vec![vec![("opening_id", test)]], params);
        Ok(())
    }

    /// Adds the condition that the source of a game is a reading of one of the filter's files.
    fn add_sources(&self, selection: &mut Selection, filter: &GameFilter) -> Result<()> {
        if filter.sources.is_empty() {
            return Ok(());
        }
        let mut ids = Vec::new();
        for source in &filter.sources {
            ids.extend(self.readings_of(source)?.into_iter().map(|id| id.0));
        }
        let test = Test::one_of(ids.iter().map(|&id| id.into()));
        let sql = is_in("source_id", ":sources");
        selection.add(false, sql, vec![vec![("source_id", test)]], [(":sources", json(&ids))]);
        Ok(())
    }
}

impl Selection {
    /// Adds the conditions that can be checked without looking up anything in a database: all except those on
    /// names, on sources, and on the code of the opening determined by the positions.
    fn add_plain(&mut self, filter: &GameFilter) {
        self.add_eco(filter);
        self.add_outcome(filter);
        self.add_clock(filter);
        self.add_variant(filter);
    }

    /// Adds the condition on the code in the tag `ECO`.
    fn add_eco(&mut self, filter: &GameFilter) {
        let Some(eco) = &filter.eco else { return };
        let test = Test::Between(eco.first.clone(), eco.end());
        let params = [(":eco_first", eco.first.clone().into()), (":eco_end", eco.end().into())];
        self.add(true, "game.eco >= :eco_first AND game.eco < :eco_end", vec![vec![("eco", test)]], params);
    }

    fn add_variant(&mut self, filter: &GameFilter) {
        const STANDARD: &str = "standard";
        let Some(variant) = &filter.variant else { return };
        let named = vec![("variant", Test::AnyCase(variant.clone()))];
        let (sql, tests) = if variant.eq_ignore_ascii_case(STANDARD) {
            let sql = "(game.variant IS NULL OR game.variant = :variant COLLATE NOCASE)";
            (sql, vec![vec![("variant", Test::Missing)], named])
        } else {
            ("game.variant = :variant COLLATE NOCASE", vec![named])
        };
        self.add(false, sql, tests, [(":variant", variant.clone().into())]);
    }

    /// Adds the conditions on dates, ratings and the result.
    fn add_outcome(&mut self, filter: &GameFilter) {
        if let Some(since) = &filter.since {
            // '?' sorts after the digits, so unknown parts count as late enough.
            let sql = "game.date >= :since AND instr(substr(game.date, 1, 4), '?') = 0";
            let test = Test::Since(since.0.clone());
            self.add(true, sql, vec![vec![(DATE, test)]], [(":since", since.0.clone().into())]);
        }
        if let Some(until) = &filter.until {
            let sql = "replace(game.date, '?', '0') < :until AND instr(substr(game.date, 1, 4), '?') = 0";
            let until = format!("{until}~");
            self.add(false, sql, vec![vec![(DATE, Test::Until(until.clone()))]], [(":until", until.into())]);
        }
        if let Some(elo) = filter.elo_min {
            let sql = "game.white_elo >= :elo_min AND game.black_elo >= :elo_min";
            self.add_bound(sql, ":elo_min", elo.into(), Test::AtLeast, &[WHITE_ELO, BLACK_ELO]);
        }
        if let Some(elo) = filter.elo_max {
            let sql = "game.white_elo <= :elo_max AND game.black_elo <= :elo_max";
            self.add_bound(sql, ":elo_max", elo.into(), Test::AtMost, &[WHITE_ELO, BLACK_ELO]);
        }
        if let Some(result) = filter.result {
            let result = result.as_str().to_owned();
            let params = [(":result", result.clone().into())];
            let test = Test::OneOfTexts(vec![result]);
            self.add(false, "game.result = :result", vec![vec![(RESULT, test)]], params);
        }
    }

    /// Adds the conditions on speed, time control, termination, length and evaluations.
    fn add_clock(&mut self, filter: &GameFilter) {
        if !filter.speeds.is_empty() {
            let speeds: Vec<_> = filter.speeds.iter().map(Speed::to_string).collect();
            let params = [(":speeds", serde_json::json!(speeds).to_string().into())];
            let sql = "game.speed IN (SELECT value FROM json_each(:speeds))";
            self.add(false, sql, vec![vec![("speed", Test::OneOfTexts(speeds))]], params);
        }
        if let Some(control) = &filter.time_control {
            let spellings = TimeControl::spellings(control);
            let params = [(":time_control", serde_json::json!(spellings).to_string().into())];
            let sql = "game.time_control COLLATE NOCASE IN (SELECT value FROM json_each(:time_control))";
            let tests = spellings.into_iter().map(|control| vec![("time_control", Test::AnyCase(control))]);
            self.add(false, sql, tests.collect(), params);
        }
        if let Some(termination) = &filter.termination {
            let test = Test::AnyCase(termination.clone());
            let sql = "game.termination = :termination COLLATE NOCASE";
            let params = [(":termination", termination.clone().into())];
            self.add(false, sql, vec![vec![("termination", test)]], params);
        }
        if let Some(plies) = filter.plies_min {
            let sql = "game.ply_count >= :plies_min";
            self.add_bound(sql, ":plies_min", plies.into(), Test::AtLeast, &["ply_count"]);
        }
        if let Some(plies) = filter.plies_max {
            let sql = "game.ply_count <= :plies_max";
            self.add_bound(sql, ":plies_max", plies.into(), Test::AtMost, &["ply_count"]);
        }
        if filter.with_evals {
            self.add(false, "game.eval_count > 0", vec![vec![("eval_count", Test::AtLeast(1))]], []);
        }
    }

    /// Adds the condition that the values in all these columns are within a bound.
    fn add_bound(
        &mut self,
        sql: &'static str,
        parameter: &'static str,
        bound: i64,
        test: fn(i64) -> Test,
        columns: &[&'static str],
    ) {
        let tests = columns.iter().map(|&column| (column, test(bound))).collect();
        self.add(false, sql, vec![tests], [(parameter, bound.into())]);
    }
}

/// A [`GameFilter`] prepared for the rows of games that are not in a database. The condition on sources is ignored.
///
/// A name is compared only with the spelling in the row, because only a database has aliases of players.
#[cfg(feature = "parquet")]
#[derive(Clone, Debug)]
pub(crate) struct RowFilter {
    filter: GameFilter,
    conditions: Vec<ColumnCondition>,
    /// The names of openings that match; `None` if the filter does not name an opening.
    openings: Option<HashSet<String>>,
}

#[cfg(feature = "parquet")]
impl RowFilter {
    /// Prepares a filter. `openings` are the names of all openings by which games can be classified.
    pub(crate) fn new<'n>(filter: &GameFilter, openings: impl IntoIterator<Item = &'n str>) -> Self {
        let mut selection = Selection::default();
        selection.add_plain(filter);
        let conditions = selection.conditions().cloned().collect();
        let openings = filter.opening.as_ref().map(|name| matching_openings(name, openings));
        Self { filter: filter.clone(), conditions, openings }
    }

    /// Whether a game matches. `cell` returns the value of a column of the game, with names instead of their
    /// ids.
    pub(crate) fn fits<'c>(&self, cell: impl Fn(&str) -> Cell<'c>) -> bool {
        let holds = |(column, test): &(&str, Test)| test.fits(cell(column));
        let conditions = self.conditions.iter().all(|condition| match condition {
            ColumnCondition::Tests(alternatives) => alternatives.iter().any(|tests| tests.iter().all(holds)),
            ColumnCondition::SumIn(..) => true,
        });
        conditions && self.codes_fit(&cell) && self.names_fit(&cell) && self.players_fit(&cell)
    }

    fn codes_fit<'c>(&self, cell: &impl Fn(&str) -> Cell<'c>) -> bool {
        let range = self.filter.opening_eco.as_ref();
        range.is_none_or(|range| Test::Between(range.first.clone(), range.end()).fits(cell("opening_eco")))
    }

    fn names_fit<'c>(&self, cell: &impl Fn(&str) -> Cell<'c>) -> bool {
        let GameFilter { event, site, .. } = &self.filter;
        let names_fit = [(event, "event"), (site, "site")].iter().all(|(filter, column)| {
            let Some(filter) = filter else { return true };
            cell(column).as_text().is_some_and(|name| filter.matches(name))
        });
        let opening_fits =
            |names: &HashSet<String>| cell("opening").as_text().is_some_and(|name| names.contains(name));
        names_fit && self.openings.as_ref().is_none_or(opening_fits)
    }

    fn players_fit<'c>(&self, cell: &impl Fn(&str) -> Cell<'c>) -> bool {
        let GameFilter { white, black, player, opponent, .. } = &self.filter;
        let fits = |filter: &NameFilter, column| {
            cell(column).as_text().is_some_and(|name| filter.matches_player(name))
        };
        let is =
            |filter: &Option<NameFilter>, column| filter.as_ref().is_none_or(|filter| fits(filter, column));
        if !is(white, "white") || !is(black, "black") {
            return false;
        }
        match (player, opponent) {
            (None, None) => true,
            (Some(one), None) | (None, Some(one)) => fits(one, "white") || fits(one, "black"),
            (Some(one), Some(other)) => {
                (fits(one, "white") && fits(other, "black")) || (fits(one, "black") && fits(other, "white"))
            }
        }
    }
}
