//! The rows of the small tables, in batches.

use super::game::{GameRow, TagRow};
use super::problem::{DuplicateRow, ProblemRow};
use super::table::columns;
use super::text::Text;
use crate::id::NameId;

/// Rows of the small tables, in game order; texts stand in the batch's own text.
#[derive(Debug, Default)]
pub struct HeaderBatch {
    /// Rows of `game`.
    pub games: Vec<GameRow>,
    /// Rows of `tag`, by game, then name.
    pub tags: Vec<TagRow>,
    /// Rows of `problem`, in input order.
    pub problems: Vec<ProblemRow>,
    /// Rows of `duplicate`, in input order.
    pub duplicates: Vec<DuplicateRow>,
    /// New rows of `player`.
    pub players: Vec<(NameId, Text)>,
    /// New rows of `event`.
    pub events: Vec<(NameId, Text)>,
    /// New rows of `site`.
    pub sites: Vec<(NameId, Text)>,
    /// All texts, one after the other.
    pub text: String,
}

impl HeaderBatch {
    /// Empties the batch and keeps its memory.
    pub fn clear(&mut self) {
        self.games.clear();
        self.tags.clear();
        self.problems.clear();
        self.duplicates.clear();
        self.players.clear();
        self.events.clear();
        self.sites.clear();
        self.text.clear();
    }

    /// Adds a text.
    ///
    /// # Panics
    /// When the batch's text would pass 4 GiB.
    pub fn push_text(&mut self, text: &str) -> Text {
        Text::push(&mut self.text, text)
    }
}

/// A name and its number.
type NameRow = (NameId, Text);

/// New rows of `player`.
pub(in crate::store) struct PlayerRows;
/// New rows of `event`.
pub(in crate::store) struct EventRows;
/// New rows of `site`.
pub(in crate::store) struct SiteRows;

columns! {
    PlayerRows: NameRow in "player",
    |batch: HeaderBatch| &batch.players, &batch.text;
    |row| {
        "player_id" => row.0,
        "name" => row.1,
    }
}
columns! {
    EventRows: NameRow in "event",
    |batch: HeaderBatch| &batch.events, &batch.text;
    |row| {
        "event_id" => row.0,
        "name" => row.1,
    }
}
columns! {
    SiteRows: NameRow in "site",
    |batch: HeaderBatch| &batch.sites, &batch.text;
    |row| {
        "site_id" => row.0,
        "name" => row.1,
    }
}
