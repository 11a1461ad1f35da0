//! Narrows selections by conditions that users' filters do not have: ranges of the mean rating, casual games,
//! or the rest of a sorted list.

use std::ops::RangeInclusive;

use crate::id::GameId;
use crate::store::game_column::{BLACK_ELO, Condition, Test, WHITE_ELO};
use crate::store::read::occurrence::hit::{GameSortKey, rank_sql};
use crate::store::{Database, HitOrder, NameFilter, Named, Result, Selection};

impl Database {
    /// The place of a game in the order `order`; `None` if the game does not exist.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn game_sort_key(&self, game: GameId, order: HitOrder) -> Result<Option<GameSortKey>> {
        self.place(game, order).map_err(self.failed("look up a game"))
    }

    /// If `is_casual`, keeps only games whose event's name has a word that begins with `casual`; otherwise
    /// removes these games.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn narrow_to_casual(&self, selection: &mut Selection, is_casual: bool) -> Result<()> {
        let ids = self.names(Named::Event, &NameFilter::Word("casual".to_owned()))?;
        let mut ids: Vec<i64> = ids.into_iter().map(i64::from).collect();
        ids.sort_unstable();
        let test = if is_casual { Test::OneOf(ids) } else { Test::NoneOf(ids) };
        selection.add_test(false, "event_id", Some(test));
        Ok(())
    }
}

impl Selection {
    /// Keeps only games whose players' mean rating is known and in one of these ranges.
    pub fn narrow_to_mean_ratings(&mut self, ranges: &[RangeInclusive<u16>]) {
        // The mean is rounded down.
        let sum =
            |range: &RangeInclusive<u16>| i64::from(*range.start()) * 2..=i64::from(*range.end()) * 2 + 1;
        let sums: Vec<_> = ranges.iter().map(sum).collect();
        let is_in = |range: &RangeInclusive<i64>| {
            format!("game.white_elo + game.black_elo BETWEEN {} AND {}", range.start(), range.end())
        };
        let sql = sums.iter().map(is_in).collect::<Vec<_>>().join(" OR ");
        let sql = if sql.is_empty() { "false".to_owned() } else { format!("({sql})") };
        self.add_condition(false, sql, Condition::SumIn([WHITE_ELO, BLACK_ELO], sums));
    }

    /// Removes the games that come before `place` in this order, so that the rest of a list remains. The game
    /// at `place` remains.
    pub fn begin_at(&mut self, order: HitOrder, place: GameSortKey) {
        let sign = if order.is_descending() { "-" } else { "" };
        let sql = match order {
            HitOrder::Game => "game.game_id >= :from_game".to_owned(),
            order => format!(
                "(game.result = '*', {}, {sign}game.game_id) >= (:from_unfinished, :from_rank, {sign}:from_game)",
                rank_sql(order)
            ),
        };
        // The stored columns are not sufficient to evaluate this condition. So the condition on the columns is an
        // alternative without tests, which all games match.
        self.add_condition(false, sql, Condition::Tests(vec![Vec::new()]));
        self.add_param(":from_game", place.game.0.into());
        self.add_param(":from_unfinished", place.is_unfinished.into());
        self.add_param(":from_rank", place.rank);
    }
}
