//! Filters on games: by names, ratings, date, result, opening, time control, termination, length,
//! evaluations, source and variant.

use std::borrow::Cow;
use std::path::PathBuf;

use rusqlite::types::Value;
use rusqlite::{Statement, named_params};

use crate::board::{Color, GameResult};
use crate::id::NameId;
use crate::pgn::{Speed, TimeControl};
use crate::store::cell::{Cells, OPENING};
use crate::store::database::Database;
use crate::store::error::Result;
use crate::store::game_column::{
    Alternative, BLACK_ELO, BLACK_ID, Condition as ColumnCondition, DATE, RESULT, Test, WHITE_ELO, WHITE_ID,
};
use crate::store::read::filter::{DatePrefix, EcoRange, FilterError, bind};
use crate::store::read::name::{NameFilter, Named};

/// A filter on games: all given conditions must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameFilter {
    /// White's player.
    pub white: Option<NameFilter>,
    /// Black's player.
    pub black: Option<NameFilter>,
    /// A player, on either side.
    pub player: Option<NameFilter>,
    /// The opponent of `player`, on either side; without `player`, this filter has the same effect as
    /// `player`. One side must match `player` and the other side `opponent`, even if a name matches both
    /// sides.
    pub opponent: Option<NameFilter>,
    /// Both ratings are known and at least this.
    pub elo_min: Option<u16>,
    /// Both ratings are known and at most this.
    pub elo_max: Option<u16>,
    /// Played on this date or later. A game whose month or day is unknown matches if it may have been played
    /// then. If the month is unknown, the day is ignored. A game whose year is unknown does not match.
    pub since: Option<DatePrefix>,
    /// Played on this date or earlier. Unknown parts of a date are treated as in `since`.
    pub until: Option<DatePrefix>,
    /// This result.
    pub result: Option<GameResult>,
    /// A code in this range in the PGN's tag `ECO`.
    pub eco: Option<EcoRange>,
    /// The code of the game's opening, found by the positions of the game, is in this range.
    pub opening_eco: Option<EcoRange>,
    /// The event.
    pub event: Option<NameFilter>,
    /// The site.
    pub site: Option<NameFilter>,
    /// The name of the opening, found by the positions of the game.
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
    /// The PGN has an engine evaluation of some position.
    pub with_evals: bool,
    /// Read from one of these files, as for [`Database::readings_of`]. Empty: all games.
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

    /// Restricts the filter to games in which `player` had this side.
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
            // `since` may be more precise than `until`: from 1992.05 until 1992 is possible.
            (Some(since), Some(until)) if since > until && !since.0.starts_with(&until.0) => {
                Err(FilterError::NoDate { since: since.clone(), until: until.clone() })
            }
            _ => Ok(()),
        }
    }
}

/// A [`GameFilter`] prepared for a database: its names are looked up.
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
    /// Whether the filter contains the exact name, so that nobody else can be meant.
    pub is_exact: bool,
    /// The numbers of all spellings of these players in the table `player`, in ascending order.
    pub ids: Vec<NameId>,
}

/// A condition on a row of `game`.
#[derive(Clone, Debug)]
struct Condition {
    /// As SQL. Values are parameters, except for the bounds of rating ranges.
    sql: Cow<'static, str>,
    /// Whether an index finds the rows.
    indexed: bool,
    /// The same condition for columns of games.
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

    /// The players that the names match.
    #[must_use]
    pub fn players(&self) -> &[KnownPlayers] {
        &self.players
    }

    /// SQL for all conditions: ` AND …` for each condition.
    pub(crate) fn sql(&self) -> String {
        self.conditions.iter().map(|condition| format!(" AND {}", condition.sql)).collect()
    }

    /// SQL like [`sql`](Self::sql), with only the conditions that use an index; `None` if no condition uses
    /// an index.
    pub(crate) fn indexed_sql(&self) -> Option<String> {
        let indexed: String = self
            .conditions
            .iter()
            .filter(|condition| condition.indexed)
            .map(|condition| format!(" AND {}", condition.sql))
            .collect();
        (!indexed.is_empty()).then_some(indexed)
    }

    /// Binds the values of the parameters that a statement has.
    pub(crate) fn bind(&self, statement: &mut Statement<'_>) -> rusqlite::Result<()> {
        for (name, value) in &self.params {
            bind(statement, name, value)?;
        }
        Ok(())
    }

    /// The conditions, for columns of games.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = &ColumnCondition> {
        self.conditions.iter().map(|condition| &condition.on_columns)
    }

    /// The conditions on a game's row that need no look-up: all but those on names, on sources, and on the
    /// code of the opening that the positions show.
    #[cfg(feature = "parquet")]
    pub(super) fn of_rows(filter: &GameFilter) -> Self {
        let mut selection = Self::default();
        selection.add_eco(filter);
        selection.add_plain(filter);
        selection.add_clock(filter);
        selection.add_variant(filter);
        selection
    }

    fn add(&mut self, indexed: bool, sql: &'static str, alternatives: impl Into<Vec<Alternative>>) {
        self.add_condition(indexed, sql.into(), ColumnCondition::Tests(alternatives.into()));
    }

    pub(super) fn add_condition(
        &mut self,
        indexed: bool,
        sql: Cow<'static, str>,
        on_columns: ColumnCondition,
    ) {
        self.conditions.push(Condition { sql, indexed, on_columns });
    }

    pub(super) fn has(&self, parameter: &str) -> bool {
        self.params.iter().any(|(name, _)| *name == parameter)
    }

    pub(super) fn set(&mut self, name: &'static str, value: impl Into<Value>) {
        self.params.push((name, value.into()));
    }
}

impl Database {
    /// Prepares a filter by looking up its names.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownSource`](crate::store::ErrorKind::UnknownSource); errors of SQLite.
    pub fn select(&self, filter: &GameFilter) -> Result<Selection> {
        let mut selection = Selection::default();
        self.add_players(&mut selection, filter)?;
        let others = [
            (
                "event",
                Named::Event,
                ":event",
                "event_id",
                &filter.event,
                true,
                "game.event_id IN (SELECT value FROM json_each(:event))",
            ),
            (
                "site",
                Named::Site,
                ":site",
                "site_id",
                &filter.site,
                false,
                "game.site_id IN (SELECT value FROM json_each(:site))",
            ),
            (
                "opening",
                Named::Opening,
                ":opening",
                "opening_id",
                &filter.opening,
                true,
                "game.opening_id IN (SELECT value FROM json_each(:opening))",
            ),
        ];
        for (field, named, parameter, column, name, indexed, condition) in others {
            if let Some(name) = name {
                let ids = self.look_up(&mut selection, field, named, parameter, name)?;
                selection.add(indexed, condition, [vec![(column, ids)]]);
            }
        }
        selection.add_eco(filter);
        self.add_opening_codes(&mut selection, filter)?;
        selection.add_plain(filter);
        selection.add_clock(filter);
        self.add_sources(&mut selection, filter)?;
        selection.add_variant(filter);
        Ok(selection)
    }

    /// The conditions on players.
    fn add_players(&self, selection: &mut Selection, filter: &GameFilter) -> Result<()> {
        const SIDES: [&str; 2] = [
            "game.white_id IN (SELECT value FROM json_each(:white))",
            "game.black_id IN (SELECT value FROM json_each(:black))",
        ];
        const EITHER: &str = "(game.white_id IN (SELECT value FROM json_each(:player))
            OR game.black_id IN (SELECT value FROM json_each(:player)))";
        const BOTH: &str = "((game.white_id IN (SELECT value FROM json_each(:player))
                AND game.black_id IN (SELECT value FROM json_each(:opponent)))
            OR (game.black_id IN (SELECT value FROM json_each(:player))
                AND game.white_id IN (SELECT value FROM json_each(:opponent))))";
        let (player, opponent) = match &filter.player {
            Some(_) => (&filter.player, &filter.opponent),
            None => (&filter.opponent, &None),
        };
        let mut look_up = |field, parameter, name: &Option<NameFilter>| {
            let name = name.as_ref();
            name.map(|name| self.look_up(selection, field, Named::Player, parameter, name)).transpose()
        };
        let white = look_up("white", ":white", &filter.white)?;
        let black = look_up("black", ":black", &filter.black)?;
        let player = look_up("player", ":player", player)?;
        let opponent = look_up("opponent", ":opponent", opponent)?;
        for (ids, column, sql) in [(white, WHITE_ID, SIDES[0]), (black, BLACK_ID, SIDES[1])] {
            if let Some(ids) = ids {
                selection.add(true, sql, [vec![(column, ids)]]);
            }
        }
        match (player, opponent) {
            (Some(one), Some(other)) => {
                let sides = [(WHITE_ID, one.clone()), (BLACK_ID, other.clone())];
                let exchanged = [(WHITE_ID, other), (BLACK_ID, one)];
                selection.add(true, BOTH, [sides.to_vec(), exchanged.to_vec()]);
            }
            (Some(one), None) => {
                let sides = [vec![(WHITE_ID, one.clone())], vec![(BLACK_ID, one)]];
                selection.add(true, EITHER, sides);
            }
            (None, _) => {}
        }
        Ok(())
    }

    /// Looks up the ids of a name, adds them as a parameter, and returns a test for them.
    fn look_up(
        &self,
        selection: &mut Selection,
        field: &'static str,
        named: Named,
        parameter: &'static str,
        name: &NameFilter,
    ) -> Result<Test> {
        let ids = match named {
            Named::Player => self.players(name)?,
            Named::Opening => self.openings(name)?,
            Named::Event | Named::Site => self.names(named, name)?,
        };
        if ids.is_empty() {
            selection.unknown.push(UnknownName { field, named, filter: name.clone() });
        }
        let list: Vec<_> = ids.iter().map(u32::to_string).collect();
        selection.set(parameter, format!("[{}]", list.join(",")));
        let test = Test::one_of(ids.iter().map(|&id| id.into()));
        if named == Named::Player && !ids.is_empty() {
            let ids = ids.into_iter().map(NameId).collect();
            let is_exact = matches!(name, NameFilter::Exactly(_));
            selection.players.push(KnownPlayers { field, is_exact, ids });
        }
        Ok(test)
    }
}

impl Database {
    /// The condition on the code of the opening that a game's positions show, not on the tag `ECO`.
    fn add_opening_codes(&self, selection: &mut Selection, filter: &GameFilter) -> Result<()> {
        if let Some(eco) = &filter.opening_eco {
            let ids = self.all(
                "look up openings",
                "SELECT opening_id FROM opening WHERE eco >= :first AND eco < :end",
                named_params! { ":first": eco.first, ":end": eco.end() },
                |row| Cells::new(row, OPENING).get::<i64>(0),
            )?;
            selection.add(
                true,
                "game.opening_id IN
                  (SELECT opening_id FROM opening WHERE opening.eco >= :opening_first AND opening.eco < :opening_end)",
                [vec![("opening_id", Test::one_of(ids))]],
            );
            selection.set(":opening_first", eco.first.clone());
            selection.set(":opening_end", eco.end());
        }
        Ok(())
    }

    /// The condition on sources: any reading of one of these files.
    fn add_sources(&self, selection: &mut Selection, filter: &GameFilter) -> Result<()> {
        if filter.sources.is_empty() {
            return Ok(());
        }
        let mut ids = Vec::new();
        for source in &filter.sources {
            ids.extend(self.readings_of(source)?.into_iter().map(|id| i64::from(id.0)));
        }
        let list: Vec<_> = ids.iter().map(i64::to_string).collect();
        let sql = "game.source_id IN (SELECT value FROM json_each(:sources))";
        selection.add(false, sql, [vec![("source_id", Test::one_of(ids))]]);
        selection.set(":sources", format!("[{}]", list.join(",")));
        Ok(())
    }
}

impl Selection {
    /// The condition on the PGN's ECO code.
    fn add_eco(&mut self, filter: &GameFilter) {
        let Some(eco) = &filter.eco else { return };
        let test = Test::Between(eco.first.clone(), eco.end());
        self.add(true, "game.eco >= :eco_first AND game.eco < :eco_end", [vec![("eco", test)]]);
        self.set(":eco_first", eco.first.clone());
        self.set(":eco_end", eco.end());
    }

    /// The condition on the variant.
    fn add_variant(&mut self, filter: &GameFilter) {
        const STANDARD: &str = "standard";
        let Some(variant) = &filter.variant else { return };
        let named = vec![("variant", Test::AnyCase(variant.clone()))];
        if variant.eq_ignore_ascii_case(STANDARD) {
            let sql = "(game.variant IS NULL OR game.variant = :variant COLLATE NOCASE)";
            self.add(false, sql, [vec![("variant", Test::Missing)], named]);
        } else {
            self.add(false, "game.variant = :variant COLLATE NOCASE", [named]);
        }
        self.set(":variant", variant.clone());
    }

    /// The conditions on dates, ratings and the result.
    fn add_plain(&mut self, filter: &GameFilter) {
        if let Some(since) = &filter.since {
            // '?' sorts after the digits: unknown parts count as late enough.
            let test = Test::Since(since.0.clone());
            self.add(
                true,
                "game.date >= :since AND instr(substr(game.date, 1, 4), '?') = 0",
                [vec![(DATE, test)]],
            );
            self.set(":since", since.0.clone());
        }
        if let Some(until) = &filter.until {
            self.add(
                false,
                "replace(game.date, '?', '0') < :until AND instr(substr(game.date, 1, 4), '?') = 0",
                [vec![(DATE, Test::Until(format!("{until}~")))]],
            );
            self.set(":until", format!("{until}~"));
        }
        if let Some(elo) = filter.elo_min {
            let test = || Test::AtLeast(elo.into());
            let both = vec![(WHITE_ELO, test()), (BLACK_ELO, test())];
            self.add(false, "game.white_elo >= :elo_min AND game.black_elo >= :elo_min", [both]);
            self.set(":elo_min", i64::from(elo));
        }
        if let Some(elo) = filter.elo_max {
            let test = || Test::AtMost(elo.into());
            let both = vec![(WHITE_ELO, test()), (BLACK_ELO, test())];
            self.add(false, "game.white_elo <= :elo_max AND game.black_elo <= :elo_max", [both]);
            self.set(":elo_max", i64::from(elo));
        }
        if let Some(result) = filter.result {
            let test = Test::OneOfTexts(vec![result.as_str().to_owned()]);
            self.add(false, "game.result = :result", [vec![(RESULT, test)]]);
            self.set(":result", result.as_str().to_owned());
        }
    }

    /// The conditions on the clock, the termination, the length and the evaluations.
    fn add_clock(&mut self, filter: &GameFilter) {
        if !filter.speeds.is_empty() {
            let words: Vec<_> = filter.speeds.iter().map(|speed| format!("\"{speed}\"")).collect();
            let test = Test::OneOfTexts(filter.speeds.iter().map(Speed::to_string).collect());
            self.add(false, "game.speed IN (SELECT value FROM json_each(:speeds))", [vec![("speed", test)]]);
            self.set(":speeds", format!("[{}]", words.join(",")));
        }
        if let Some(control) = &filter.time_control {
            let spellings = TimeControl::spellings(control);
            let tests =
                spellings.iter().map(|control| vec![("time_control", Test::AnyCase(control.clone()))]);
            let tests: Vec<Alternative> = tests.collect();
            let sql = "game.time_control COLLATE NOCASE IN (SELECT value FROM json_each(:time_control))";
            self.add(false, sql, tests);
            self.set(":time_control", serde_json::json!(spellings).to_string());
        }
        if let Some(termination) = &filter.termination {
            let test = Test::AnyCase(termination.clone());
            let sql = "game.termination = :termination COLLATE NOCASE";
            self.add(false, sql, [vec![("termination", test)]]);
            self.set(":termination", termination.clone());
        }
        if let Some(plies) = filter.plies_min {
            let test = Test::AtLeast(plies.into());
            self.add(false, "game.ply_count >= :plies_min", [vec![("ply_count", test)]]);
            self.set(":plies_min", i64::from(plies));
        }
        if let Some(plies) = filter.plies_max {
            let test = Test::AtMost(plies.into());
            self.add(false, "game.ply_count <= :plies_max", [vec![("ply_count", test)]]);
            self.set(":plies_max", i64::from(plies));
        }
        if filter.with_evals {
            self.add(false, "game.eval_count > 0", [vec![("eval_count", Test::AtLeast(1))]]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_many_forms() {
        let read = |text: &str| text.parse::<DatePrefix>().map(|date| date.0);
        for (text, date) in [
            ("1992", "1992"),
            ("1992.5", "1992.05"),
            ("1992-05", "1992.05"),
            ("1992/5/1", "1992.05.01"),
            ("2024-02-29", "2024.02.29"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(date), "{text}");
        }
        for text in [
            "",
            "92",
            "1992.13",
            "1992.00",
            "1992.1.32",
            "1992.1.1.1",
            "1992.",
            "+992",
            "19920",
            "yesterday",
            "'",
        ] {
            assert_eq!(read(text), Err(FilterError::Date), "{text}");
        }
        for (text, days) in [("2021-02-31", 28), ("2024.2.30", 29), ("1900.02.29", 28), ("2000.11.31", 30)] {
            assert_eq!(read(text), Err(FilterError::NoSuchDay { days }), "{text}");
        }
        assert_eq!(read("2000.02.29").as_deref(), Ok("2000.02.29"));
    }

    #[test]
    fn codes_and_ranges_of_codes() {
        let read = |text: &str| text.parse::<EcoRange>().map(|range| (range.first.clone(), range.end()));
        for (text, first, end) in
            [("B90", "B90", "B90~"), ("b9", "B9", "B9~"), ("B", "B", "B~"), ("B90-C1", "B90", "C1~")]
        {
            assert_eq!(read(text), Ok((first.into(), end.into())), "{text}");
        }
        for text in ["", "F10", "B900", "B9x", "B90-", "-B90", "B90-B95-B99"] {
            assert_eq!(read(text), Err(FilterError::Eco), "{text}");
        }
        assert_eq!(read("C10-B90"), Err(FilterError::EmptyRange));
        assert_eq!(read("B9-B95").map(|(_, end)| end).as_deref(), Ok("B95~"));
    }
}
