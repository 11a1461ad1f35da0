//! Queries for games, and for positions that they reached.

use std::path::PathBuf;

use pgndex::query::{Choice, FindQuery, FindTarget, FoundPosition, PositionQuery, choose_games};
use pgndex::store::{Database, GameFilter, HitOrder, Lines};
use pyo3::prelude::*;
use rusqlite::types::Value;

use crate::cells::{ColumnType, Columns};
use crate::error::QuestionError;
use crate::rows::{Failure, Producer, Rows};

/// The number of games to read at a time.
const AT_A_TIME: usize = 1024;

pub(super) fn order(word: &str) -> PyResult<HitOrder> {
    Ok(match &*word.to_ascii_lowercase() {
        "game" => HitOrder::Game,
        "rating" => HitOrder::Rating,
        "date" => HitOrder::Date,
        _ => return Err(QuestionError::new_err(format!("sort={word:?}: write game, rating or date"))),
    })
}

/// A search for positions.
#[derive(Debug)]
pub(super) struct FindQuestion {
    pub(super) query: Option<PositionQuery>,
    pub(super) filter: GameFilter,
    pub(super) order: HitOrder,
    pub(super) limit: Option<u32>,
    pub(super) offset: u32,
    pub(super) variations: bool,
}

/// The fields of [`FoundPosition`] that become columns, in order.
const FOUND: [(&str, ColumnType); 18] = [
    ("game_id", ColumnType::Integer),
    ("white", ColumnType::Text),
    ("white_elo", ColumnType::Integer),
    ("black", ColumnType::Text),
    ("black_elo", ColumnType::Integer),
    ("result", ColumnType::Text),
    ("date", ColumnType::Text),
    ("event", ColumnType::Text),
    ("site", ColumnType::Text),
    ("round", ColumnType::Text),
    ("eco", ColumnType::Text),
    ("line", ColumnType::Integer),
    ("ply", ColumnType::Integer),
    ("move_number", ColumnType::Integer),
    ("side", ColumnType::Text),
    ("next_san", ColumnType::Text),
    ("next_uci", ColumnType::Text),
    ("fen", ColumnType::Text),
];

pub(super) fn find(py: Python<'_>, path: PathBuf, question: FindQuestion) -> PyResult<Rows> {
    Rows::produce(py, move |producer| {
        let database = super::open(&path, producer.is_stopped())?;
        let selection = database.select(&question.filter)?;
        let lines = if question.variations { Lines::All } else { Lines::Main };
        let target = match question.query {
            Some(query) => FindTarget::Position(Box::new(query)),
            None => FindTarget::Games,
        };
        let find = FindQuery {
            database: &database,
            target: &target,
            lines,
            selection: &selection,
            order: question.order,
            limit: question.limit,
            offset: question.offset,
        };
        let columns = FOUND.iter().filter(|(name, _)| *name != "line" || question.variations);
        let mut columns = Columns::new(columns.copied());
        producer.begin(columns.schema())?;
        let mut sent = Ok(());
        find.visit(|hit| {
            sent = FoundPosition::from_hit(hit, lines).map_err(Failure::from).and_then(|found| {
                columns.push(cells(&found, &columns.schema())?)?;
                if columns.rows() == AT_A_TIME { producer.send(columns.take()) } else { Ok(()) }
            });
            sent.is_ok()
        })?;
        sent?;
        if columns.rows() > 0 { producer.send(columns.take()) } else { Ok(()) }
    })
}

/// The cells of a hit, taken from its JSON form.
fn cells(found: &FoundPosition<'_>, schema: &arrow_schema::Schema) -> Result<Vec<Value>, Failure> {
    let fields = serde_json::to_value(found).map_err(|error| Failure::Other(error.to_string()))?;
    let cell = |name: &String| match &fields[name] {
        serde_json::Value::String(text) => Value::Text(text.clone()),
        serde_json::Value::Number(number) => number.as_i64().map_or(Value::Null, Value::Integer),
        _ => Value::Null,
    };
    Ok(schema.fields().iter().map(|field| cell(field.name())).collect())
}

/// The rows of the view `games` for matching games.
pub(super) fn games(
    py: Python<'_>,
    path: PathBuf,
    filter: GameFilter,
    order: HitOrder,
    limit: Option<usize>,
) -> PyResult<Rows> {
    Rows::produce(py, move |producer| {
        let database = super::open(&path, producer.is_stopped())?;
        let sql = "SELECT games.* FROM json_each(?1) AS chosen JOIN games ON games.game_id = chosen.value ORDER BY chosen.key";
        let mut reader = GameReader { database: &database, sql, columns: None, producer };
        let selection = database.select(&filter)?;
        let (mut chosen, mut left) = (Vec::new(), limit.unwrap_or(usize::MAX));
        if left > 0 {
            choose_games(&database, Choice::Selection(&selection, order), |game| {
                chosen.push(i64::from(game.0));
                left -= 1;
                if chosen.len() == AT_A_TIME {
                    reader.read(&std::mem::take(&mut chosen))?;
                }
                Ok::<_, Failure>(left > 0)
            })?;
        }
        reader.read(&chosen)
    })
}

/// Reads the rows for a list of numbers. Each number identifies a game or a position.
pub(super) struct GameReader<'r> {
    pub(super) database: &'r Database,
    /// The SQL statement. Its parameter is a JSON array of the numbers.
    pub(super) sql: &'r str,
    pub(super) columns: Option<Columns>,
    pub(super) producer: &'r mut Producer,
}

impl GameReader<'_> {
    pub(super) fn read(&mut self, chosen: &[i64]) -> Result<(), Failure> {
        let numbers: Vec<String> = chosen.iter().map(i64::to_string).collect();
        let mut query = self.database.query(self.sql)?;
        let names: Vec<String> = query.columns().into_iter().map(str::to_owned).collect();
        let columns = match &mut self.columns {
            Some(columns) => columns,
            none => {
                let columns = Columns::new(names.iter().map(|name| (name.as_str(), kind(name))));
                self.producer.begin(columns.schema())?;
                none.insert(columns)
            }
        };
        let mut rows = query.rows([format!("[{}]", numbers.join(","))])?;
        while let Some(row) = rows.next_row()? {
            let cells: Result<Vec<Value>, _> = (0..names.len()).map(|column| row.get(column)).collect();
            columns.push(cells.map_err(|error| Failure::Other(error.to_string()))?)?;
        }
        if columns.rows() > 0 { self.producer.send(columns.take()) } else { Ok(()) }
    }
}

/// The type of a column of games and positions: always the same, even if the first rows are empty.
fn kind(column: &str) -> ColumnType {
    const NUMBERS: [&str; 27] = [
        "game_id",
        "white_elo",
        "black_elo",
        "ply_count",
        "time_initial",
        "time_increment",
        "white_rating_diff",
        "black_rating_diff",
        "white_fide_id",
        "black_fide_id",
        "eval_count",
        "clock_count",
        "byte_offset",
        "byte_length",
        "source_id",
        "moves_hash",
        "ply",
        "key",
        "halfmove_clock",
        "move_code",
        "move_number",
        "clock",
        "elapsed",
        "eval_cp",
        "eval_mate",
        "depth",
        "line",
    ];
    if NUMBERS.contains(&column) { ColumnType::Integer } else { ColumnType::Text }
}
