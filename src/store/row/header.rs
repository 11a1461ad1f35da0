//! The rows of the small tables, in batches.

use rusqlite::Connection;

use super::annotation::{CommandRow, CommentRow, EvalRow, NagRow, VariationMoveRow, VariationRow};
use super::description::{InsertRows, columns};
use super::game::{GameNames, GameRow, TagRow};
use super::problem::{DuplicateRow, ProblemRow};
use super::text::Text;
use super::virtual_table::{Cell, RowTable};
#[cfg(feature = "index")]
use crate::id::SourceId;
use crate::id::{GameId, NameId};
use crate::store::error::Result;
use crate::store::passed::PassedGames;

/// A row of a side table of `game`.
pub(crate) trait SideRow {
    /// How many columns the primary key has: the first ones, and the very first is `game_id`.
    const KEY: usize;

    /// The game it belongs to.
    fn game(&mut self) -> &mut GameId;
}

/// A side table of `game`, whose rows come with those of the games and go with them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SideTable {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its columns.
    pub(crate) columns: &'static [&'static str],
    /// How many of them are its primary key.
    pub(crate) key: usize,
    /// How many rows a batch has.
    #[cfg_attr(not(feature = "index"), allow(dead_code))]
    pub(crate) len: fn(&HeaderBatch) -> usize,
    /// The value of a row and column.
    #[cfg_attr(not(feature = "index"), allow(dead_code))]
    pub(crate) cell: for<'b> fn(&'b HeaderBatch, usize, usize) -> Option<Cell<'b>>,
}

impl SideTable {
    const fn of<R: SideRow + InsertRows<Batch = HeaderBatch>>() -> Self {
        Self { name: R::TABLE, columns: R::COLUMNS, key: R::KEY, len: R::len, cell: R::cell }
    }
}

/// Writes the rows of a batch into one table.
pub(in crate::store) trait InsertInto {
    /// Writes them through the table that SQL reads them from.
    fn insert<R: InsertRows>(&self, table: &RowTable<R>, batch: &R::Batch) -> Result<()>;
}

/// Declares the batch of the small tables, with a line for each side table of `game`: the name of its rows, and their type.
macro_rules! header_batch {
    ($($(#[$meta:meta])* $side:ident: $row:ident,)*) => {
        /// Rows of the small tables, in game order; texts stand in the batch's own text.
        #[derive(Debug, Default)]
        pub struct HeaderBatch {
            /// Rows of `game`.
            pub games: Vec<GameRow>,
            /// Their names, for those who take them with the games.
            pub names: Vec<GameNames>,
            $($(#[$meta])* pub $side: Vec<$row>,)*
            /// Rows of `problem`, in input order.
            pub problems: Vec<ProblemRow>,
            /// What the games pass, one after the other; none if it was not looked at.
            pub passed: PassedGames,
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
            /// The side tables of `game`.
            pub(crate) const SIDE_TABLES: &'static [SideTable] = &[$(SideTable::of::<$row>()),*];

            /// Empties the batch and keeps its memory.
            pub fn clear(&mut self) {
                self.games.clear();
                self.names.clear();
                $(self.$side.clear();)*
                self.problems.clear();
                self.passed.clear();
                self.duplicates.clear();
                self.players.clear();
                self.events.clear();
                self.sites.clear();
                self.text.clear();
            }

            /// Gives the games other numbers, and so the rows that belong to them; rows of games that get `None` are taken out.
            #[cfg(feature = "index")]
            pub(crate) fn renumber_games(&mut self, number: impl Fn(GameId) -> Option<GameId>) {
                let renumber = |game: &mut GameId| number(*game).map(|new| *game = new).is_some();
                self.games.retain_mut(|row| renumber(&mut row.game));
                $(self.$side.retain_mut(|row| renumber(row.game()));)*
            }

            /// Lets all rows belong to another source.
            #[cfg(feature = "index")]
            pub(crate) fn set_source(&mut self, source: SourceId) {
                self.games.iter_mut().for_each(|row| row.source = source);
                self.problems.iter_mut().for_each(|row| row.source = source);
                self.duplicates.iter_mut().for_each(|row| row.source = source);
            }

            /// How many rows of games there are, table by table.
            #[cfg(feature = "index")]
            pub(crate) fn game_rows(&self) -> GameRows {
                GameRows { games: self.games.len(), $($side: self.$side.len()),* }
            }

            /// Takes the rows of games out that came since.
            #[cfg(feature = "index")]
            pub(crate) fn truncate_game_rows(&mut self, rows: &GameRows) {
                self.games.truncate(rows.games);
                $(self.$side.truncate(rows.$side);)*
            }
        }

        /// How many rows of games a batch has.
        #[cfg(feature = "index")]
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct GameRows {
            games: usize,
            $($side: usize,)*
        }

        /// The tables that SQL reads a batch from.
        pub(in crate::store) struct HeaderTables {
            players: RowTable<PlayerRows>,
            events: RowTable<EventRows>,
            sites: RowTable<SiteRows>,
            games: RowTable<GameRow>,
            $($side: RowTable<$row>,)*
            problems: RowTable<ProblemRow>,
            duplicates: RowTable<DuplicateRow>,
        }

        impl HeaderTables {
            /// Makes them known to a connection.
            pub(in crate::store) fn register(connection: &Connection) -> rusqlite::Result<Self> {
                Ok(Self {
                    players: RowTable::register(connection)?,
                    events: RowTable::register(connection)?,
                    sites: RowTable::register(connection)?,
                    games: RowTable::register(connection)?,
                    $($side: RowTable::register(connection)?,)*
                    problems: RowTable::register(connection)?,
                    duplicates: RowTable::register(connection)?,
                })
            }

            /// Writes all rows of a batch, those first that others name.
            pub(in crate::store) fn insert(&self, batch: &HeaderBatch, into: &impl InsertInto) -> Result<()> {
                into.insert(&self.players, batch)?;
                into.insert(&self.events, batch)?;
                into.insert(&self.sites, batch)?;
                into.insert(&self.games, batch)?;
                $(into.insert(&self.$side, batch)?;)*
                into.insert(&self.problems, batch)?;
                into.insert(&self.duplicates, batch)
            }
        }
    };
}

header_batch! {
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
