//! What is sorted: in which game and at which ply a position arose, and what was played there.

use crate::board::{MoveCode, PositionKey, ShortMove};
use crate::store::row::{GameId, Occurrence, Ply};

/// One game's coming by at a position.
///
/// One 128-bit number, so that sorting compares once: the key (biased, so that unsigned order is SQLite's signed order), the
/// game, the ply. The ply's 32 bits hold the move too: 16 bits of ply and 15 of move, or, with the top bit set, 31 bits of ply
/// for games longer than any that was played; the order is that of plies in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Visit(u128);

/// What was played from a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Played {
    /// Nothing: the game ended there.
    Nothing,
    Move(ShortMove),
    /// The ply left no room to say it.
    Untold,
}

impl Visit {
    const SIGN: u64 = 1 << 63;
    const LONG: u32 = 1 << 31;
    /// No move: kind 7 is a null move if both squares are the first, and nothing else.
    const NOTHING: u16 = 7 << 12 | 1;

    #[inline]
    pub(super) const fn new(key: PositionKey, game: GameId, ply: Ply, move_code: Option<MoveCode>) -> Self {
        let low = if ply.0 <= u16::MAX as u32 {
            let played = match move_code {
                Some(code) => ShortMove::new(code).bits(),
                None => Self::NOTHING,
            };
            ply.0 << 15 | played as u32
        } else {
            ply.0 | Self::LONG
        };
        Self(((key.0 ^ Self::SIGN) as u128) << 64 | (game.0 as u128) << 32 | low as u128)
    }

    pub(super) const fn key(self) -> PositionKey {
        PositionKey((self.0 >> 64) as u64 ^ Self::SIGN)
    }

    pub(super) const fn game(self) -> GameId {
        GameId((self.0 >> 32) as u32)
    }

    pub(super) const fn ply(self) -> Ply {
        let low = self.0 as u32;
        Ply(if low & Self::LONG == 0 { low >> 15 } else { low & !Self::LONG })
    }

    pub(super) const fn played(self) -> Played {
        let low = self.0 as u32;
        match low as u16 & ShortMove::MASK {
            _ if low & Self::LONG != 0 => Played::Untold,
            Self::NOTHING => Played::Nothing,
            bits => Played::Move(ShortMove::from_bits(bits)),
        }
    }

    /// The row of `position_game`.
    #[inline]
    pub(super) const fn occurrence(self) -> Occurrence {
        Occurrence::new(self.key(), self.game(), self.ply())
    }

    /// The number whose order is the table's order; its top bits choose a partition.
    pub(super) const fn sort_key(self) -> u128 {
        self.0
    }

    /// The visit whose [`sort_key`](Self::sort_key) is `value`.
    pub(super) const fn from_sort_key(value: u128) -> Self {
        Self(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;

    #[test]
    fn visits_are_ordered_as_their_rows_and_tell_what_they_were_made_of() {
        let e4 = Position::start().resolve(b"e4").unwrap();
        let mut visits = vec![];
        for key in [0, 1, i64::MAX as u64, 1 << 63, u64::MAX] {
            for game in [1, 2, u32::MAX] {
                for ply in [0, 1, 65_535, 65_536, (1 << 31) - 1] {
                    for code in [None, Some(MoveCode::NULL), Some(e4)] {
                        let (key, game, ply) = (PositionKey(key), GameId(game), Ply(ply));
                        let visit = Visit::new(key, game, ply, code);
                        assert_eq!(visit.occurrence(), Occurrence::new(key, game, ply));
                        assert_eq!(Visit::from_sort_key(visit.sort_key()), visit);
                        let played = match code {
                            _ if ply.0 > 65_535 => Played::Untold,
                            Some(code) => Played::Move(ShortMove::new(code)),
                            None => Played::Nothing,
                        };
                        assert_eq!(visit.played(), played);
                        visits.push(visit);
                    }
                }
            }
        }
        let mut rows = visits.clone();
        visits.sort_unstable();
        rows.sort_by_key(|visit| visit.occurrence());
        let order = |visits: &[Visit]| visits.iter().map(|visit| visit.occurrence()).collect::<Vec<_>>();
        assert_eq!(order(&visits), order(&rows));
    }
}
