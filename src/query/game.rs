//! Games by number: which of those asked for are there, and each with its tags, its problems and its positions.

use std::ops::RangeInclusive;

use serde::ser::{Error as _, SerializeSeq as _};
use serde::{Serialize, Serializer};

use crate::board::{MoveCode, Position};
use crate::id::{GameId, Ply};
use crate::query::error::Error;
use crate::query::find::side;
use crate::query::replay::replay;
use crate::store::{self, Database, GameProblem, GameRecord, OpeningName, StoredPosition};

/// Passes the games of some ranges on, each when it is known that it can be played through. Gives back the first number
/// asked for that no game has: a range passes over numbers within it that have none.
///
/// # Errors
/// What SQLite says, and [`Error::Damaged`]; what `visit` says.
pub fn visit_games<E: From<Error>>(
    database: &Database,
    ranges: impl IntoIterator<Item = RangeInclusive<u32>>,
    mut visit: impl FnMut(&GameRecord) -> Result<(), E>,
) -> Result<Option<GameId>, E> {
    let last_game = database.last_game().map_err(Error::from)?.map_or(0, |last| last.0);
    let mut missing = None;
    for range in ranges {
        let (first, last) = range.into_inner();
        let end = last.min(last_game);
        let outside = (first == 0).then_some(0).or((last > end).then(|| first.max(end + 1)));
        missing = missing.or(outside);
        let (mut next, mut is_found) = (Some(first.max(1)), false);
        while let Some(from) = next.take()
            && let Some(GameId(game)) = database.game_from(GameId(from)).map_err(Error::from)?
            && game <= end
        {
            match database.game(GameId(game)) {
                Err(store::Error::NoSuchGame { .. }) => {}
                record => {
                    let record = record.map_err(Error::from)?;
                    // Before anything is shown: a damaged game is not shown as if it were sound.
                    replay(&record, |_, _| {}).map_err(Error::from)?;
                    visit(&record)?;
                    is_found = true;
                }
            }
            next = game.checked_add(1);
        }
        // A range passes over the number of a game that was cut off and has been read again.
        if first == last && !is_found {
            missing.get_or_insert(first);
        }
    }
    Ok(missing.map(GameId))
}

/// A game as it is answered. Its plies serialise one by one: as values, those of the longest games would take gigabytes.
#[derive(Clone, Debug, Serialize)]
pub struct GameAnswer<'a> {
    /// Its number.
    pub game_id: GameId,
    /// The Seven Tag Roster, then the other tags by name.
    #[serde(serialize_with = "as_object")]
    pub tags: Vec<(String, String)>,
    /// `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub result: &'static str,
    /// `ok`, `truncated` or `skipped`.
    pub status: &'static str,
    /// The opening it went through, told from its positions.
    pub opening: Option<&'a OpeningName>,
    /// Whether it is a game of Chess960.
    pub chess960: bool,
    /// Six-field FEN of the start position; `None` is the standard one.
    pub start_fen: Option<&'a str>,
    /// How many moves, of both sides together.
    pub ply_count: u32,
    /// The file it stands in.
    pub source: String,
    /// Where its text begins there, in bytes.
    pub byte_offset: u64,
    /// How long its text is, in bytes.
    pub byte_length: u64,
    /// What was found wrong in it.
    pub problems: &'a [GameProblem],
    /// Its positions, the last one too: a list of [`GamePly`].
    pub plies: Plies<'a>,
}

impl<'a> GameAnswer<'a> {
    /// The answer for a game that can be played through, and what was found wrong in it.
    #[must_use]
    pub fn of(record: &'a GameRecord, problems: &'a [GameProblem]) -> Self {
        let chess960 = record.is_chess960();
        Self {
            game_id: record.summary.game,
            tags: record.tags(),
            result: record.summary.result.as_str(),
            status: record.summary.status.as_str(),
            opening: record.opening.as_ref(),
            chess960,
            start_fen: record.start_fen.as_deref(),
            ply_count: record.summary.ply_count,
            source: record.source.to_string_lossy().into_owned(),
            byte_offset: record.byte_offset,
            byte_length: record.byte_length,
            problems,
            plies: Plies { record, chess960 },
        }
    }
}

fn as_object<S: Serializer>(tags: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(tags.iter().map(|(name, value)| (name, value)))
}

/// The positions of a game, made on the board as they are serialised.
#[derive(Clone, Copy, Debug)]
pub struct Plies<'a> {
    record: &'a GameRecord,
    chess960: bool,
}

impl Serialize for Plies<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut plies = serializer.serialize_seq(Some(self.record.positions.len()))?;
        let mut written = Ok(());
        let played = replay(self.record, |position, stored| {
            if written.is_ok() {
                written = plies.serialize_element(&GamePly::of(position, stored, self.chess960));
            }
        });
        written?;
        played.map_err(S::Error::custom)?;
        plies.end()
    }
}

/// A position of a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GamePly {
    /// The ply; 0 is the start position.
    pub ply: Ply,
    /// Number of the move to be played.
    pub move_number: u32,
    /// `w` or `b`.
    pub side: &'static str,
    /// Six-field FEN.
    pub fen: String,
    /// The key as in the database.
    pub key: i64,
    /// The same in 16 hexadecimal digits.
    pub key_hex: String,
    /// The move played; `None` in the last position.
    pub san: Option<String>,
    /// The same in UCI notation: in games of Chess960 the king takes its rook.
    pub uci: Option<String>,
    /// Its move code.
    pub code: Option<u32>,
}

impl GamePly {
    /// A position and its row.
    #[must_use]
    pub fn of(position: &Position, stored: &StoredPosition, chess960: bool) -> Self {
        let code = stored.move_code;
        let uci = |code| if chess960 { position.uci_chess960(code) } else { position.uci(code) }.to_string();
        Self {
            ply: stored.ply,
            move_number: position.fullmove_number(),
            side: side(position.side()),
            fen: position.fen(),
            key: stored.key.as_i64(),
            key_hex: stored.key.to_string(),
            san: code.map(|code| position.san(code)),
            uci: code.map(uci),
            code: code.map(MoveCode::bits),
        }
    }
}
