//! A query for rows of games.

use std::sync::Arc;

use arrow_schema::{Field, Schema, SchemaRef};

use super::super::schema::{GAME_POSITION, TABLES, Table};
use super::choice::PositionChoice;
use super::column::Column;
use crate::store::sink::GameMoves;
use crate::store::{FilterError, GameFilter};

/// A query for rows of games: the table, its columns and the games.
#[derive(Clone, Debug)]
pub struct StreamQuery {
    pub(super) rows: RowKind,
    pub(super) schema: SchemaRef,
    pub(super) filter: GameFilter,
    pub(super) shard: u32,
    pub(super) choice: PositionChoice,
    /// The highest rank in the sample (see `Sample::rank_of`): positions with higher ranks are not returned.
    /// Without a sample, this value has no effect.
    pub(super) last_rank: u64,
}

#[derive(Clone, Debug)]
pub(super) enum RowKind {
    /// Rows of a table, with the indexes of the requested columns.
    Table(&'static Table, Vec<usize>),
    /// Positions, or moves.
    Positions { of_moves: bool, columns: Vec<Column> },
}

/// Why a query is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// There is no such table.
    #[error("there is no table {name:?}; the tables are {}", StreamQuery::TABLES.join(", "))]
    NoTable {
        /// The name of the table.
        name: String,
    },
    /// The table has no such column.
    #[error("there is no column {name:?}; the columns are {}", columns.join(", "))]
    NoColumn {
        /// The name of the column.
        name: String,
        /// The existing columns.
        columns: Vec<&'static str>,
    },
    /// No columns are given.
    #[error("no columns are given; leave out the argument for the default ones")]
    NoColumns,
    /// No game can match.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// Positions can be chosen only in a table of positions or moves.
    #[error("positions can be chosen only in the tables game_position and moves")]
    NotOfPositions,
    /// The sample is too large.
    #[error("`sample` can be at most {most}; leave it out for all positions")]
    TooManyDrawn {
        /// The maximum number of positions.
        most: u64,
    },
    /// The filter names sources, which is not supported here.
    #[error("the filter `source` is not supported here; give only the PGN files to read")]
    Sources,
}

impl StreamQuery {
    /// The names of the tables that can be queried.
    pub const TABLES: [&'static str; 11] = [
        "game",
        "game_position",
        "moves",
        "move_eval",
        "tag",
        "comment",
        "nag",
        "command",
        "variation",
        "variation_move",
        "problem",
    ];

    /// Queries all rows of a table, with the given columns; `None` means the default columns.
    ///
    /// # Errors
    /// If there is no such table, if it has no such column, or if the list of columns is empty.
    pub fn new(table: &str, columns: Option<&[String]>) -> Result<Self, StreamError> {
        let of_moves = table == "moves";
        let (rows, fields): (_, Vec<Field>) = if of_moves || table == GAME_POSITION.name {
            let (all, usual) = Column::all(of_moves);
            let (fields, columns) = choose(&all, usual, columns)?.into_iter().unzip();
            (RowKind::Positions { of_moves, columns }, fields)
        } else {
            let found = TABLES.iter().find(|found| found.name == table && Self::TABLES.contains(&table));
            let table = *found.ok_or_else(|| StreamError::NoTable { name: table.to_owned() })?;
            let all = table.columns.iter().map(|column| (column.name, column.field()));
            let all: Vec<_> = all.zip(0..).map(|((name, field), index)| (name, field, index)).collect();
            let (fields, columns) = choose(&all, all.len(), columns)?.into_iter().unzip();
            (RowKind::Table(table, columns), fields)
        };
        let schema = Arc::new(Schema::new(fields));
        let (filter, choice) = (GameFilter::default(), PositionChoice::default());
        Ok(Self { rows, schema, filter, shard: 0, choice, last_rank: u64::MAX })
    }

    /// Restricts the query to games that match `filter`.
    ///
    /// # Errors
    /// If no game can match, or the filter names sources.
    pub fn with_filter(self, filter: GameFilter) -> Result<Self, StreamError> {
        filter.check()?;
        if !filter.sources.is_empty() {
            return Err(StreamError::Sources);
        }
        Ok(Self { filter, ..self })
    }

    /// Restricts the query to the chosen positions.
    ///
    /// # Errors
    /// If `choice` excludes positions but the table is not one of positions or moves, or if the sample is too
    /// large.
    pub fn with_positions(self, choice: PositionChoice) -> Result<Self, StreamError> {
        if matches!(self.rows, RowKind::Table(..)) && !choice.is_all() {
            return Err(StreamError::NotOfPositions);
        }
        if let Some(sample) = choice.sample
            && sample.positions != u64::MAX
            && sample.positions > Self::MOST_DRAWN
        {
            return Err(StreamError::TooManyDrawn { most: Self::MOST_DRAWN });
        }
        Ok(Self { choice, ..self })
    }

    /// The maximum number of positions in a sample. Choosing the sample takes about 10 bytes of memory per
    /// position.
    pub const MOST_DRAWN: u64 = 100_000_000;

    /// The maximum number of positions in the sample; `None` if there is no sample or no maximum.
    pub(crate) fn drawn(&self) -> Option<usize> {
        let sample = self.choice.sample.filter(|sample| sample.positions != u64::MAX)?;
        usize::try_from(sample.positions).ok()
    }

    /// Sets the highest rank in the sample: positions with higher ranks are not returned.
    pub(crate) fn up_to(self, last_rank: u64) -> Self {
        Self { last_rank, ..self }
    }

    /// Sets the number of the shard. It becomes the upper half of each `game_id`.
    #[must_use]
    pub fn in_shard(self, shard: u32) -> Self {
        Self { shard, ..self }
    }

    /// The number of rows that a game has before any are excluded: its moves, or its positions.
    pub(super) fn positions_of(&self, moves: &GameMoves<'_>) -> u32 {
        let moves = u32::try_from(moves.codes.len()).unwrap_or(u32::MAX);
        let of_moves = matches!(self.rows, RowKind::Positions { of_moves: true, .. });
        if of_moves { moves } else { moves.saturating_add(1) }
    }

    /// The columns of the batches.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Whether one of these columns is requested.
    fn has_column(&self, names: &[&str]) -> bool {
        self.schema.fields().iter().any(|field| names.contains(&field.name().as_str()))
    }

    /// Whether names of openings are needed.
    pub(crate) fn needs_openings(&self) -> bool {
        let in_columns = self.has_column(&["opening", "opening_eco"]);
        in_columns || self.filter.opening.is_some() || self.filter.opening_eco.is_some()
    }

    /// Whether clocks and evaluations are needed.
    pub(crate) fn needs_numbers(&self) -> bool {
        let in_columns =
            self.has_column(&Column::ANNOTATIONS) || self.has_column(&["eval_count", "clock_count"]);
        in_columns || self.filter.with_evals || self.choice.evaluated || self.is_of(&["move_eval"])
    }

    /// Whether all annotations are needed.
    pub(crate) fn needs_annotations(&self) -> bool {
        self.is_of(&["comment", "nag", "command", "variation", "variation_move"])
    }

    /// Whether the query is for one of these tables.
    fn is_of(&self, tables: &[&str]) -> bool {
        matches!(&self.rows, RowKind::Table(table, _) if tables.contains(&table.name))
    }
}

/// The columns with the given names; without names, the first `usual` ones.
fn choose<C: Copy>(
    all: &[(&'static str, Field, C)],
    usual: usize,
    names: Option<&[String]>,
) -> Result<Vec<(Field, C)>, StreamError> {
    let chosen = |(_, field, column): &(_, Field, C)| (field.clone(), *column);
    let named = |wanted: &String| {
        let columns = || all.iter().map(|(name, ..)| *name).collect();
        let missing = || StreamError::NoColumn { name: wanted.clone(), columns: columns() };
        all.iter().find(|(name, ..)| name == wanted).map(chosen).ok_or_else(missing)
    };
    match names {
        None => Ok(all[..usual].iter().map(chosen).collect()),
        Some([]) => Err(StreamError::NoColumns),
        Some(names) => names.iter().map(named).collect(),
    }
}
