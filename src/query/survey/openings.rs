//! The openings of a selection's games.

use serde::Serialize;

use crate::query::survey::statistics::GameCounts;
use crate::store::{self, Database, Selection};

/// Games by opening.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpeningList {
    /// Number of all games, including games without a named opening.
    pub games: u64,
    /// Number of different openings, including those that are not listed.
    pub count: usize,
    /// The openings with the most games, most games first.
    pub openings: Vec<OpeningShare>,
    /// Games without a named opening.
    pub unnamed: GameCounts,
}

/// An opening, and its games by result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpeningShare {
    /// ECO code, such as `B90`.
    pub eco: String,
    /// Name, such as `Sicilian Defense: Najdorf Variation`.
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
