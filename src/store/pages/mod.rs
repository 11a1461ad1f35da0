//! B-trees of tables and indexes, built directly in the pages of an SQLite file.
//!
//! SQLite appends to a table on one thread only. The [file format] is documented and stable, and allows more
//! threads: a page does not contain its own number, and leaves have no sibling pointers. So any number of
//! threads can build finished leaf pages, each for its own range of keys. A single thread builds the interior
//! pages, about one page in a hundred.
//!
//! 1. SQLite creates the empty schema and closes the file; [`PageFile`] opens it.
//! 2. Each worker owns a [`LeafWriter`], pushes the rows of one key range in strictly ascending order (for
//!    example [`OccurrenceRow`]s or [`PositionRecord`]s) and gets a [`Segment`] for it.
//! 3. [`assemble()`] takes the segments in key order and writes the interior pages, the topmost onto the
//!    table's root page.
//! 4. [`PageFile::finish`] makes the new pages part of the database.
//!
//! Until the last step has succeeded, the file must be regarded as damaged, so build in a temporary file.
//!
//! Rows can be added to a non-empty tree in the same way. If all new keys are greater than the old ones,
//! [`extend`] appends the new leaves. [`replace_end`] replaces the last rows of a tree, and [`combine()`] merges
//! the rows of two indexes. [`copy_without_games`] builds a tree without the rows of some games.
//!
//! A table with rowids is a tree of another kind: all its rows are on leaves, and a row can continue on
//! overflow pages. A [`TableWriter`] builds it on one thread.
//!
//! The file format calls the tree of a `WITHOUT ROWID` table an index B-tree: the cells of its interior pages
//! contain rows too, and the tree contains each row once. An interior page contains the row between two
//! adjacent children. Here, this row is called the *divider*.
//!
//! [`OccurrenceRow`]: crate::store::row::OccurrenceRow
//! [file format]: https://www.sqlite.org/fileformat2.html

mod assemble;
mod combine;
mod error;
mod file;
mod interior;
mod leaf_writer;
mod number;
mod page;
mod record;
mod record_reader;
mod table;
mod tree;

pub use assemble::{RebuiltTree, assemble, copy_without_games, extend, replace_end};
pub use combine::{Combined, LONGEST_COMBINED, combine, count_unchanged_leaves};
pub use error::BtreeError;
pub use file::PageFile;
pub use leaf_writer::{LeafWriter, Segment};
pub use number::{PageNumber, PageRun, PageSize};
pub(crate) use record::RowRecord;
pub use record::{BoardFen, Fen, PositionRecord, Record};
pub use table::TableWriter;
pub use tree::Tree;
