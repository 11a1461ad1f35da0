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
mod database;
mod error;
mod info;
mod lock;
mod lookup;
mod query;
pub mod row;
mod schema;
mod tables;
mod vtab;

pub use build::{Build, BuildOptions, Scratch};
pub use bulk::{
    BulkLoader, ImportId, ImportTotals, LoadMode, NewImport, PlayedPosition, SourceDigest, SourceTotals,
};
pub use database::Database;
pub use error::{Error, Result};
pub use info::{ImportInfo, Info, ProblemCount, SourceInfo};
pub use lock::WriterLock;
pub(crate) use lookup::game_record;
pub use lookup::{GameRecord, GameSummary, Hit, OccurrenceCount, Page, PositionRecord};
pub use query::{Query, QueryRows};
pub use schema::{APPLICATION_ID, PAGE_SIZE, SchemaVersion, migrate};
