//! Games by position and games by number.

use rusqlite::{Connection, OptionalExtension, Row, named_params};

use super::database::Database;
use super::error::{Error, Result};
use super::row::{GameId, GameStatus, Ply};
use crate::board::{GameResult, MoveCode, PositionKey};

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

/// A position found in a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The game.
    pub game: GameSummary,
    /// At which ply the position arose.
    pub ply: Ply,
    /// The move played from it, if any.
    pub next: Option<MoveCode>,
}

/// Which of many hits are wanted; they are in order of game, then ply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// How many at most.
    pub limit: u32,
    /// How many to skip first. Skipping takes time; `after` does not.
    pub offset: u32,
    /// Only hits after this one: the last of the page before.
    pub after: Option<(GameId, Ply)>,
}

impl Page {
    /// The first `limit` hits.
    #[must_use]
    pub const fn first(limit: u32) -> Self {
        Self { limit, offset: 0, after: None }
    }
}

/// How often a position arose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OccurrenceCount {
    /// Occurrences counted.
    pub occurrences: u64,
    /// Games counted.
    pub games: u64,
    /// Whether counting stopped at the cap: there may be more.
    pub capped: bool,
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
    /// The file it stands in.
    pub source: String,
    /// Where its text begins there, in bytes.
    pub byte_offset: u64,
    /// How long its text is, in bytes.
    pub byte_length: u64,
    /// Its other tag pairs, by name.
    pub other_tags: Vec<(String, String)>,
    /// Its positions, by ply; the first is the start position.
    pub positions: Vec<PositionRecord>,
}

/// One position of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PositionRecord {
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
    /// All tag pairs in the order of PGN's export format: the seven of the roster (`?`, or `????.??.??`, where unknown),
    /// then the others by name.
    #[must_use]
    pub fn tags(&self) -> Vec<(String, String)> {
        let game = &self.summary;
        let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "?".to_owned());
        let roster = [
            ("Event", known(&game.event)),
            ("Site", known(&game.site)),
            ("Date", game.date.clone().unwrap_or_else(|| "????.??.??".to_owned())),
            ("Round", known(&game.round)),
            ("White", known(&game.white)),
            ("Black", known(&game.black)),
            ("Result", game.result.as_str().to_owned()),
        ];
        let columns = [
            ("WhiteElo", game.white_elo.map(|elo| elo.to_string())),
            ("BlackElo", game.black_elo.map(|elo| elo.to_string())),
            ("WhiteTitle", game.white_title.clone()),
            ("BlackTitle", game.black_title.clone()),
            ("ECO", game.eco.clone()),
            ("TimeControl", self.time_control.clone()),
            ("Variant", self.variant.clone()),
            ("SetUp", self.start_fen.as_ref().map(|_| "1".to_owned())),
            ("FEN", self.start_fen.clone()),
        ];
        let mut others: Vec<_> = columns
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .chain(self.other_tags.iter().cloned())
            .collect();
        // A value that could not be read stands in `tag` under the name of its column.
        others.sort();
        others.dedup_by(|later, earlier| later.0 == earlier.0);
        roster.into_iter().map(|(name, value)| (name.to_owned(), value)).chain(others).collect()
    }
}

impl Database {
    /// The games in which a position arose: one hit for each time, in order of game, then ply.
    ///
    /// Takes time by the page, not by the number of hits.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn games_with_position(&self, key: PositionKey, fen: &str, page: Page) -> Result<Vec<Hit>> {
        let after = page.after;
        self.all(
            "look up a position",
            concat!(
                "SELECT ",
                summary_columns!(),
                ", p.ply AS ply, p.move_code AS move_code
                 FROM position_game AS o
                 CROSS JOIN game_position AS p ON p.game_id = o.game_id AND p.ply = o.ply
                 CROSS JOIN game ON game.game_id = o.game_id ",
                summary_joins!(),
                "
                 WHERE o.key = :key AND (o.game_id, o.ply) > (:after_game, :after_ply) AND p.fen = :fen
                 ORDER BY o.game_id, o.ply LIMIT :limit OFFSET :offset"
            ),
            named_params! {
                ":key": key.as_i64(),
                ":fen": fen,
                ":after_game": after.map_or(-1, |(game, _)| i64::from(game.0)),
                ":after_ply": after.map_or(-1, |(_, ply)| i64::from(ply.0)),
                ":limit": page.limit,
                ":offset": page.offset,
            },
            |row| {
                let (ply, next) = (
                    Ply(row.get("ply")?),
                    row.get::<_, Option<u32>>("move_code")?.map(MoveCode::from_stored),
                );
                Ok(Hit { game: summary(row)?, ply, next })
            },
        )
    }

    /// How often a position arose; looks at no more than `cap` occurrences of its key (half a microsecond to a few
    /// microseconds each).
    ///
    /// # Errors
    /// What SQLite says.
    pub fn count_position(&self, key: PositionKey, fen: &str, cap: Option<u32>) -> Result<OccurrenceCount> {
        let cap = cap.map_or(-1, i64::from);
        let failed = |source| Error::sqlite(self.path(), "count the occurrences of a position", source);
        let sql = "SELECT count(*) FILTER (WHERE p.fen = :fen), count(DISTINCT o.game_id) FILTER (WHERE p.fen = :fen),
                          count(*)
                   FROM (SELECT game_id, ply FROM position_game WHERE key = :key ORDER BY game_id, ply LIMIT :cap) AS o
                   CROSS JOIN game_position AS p ON p.game_id = o.game_id AND p.ply = o.ply";
        let mut statement = self.connection().prepare_cached(sql).map_err(failed)?;
        let counts =
            statement.query_row(named_params! { ":key": key.as_i64(), ":fen": fen, ":cap": cap }, |row| {
                let [occurrences, games, looked_at] = [0, 1, 2].map(|column| row.get::<_, i64>(column));
                let capped = looked_at? == cap;
                Ok(OccurrenceCount {
                    occurrences: occurrences?.cast_unsigned(),
                    games: games?.cast_unsigned(),
                    capped,
                })
            });
        counts.map_err(failed)
    }

    /// One game with its tags and positions.
    ///
    /// # Errors
    /// [`Error::NoSuchGame`]; what SQLite says.
    pub fn game(&self, game: GameId) -> Result<GameRecord> {
        game_record(self.connection(), game)
            .map_err(|source| Error::sqlite(self.path(), "look up a game", source))?
            .ok_or_else(|| Error::NoSuchGame { path: self.path().to_owned(), game })
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
                byte_offset, byte_length
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
            source: row.get("source")?,
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
        Ok(PositionRecord {
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

fn summary(row: &Row<'_>) -> rusqlite::Result<GameSummary> {
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
