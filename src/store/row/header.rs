//! Batches of rows of `game`, its side tables and the other small tables.

use rusqlite::Connection;

use super::description::{SideRow, Text, batch, columns};
use super::tables::{
    CommandRow, CommentRow, DuplicateRow, EvalRow, GameNames, GameRow, MovesRow, NagRow, ProblemRow, TagRow,
    VariationMoveRow, VariationRow,
};
use super::virtual_table::{Cell, RowTable, Rows};
use crate::id::{GameId, NameId, SourceId};
use crate::store::features::GameFeatures;

/// A side table of `game`. Its rows are added and removed together with the games.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SideTable {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [&'static str],
    /// The number of columns of the table's primary key.
    pub(crate) key: usize,
    /// Returns how many rows a batch has for the table.
    pub(crate) len: fn(&HeaderBatch) -> usize,
    /// Returns the value at a row index and a column index of these rows; `None` if there is no such row, column
    /// or text.
    pub(crate) cell: for<'b> fn(&'b HeaderBatch, usize, usize) -> Option<Cell<'b>>,
}

impl SideTable {
    const fn of<R: SideRow + Rows<Batch = HeaderBatch>>() -> Self {
        Self { name: R::TABLE, columns: R::COLUMNS, key: R::KEY, len: R::len, cell: R::cell }
    }
}

/// Declares `HeaderBatch`, with one line per side table of `game`: the field with the table's rows, and the
/// type of a row.
macro_rules! header_batch {
    ($($(#[$meta:meta])* $side:ident: $row:ident,)*) => {
        /// Rows of `game`, its side tables and the other small tables, in the order of the games. Texts in rows are
        /// ranges of the field `text`.
        #[derive(Debug, Default)]
        pub struct HeaderBatch {
            /// Rows of `game`.
            pub games: Vec<GameRow>,
            /// The event, site and players of each game; empty unless the sink writes names together with games.
            pub names: Vec<GameNames>,
            $($(#[$meta])* pub $side: Vec<$row>,)*
            /// Rows of `problem`, in input order.
            pub problems: Vec<ProblemRow>,
            /// The features of the games, in order; empty if they were not computed.
            pub features: GameFeatures,
            /// Rows of `duplicate`, in input order.
            pub duplicates: Vec<DuplicateRow>,
            /// New rows of `player`.
            pub players: Vec<(NameId, Text)>,
            /// New rows of `event`.
            pub events: Vec<(NameId, Text)>,
            /// New rows of `site`.
            pub sites: Vec<(NameId, Text)>,
            /// All texts, concatenated.
            pub text: String,
        }

        batch! {
            HeaderBatch {
                GameRow: games,
                $($row: $side,)*
                ProblemRow: problems,
                DuplicateRow: duplicates,
                PlayerRows: players,
                EventRows: events,
                SiteRows: sites,
            }
        }

        impl HeaderBatch {
            /// The side tables of `game`.
            pub(crate) const SIDE_TABLES: &'static [SideTable] = &[$(SideTable::of::<$row>()),*];

            /// Clears the batch and keeps its memory.
            pub fn clear(&mut self) {
                self.games.clear();
                self.names.clear();
                $(self.$side.clear();)*
                self.problems.clear();
                self.features.clear();
                self.duplicates.clear();
                self.players.clear();
                self.events.clear();
                self.sites.clear();
                self.text.clear();
            }

            /// Renumbers the games in the rows of `game` and of its side tables. Removes the rows of games
            /// for which `number` returns `None`.
            pub(crate) fn renumber_games(&mut self, number: impl Fn(GameId) -> Option<GameId>) {
                let renumber = |game: &mut GameId| number(*game).map(|new| *game = new).is_some();
                self.games.retain_mut(|row| renumber(&mut row.game));
                $(self.$side.retain_mut(|row| renumber(row.game()));)*
            }

            /// Sets the source of all games, problems and duplicates.
            pub(crate) fn set_source(&mut self, source: SourceId) {
                self.games.iter_mut().for_each(|row| row.source = source);
                self.problems.iter_mut().for_each(|row| row.source = source);
                self.duplicates.iter_mut().for_each(|row| row.source = source);
            }

            /// The number of rows of `game` and of each of its side tables.
            pub(crate) fn game_rows(&self) -> GameRows {
                GameRows { games: self.games.len(), $($side: self.$side.len()),* }
            }
        }

        /// The number of rows of `game` and of each of its side tables in a batch.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub(crate) struct GameRows {
            pub(crate) games: usize,
            $(pub(crate) $side: usize,)*
        }

        impl RowTable<HeaderBatch> {
            /// Registers the tables of a batch. A table comes after the tables that it refers to.
            pub(in crate::store) fn register_all(connection: &Connection) -> rusqlite::Result<Vec<Self>> {
                Ok(vec![
                    Self::register::<PlayerRows>(connection)?,
                    Self::register::<EventRows>(connection)?,
                    Self::register::<SiteRows>(connection)?,
                    Self::register::<GameRow>(connection)?,
                    $(Self::register::<$row>(connection)?,)*
                    Self::register::<ProblemRow>(connection)?,
                    Self::register::<DuplicateRow>(connection)?,
                ])
            }
        }
    };
}

header_batch! {
    /// Rows of `game_moves`, by game; empty in the open layout.
    moves: MovesRow,
    /// Rows of `tag`, by game, then name.
    tags: TagRow,
    /// Rows of `move_eval`, by game, then ply.
    evals: EvalRow,
    /// Rows of `comment`, by game, line, ply, number.
    comments: CommentRow,
    /// Rows of `nag`, by game, line, ply, nag.
    nags: NagRow,
    /// Rows of `command`, by game, line, ply, number.
    commands: CommandRow,
    /// Rows of `variation`, by game, then line.
    variations: VariationRow,
    /// Rows of `variation_move`, by game, line, ply.
    variation_moves: VariationMoveRow,
}

impl HeaderBatch {
    /// Appends a text to the batch's text, and returns its range there.
    ///
    /// # Panics
    /// If the batch's text, or the new text, has 4 GiB or more.
    pub fn push_text(&mut self, text: &str) -> Text {
        Text::push(&mut self.text, text)
    }
}

/// The id of a name, and the name.
type NameRow = (NameId, Text);

struct PlayerRows;
struct EventRows;
struct SiteRows;

columns! { PlayerRows: NameRow in "player", |row| { "player_id" => row.0, "name" => row.1 } }
columns! { EventRows: NameRow in "event", |row| { "event_id" => row.0, "name" => row.1 } }
columns! { SiteRows: NameRow in "site", |row| { "site_id" => row.0, "name" => row.1 } }
