//! Counts the games of players.

use std::collections::HashMap;

use crate::id::NameId;
use crate::store::cell::{Cells, GAME, PLAYER, read_rows};
use crate::store::database::Database;
use crate::store::error::{Error, Result};
use crate::store::read::filter::bind;

const ACTION: &str = "count the games of players";
/// Indexes find the games of at most this many spellings. For more spellings, all games are read.
const FEW: usize = 200;

/// Counts of a player's games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlayerGames {
    /// Games. A game in which both sides have a name of the player counts once.
    pub games: u64,
    /// Games with White.
    pub white: u64,
    /// Games with Black.
    pub black: u64,
    /// The first year of games whose year is known.
    pub first_year: Option<u16>,
    /// The last year of games whose year is known.
    pub last_year: Option<u16>,
}

/// The players of a game, White first.
pub(crate) struct GamePlayers {
    pub(crate) names: [Option<NameId>; 2],
    pub(crate) ratings: [Option<u16>; 2],
    pub(crate) fide_ids: [Option<u32>; 2],
    pub(crate) year: Option<u16>,
}

impl PlayerGames {
    fn add_year(&mut self, year: Option<u16>) {
        self.first_year =
            year.map(|year| self.first_year.map_or(year, |first| first.min(year))).or(self.first_year);
        self.last_year = self.last_year.max(year);
    }
}

impl Database {
    /// The games of several players. Each player is given by the numbers of all spellings of the player's
    /// name. Two players must not share a spelling.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn player_games(&self, players: &[Vec<NameId>]) -> Result<Vec<PlayerGames>> {
        let mut counts = vec![PlayerGames::default(); players.len()];
        let spellings =
            players.iter().enumerate().flat_map(|(player, ids)| ids.iter().map(move |id| (id.0, player)));
        let player_of: HashMap<u32, usize> = spellings.collect();
        let is_few = player_of.len() <= FEW;
        let which = if is_few { OF_PLAYERS } else { "" };
        let sql = format!("SELECT game_id, white_id, black_id, date FROM game {which}");
        let mut count = || {
            let mut statement = self.connection().prepare_cached(&sql)?;
            bind(&mut statement, ":players", json(player_of.keys()))?;
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next()? {
                let cells = Cells::new(row, GAME);
                let player = |column| {
                    let id: Option<u32> = cells.get(column)?;
                    Ok::<_, rusqlite::Error>(id.and_then(|id| player_of.get(&id).copied()))
                };
                let (white, black) = (player(1)?, player(2)?);
                if white.or(black).is_none() {
                    continue;
                }
                let year = cells.get::<Option<&str>>(3)?.and_then(year);
                for (player, is_white) in [(white, true), (black, false)] {
                    let Some(count) = player.map(|player| &mut counts[player]) else { continue };
                    *(if is_white { &mut count.white } else { &mut count.black }) += 1;
                    count.games += u64::from(is_white || white != black);
                    count.add_year(year);
                }
            }
            Ok(())
        };
        count().map_err(|source| Error::sqlite(self.path(), ACTION, source))?;
        Ok(counts)
    }

    /// Visits the players of all games.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn visit_game_players(&self, mut visit: impl FnMut(&GamePlayers)) -> Result<()> {
        let sql = "SELECT game_id, white_id, black_id, white_elo, black_elo, white_fide_id, black_fide_id, date FROM game";
        let mut read = || {
            let mut statement = self.connection().prepare_cached(sql)?;
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next()? {
                let cells = Cells::new(row, GAME);
                visit(&GamePlayers {
                    names: [
                        cells.get::<Option<u32>>(1)?.map(NameId),
                        cells.get::<Option<u32>>(2)?.map(NameId),
                    ],
                    ratings: [cells.get(3)?, cells.get(4)?],
                    fide_ids: [cells.get(5)?, cells.get(6)?],
                    year: cells.get::<Option<&str>>(7)?.and_then(year),
                });
            }
            Ok(())
        };
        read().map_err(|source| Error::sqlite(self.path(), "read the players' data in games", source))
    }

    /// The number of games of a player, using only the indexes.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn count_player_games(&self, ids: &[NameId]) -> Result<u64> {
        // A game in which both sides have a name of the player counts once.
        let sql = "SELECT count(*) FROM (
                SELECT game_id FROM game WHERE white_id IN (SELECT value FROM json_each(:players))
                UNION SELECT game_id FROM game WHERE black_id IN (SELECT value FROM json_each(:players)))";
        let count = || {
            let mut statement = self.connection().prepare_cached(sql)?;
            statement.query_row([json(ids.iter().map(|id| &id.0))], |row| Cells::new(row, GAME).get(0))
        };
        count().map_err(|source| Error::sqlite(self.path(), ACTION, source))
    }

    /// Visits the names from `begin` up to, but not including, `end`, in order, with their numbers, until
    /// `visit` returns `false`.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn visit_players_between(
        &self,
        begin: &str,
        end: &str,
        mut visit: impl FnMut(NameId, &str) -> bool,
    ) -> Result<()> {
        let sql = "SELECT player_id, name FROM player WHERE name >= ?1 AND name < ?2 ORDER BY name";
        let mut walk = || {
            let mut statement = self.connection().prepare_cached(sql)?;
            let mut rows = statement.query([begin, end])?;
            while let Some(row) = rows.next()? {
                let cells = Cells::new(row, PLAYER);
                if !visit(NameId(cells.get(0)?), cells.get(1)?) {
                    break;
                }
            }
            Ok(())
        };
        walk().map_err(|source| Error::sqlite(self.path(), "look up a name", source))
    }

    /// The names with these numbers, in the order of the numbers.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn player_names(&self, ids: &[NameId]) -> Result<Vec<String>> {
        let sql = "SELECT player_id, name FROM player WHERE player_id IN (SELECT value FROM json_each(?1)) ORDER BY player_id";
        let read = || {
            let mut statement = self.connection().prepare_cached(sql)?;
            let name = |row: &rusqlite::Row<'_>| Cells::new(row, PLAYER).get(1);
            read_rows(&mut statement, [json(ids.iter().map(|id| &id.0))], name)
        };
        read().map_err(|source| Error::sqlite(self.path(), "look up a name", source))
    }
}

const OF_PLAYERS: &str = "WHERE white_id IN (SELECT value FROM json_each(:players))
    OR black_id IN (SELECT value FROM json_each(:players))";

fn json<'i>(ids: impl Iterator<Item = &'i u32>) -> String {
    format!("[{}]", ids.map(u32::to_string).collect::<Vec<_>>().join(","))
}

/// The year of a date in `game`.
fn year(date: &str) -> Option<u16> {
    date.get(..4)?.parse().ok()
}
