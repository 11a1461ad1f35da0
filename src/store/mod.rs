//! The database: schema, bulk load, look-ups.
//!
//! | to … | use |
//! |---|---|
//! | open a database, look things up | [`Database`] |
//! | become the only writer | [`WriterLock`] |

pub(crate) mod block_games;
#[doc(hidden)]
pub mod block_set;
pub(crate) mod blocks;
pub(crate) mod cell;
mod database;
mod error;
pub(crate) mod features;
mod file_id;
pub(crate) mod game_column;
mod game_indexes;
mod game_set;
mod layout;
mod lock;
#[doc(hidden)]
pub mod pages;
pub(crate) mod partition_point;
pub(crate) mod read;
pub mod row;
mod schema;
mod schema_version;
#[cfg(feature = "index")]
pub(crate) mod sink;
pub(crate) mod space;
pub(crate) mod sql;
pub(crate) mod visit_set;
pub(crate) mod write;

pub use crate::id::ImportId;
pub use cell::WrongCell;
pub(crate) use cell::{
    Cells, GAME_COLUMN, GAME_SET, LEVEL_CONTINUATION, LEVEL_POSITION, OCCURRENCE, OPENING, SOURCE, VISIT_SET,
    format_value, read_rows,
};
pub(crate) use database::keep_temporary_files_in;
pub use database::{Database, Stop, is_waiting};
pub use error::{Error, ErrorKind, LockOwner, Result};
#[cfg(feature = "serve")]
pub(crate) use error::{no_game, no_source};
pub use features::{FeatureQuery, GameFeatures};
pub use file_id::FileId;
#[doc(hidden)]
pub use game_set::GameSet;
pub use layout::replayed::ALL_GAMES;
pub use layout::{Layout, read_views_quickly};
pub(crate) use lock::directory_of;
pub use lock::{WriterLock, is_file_of, remove_temporary_files};
pub use read::annotation::{GameAnnotations, PositionAnnotations, StoredVariation};
pub(crate) use read::annotation::{MOST_DEPTH, game_annotations};
pub use read::filter::{DatePrefix, EcoRange, FilterError, read_result};
pub(crate) use read::game::game_record;
pub use read::game::{ComparedGame, GameMarks, GameProblem, GameRecord, GameSummary, StoredPosition};
pub use read::info::{
    DuplicateCount, FoundProblem, ImportInfo, PROBLEM_KINDS, ProblemCount, ProblemPage, SourceContent,
    SourceInfo,
};
pub use read::name::{NameFilter, Named, fold};
pub use read::occurrence::explore::{Continuation, ExploreOptions, PositionCounts};
pub use read::occurrence::hit::{GameSortKey, Hit, HitOrder, Lines};
pub use read::occurrence::near::Nearest;
pub use read::occurrence::reached::{ReachedGame, ReachedGames};
pub use read::occurrence::scan::{Scan, Seek};
pub use read::occurrence::search::{HitCount, Listing, OccurrenceCount, Search};
pub use read::occurrence::tally::ListLengths;
pub use read::occurrence::variation::VariationMoves;
pub use read::occurrence::visit::VisitedCounts;
pub(crate) use read::player::games::GamePlayers;
pub use read::player::games::{PlayedGame, PlayerGames};
pub use read::player::matcher::PlayerAlias;
pub(crate) use read::player::name::{PlayerWords, can_be_one_person, have_same_words, is_initial};
pub use read::removal::{SkippedDuplicate, SkippedSource};
#[cfg(feature = "parquet")]
pub(crate) use read::row_filter::RowFilter;
pub use read::selection::{GameFilter, KnownPlayers, Selection, UnknownName};
pub use read::snapshot::{NameTable, Snapshot};
pub(crate) use read::source::GIVEN_ENCODING;
pub use read::source::{KnownSource, KnownSources, Tail};
pub use read::sql_query::{Catalog, Query, QueryRows, Relation, RelationKind, Statements, nearest};
pub use read::statistics::{GameCharts, GameCounts, GameStatistics, OpeningCount, PlayedOpening, TreeSize};
pub use row::{ImportTotals, NewImport, SourceDigest, SourceTotals};
pub use schema::{APPLICATION_ID, PAGE_SIZE, migrate};
pub(crate) use schema::{provide_exp, schema_of, version_of};
pub use schema_version::SchemaVersion;
pub use space::{FreeSize, Need, Size, free_bytes, is_disk_full};
pub use sql::{SqlLocation, is_complete};
#[cfg(feature = "index")]
pub use write::backup::BackupProgress;
#[cfg(feature = "parquet")]
pub(crate) use write::build::sync_directory;
#[doc(hidden)]
pub use write::build::{Build, BuildOptions};
#[doc(hidden)]
pub use write::bulk::{BulkLoader, PlayedPosition};
#[doc(hidden)]
pub use write::duplicate::PrefixCandidate;
#[doc(hidden)]
pub use write::page_transaction::PageTransaction;
pub use write::repair::RepairCounts;
#[doc(hidden)]
pub use write::side_database::{SideDatabase, SideIndex};
