//! Features that games have at some point of the main line, as sets of games: the table `game_set`.
//!
//! Features are material, pieces on squares, captures and so on. They change little from ply to ply, and rare
//! features occur in few games. So a search for positions that match a description first finds the games that
//! can contain such a position. It reads only the rows of these games, and of games whose features are not
//! recorded.

mod block;
mod feature;
mod games;
mod query;
mod set_row;

pub(crate) use block::{BlockSets, FeatureBlock};
pub(crate) use feature::{Feature, FeatureKind, piece_square};
pub use games::GameFeatures;
pub(crate) use games::{FeatureRows, PieceSquares, features_of, set};
pub use query::FeatureQuery;
pub(crate) use set_row::{SetRows, each_set};
