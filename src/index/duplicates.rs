//! Which games repeat an earlier one.

use std::path::PathBuf;

use memmap2::MmapMut;

use super::error::{Error, Result};
use super::options::Duplicates;
use super::scratch::zeroed_file;
use crate::store::row::{DuplicateKind, GameId, GameRow};

/// The fewest plies of games that are taken for the same whoever played them.
pub(crate) const MIN_PLIES_OF_MOVES: u32 = 20;
/// A game is looked for in longer ones if it has at least so many plies.
pub(crate) const PREFIX_PLIES: usize = 16;

/// Adds a number to a hash. Hashes made with it stand in the database: it must not change.
pub(super) const fn mix(hash: u64, value: u64) -> u64 {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = (hash ^ value).wrapping_mul(MULTIPLIER);
    mixed ^ mixed >> 29
}

/// Adds a text and its length to a hash.
pub(super) fn mix_text(hash: u64, text: &str) -> u64 {
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    let hash = words.iter().fold(hash, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let rest = rest.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
    mix(mix(hash, rest), text.len() as u64)
}

/// What a game is compared by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Print {
    /// A hash of start, moves and whether they are all.
    moves: u64,
    plies: u32,
    /// A hash of players, date and result; `None` if a player is not known.
    pairing: Option<u32>,
}

impl Print {
    /// The print of a game; `pairing` is a hash of players and date, if both players are known. `None` if it has no moves: then
    /// it repeats nothing.
    pub(super) fn of(row: &GameRow, pairing: Option<u64>) -> Option<Self> {
        let status = row.status as u64;
        (row.ply_count > 0).then(|| Self {
            moves: mix(row.moves_hash, status << 32 | u64::from(row.ply_count)),
            plies: row.ply_count,
            pairing: pairing.map(|hash| (mix(hash, row.result as u64) >> 32) as u32),
        })
    }

    /// Whether the moves alone tell that two games are the same.
    pub(super) const fn is_told_by_moves(&self) -> bool {
        self.plies >= MIN_PLIES_OF_MOVES
    }

    pub(super) const fn has_pairing(&self) -> bool {
        self.pairing.is_some()
    }
}

/// The games of a run by their moves: 16 bytes each in a hash table, which is a temporary file once it outgrows its memory.
#[derive(Debug)]
pub(super) struct Originals {
    /// Slots by hash, those that are taken by another game one after the other; 0 is an empty one.
    slots: MmapMut,
    /// The number of slots is 2 to this power.
    bits: u32,
    games: usize,
    memory: u64,
    directory: PathBuf,
}

/// A hash of moves, a hash of the pairing or 0 if it is not known, and the game.
#[derive(Clone, Copy)]
struct Slot(u128);

impl Slot {
    const BYTES: usize = size_of::<u128>();

    fn new(print: &Print, game: GameId) -> Self {
        let pairing = print.pairing.map_or(0, |pairing| pairing.max(1));
        Self(u128::from(print.moves) << 64 | u128::from(pairing) << 32 | u128::from(game.0))
    }

    const fn moves(self) -> u64 {
        (self.0 >> 64) as u64
    }

    const fn pairing(self) -> u32 {
        (self.0 >> 32) as u32
    }

    const fn game(self) -> GameId {
        GameId(self.0 as u32)
    }
}

impl Originals {
    /// An empty table, which goes to a file in `directory` when it takes more than `memory` bytes.
    pub(super) fn new(memory: u64, directory: PathBuf) -> Result<Self> {
        const BITS: u32 = 12;
        let slots = Self::map(BITS, memory, &directory)?;
        Ok(Self { slots, bits: BITS, games: 0, memory, directory })
    }

    fn map(bits: u32, memory: u64, directory: &std::path::Path) -> Result<MmapMut> {
        let bytes = Slot::BYTES << bits;
        let map =
            if bytes as u64 <= memory { MmapMut::map_anon(bytes) } else { zeroed_file(directory, bytes) };
        map.map_err(|source| Error::Spill { directory: directory.to_owned(), source })
    }

    fn slot(&self, index: usize) -> Option<Slot> {
        let slot = u128::from_ne_bytes(self.slots.as_chunks().0[index]);
        (slot != 0).then_some(Slot(slot))
    }

    /// The taken slots from where a hash belongs on to the next empty one.
    fn chain(&self, moves: u64) -> impl Iterator<Item = Slot> {
        let mask = (1 << self.bits) - 1;
        let first = (moves >> (64 - self.bits)) as usize;
        (first..).map_while(move |index| self.slot(index & mask))
    }

    /// The first game whose moves, players, date and result are those of `print`, or else, if `rule` says so, whose moves are.
    pub(super) fn find(&self, print: &Print, rule: Duplicates) -> Option<(GameId, DuplicateKind)> {
        let wanted = Slot::new(print, GameId(0));
        let like = |is_like: &dyn Fn(Slot) -> bool| {
            self.chain(print.moves)
                .filter(|slot| slot.moves() == print.moves && is_like(*slot))
                .map(Slot::game)
                .min()
        };
        let same = || like(&|slot| wanted.pairing() != 0 && slot.pairing() == wanted.pairing());
        let moves = || like(&|_| true).filter(|_| rule == Duplicates::Moves && print.is_told_by_moves());
        let same = same().map(|game| (game, DuplicateKind::Same));
        same.or_else(|| Some((moves()?, DuplicateKind::Moves)))
    }

    /// Adds a game.
    pub(super) fn insert(&mut self, print: &Print, game: GameId) -> Result<()> {
        if self.games >= (1 << self.bits) / 4 * 3 {
            self.grow()?;
        }
        self.games += 1;
        self.put(Slot::new(print, game));
        Ok(())
    }

    fn put(&mut self, slot: Slot) {
        let mask = (1 << self.bits) - 1;
        let mut index = (slot.moves() >> (64 - self.bits)) as usize;
        while self.slot(index).is_some() {
            index = (index + 1) & mask;
        }
        self.slots.as_chunks_mut().0[index] = slot.0.to_ne_bytes();
    }

    fn grow(&mut self) -> Result<()> {
        let bits = self.bits + 1;
        let larger = Self::map(bits, self.memory, &self.directory)?;
        let old = std::mem::replace(&mut self.slots, larger);
        self.bits = bits;
        // The slots come nearly in the order of the new ones.
        for slot in old.as_chunks().0.iter().map(|slot| u128::from_ne_bytes(*slot)) {
            if slot != 0 {
                self.put(Slot(slot));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_like_game_is_found_however_little_memory_there_is(
            games in proptest::collection::vec((0..40u64, 15..25u32, proptest::option::of(0..3u32), any::<bool>()), 0..400),
            filler in 0..9000u64,
            memory in prop_oneof![Just(0), Just(100_000), Just(u64::MAX)],
        ) {
            let directory = tempfile::tempdir().unwrap();
            let mut table = Originals::new(memory, directory.path().to_owned()).unwrap();
            for game in 0..filler {
                let print = Print { moves: mix(1 << 40, game), plies: 80, pairing: None };
                table.insert(&print, GameId(1 << 20 | game as u32)).unwrap();
            }
            let mut earlier: Vec<(GameId, Print)> = Vec::new();
            for (&(moves, plies, pairing, is_far), game) in games.iter().zip((1..).map(GameId)) {
                // Near each other at the end of the table, or anywhere.
                let moves = if is_far { mix(0, moves) } else { u64::MAX - moves };
                let print = Print { moves, plies, pairing: pairing.map(|pairing| pairing + 1) };
                let like = |is_like: &dyn Fn(&Print) -> bool| {
                    let mut games = earlier.iter().filter(|(_, other)| other.moves == moves && is_like(other));
                    games.next().map(|(game, _)| *game)
                };
                let same = like(&|other| pairing.is_some() && other.pairing == print.pairing);
                let same = same.map(|game| (game, DuplicateKind::Same));
                prop_assert_eq!(table.find(&print, Duplicates::Skip), same);
                let by_moves = like(&|_| plies >= MIN_PLIES_OF_MOVES).map(|game| (game, DuplicateKind::Moves));
                prop_assert_eq!(table.find(&print, Duplicates::Moves), same.or(by_moves));
                table.insert(&print, game).unwrap();
                earlier.push((game, print));
            }
        }
    }

    #[test]
    fn texts_are_told_apart() {
        let texts = ["", "\0", "a", "a\0", "\0a", "abcdefgh", "abcdefgh\0", "abcdefghi", "abcdefgg"];
        let mut hashes = texts.map(|text| mix_text(1, text)).to_vec();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), texts.len());
        assert_ne!(mix_text(mix_text(1, "ab"), "c"), mix_text(mix_text(1, "a"), "bc"));
    }
}
