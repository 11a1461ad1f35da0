//! Rows of `game`, of the tables of names, and of `tag`.

use super::description::table_row;
use super::header::HeaderBatch;
use super::text::Text;
use crate::board::GameResult;
use crate::id::{GameId, ImportId, NameId, OpeningId, SourceId};

table_row! {
    /// One row of `game`. `None` is NULL: the PGN does not say, or says `?`.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct GameRow in "game" of HeaderBatch.games, key 1, stored as StoredGame {
        /// The game.
        "game_id" pub game: GameId,
        /// The file it stands in.
        "source_id" pub source: SourceId,
        /// Where its text begins in that file, in bytes.
        "byte_offset" pub byte_offset: u64,
        /// How long its text is, in bytes.
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
        /// ECO code, as the PGN says.
        "eco" pub eco: Option<Text>,
        /// The opening, told from the positions.
        "opening_id" pub opening: Option<OpeningId>,
        /// PGN time control.
        "time_control" pub time_control: Option<Text>,
        /// Variant as the PGN names it.
        "variant" pub variant: Option<Text>,
        /// Six-field FEN of the start position; `None` is the standard one.
        "start_fen" pub start_fen: Option<Text>,
        /// Half-moves replayed.
        "ply_count" pub ply_count: u32,
        /// How much of the game could be replayed.
        "status" pub status: GameStatus,
        /// A hash of start position and move codes: equal games have equal hashes.
        "moves_hash" pub moves_hash: u64,
        /// A hash of players, date, start position and the first moves, which a broken-off game shares with the whole one; `None` if
        /// there are too few moves or a player is not known.
        "prefix_hash" pub prefix_hash: Option<u64>,
        /// Its id on Lichess.
        "lichess_id" pub lichess_id: Option<Text>,
        /// When it began, in UTC: `YYYY-MM-DDTHH:MM:SSZ`.
        "started_at" pub started_at: Option<Text>,
        /// Seconds on each clock at the start.
        "time_initial" pub time_initial: Option<u32>,
        /// Seconds added for each move, rounded.
        "time_increment" pub time_increment: Option<u32>,
        /// The same in centiseconds.
        "time_increment_cs" pub time_increment_cs: Option<u32>,
        /// How fast it is: a word of [`Speed`](crate::pgn::Speed).
        "speed" pub speed: Option<&'static str>,
        /// How it ended, in the words of its site.
        "termination" pub termination: Option<Text>,
        /// What the game changed of White's rating.
        "white_rating_diff" pub white_rating_diff: Option<i32>,
        /// What the game changed of Black's rating.
        "black_rating_diff" pub black_rating_diff: Option<i32>,
        /// White's number with FIDE.
        "white_fide_id" pub white_fide_id: Option<u32>,
        /// Black's number with FIDE.
        "black_fide_id" pub black_fide_id: Option<u32>,
        /// How many positions of the main line have a value in `move_eval`; `None` if annotations were not read.
        "eval_count" pub eval_count: Option<u32>,
        /// How many have a clock.
        "clock_count" pub clock_count: Option<u32>,
    } with "import_id" import: ImportId = "?1"
}

table_row! {
    /// One row of `tag`: a tag pair that the columns of `game` do not give back.
    #[derive(Clone, Copy, Debug)]
    pub struct TagRow in "tag" of HeaderBatch.tags, key 2 {
        /// The game.
        "game_id" pub game: GameId,
        /// Tag name.
        "name" pub name: Text,
        /// Tag value.
        "value" pub value: Text,
    }
}

/// The names of a game that have tables of their own.
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
    /// All of its main line.
    #[default]
    Ok,
    /// The legal moves before the first illegal or unreadable one.
    Truncated,
    /// Nothing: its variant is not supported or its start position is none.
    Skipped,
}

impl GameStatus {
    /// The word in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Truncated => "truncated",
            Self::Skipped => "skipped",
        }
    }

    /// The tag that says what of a game's moves is not in the database.
    pub const LOSS_TAG: &str = "Truncated";

    /// What the PGN has of a game with so many plies and the database has not.
    #[must_use]
    pub fn loss(self, plies: u32) -> Option<String> {
        match self {
            Self::Ok => None,
            Self::Truncated => Some(format!("the moves after ply {plies} are illegal or cannot be read")),
            Self::Skipped => Some("the variant or the start position is not supported: no moves".to_owned()),
        }
    }
}
