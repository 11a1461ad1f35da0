//! Replays stored games, and reads games by number, with their tags, problems and positions. Also finds a
//! game's novelty: its first position that no game of an earlier day had reached.

use std::ops::RangeInclusive;

use serde::ser::{Error as _, SerializeSeq as _};
use serde::{Serialize, Serializer};

use crate::board::{MoveCode, Position};
use crate::id::{GameId, Ply};
use crate::opening::Opening;
use crate::pgn::{Eval, MoveNumbers};
use crate::query::error::{DamagedGame, Error, brief};
use crate::query::position::{number_before, side};
use crate::store::{
    self, Database, DatePrefix, GameAnnotations, GameFilter, GameProblem, GameRecord, ListLengths,
    PositionAnnotations, StoredPosition, StoredVariation,
};

/// A position of a game and its stored row; an error if the position or the move in the row is invalid.
pub type ReplayStep<'r> = Result<(Position, &'r StoredPosition), DamagedGame>;

/// Replays a game. Returns its positions in order, each with its stored row. The move in the row, if there is
/// one, is legal. Do not use the steps after an error.
///
/// # Errors
/// If the start position is invalid.
pub fn replay(record: &GameRecord) -> Result<impl Iterator<Item = ReplayStep<'_>>, DamagedGame> {
    let game = record.summary.game.0;
    let mut position = Position::start();
    if let Some(fen) = &record.start_fen {
        (position, _) = Position::from_fen(fen.as_bytes()).map_err(|source| {
            let what = format!("game {game}: start_fen {:?} is not a legal position", brief(fen));
            DamagedGame::because(what, source)
        })?;
    }
    Ok(record.positions.iter().enumerate().map(move |(index, stored)| {
        let ply = stored.ply.0;
        if ply as usize != index || stored.key != position.key() {
            let what = "the stored position is not the one that the moves lead to";
            return Err(DamagedGame::new(format!("game {game}, ply {ply}: {what}")));
        }
        let before = position.clone();
        if let Some(code) = stored.move_code {
            position.make(code).map_err(|source| {
                let what = format!("game {game}, ply {ply}: the stored move_code is not a legal move");
                DamagedGame::because(what, source)
            })?;
        }
        Ok((before, stored))
    }))
}

/// Checks that all positions and moves of a game are valid.
///
/// # Errors
/// If a stored position or move is invalid.
pub fn check_game(record: &GameRecord) -> Result<(), DamagedGame> {
    replay(record)?.try_for_each(|step| step.map(drop))
}

/// Replays a variation that begins at `ply` with `position`. Calls `visit` with each ply, its position, and
/// the move that the variation plays from this position; `None` in the last position. The move can be
/// illegal: it is checked only after the call.
pub(super) fn replay_variation(
    record: &GameRecord,
    variation: &StoredVariation,
    ply: Ply,
    position: &Position,
    mut visit: impl FnMut(Ply, &Position, Option<MoveCode>) -> Result<(), DamagedGame>,
) -> Result<(), DamagedGame> {
    let (mut position, mut ply) = (position.clone(), ply);
    for &code in &variation.moves {
        visit(ply, &position, Some(code))?;
        ply.0 += 1;
        position.make(code).map_err(|source| {
            let (game, line, ply) = (record.summary.game.0, variation.line, ply.0);
            let place = format!("variation_move game_id {game}, line {line}, ply {ply}");
            DamagedGame::because(format!("{place}: move_code is not a legal move"), source)
        })?;
    }
    visit(ply, &position, None)
}

/// Passes the games with numbers in `ranges` to `visit`, each after replaying it successfully. Returns the
/// first requested number that is missing; `None` if there is none. 0 and numbers after the last game are
/// always missing. A number in a gap between games counts as missing only if its range has no game.
///
/// # Errors
/// Errors of SQLite, [`Error::Damaged`], and errors of `visit`.
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
                Err(store::Error::File { kind: store::ErrorKind::NoSuchGame { .. }, .. }) => {}
                record => {
                    let record = record.map_err(Error::from)?;
                    // Replay the game before the caller prints any of it: a damaged game must not be shown as
                    // if it were valid.
                    check_game(&record).map_err(Error::from)?;
                    visit(&record)?;
                    is_found = true;
                }
            }
            next = game.checked_add(1);
        }
        // In a range with games, missing numbers are ignored, because gaps are normal: removed games leave
        // gaps, and so do incomplete games that were read again later.
        if !is_found {
            missing.get_or_insert(first);
        }
    }
    Ok(missing.map(GameId))
}

/// A game with its positions, annotations and problems.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GameAnswer<'a> {
    /// Number of the game.
    pub game_id: GameId,
    /// Tag pairs of the game: the Seven Tag Roster, then the other tags in the order of their names.
    #[serde(serialize_with = "as_object")]
    #[cfg_attr(test, schemars(with = "std::collections::BTreeMap<String, String>"))]
    pub tags: Vec<(String, String)>,
    /// Result: `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub result: &'static str,
    /// `ok`; `truncated`: the game is stored only up to an illegal or unreadable move; `skipped`: it is
    /// stored without moves.
    pub status: &'static str,
    /// Opening of the last position that has a name; `null` if there is none.
    pub opening: Option<&'a Opening>,
    /// Whether it is a game of Chess960.
    pub chess960: bool,
    /// FEN of the start position, all six fields; `null` for the standard start position.
    pub start_fen: Option<&'a str>,
    /// Number of half-moves.
    pub ply_count: u32,
    /// Path of the file that contains the game, as given to `index` or as found in a given directory.
    pub source: String,
    /// Start of the game's PGN text in the decompressed file, in bytes.
    pub byte_offset: u64,
    /// Length of the game's PGN text, in bytes.
    pub byte_length: u64,
    /// The first new move of the game, or why there is none. Missing unless requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub novelty: Option<Novelty>,
    /// Problems found in the game.
    pub problems: &'a [GameProblem],
    /// The positions of the game, including the last one: objects of type `GamePly`.
    #[cfg_attr(test, schemars(with = "Vec<GamePly>"))]
    pub plies: Plies<'a>,
}

impl<'a> GameAnswer<'a> {
    /// The answer for a game that can be replayed, with its annotations and problems.
    #[must_use]
    pub fn new(
        record: &'a GameRecord,
        annotations: &'a GameAnnotations,
        problems: &'a [GameProblem],
    ) -> Self {
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
            novelty: None,
            problems,
            plies: Plies { record, annotations, chess960 },
        }
    }
}

fn as_object<S: Serializer>(tags: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(tags.iter().map(|(name, value)| (name, value)))
}

/// The positions of a game. They are computed while they are serialized, because all positions of a very long
/// game would need gigabytes of memory.
#[derive(Clone, Copy, Debug)]
pub struct Plies<'a> {
    record: &'a GameRecord,
    annotations: &'a GameAnnotations,
    chess960: bool,
}

impl Serialize for Plies<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut plies = serializer.serialize_seq(Some(self.record.positions.len()))?;
        for step in replay(self.record).map_err(S::Error::custom)? {
            let (position, stored) = step.map_err(S::Error::custom)?;
            let ply = self.ply(0, stored.ply, &position, stored.move_code).map_err(S::Error::custom)?;
            plies.serialize_element(&ply)?;
        }
        plies.end()
    }
}

impl Plies<'_> {
    /// A position on a line, and the move played from it.
    fn ply(
        &self,
        line: u32,
        ply: Ply,
        position: &Position,
        code: Option<MoveCode>,
    ) -> Result<GamePly, DamagedGame> {
        let uci =
            |code| if self.chess960 { position.uci_chess960(code) } else { position.uci(code) }.to_string();
        let variations = self.annotations.variations(line, ply);
        Ok(GamePly {
            ply,
            move_number: position.fullmove_number(),
            side: side(position.side()),
            fen: position.fen(),
            key: position.key().as_i64(),
            key_hex: position.key().to_string(),
            san: code.map(|code| position.san(code)),
            uci: code.map(uci),
            code: code.map(MoveCode::bits),
            remarks: self.annotations.at(line, ply).map(PlyRemarks::from_annotations).unwrap_or_default(),
            variations: variations
                .iter()
                .map(|variation| self.variation(variation, ply, position))
                .collect::<Result<_, _>>()?,
        })
    }

    fn variation(
        &self,
        variation: &StoredVariation,
        first: Ply,
        position: &Position,
    ) -> Result<GameVariation, DamagedGame> {
        let mut plies = Vec::with_capacity(variation.moves.len() + 1);
        replay_variation(self.record, variation, first, position, |ply, position, code| {
            plies.push(self.ply(variation.line, ply, position, code)?);
            Ok(())
        })?;
        Ok(GameVariation { line: variation.line, plies })
    }
}

/// A position of a game, and the move played from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GamePly {
    /// Number of half-moves before the position; 0 for the start position.
    pub ply: Ply,
    /// Number of the next move.
    pub move_number: u32,
    /// Side to move: `w` or `b`.
    pub side: &'static str,
    /// FEN of the position, all six fields.
    pub fen: String,
    /// Polyglot key of the position as a signed 64-bit integer, as in the database. JavaScript and jq round
    /// it: use `key_hex` there.
    pub key: i64,
    /// Polyglot key of the position in 16 hexadecimal digits.
    pub key_hex: String,
    /// The move played, in SAN; `null` in the last position.
    pub san: Option<String>,
    /// The move played, in UCI notation; `null` in the last position. In games of Chess960, castling is
    /// written as the king taking its own rook.
    pub uci: Option<String>,
    /// Move code of the move played, as in the database; `null` in the last position.
    pub code: Option<u32>,
    /// Annotations of the position and of the move that led to it.
    #[serde(flatten)]
    pub remarks: PlyRemarks,
    /// Variations that begin in this position. Missing if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variations: Vec<GameVariation>,
}

/// A variation of a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GameVariation {
    /// Number of the variation in the game: 1, 2, 3 … in the order of the PGN text.
    pub line: u32,
    /// The positions of the variation, from the position in which it begins to its last one.
    pub plies: Vec<GamePly>,
}

/// Annotations of a position and of the move that led to it. Missing annotations are omitted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlyRemarks {
    /// Time left on the clock of the player who has just moved, in centiseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<u32>,
    /// Time used for the move, in centiseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed: Option<u32>,
    /// Evaluation in centipawns, from White's view.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eval_cp: Option<i32>,
    /// Number of moves to mate; negative if Black mates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eval_mate: Option<i32>,
    /// Search depth of the evaluation, in half-moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Numeric annotation glyphs (NAGs): 1 is `!`, 2 is `?`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nags: Vec<u32>,
    /// Comments, without commands such as `[%clk 0:10:00]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<String>,
    /// Commands in comments that have no field of their own, such as arrows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<Command>,
}

/// A command in a comment, `[%name value]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Command {
    /// Name of the command, such as `cal`.
    pub name: String,
    /// Value of the command.
    pub value: String,
}

impl PlyRemarks {
    fn from_annotations(remarks: &PositionAnnotations) -> Self {
        let PositionAnnotations { numbers, nags, comments, commands } = remarks;
        let MoveNumbers { clock, elapsed, eval, depth } = *numbers;
        let (eval_cp, eval_mate) = Eval::columns(eval);
        let commands =
            commands.iter().map(|(name, value)| Command { name: name.clone(), value: value.clone() });
        let (nags, comments, commands) = (nags.clone(), comments.clone(), commands.collect());
        Self { clock, elapsed, eval_cp, eval_mate, depth, nags, comments, commands }
    }
}

/// The first position of a game that no game of an earlier day had reached, in any move order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Novelty {
    /// The position after the first new move of the game.
    Move(NewMove),
    /// The start position of the game.
    Start,
    /// Nothing new: games dated before this game had already reached all of its positions.
    Nothing,
    /// Not determined, because the year of the game is unknown.
    NoDate,
}

/// The first new move of a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NewMove {
    /// Number of half-moves before the move.
    pub ply: Ply,
    /// Number of the move, as written before it: `12.`, or `12...` for Black's move.
    pub number: String,
    /// The move in SAN.
    pub san: String,
    /// The move in UCI notation.
    pub uci: String,
    /// Number of games of earlier days that reached the position before the move.
    pub games: u64,
    /// `game_id` of the latest game of an earlier day that reached the position before the move and has a
    /// result; `null` if there is none.
    pub last_game: Option<GameId>,
}

/// Finds the first new move of a game, compared with all games of earlier days. In all dates, an unknown
/// month or day counts as the earliest possible one.
///
/// # Errors
/// [`Error::Damaged`]; errors of SQLite.
pub fn novelty(database: &Database, record: &GameRecord) -> Result<Novelty, Error> {
    let Some(until) = record.summary.date.as_deref().and_then(DatePrefix::before) else {
        return Ok(Novelty::NoDate);
    };
    let selection = database.select(&GameFilter { until: Some(until), ..GameFilter::default() })?;
    let mut before = None;
    for step in replay(record)? {
        let (position, stored) = step?;
        let (key, fen) = (position.key(), position.canonical_fen());
        let found = database.explore(key, &fen, &selection, ListLengths { top: 0, recent: 1 }.into())?;
        let games = found.results.games() + found.unfinished;
        if games == 0 {
            return Ok(before.map_or(Novelty::Start, Novelty::Move));
        }
        let Some(code) = stored.move_code else { break };
        before = Some(NewMove {
            ply: stored.ply,
            number: number_before(position.fullmove_number(), position.side()),
            san: position.san(code),
            uci: position.uci(code).to_string(),
            games,
            last_game: found.recent_games.first().map(|hit| hit.game.game),
        });
    }
    Ok(Novelty::Nothing)
}
