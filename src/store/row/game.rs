//! Rows of `game`, of the tables of names, and of `tag`.

use super::description::{table_row, values};
use super::stored::StoredText;
use super::text::Text;
use crate::board::GameResult;
use crate::id::{GameId, ImportId, NameId, OpeningId, SourceId};

table_row! {
    /// One row of `game`. `None` is NULL: the value is missing, unknown (such as `?`) or cannot be read,
    /// unless the field says otherwise.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct GameRow in "game", key 1, stored as StoredGame {
        /// The game.
        "game_id" pub game: GameId,
        /// The file that contains the game.
        "source_id" pub source: SourceId,
        /// The offset of the game's text in this file, in bytes.
        "byte_offset" pub byte_offset: u64,
        /// The length of the game's text, in bytes.
        "byte_length" pub byte_length: u64,
        /// Event name.
        "event_id" pub event: Option<NameId>,
        /// Site name.
        "site_id" pub site: Option<NameId>,
        /// PGN date, `YYYY.MM.DD`, unknown parts `??`.
        "date" pub date: Option<Text>,
        /// Round.
        "round" pub round: Option<Text>,
        /// White's player.
        "white_id" pub white: Option<NameId>,
        /// Black's player.
        "black_id" pub black: Option<NameId>,
        /// Result.
        "result" pub result: GameResult,
        /// White's rating.
        "white_elo" pub white_elo: Option<u16>,
        /// Black's rating.
        "black_elo" pub black_elo: Option<u16>,
        /// White's title (GM, IM …).
        "white_title" pub white_title: Option<Text>,
        /// Black's title.
        "black_title" pub black_title: Option<Text>,
        /// ECO code of the PGN.
        "eco" pub eco: Option<Text>,
        /// The opening, determined from the positions.
        "opening_id" pub opening: Option<OpeningId>,
        /// PGN time control.
        "time_control" pub time_control: Option<Text>,
        /// Variant, as the PGN names it.
        "variant" pub variant: Option<Text>,
        /// Six-field FEN of the start position; `None` for the standard position, and for a
        /// [skipped](GameStatus::Skipped) game.
        "start_fen" pub start_fen: Option<Text>,
        /// Half-moves replayed.
        "ply_count" pub ply_count: u32,
        /// How much of the game could be replayed.
        "status" pub status: GameStatus,
        /// A hash of start position and move codes: games with the same moves have the same hash.
        "moves_hash" pub moves_hash: u64,
        /// A hash of players, date, start position and the first moves. A broken-off game and the whole game
        /// have the same hash. `None` if there are too few moves or a player is unknown.
        "prefix_hash" pub prefix_hash: Option<u64>,
        /// The game's id on Lichess.
        "lichess_id" pub lichess_id: Option<Text>,
        /// Start of the game in UTC: `YYYY-MM-DDTHH:MM:SSZ`.
        "started_at" pub started_at: Option<Text>,
        /// Seconds on each clock at the start.
        "time_initial" pub time_initial: Option<u32>,
        /// Seconds added for each move, rounded.
        "time_increment" pub time_increment: Option<u32>,
        /// Centiseconds added for each move.
        "time_increment_cs" pub time_increment_cs: Option<u32>,
        /// The speed class: a word of [`Speed`](crate::pgn::Speed).
        "speed" pub speed: Option<&'static str>,
        /// How the game ended, in the words of its site.
        "termination" pub termination: Option<Text>,
        /// The change of White's rating by this game.
        "white_rating_diff" pub white_rating_diff: Option<i32>,
        /// The change of Black's rating by this game.
        "black_rating_diff" pub black_rating_diff: Option<i32>,
        /// White's FIDE ID.
        "white_fide_id" pub white_fide_id: Option<u32>,
        /// Black's FIDE ID.
        "black_fide_id" pub black_fide_id: Option<u32>,
        /// The number of rows of `move_eval` with an evaluation; `None` if annotations were not read.
        "eval_count" pub eval_count: Option<u32>,
        /// The number of rows of `move_eval` with a clock; `None` if annotations were not read.
        "clock_count" pub clock_count: Option<u32>,
    } with "import_id" import: ImportId = "?1"
}

table_row! {
    /// One row of `tag`: a tag pair that cannot be restored from the columns of `game`.
    #[derive(Clone, Copy, Debug)]
    pub struct TagRow in "tag", key 2 {
        /// The game.
        "game_id" pub game: GameId,
        /// Tag name.
        "name" pub name: Text,
        /// Tag value.
        "value" pub value: Text,
    }
}

/// The names of a game that are stored in tables of their own.
#[derive(Clone, Copy, Debug, Default)]
pub struct GameNames {
    /// Event name.
    pub event: Option<Text>,
    /// Site name.
    pub site: Option<Text>,
    /// White's player.
    pub white: Option<Text>,
    /// Black's player.
    pub black: Option<Text>,
}

/// How much of a game could be replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GameStatus {
    /// The whole main line.
    #[default]
    Ok,
    /// Only the moves before the first error, such as an illegal move or a comment without an end.
    Truncated,
    /// Nothing: the variant is not supported, or the start position is invalid.
    Skipped,
}

impl GameStatus {
    /// The word used in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Truncated => "truncated",
            Self::Skipped => "skipped",
        }
    }

    /// The tag that states which moves of a game are missing in the database.
    pub const LOSS_TAG: &str = "Truncated";

    /// A description of the part of a game that is in the PGN but not in the database; `None` if nothing is
    /// missing. `plies` is the number of stored plies.
    #[must_use]
    pub fn loss(self, plies: u32) -> Option<String> {
        match self {
            Self::Ok => None,
            Self::Truncated => Some(format!("the text after ply {plies} has an error, and was not read")),
            Self::Skipped => {
                Some("no moves: the variant is not supported, or the start position is not legal".to_owned())
            }
        }
    }
}

values! {
    GameStatus: Text(status => status.as_str()), StoredText;
}
