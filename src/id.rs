//! Row identifiers, each with its own type.

use serde::Serialize;

/// The number of a game: the row of `game`, from 1 in input order. Numbers of removed games stay unused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GameId(pub u32);

/// A number of half-moves from the start of a game: 0 is the position before the first move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ply(pub u32);

/// The number of one reading of an input file: the row of `source`, 1, 2, 3 … in input order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SourceId(pub u32);

/// The number of a row in `player`, `event` or `site`: 1, 2, 3 … in order of first appearance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameId(pub u32);

/// The number of a run of `index`: the row of `import`, 1, 2, 3 … in the order of the runs.
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
