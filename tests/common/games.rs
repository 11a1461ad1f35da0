//! A small database for tests. Games are replayed on the board one at a time, and their positions are written with
//! plain `INSERT`s. Other databases are compared with it.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

use pgndex::board::{GameResult, MoveCode, Position};
use pgndex::opening::OpeningBook;
use pgndex::pgn::{Reader, Token};
use pgndex::store::pages::PositionRecord;
use pgndex::store::row::{
    GameId, GameRow, GameStatus, HeaderBatch, NameId, Ply, ProblemRow, Severity, SourceId, TagRow,
};
use pgndex::store::{
    Build, BuildOptions, BulkLoader, ImportId, ImportTotals, NewImport, SourceDigest, SourceTotals,
};
use rusqlite::{Connection, params};

/// Builds a database of all games of a PGN text, replacing an existing database.
pub(crate) fn build(database: &Path, source: &str, pgn: &str) {
    let mut games = Games::default();
    games.read(pgn);
    let options = BuildOptions { overwrite: true, ..BuildOptions::default() };
    let build = Build::create(database, options).expect("a database can be made");
    write(&build, source, pgn, &games);
    build.finish().expect("the database can be put into place");
}

fn write(build: &Build, source: &str, pgn: &str, games: &Games) {
    let mut loader = BulkLoader::begin(build.connection(), build.path()).expect("a load can begin");
    loader
        .add_import(&NewImport { id: ImportId(1), program_version: "0.0.0", options: "{}" })
        .expect("an import");
    loader.add_openings(&OpeningBook::built_in()).expect("openings");
    loader.add_source(SourceId(1), source, 0).expect("a source");
    loader.append_headers(&games.headers).expect("headers");
    insert_positions(build.connection(), &games.positions);
    let count = games.headers.games.len() as u64;
    let positions = games.positions.len() as u64;
    let problems = games.headers.problems.len() as u64;
    let totals = SourceTotals {
        bytes: Some(pgn.len() as u64),
        digest: Some(SourceDigest([0xab; 32])),
        is_damaged: false,
        games: count,
        plies: positions - count,
        problems,
        ..SourceTotals::default()
    };
    loader.finish_source(SourceId(1), &totals).expect("a source's totals");
    let elapsed = Duration::from_millis(1500);
    let keys: HashSet<_> = games.positions.iter().map(|row| row.key).collect();
    let totals = ImportTotals {
        games: count,
        plies: positions - count,
        positions,
        distinct_positions: keys.len() as u64,
        problems,
        duplicates: 0,
        elapsed,
    };
    loader.finish_import(ImportId(1), &totals).expect("an import's totals");
    loader.finish().expect("a commit");
}

/// Inserts positions and their occurrences.
pub(crate) fn insert_positions(connection: &Connection, rows: &[PositionRecord<String>]) {
    let prepare = |sql| connection.prepare(sql).expect("SQL");
    let mut position = prepare("INSERT INTO game_position VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
    let mut occurrence = prepare("INSERT INTO occurrence VALUES (1, ?1, ?2, ?3)");
    for PositionRecord { game, ply, key, halfmove_clock, move_code, fen } in rows {
        let (key, code) = (key.as_i64(), move_code.map(MoveCode::bits));
        position.execute(params![game.0, ply.0, key, halfmove_clock, code, fen]).expect("a position");
        occurrence.execute(params![key, game.0, ply.0]).expect("an occurrence");
    }
}

/// All rows of a database.
#[derive(Default)]
struct Games {
    headers: HeaderBatch,
    positions: Vec<PositionRecord<String>>,
    names: HashMap<(&'static str, String), NameId>,
}

impl Games {
    fn read(&mut self, pgn: &str) {
        let mut reader = Reader::new(pgn.as_bytes());
        let (mut tags, mut frame_problems) = (Vec::new(), Vec::new());
        while reader.next_game(&mut tags, &mut frame_problems) {
            let game = GameId(self.headers.games.len() as u32 + 1);
            let mut row = GameRow {
                game,
                source: SourceId(1),
                byte_offset: reader.game_start() as u64,
                moves_hash: u64::from(game.0),
                ..GameRow::default()
            };
            for tag in &tags {
                let name = std::str::from_utf8(tag.name).expect("tag names are in ASCII");
                self.tag(&mut row, name, &tag.text());
            }
            self.replay(&mut row, &mut reader);
            row.byte_length = reader.offset() as u64 - row.byte_offset;
            self.headers.games.push(row);
        }
        self.headers.tags.sort_by_key(|tag| (tag.game, tag.name.of(&self.headers.text).to_owned()));
    }

    fn tag(&mut self, row: &mut GameRow, name: &str, value: &str) {
        if matches!(value, "?" | "????.??.??") {
            return;
        }
        match name {
            "Event" => row.event = Some(self.name("event", value)),
            "Site" => row.site = Some(self.name("site", value)),
            "White" => row.white = Some(self.name("player", value)),
            "Black" => row.black = Some(self.name("player", value)),
            "Result" => row.result = GameResult::parse(value.as_bytes()).expect("a result"),
            "WhiteElo" => row.white_elo = value.parse().ok(),
            "BlackElo" => row.black_elo = value.parse().ok(),
            "SetUp" => {}
            "FEN" => {
                let (position, _) = Position::from_fen(value.as_bytes()).expect("a legal start position");
                row.start_fen = Some(self.headers.push_text(&position.fen()));
            }
            "Date" if value.len() == 10 => row.date = Some(self.headers.push_text(value)),
            "Round" => row.round = Some(self.headers.push_text(value)),
            "ECO" => row.eco = Some(self.headers.push_text(value)),
            _ => {
                let (name, value) = (self.headers.push_text(name), self.headers.push_text(value));
                self.headers.tags.push(TagRow { game: row.game, name, value });
            }
        }
    }

    fn name(&mut self, table: &'static str, value: &str) -> NameId {
        let headers = &mut self.headers;
        let next = match table {
            "player" => headers.players.len(),
            "event" => headers.events.len(),
            _ => headers.sites.len(),
        } as u32
            + 1;
        *self.names.entry((table, value.to_owned())).or_insert_with(|| {
            let text = headers.push_text(value);
            match table {
                "player" => headers.players.push((NameId(next), text)),
                "event" => headers.events.push((NameId(next), text)),
                _ => headers.sites.push((NameId(next), text)),
            }
            NameId(next)
        })
    }

    fn replay(&mut self, row: &mut GameRow, reader: &mut Reader<'_>) {
        let mut position = match row.start_fen {
            Some(fen) => {
                Position::from_fen(fen.of(&self.headers.text).as_bytes()).expect("a legal position").0
            }
            None => Position::start(),
        };
        loop {
            match reader.next_token() {
                Token::Move(word) => {
                    let Ok(code) = position.resolve(word) else {
                        self.problem(row, reader.offset(), word);
                        row.status = GameStatus::Truncated;
                        break;
                    };
                    let before = position.clone();
                    let mut code = position.make(code).expect("a resolved move is legal");
                    if code.is_check() && !position.has_legal_move() {
                        code = code.with_mate();
                    }
                    self.position(row, &before, Some(code));
                    row.ply_count += 1;
                }
                Token::Result(_) | Token::End | Token::NextGame => break,
                _ => {}
            }
        }
        self.position(row, &position, None);
    }

    fn position(&mut self, row: &mut GameRow, position: &Position, move_code: Option<MoveCode>) {
        row.opening = OpeningBook::built_in().find(position).or(row.opening);
        self.positions.push(PositionRecord {
            game: row.game,
            ply: Ply(row.ply_count),
            key: position.key(),
            halfmove_clock: position.halfmove_clock(),
            move_code,
            fen: position.canonical_fen(),
        });
    }

    fn problem(&mut self, row: &GameRow, offset: usize, word: &[u8]) {
        let token = self.headers.push_text(&String::from_utf8_lossy(word));
        let message = self.headers.push_text("no legal move fits");
        self.headers.problems.push(ProblemRow {
            source: SourceId(1),
            byte_offset: offset as u64,
            line: 1,
            column: 1,
            game_number: row.game.0,
            game: Some(row.game),
            ply: Some(Ply(row.ply_count)),
            token: Some(token),
            kind: "illegal-move",
            severity: Severity::Error,
            message,
        });
    }
}
