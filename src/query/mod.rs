//! Questions to a database, and the answers as data: what a question means, its limits, its order, and why there is nothing.
//!
//! | to … | use |
//! |---|---|
//! | read the position that is asked for | [`PositionQuery`] |
//! | tell what was played from a position | [`Explore`] |
//! | find the games that reached something | [`Find`] |
//! | look at games by number | [`visit_games`], [`GameAnswer`] |
//! | tell what a database holds | [`Holdings`] |
//! | play a stored game through, write it as PGN | [`replay`], [`write_pgn`] |
//! | tell names that are like one that nothing bears | [`near_names`] |
//! | tell positions with the same placement | [`variants`] |
//!
//! Answers serialise as `docs/json.md` says. Nothing here knows who asks: texts for people are made where they are shown.

mod error;
mod explore;
mod export;
mod find;
mod game;
mod info;
mod names;
mod position;
mod replay;
mod text;
mod variants;

pub use error::{Error, Result};
pub use explore::{Explore, Explored, ExploredGame, ExploredMove, ListedGame, Player, Winner};
pub use export::{Choice, GameFields, PositionFormat, Positions, choose_games, write_pgn, write_positions};
pub use find::{AllHits, Find, FindTarget, Followed, FoundPosition, Nothing, Shown, Total};
pub use game::{GameAnswer, GamePly, Plies, visit_games};
pub use info::{GamesByResult, Holdings, LongestGame};
pub use names::{NearNames, near_names};
pub use position::{LineMove, PositionError, PositionQuery, number_before};
pub use replay::{DamagedGame, replay};
pub use text::{brief, cut};
pub use variants::{Difference, Variant, variants};
