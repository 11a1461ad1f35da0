//! Finds games that repeat an earlier game.

use std::path::Path;

use crate::index::game::{Comparison, Pairing, Signature, Signatures};
use crate::index::{Duplicates, Error, Result, SpillMap};
use crate::store::row::{GameId, NameId};
use crate::store::{ComparedGame, GameSet, Snapshot};

/// The games that later games can repeat: kept games of this run, and those games of the existing database
/// that have been read.
///
/// Each game is searched for before it is added. So the set contains only the first of several equal games.
#[derive(Debug)]
pub(crate) struct Originals {
    comparison: Comparison,
    /// The ids of games, by their whole signatures.
    same: SpillMap,
    /// The ids of games, by the first parts of their signatures: start position and moves.
    moves: SpillMap,
    /// The groups of games that have been read from the database. The games of a group have the same hash of
    /// moves and, in some groups, also the same White player.
    groups: SpillMap,
    /// Games that the run removes from the database.
    removed: GameSet,
}

impl Originals {
    /// An empty set. Data beyond about `memory` bytes is written to files in `directory`.
    pub(crate) fn new(comparison: Comparison, removed: &GameSet, memory: u64, directory: &Path) -> Self {
        // The map `moves` is filled only if games are also searched for by moves alone.
        let share = if comparison.rule == Duplicates::Moves { memory / 2 } else { memory };
        let map = |memory| SpillMap::new(memory, directory.to_owned());
        let (same, moves, groups) = (map(share), map(share), map(memory / 8));
        Self { comparison, same, moves, groups, removed: removed.clone() }
    }

    /// Finds the first game that is equal to the game with this `signature`. The bytes of the signature are
    /// in `games`.
    pub(crate) fn same(&mut self, games: &Signatures, signature: &Signature) -> Result<Option<GameId>> {
        let Some(hash) = signature.hash else { return Ok(None) };
        Ok(self.same.find(hash, games.bytes(signature))?.map(GameId))
    }

    /// Like [`same`](Self::same), but finds the first game with the same moves.
    pub(crate) fn with_moves(&mut self, games: &Signatures, signature: &Signature) -> Result<Option<GameId>> {
        let Some(hash) = signature.moves_hash else { return Ok(None) };
        Ok(self.moves.find(hash, games.moves(signature))?.map(GameId))
    }

    /// Adds a game that is not a duplicate.
    pub(crate) fn insert(&mut self, games: &Signatures, signature: &Signature, game: GameId) -> Result<()> {
        if let Some(hash) = signature.hash {
            self.same.insert(hash, games.bytes(signature), game.0)?;
        }
        if let Some(hash) = signature.moves_hash {
            self.moves.insert(hash, games.moves(signature), game.0)?;
        }
        Ok(())
    }

    /// Reads from the database the group of games with the hash `moves_hash` and, if `white` is given, with
    /// this White player. Adds each game, unless an equal game was added before. Only games with a signature
    /// count: if the group had such games in an earlier call, does nothing. Returns whether this call read any.
    ///
    /// All games of the group are added at once: comparing each new game with all of them would take too long
    /// if many are equal.
    pub(crate) fn take_known(
        &mut self,
        known: &Snapshot,
        moves_hash: u64,
        white: Option<NameId>,
    ) -> Result<bool> {
        let mut group = [0; 12];
        group[..8].copy_from_slice(&moves_hash.to_le_bytes());
        group[8..].copy_from_slice(&white.map_or(0, |white| white.0).to_le_bytes());
        let hash = self.comparison.hash.of(&group);
        if self.groups.find(hash, &group)?.is_some() {
            return Ok(false);
        }
        let mut games = Signatures::default();
        let mut is_added = false;
        known.for_each_alike(moves_hash, white, |game| {
            if self.removed.contains(game.game) {
                return Ok::<_, Error>(());
            }
            games.clear();
            let ComparedGame { status, result, ref start_fen, ref moves, .. } = *game;
            let players = game.white.as_deref().zip(game.black.as_deref());
            let date = game.date.as_deref();
            let pairing = players.map(|(white, black)| Pairing { white, black, date, result });
            games.push(&self.comparison, status, start_fen.as_deref(), moves.iter().copied(), pairing);
            let Some(mut signature) = games.of(0) else { return Ok(()) };
            is_added = true;
            // If `white` is given, games are compared by all data, otherwise by their moves alone.
            let equal = if white.is_some() {
                signature.moves_hash = None;
                self.same(&games, &signature)?
            } else {
                signature.hash = None;
                self.with_moves(&games, &signature)?
            };
            if equal.is_none() {
                self.insert(&games, &signature, game.game)?;
            }
            Ok(())
        })?;
        if is_added {
            self.groups.insert(hash, &group, 0)?;
        }
        Ok(is_added)
    }
}
