//! After all games are written, finds games of which the database also has a longer version.

use std::collections::HashSet;
use std::hash::Hasher as _;

use crate::index::game::canonical;
use crate::index::{KeyHash, PREFIX_PLIES, Progress, Result, SpillMap};
use crate::store::row::GameId;
use crate::store::{BulkLoader, ComparedGame, PrefixCandidate};

/// Searches for games whose moves are the first moves of a longer game. The players, the date and the start
/// position of both games must be the same.
///
/// The short games are stored by start position, players, date and moves, and each prefix of each long game
/// is looked up among them. So the time depends on the total number of moves of all these games, and not on
/// how many games begin alike.
#[derive(Debug)]
pub(crate) struct Prefixes<'p> {
    /// The index in `longer` of each distinct short game.
    keys: SpillMap,
    /// For each distinct short game: the first longer game, and the first longer game that is later than
    /// `last`.
    longer: Vec<[Option<GameId>; 2]>,
    /// The last game that existed before the run.
    last: GameId,
    hash: KeyHash,
    progress: &'p Progress,
    /// A buffer for the key of a game: start position, players, date and moves.
    key: Vec<u8>,
}

impl<'p> Prefixes<'p> {
    /// A search for pairs in which at least one game is later than `last`, or in which the short game is passed
    /// to [`note`](Self::note) as freed.
    pub(crate) const fn new(keys: SpillMap, hash: KeyHash, last: GameId, progress: &'p Progress) -> Self {
        Self { keys, longer: Vec::new(), last, hash, progress, key: Vec::new() }
    }

    /// Searches for longer games, and records the short games as duplicates of the kind `prefix`. `freed`
    /// contains the existing short games that need a new search for longer games. The tables of games and
    /// positions must be complete. Returns the number of short games recorded.
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
                self.find_prefixes_of(&compared)?;
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

    /// Builds the key of a game. Returns the offset of the moves in the key.
    fn begin(&mut self, game: &ComparedGame) -> usize {
        self.key.clear();
        let start = game.start_fen.as_deref().map_or("", canonical);
        // Only games with known players are candidates.
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

    /// The index in `longer` for a short game. Equal short games share one entry, which the first of them adds.
    fn number(&mut self, game: &ComparedGame) -> Result<u32> {
        let begin = self.begin(game);
        let mut hasher = self.hash.begin();
        // The key is hashed in the same pieces as the prefixes of longer games, so that the hashes are equal.
        hasher.write(&self.key[..begin]);
        self.key[begin..].as_chunks::<2>().0.iter().for_each(|code| hasher.write(code));
        let hash = self.hash.end(&hasher);
        if let Some(number) = self.keys.find(hash, &self.key)? {
            return Ok(number);
        }
        // The index fits in 32 bits: there are fewer short games than game ids.
        let number = self.longer.len() as u32;
        self.keys.insert(hash, &self.key, number)?;
        self.longer.push([None; 2]);
        Ok(number)
    }

    /// Searches for the short games that are prefixes of a long game. Long games must be passed in ascending
    /// order of their ids.
    fn find_prefixes_of(&mut self, game: &ComparedGame) -> Result<()> {
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
