//! Positions with the same placement.

use super::{Castling, Color, PieceKind, Position, Setup, Square, SquareSet};

impl Position {
    /// The other legal positions with the same pieces on the same squares. They differ in the side to move,
    /// the castling rights or the en-passant square. Castling with a rook that is not the outermost one is
    /// considered only if this position has a right with such a rook.
    #[must_use]
    pub fn same_placement(&self) -> Vec<Self> {
        let own = self.canonical_fen();
        let Ok((setup, _)) = Setup::parse(own.as_bytes()) else { return Vec::new() };
        let rights = castling_choices(&setup, own.split(' ').nth(2).unwrap_or_default());
        let mut found = Vec::new();
        for side in [Color::White, Color::Black] {
            let setup = setup.clone().with_side(side);
            let Ok(plain) = Self::new(&setup) else { continue };
            // Whether an en-passant capture is legal does not depend on castling rights, so each square is
            // tested once.
            let make = |setup: &Setup, en_passant| Self::new(&Setup { en_passant, ..setup.clone() }).ok();
            let can_pass = |&square: &Square| {
                make(&setup, Some(square)).is_some_and(|other| other.en_passant().is_some())
            };
            let squares: Vec<_> = plain.squares_behind_pawns().filter(can_pass).collect();
            for &(castling, rooks) in &rights {
                let setup = Setup { castling, rooks, ..setup.clone() };
                let squares = squares.iter().copied().map(Some);
                found.extend(std::iter::once(None).chain(squares).filter_map(|square| make(&setup, square)));
            }
        }
        found.retain(|other| !other.is_same(self));
        found
    }

    /// The squares that a pawn could have skipped if the last move was a pawn's double step.
    fn squares_behind_pawns(&self) -> impl Iterator<Item = Square> {
        let (pawns, behind) = if self.side() == Color::White { (4, 5) } else { (3, 2) };
        let pawns = self.squares_of(PieceKind::Pawn, self.side().other()).and(SquareSet::rank(pawns));
        pawns.into_iter().map(move |pawn| Square::at(pawn.file(), behind))
    }
}

/// The combinations of castling rights that are possible with the pieces of `setup`, each once and with its
/// rooks. These are the combinations of the letters `KQkq`, which mean the outermost rooks, and those of the
/// letters in `own`. `own` is a castling field; in Chess960, it can name other rooks.
fn castling_choices(setup: &Setup, own: &str) -> Vec<(Castling, [Square; 4])> {
    let mut choices = vec![(Castling::default(), setup.rooks)];
    let mut choose = |letters: &str| {
        for set in 1..1_usize << letters.len() {
            let chosen = letters.bytes().enumerate().filter(|(index, _)| set >> index & 1 != 0);
            let field: Vec<u8> = chosen.map(|(_, letter)| letter).collect();
            let mut with = setup.clone().with_side(Color::White);
            let is_read = with.read_castling(&field).is_ok();
            if is_read && !choices.contains(&(with.castling, with.rooks)) {
                choices.push((with.castling, with.rooks));
            }
        }
    };
    choose("KQkq");
    if !own.chars().all(|letter| "KQkq-".contains(letter)) {
        choose(own);
    }
    choices
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variants(fen: &str) -> Vec<String> {
        let (position, _) = Position::from_fen(fen.as_bytes()).unwrap();
        let mut found: Vec<_> = position.same_placement().iter().map(Position::canonical_fen).collect();
        found.sort();
        found
    }

    #[test]
    fn a_key_does_not_distinguish_two_rooks_beside_a_king() {
        let position = |fen: &str| Position::from_fen(fen.as_bytes()).unwrap().0;
        for (one, other) in [
            ("4k3/8/8/8/8/8/8/1R1K1RR1 w F -", "4k3/8/8/8/8/8/8/1R1K1RR1 w K -"),
            ("4k3/8/8/8/8/8/8/RR2KR1R w KB -", "4k3/8/8/8/8/8/8/RR2KR1R w FQ -"),
            ("1rrk4/8/8/8/8/8/8/4K3 b c -", "1rrk4/8/8/8/8/8/8/4K3 b q -"),
        ] {
            let (one, other) = (position(one), position(other));
            assert_eq!(one.key(), other.key());
            assert_ne!(one, other);
        }
    }

    #[test]
    fn side_castling_and_en_passant_vary() {
        assert_eq!(variants("8/8/8/4k3/8/4K3/4P3/8 w - -"), ["8/8/8/4k3/8/4K3/4P3/8 b - -"]);
        // Black would be in check with White to move.
        assert_eq!(variants("4k3/4R3/8/8/8/8/8/4K3 b - -"), [""; 0]);
        assert_eq!(
            variants("4k3/8/8/3pP3/8/8/8/R3K3 w Q -"),
            [
                "4k3/8/8/3pP3/8/8/8/R3K3 b - -",
                "4k3/8/8/3pP3/8/8/8/R3K3 b Q -",
                "4k3/8/8/3pP3/8/8/8/R3K3 w - -",
                "4k3/8/8/3pP3/8/8/8/R3K3 w - d6",
                "4k3/8/8/3pP3/8/8/8/R3K3 w Q d6",
            ]
        );
        let start = Position::start().canonical_fen();
        assert_eq!(variants(&start).len(), 31);
    }
}
