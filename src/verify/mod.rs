//! Checks whether a database is sound: compares its tables with each other, with the rules of chess and with
//! the PGN files that were indexed. Writes nothing.
//!
//! | module or file | checks |
//! |---|---|
//! | `file` | pages, schema, links between tables, ids, totals |
//! | `constraints` | the constraints of the schema |
//! | `rows::games` | each game's rows, one scan of `game_position` |
//! | `rows::replay` | positions and moves of one game, on the board |
//! | `rows::occurrences` | `occurrence` (and its view `position_game`) against `game_position`, in one scan |
//! | `rows::sets` | columns and sets of games, levels, removed games |
//! | `rows::visited_positions` | `level_position` and `level_continuation`, by counting again |
//! | `rows::annotations` | clocks, evaluations, comments and variations, against the moves |
//! | `rows::duplicates` | skipped and broken-off games, against their originals |
//! | `rows::side_rows` | side tables of `game`, such as `tag`, against the games' texts |
//! | `rows::problems` | the rows of `problem` |
//! | `source` | games against the PGN text they were read from, plain or compressed |

mod check;
mod constraints;
mod file;
mod finding;
mod options;
mod report;
mod rows;
mod run;
mod source;

pub use crate::index::Progress;
pub(crate) use check::{Check, Duplicates, MissingIds};
pub(crate) use finding::Collector;
pub use finding::{Finding, FindingKind, Findings, Id, RowId};
pub use options::{Sample, VerifyOptions};
pub use report::{Error, Report, Result, SourceNote, SourceState};
pub use run::verify;
