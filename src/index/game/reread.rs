//! A game's text read once more, to be held against what the database says.

use std::sync::Arc;

use crate::board::{MoveCode, Position};
use crate::index::game::batch::GameBatch;
use crate::index::game::parse::ChunkParser;
use crate::opening::OpeningBook;
use crate::store::row::{Ply, Severity, SourceId, Text};

/// Reads the texts of single games as a run does.
#[derive(Debug)]
pub(crate) struct Reread {
    batch: GameBatch,
    start: Position,
    openings: Arc<OpeningBook>,
}

impl Default for Reread {
    fn default() -> Self {
        Self { batch: GameBatch::default(), start: Position::start(), openings: OpeningBook::built_in() }
    }
}

impl Reread {
    /// Reads the first game of a text, if there is one.
    pub(crate) fn read(&mut self, text: &[u8]) -> Option<GameText<'_>> {
        ChunkParser::new(text, text.len(), SourceId(1), 0, &self.start, &self.openings)
            .parse_batch(&mut self.batch);
        (!self.batch.games.is_empty()).then_some(GameText { batch: &self.batch })
    }
}

/// Something that is wrong with a game.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GameProblem<'r> {
    pub(crate) byte_offset: u64,
    pub(crate) line: u64,
    pub(crate) column: u64,
    pub(crate) ply: Option<Ply>,
    pub(crate) token: Option<&'r str>,
    pub(crate) kind: &'static str,
    pub(crate) severity: Severity,
    pub(crate) message: &'r str,
}

/// What a game's text says.
#[derive(Debug)]
pub(crate) struct GameText<'r> {
    batch: &'r GameBatch,
}

impl<'r> GameText<'r> {
    /// Where the game begins in the text, and how long it is, in bytes.
    pub(crate) fn span(&self) -> (u64, u64) {
        let row = &self.batch.headers.games[0];
        (row.byte_offset, row.byte_length)
    }

    /// The moves that can be played.
    pub(crate) fn codes(&self) -> &'r [MoveCode] {
        &self.batch.codes[..self.batch.games[0].moves]
    }

    /// Columns of `game` that the text alone tells; those that are a name's number with the name.
    pub(crate) fn columns(&self) -> [(&'static str, Option<String>); 16] {
        let (row, names) = (&self.batch.headers.games[0], &self.batch.games[0].names);
        let text = |text: Option<Text>| text.map(|text| text.of(&self.batch.headers.text).to_owned());
        let number = |number: Option<u16>| number.map(|number| number.to_string());
        [
            ("event_id", text(names.event)),
            ("site_id", text(names.site)),
            ("date", text(row.date)),
            ("round", text(row.round)),
            ("white_id", text(names.white)),
            ("black_id", text(names.black)),
            ("result", Some(row.result.as_str().to_owned())),
            ("white_elo", number(row.white_elo)),
            ("black_elo", number(row.black_elo)),
            ("white_title", text(row.white_title)),
            ("black_title", text(row.black_title)),
            ("eco", text(row.eco)),
            ("time_control", text(row.time_control)),
            ("variant", text(row.variant)),
            ("start_fen", text(row.start_fen)),
            ("status", Some(row.status.as_str().to_owned())),
        ]
    }

    /// What is wrong with the game, in the order in which it was found. Places are told from the beginning of the text, where the
    /// line is 0.
    pub(crate) fn problems(&self) -> impl Iterator<Item = GameProblem<'r>> {
        let headers = &self.batch.headers;
        let game = headers.games[0].game;
        let text = |text: Text| text.of(&headers.text);
        headers.problems.iter().filter(move |row| row.game == Some(game)).map(move |row| GameProblem {
            byte_offset: row.byte_offset,
            line: row.line,
            column: row.column,
            ply: row.ply,
            token: row.token.map(text),
            kind: row.kind,
            severity: row.severity,
            message: text(row.message),
        })
    }

    /// The tag pairs that have no column, by name.
    pub(crate) fn tags(&self) -> impl Iterator<Item = (&'r str, &'r str)> {
        let headers = &self.batch.headers;
        let game = headers.games[0].game;
        let tags = headers.tags.iter().take_while(move |tag| tag.game == game);
        tags.map(|tag| (tag.name.of(&headers.text), tag.value.of(&headers.text)))
    }
}
