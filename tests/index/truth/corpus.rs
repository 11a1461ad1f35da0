//! A collection, its database, and the rows of python-chess.

use std::path::PathBuf;

use crate::needs::{part_of_corpus, shared, unpacked};
use pgndex::board::PositionKey;
use pgndex::index::{Duplicates, IndexOptions, Progress, Summary, index};
use pgndex::pgn::decode;
use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

/// One game as python-chess reads it.
#[derive(Debug, Default)]
pub(crate) struct Row {
    pub(crate) number: usize,
    /// `None` if python-chess rejects the start position.
    pub(crate) plies: Option<u32>,
    /// The last position: here with the en-passant square after every double step, in `fen` only if a capture is legal.
    pub(crate) fen_always: String,
    pub(crate) fen: String,
    pub(crate) key: Option<PositionKey>,
    pub(crate) result_tag: String,
    pub(crate) result_token: String,
    pub(crate) error: String,
    pub(crate) white: String,
    pub(crate) black: String,
    pub(crate) start_fen: String,
    pub(crate) variant: String,
}

/// One game of the database.
#[derive(Debug)]
pub(crate) struct Game {
    pub(crate) id: i64,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) plies: u32,
    pub(crate) result: String,
    pub(crate) white: String,
    pub(crate) black: String,
    pub(crate) variant: String,
    pub(crate) status: String,
    pub(crate) start_fen: Option<String>,
    /// All six fields of the last position; empty if the game was skipped.
    pub(crate) fen: String,
    pub(crate) key: Option<PositionKey>,
}

/// A collection and its database.
pub(crate) struct Corpus {
    pub(crate) text: Vec<u8>,
    pub(crate) rows: Vec<Row>,
    pub(crate) games: Vec<Game>,
    pub(crate) database: Connection,
    pub(crate) summary: Summary,
    pub(crate) pgn: PathBuf,
    /// Whether it is only the beginning of a collection.
    pub(crate) is_part: bool,
    _directory: TempDir,
}

impl Corpus {
    /// Decompresses and indexes a collection, or its first `most` bytes.
    pub(crate) fn new(name: &str, most: usize) -> Option<Self> {
        let text = part_of_corpus(name, most)?;
        let directory = TempDir::with_prefix("pgndex-truth-").unwrap();
        let pgn = directory.path().join(format!("{name}.pgn"));
        std::fs::write(&pgn, &text).unwrap();
        let target = directory.path().join("games.db");
        let options = IndexOptions { duplicates: Duplicates::Keep, ..IndexOptions::default() };
        let summary = index(&target, &[&pgn], &options, &Progress::default()).unwrap();
        let database = Connection::open_with_flags(&target, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        let games = read_games(&database);
        Some(Self {
            text,
            rows: Vec::new(),
            games,
            database,
            summary,
            pgn,
            is_part: false,
            _directory: directory,
        })
    }

    /// The same, with the rows of python-chess.
    pub(crate) fn with_truth(name: &str, most: usize) -> Option<Self> {
        let mut corpus = Self::new(name, most)?;
        corpus.is_part = most < usize::MAX;
        // A game may have several rows.
        let most_rows = if corpus.is_part { corpus.games.len() + 1000 } else { usize::MAX };
        corpus.rows = read_rows(&unpacked(&shared(&format!("truth/{name}.tsv.zst"))?)?, most_rows);
        Some(corpus)
    }

    /// The games that are compared with the rows. The last game of a part is left out, because it may be cut off.
    pub(crate) fn compared(&self) -> &[Game] {
        &self.games[..self.games.len() - usize::from(self.is_part)]
    }

    /// A game's text.
    pub(crate) fn text_of(&self, game: &Game) -> &[u8] {
        &self.text[game.start..game.end]
    }

    /// The position of a game at a ply: the first four fields of its FEN, the half-move clock, and the move played from
    /// it.
    pub(crate) fn position(&self, game: &Game, ply: u32) -> (String, u32, Option<u32>) {
        self.database
            .query_row(
                "SELECT fen, halfmove_clock, move_code FROM game_position WHERE game_id = ? AND ply = ?",
                [game.id, ply.into()],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
            .unwrap()
    }

    /// The byte offsets of the problems of a kind.
    pub(crate) fn problems(&self, kind: &str) -> Vec<usize> {
        let mut statement =
            self.database.prepare_cached("SELECT byte_offset FROM problem WHERE kind = ?").unwrap();
        let offsets = statement.query_map([kind], |row| row.get::<_, u32>(0)).unwrap();
        offsets.map(|offset| offset.unwrap() as usize).collect()
    }
}

fn read_rows(table: &[u8], most: usize) -> Vec<Row> {
    let lines = table.split(|&byte| byte == b'\n').filter(|line| !line.is_empty() && line[0] != b'#');
    lines.take(most).map(read_row).collect()
}

fn read_row(line: &[u8]) -> Row {
    let fields: Vec<String> =
        line.split(|&byte| byte == b'\t').map(|field| decode(field).into_owned()).collect();
    let [
        number,
        plies,
        fen_always,
        fen,
        key,
        result_tag,
        result_token,
        _,
        error,
        white,
        black,
        _,
        start_fen,
        variant,
    ] = <[String; 14]>::try_from(fields).unwrap();
    Row {
        number: number.parse().unwrap(),
        plies: plies.parse().ok(),
        fen_always,
        fen,
        key: u64::from_str_radix(&key, 16).ok().map(PositionKey),
        result_tag,
        result_token,
        error,
        white,
        black,
        start_fen,
        variant,
    }
}

fn read_games(database: &Connection) -> Vec<Game> {
    let mut statement = database
        .prepare(
            "SELECT g.game_id, g.byte_offset, g.byte_length, g.ply_count, g.result, white.name, black.name,
                    g.variant, g.status, g.start_fen, p.fen, p.halfmove_clock, p.key
             FROM game AS g
             LEFT JOIN player AS white ON white.player_id = g.white_id
             LEFT JOIN player AS black ON black.player_id = g.black_id
             LEFT JOIN game_position AS p ON p.game_id = g.game_id AND p.ply = g.ply_count
             ORDER BY g.game_id",
        )
        .unwrap();
    let games = statement.query_map((), |row| {
        let text = |index| row.get::<_, Option<String>>(index).map(Option::unwrap_or_default);
        let start = row.get::<_, u32>(1)? as usize;
        let plies: u32 = row.get(3)?;
        let start_fen: Option<String> = row.get(9)?;
        let fen: Option<String> = row.get(10)?;
        let clock: Option<u32> = row.get(11)?;
        let fen = fen
            .map(|fen| format!("{fen} {} {}", clock.unwrap(), fullmove_number(start_fen.as_deref(), plies)));
        Ok(Game {
            id: row.get(0)?,
            start,
            end: start + row.get::<_, u32>(2)? as usize,
            plies,
            result: row.get(4)?,
            white: text(5)?,
            black: text(6)?,
            variant: text(7)?,
            status: row.get(8)?,
            start_fen,
            fen: fen.unwrap_or_default(),
            key: row.get::<_, Option<i64>>(12)?.map(PositionKey::from_i64),
        })
    });
    games.unwrap().collect::<Result<_, _>>().unwrap()
}

/// The full-move number of a game's position, computed as in the view `moves`.
pub(crate) fn fullmove_number(start_fen: Option<&str>, ply: u32) -> u32 {
    let Some(fen) = start_fen else { return 1 + ply / 2 };
    let fields: Vec<&str> = fen.split(' ').collect();
    fields[5].parse::<u32>().unwrap() + (ply + u32::from(fields[1] == "b")) / 2
}
