//! Hashes of games, as stored in the database.

use crate::board::{MoveCode, Position};
use crate::index::game::{GameBatch, Start};
use crate::store::row::{GameNames, GameRow};

/// The minimum number of plies of a game that can be a prefix of longer games.
pub(crate) const PREFIX_PLIES: usize = 16;

/// Adds a number to a hash. The database stores such hashes, so this function must not change.
const fn mix(hash: u64, value: u64) -> u64 {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = (hash ^ value).wrapping_mul(MULTIPLIER);
    mixed ^ mixed >> 29
}

/// Adds a text and its length to a hash.
fn mix_text(hash: u64, text: &str) -> u64 {
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    let hash = words.iter().fold(hash, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let rest = rest.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
    mix(mix(hash, rest), text.len() as u64)
}

/// A hash of both players and the date; `None` if a player is unknown.
pub(super) fn pairing(names: &GameNames, row: &GameRow, text: &str) -> Option<u64> {
    let (white, black) = names.white.zip(names.black)?;
    Some(pairing_hash(white.of(text), black.of(text), row.date.map(|date| date.of(text))))
}

/// A hash of both players and the date.
pub(crate) fn pairing_hash(white: &str, black: &str, date: Option<&str>) -> u64 {
    let hash = mix_text(mix_text(0, white), black);
    mix_text(hash, date.unwrap_or_default())
}

/// A hash of start position and moves, and a hash of the first moves and `pairing`.
pub(super) fn moves_hashes(
    batch: &GameBatch,
    start: Start,
    standard: &Position,
    first_code: usize,
    pairing: Option<u64>,
) -> (u64, Option<u64>) {
    let seed = match start {
        Start::Standard => standard.key().0,
        Start::Setup => batch.setups.last().map_or(0, |position| position.key().0),
        Start::Nowhere => 0,
    };
    let codes = &batch.codes[first_code..];
    let prefix_hash = pairing.and_then(|pairing| prefix_hash(seed, codes, pairing));
    (codes.iter().copied().fold(seed, mix_move), prefix_hash)
}

/// A hash of the first moves of a game and of its `pairing`, starting from the key of its start position;
/// `None` if the game has fewer than `PREFIX_PLIES` plies.
pub(crate) fn prefix_hash(start: u64, codes: &[MoveCode], pairing: u64) -> Option<u64> {
    let first = codes.get(..PREFIX_PLIES)?;
    Some(mix(first.iter().copied().fold(start, mix_move), pairing))
}

/// Adds a move to a game's hash, which starts from the key of its start position. The marks of check and mate
/// are left out, because they follow from the moves.
pub(crate) fn mix_move(hash: u64, code: MoveCode) -> u64 {
    mix(hash, u64::from(code.model().bits()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_distinguished() {
        let texts = ["", "\0", "a", "a\0", "\0a", "abcdefgh", "abcdefgh\0", "abcdefghi", "abcdefgg"];
        let mut hashes = texts.map(|text| mix_text(1, text)).to_vec();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), texts.len());
        assert_ne!(mix_text(mix_text(1, "ab"), "c"), mix_text(mix_text(1, "a"), "bc"));
    }
}
