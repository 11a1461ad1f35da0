//! A filter on games that are not in a database. It is evaluated on a game's row alone.

use crate::store::game_column::{Condition, Test};
use crate::store::read::name::NameFilter;
use crate::store::read::selection::{GameFilter, Selection};
use crate::store::row::virtual_table::Cell;

/// A [`GameFilter`] prepared for rows. The condition on sources is ignored.
///
/// A name matches by its own spelling only: other spellings of the same player are known only to a database.
#[derive(Clone, Debug)]
pub(crate) struct RowFilter {
    filter: GameFilter,
    conditions: Vec<Condition>,
}

impl RowFilter {
    pub(crate) fn new(filter: &GameFilter) -> Self {
        let conditions = Selection::of_rows(filter).conditions().cloned().collect();
        Self { filter: filter.clone(), conditions }
    }

    /// Whether a game matches. `cell` returns a column of the game, with names instead of their numbers.
    pub(crate) fn fits<'c>(&self, cell: impl Fn(&str) -> Cell<'c>) -> bool {
        let holds = |(column, test): &(&str, Test)| test.fits(cell(column));
        let conditions = self.conditions.iter().all(|condition| match condition {
            Condition::Tests(alternatives) => alternatives.iter().any(|tests| tests.iter().all(holds)),
            Condition::SumIn(..) => true,
        });
        conditions && self.codes_fit(&cell) && self.names_fit(&cell) && self.players_fit(&cell)
    }

    fn codes_fit<'c>(&self, cell: &impl Fn(&str) -> Cell<'c>) -> bool {
        let range = self.filter.opening_eco.as_ref();
        range.is_none_or(|range| Test::Between(range.first.clone(), range.end()).fits(cell("opening_eco")))
    }

    fn names_fit<'c>(&self, cell: &impl Fn(&str) -> Cell<'c>) -> bool {
        let GameFilter { event, site, opening, .. } = &self.filter;
        [(event, "event"), (site, "site"), (opening, "opening")].iter().all(|(filter, column)| {
            let Some(filter) = filter else { return true };
            matches!(cell(column), Cell::Text(name) if filter.matches(name))
        })
    }

    fn players_fit<'c>(&self, cell: &impl Fn(&str) -> Cell<'c>) -> bool {
        let GameFilter { white, black, player, opponent, .. } = &self.filter;
        let fits = |filter: &NameFilter, column| matches!(cell(column), Cell::Text(name) if filter.matches_player(name));
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
