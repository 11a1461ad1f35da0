//! Recent positions of games from set-ups.

use crate::board::{Color, PositionKey};
use crate::index::sort::occurrence::Origin;
use crate::store::sink::PositionView;

/// Finds out whether a position is the same as a recent one, so that not every occurrence must be compared
/// later. A position is forgotten when another one replaces it.
#[derive(Debug, Default)]
pub(crate) struct RecentSetups {
    /// The entries, indexed by the lowest bits of the key. Empty until the first set-up.
    entries: Vec<Entry>,
}

#[derive(Clone, Debug, Default)]
struct Entry {
    key: PositionKey,
    position: Exact,
    /// How many other positions are rejected before another position replaces this entry.
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
        Self { placement: view.placement.placement(), state }
    }
}

impl RecentSetups {
    const ENTRIES: usize = 1 << 12;
    /// The maximum of `stay`, which protects frequent positions from being replaced by positions that occur once.
    const MOST_STAY: u8 = 16;

    /// The origin of an occurrence of the position.
    #[inline]
    pub(crate) fn origin(&mut self, view: &PositionView<'_>) -> Origin {
        if view.is_setup { self.look_up(view) } else { Origin::Standard }
    }

    fn look_up(&mut self, view: &PositionView<'_>) -> Origin {
        if self.entries.is_empty() {
            // The default entry does not match any position.
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
