//! Answers in the form that clients of Lichess's opening explorer read.
//!
//! These clients require some changes to [`PositionStatistics`](crate::query::PositionStatistics): names and
//! ratings are never null, ids consist of eight letters or digits, and castling is written as the king taking
//! its own rook.

use serde::Serialize;

use crate::board::Position;
use crate::id::GameId;
use crate::opening::Opening;
use crate::query::explore::{
    GameEntry, HistoryMonth, ListedGame, MoveStatistics, Player, PositionStatistics, Winner,
};
use crate::store::{self, Database, GameMarks, NameFilter};

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const LENGTH: usize = 8;

/// The moves played from a position, in the form of Lichess's opening explorer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExplorerAnswer {
    /// Number of games won by White.
    pub white: u32,
    /// Number of drawn games.
    pub draws: u32,
    /// Number of games won by Black.
    pub black: u32,
    /// Opening of the position, or of the last named position on the way to it; `null` if there is none.
    pub opening: Option<Opening>,
    /// The moves played from the position, the most frequent first.
    pub moves: Vec<ExplorerMove>,
    /// The games with the highest mean rating of both players, the highest first.
    pub top_games: Vec<ExplorerListedGame>,
    /// The latest games, the latest first.
    pub recent_games: Vec<ExplorerListedGame>,
    /// Games by month. Missing unless the request has `history=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<Vec<HistoryMonth>>,
    /// Only in answers of `/player`: the number of requests that are served before this one, always 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_position: Option<u32>,
}

/// A move played from the position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExplorerMove {
    /// The move in UCI notation. Castling is written as the king taking its own rook: `e1h1`.
    pub uci: String,
    /// The move in SAN.
    pub san: String,
    /// Mean rating of the players who made the move; 0 if no rating is known. Missing in answers of
    /// `/player`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_rating: Option<u64>,
    /// Only in answers of `/player`: mean rating of the player's opponents in games with the move; 0 if no
    /// rating is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_opponent_rating: Option<u64>,
    /// Only in answers of `/player`: the player's performance rating in games with the move; 0 if no
    /// opponent's rating is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub performance: Option<i32>,
    /// Number of games with the move that White won.
    pub white: u32,
    /// Number of drawn games with the move.
    pub draws: u32,
    /// Number of games with the move that Black won.
    pub black: u32,
    /// The finished game with the move, if there is exactly one; otherwise `null`.
    pub game: Option<ExplorerGame>,
    /// Opening of the position after the move; `null` if it has no name.
    pub opening: Option<Opening>,
}

/// A game that reached the position, and its next move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExplorerListedGame {
    /// The move played from the position, in UCI notation; empty if the game ended there.
    pub uci: String,
    /// The game.
    #[serde(flatten)]
    pub game: ExplorerGame,
}

/// A game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExplorerGame {
    /// Eight letters and digits: the game's ID at Lichess, or its number in this database in base 62.
    pub id: String,
    /// The side that won; `null` for a draw.
    pub winner: Option<Winner>,
    /// Speed, in the classes of Lichess; `classical` if it is unknown.
    pub speed: String,
    /// `casual` if the name of the event says so; otherwise `rated`.
    pub mode: &'static str,
    /// White's player.
    pub white: ExplorerPlayer,
    /// Black's player.
    pub black: ExplorerPlayer,
    /// Year; 0 if it is unknown.
    pub year: u16,
    /// Year and month, such as `2024-02`; January if the month is unknown.
    pub month: String,
}

/// A player of a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExplorerPlayer {
    /// Name; `?` if it is unknown.
    pub name: String,
    /// Rating; 0 if it is unknown.
    pub rating: u16,
}

impl ExplorerAnswer {
    /// Converts the counts of a position into the form that explorer clients read.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn new(database: &Database, position: &Position, found: PositionStatistics) -> store::Result<Self> {
        let list = |games: Vec<ListedGame>| games.into_iter().map(|game| listed(database, position, game));
        let moves = found.moves.into_iter().map(|played| explorer_move(database, position, played));
        Ok(Self {
            white: found.results.white_wins,
            draws: found.results.draws,
            black: found.results.black_wins,
            opening: found.opening,
            moves: moves.collect::<store::Result<_>>()?,
            top_games: list(found.top_games).collect::<store::Result<_>>()?,
            recent_games: list(found.recent_games).collect::<store::Result<_>>()?,
            history: None,
            queue_position: None,
        })
    }
}

fn explorer_move(
    database: &Database,
    position: &Position,
    found: MoveStatistics,
) -> store::Result<ExplorerMove> {
    Ok(ExplorerMove {
        uci: takes_rook(position, found.uci),
        san: found.san,
        average_rating: found.score.is_none().then(|| found.average_rating.unwrap_or(0)),
        average_opponent_rating: found.score.map(|score| score.average_opponent_rating.unwrap_or(0)),
        performance: found.score.map(|score| score.performance.unwrap_or(0)),
        white: found.results.white_wins,
        draws: found.results.draws,
        black: found.results.black_wins,
        game: found.game.map(|found| game(database, found)).transpose()?,
        opening: found.opening,
    })
}

fn listed(database: &Database, position: &Position, found: ListedGame) -> store::Result<ExplorerListedGame> {
    let uci = found.uci.map(|uci| takes_rook(position, uci)).unwrap_or_default();
    Ok(ExplorerListedGame { uci, game: game(database, found.game)? })
}

/// A move in UCI notation; castling is written as the king taking its own rook.
fn takes_rook(position: &Position, uci: String) -> String {
    match position.resolve(uci.as_bytes()) {
        Ok(code) => position.uci_chess960(code).to_string(),
        Err(_) => uci,
    }
}

fn game(database: &Database, found: GameEntry) -> store::Result<ExplorerGame> {
    let marks = database.game_marks(found.id)?;
    let casual = NameFilter::Word("casual".to_owned());
    let is_casual = found.event.as_deref().is_some_and(|event| casual.matches(event));
    let year = found.year.unwrap_or(0);
    Ok(ExplorerGame {
        id: game_code(found.id, &marks),
        winner: found.winner,
        speed: marks.speed.unwrap_or_else(|| "classical".to_owned()),
        mode: if is_casual { "casual" } else { "rated" },
        white: player(found.white),
        black: player(found.black),
        year,
        month: found.month.unwrap_or_else(|| format!("{year:04}-01")),
    })
}

fn player(found: Player) -> ExplorerPlayer {
    ExplorerPlayer { name: found.name.unwrap_or_else(|| "?".to_owned()), rating: found.rating.unwrap_or(0) }
}

/// The id of a game: its Lichess id or, if it has no valid one, its number in base 62.
#[must_use]
pub fn game_code(game: GameId, marks: &GameMarks) -> String {
    match &marks.lichess_id {
        Some(id) if is_code(id) => id.clone(),
        _ => number_code(game),
    }
}

/// The game with an id as returned by [`game_code`]; `None` if there is no such game. A game's number in
/// decimal digits is accepted too, if it has fewer than eight digits.
///
/// # Errors
/// Errors of SQLite.
pub fn game_of_code(database: &Database, code: &str) -> store::Result<Option<GameId>> {
    if code.len() < LENGTH {
        return existing(database, code.parse().ok().map(GameId));
    }
    if let Some(game) = existing(database, number(code))?
        && game_code(game, &database.game_marks(game)?) == code
    {
        return Ok(Some(game));
    }
    if is_code(code) { database.game_of_lichess_id(code) } else { Ok(None) }
}

fn existing(database: &Database, game: Option<GameId>) -> store::Result<Option<GameId>> {
    let Some(game) = game else { return Ok(None) };
    Ok(database.game_from(game)?.filter(|found| *found == game))
}

fn is_code(text: &str) -> bool {
    text.len() == LENGTH && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn number_code(game: GameId) -> String {
    let mut code = [DIGITS[0]; LENGTH];
    let mut rest = game.0 as usize;
    for digit in code.iter_mut().rev() {
        *digit = DIGITS[rest % DIGITS.len()];
        rest /= DIGITS.len();
    }
    code.iter().map(|&digit| char::from(digit)).collect()
}

fn number(code: &str) -> Option<GameId> {
    let digit = |byte| DIGITS.iter().position(|&digit| digit == byte);
    let read = code.bytes().try_fold(0_u64, |number, byte| Some(number * 62 + digit(byte)? as u64));
    read.filter(|_| code.len() == LENGTH).and_then(|number| u32::try_from(number).ok()).map(GameId)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_game_ids_are_parsed_again() {
        for game in [1, 9, 10, 61, 62, 3843, 3844, 400_000, u32::MAX] {
            let code = number_code(GameId(game));
            assert!(is_code(&code), "{code}");
            assert_eq!(number(&code), Some(GameId(game)), "{code}");
        }
        assert_eq!(number_code(GameId(63)), "00000011");
        for wrong in ["", "0000001", "000000001", "zzzzzzzz", "0000000-", "0000000é"] {
            assert_eq!(number(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_game_of_lichess_keeps_its_id() {
        let marks = |id: &str| GameMarks { lichess_id: Some(id.to_owned()), speed: None };
        assert_eq!(game_code(GameId(1), &marks("q7ZvsdUF")), "q7ZvsdUF");
        assert_eq!(game_code(GameId(1), &marks("<b>")), "00000001");
    }
}
