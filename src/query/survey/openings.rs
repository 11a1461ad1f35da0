//! The openings of a selection's games.

use serde::Serialize;

use crate::query::survey::statistics::GameCounts;
use crate::store::{self, Database, Selection};

/// The openings of some games.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpeningList {
    /// All games.
    pub games: u64,
    /// How many openings there are.
    pub count: usize,
    /// Some of them, most games first.
    pub openings: Vec<OpeningShare>,
    /// The games whose opening has no name.
    pub unnamed: GameCounts,
}

/// An opening, and the games that went through it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpeningShare {
    /// ECO code.
    pub eco: String,
    /// Name.
    pub name: String,
    /// The games.
    #[serde(flatten)]
    pub counted: GameCounts,
}

impl OpeningList {
    /// The openings of a selection's games, found by positions, at most `limit`.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn read(database: &Database, selection: &Selection, limit: usize) -> store::Result<Self> {
        let mut list = Self { games: 0, count: 0, openings: Vec::new(), unnamed: GameCounts::default() };
        for played in database.played_openings(selection)? {
            let counted = GameCounts::from(played.outcomes);
            list.games += counted.games;
            match played.eco.zip(played.name) {
                Some((eco, name)) => {
                    list.count += 1;
                    list.openings.push(OpeningShare { eco, name, counted });
                }
                None => list.unnamed = counted,
            }
        }
        list.openings.truncate(limit);
        Ok(list)
    }
}
