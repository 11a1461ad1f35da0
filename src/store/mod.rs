//! The database: schema, bulk load, look-ups.
//!
//! | to … | use |
//! |---|---|
//! | build a database afresh, all or nothing | [`Build`] |
//! | write rows in batches | [`BulkLoader`] |
//! | open a database, look things up | [`Database`] |
//! | be the only one who writes | [`WriterLock`] |

pub mod btree;
mod build;
mod bulk;
mod catalog;
mod cell;
mod compared;
mod complete;
mod database;
mod duplicate;
mod error;
mod explore;
mod graft;
mod info;
mod known;
mod lock;
mod lookup;
mod name;
mod opening;
mod path;
mod query;
mod remove;
pub mod row;
mod scan;
mod schema;
mod scratch;
mod search;
mod selection;
mod statistics;
mod visited;
mod vtab;
mod withheld;

pub use crate::id::ImportId;
pub use build::{Build, BuildOptions};
pub use bulk::{BulkLoader, ImportTotals, LoadMode, NewImport, PlayedPosition, SourceDigest, SourceTotals};
pub use catalog::{Catalog, Relation, RelationKind};
pub use cell::WrongCell;
#[cfg(feature = "index")]
pub(crate) use cell::{Cells, OPENING, SOURCE, tell};
pub use compared::ComparedGame;
pub use complete::is_complete;
pub use database::Database;
#[cfg(feature = "index")]
pub(crate) use database::keep_temporary_files_in;
pub use duplicate::PrefixCandidate;
pub use error::{Error, Result};
pub use explore::{Continuation, Exploration, ListLengths};
pub use graft::Graft;
pub use info::{DuplicateCount, ImportInfo, Info, ProblemCount, SourceInfo, Totals};
pub use known::{Known, KnownSource, KnownSources, NameTable, Tail};
#[cfg(feature = "index")]
pub(crate) use lock::directory_of;
pub use lock::{Holder, WriterLock, is_file_of};
pub(crate) use lookup::game_record;
pub use lookup::{GameProblem, GameRecord, GameSummary, OpeningName, StoredPosition};
pub use name::{NameFilter, Named, fold};
#[cfg(feature = "index")]
pub(crate) use path::path_of_bytes;
pub use query::{Place, Query, QueryRows, Statements};
pub use scan::Scan;
pub use schema::{APPLICATION_ID, PAGE_SIZE, SchemaVersion, migrate};
pub use scratch::{Scratch, ScratchIndex};
pub use search::{Hit, HitCount, HitOrder, OccurrenceCount, Search};
pub use selection::{DatePrefix, EcoRange, FilterError, GameFilter, Selection, UnknownName};
pub use statistics::{GameStatistics, OpeningCount, TreeSize};
pub use visited::{GameOutcome, VisitedPosition};
