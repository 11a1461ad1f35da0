//! The tables as Parquet files: their columns, their sort order, and how they are written.
//!
//! All integers are signed: Spark reads unsigned 64-bit integers as decimals, and Athena does not support
//! them.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

/// The maximum number of rows per row group. DuckDB can skip only whole row groups.
pub(super) const GROUP_ROWS: usize = 122_880;

/// The maximum number of rows per page. Spark, Trino and ClickHouse can also skip single pages.
const PAGE_ROWS: usize = 4096;

/// The version of the layout: of tables, columns and directories.
pub(super) const LAYOUT_VERSION: u32 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnType {
    Int64,
    Int32,
    Text,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: ColumnType,
    pub(super) nullable: bool,
    encoding: Encoded,
}

/// The encoding of a column's values. `DELTA_BYTE_ARRAY` is never used: Spark 4.1 to 4.3 read wrong values
/// from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoded {
    /// As indexes into a dictionary, or plain if the dictionary grows too large.
    Dictionary,
    Plain,
    /// As differences between consecutive values: `DELTA_BINARY_PACKED`.
    Delta,
}

/// The directories in which a table's files are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placed {
    /// Directories by date, as `PartitionBy` determines.
    ByDate,
    /// One directory for each value of the first byte of the key. If a later job merges the files of all
    /// shards, each shard's file is in the table's own directory until then.
    ByKey,
    /// All files are in the directory of the table.
    Together,
}

#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) placed: Placed,
    /// The number of leading columns by which each file is sorted.
    pub(super) sorted_by: usize,
    pub(super) columns: &'static [Column],
}

const fn int64(name: &'static str) -> Column {
    Column { name, kind: ColumnType::Int64, nullable: false, encoding: Encoded::Dictionary }
}

const fn int32(name: &'static str) -> Column {
    Column { name, kind: ColumnType::Int32, nullable: false, encoding: Encoded::Dictionary }
}

const fn text(name: &'static str) -> Column {
    Column { name, kind: ColumnType::Text, nullable: false, encoding: Encoded::Dictionary }
}

impl Column {
    pub(super) fn field(&self) -> Field {
        field(self.name, self.kind, self.nullable)
    }

    const fn or_null(self) -> Self {
        Self { nullable: true, ..self }
    }

    const fn plain(self) -> Self {
        Self { encoding: Encoded::Plain, ..self }
    }

    const fn delta(self) -> Self {
        Self { encoding: Encoded::Delta, ..self }
    }
}

/// Declares tables, and `TABLES`, the list of all tables.
macro_rules! tables {
    ($($(#[$meta:meta])* $constant:ident: $name:literal, $placed:ident, sorted by $sorted_by:literal [$($column:expr),* $(,)?])*) => {
        $($(#[$meta])* pub(super) static $constant: Table = Table {
            name: $name,
            placed: Placed::$placed,
            sorted_by: $sorted_by,
            columns: &[$($column),*],
        };)*

        pub(super) static TABLES: &[&Table] = &[$(&$constant),*];
    };
}

tables! {
    /// The table `game` of the database, with names instead of the ids of names.
    GAME: "game", ByDate, sorted by 1 [
        int64("game_id").delta(), int32("source_id"), int64("byte_offset").delta(), int64("byte_length"),
        text("event").or_null(), text("site").or_null(), text("date").or_null(), text("round").or_null(),
        text("white").or_null(), text("black").or_null(), text("result"), int32("white_elo").or_null(),
        int32("black_elo").or_null(), text("white_title").or_null(), text("black_title").or_null(),
        text("eco").or_null(), text("opening_eco").or_null(), text("opening").or_null(),
        text("time_control").or_null(), text("variant").or_null(), text("start_fen").or_null(),
        int32("ply_count"), text("status"), int64("moves_hash").plain(),
        text("lichess_id").or_null().plain(), text("started_at").or_null(), int32("time_initial").or_null(),
        int32("time_increment").or_null(), int32("time_increment_cs").or_null(), text("speed").or_null(),
        text("termination").or_null(), int32("white_rating_diff").or_null(),
        int32("black_rating_diff").or_null(), int32("white_fide_id").or_null(),
        int32("black_fide_id").or_null(), int32("eval_count").or_null(), int32("clock_count").or_null(),
    ]
    TAG: "tag", ByDate, sorted by 2 [int64("game_id"), text("name"), text("value")]
    GAME_POSITION: "game_position", ByDate, sorted by 2 [
        int64("game_id").delta(), int32("ply").delta(), int64("key").plain(), int32("halfmove_clock"),
        int32("move_code").or_null(), text("fen").plain(),
    ]
    MOVE_EVAL: "move_eval", ByDate, sorted by 2 [
        int64("game_id").delta(), int32("ply").delta(), int32("clock").or_null(),
        int32("elapsed").or_null(), int32("eval_cp").or_null(), int32("eval_mate").or_null(),
        int32("depth").or_null(),
    ]
    COMMENT: "comment", ByDate, sorted by 4 [
        int64("game_id").delta(), int32("line"), int32("ply"), int32("number"), text("text"),
    ]
    NAG: "nag", ByDate, sorted by 4 [int64("game_id").delta(), int32("line"), int32("ply"), int32("nag")]
    COMMAND: "command", ByDate, sorted by 4 [
        int64("game_id").delta(), int32("line"), int32("ply"), int32("number"), text("name"), text("value"),
    ]
    VARIATION: "variation", ByDate, sorted by 2 [
        int64("game_id").delta(), int32("line"), int32("parent_line"), int32("ply"),
    ]
    VARIATION_MOVE: "variation_move", ByDate, sorted by 3 [
        int64("game_id").delta(), int32("line"), int32("ply"), int64("key").plain(),
        int32("halfmove_clock"), int32("move_code"), text("fen").plain(),
    ]
    /// In addition to the columns in the database, this table has what many queries need: the move played,
    /// the result and the ratings.
    POSITION_GAME: "position_game", ByKey, sorted by 3 [
        int64("key").delta(), int64("game_id").delta(), int32("ply"), int32("move_code").or_null(),
        text("result"), int32("white_elo").or_null(), int32("black_elo").or_null(),
    ]
    CONTINUATION: "continuation", ByKey, sorted by 2 [
        int64("key").delta(), int32("move_code"), int64("games"), int64("white_wins"), int64("draws"),
        int64("black_wins"), int64("white_elo_sum"), int64("white_elo_games"), int64("black_elo_sum"),
        int64("black_elo_games"), int32("first_year").or_null(), int32("last_year").or_null(),
    ]
    SOURCE: "source", Together, sorted by 1 [
        int32("source_id"), text("path"), int64("first_byte"), int64("bytes").or_null(),
        text("digest").or_null(), int64("games"), int64("plies"), int64("problems"), int64("duplicates"),
    ]
    PROBLEM: "problem", Together, sorted by 0 [
        int32("source_id"), int64("byte_offset"), int64("line"), int64("column_number"),
        int64("game_number").or_null(), int64("game_id").or_null(), int32("ply").or_null(),
        text("token").or_null(), text("kind"), text("severity"), text("message"),
    ]
}

/// The tables with the tags, annotations and variations of games. They have the same columns as in the
/// database.
pub(super) static SIDE_TABLES: [&Table; 7] =
    [&TAG, &MOVE_EVAL, &COMMENT, &NAG, &COMMAND, &VARIATION, &VARIATION_MOVE];

/// A column of an Arrow schema.
pub(super) fn field(name: &str, kind: ColumnType, nullable: bool) -> Field {
    let kind = match kind {
        ColumnType::Int64 => DataType::Int64,
        ColumnType::Int32 => DataType::Int32,
        ColumnType::Text => DataType::Utf8,
    };
    Field::new(name, kind, nullable)
}

impl Table {
    /// The columns as an Arrow schema.
    pub(super) fn schema(&self) -> SchemaRef {
        Arc::new(Schema::new(self.columns.iter().map(Column::field).collect::<Vec<_>>()))
    }

    /// The options for writing files of the table.
    pub(super) fn properties(&self) -> WriterProperties {
        let zstd = Compression::ZSTD(ZstdLevel::try_new(1).expect("a level that zstd has"));
        let sorted = (0..self.sorted_by as i32).map(|column_idx| SortingColumn {
            column_idx,
            descending: false,
            nulls_first: false,
        });
        let metadata_entry = |key: &str, value: String| KeyValue::new(key.to_owned(), value);
        let mut properties = WriterProperties::builder()
            .set_created_by(concat!("pgndex ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(zstd)
            .set_data_page_row_count_limit(PAGE_ROWS)
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_statistics_enabled(EnabledStatistics::Page)
            .set_sorting_columns(Some(sorted.collect::<Vec<_>>()).filter(|columns| !columns.is_empty()))
            .set_key_value_metadata(Some(vec![
                metadata_entry("pgndex.table", self.name.to_owned()),
                metadata_entry("pgndex.layout_version", LAYOUT_VERSION.to_string()),
                metadata_entry("pgndex.program_version", env!("CARGO_PKG_VERSION").to_owned()),
                metadata_entry("pgndex.move_code", MOVE_CODE.to_owned()),
            ]));
        for column in self.columns {
            let path = || ColumnPath::from(column.name);
            properties = match column.encoding {
                Encoded::Dictionary => properties,
                Encoded::Plain => properties.set_column_dictionary_enabled(path(), false),
                Encoded::Delta => properties
                    .set_column_dictionary_enabled(path(), false)
                    .set_column_encoding(path(), Encoding::DELTA_BINARY_PACKED),
            };
            if column.name == "fen" {
                // FENs are long, and queries do not search for ranges of them, so statistics would only take
                // space.
                properties = properties.set_column_statistics_enabled(path(), EnabledStatistics::None);
            }
        }
        properties.build()
    }
}

/// The meaning of the bits of a move code.
const MOVE_CODE: &str = "bits 0-3 captured piece, 4-7 piece, 8-15 to, 16-23 from (file + 16 * rank), 24-27 special, 28 check, 29 mate; \
                         pieces: 2 P, 4 N, 6 K, 8 B, 10 R, 12 Q, black one more; 0 is a null move, NULL no move";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_column_is_listed_once_and_files_are_sorted_by_non_null_columns() {
        for table in TABLES {
            let mut names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
            assert!(table.columns[..table.sorted_by].iter().all(|column| !column.nullable), "{}", table.name);
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), table.columns.len(), "{}", table.name);
        }
    }
}
