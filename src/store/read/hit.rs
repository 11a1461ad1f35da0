//! Positions found in games, and their orders.

use crate::board::{MoveCode, Position};
use crate::store::cell::Cells;
use crate::store::read::game_record::GameSummary;
use crate::store::row::{GameId, Ply};

/// A position found in a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The game.
    pub game: GameSummary,
    /// At which ply the position arose.
    pub ply: Ply,
    /// Its canonical FEN.
    pub fen: String,
    /// The move played from it, if any.
    pub next: Option<MoveCode>,
    /// Six-field FEN of the game's start position; `None` is the standard one.
    pub start_fen: Option<String>,
}

impl Hit {
    /// The number of the full move in which the position arose: that of the move played from it.
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
    /// By game, then ply.
    #[default]
    Game,
    /// By the players' mean rating, the best first. Games with an unknown rating come after them, games without a result
    /// last.
    Rating,
    /// By date, the latest first; what is unknown of a date counts as early. Games without a result come last.
    Date,
}

/// A number of a row of `game` that grows from the first to the last of an order.
pub(crate) const fn rank_sql(order: HitOrder) -> &'static str {
    match order {
        HitOrder::Game => "0",
        HitOrder::Rating => "ifnull(-(game.white_elo + game.black_elo), 1)",
        // Of a year that is not wholly known, nothing is known.
        HitOrder::Date => {
            "-ifnull(iif(instr(substr(game.date, 1, 4), '?'), 0, substr(game.date, 1, 4) * 10000)
              + replace(substr(game.date, 6, 2), '?', '0') * 100 + replace(substr(game.date, 9, 2), '?', '0'), 0)"
        }
    }
}

/// `game` and `position_game AS o` in the order in which they are walked.
pub(crate) const fn join(games_first: bool) -> &'static str {
    if games_first {
        "game CROSS JOIN position_game AS o ON o.game_id = game.game_id"
    } else {
        "position_game AS o CROSS JOIN game ON game.game_id = o.game_id"
    }
}

/// The games that a column of `visited_position` lists: a JSON array of their numbers.
pub(crate) fn listed_games(cells: Cells<'_>, column: &str) -> rusqlite::Result<Vec<GameId>> {
    let ids: Vec<u32> = cells
        .read(column, "a JSON array of game_ids", |value| serde_json::from_str(value.as_str().ok()?).ok())?;
    Ok(ids.into_iter().map(GameId).collect())
}

/// What is left to skip and to pass on.
pub(crate) struct Part {
    pub(crate) skip: u32,
    /// `None`: all.
    pub(crate) left: Option<u32>,
}

/// What becomes of a hit.
pub(crate) enum Taken {
    Skip,
    Hit { is_last: bool },
    End,
}

impl Part {
    /// Takes one more hit.
    pub(crate) fn take(&mut self) -> Taken {
        if self.skip > 0 {
            self.skip -= 1;
            return Taken::Skip;
        }
        match &mut self.left {
            None => Taken::Hit { is_last: false },
            Some(0) => Taken::End,
            Some(left) => {
                *left -= 1;
                Taken::Hit { is_last: *left == 0 }
            }
        }
    }
}

/// Whether a position has a key that another one with the same placement has too.
pub(crate) fn shares_key(fen: &str) -> bool {
    Position::from_fen(fen.as_bytes()).is_ok_and(|(position, _)| position.shares_key())
}
