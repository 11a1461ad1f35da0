//! The games of players: counts of games, each game from the player's point of view, and the kinds of endings
//! reached.

use std::collections::HashMap;

use rusqlite::{Connection, params_from_iter};
use serde_json::json;

use crate::board::{Color, Ending, Endings, GameResult, Material, MoveCode, Position};
use crate::id::{GameId, NameId};
use crate::opening::Opening;
use crate::store::block_games::BlockGames;
use crate::store::block_set::block_of;
use crate::store::cell::{GAME, GAME_POSITION, PLAYER};
use crate::store::features::FeatureKind;
use crate::store::read::features::visit_sets;
use crate::store::read::game::{first_moves, opening};
use crate::store::row::year_of_date;
use crate::store::{Database, Result, Selection};

const COUNT: &str = "count the games of players";
const READ: &str = "read the games of a player";
/// Games are looked up in indexes for at most this many spellings. For more spellings, all games are read.
const FEW: usize = 200;

/// Counts of a player's games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlayerGames {
    /// All games. A game in which both sides have a name of the player counts once.
    pub games: u64,
    /// Games in which the player had White.
    pub white: u64,
    /// Games in which the player had Black.
    pub black: u64,
    /// The earliest year of games whose year is known.
    pub first_year: Option<u16>,
    /// The latest year of games whose year is known.
    pub last_year: Option<u16>,
}

/// The data of both players of a game, White first, and the year.
pub(crate) struct GamePlayers {
    pub(crate) names: [Option<NameId>; 2],
    pub(crate) ratings: [Option<u16>; 2],
    pub(crate) fide_ids: [Option<u32>; 2],
    pub(crate) year: Option<u16>,
}

/// A game of a player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedGame {
    /// The game.
    pub game: GameId,
    /// The player's side.
    pub side: Color,
    /// The result.
    pub result: GameResult,
    /// The player's rating.
    pub rating: Option<u16>,
    /// The name of the opponent.
    pub opponent: Option<String>,
    /// The rating of the opponent.
    pub opponent_rating: Option<u16>,
    /// The date, `YYYY.MM.DD` with question marks for unknown parts.
    pub date: Option<String>,
    /// The speed class, as on Lichess.
    pub speed: Option<String>,
    /// The opening, determined by the positions of the game.
    pub opening: Option<Opening>,
    /// Event.
    pub event: Option<String>,
}

impl PlayerGames {
    fn add_year(&mut self, year: Option<u16>) {
        self.first_year = self.first_year.into_iter().chain(year).min();
        self.last_year = self.last_year.max(year);
    }
}

impl Database {
    /// Counts the games of several players. Each player is given as the ids of all spellings of the player's
    /// name. Two players must not share a spelling.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn player_games(&self, players: &[Vec<NameId>]) -> Result<Vec<PlayerGames>> {
        let mut counts = vec![PlayerGames::default(); players.len()];
        let spellings =
            players.iter().enumerate().flat_map(|(player, ids)| ids.iter().map(move |id| (id.0, player)));
        let player_of: HashMap<u32, usize> = spellings.collect();
        let mut sql = "SELECT game_id, white_id, black_id, date FROM game".to_owned();
        let mut few = None;
        if player_of.len() <= FEW {
            sql += " WHERE white_id IN (SELECT value FROM json_each(?1))
                OR black_id IN (SELECT value FROM json_each(?1))";
            few = Some(json!(players.concat()).to_string());
        }
        let counted = GAME.each(self.connection(), &sql, params_from_iter(few), |cells| {
            let player = |column| {
                let id: Option<u32> = cells.get(column)?;
                Ok::<_, rusqlite::Error>(id.and_then(|id| player_of.get(&id).copied()))
            };
            let (white, black) = (player(1)?, player(2)?);
            if white.or(black).is_none() {
                return Ok(());
            }
            let year = year_of_date(cells.get(3)?);
            for (player, is_white) in [(white, true), (black, false)] {
                let Some(count) = player.map(|player| &mut counts[player]) else { continue };
                *(if is_white { &mut count.white } else { &mut count.black }) += 1;
                count.games += u64::from(is_white || white != black);
                count.add_year(year);
            }
            Ok(())
        });
        counted.map_err(self.failed(COUNT))?;
        Ok(counts)
    }

    /// Visits the players' data of all games.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn visit_game_players(&self, mut visit: impl FnMut(&GamePlayers)) -> Result<()> {
        let sql = "SELECT game_id, white_id, black_id, white_elo, black_elo, white_fide_id, black_fide_id, date FROM game";
        let read = GAME.each(self.connection(), sql, [], |cells| {
            visit(&GamePlayers {
                names: [cells.get(1)?, cells.get(2)?],
                ratings: [cells.get(3)?, cells.get(4)?],
                fide_ids: [cells.get(5)?, cells.get(6)?],
                year: year_of_date(cells.get(7)?),
            });
            Ok(())
        });
        read.map_err(self.failed("read the players' data in games"))
    }

    /// The number of games of the player whose spellings have these ids. Reads only the indexes.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn count_player_games(&self, ids: &[NameId]) -> Result<u64> {
        // A game in which both sides have a name of the player counts once.
        let sql = "SELECT count(*) FROM (
                SELECT game_id FROM game WHERE white_id IN (SELECT value FROM json_each(?1))
                UNION SELECT game_id FROM game WHERE black_id IN (SELECT value FROM json_each(?1)))";
        let count = GAME.first(self.connection(), sql, [json!(ids).to_string()], |cells| cells.get(0));
        Ok(count.map_err(self.failed(COUNT))?.unwrap_or_default())
    }

    /// The players' names with these ids, in ascending order of the ids.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(crate) fn player_names(&self, ids: &[NameId]) -> Result<Vec<String>> {
        let sql = "SELECT player_id, name FROM player WHERE player_id IN (SELECT value FROM json_each(?1)) ORDER BY player_id";
        self.all("look up a name", PLAYER, sql, [json!(ids).to_string()], |cells| cells.get(1))
    }

    /// Calls `see` with each game of a selection in which a side has one of these names, in the order of the
    /// games' ids. `names` must be in ascending order. A game in which both sides have one of these names is
    /// passed twice: for White, then for Black.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn visit_played_games(
        &self,
        names: &[NameId],
        selection: &Selection,
        mut see: impl FnMut(PlayedGame),
    ) -> Result<()> {
        let sql = format!(
            "SELECT game.game_id AS game_id, game.white_id, game.black_id, game.result, game.white_elo, game.black_elo,
                 game.date, game.speed, o.eco AS opening_eco, o.name AS opening, e.name, w.name, b.name
             FROM game
             LEFT JOIN opening AS o USING (opening_id) LEFT JOIN event AS e USING (event_id)
             LEFT JOIN player AS w ON w.player_id = game.white_id LEFT JOIN player AS b ON b.player_id = game.black_id
             WHERE true{} ORDER BY 1",
            selection.sql()
        );
        let visited = selection.each(self.connection(), GAME, &sql, &[], |cells| {
            let is_player = |column| {
                let id: Option<NameId> = cells.get(column)?;
                Ok::<_, rusqlite::Error>(id.is_some_and(|id| names.binary_search(&id).is_ok()))
            };
            // For each side: whether the player has it, and the columns of the player's rating, the
            // opponent's rating and the opponent's name.
            for (side, has_side, [rating, opponent_rating], opponent) in
                [(Color::White, is_player(1)?, [4, 5], 12), (Color::Black, is_player(2)?, [5, 4], 11)]
            {
                if !has_side {
                    continue;
                }
                see(PlayedGame {
                    game: cells.get(0)?,
                    side,
                    result: cells.get(3)?,
                    rating: cells.get(rating)?,
                    opponent: cells.get(opponent)?,
                    opponent_rating: cells.get(opponent_rating)?,
                    date: cells.get(6)?,
                    speed: cells.get(7)?,
                    opening: opening(cells)?,
                    event: cells.get(10)?,
                });
            }
            Ok(())
        });
        visited.map_err(self.failed(READ))
    }

    /// The first `most` moves of a game from the standard start position, or all moves if there are fewer.
    /// `most` must be at least 1. `None` if the game begins at another position or has no positions.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn first_moves(&self, game: GameId, most: u32) -> Result<Option<Vec<MoveCode>>> {
        let moves = first_moves(self.connection(), game, most).map_err(self.failed(READ))?;
        Ok(moves.filter(|&(start, _)| start == Position::start().key()).map(|(_, codes)| codes))
    }

    /// For each game, the kinds of endings that its main line reached, even if only for one position. The
    /// games must be in ascending order.
    ///
    /// # Errors
    /// Errors of SQLite; a cell with an invalid value.
    pub fn endings_of(&self, games: &[GameId]) -> Result<Vec<Endings>> {
        let connection = self.connection();
        let read = || -> rusqlite::Result<Vec<Endings>> {
            let mut endings = Vec::with_capacity(games.len());
            for games in games.chunk_by(|one, other| block_of(*one).0 == block_of(*other).0) {
                for (&game, candidates) in games.iter().zip(candidates_of_block(connection, games)?) {
                    endings.push(match candidates {
                        Some(candidates) if depends_on_squares(candidates) => {
                            let of_rows = of_rows(connection, game, |kind| candidates.contains(kind))?;
                            Endings::where_each(|kind| {
                                if kind.is_decided_by_material() { &candidates } else { &of_rows }
                                    .contains(kind)
                            })
                        }
                        Some(candidates) => candidates,
                        None => of_rows(connection, game, |_| true)?,
                    });
                }
            }
            Ok(endings)
        };
        read().map_err(self.failed("read the endings that games reached"))
    }
}

/// Whether one of these kinds depends on the pieces' squares.
fn depends_on_squares(kinds: Endings) -> bool {
    !Endings::where_each(|kind| kinds.contains(kind) && !kind.is_decided_by_material()).is_empty()
}

/// For each of these games, which must be in one block: the kinds of endings that the game can have reached
/// according to its materials. `None` if the features of the game are unknown.
fn candidates_of_block(connection: &Connection, games: &[GameId]) -> rusqlite::Result<Vec<Option<Endings>>> {
    let Some(&first) = games.first() else { return Ok(Vec::new()) };
    let block = block_of(first).0;
    let mut wanted = BlockGames::default();
    games.iter().for_each(|&game| wanted.insert(block_of(game).1));
    let mut candidates = vec![None; games.len()];
    // The bitmap rejects most games faster than the binary search.
    let place = |number| {
        let place = || games.binary_search_by_key(&number, |&game| block_of(game).1).ok();
        wanted.contains(number).then(place).flatten()
    };
    visit_sets(connection, (block, FeatureKind::Game), 0..=0, &|_| true, |_, number| {
        if let Some(place) = place(number) {
            candidates[place] = Some(Endings::default());
        }
    })?;
    let is_ending = |value| !of_material(value).is_empty();
    visit_sets(connection, (block, FeatureKind::Material), 0..=i64::MAX, &is_ending, |value, number| {
        if let Some(place) = place(number) {
            candidates[place] = candidates[place].map(|endings: Endings| endings.and(of_material(value)));
        }
    })?;
    Ok(candidates)
}

/// The kinds of endings to which a position with this material can belong.
fn of_material(value: i64) -> Endings {
    let material = Material::from_packed(value.cast_unsigned());
    Endings::where_each(|kind| kind.includes(material))
}

/// The wanted kinds of endings that occur among a game's positions.
fn of_rows(
    connection: &Connection,
    game: GameId,
    is_wanted: impl Fn(Ending) -> bool,
) -> rusqlite::Result<Endings> {
    let sql = "SELECT game_id, ply, fen FROM game_position WHERE game_id = ?1 ORDER BY ply";
    let mut endings = Endings::default();
    GAME_POSITION.each(connection, sql, [game.0], |cells| {
        let fen = cells.get::<&str>("fen")?.as_bytes();
        endings = endings.and(Endings::where_each(|kind| is_wanted(kind) && kind.matches(fen)));
        Ok(())
    })?;
    Ok(endings)
}
