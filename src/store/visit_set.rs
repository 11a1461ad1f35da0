//! The games that reached a visited position, grouped by the move they played there, in a compact form.

use crate::board::ShortMove;
use crate::id::GameId;
use crate::store::block_set::{block_of, decode_within, encode, game_of, push_number, take_number};

/// The last move that a game played from a position, if it played any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PlayedMove(u16);

impl PlayedMove {
    /// No move: the game reached the position only once, and ended there. No [`ShortMove`] has these bits:
    /// kind 7 is used only for null moves, and both squares of a null move are a1 (0).
    pub(crate) const NOTHING: Self = Self(7 << 12 | 1);

    /// The value for a move; [`NOTHING`](Self::NOTHING) for `None`.
    #[must_use]
    pub(crate) const fn new(played: Option<ShortMove>) -> Self {
        match played {
            Some(played) => Self(played.bits()),
            None => Self::NOTHING,
        }
    }

    /// The bits; [`ShortMove::MASK`] covers all of them.
    pub(crate) const fn bits(self) -> u16 {
        self.0
    }

    /// The move, if there is one.
    #[must_use]
    pub(crate) fn played(self) -> Option<ShortMove> {
        (self != Self::NOTHING).then(|| ShortMove::from_bits(self.0))
    }
}

/// The games that reached a position, each with the move it played there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Visits {
    /// Games added since the last packing.
    new: Vec<(GameId, PlayedMove)>,
    /// For each block in turn: its number, the length of its data in bytes, and the data.
    packed: Vec<u8>,
}

/// Buffers for packing, reused for the next position.
#[derive(Debug, Default)]
pub(crate) struct PackingBuffers {
    visits: Vec<(GameId, PlayedMove)>,
    numbers: Vec<u16>,
    block: Vec<u8>,
    bytes: Vec<u8>,
}

impl Visits {
    /// An empty set that reuses the memory of a buffer.
    pub(crate) fn with_buffers(buffers: &mut PackingBuffers) -> Self {
        Self { new: std::mem::take(&mut buffers.visits), packed: Vec::new() }
    }

    /// Adds a game. It must not be in the set yet.
    #[inline]
    pub(crate) fn push(&mut self, game: GameId, played: PlayedMove) {
        self.new.push((game, played));
    }

    /// Packs the games added since the last packing, together with the games packed before.
    pub(crate) fn pack(&mut self, buffers: &mut PackingBuffers) {
        if self.new.is_empty() {
            return;
        }
        let mut visits = std::mem::take(&mut self.new);
        for (block, bytes) in self.blocks() {
            for_each_visit(bytes, |number, played| visits.push((game_of(block, number), played)));
        }
        let PackingBuffers { numbers, block: packed_block, bytes, .. } = buffers;
        bytes.clear();
        visits.sort_unstable_by_key(|&(game, played)| (block_of(game).0, played, game));
        for visits in visits.chunk_by(|a, b| block_of(a.0).0 == block_of(b.0).0) {
            packed_block.clear();
            pack_moves(
                visits.iter().map(|&(game, played)| (block_of(game).1, played)),
                numbers,
                packed_block,
            );
            push_number(block_of(visits[0].0).0.into(), bytes);
            push_number(packed_block.len() as u64, bytes);
            bytes.extend_from_slice(packed_block);
        }
        self.packed = bytes.as_slice().to_vec();
        visits.clear();
        buffers.visits = visits;
    }

    /// The blocks in order, in stored form. Games added since the last packing are missing.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = (u32, &[u8])> {
        let mut rest = self.packed.as_slice();
        std::iter::from_fn(move || {
            let (block, behind) = take_number(rest)?;
            let (length, behind) = take_number(behind)?;
            let (bytes, behind) = behind.split_at_checked(length as usize)?;
            rest = behind;
            Some((block, bytes))
        })
    }
}

/// Encodes visits of a block, which must be sorted by move, then game: for each move, its bits and the set of
/// games that played it.
fn pack_moves(visits: impl Iterator<Item = (u16, PlayedMove)>, numbers: &mut Vec<u16>, bytes: &mut Vec<u8>) {
    let mut visits = visits.peekable();
    while let Some((number, played)) = visits.next() {
        numbers.clear();
        numbers.push(number);
        numbers.extend(std::iter::from_fn(|| visits.next_if(|visit| visit.1 == played)).map(|visit| visit.0));
        push_number(played.0.into(), bytes);
        encode(numbers, bytes);
    }
}

/// Passes the visits of a stored block to `see`, sorted by move, then game. Returns whether the block is
/// valid.
#[inline]
pub(crate) fn for_each_visit(bytes: &[u8], see: impl FnMut(u16, PlayedMove)) -> bool {
    for_each_visit_within(bytes, |_| u64::MAX, see)
}

/// Like [`for_each_visit`], for some games only; see [`decode_within`] for `wanted`.
#[inline]
pub(crate) fn for_each_visit_within(
    mut bytes: &[u8],
    wanted: impl Fn(usize) -> u64,
    mut see: impl FnMut(u16, PlayedMove),
) -> bool {
    while !bytes.is_empty() {
        let Some((played, set)) = take_move(bytes) else { return false };
        match decode_within(set, &wanted, |number| see(number, played)) {
            Some(rest) => bytes = rest,
            None => return false,
        }
    }
    true
}

/// Reads the move at the beginning of a stored block, or of the rest of a block. Returns the move and the
/// remaining bytes, which begin with the set of games that played the move; `None` if the bytes do not begin
/// with a valid move.
#[inline]
pub(crate) fn take_move(bytes: &[u8]) -> Option<(PlayedMove, &[u8])> {
    let (bits, set) = take_number(bytes)?;
    Some((PlayedMove(u16::try_from(bits).ok()?), set))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visits_are_read_block_by_block() {
        let short = |bits| PlayedMove::new(Some(ShortMove::from_bits(bits)));
        let all = [
            (GameId(3), short(12)),
            (GameId(65_535), PlayedMove::NOTHING),
            (GameId(65_536), short(7)),
            (GameId(65_540), short(12)),
            (GameId(400_000), short(7)),
        ];
        let mut buffers = PackingBuffers::default();
        let mut visits = Visits::with_buffers(&mut buffers);
        for part in [&all[3..], &all[..2], &all[2..3]] {
            part.iter().for_each(|&(game, played)| visits.push(game, played));
            visits.pack(&mut buffers);
        }
        let mut found = Vec::new();
        for (block, bytes) in visits.blocks() {
            assert!(for_each_visit(bytes, |number, played| found.push((game_of(block, number), played))));
            // A block that is cut off within a set is invalid.
            assert!((1..bytes.len()).any(|end| !for_each_visit(&bytes[..end], |_, _| {})));
        }
        found.sort_unstable();
        assert_eq!(found, all);
        assert_eq!(visits.blocks().map(|(block, _)| block).collect::<Vec<_>>(), [0, 1, 6]);
        assert_eq!(
            (short(12).played(), PlayedMove::NOTHING.played()),
            (Some(ShortMove::from_bits(12)), None)
        );
    }
}
