//! The FENs of visited positions, told by the games that are read: nobody need look at their rows again.

use crate::board::{KeyMap, KeySet, MAX_CANONICAL_FEN, PositionKey};
use crate::index::visited_position::counter::Fens;
use crate::store::sink::PositionView;

/// The FENs of visited positions that games from the standard start reached.
#[derive(Debug, Default)]
pub(crate) struct VisitedFens(KeyMap<Fens>);

impl VisitedFens {
    /// Keeps the FEN of a position that came by, if it is the first with one of the `visited` keys.
    #[inline]
    pub(crate) fn see(&mut self, view: &PositionView<'_>, visited: &KeySet) {
        if view.is_setup {
            return;
        }
        let key = view.position.key();
        if visited.contains(&key) {
            self.0.entry(key).or_insert_with(|| {
                let mut space = [0; MAX_CANONICAL_FEN];
                let length = view.placement.write_at_end(view.position, &mut space);
                let fen = &space[MAX_CANONICAL_FEN - length..];
                Fens::One(fen.iter().copied().map(char::from).collect())
            });
        }
    }

    /// Takes in what others found.
    pub(crate) fn absorb(&mut self, others: Self) {
        for (key, fens) in others.0 {
            self.0.entry(key).or_default().see_all(&fens);
        }
    }

    /// The FENs of a key; `None` if no game from the standard start reached it.
    pub(crate) fn of(&self, key: PositionKey) -> Option<&Fens> {
        self.0.get(&key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{FenText, Position};
    use crate::id::{GameId, Ply};

    #[test]
    fn two_positions_of_one_key_are_told() {
        let start = Position::start();
        let (other, _) = Position::from_fen(b"4k3/8/8/8/8/8/8/4K3 w - - 0 1").unwrap();
        let visited = KeySet::from_iter([start.key()]);
        let seen = |position: &Position, is_setup| {
            let placement = FenText::new(position);
            let mut fens = VisitedFens::default();
            let view = PositionView {
                game: GameId(1),
                ply: Ply(0),
                position,
                placement: &placement,
                move_code: None,
                is_setup,
            };
            fens.see(&view, &visited);
            fens
        };
        assert!(seen(&other, false).0.is_empty());
        assert!(seen(&start, true).0.is_empty());
        let mut all = VisitedFens::default();
        all.absorb(seen(&start, false));
        all.absorb(seen(&start, false));
        assert_eq!(all.of(start.key()), Some(&Fens::One(start.canonical_fen())));
        all.absorb(VisitedFens(KeyMap::from_iter([(start.key(), Fens::One(other.canonical_fen()))])));
        assert_eq!(all.of(start.key()), Some(&Fens::Several));
        all.absorb(seen(&start, false));
        assert_eq!(all.of(start.key()), Some(&Fens::Several));
    }
}
