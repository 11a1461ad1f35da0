//! Counts the moves played from a position, and the results of their games, and returns the counts in the
//! form of Lichess's opening explorer. Also counts the games by month and by year.

mod tree;

use std::cmp::Reverse;

use serde::{Serialize, Serializer};

pub use tree::{MoveTree, TreeMove};

use crate::board::{Color, GameResult, MoveCode, Position};
use crate::id::GameId;
use crate::opening::{Opening, OpeningBook};
use crate::query::performance::performance;
use crate::query::position::{PositionQuery, san};
use crate::sorted::{SortedMap, sort_by, sort_by_key};
use crate::store::row::{RatedScore, ResultCounts, day_number, month_of, year_of};
use crate::store::{
    self, Continuation, Database, ExploreOptions, GameSummary, Hit, Lines, ListLengths, ReachedGames,
    Selection, VariationMoves,
};

/// A query for the moves played from a position.
#[derive(Clone, Copy, Debug)]
pub struct ExploreQuery<'a> {
    /// The database.
    pub database: &'a Database,
    /// The position. If the position has no name, the name of the last named position of its line is used.
    pub query: &'a PositionQuery,
    /// Whether moves of variations are counted too, separately from played moves.
    pub lines: Lines,
    /// The games to count.
    pub selection: &'a Selection,
    /// The side for which a [`SideScore`] is computed; `None`: no side.
    pub side: Option<Color>,
    /// How many games to list.
    pub lists: ListLengths,
    /// The maximum number of moves; `None`: all.
    pub limit: Option<u32>,
    /// Whether to count separately how many of the games reached the position by another order of moves. All
    /// other counts include these games in any case.
    pub counts_transposed: bool,
    /// Names of openings to use instead of those in the database.
    pub openings: Option<&'a OpeningBook>,
}

/// The moves played from a position, and the results of the games.
///
/// A game counts once, even if it reached the position several times. Games without a result are counted
/// separately.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PositionStatistics {
    /// Opening of the position, or of the last named position on the way to it; `null` if there is none.
    pub opening: Option<Opening>,
    /// Games that reached the position, by result.
    #[serde(flatten)]
    pub results: ResultCounts,
    /// Ratings of the requested side. Missing unless a side was requested.
    #[serde(flatten)]
    pub score: Option<SideScore>,
    /// Number of games without a result that reached the position. The numbers of results do not include
    /// them.
    pub unfinished: u64,
    /// Number of games with a result that reached the position in a different move order, that is, without
    /// reaching every position of the given line. Missing if fewer than two moves were given, or if the
    /// number is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transposed: Option<u64>,
    /// Number of games with a variation that reaches the position or begins there. Games without a result are
    /// included. Missing unless variations were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_variations: Option<u64>,
    /// The moves played from the position, the most frequent first. Equally frequent moves are ordered by the
    /// number of games with them in variations, then by UCI notation.
    pub moves: Vec<MoveStatistics>,
    /// The games with the highest mean rating of both players, the highest first.
    pub top_games: Vec<ListedGame>,
    /// The latest games, the latest first.
    pub recent_games: Vec<ListedGame>,
    /// Number of games with a result that reached the position and played no move from it.
    #[serde(skip)]
    pub ended: u64,
    /// Number of moves omitted because of the limit.
    #[serde(skip)]
    pub hidden_moves: usize,
}

/// The moves played from a position, with additional requested data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExploreAnswer {
    /// The moves played from the position.
    #[serde(flatten)]
    pub explored: PositionStatistics,
    /// Games by year, in ascending order, unknown years last. A year without games that reached the position
    /// is listed only if it lies between years with such games, and has other games that pass the filters and
    /// have a result. Missing unless requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<Vec<HistoryYear>>,
    /// The moves played from the position in the games to compare with. Missing unless requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub versus: Option<PositionStatistics>,
}

/// The games of one year that reached a position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HistoryYear {
    /// Year; `null` for games without a known year.
    pub year: Option<u16>,
    /// Games that reached the position, by result.
    #[serde(flatten)]
    pub results: ResultCounts,
    /// Number of all games of the year that pass the filters and have a result, whether they reached the
    /// position or not.
    pub games_of_year: u64,
    /// The most frequent moves over all years, with their numbers of games in this year. All years list the
    /// same moves.
    pub moves: Vec<HistoryMove>,
}

/// The number of games with a move in one year.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HistoryMove {
    /// The move in UCI notation.
    pub uci: String,
    /// The move in SAN.
    pub san: String,
    /// Number of games with a result in which the move was played.
    pub games: u64,
}

/// The games of one month that reached a position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HistoryMonth {
    /// Year and month, such as `2024-02`.
    pub month: String,
    /// Games that reached the position, by result.
    #[serde(flatten)]
    pub results: ResultCounts,
}

/// A move played from the position, or a move of a variation there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MoveStatistics {
    /// The move.
    #[serde(skip)]
    pub code: MoveCode,
    /// The move in UCI notation.
    pub uci: String,
    /// The move in SAN.
    pub san: String,
    /// Mean rating of the players who made the move; `null` if no rating is known.
    pub average_rating: Option<u64>,
    /// Games with the move, by result.
    #[serde(flatten)]
    pub results: ResultCounts,
    /// Ratings of the requested side in games with the move. Missing unless a side was requested.
    #[serde(flatten)]
    pub score: Option<SideScore>,
    /// Number of games, with or without a result, with the move in a variation. For a move that occurs only
    /// in variations, all other numbers of games are 0. Missing unless variations were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_variations: Option<u64>,
    /// The game with a result in which the move was played, if there is only one; otherwise `null`.
    pub game: Option<GameEntry>,
    /// Opening of the position after the move; `null` if it has no name.
    pub opening: Option<Opening>,
}

/// Ratings that describe the performance of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SideScore {
    /// The requested side: `white` or `black`.
    #[serde(serialize_with = "as_color")]
    #[cfg_attr(test, schemars(with = "String", extend("enum" = ["white", "black"])))]
    pub color: Color,
    /// Mean rating of the side's opponents, from games with a result in which the opponent's rating is known;
    /// `null` if there are no such games.
    pub average_opponent_rating: Option<u64>,
    /// The side's performance rating by FIDE's table, from games with a result in which the opponent's rating
    /// is known; `null` if there are no such games.
    pub performance: Option<i32>,
}

/// A game that reached the position, and its next move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListedGame {
    /// The move played from the position, in UCI notation; `null` if the game ended there.
    pub uci: Option<String>,
    /// The move played from the position, in SAN; `None` if the game ended there.
    #[serde(skip)]
    pub san: Option<String>,
    /// The game.
    #[serde(flatten)]
    pub game: GameEntry,
}

/// A game in the form of Lichess's opening explorer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GameEntry {
    /// Number of the game, as a string, because IDs of Lichess are strings.
    #[serde(serialize_with = "as_text")]
    #[cfg_attr(test, schemars(with = "String"))]
    pub id: GameId,
    /// The side that won; `null` if the game was drawn or has no result.
    pub winner: Option<Winner>,
    /// White's player.
    pub white: Player,
    /// Black's player.
    pub black: Player,
    /// Year; `null` if unknown.
    pub year: Option<u16>,
    /// Year and month, such as `2024-02`; `null` if the month is unknown.
    pub month: Option<String>,
    /// The result.
    #[serde(skip)]
    pub result: GameResult,
    /// Date, `YYYY.MM.DD` with `??` for unknown parts.
    #[serde(skip)]
    pub date: Option<String>,
    /// Name of the event.
    #[serde(skip)]
    pub event: Option<String>,
}

/// The side that won a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Winner {
    /// White.
    White,
    /// Black.
    Black,
}

/// A player of a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Player {
    /// Name; `null` if unknown.
    pub name: Option<String>,
    /// Rating; `null` if unknown.
    pub rating: Option<u16>,
}

impl PositionStatistics {
    /// Whether no game reached the position and, if variations are searched, no variation either.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.results.games() == 0 && self.unfinished == 0 && self.in_variations.unwrap_or(0) == 0
    }
}

impl ListedGame {
    fn from_hit(position: &Position, hit: Hit) -> Self {
        Self {
            uci: hit.next.map(|code| position.uci(code).to_string()),
            san: hit.next.map(|code| san(position, code)),
            game: GameEntry::from_summary(hit.game),
        }
    }
}

impl GameEntry {
    fn from_summary(game: GameSummary) -> Self {
        let day = game.date.as_deref().map_or(0, day_number);
        let (year, month) = (year_of(day), month_of(day));
        let player = |name, rating| Player { name, rating };
        Self {
            id: game.game,
            winner: match game.result {
                GameResult::White => Some(Winner::White),
                GameResult::Black => Some(Winner::Black),
                GameResult::Draw | GameResult::Unknown => None,
            },
            white: player(game.white, game.white_elo),
            black: player(game.black, game.black_elo),
            year,
            month: year.zip(month).map(|(year, month)| format!("{year:04}-{month:02}")),
            result: game.result,
            date: game.date,
            event: game.event,
        }
    }
}

fn as_color<S: Serializer>(color: &Color, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match color {
        Color::White => "white",
        Color::Black => "black",
    })
}

fn as_text<S: Serializer>(game: &GameId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&game.0)
}

/// The results of the games of one year, and the number of games with each move.
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
        // The positions after each given move except the last. With fewer than two moves, there is no such
        // position, and no other order of the moves.
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

    /// The opening of the position or, if it has no name, of the last named position on its line.
    fn opening(&self) -> store::Result<Option<Opening>> {
        self.query.opening(|position| self.name(position))
    }

    fn score(&self, rated: &RatedScore) -> Option<SideScore> {
        let (average_opponent_rating, performance) = (rated.opponents.mean(), performance(rated));
        self.side.map(|color| SideScore { color, average_opponent_rating, performance })
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

    /// The games that reached the position, by month, the first month first. Games with an unknown month or
    /// without a result are omitted.
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

    /// The games with a result that reached the position, by year, the first year first, unknown years last.
    /// A year without such games is listed only if it lies between years with such games. In addition, other
    /// games of that year must pass the filters and have a result. All years list the same moves: the most
    /// frequent over all years, at most `most_moves`. Equally frequent moves are ordered by UCI notation.
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
        sort_by_key(&mut codes, |&(code, games)| (Reverse(games), position.uci(code).to_string()));
        codes.truncate(most_moves);
        let known = || years.keys().filter_map(|year| *year);
        let (first, last) = (known().min(), known().max());
        let is_listed = |year: Option<u16>| match year {
            Some(_) => (first..=last).contains(&year),
            None => years.contains_key(&None),
        };
        let mut listed: Vec<_> = games_of_years.iter().filter(|(year, _)| is_listed(**year)).collect();
        sort_by_key(&mut listed, |(year, _)| (year.is_none(), **year));
        let none = Counted::default();
        let year = |(&year, &games_of_year): (&Option<u16>, &u64)| {
            let counted = years.get(&year).unwrap_or(&none);
            let moves = codes.iter().map(|&(code, _)| HistoryMove {
                uci: position.uci(code).to_string(),
                san: san(position, code),
                games: counted.moves.get(&code).copied().unwrap_or(0),
            });
            HistoryYear { year, results: counted.results, games_of_year, moves: moves.collect() }
        };
        Ok(listed.into_iter().map(year).collect())
    }
}
