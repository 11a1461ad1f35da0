//! Queries for positions of the games of a database.

use std::path::PathBuf;

use pgndex::columnar::PositionChoice;
use pgndex::query::{Choice, choose_games};
use pgndex::store::row::{GameId, Ply};
use pgndex::store::{Database, GameFilter, GameSet, HitOrder};
use pyo3::prelude::*;

use super::games::GameReader;
use crate::error::QuestionError;
use crate::rows::{Failure, Rows};

/// Positions are read as soon as at least this many of them are waiting.
const AT_A_TIME: usize = 8192;

/// The available columns with their SQL; the default columns come first.
const COLUMNS: [(&str, &str); 33] = [
    ("game_id", "p.game_id"),
    ("ply", "p.ply"),
    ("key", "p.key"),
    ("halfmove_clock", "p.halfmove_clock"),
    ("move_code", "p.move_code"),
    ("fen", "p.fen"),
    ("side", "substr(p.fen, instr(p.fen, ' ') + 1, 1)"),
    ("uci", "move_uci(p.move_code)"),
    ("san", "move_san(p.fen, p.move_code)"),
    ("clock", "e.clock"),
    ("elapsed", "e.elapsed"),
    ("eval_cp", "e.eval_cp"),
    ("eval_mate", "e.eval_mate"),
    ("depth", "e.depth"),
    ("white", "(SELECT name FROM player WHERE player_id = g.white_id)"),
    ("black", "(SELECT name FROM player WHERE player_id = g.black_id)"),
    ("event", "(SELECT name FROM event WHERE event_id = g.event_id)"),
    ("site", "(SELECT name FROM site WHERE site_id = g.site_id)"),
    ("opening", "(SELECT name FROM opening WHERE opening_id = g.opening_id)"),
    ("opening_eco", "(SELECT eco FROM opening WHERE opening_id = g.opening_id)"),
    ("result", "g.result"),
    ("white_elo", "g.white_elo"),
    ("black_elo", "g.black_elo"),
    ("date", "g.date"),
    ("round", "g.round"),
    ("eco", "g.eco"),
    ("ply_count", "g.ply_count"),
    ("time_control", "g.time_control"),
    ("time_initial", "g.time_initial"),
    ("time_increment", "g.time_increment"),
    ("speed", "g.speed"),
    ("termination", "g.termination"),
    ("lichess_id", "g.lichess_id"),
];
const USUAL: usize = 6;

pub(super) fn positions(
    py: Python<'_>,
    path: PathBuf,
    filter: GameFilter,
    columns: Option<Vec<String>>,
    choice: PositionChoice,
) -> PyResult<Rows> {
    let sql = sql(columns)?;
    Rows::produce(py, move |producer| {
        let database = super::open(&path, producer.is_stopped())?;
        let selection = database.select(&filter)?;
        let mut games = GameSet::default();
        choose_games(&database, Choice::Selection(&selection, HitOrder::Game), |game| {
            games.insert(game);
            Ok::<_, Failure>(true)
        })?;
        let mut reader = GameReader { database: &database, sql: &sql, columns: None, producer };
        let mut places = Places { database: &database, choice: &choice, positions: counts(&database)? };
        let mut waiting: Vec<i64> = Vec::new();
        let mut pass = |game: GameId, plies: &mut dyn Iterator<Item = Ply>| {
            waiting.extend(plies.map(|ply| i64::from(game.0) << 32 | i64::from(ply.0)));
            if waiting.len() >= AT_A_TIME { reader.read(&std::mem::take(&mut waiting)) } else { Ok(()) }
        };
        match choice.sample {
            None => games.iter().try_for_each(|game| pass(game, &mut places.of(game)?.into_iter()))?,
            Some(_) => {
                let drawn = places.draw(&games)?;
                for of_game in drawn.chunk_by(|one, other| one.0 == other.0) {
                    pass(of_game[0].0, &mut of_game.iter().map(|(_, ply)| *ply))?;
                }
            }
        }
        reader.read(&waiting)
    })
}

/// The SQL statement that reads the rows of given positions. Its parameter is a JSON array with `game_id << 32 | ply`
/// for each position.
fn sql(columns: Option<Vec<String>>) -> PyResult<String> {
    let usual = || COLUMNS[..USUAL].iter().map(|(name, _)| (*name).to_owned()).collect();
    let mut chosen = Vec::new();
    for name in columns.unwrap_or_else(usual) {
        let Some((_, sql)) = COLUMNS.iter().find(|(column, _)| *column == name) else {
            let names: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
            let names = names.join(", ");
            return Err(QuestionError::new_err(format!(
                "there is no column {name:?}; the columns are {names}"
            )));
        };
        chosen.push(format!("{sql} AS {name}"));
    }
    let needs = |table: &str| chosen.iter().any(|column| column.contains(table));
    let game = if needs("g.") { "JOIN game AS g ON g.game_id = p.game_id" } else { "" };
    let eval =
        if needs("e.") { "LEFT JOIN move_eval AS e ON e.game_id = p.game_id AND e.ply = p.ply" } else { "" };
    Ok(format!(
        "SELECT {} FROM json_each(?1) AS chosen
         CROSS JOIN game_position AS p ON p.game_id = chosen.value >> 32 AND p.ply = chosen.value & 0xffffffff
         {game} {eval} ORDER BY chosen.key",
        chosen.join(", ")
    ))
}

/// The number of positions of each game, indexed by game id.
fn counts(database: &Database) -> Result<Vec<u32>, Failure> {
    let last = database.last_game()?.map_or(0, |game| game.0 as usize);
    let mut counts = vec![0; last + 1];
    let mut query = database.query("SELECT game_id, ply_count FROM game WHERE status <> 'skipped'")?;
    let mut rows = query.rows([])?;
    while let Some(row) = rows.next_row()? {
        let (game, plies) = row
            .get::<_, u32>(0)
            .and_then(|game| Ok((game, row.get::<_, u32>(1)?)))
            .map_err(|error| Failure::Other(error.to_string()))?;
        if let Some(count) = counts.get_mut(game as usize) {
            *count = plies.saturating_add(1);
        }
    }
    Ok(counts)
}

/// Finds the games and the plies of the wanted positions.
struct Places<'p> {
    database: &'p Database,
    choice: &'p PositionChoice,
    positions: Vec<u32>,
}

impl Places<'_> {
    /// The plies of all wanted positions of a game, in ascending order.
    fn of(&self, game: GameId) -> Result<Vec<Ply>, Failure> {
        let positions = self.positions.get(game.0 as usize).copied().unwrap_or(0);
        let (first, last) = (*self.choice.plies.start(), *self.choice.plies.end());
        if !self.choice.evaluated {
            let plies = first..positions.min(last.saturating_add(1));
            return Ok(plies.map(Ply).collect());
        }
        let sql = "SELECT ply FROM move_eval WHERE game_id = ?1 AND ply BETWEEN ?2 AND ?3
                   AND (eval_cp IS NOT NULL OR eval_mate IS NOT NULL) ORDER BY ply";
        let mut query = self.database.query(sql)?;
        let mut rows = query.rows([game.0, first, last])?;
        let mut plies = Vec::new();
        while let Some(row) = rows.next_row()? {
            plies.push(Ply(row.get(0).map_err(|error| Failure::Other(error.to_string()))?));
        }
        Ok(plies)
    }

    /// A random sample, in the order of the games.
    fn draw(&mut self, games: &GameSet) -> Result<Vec<(GameId, Ply)>, Failure> {
        let Some(sample) = self.choice.sample else { return Ok(Vec::new()) };
        let mut drawn = Vec::new();
        sample.visit(games, |draws| {
            let mut draws = draws.to_vec();
            draws.sort_unstable_by_key(|draw| draw.game);
            let before = drawn.len();
            for of_game in draws.chunk_by(|one, other| one.game == other.game) {
                let game = of_game[0].game;
                let plies = sample.positions_of(of_game.iter().copied(), self.of(game)?);
                drawn.extend(plies.flatten().map(|ply| (game, ply)));
            }
            Ok::<_, Failure>((drawn.len() - before) as u64)
        })?;
        drawn.sort_unstable();
        Ok(drawn)
    }
}
