//! Counts the moves played from a position and their results, in the form of Lichess's opening explorer, also by month
//! and by year.

mod answer;
mod tree;

pub use answer::{
    ExploreAnswer, GameEntry, HistoryMonth, HistoryMove, HistoryYear, ListedGame, MoveStatistics, Player,
    PositionStatistics, SideScore, Winner,
};
pub use tree::{MoveTree, TreeMove};

use std::cmp::Reverse;

use crate::board::{Color, GameResult, MoveCode, Position};
use crate::opening::{Opening, OpeningBook};
use crate::query::name::{SimilarNames, similar_names};
use crate::query::position::{PositionQuery, san};
use crate::sorted::{SortedMap, sort_by, sort_by_key};
use crate::store::row::{RatedScore, ResultCounts, month_of, year_of};
use crate::store::{
    self, Continuation, Database, ExploreOptions, Hit, Lines, ListLengths, ReachedGames, Selection,
    VariationMoves,
};

/// A query for the moves played from a position.
#[derive(Clone, Copy, Debug)]
pub struct ExploreQuery<'a> {
    /// The database.
    pub database: &'a Database,
    /// The position. If it has no name, the name of the last named position of its line is used.
    pub query: &'a PositionQuery,
    /// Whether moves of variations are counted too, separately from played moves.
    pub lines: Lines,
    /// The games to count.
    pub selection: &'a Selection,
    /// The side for which a score is computed in addition, if any.
    pub side: Option<Color>,
    /// How many games to list.
    pub lists: ListLengths,
    /// The maximum number of moves; `None`: all.
    pub limit: Option<u32>,
    /// Whether to count separately how many of the games reached the position by another order of moves. They
    /// are counted in any case.
    pub counts_transposed: bool,
    /// Names of openings to use instead of those in the database.
    pub openings: Option<&'a OpeningBook>,
}

/// The counts of a year.
#[derive(Default)]
struct Counted {
    results: ResultCounts,
    moves: SortedMap<MoveCode, u64>,
}

impl ExploreQuery<'_> {
    /// Counts the moves played from the position.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn answer(&self) -> store::Result<PositionStatistics> {
        let position = &self.query.position;
        let (key, fen) = (position.key(), position.canonical_fen());
        let snapshot = self.database.snapshot()?;
        // The positions after each given move but the last. If fewer than two moves were given, there is no
        // such position, and the moves have only one order.
        let before = self.query.line.split_last().map_or(&[][..], |(_, before)| before);
        let before = if self.counts_transposed { before } else { &[] };
        let before: Vec<Position> = before.iter().map(|played| played.position.clone()).collect();
        let parts = ExploreOptions { lists: self.lists, side: self.side, before: &before };
        let found = self.database.explore(key, &fen, self.selection, parts)?;
        let variations = match self.lines {
            Lines::Main => None,
            Lines::All => Some(self.database.variation_moves(position, self.selection)?),
        };
        drop(snapshot);
        let went_on: u64 = found.continuations.iter().map(|played| played.results.games()).sum();
        let in_variations = variations.as_ref().map(|variations| variations.games);
        let mut moves = self.moves(found.continuations, variations)?;
        let limit = self.limit.map_or(usize::MAX, |limit| limit as usize);
        let hidden_moves = moves.len().saturating_sub(limit);
        moves.truncate(limit);
        let list = |hits: Vec<Hit>| hits.into_iter().map(|hit| ListedGame::from_hit(position, hit)).collect();
        Ok(PositionStatistics {
            opening: self.opening()?,
            results: found.results,
            score: self.score(&found.rated),
            unfinished: found.unfinished,
            transposed: found.transposed,
            in_variations,
            moves,
            top_games: list(found.top_games),
            recent_games: list(found.recent_games),
            ended: found.results.games().saturating_sub(went_on),
            hidden_moves,
        })
    }

    /// The name of the position or, if it has none, of the last named position on its line.
    fn opening(&self) -> store::Result<Option<Opening>> {
        self.query.opening(|position| self.name(position))
    }

    /// Names in the filters that do not occur in the database: a possible reason why no game passes the
    /// filters.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn unknown_names(&self) -> store::Result<Vec<SimilarNames>> {
        similar_names(self.database, self.selection)
    }

    fn score(&self, rated: &RatedScore) -> Option<SideScore> {
        self.side.map(|side| SideScore::new(side, rated))
    }

    fn moves(
        &self,
        played: Vec<Continuation>,
        variations: Option<VariationMoves>,
    ) -> store::Result<Vec<MoveStatistics>> {
        let mut in_variations = variations.map(|variations| variations.moves);
        let mut moves = Vec::new();
        for found in played {
            let count = in_variations.as_mut().map(|moves| moves.remove(&found.code).unwrap_or(0));
            moves.push(self.explored(found, count)?);
        }
        for (code, games) in in_variations.unwrap_or_default() {
            let (results, rated) = Default::default();
            moves.push(self.explored(Continuation { code, results, rated, only_game: None }, Some(games))?);
        }
        sort_by(&mut moves, |a, b| {
            let games = |played: &MoveStatistics| (played.results.games(), played.in_variations);
            games(b).cmp(&games(a)).then_with(|| a.uci.cmp(&b.uci))
        });
        Ok(moves)
    }

    fn explored(&self, found: Continuation, in_variations: Option<u64>) -> store::Result<MoveStatistics> {
        let position = &self.query.position;
        let mut after = position.clone();
        let opening = match after.make(found.code) {
            Ok(_) => self.name(&after)?,
            Err(_) => None,
        };
        Ok(MoveStatistics {
            code: found.code,
            uci: position.uci(found.code).to_string(),
            san: san(position, found.code),
            average_rating: found.results.mean_elo(position.side()),
            results: found.results,
            score: self.score(&found.rated),
            in_variations,
            game: found.only_game.map(|hit| GameEntry::from_summary(hit.game)),
            opening,
        })
    }

    /// The name of a position, from the given list of openings or, if none is given, from the database.
    fn name(&self, position: &Position) -> store::Result<Option<Opening>> {
        match self.openings {
            Some(book) => Ok(book.get(position).cloned()),
            None => self.database.opening_of(position.key(), &position.canonical_fen()),
        }
    }

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
        sort_by_key(&mut codes, |&(code, games)| (Reverse(games), code));
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
