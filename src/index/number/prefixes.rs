//! Games that break off and are whole elsewhere, once all rows are there.

use std::collections::HashSet;
use std::hash::Hasher as _;

use crate::index::error::Result;
use crate::index::game::signature::PREFIX_PLIES;
use crate::index::game::signature::canonical;
use crate::index::progress::Progress;
use crate::index::spill::{KeyHash, SpillMap};
use crate::store::row::GameId;
use crate::store::{BulkLoader, ComparedGame, PrefixCandidate};

/// Looks for the games whose moves are the first of a longer game by the same players on the same date.
///
/// The short games are kept by all this, and each beginning of each long game is looked up: the work grows with the moves of these
/// games, however many of them begin alike.
#[derive(Debug)]
pub(crate) struct Prefixes<'p> {
    /// Numbers of short games that differ, from 0.
    keys: SpillMap,
    /// The first longer game of each of these, and the first that is later than `last`, as far as they were found.
    longer: Vec<[Option<GameId>; 2]>,
    /// The last game that was there before.
    last: GameId,
    hash: KeyHash,
    progress: &'p Progress,
    /// Start, players, date and moves of a game.
    key: Vec<u8>,
}

impl<'p> Prefixes<'p> {
    /// Looks where one of the two games is later than `last`.
    pub(crate) const fn new(keys: SpillMap, hash: KeyHash, last: GameId, progress: &'p Progress) -> Self {
        Self { keys, longer: Vec::new(), last, hash, progress, key: Vec::new() }
    }

    /// Notes them down as duplicates of the kind `prefix`, those too of which the first is `freed`. All other tables must be
    /// complete. Gives back how many there are.
    pub(crate) fn note(mut self, loader: &BulkLoader<'_>, freed: &[GameId]) -> Result<u64> {
        let freed: HashSet<GameId> = freed.iter().copied().collect();
        let candidates = loader.prefix_candidates(self.last, &freed)?;
        let mut short = Vec::new();
        for PrefixCandidate { game, .. } in candidates.iter().filter(|game| game.is_short) {
            self.progress.check()?;
            if let Some(compared) = loader.compared_game(*game)? {
                short.push((*game, self.number(&compared)?));
            }
        }
        if short.is_empty() {
            return Ok(0);
        }
        for PrefixCandidate { game, .. } in candidates.iter().filter(|game| game.is_long) {
            self.progress.check()?;
            if let Some(compared) = loader.compared_game(*game)? {
                self.see_long(&compared)?;
            }
        }
        let mut count = 0;
        for (game, number) in short {
            let [first, later] = self.longer[number as usize];
            let is_new = game > self.last || freed.contains(&game);
            if let Some(long) = if is_new { first } else { later } {
                loader.note_prefix(game, long)?;
                count += 1;
            }
        }
        Ok(count)
    }

    /// Makes the key of a game. Gives back where its moves begin.
    fn begin(&mut self, game: &ComparedGame) -> usize {
        self.key.clear();
        let start = game.start_fen.as_deref().map_or("", canonical);
        // Hashes tell that the players are known.
        let [white, black, date] =
            [&game.white, &game.black, &game.date].map(|text| text.as_deref().unwrap_or_default());
        for text in [start, white, black, date] {
            self.key.extend_from_slice(&(text.len() as u64).to_le_bytes());
            self.key.extend_from_slice(text.as_bytes());
        }
        let begin = self.key.len();
        self.key.extend(game.moves.iter().flat_map(|code| code.bits().to_le_bytes()));
        begin
    }

    /// The number of a short game: that of an earlier one which is the same, or the next.
    fn number(&mut self, game: &ComparedGame) -> Result<u32> {
        let begin = self.begin(game);
        let mut hasher = self.hash.begin();
        // In the pieces in which the beginnings of longer games are hashed.
        hasher.write(&self.key[..begin]);
        self.key[begin..].as_chunks::<2>().0.iter().for_each(|code| hasher.write(code));
        let hash = self.hash.end(&hasher);
        if let Some(number) = self.keys.find(hash, &self.key)? {
            return Ok(number);
        }
        // No more than there are games.
        let number = self.longer.len() as u32;
        self.keys.insert(hash, &self.key, number)?;
        self.longer.push([None; 2]);
        Ok(number)
    }

    /// Looks for the short games that a long one, later than all before, begins with.
    fn see_long(&mut self, game: &ComparedGame) -> Result<()> {
        let begin = self.begin(game);
        let Self { keys, longer, last, hash, key, .. } = self;
        let mut hasher = hash.begin();
        hasher.write(&key[..begin]);
        for (ply, code) in (1..game.moves.len()).zip(key[begin..].as_chunks::<2>().0) {
            hasher.write(code);
            if ply < PREFIX_PLIES {
                continue;
            }
            let is_later = game.game > *last;
            let wanted = |number: u32| {
                let [first, later] = longer[number as usize];
                first.is_none() || (is_later && later.is_none())
            };
            if let Some(number) = keys.find_where(hash.end(&hasher), &key[..begin + 2 * ply], wanted)? {
                let [first, later] = &mut longer[number as usize];
                first.get_or_insert(game.game);
                if is_later {
                    later.get_or_insert(game.game);
                }
            }
        }
        Ok(())
    }
}
