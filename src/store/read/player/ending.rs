//! Finds the kinds of endings that games reached.

use rusqlite::Connection;

use crate::board::{Ending, Endings, Material};
use crate::id::GameId;
use crate::store::block_games::BlockGames;
use crate::store::block_set::block_of;
use crate::store::cell::{Cells, GAME_POSITION};
use crate::store::database::Database;
use crate::store::error::{Error, Result};
use crate::store::features::FeatureKind;
use crate::store::read::features::visit_sets;

impl Database {
    /// The kinds of endings that each of some games reached in its main line, even if only for one position.
    /// The games must be in the order of their numbers.
    ///
    /// # Errors
    /// Errors of SQLite; a wrong cell.
    pub fn endings_of(&self, games: &[GameId]) -> Result<Vec<Endings>> {
        let connection = self.connection();
        let read = || -> rusqlite::Result<Vec<Endings>> {
            let mut endings = Vec::with_capacity(games.len());
            for games in games.chunk_by(|one, other| block_of(*one).0 == block_of(*other).0) {
                for (&game, told) in games.iter().zip(candidates_of_block(connection, games)?) {
                    endings.push(match told {
                        Some(told) if can_be(told, |kind| !kind.is_decided_by_material()) => {
                            let of_rows = of_rows(connection, game, |kind| told.contains(kind))?;
                            Endings::where_each(|kind| {
                                if kind.is_decided_by_material() { &told } else { &of_rows }.contains(kind)
                            })
                        }
                        Some(told) => told,
                        None => of_rows(connection, game, |_| true)?,
                    });
                }
            }
            Ok(endings)
        };
        read().map_err(|source| Error::sqlite(self.path(), "read which endings games reached", source))
    }
}

/// Whether `endings` includes a kind for which `is_asked` is true.
fn can_be(endings: Endings, is_asked: impl Fn(Ending) -> bool) -> bool {
    !Endings::where_each(|kind| is_asked(kind) && endings.contains(kind)).is_empty()
}

/// The endings that games of a block can have reached, by their materials; `None` for games whose features
/// are unknown.
fn candidates_of_block(connection: &Connection, games: &[GameId]) -> rusqlite::Result<Vec<Option<Endings>>> {
    let Some(&first) = games.first() else { return Ok(Vec::new()) };
    let block = block_of(first).0;
    let mut wanted = BlockGames::default();
    games.iter().for_each(|&game| wanted.insert(block_of(game).1));
    let place = |number: u16| games.binary_search_by_key(&number, |&game| block_of(game).1).ok();
    let mut told = vec![None; games.len()];
    let mut each = |kind, is_wanted: &dyn Fn(i64) -> bool, see: &mut dyn FnMut(i64, &mut Option<Endings>)| {
        visit_sets(connection, (block, kind), 0..=i64::MAX, is_wanted, |value, number| {
            if wanted.contains(number)
                && let Some(place) = place(number)
            {
                see(value, &mut told[place]);
            }
        })
    };
    each(FeatureKind::Game, &|_| true, &mut |_, told| *told = Some(Endings::default()))?;
    let is_ending = |value| !of_material(value).is_empty();
    each(FeatureKind::Material, &is_ending, &mut |value, told| {
        *told = told.map(|told| told.and(of_material(value)));
    })?;
    Ok(told)
}

/// The endings that a material can belong to.
fn of_material(value: i64) -> Endings {
    let material = Material::from_packed(value.cast_unsigned());
    Endings::where_each(|kind| kind.includes(material))
}

/// The wanted endings that occur in a game's positions.
fn of_rows(
    connection: &Connection,
    game: GameId,
    is_asked: impl Fn(Ending) -> bool,
) -> rusqlite::Result<Endings> {
    let sql = "SELECT game_id, ply, fen FROM game_position WHERE game_id = ?1 ORDER BY ply";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([game.0])?;
    let mut endings = Endings::default();
    while let Some(row) = rows.next()? {
        let fen = Cells::new(row, GAME_POSITION).get::<&str>("fen")?.as_bytes();
        endings = endings.and(Endings::where_each(|kind| is_asked(kind) && kind.matches(fen)));
    }
    Ok(endings)
}
