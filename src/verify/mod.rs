//! Is a database sound? Everything it says is held against the rest of it, against the rules of chess and against the PGN it
//! was made from. Nothing is written.
//!
//! | room or file | what it checks |
//! |---|---|
//! | `file` | pages, schema, links between tables, numbers, totals |
//! | `rows::games` | each game's rows, one scan of `game_position` |
//! | `rows::replay` | positions and moves of one game, on the board |
//! | `rows::occurrences` | `position_game` against `game_position`, one scan of it |
//! | `rows::frequent_keys` | the keys that many rows of a level have |
//! | `rows::visited_positions` | `visited_position` and `continuation`, counted anew |
//! | `rows::duplicates` | games that were skipped, and those that break off, against their originals |
//! | `rows::side_rows` | side tables of `game`, such as `tag`, against the games' texts |
//! | `rows::problems` | what was found wrong, row by row |
//! | `source` | games against the PGN text they were read from, plain or packed |

mod error;
pub(crate) mod file;
mod finding;
mod options;
mod progress;
mod report;
pub(crate) mod rows;
mod run;
pub(crate) mod source;

pub use error::{Error, Result};
pub use finding::{Finding, Findings, Id, Kind, RowId};
pub use options::{Sample, VerifyOptions};
pub use progress::Progress;
pub use report::{Report, SourceNote, SourceState};
pub use run::verify;
