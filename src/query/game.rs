//! Games by number: the existing ones among those requested, each with its tags, problems and positions.

use std::ops::RangeInclusive;

use serde::ser::{Error as _, SerializeSeq as _};
use serde::{Serialize, Serializer};

use crate::board::{MoveCode, Position};
use crate::id::{GameId, Ply};
use crate::pgn::{Eval, MoveNumbers};
use crate::query::error::Error;
use crate::query::find::side;
use crate::query::novelty::Novelty;
use crate::query::replay::{DamagedGame, replay};
use crate::store::{
    self, Database, GameAnnotations, GameProblem, GameRecord, OpeningName, PositionAnnotations,
    StoredVariation,
};

/// Passes the games of some ranges to `visit`, each after it was successfully replayed. Returns the first
/// requested number that does not exist. Missing numbers within a range are ignored.
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
                Err(store::Error::NoSuchGame { .. }) => {}
                record => {
                    let record = record.map_err(Error::from)?;
                    // Before anything is printed: a damaged game must not be shown as if it were valid.
                    replay(&record, |_, _| {}).map_err(Error::from)?;
                    visit(&record)?;
                    is_found = true;
                }
            }
            next = game.checked_add(1);
        }
        // Within a range, the number of a game that was cut off and read again is ignored.
        if first == last && !is_found {
            missing.get_or_insert(first);
        }
    }
    Ok(missing.map(GameId))
}

/// A game as it is answered. Its plies serialise one by one: as values, those of the longest games would take gigabytes.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GameAnswer<'a> {
    /// Its number.
    pub game_id: GameId,
    /// The Seven Tag Roster, then the other tags by name.
    #[serde(serialize_with = "as_object")]
    #[cfg_attr(test, schemars(with = "std::collections::BTreeMap<String, String>"))]
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
    /// What is new in it, if that was looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub novelty: Option<Novelty>,
    /// What was found wrong in it.
    pub problems: &'a [GameProblem],
    /// Its positions, the last one too: a list of [`GamePly`].
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

/// The positions of a game, computed while they are serialised.
#[derive(Clone, Copy, Debug)]
pub struct Plies<'a> {
    record: &'a GameRecord,
    annotations: &'a GameAnnotations,
    chess960: bool,
}

impl Serialize for Plies<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut plies = serializer.serialize_seq(Some(self.record.positions.len()))?;
        let mut written = Ok(());
        let played = replay(self.record, |position, stored| {
            if written.is_ok() {
                written = self
                    .ply(0, stored.ply, position, stored.move_code)
                    .map_err(S::Error::custom)
                    .and_then(|ply| plies.serialize_element(&ply));
            }
        });
        written?;
        played.map_err(S::Error::custom)?;
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
        let StoredVariation { line, ref moves } = *variation;
        let mut position = position.clone();
        let mut plies = Vec::with_capacity(moves.len() + 1);
        for (ply, code) in (first.0..).map(Ply).zip(moves.iter().copied().map(Some).chain([None])) {
            plies.push(self.ply(line, ply, &position, code)?);
            if let Some(code) = code {
                let (game, ply) = (self.record.summary.game, Ply(ply.0 + 1));
                let made = position.make(code);
                made.map_err(|source| DamagedGame::VariationMove { game, line, ply, source })?;
            }
        }
        Ok(GameVariation { line, plies })
    }
}

/// A position of a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// What is said of the position and of the move that led to it.
    #[serde(flatten)]
    pub remarks: PlyRemarks,
    /// What could have been played from here instead.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variations: Vec<GameVariation>,
}

/// A variation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GameVariation {
    /// Its line: 1, 2, 3 … in the order of the text.
    pub line: u32,
    /// Its positions, from the one that it leaves its parent at to the last.
    pub plies: Vec<GamePly>,
}

/// What is said of a position and of the move that led to it. What is not said does not serialise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlyRemarks {
    /// Centiseconds left on the clock of the player who has just moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<u32>,
    /// Centiseconds used for the move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed: Option<u32>,
    /// Centipawns, White's view.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eval_cp: Option<i32>,
    /// Moves to mate; negative if Black gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eval_mate: Option<i32>,
    /// How deep the value was looked for, in plies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Glyphs by their numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nags: Vec<u32>,
    /// Comments, without their commands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<String>,
    /// Other commands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<Command>,
}

/// A command of a comment, `[%name value]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Command {
    /// Its name.
    pub name: String,
    /// Its value.
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
