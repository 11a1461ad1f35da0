//! Games by number.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rusqlite::{Connection, OptionalExtension, Row, named_params};

use super::database::Database;
use super::error::{Error, Result};
use super::path::StoredPath;
use super::row::{GameId, GameStatus, Ply};
use crate::board::{GameResult, MoveCode, Position, PositionKey};

/// The columns of [`GameSummary`] and the joins they need.
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

pub(super) use {summary_columns, summary_joins};

/// What a list of games shows of one. `None`: the PGN does not say.
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
    /// `YYYY.MM.DD`, unknown parts `??`.
    pub date: Option<String>,
    /// Event.
    pub event: Option<String>,
    /// Site.
    pub site: Option<String>,
    /// Round.
    pub round: Option<String>,
    /// ECO code.
    pub eco: Option<String>,
    /// Half-moves replayed.
    pub ply_count: u32,
    /// How much of the game could be replayed.
    pub status: GameStatus,
}

/// One game, all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameRecord {
    /// Who, when, where.
    pub summary: GameSummary,
    /// PGN time control.
    pub time_control: Option<String>,
    /// Variant as the PGN names it.
    pub variant: Option<String>,
    /// Six-field FEN of the start position; `None` is the standard one.
    pub start_fen: Option<String>,
    /// The opening it went through, told from its positions.
    pub opening: Option<OpeningName>,
    /// The file it stands in.
    pub source: PathBuf,
    /// Where its text begins there, in bytes.
    pub byte_offset: u64,
    /// How long its text is, in bytes.
    pub byte_length: u64,
    /// Its other tag pairs, by name.
    pub other_tags: Vec<(String, String)>,
    /// Its positions, by ply; the first is the start position.
    pub positions: Vec<StoredPosition>,
}

/// One thing found wrong in a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameProblem {
    /// Line in its source, from 1.
    pub line: u64,
    /// Byte within the line, from 1.
    pub column: u64,
    /// Where in its source, in bytes.
    pub byte_offset: u64,
    /// The ply that could not be played.
    pub ply: Option<Ply>,
    /// The offending text.
    pub token: Option<String>,
    /// A word such as `illegal-move`.
    pub kind: String,
    /// `warning` or `error`.
    pub severity: String,
    /// A sentence.
    pub message: String,
}

/// An opening's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpeningName {
    /// ECO code, such as `B90`.
    pub eco: String,
    /// Name, such as `Sicilian Defense: Najdorf Variation`.
    pub name: String,
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
    /// The move played from here, or `None` after the last one.
    pub move_code: Option<MoveCode>,
}

impl GameRecord {
    /// The tag that says what of a game's moves is not in the database.
    pub const TRUNCATED: &str = "Truncated";

    /// All tag pairs in the order of PGN's export format: the seven of the roster (`?`, or `????.??.??`, where unknown),
    /// then the others by name. Each name stands there once.
    ///
    /// A value that could not be read takes the place of the unknown one. A game that is not all in the database has the
    /// tag [`TRUNCATED`](Self::TRUNCATED).
    #[must_use]
    pub fn tags(&self) -> Vec<(String, String)> {
        let mut others: BTreeMap<&str, String> =
            self.other_tags.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        let game = &self.summary;
        let roster = [
            ("Event", game.event.as_deref()),
            ("Site", game.site.as_deref()),
            ("Date", game.date.as_deref()),
            ("Round", game.round.as_deref()),
            ("White", game.white.as_deref()),
            ("Black", game.black.as_deref()),
            // Always that of the movetext's end.
            ("Result", Some(game.result.as_str())),
        ];
        let mut tags = Vec::with_capacity(roster.len() + others.len());
        for (name, value) in roster {
            let unreadable = others.remove(name);
            let unknown = if name == "Date" { "????.??.??" } else { "?" };
            let value = value.map(str::to_owned).or(unreadable).unwrap_or_else(|| unknown.to_owned());
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
        others.extend(columns.into_iter().filter_map(|(name, value)| Some((name, value?))));
        if others.contains_key("FEN") {
            others.insert("SetUp", "1".to_owned());
        }
        tags.extend(others.into_iter().map(|(name, value)| (name.to_owned(), value)));
        tags
    }

    /// What the PGN has of the game and the database has not.
    #[must_use]
    pub fn loss(&self) -> Option<String> {
        match self.summary.status {
            GameStatus::Ok => None,
            GameStatus::Truncated => {
                Some(format!("the moves after ply {} are illegal or cannot be read", self.summary.ply_count))
            }
            GameStatus::Skipped => {
                Some("the variant or the start position is not supported: no moves".to_owned())
            }
        }
    }

    /// Whether it is a game of Chess960: by its variant, or because a king or rook can castle from another square than in
    /// standard chess.
    #[must_use]
    pub fn is_chess960(&self) -> bool {
        let named = self.variant.as_deref().map(str::to_ascii_lowercase);
        let start = self.start_fen.as_deref().and_then(|fen| Position::from_fen(fen.as_bytes()).ok());
        named.is_some_and(|name| ["960", "fischer", "freestyle"].iter().any(|word| name.contains(word)))
            || start.is_some_and(|(position, _)| !position.has_standard_castling())
    }
}

impl Database {
    /// One game with its tags and positions.
    ///
    /// # Errors
    /// [`Error::NoSuchGame`]; what SQLite says.
    pub fn game(&self, game: GameId) -> Result<GameRecord> {
        let record = game_record(self.connection(), game)
            .map_err(|source| Error::sqlite(self.path(), "look up a game", source))?;
        match record {
            Some(record) => Ok(record),
            None => Err(Error::NoSuchGame { path: self.path().to_owned(), game, last: self.last_game()? }),
        }
    }

    /// The last game: games are numbered from 1 without a gap.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn last_game(&self) -> Result<Option<GameId>> {
        let last = self.connection().query_row("SELECT max(game_id) FROM game", [], |row| row.get(0));
        let last: Option<u32> =
            last.map_err(|source| Error::sqlite(self.path(), "count the games", source))?;
        Ok(last.map(GameId))
    }

    /// What was found wrong in a game, in the order of its text.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn problems_of(&self, game: GameId) -> Result<Vec<GameProblem>> {
        self.all(
            "look up what is wrong with a game",
            "SELECT line, column_number, byte_offset, ply, token, kind, severity, message FROM problem
             WHERE game_id = :game ORDER BY problem_id",
            named_params! { ":game": game.0 },
            |row| {
                Ok(GameProblem {
                    line: unsigned(row, "line")?,
                    column: unsigned(row, "column_number")?,
                    byte_offset: unsigned(row, "byte_offset")?,
                    ply: row.get::<_, Option<u32>>("ply")?.map(Ply),
                    token: row.get("token")?,
                    kind: row.get("kind")?,
                    severity: row.get("severity")?,
                    message: row.get("message")?,
                })
            },
        )
    }

    /// All rows of a query of ours.
    pub(super) fn all<T>(
        &self,
        action: &'static str,
        sql: &str,
        params: impl rusqlite::Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let failed = |source| Error::sqlite(self.path(), action, source);
        let mut statement = self.connection().prepare_cached(sql).map_err(failed)?;
        let rows = statement.query_map(params, read).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }
}

/// One game with its tags and positions, if it is there.
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
        " JOIN source ON source.source_id = game.source_id
         WHERE game.game_id = :game"
    );
    let mut statement = connection.prepare_cached(header)?;
    let record = statement.query_row(named_params! { ":game": game.0 }, |row| {
        Ok(GameRecord {
            summary: summary(row)?,
            time_control: row.get("time_control")?,
            variant: row.get("variant")?,
            start_fen: row.get("start_fen")?,
            opening: opening(row)?,
            source: row.get::<_, StoredPath<_>>("source")?.0,
            byte_offset: unsigned(row, "byte_offset")?,
            byte_length: unsigned(row, "byte_length")?,
            other_tags: Vec::new(),
            positions: Vec::new(),
        })
    });
    let Some(mut record) = record.optional()? else { return Ok(None) };
    let tags = "SELECT name, value FROM tag WHERE game_id = :game ORDER BY name";
    let mut statement = connection.prepare_cached(tags)?;
    let tags =
        statement.query_map(named_params! { ":game": game.0 }, |row| Ok((row.get(0)?, row.get(1)?)))?;
    record.other_tags = tags.collect::<rusqlite::Result<_>>()?;
    let positions = "SELECT ply, key, fen, halfmove_clock, move_code FROM game_position WHERE game_id = :game ORDER BY ply";
    let mut statement = connection.prepare_cached(positions)?;
    let positions = statement.query_map(named_params! { ":game": game.0 }, |row| {
        Ok(StoredPosition {
            ply: Ply(row.get(0)?),
            key: PositionKey::from_i64(row.get(1)?),
            fen: row.get(2)?,
            halfmove_clock: row.get(3)?,
            move_code: row.get::<_, Option<u32>>(4)?.map(MoveCode::from_stored),
        })
    })?;
    record.positions = positions.collect::<rusqlite::Result<_>>()?;
    Ok(Some(record))
}

fn opening(row: &Row<'_>) -> rusqlite::Result<Option<OpeningName>> {
    let (eco, name) = (row.get::<_, Option<_>>("opening_eco")?, row.get::<_, Option<_>>("opening")?);
    Ok(eco.zip(name).map(|(eco, name)| OpeningName { eco, name }))
}

pub(super) fn summary(row: &Row<'_>) -> rusqlite::Result<GameSummary> {
    Ok(GameSummary {
        game: GameId(row.get(0)?),
        white: row.get(1)?,
        black: row.get(2)?,
        white_elo: row.get(3)?,
        black_elo: row.get(4)?,
        white_title: row.get(5)?,
        black_title: row.get(6)?,
        result: word(row, 7, [GameResult::White, GameResult::Black, GameResult::Draw], GameResult::as_str)?
            .unwrap_or_default(),
        date: row.get(8)?,
        event: row.get(9)?,
        site: row.get(10)?,
        round: row.get(11)?,
        eco: row.get(12)?,
        ply_count: row.get(13)?,
        status: word(row, 14, [GameStatus::Truncated, GameStatus::Skipped], GameStatus::as_str)?
            .unwrap_or_default(),
    })
}

/// The value whose word stands in a column, if it is one of `values`.
fn word<T: Copy, const N: usize>(
    row: &Row<'_>,
    column: usize,
    values: [T; N],
    as_str: impl Fn(T) -> &'static str,
) -> rusqlite::Result<Option<T>> {
    let text = row.get_ref(column)?.as_str()?;
    Ok(values.into_iter().find(|&value| as_str(value) == text))
}

/// A column that is never negative.
pub(super) fn unsigned(row: &Row<'_>, column: &str) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(i64::cast_unsigned)
}
