//! Ids of rows, plies and levels, each with its own type.

use serde::Serialize;

/// The id of a game, and of its row in `game`: from 1, in input order. Ids of removed games are not used
/// again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GameId(pub u32);

/// The number of half-moves played since the start of a game: 0 in the start position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ply(pub u32);

/// The id of one reading of an input file, and of its row in `source`: 1, 2, 3 … in input order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SourceId(pub u32);

/// The id of a row of `player`, `event` or `site`: 1, 2, 3 … in order of first appearance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct NameId(pub u32);

/// The id of a run of `index`, and of its row in `import`: 1, 2, 3 … in the order of the runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ImportId(pub u32);

/// The id of a row of `opening`: 1, 2, 3 … in the order of the list of openings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpeningId(pub u32);

/// A level: consecutive games, and the rows by which their positions are found. The level's number is the
/// first game id of its range. The range ends before the number of the next level; the range of the last
/// level has no end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Level(pub u32);

impl Level {
    /// The first level of every database.
    pub const FIRST: Self = Self(1);
}
