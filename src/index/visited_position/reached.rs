//! Data of visited positions collected while games are read, so that their rows need not be read again.

use crate::board::{KeyMap, KeySet, MAX_CANONICAL_FEN, MoveCode, PositionKey, ShortMove};
use crate::index::visited_position::counter::Fens;
use crate::store::sink::PositionView;

/// The visited positions that games from the standard start reached.
#[derive(Debug, Default)]
pub(crate) struct ReachedPositions(KeyMap<ReachedPosition>);

/// The data of the positions with one key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReachedPosition {
    pub(crate) fens: Fens,
    /// The distinct moves played from the positions with this key.
    codes: Vec<MoveCode>,
}

impl ReachedPosition {
    /// The code of a move that was played from a position with this key.
    pub(crate) fn code(&self, short: ShortMove) -> Option<MoveCode> {
        self.codes.iter().copied().find(|&code| ShortMove::new(code) == short)
    }

    fn played(&mut self, code: MoveCode) {
        if !self.codes.contains(&code) {
            self.codes.push(code);
        }
    }
}

impl ReachedPositions {
    /// Records a position, if it has one of the `visited` keys.
    #[inline]
    pub(crate) fn observe(&mut self, view: &PositionView<'_>, visited: &KeySet) {
        if view.is_setup {
            return;
        }
        let key = view.position.key();
        if visited.contains(&key) {
            let reached = self.0.entry(key).or_default();
            let mut space = [0; MAX_CANONICAL_FEN];
            let length = view.placement.write_at_end(view.position, &mut space);
            reached.fens.observe_bytes(&space[MAX_CANONICAL_FEN - length..]);
            if let Some(code) = view.move_code {
                reached.played(code);
            }
        }
    }

    /// Adds the positions in `others`.
    pub(crate) fn absorb(&mut self, others: Self) {
        for (key, ReachedPosition { fens, codes }) in others.0 {
            let reached = self.0.entry(key).or_default();
            reached.fens.observe_all(&fens);
            codes.into_iter().for_each(|code| reached.played(code));
        }
    }

    /// The data of the positions with a key; `None` if no game from the standard start reached such a position.
    pub(crate) fn of(&self, key: PositionKey) -> Option<&ReachedPosition> {
        self.0.get(&key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{FenText, Position};
    use crate::id::{GameId, Ply};

    #[test]
    fn two_positions_with_one_key_are_detected() {
        let fens =
            |all: &ReachedPositions| all.of(Position::start().key()).map(|reached| reached.fens.clone());
        let start = Position::start();
        let (other, _) = Position::from_fen(b"4k3/8/8/8/8/8/8/4K3 w - - 0 1").unwrap();
        let visited = KeySet::from_iter([start.key()]);
        let seen = |position: &Position, is_setup| {
            let placement = FenText::new(position);
            let mut reached = ReachedPositions::default();
            let view = PositionView {
                game: GameId(1),
                ply: Ply(0),
                position,
                placement: &placement,
                move_code: None,
                is_setup,
            };
            reached.observe(&view, &visited);
            reached
        };
        assert!(seen(&other, false).0.is_empty());
        assert!(seen(&start, true).0.is_empty());
        let mut all = ReachedPositions::default();
        all.absorb(seen(&start, false));
        all.absorb(seen(&start, false));
        assert_eq!(fens(&all), Some(Fens::One(start.canonical_fen())));
        let other = ReachedPosition { fens: Fens::One(other.canonical_fen()), codes: Vec::new() };
        all.absorb(ReachedPositions(KeyMap::from_iter([(start.key(), other)])));
        assert_eq!(fens(&all), Some(Fens::Several));
        all.absorb(seen(&start, false));
        assert_eq!(fens(&all), Some(Fens::Several));
    }
}
