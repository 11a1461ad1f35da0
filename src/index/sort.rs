//! The records that are sorted by key: the game and ply of a position, and the move played there.

use crate::board::{Color, MoveCode, PositionKey, ShortMove};
use crate::sort::Record;
use crate::store::row::{GameId, Occurrence, Ply};
use crate::store::sink::PositionView;
use crate::store::visit_set::PlayedMove;

/// One occurrence of a position in a game.
///
/// One 128-bit number, so that two occurrences are compared in one step: the key, the game, and 32 more bits.
/// The sign bit of the key is inverted, so that the unsigned order is SQLite's signed order. Up to ply 16,383,
/// the 32 bits are a zero bit, 14 bits for the ply, 15 for the move and 2 for the origin. No real game reaches
/// later plies. For them, the 32 bits are a one bit, 28 bits for the ply, a bit for the end of the game, and
/// the origin. So the occurrences of a key in a game are always in the order of their plies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PlayedOccurrence(u128);

/// The kind of start position of an occurrence's game, and whether the position that occurred must be
/// compared with other positions.
///
/// Positions of games from the standard start differ if and only if their keys do, except with a probability
/// of 2^-64. This does not hold for set-up positions. The key does not say which of two rooks has a castling
/// right. Also, somebody can choose a set-up position so that its key equals that of another position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The standard start position.
    Standard,
    /// The start position is a set-up. The position that occurred need not be compared, because another
    /// occurrence of the same position is `SetupToCompare`.
    Setup,
    /// The start position is a set-up. The position that occurred must be compared with the other positions
    /// that have its key.
    SetupToCompare,
}

/// The move played from a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Played {
    /// No move: the game ended there.
    Nothing,
    Move(ShortMove),
    /// A move that is not stored, because the ply needs the bits of the move.
    NotKept,
}

impl PlayedOccurrence {
    const SIGN: u64 = 1 << 63;
    const LONG: u32 = 1 << 31;
    /// The highest ply that can be stored together with the move played.
    const LAST_SHORT: u32 = (1 << 14) - 1;
    /// The bits that are stored instead of a move if the game ended in the position.
    const NOTHING: u16 = PlayedMove::NOTHING.bits();

    #[inline]
    pub(crate) const fn new(key: PositionKey, game: GameId, ply: Ply, move_code: Option<MoveCode>) -> Self {
        let low = if ply.0 <= Self::LAST_SHORT {
            let played = match move_code {
                Some(code) => ShortMove::new(code).bits(),
                None => Self::NOTHING,
            };
            ply.0 << 17 | (played as u32) << 2
        } else {
            ply.0 << 3 | (move_code.is_none() as u32) << 2 | Self::LONG
        };
        Self(((key.0 ^ Self::SIGN) as u128) << 64 | (game.0 as u128) << 32 | low as u128)
    }

    /// The same occurrence, with this origin.
    #[inline]
    pub(crate) const fn of(self, origin: Origin) -> Self {
        Self(self.0 & !3 | origin as u128)
    }

    pub(crate) const fn origin(self) -> Origin {
        match self.0 & 3 {
            0 => Origin::Standard,
            1 => Origin::Setup,
            _ => Origin::SetupToCompare,
        }
    }

    pub(crate) const fn key(self) -> PositionKey {
        PositionKey((self.0 >> 64) as u64 ^ Self::SIGN)
    }

    pub(crate) const fn game(self) -> GameId {
        GameId((self.0 >> 32) as u32)
    }

    pub(crate) const fn ply(self) -> Ply {
        let low = self.0 as u32;
        Ply(if low & Self::LONG == 0 { low >> 17 } else { (low & !Self::LONG) >> 3 })
    }

    pub(crate) const fn played(self) -> Played {
        let low = self.0 as u32;
        match (low >> 2) as u16 & ShortMove::MASK {
            _ if low & Self::LONG != 0 => {
                if low & 4 == 0 {
                    Played::NotKept
                } else {
                    Played::Nothing
                }
            }
            Self::NOTHING => Played::Nothing,
            bits => Played::Move(ShortMove::from_bits(bits)),
        }
    }

    /// The row of `occurrence`.
    #[inline]
    pub(crate) const fn occurrence(self) -> Occurrence {
        Occurrence::new(self.key(), self.game(), self.ply())
    }
}

impl Record for PlayedOccurrence {
    const BYTES: usize = size_of::<Self>();

    fn sort_key(self) -> u128 {
        self.0
    }

    fn write(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.0.to_ne_bytes());
    }

    fn read(bytes: &[u8]) -> Self {
        Self(u128::from_ne_bytes(bytes.try_into().expect("as many bytes as were written")))
    }
}

/// Detects that a position is the same as a recent one, so that fewer occurrences must be compared later. A
/// position is forgotten when another position replaces it.
#[derive(Debug, Default)]
pub(crate) struct RecentSetups {
    /// The entries, indexed by the lowest bits of the key. Empty until the first position of a game from a
    /// set-up position.
    entries: Vec<Entry>,
}

#[derive(Clone, Debug, Default)]
struct Entry {
    key: PositionKey,
    position: Exact,
    /// How many more look-ups of other positions this entry survives. The look-up after these replaces it.
    stay: u8,
}

/// All fields of a canonical FEN.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Exact {
    placement: [u64; 8],
    /// Side to move, squares of the rooks that can castle, en-passant square; 64 for none.
    state: [u8; 6],
}

impl Exact {
    fn of(view: &PositionView<'_>) -> Self {
        let position = view.position;
        let rook = |color, short| position.castling_rook(color, short).map_or(64, |square| square.ordinal());
        let state = [
            position.side() as u8,
            rook(Color::White, true),
            rook(Color::White, false),
            rook(Color::Black, true),
            rook(Color::Black, false),
            position.en_passant().map_or(64, |square| square.ordinal()),
        ];
        Self { placement: view.placement().placement(), state }
    }
}

impl RecentSetups {
    const ENTRIES: usize = 1 << 12;
    /// The maximum of `stay`. The field protects frequent positions from being replaced by positions that
    /// occur once.
    const MOST_STAY: u8 = 16;

    /// The origin of an occurrence of the position.
    #[inline]
    pub(crate) fn origin(&mut self, view: &PositionView<'_>) -> Origin {
        if view.is_setup { self.look_up(view) } else { Origin::Standard }
    }

    fn look_up(&mut self, view: &PositionView<'_>) -> Origin {
        if self.entries.is_empty() {
            // The default entry does not match any position, because it has no kings.
            self.entries.resize(Self::ENTRIES, Entry::default());
        }
        let (key, position) = (view.position.key(), Exact::of(view));
        let entry = &mut self.entries[key.0 as usize % Self::ENTRIES];
        if entry.key == key && entry.position == position {
            entry.stay = (entry.stay + 2).min(Self::MOST_STAY);
            return Origin::Setup;
        }
        match entry.stay.checked_sub(1) {
            Some(stay) => entry.stay = stay,
            None => *entry = Entry { key, position, stay: 0 },
        }
        Origin::SetupToCompare
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;

    #[test]
    fn occurrences_are_ordered_as_their_rows_and_can_be_decoded() {
        let e4 = Position::start().resolve(b"e4").unwrap();
        let mut occurrences = vec![];
        for key in [0, 1, i64::MAX as u64, 1 << 63, u64::MAX] {
            for game in [1, 2, u32::MAX] {
                for (index, ply) in [0, 1, 16_383, 16_384, (1 << 28) - 1].into_iter().enumerate() {
                    for code in [None, Some(MoveCode::NULL), Some(e4)] {
                        let (key, game, ply) = (PositionKey(key), GameId(game), Ply(ply));
                        // Origins do not affect the order.
                        let origins = [Origin::SetupToCompare, Origin::Setup, Origin::Standard];
                        let origin = origins[index % 3];
                        let occurrence = PlayedOccurrence::new(key, game, ply, code).of(origin);
                        assert_eq!(occurrence.origin(), origin);
                        assert_eq!(occurrence.occurrence(), Occurrence::new(key, game, ply));
                        let played = match code {
                            None => Played::Nothing,
                            Some(_) if ply.0 > 16_383 => Played::NotKept,
                            Some(code) => Played::Move(ShortMove::new(code)),
                        };
                        assert_eq!(occurrence.played(), played);
                        occurrences.push(occurrence);
                    }
                }
            }
        }
        let mut rows = occurrences.clone();
        occurrences.sort_unstable();
        rows.sort_by_key(|occurrence| occurrence.occurrence());
        let order = |occurrences: &[PlayedOccurrence]| {
            occurrences.iter().map(|occurrence| occurrence.occurrence()).collect::<Vec<_>>()
        };
        assert_eq!(order(&occurrences), order(&rows));
    }
}
