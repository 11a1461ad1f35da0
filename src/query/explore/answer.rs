//! The answers about the moves played from a position.

use serde::{Serialize, Serializer};

use crate::board::{Color, GameResult, MoveCode, Position};
use crate::id::GameId;
use crate::opening::Opening;
use crate::query::performance::{opponent_rating, performance};
use crate::query::position::san;
use crate::store::row::{RatedScore, ResultCounts};
use crate::store::{GameSummary, Hit};

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
    /// Number of games with a result that reached the position in another move order than the given one: they
    /// did not have all positions on the way. Missing if fewer than two moves were given, or if the number is
    /// not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transposed: Option<u64>,
    /// Number of games, with or without a result, with a variation that reaches the position or begins there.
    /// Missing unless variations were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_variations: Option<u64>,
    /// The moves played from the position, the most frequent first. Equally frequent moves are ordered by the
    /// number of games with them in variations, then by UCI notation.
    pub moves: Vec<MoveStatistics>,
    /// The games with the highest mean rating of both players, the highest first.
    pub top_games: Vec<ListedGame>,
    /// The latest games, the latest first.
    pub recent_games: Vec<ListedGame>,
    /// Number of games with a result that ended in the position.
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
    /// Games by year, in ascending order, unknown years last. Years without games that reached the position
    /// are listed if they lie in between and have other games. Missing unless requested.
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
    /// The moves that are the most frequent ones over all years, with their games in this year. All years
    /// list the same moves.
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
    /// Number of games, with or without a result, with the move in a variation. A move that occurs only in
    /// variations has no other games. Missing unless variations were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_variations: Option<u64>,
    /// The game with the move, if there is only one; otherwise `null`.
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
    /// Mean rating of the side's opponents, from games with a result and a known opponent's rating; `null` if
    /// there are none.
    pub average_opponent_rating: Option<u64>,
    /// The side's performance rating by FIDE's table, from the same games; `null` if there are none.
    pub performance: Option<i32>,
}

impl SideScore {
    pub(super) fn new(color: Color, rated: &RatedScore) -> Self {
        Self { color, average_opponent_rating: opponent_rating(rated), performance: performance(rated) }
    }

    /// An empty score of a side.
    #[must_use]
    pub const fn empty(color: Color) -> Self {
        Self { color, average_opponent_rating: None, performance: None }
    }

    /// The numbers of games that the side won, drew and lost.
    #[must_use]
    pub const fn won_drawn_lost(&self, results: &ResultCounts) -> [u32; 3] {
        let &ResultCounts { white_wins, draws, black_wins, .. } = results;
        match self.color {
            Color::White => [white_wins, draws, black_wins],
            Color::Black => [black_wins, draws, white_wins],
        }
    }
}

/// A game that reached the position, and its next move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListedGame {
    /// The move played from the position, in UCI notation; `null` if the game ended there.
    pub uci: Option<String>,
    /// The same move in SAN.
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
    pub(super) fn from_hit(position: &Position, hit: Hit) -> Self {
        Self {
            uci: hit.next.map(|code| position.uci(code).to_string()),
            san: hit.next.map(|code| san(position, code)),
            game: GameEntry::from_summary(hit.game),
        }
    }
}

impl GameEntry {
    pub(super) fn from_summary(game: GameSummary) -> Self {
        let date = game.date.as_deref().unwrap_or_default();
        let mut parts = date.split('.').map(|part| part.parse::<u16>().ok().filter(|&number| number != 0));
        let (year, month) = (parts.next().flatten(), parts.next().flatten());
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
