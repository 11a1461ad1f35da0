//! Filters on games that are not in a database.

use std::collections::HashSet;

use crate::store::game_column::{Condition, Test};
use crate::store::read::opening::matching_openings;
use crate::store::row::virtual_table::Cell;
use crate::store::{EcoRange, GameFilter, NameFilter, Selection};

/// A [`GameFilter`] prepared for the rows of games that are not in a database. The condition on sources is ignored.
///
/// A name is compared only with the spelling in the row, because only a database has aliases of players.
#[derive(Clone, Debug)]
pub(crate) struct RowFilter {
    filter: GameFilter,
    conditions: Vec<Condition>,
    /// The names of openings that match; `None` if the filter does not name an opening.
    openings: Option<HashSet<String>>,
}

impl RowFilter {
    /// Prepares a filter. `openings` are the names of all openings by which games can be classified.
    pub(crate) fn new<'n>(filter: &GameFilter, openings: impl IntoIterator<Item = &'n str>) -> Self {
        let mut selection = Selection::default();
        selection.add_plain(filter);
        selection.add_test(false, "opening_eco", filter.opening_eco.as_ref().map(EcoRange::test));
        let conditions = selection.conditions().cloned().collect();
        let openings = filter.opening.as_ref().map(|name| matching_openings(name, openings));
        Self { filter: filter.clone(), conditions, openings }
    }

    /// Whether a game matches. `cell` returns the value of a column of the game, with names instead of their
    /// ids.
    pub(crate) fn fits<'c>(&self, cell: impl Fn(&str) -> Cell<'c>) -> bool {
        let holds = |(column, test): &(&str, Test)| test.fits(cell(column));
        let conditions = self.conditions.iter().all(|condition| match condition {
            Condition::Tests(alternatives) => alternatives.iter().any(|tests| tests.iter().all(holds)),
            Condition::SumIn(..) => true,
        });
        conditions && self.names_fit(&cell) && self.players_fit(&cell)
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
