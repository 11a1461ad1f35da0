//! Filters on games: by names, ratings, date, result, opening, time control, termination, length,
//! evaluations, source and variant.

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
use crate::store::read::rows::prepare;
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
    /// The game was read from one of these files, given by their paths or by ids of readings, as for
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
    /// [`FilterError::SideNamed`] if `player` or `opponent` would become `white` or `black`, but that field is
    /// already set.
    pub fn with_side(mut self, side: Color) -> Result<Self, FilterError> {
        let (player, opponent) = (self.player.take(), self.opponent.take());
        let (white, black) = if side == Color::White { (player, opponent) } else { (opponent, player) };
        for (place, name, field) in [(&mut self.white, white, "white"), (&mut self.black, black, "black")] {
            match (&place, name) {
                (_, None) => {}
                (Some(_), Some(_)) => return Err(FilterError::SideNamed { field }),
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
    params: Vec<(String, Value)>,
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
    sql: String,
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
        let own = self.params.iter().map(|(name, value)| (name.as_str(), value as &dyn ToSql));
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

    /// Adds the condition that all tests of at least one alternative hold. `indexed` says whether an index finds
    /// the games that match.
    pub(super) fn add(&mut self, indexed: bool, alternatives: Vec<Alternative>) {
        let mut any = Vec::with_capacity(alternatives.len());
        for tests in &alternatives {
            let all: Vec<String> = tests.iter().map(|(column, test)| self.test_sql(column, test)).collect();
            any.push(format!("({})", all.join(" AND ")));
        }
        self.add_condition(indexed, format!("({})", any.join(" OR ")), ColumnCondition::Tests(alternatives));
    }

    /// Adds the condition that a test of a column holds, if there is a test.
    pub(super) fn add_test(&mut self, indexed: bool, column: &'static str, test: Option<Test>) {
        if let Some(test) = test {
            self.add(indexed, vec![vec![(column, test)]]);
        }
    }

    pub(super) fn add_condition(&mut self, indexed: bool, sql: String, on_columns: ColumnCondition) {
        self.conditions.push(Condition { sql, indexed, on_columns });
    }

    /// SQL for a test of a column. Adds the values of the test to the parameters.
    fn test_sql(&mut self, column: &str, test: &Test) -> String {
        let mut is_one_of = |numbers: &[i64]| {
            let numbers = self.param(serde_json::json!(numbers).to_string());
            format!("game.{column} IN (SELECT value FROM json_each({numbers}))")
        };
        let is_year_known = format!("instr(substr(game.{column}, 1, 4), '?') = 0");
        match test {
            Test::OneOf(numbers) => is_one_of(numbers),
            Test::NoneOf(numbers) => format!("(game.{column} IS NULL OR NOT {})", is_one_of(numbers)),
            Test::OneOfTexts(texts) => {
                let texts: Vec<String> = texts.iter().map(|text| self.param(text.clone())).collect();
                format!("game.{column} IN ({})", texts.join(", "))
            }
            Test::AtLeast(least) => format!("game.{column} >= {}", self.param(*least)),
            Test::AtMost(most) => format!("game.{column} <= {}", self.param(*most)),
            Test::Between(first, end) => {
                let (first, end) = (self.param(first.clone()), self.param(end.clone()));
                format!("game.{column} >= {first} AND game.{column} < {end}")
            }
            Test::AnyCase(text) => format!("game.{column} = {} COLLATE NOCASE", self.param(text.clone())),
            Test::Missing => format!("game.{column} IS NULL"),
            // '?' sorts after the digits, so unknown parts count as late enough.
            Test::Since(first) => {
                format!("game.{column} >= {} AND {is_year_known}", self.param(first.clone()))
            }
            Test::Until(end) => {
                format!("replace(game.{column}, '?', '0') < {} AND {is_year_known}", self.param(end.clone()))
            }
        }
    }

    /// Adds a parameter, and returns its name in SQL.
    fn param(&mut self, value: impl Into<Value>) -> String {
        let name = format!(":filter{}", self.params.len());
        self.params.push((name.clone(), value.into()));
        name
    }

    pub(super) fn add_param(&mut self, name: &str, value: i64) {
        self.params.push((name.to_owned(), value.into()));
    }

    /// Whether [`begin_at`](Self::begin_at) reduced the selection to the rest of a list. If so, the parameter
    /// `:from_game` is the first game of the rest.
    pub(super) fn is_rest(&self) -> bool {
        self.params.iter().any(|(name, _)| name == ":from_game")
    }
}

impl Database {
    /// Prepares a filter by looking up its names.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownSource`](crate::store::ErrorKind::UnknownSource); errors of SQLite.
    pub fn select(&self, filter: &GameFilter) -> Result<Selection> {
        let mut selection = Selection::default();
        self.add_name(&mut selection, Named::Player, ("white", WHITE_ID), &filter.white)?;
        self.add_name(&mut selection, Named::Player, ("black", BLACK_ID), &filter.black)?;
        self.add_players(&mut selection, filter)?;
        self.add_name(&mut selection, Named::Event, ("event", "event_id"), &filter.event)?;
        self.add_name(&mut selection, Named::Site, ("site", "site_id"), &filter.site)?;
        self.add_name(&mut selection, Named::Opening, ("opening", "opening_id"), &filter.opening)?;
        self.add_opening_codes(&mut selection, filter)?;
        self.add_sources(&mut selection, filter)?;
        selection.add_plain(filter);
        Ok(selection)
    }

    /// Adds the condition on a name, if given.
    fn add_name(
        &self,
        selection: &mut Selection,
        named: Named,
        (field, column): (&'static str, &'static str),
        name: &Option<NameFilter>,
    ) -> Result<()> {
        let test = self.look_up(selection, named, field, name)?;
        // There is no index of sites.
        selection.add_test(named != Named::Site, column, test);
        Ok(())
    }

    /// Adds the condition on `player` and `opponent`, which can be on either side.
    fn add_players(&self, selection: &mut Selection, filter: &GameFilter) -> Result<()> {
        let (player, opponent) = match &filter.player {
            Some(_) => (&filter.player, &filter.opponent),
            None => (&filter.opponent, &None),
        };
        let player = self.look_up(selection, Named::Player, "player", player)?;
        let opponent = self.look_up(selection, Named::Player, "opponent", opponent)?;
        match (player, opponent) {
            (Some(one), Some(other)) => {
                let sides = vec![(WHITE_ID, one.clone()), (BLACK_ID, other.clone())];
                let exchanged = vec![(WHITE_ID, other), (BLACK_ID, one)];
                selection.add(true, vec![sides, exchanged]);
            }
            (Some(one), None) => {
                selection.add(true, vec![vec![(WHITE_ID, one.clone())], vec![(BLACK_ID, one)]]);
            }
            (None, _) => {}
        }
        Ok(())
    }

    /// Looks up the ids of a name, and returns a test for them; `None` if no name is given. Records the name if
    /// it is unknown, or the players that it matches.
    fn look_up(
        &self,
        selection: &mut Selection,
        named: Named,
        field: &'static str,
        name: &Option<NameFilter>,
    ) -> Result<Option<Test>> {
        let Some(name) = name else { return Ok(None) };
        let ids = match named {
            Named::Player => self.players(name)?,
            Named::Opening => self.openings(name)?,
            Named::Event | Named::Site => self.names(named, name)?,
        };
        let test = Test::one_of(ids.iter().map(|&id| id.into()));
        if ids.is_empty() {
            selection.unknown.push(UnknownName { field, named, filter: name.clone() });
        } else if named == Named::Player {
            let ids = ids.into_iter().map(NameId).collect();
            let is_exact = matches!(name, NameFilter::Exactly(_));
            selection.players.push(KnownPlayers { field, is_exact, ids });
        }
        Ok(Some(test))
    }

    /// Adds the condition on the code of the opening determined by a game's positions. This code can differ
    /// from the code in the tag `ECO`.
    fn add_opening_codes(&self, selection: &mut Selection, filter: &GameFilter) -> Result<()> {
        let Some(eco) = &filter.opening_eco else { return Ok(()) };
        let ids: Vec<i64> = self.all(
            "look up openings",
            OPENING,
            "SELECT opening_id FROM opening WHERE eco >= :first AND eco < :end",
            named_params! { ":first": eco.first, ":end": eco.end() },
            |cells| cells.get(0),
        )?;
        selection.add_test(true, "opening_id", Some(Test::one_of(ids)));
        Ok(())
    }

    /// Adds the condition that the source of a game is a reading of one of the filter's files.
    fn add_sources(&self, selection: &mut Selection, filter: &GameFilter) -> Result<()> {
        if filter.sources.is_empty() {
            return Ok(());
        }
        let mut ids = Vec::new();
        for source in &filter.sources {
            ids.extend(self.readings_of(source)?.into_iter().map(|id| i64::from(id.0)));
        }
        selection.add_test(false, "source_id", Some(Test::one_of(ids)));
        Ok(())
    }
}

impl Selection {
    /// Adds the conditions that can be checked without looking up anything in a database: all except those on
    /// names, on sources, and on the code of the opening determined by the positions.
    pub(super) fn add_plain(&mut self, filter: &GameFilter) {
        self.add_test(true, "eco", filter.eco.as_ref().map(EcoRange::test));
        self.add_test(true, DATE, filter.since.as_ref().map(|since| Test::Since(since.0.clone())));
        self.add_test(false, DATE, filter.until.as_ref().map(|until| Test::Until(format!("{until}~"))));
        let elo_min = filter.elo_min.map(|elo| Test::AtLeast(elo.into()));
        let elo_max = filter.elo_max.map(|elo| Test::AtMost(elo.into()));
        for test in elo_min.into_iter().chain(elo_max) {
            self.add(false, vec![vec![(WHITE_ELO, test.clone()), (BLACK_ELO, test)]]);
        }
        let result = filter.result.map(|result| Test::OneOfTexts(vec![result.as_str().to_owned()]));
        self.add_test(false, RESULT, result);
        let speeds = || Test::OneOfTexts(filter.speeds.iter().map(Speed::to_string).collect());
        self.add_test(false, "speed", (!filter.speeds.is_empty()).then(speeds));
        if let Some(control) = &filter.time_control {
            let spellings = TimeControl::spellings(control).into_iter();
            let tests = spellings.map(|control| vec![("time_control", Test::AnyCase(control))]);
            self.add(false, tests.collect());
        }
        self.add_test(false, "termination", filter.termination.clone().map(Test::AnyCase));
        self.add_test(false, "ply_count", filter.plies_min.map(|plies| Test::AtLeast(plies.into())));
        self.add_test(false, "ply_count", filter.plies_max.map(|plies| Test::AtMost(plies.into())));
        self.add_test(false, "eval_count", filter.with_evals.then_some(Test::AtLeast(1)));
        if let Some(variant) = &filter.variant {
            let mut alternatives = vec![vec![("variant", Test::AnyCase(variant.clone()))]];
            if variant.eq_ignore_ascii_case("standard") {
                alternatives.push(vec![("variant", Test::Missing)]);
            }
            self.add(false, alternatives);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::row::virtual_table::Cell;

    /// Texts with blanks between them; the first one is empty.
    const VALUES: &str = " * 1-0 B89 B90 B90a C19 C2 Ä 1991.12.31 1992.05.01 1992.05.02 1992.05.03 1992.05.?? \
        1992.??.?? 1993.01.01 199?.??.?? ????.05.02";

    fn compare(test: &Test, value: Value, cell: Cell<'_>) {
        let connection = Connection::open_in_memory().unwrap();
        let mut selection = Selection::default();
        selection.add(false, vec![vec![("date", test.clone())]]);
        let sql =
            format!("WITH game (date) AS (SELECT :value) SELECT 1 FROM game WHERE true{}", selection.sql());
        let mut statement = selection.prepare(&connection, &sql, &[(":value", &value)]).unwrap();
        let is_found = statement.raw_query().next().unwrap().is_some();
        assert_eq!(is_found, test.fits(cell), "{test:?}: {cell:?}, {sql}");
    }

    #[test]
    fn tests_of_columns_have_the_same_results_in_sql() {
        let text = str::to_owned;
        for test in [
            Test::one_of([3, 1]),
            Test::OneOf(Vec::new()),
            Test::NoneOf(vec![1, 3]),
            Test::NoneOf(Vec::new()),
            Test::AtLeast(2),
            Test::AtMost(2),
            Test::Missing,
        ] {
            compare(&test, Value::Null, Cell::Null);
            (0..5).for_each(|number| compare(&test, number.into(), Cell::Integer(number)));
        }
        for test in [
            Test::OneOfTexts(vec![text("1-0"), text("B90")]),
            Test::OneOfTexts(vec![text("*")]),
            Test::OneOfTexts(Vec::new()),
            Test::Between(text("B9"), text("C1~")),
            Test::AnyCase(text("b90")),
            Test::Missing,
            Test::Since(text("1992")),
            Test::Since(text("1992.05.02")),
            Test::Until(text("1992~")),
            Test::Until(text("1992.05.02~")),
        ] {
            compare(&test, Value::Null, Cell::Null);
            for value in VALUES.split(' ') {
                compare(&test, text(value).into(), Cell::Text(value));
            }
        }
    }
}
