//! Row identifiers, each with its own type.

use serde::Serialize;

/// The number of a row in `game`. Games are numbered in input order; numbers of games that were removed stay unused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GameId(pub u32);

/// A half-move's number in its game; the position before the first move has ply 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ply(pub u32);

/// The number of a row in `source`: 1, 2, 3 … in input order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SourceId(pub u32);

/// The number of a row in `player`, `event` or `site`: 1, 2, 3 … in order of first appearance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameId(pub u32);

/// The number of a row in `import`: 1, 2, 3 … in the order of the runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ImportId(pub u32);

/// The number of a row in `opening`: 1, 2, 3 … in the order of the list of openings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpeningId(pub u32);

/// A level of `occurrence`, identified by the number of its first game. The games of a level have greater
/// numbers than those of the level before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Level(pub u32);

impl Level {
    /// The first level of every database.
    pub const FIRST: Self = Self(1);
}
