//! Counts the moves played from a position and their results, in the form of Lichess's opening explorer.

mod answer;
mod history;
mod tree;

pub use answer::{
    ExploreAnswer, GameEntry, HistoryMonth, HistoryMove, HistoryYear, ListedGame, MoveStatistics, Player,
    PositionStatistics, SideScore, Winner,
};
pub use tree::{MoveTree, TreeMove};

use crate::board::{Color, Position};
use crate::opening::{Opening, OpeningBook};
use crate::query::name::{SimilarNames, similar_names};
use crate::query::position::{PositionQuery, san};
use crate::sorted::sort_by;
use crate::store::row::RatedScore;
use crate::store::{
    self, Continuation, Database, ExploreOptions, Hit, Lines, ListLengths, PositionCounts, Selection,
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
        let PositionCounts { results, rated, unfinished, transposed, continuations, top_games, recent_games } =
            found;
        let went_on: u64 = continuations.iter().map(|played| played.results.games()).sum();
        let in_variations = variations.as_ref().map(|variations| variations.games);
        let mut moves = self.moves(continuations, variations)?;
        let limit = self.limit.map_or(usize::MAX, |limit| limit as usize);
        let hidden_moves = moves.len().saturating_sub(limit);
        moves.truncate(limit);
        let list = |hits: Vec<Hit>| hits.into_iter().map(|hit| ListedGame::from_hit(position, hit)).collect();
        Ok(PositionStatistics {
            opening: self.name_of_line()?,
            results,
            score: self.score(&rated),
            unfinished,
            transposed,
            in_variations,
            moves,
            top_games: list(top_games),
            recent_games: list(recent_games),
            ended: results.games().saturating_sub(went_on),
            hidden_moves,
        })
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
        let played = played.into_iter().map(|found| {
            let count = in_variations.as_mut().map(|moves| moves.remove(&found.code).unwrap_or(0));
            (found, count)
        });
        let mut found = Vec::from_iter(played);
        let others = in_variations.unwrap_or_default().into_iter();
        found.extend(others.map(|(code, games)| {
            let (results, rated) = Default::default();
            (Continuation { code, results, rated, only_game: None }, Some(games))
        }));
        let read = |(found, in_variations)| self.explored(found, in_variations);
        let mut moves = found.into_iter().map(read).collect::<store::Result<Vec<_>>>()?;
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

    /// The name of the position or, if it has none, of the last named position on its line.
    fn name_of_line(&self) -> store::Result<Option<Opening>> {
        let on_line = self.query.line.iter().rev().map(|played| &played.position);
        for position in std::iter::once(&self.query.position).chain(on_line) {
            if let Some(opening) = self.name(position)? {
                return Ok(Some(opening));
            }
        }
        Ok(None)
    }
}
