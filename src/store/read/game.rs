//! Reads single games, to show them or to compare them with other games. Also finds out whether any game has
//! a variant.

use std::path::PathBuf;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use serde::Serialize;

use crate::board::{GameResult, MoveCode, Position, PositionKey, ShortMove};
use crate::opening::Opening;
use crate::sorted::SortedMap;
use crate::store::blocks::last_game;
use crate::store::cell::{Cells, GAME, GAME_POSITION, GAMES, PROBLEM, Stored, TAG};
use crate::store::row::{GameId, GameStatus, Ply};
use crate::store::{Database, ErrorKind, Result};

/// The columns from which a [`GameSummary`] is read. A query for them needs the joins of `summary_joins`.
macro_rules! summary_columns {
    () => {
        "game.game_id, white.name AS white, black.name AS black, white_elo, black_elo, white_title, black_title, result, \
         date, event.name AS event, site.name AS site, round, eco, ply_count, status"
    };
}
macro_rules! summary_joins {
    () => {
        "LEFT JOIN player AS white ON white.player_id = game.white_id \
         LEFT JOIN player AS black ON black.player_id = game.black_id \
         LEFT JOIN event ON event.event_id = game.event_id \
         LEFT JOIN site ON site.site_id = game.site_id"
    };
}

pub(crate) use {summary_columns, summary_joins};

/// A game in a list of games. A field is `None` if the PGN does not give the value or marks it as unknown, for
/// example by `?`. It is also `None` if the value could not be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameSummary {
    /// The game.
    pub game: GameId,
    /// White's player.
    pub white: Option<String>,
    /// Black's player.
    pub black: Option<String>,
    /// White's rating.
    pub white_elo: Option<u16>,
    /// Black's rating.
    pub black_elo: Option<u16>,
    /// White's title.
    pub white_title: Option<String>,
    /// Black's title.
    pub black_title: Option<String>,
    /// Result.
    pub result: GameResult,
    /// The date, `YYYY.MM.DD` with question marks for unknown parts.
    pub date: Option<String>,
    /// Event.
    pub event: Option<String>,
    /// Site.
    pub site: Option<String>,
    /// Round.
    pub round: Option<String>,
    /// ECO code, as in the PGN.
    pub eco: Option<String>,
    /// Half-moves replayed.
    pub ply_count: u32,
    /// How much of the game could be replayed.
    pub status: GameStatus,
}

/// A game with its tag pairs and positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameRecord {
    /// Players, date, event and so on.
    pub summary: GameSummary,
    /// PGN time control.
    pub time_control: Option<String>,
    /// Variant, as the PGN names it.
    pub variant: Option<String>,
    /// Six-field FEN of the start position; `None`: the standard position.
    pub start_fen: Option<String>,
    /// The opening, determined by the positions of the game.
    pub opening: Option<Opening>,
    /// The file that contains the game.
    pub source: PathBuf,
    /// The offset of the game's text in the decompressed text of this file, in bytes.
    pub byte_offset: u64,
    /// The length of the game's text, in bytes.
    pub byte_length: u64,
    /// Tag pairs in the order of their names: those without a field here, and those whose value could not be
    /// parsed or has an unusual form.
    pub other_tags: Vec<(String, String)>,
    /// The game's positions, by ply, beginning with the start position.
    pub positions: Vec<StoredPosition>,
}

/// A problem found in a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GameProblem {
    /// Line of the source's text, from 1.
    pub line: u64,
    /// Byte within the line, from 1.
    #[serde(rename = "column_number")]
    pub column: u64,
    /// Byte within the source's decompressed text, from 0.
    pub byte_offset: u64,
    /// Half-move, counted from 0, that could not be played or at which the problem was found; `null` if the
    /// problem concerns no half-move.
    pub ply: Option<Ply>,
    /// The invalid text; `null` if there is none.
    pub token: Option<String>,
    /// Kind of problem, such as `illegal-move`.
    pub kind: String,
    /// `warning`: corrected or ignored; `error`: a part of a game or file was lost, or a file has no game.
    pub severity: String,
    /// The problem as a sentence.
    pub message: String,
}

impl GameProblem {
    pub(crate) fn read(cells: Cells<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            line: cells.get("line")?,
            column: cells.get("column_number")?,
            byte_offset: cells.get("byte_offset")?,
            ply: cells.get("ply")?,
            token: cells.get("token")?,
            kind: cells.get("kind")?,
            severity: cells.get("severity")?,
            message: cells.get("message")?,
        })
    }
}

/// One position of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPosition {
    /// The ply.
    pub ply: Ply,
    /// The position's key.
    pub key: PositionKey,
    /// The canonical four-field FEN.
    pub fen: String,
    /// Half-moves since the last capture or pawn move.
    pub halfmove_clock: u32,
    /// The move played from this position; `None` after the last move.
    pub move_code: Option<MoveCode>,
}

/// The Lichess id and the speed class of a game; `None` if unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameMarks {
    /// The id on Lichess: eight letters or digits.
    pub lichess_id: Option<String>,
    /// The speed class, as on Lichess.
    pub speed: Option<String>,
}

/// The data by which a game is compared with others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedGame {
    /// The game.
    pub game: GameId,
    /// How much of the game could be replayed.
    pub status: GameStatus,
    /// Six-field FEN of the start position; `None`: the standard position.
    pub start_fen: Option<String>,
    /// White's name, if known.
    pub white: Option<String>,
    /// Black's name, if known.
    pub black: Option<String>,
    /// The date, if known.
    pub date: Option<String>,
    /// The result.
    pub result: GameResult,
    /// The moves.
    pub moves: Vec<ShortMove>,
}

impl ComparedGame {
    /// The columns of `game` to read.
    pub(crate) const COLUMNS: &str =
        "game_id, status, start_fen, (SELECT name FROM player WHERE player_id = white_id),
         (SELECT name FROM player WHERE player_id = black_id), date, result";

    /// Reads a game from a row with the columns [`COLUMNS`](Self::COLUMNS), and looks up its moves.
    pub(crate) fn read(row: &Row<'_>, connection: &Connection) -> rusqlite::Result<Self> {
        const MOVES: &str =
            "SELECT move_code FROM game_position WHERE game_id = ?1 AND move_code IS NOT NULL ORDER BY ply";
        let cells = Cells::new(row, GAME);
        let game: u32 = cells.get(0)?;
        Ok(Self {
            game: GameId(game),
            status: status_named(cells.get(1)?).unwrap_or_default(),
            start_fen: cells.get(2)?,
            white: cells.get(3)?,
            black: cells.get(4)?,
            date: cells.get(5)?,
            result: GameResult::parse(cells.get::<&str>(6)?.as_bytes()).unwrap_or_default(),
            moves: GAME_POSITION.all(connection, MOVES, [game], |cells| Ok(ShortMove::new(cells.get(0)?)))?,
        })
    }
}

impl GameRecord {
    /// The name of the tag that says which part of a game is missing from the database.
    pub const TRUNCATED: &str = GameStatus::LOSS_TAG;

    /// All tag pairs in the order of PGN's export format: the Seven Tag Roster (`?` or `????.??.??` for
    /// unknown values), then the others by name. Each name occurs once.
    ///
    /// A value that could not be parsed, and a date or a result in an unusual form, are returned as written.
    /// A game that is not complete in the database has the tag [`TRUNCATED`](Self::TRUNCATED).
    #[must_use]
    pub fn tags(&self) -> Vec<(String, String)> {
        let mut others: SortedMap<&str, String> =
            self.other_tags.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        let game = &self.summary;
        let roster = [
            ("Event", game.event.as_deref()),
            ("Site", game.site.as_deref()),
            ("Date", game.date.as_deref()),
            ("Round", game.round.as_deref()),
            ("White", game.white.as_deref()),
            ("Black", game.black.as_deref()),
            ("Result", Some(game.result.as_str())),
        ];
        let mut tags = Vec::with_capacity(roster.len() + others.len());
        for (name, value) in roster {
            let written = others.remove(name);
            let unknown = if name == "Date" { "????.??.??" } else { "?" };
            let value = written.or(value.map(str::to_owned)).unwrap_or_else(|| unknown.to_owned());
            tags.push((name.to_owned(), value));
        }
        let columns = [
            ("WhiteElo", game.white_elo.map(|elo| elo.to_string())),
            ("BlackElo", game.black_elo.map(|elo| elo.to_string())),
            ("WhiteTitle", game.white_title.clone()),
            ("BlackTitle", game.black_title.clone()),
            ("ECO", game.eco.clone()),
            ("TimeControl", self.time_control.clone()),
            ("Variant", self.variant.clone()),
            ("FEN", self.start_fen.clone()),
            (Self::TRUNCATED, self.loss()),
        ];
        for (name, value) in columns {
            if let Some(value) = value {
                others.insert(name, value);
            }
        }
        if others.contains_key("FEN") {
            others.insert("SetUp", "1".to_owned());
        }
        tags.extend(others.into_iter().map(|(name, value)| (name.to_owned(), value)));
        tags
    }

    /// Describes in words which part of the game is in the PGN but not in the database; `None` if the game is
    /// complete.
    #[must_use]
    pub fn loss(&self) -> Option<String> {
        self.summary.status.loss(self.summary.ply_count)
    }

    /// Whether this is a Chess960 game: according to its variant, or because the start position has castling
    /// rights with a king or rook on a non-standard square.
    #[must_use]
    pub fn is_chess960(&self) -> bool {
        let named = self.variant.as_deref().map(str::to_ascii_lowercase);
        let start = self.start_fen.as_deref().and_then(|fen| Position::from_fen(fen.as_bytes()).ok());
        named.is_some_and(|name| {
            ["960", "9lx", "fischer", "freestyle", "frc", "wild/fr"].iter().any(|word| name.contains(word))
        }) || start.is_some_and(|(position, _)| !position.has_standard_castling())
    }
}

impl Database {
    /// One game with its tags and positions.
    ///
    /// # Errors
    /// [`ErrorKind::NoSuchGame`]; errors of SQLite.
    pub fn game(&self, game: GameId) -> Result<GameRecord> {
        match game_record(self.connection(), game).map_err(self.failed("look up a game"))? {
            Some(record) => Ok(record),
            None => Err(ErrorKind::NoSuchGame { game, last: self.last_game()? }.at(self.path())),
        }
    }

    /// The game with the greatest id; `None` if there are no games. Ids begin with 1. A game that was read
    /// again has a new id, and its old id stays unused.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn last_game(&self) -> Result<Option<GameId>> {
        last_game(self.connection()).map_err(self.failed("count the games"))
    }

    /// The first game whose id is this id or greater; `None` if there is none. Some ids can be unused.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn game_from(&self, game: GameId) -> Result<Option<GameId>> {
        let sql = "SELECT game_id FROM game WHERE game_id >= ?1 ORDER BY game_id LIMIT 1";
        let found = GAME.first(self.connection(), sql, [game.0], |cells| cells.get("game_id"));
        found.map_err(self.failed("count the games"))
    }

    /// The problems found in a game, in the order in which they were found.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn problems_of(&self, game: GameId) -> Result<Vec<GameProblem>> {
        self.all(
            "read the problems of a game",
            PROBLEM,
            "SELECT problem_id, line, column_number, byte_offset, ply, token, kind, severity, message FROM problem
             WHERE game_id = ?1 ORDER BY problem_id",
            [game.0],
            GameProblem::read,
        )
    }

    /// The Lichess id and the speed class of a game; both `None` if the game does not exist.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn game_marks(&self, game: GameId) -> Result<GameMarks> {
        let sql = "SELECT game_id, lichess_id, speed FROM game WHERE game_id = ?1";
        let marks = GAME.first(self.connection(), sql, [game.0], |cells| {
            Ok(GameMarks { lichess_id: cells.get("lichess_id")?, speed: cells.get("speed")? })
        });
        Ok(marks.map_err(self.failed("look up a game"))?.unwrap_or_default())
    }

    /// The first game with this Lichess id. Reads the rows of all games up to it.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn game_of_lichess_id(&self, id: &str) -> Result<Option<GameId>> {
        let sql = "SELECT game_id FROM game WHERE lichess_id = ?1 LIMIT 1";
        let game = GAME.first(self.connection(), sql, [id], |cells| cells.get("game_id"));
        game.map_err(self.failed("look up a game by its Lichess id"))
    }

    /// Whether any game has a variant other than standard chess.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn has_variants(&self) -> Result<bool> {
        const OTHER: &str = "IS NOT NULL AND lower(value) <> 'standard'";
        // A row of `game_column` contains each distinct value of a block once. The games of a block are read
        // only if the block has no such row.
        let sql = format!(
            "WITH RECURSIVE block (number) AS (
                 SELECT 0 UNION ALL
                 SELECT number + 1 FROM block WHERE number < (SELECT max(game_id) >> 16 FROM game))
             SELECT 1 FROM game_column, json_each(cells) WHERE name = 'variant' AND value {OTHER}
             UNION ALL
             SELECT 1 FROM (
                 SELECT game.variant AS value FROM block CROSS JOIN game
                 ON game_id BETWEEN number << 16 AND (number << 16) + 65535
                 WHERE number NOT IN (SELECT block FROM game_column WHERE name = 'variant'))
             WHERE value {OTHER}"
        );
        let has = self.connection().prepare_cached(&sql).and_then(|mut query| query.exists([]));
        has.map_err(self.failed("look for variants"))
    }
}

/// The key of a game's start position, and the game's first moves (at most `most`); `None` if the game has no
/// positions. `most` must be at least 1.
pub(crate) fn first_moves(
    connection: &Connection,
    game: GameId,
    most: u32,
) -> rusqlite::Result<Option<(PositionKey, Vec<MoveCode>)>> {
    let sql =
        "SELECT game_id, ply, key, move_code FROM game_position WHERE game_id = ?1 ORDER BY ply LIMIT ?2";
    let (mut start, mut codes) = (None, Vec::new());
    GAME_POSITION.each(connection, sql, [game.0, most], |cells| {
        start = start.or(Some(PositionKey::from_i64(cells.get("key")?)));
        codes.extend(cells.get::<Option<MoveCode>>("move_code")?);
        Ok(())
    })?;
    Ok(start.map(|start| (start, codes)))
}

/// A game with its tags and positions, if it exists.
pub(crate) fn game_record(connection: &Connection, game: GameId) -> rusqlite::Result<Option<GameRecord>> {
    let header = concat!(
        "SELECT ",
        summary_columns!(),
        ", time_control, variant, start_fen, source.path AS source,
                byte_offset, byte_length,
                (SELECT eco FROM opening WHERE opening.opening_id = game.opening_id) AS opening_eco,
                (SELECT name FROM opening WHERE opening.opening_id = game.opening_id) AS opening
         FROM game ",
        summary_joins!(),
        " LEFT JOIN source ON source.source_id = game.source_id
         WHERE game.game_id = ?1"
    );
    let record = GAMES.first(connection, header, [game.0], |cells| {
        Ok(GameRecord {
            summary: summary::<String>(cells)?,
            time_control: cells.get("time_control")?,
            variant: cells.get("variant")?,
            start_fen: cells.get("start_fen")?,
            opening: opening(cells)?,
            source: cells.get("source")?,
            byte_offset: cells.get("byte_offset")?,
            byte_length: cells.get("byte_length")?,
            other_tags: Vec::new(),
            positions: Vec::new(),
        })
    });
    let Some(mut record) = record? else { return Ok(None) };
    let tags = "SELECT game_id, name, value FROM tag WHERE game_id = ?1 ORDER BY name";
    record.other_tags =
        TAG.all(connection, tags, [game.0], |cells| Ok((cells.get("name")?, cells.get("value")?)))?;
    let positions = "SELECT game_id, ply, key, fen, halfmove_clock, move_code FROM game_position
         WHERE game_id = ?1 ORDER BY ply";
    record.positions = GAME_POSITION.all(connection, positions, [game.0], |cells| {
        Ok(StoredPosition {
            ply: cells.get(1)?,
            key: PositionKey::from_i64(cells.get(2)?),
            fen: cells.get(3)?,
            halfmove_clock: cells.get(4)?,
            move_code: cells.get(5)?,
        })
    })?;
    Ok(Some(record))
}

/// The opening in the columns `opening_eco` and `opening`, if any.
pub(super) fn opening(cells: Cells<'_>) -> rusqlite::Result<Option<Opening>> {
    let (eco, name) = (cells.get::<Option<_>>("opening_eco")?, cells.get::<Option<_>>("opening")?);
    Ok(eco.zip(name).map(|(eco, name)| Opening { eco, name }))
}

/// Reads the summary of a game from a row. `T` determines whether texts are read completely or
/// [truncated](crate::store::cell::TruncatedText).
pub(crate) fn summary<'r, T: Stored<'r> + Into<String>>(cells: Cells<'r>) -> rusqlite::Result<GameSummary> {
    let text = |column: usize| Ok::<_, rusqlite::Error>(cells.get::<Option<T>>(column)?.map(Into::into));
    Ok(GameSummary {
        game: cells.get(0)?,
        white: text(1)?,
        black: text(2)?,
        white_elo: cells.get(3)?,
        black_elo: cells.get(4)?,
        white_title: text(5)?,
        black_title: text(6)?,
        result: cells.get(7)?,
        date: text(8)?,
        event: text(9)?,
        site: text(10)?,
        round: text(11)?,
        eco: text(12)?,
        ply_count: cells.get(13)?,
        status: cells.get(14)?,
    })
}

impl Stored<'_> for GameResult {
    const EXPECTED: &'static str = "'1-0', '1/2-1/2', '0-1' or '*'";

    fn read(value: ValueRef<'_>) -> Option<Self> {
        let text = <&str>::read(value)?;
        [Self::White, Self::Draw, Self::Black, Self::Unknown]
            .into_iter()
            .find(|result| result.as_str() == text)
    }
}

impl Stored<'_> for GameStatus {
    const EXPECTED: &'static str = "'ok', 'truncated' or 'skipped'";

    fn read(value: ValueRef<'_>) -> Option<Self> {
        status_named(<&str>::read(value)?)
    }
}

fn status_named(name: &str) -> Option<GameStatus> {
    let statuses = [GameStatus::Ok, GameStatus::Truncated, GameStatus::Skipped];
    statuses.into_iter().find(|status| status.as_str() == name)
}
