//! The games that reached a position: by month, or by year with their moves.

use super::ExploreQuery;
use super::answer::{HistoryMonth, HistoryMove, HistoryYear};
use crate::board::{GameResult, MoveCode};
use crate::query::position::san;
use crate::sorted::{SortedMap, sort_by_key};
use crate::store::row::{ResultCounts, month_of, year_of};
use crate::store::{self, ReachedGames};

/// The counts of a year.
#[derive(Default)]
struct Counted {
    results: ResultCounts,
    moves: SortedMap<MoveCode, u64>,
}

impl ExploreQuery<'_> {
    /// The games by month, the first month first. Games with an unknown month or without a result are left
    /// out.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn months(&self) -> store::Result<Vec<HistoryMonth>> {
        let mut reached = ReachedGames::new(self.database, self.selection);
        let new = SortedMap::<(u16, u8), ResultCounts>::new;
        let months = reached.fold(&self.query.position, new, |months, game| {
            if let (Some(year), Some(month)) = (year_of(game.day), month_of(game.day))
                && game.result != GameResult::Unknown
            {
                let counted = months.entry((year, month));
                counted.count(game.result, game.elos, Some(year));
            }
        })?;
        let listed =
            |((year, month), results)| HistoryMonth { month: format!("{year:04}-{month:02}"), results };
        Ok(months.into_iter().map(listed).collect())
    }

    /// The games with a result by year, the first year first, unknown years last. A year in which no game
    /// reached the position is included if it lies between years in which games did, and other games of the
    /// year pass the filters. Each year lists the `most_moves` moves that are the most frequent over all years.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn history(&self, most_moves: usize) -> store::Result<Vec<HistoryYear>> {
        let position = &self.query.position;
        let snapshot = self.database.snapshot()?;
        let mut reached = ReachedGames::new(self.database, self.selection);
        let years = reached.fold(position, SortedMap::<Option<u16>, Counted>::new, |years, game| {
            if game.result == GameResult::Unknown {
                return;
            }
            let year = year_of(game.day);
            let counted = years.entry(year);
            counted.results.count(game.result, game.elos, year);
            if let Some(code) = game.played {
                *counted.moves.entry(code) += 1;
            }
        })?;
        let games_of_years = self.database.finished_by_year(self.selection)?;
        drop(snapshot);
        let mut totals = SortedMap::<MoveCode, u64>::new();
        for (&code, games) in years.values().flat_map(|counted| counted.moves.iter()) {
            *totals.entry(code) += games;
        }
        let mut codes = Vec::from_iter(totals);
        sort_by_key(&mut codes, |&(code, games)| (std::cmp::Reverse(games), code));
        codes.truncate(most_moves);
        let known = || years.keys().filter_map(|year| *year);
        let (first, last) = (known().min(), known().max());
        let is_listed = |year: Option<u16>| match year {
            Some(year) => first.is_some_and(|first| first <= year) && last.is_some_and(|last| year <= last),
            None => years.contains_key(&None),
        };
        let mut listed: Vec<_> = games_of_years.iter().filter(|(year, _)| is_listed(**year)).collect();
        sort_by_key(&mut listed, |(year, _)| (year.is_none(), **year));
        let none = Counted::default();
        let year = |(&year, &games_of_year): (&Option<u16>, &u64)| {
            let counted = years.get(&year).unwrap_or(&none);
            let games = |code| counted.moves.get(&code).copied().unwrap_or(0);
            let moves = codes.iter().map(|&(code, _)| HistoryMove {
                uci: position.uci(code).to_string(),
                san: san(position, code),
                games: games(code),
            });
            HistoryYear { year, results: counted.results, games_of_year, moves: moves.collect() }
        };
        Ok(listed.into_iter().map(year).collect())
    }
}
