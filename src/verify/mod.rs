//! Is a database sound? Everything it says is held against the rest of it, against the rules of chess and against the PGN it
//! was made from. Nothing is written.
//!
//! | file | what it checks |
//! |---|---|
//! | `structure` | pages, schema, links between tables, numbers, totals |
//! | `games` | each game's rows, one scan of `game_position` |
//! | `replay` | positions and moves of one game, on the board |
//! | `occurrences` | `position_game` against `game_position`, one scan of it |
//! | `visited` | `visited_position` and `continuation`, counted anew |
//! | `duplicates` | games that were skipped, and those that break off, against their originals |
//! | `source` | games against the PGN text they were read from |
//! | `packed` | the same, of sources that have to be decoded |

mod checksum;
mod definition;
mod duplicates;
mod error;
mod finding;
mod games;
mod occurrences;
mod options;
mod packed;
mod problems;
mod progress;
mod replay;
mod report;
mod run;
mod source;
mod stored;
mod structure;
mod visited;

pub use error::{Error, Result};
pub use finding::{Finding, Findings, Id, Kind, RowId};
pub use options::{Sample, VerifyOptions};
pub use progress::Progress;
pub use report::{Report, SourceNote, SourceState};
pub use run::verify;
