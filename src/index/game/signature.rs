//! Signatures of games (all compared data as bytes), and the hashes that the database stores for each game.

use std::hash::Hasher as _;

use crate::board::{GameResult, MoveCode, ShortMove};
use crate::index::{Duplicates, KeyHash};
use crate::store::row::{GameNames, GameRow, GameStatus};

/// The minimum number of plies of a game that can be a duplicate because of its moves alone.
pub(crate) const MIN_PLIES_OF_MOVES: u32 = 20;

/// How games are compared and hashed.
#[derive(Clone, Debug)]
pub(crate) struct Comparison {
    pub(crate) rule: Duplicates,
    pub(crate) hash: KeyHash,
}

/// Players, date and result of a game whose players are known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pairing<'a> {
    pub(crate) white: &'a str,
    pub(crate) black: &'a str,
    pub(crate) date: Option<&'a str>,
    pub(crate) result: GameResult,
}

impl<'a> Pairing<'a> {
    /// The players, the date and the result of a game; `None` if a player is unknown. `text` contains the
    /// texts of the names and of the row.
    pub(super) fn of(names: &GameNames, row: &GameRow, text: &'a str) -> Option<Self> {
        let (white, black) = names.white.zip(names.black)?;
        let date = row.date.map(|date| date.of(text));
        Some(Self { white: white.of(text), black: black.of(text), date, result: row.result })
    }
}

/// The signature of a game in [`Signatures`]. Its first part contains the start position, the moves, and
/// whether they are complete. If both players are known, result, players and date follow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signature {
    /// The offset of the signature, its length, and the length of its first part, in bytes.
    start: usize,
    length: usize,
    moves: usize,
    /// The hash of the whole signature, if it is used to find duplicates.
    pub(crate) hash: Option<u64>,
    /// The hash of the first part, if it is used to find duplicates.
    pub(crate) moves_hash: Option<u64>,
}

/// The signatures of some games.
#[derive(Debug, Default)]
pub(crate) struct Signatures {
    /// One entry for each game. `None`: the game is not compared with others.
    pub(super) games: Vec<Option<Signature>>,
    bytes: Vec<u8>,
}

impl Signatures {
    /// Adds a game: its status, its start position as in `game.start_fen`, its moves, and its pairing, if
    /// known. A game that cannot be a duplicate gets no signature.
    pub(crate) fn push(
        &mut self,
        comparison: &Comparison,
        status: GameStatus,
        start_fen: Option<&str>,
        moves: impl ExactSizeIterator<Item = ShortMove>,
        pairing: Option<Pairing<'_>>,
    ) {
        let plies = moves.len();
        let by_moves = comparison.rule == Duplicates::Moves && plies >= MIN_PLIES_OF_MOVES as usize;
        if comparison.rule == Duplicates::Keep || plies == 0 || !(by_moves || pairing.is_some()) {
            self.games.push(None);
            return;
        }
        let start = self.bytes.len();
        self.bytes.push(status as u8);
        self.push_text(start_fen.map_or("", canonical));
        self.bytes.extend_from_slice(&(plies as u64).to_le_bytes());
        moves.for_each(|code| self.bytes.extend_from_slice(&code.bits().to_le_bytes()));
        let moves = self.bytes.len() - start;
        let mut hasher = comparison.hash.begin();
        hasher.write(&self.bytes[start..]);
        let moves_hash = by_moves.then(|| comparison.hash.end(&hasher));
        if let Some(Pairing { white, black, date, result }) = pairing {
            self.bytes.push(result as u8);
            for text in [white, black, date.unwrap_or_default()] {
                self.push_text(text);
            }
            hasher.write(&self.bytes[start + moves..]);
        }
        let hash = pairing.map(|_| comparison.hash.end(&hasher));
        let length = self.bytes.len() - start;
        self.games.push(Some(Signature { start, length, moves, hash, moves_hash }));
    }

    fn push_text(&mut self, text: &str) {
        self.bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// The signature of a game; `None` if the game is not compared.
    pub(crate) fn of(&self, game: usize) -> Option<Signature> {
        self.games[game]
    }

    /// All bytes of a signature.
    pub(crate) fn bytes(&self, signature: &Signature) -> &[u8] {
        &self.bytes[signature.start..][..signature.length]
    }

    /// The first part of a signature: status, start position and moves.
    pub(crate) fn moves(&self, signature: &Signature) -> &[u8] {
        &self.bytes[signature.start..][..signature.moves]
    }

    /// Removes all games, but keeps the allocated memory.
    pub(crate) fn clear(&mut self) {
        self.games.clear();
        self.bytes.clear();
    }
}

/// The first four fields of a six-field FEN that this program wrote; empty for the standard start position.
pub(crate) fn canonical(fen: &str) -> &str {
    const STANDARD: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
    let end = fen.match_indices(' ').nth(3).map_or(fen.len(), |(end, _)| end);
    if &fen[..end] == STANDARD { "" } else { &fen[..end] }
}

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

/// A hash of both players and the date.
pub(crate) fn pairing_hash(white: &str, black: &str, date: Option<&str>) -> u64 {
    let hash = mix_text(mix_text(0, white), black);
    mix_text(hash, date.unwrap_or_default())
}

/// A hash of the first `PREFIX_PLIES` moves of a game and of its `pairing`, starting from the key of its start
/// position; `None` if the game has fewer moves.
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
    use crate::board::Position;

    #[test]
    fn each_compared_value_distinguishes_games() {
        let comparison = Comparison { rule: Duplicates::Moves, hash: KeyHash::new(KeyHash::BITS) };
        let fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";
        let pairing = |white, black, date, result| Some(Pairing { white, black, date, result });
        let (draw, win) = (GameResult::Draw, GameResult::White);
        let mut signatures = Signatures::default();
        let pairings = [
            pairing("a", "b", None, draw),
            pairing("a", "b", None, win),
            pairing("b", "a", None, draw),
            pairing("ab", "", None, draw),
            pairing("", "ab", None, draw),
            pairing("a", "b", Some("2001.01.01"), draw),
            None,
        ];
        let mut count = 0;
        for pairing in pairings {
            for status in [GameStatus::Ok, GameStatus::Truncated] {
                for start in [None, Some(fen)] {
                    for plies in [20_u16, 21] {
                        for last in [1, 2, 256] {
                            let moves = (0..plies).map(|ply| if ply + 1 == plies { last } else { 0 });
                            let moves = moves.collect::<Vec<_>>().into_iter().map(ShortMove::from_bits);
                            signatures.push(&comparison, status, start, moves, pairing);
                            count += 1;
                        }
                    }
                }
            }
        }
        let all = |bytes: fn(&Signatures, &Signature) -> Vec<u8>| {
            let mut all: Vec<_> =
                (0..count).map(|game| bytes(&signatures, &signatures.of(game).unwrap())).collect();
            all.sort();
            all.dedup();
            all.len()
        };
        assert_eq!(all(|signatures, signature| signatures.bytes(signature).to_vec()), count);
        assert_eq!(all(|signatures, signature| signatures.moves(signature).to_vec()), count / pairings.len());
    }

    #[test]
    fn start_positions_are_compared_without_numbers_of_moves() {
        let start = Position::start().fen();
        assert_eq!(canonical(&start), "");
        assert_eq!(canonical(&start.replace("0 1", "3 17")), "");
        for fen in ["4k3/8/8/8/8/8/8/4K2R w K - 0 1", "8/8/3p4/KPp4r/1R3p1k/8/4P1P1/8 w - c6 7 20"] {
            let (position, _) = Position::from_fen(fen.as_bytes()).unwrap();
            assert_eq!(canonical(&position.fen()), position.canonical_fen());
        }
    }

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
