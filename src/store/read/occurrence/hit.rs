//! Positions found in games, and their order.

use rusqlite::{Row, ToSql};

use crate::board::MoveCode;
use crate::store::cell::{Cells, GAME, GAME_POSITION, GAMES, TruncatedText, VARIATION_MOVE};
use crate::store::read::game::{summary, summary_columns, summary_joins};
use crate::store::read::rows::prepare;
use crate::store::row::{GameId, Ply};
use crate::store::{Database, GameSummary};

/// The lines of games to search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lines {
    /// The main lines only.
    #[default]
    Main,
    /// The main lines and the variations.
    All,
}

/// A place in a game. Line 0 is the main line; all other lines are variations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HitLocation {
    pub(crate) game: GameId,
    pub(crate) line: u32,
    pub(crate) ply: Ply,
}

impl HitLocation {
    /// A place in a main line.
    pub(crate) const fn played(game: GameId, ply: Ply) -> Self {
        Self { game, line: 0, ply }
    }
}

/// A position found in a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The game. Long texts are shortened.
    pub game: GameSummary,
    /// The line: 0 is the main line; 1, 2, 3 … are the game's variations in the order of the PGN text.
    pub line: u32,
    /// The ply of the position.
    pub ply: Ply,
    /// The canonical FEN of the position.
    pub fen: String,
    /// The next move of this line, if any.
    pub next: Option<MoveCode>,
    /// Six-field FEN of the game's start position; `None`: the standard position.
    pub start_fen: Option<String>,
    /// The distance from the target in a search for the nearest positions; `None` in other searches.
    pub distance: Option<u32>,
}

impl Hit {
    /// The move number, as in PGN, of the next move.
    #[must_use]
    pub fn move_number(&self) -> u32 {
        let (first, black) = match &self.start_fen {
            None => (1, 0),
            Some(fen) => {
                let number = fen.rsplit(' ').next().and_then(|number| number.parse().ok());
                (number.unwrap_or(1), u32::from(fen.split(' ').nth(1) == Some("b")))
            }
        };
        (self.ply.0.saturating_add(black) / 2).saturating_add(first)
    }
}

/// The order of hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HitOrder {
    /// By game, then line, then ply.
    #[default]
    Game,
    /// By the players' mean rating, highest first; then games with an unknown rating. Games without a result
    /// come last.
    Rating,
    /// By date, latest first; unknown parts of a date count as 0. Games without a result come last.
    Date,
}

impl HitOrder {
    /// Whether games of equal rank are in descending order of their ids.
    pub(crate) const fn is_descending(self) -> bool {
        match self {
            Self::Game | Self::Rating => false,
            Self::Date => true,
        }
    }
}

/// The place of a game in a sorted list of games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameSortKey {
    /// Whether the game has no result.
    pub is_unfinished: bool,
    /// The rank: games with a smaller rank come first. But games without a result come after all games with a
    /// result, whatever their rank. In [`HitOrder::Game`], all ranks are 0, and the result does not matter.
    pub rank: i64,
    /// The game.
    pub game: GameId,
}

/// The rank of a game in the order `order`, as an SQL expression on a row of `game`: games with smaller ranks
/// come first. For orders other than [`HitOrder::Game`], the query itself must put games without a result last.
pub(crate) const fn rank_sql(order: HitOrder) -> &'static str {
    match order {
        HitOrder::Game => "0",
        HitOrder::Rating => "ifnull(-(game.white_elo + game.black_elo), 1)",
        // A year with an unknown digit counts as unknown.
        HitOrder::Date => {
            "-ifnull(iif(instr(substr(game.date, 1, 4), '?'), 0, substr(game.date, 1, 4) * 10000)
              + replace(substr(game.date, 6, 2), '?', '0') * 100 + replace(substr(game.date, 9, 2), '?', '0'), 0)"
        }
    }
}

/// SQL for the rows of `occurrence AS o`, level by level. The levels are in the order of games. So SQLite
/// reads the rows of a key in the order `l.level, o.game_id`, which is the order of games, without sorting.
pub(crate) const OCCURRENCES: &str = "occurrence_level AS l CROSS JOIN occurrence AS o ON o.level = l.level";

/// SQL that joins `game` and [`OCCURRENCES`]. SQLite reads `game` first if `games_first`, else the
/// occurrences.
pub(crate) const fn join(games_first: bool) -> &'static str {
    if games_first {
        "game CROSS JOIN occurrence_level AS l CROSS JOIN occurrence AS o ON o.level = l.level AND o.game_id = game.game_id"
    } else {
        "occurrence_level AS l CROSS JOIN occurrence AS o ON o.level = l.level CROSS JOIN game ON game.game_id = o.game_id"
    }
}

/// SQL that joins `game` and `variation_move AS o`. SQLite reads `game` first if `games_first`, else the
/// variations.
pub(crate) const fn join_variations(games_first: bool) -> &'static str {
    if games_first {
        "game CROSS JOIN variation_move AS o INDEXED BY variation_move_key ON o.game_id = game.game_id"
    } else {
        "variation_move AS o CROSS JOIN game ON game.game_id = o.game_id"
    }
}

impl Database {
    /// The position at a place; `None` if the position or its game has no row, or if `fen` is given and the
    /// position has another FEN.
    pub(crate) fn hit(&self, place: HitLocation, fen: Option<&str>) -> rusqlite::Result<Option<Hit>> {
        let played = concat!(
            "SELECT ",
            summary_columns!(),
            ", start_fen, p.ply AS ply, p.move_code AS move_code, p.fen AS fen
             FROM game_position AS p CROSS JOIN game ON game.game_id = p.game_id ",
            summary_joins!(),
            " WHERE p.game_id = :game AND p.ply = :ply AND (:fen IS NULL OR p.fen = :fen)"
        );
        let in_variation = concat!(
            "SELECT ",
            summary_columns!(),
            ", start_fen, p.line AS line, p.ply AS ply, next.move_code AS move_code, p.fen AS fen
             FROM variation_move AS p CROSS JOIN game ON game.game_id = p.game_id ",
            summary_joins!(),
            " LEFT JOIN variation_move AS next
                 ON next.game_id = p.game_id AND next.line = p.line AND next.ply = p.ply + 1
             WHERE p.game_id = :game AND p.line = :line AND p.ply = :ply AND (:fen IS NULL OR p.fen = :fen)"
        );
        let (sql, table) =
            if place.line == 0 { (played, GAME_POSITION) } else { (in_variation, VARIATION_MOVE) };
        let HitLocation { game, line, ply } = place;
        let params: [(_, &dyn ToSql); 4] =
            [(":game", &game.0), (":line", &line), (":ply", &ply.0), (":fen", &fen)];
        let mut statement = prepare(self.connection(), sql, params)?;
        let read = |row: &Row<'_>| {
            let (position, game) = (Cells::new(row, table), Cells::new(row, GAMES));
            Ok(Hit {
                game: summary::<TruncatedText>(game)?,
                line: place.line,
                ply: place.ply,
                fen: position.get("fen")?,
                next: position.get("move_code")?,
                start_fen: game.get::<Option<TruncatedText>>("start_fen")?.map(Into::into),
                distance: None,
            })
        };
        statement.raw_query().next()?.map(read).transpose()
    }

    /// The place of a game in the order `order`; `None` if the game does not exist.
    pub(crate) fn place(&self, game: GameId, order: HitOrder) -> rusqlite::Result<Option<GameSortKey>> {
        let sql = format!(
            "SELECT game_id, game.result = '*' AS is_unfinished, {} AS place FROM game WHERE game_id = ?1",
            rank_sql(order)
        );
        GAME.first(self.connection(), &sql, [game.0], |cells| {
            let is_unfinished = cells.get::<u32>("is_unfinished")? != 0;
            Ok(GameSortKey { is_unfinished, rank: cells.get("place")?, game })
        })
    }

    /// Whether the position at a place has this FEN.
    pub(crate) fn is_at(&self, place: HitLocation, fen: &str) -> rusqlite::Result<bool> {
        let HitLocation { game, line, ply } = place;
        if line == 0 {
            let sql = "SELECT 1 FROM game_position WHERE game_id = ?1 AND ply = ?2 AND fen = ?3";
            return self.connection().prepare_cached(sql)?.exists((game.0, ply.0, fen));
        }
        let sql = "SELECT 1 FROM variation_move WHERE game_id = ?1 AND line = ?2 AND ply = ?3 AND fen = ?4";
        self.connection().prepare_cached(sql)?.exists((game.0, line, ply.0, fen))
    }
}

/// The games in a list of `level_position`. `column` contains the list, as a JSON array of the games' ids.
pub(crate) fn listed_games(cells: Cells<'_>, column: &str) -> rusqlite::Result<Vec<GameId>> {
    let ids: Vec<u32> = cells
        .read(column, "a JSON array of game_ids", |value| serde_json::from_str(value.as_str().ok()?).ok())?;
    Ok(ids.into_iter().map(GameId).collect())
}
