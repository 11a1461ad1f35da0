//! Positions with the same placement.

use super::{Color, Kind, Position, SquareSet};

impl Position {
    /// The other legal positions in which the same pieces stand on the same squares: with the other side to move, other
    /// castling rights or another en-passant square.
    #[must_use]
    pub fn same_placement(&self) -> Vec<Self> {
        let own = self.canonical_fen();
        let mut fields = own.split(' ');
        let placement = fields.next().unwrap_or_default();
        let own_castling = fields.nth(1).unwrap_or_default();
        let mut found: Vec<(String, Self)> = Vec::new();
        for side in [Color::White, Color::Black] {
            let make = |castling: &str, en_passant: &str| {
                let fen = format!("{placement} {} {castling} {en_passant}", char::from(side.letter()));
                Self::from_fen(fen.as_bytes()).ok().map(|(position, _)| position)
            };
            if make("-", "-").is_none() {
                continue;
            }
            // Neither depends on the other, so that not all pairs need be tried.
            let rank = if side == Color::White { '6' } else { '3' };
            let squares = ('a'..='h').map(|file| format!("{file}{rank}"));
            let can_pass =
                |square: &String| make("-", square).is_some_and(|position| position.en_passant().is_some());
            let en_passant: Vec<_> =
                std::iter::once("-".to_owned()).chain(squares.filter(can_pass)).collect();
            let mut castling: Vec<_> = castling_fields(own_castling)
                .iter()
                .filter_map(|castling| make(castling, "-"))
                .filter_map(|position| position.canonical_fen().split(' ').nth(2).map(str::to_owned))
                .collect();
            castling.sort();
            castling.dedup();
            for castling in &castling {
                let positions = en_passant.iter().filter_map(|square| make(castling, square));
                found.extend(positions.map(|position| (position.canonical_fen(), position)));
            }
        }
        found.retain(|(fen, _)| *fen != own);
        found.into_iter().map(|(_, position)| position).collect()
    }
}

impl Position {
    /// Whether there is another position with this placement and this key: where a side has two rooks beside its king, the key does
    /// not tell which of them can castle.
    #[must_use]
    pub fn shares_key(&self) -> bool {
        let is_open = |color, short| {
            let Some(rook) = self.castling_rook(color, short) else { return false };
            let rooks = self.squares_of(Kind::Rook, color).and(SquareSet::rank(rook.rank()));
            let king = self.king(color).file();
            rooks.into_iter().filter(|square| (square.file() > king) == short).count() > 1
        };
        [Color::White, Color::Black].into_iter().any(|color| is_open(color, true) || is_open(color, false))
    }
}

/// All choices among the usual rights and those a field names, which can be others in Chess960.
fn castling_fields(own: &str) -> Vec<String> {
    let choices = |letters: &str| -> Vec<String> {
        let letters: Vec<_> = letters.chars().filter(|&letter| letter != '-').collect();
        (0..1_usize << letters.len())
            .map(|set| {
                let chosen = letters.iter().enumerate().filter(|(index, _)| set >> index & 1 != 0);
                let field: String = chosen.map(|(_, &letter)| letter).collect();
                if field.is_empty() { "-".to_owned() } else { field }
            })
            .collect()
    };
    let mut fields = choices("KQkq");
    fields.extend(choices(own));
    fields.sort();
    fields.dedup();
    fields
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
    fn a_key_does_not_tell_two_rooks_beside_a_king_apart() {
        let position = |fen: &str| Position::from_fen(fen.as_bytes()).unwrap().0;
        for (one, other) in [
            ("4k3/8/8/8/8/8/8/1R1K1RR1 w F -", "4k3/8/8/8/8/8/8/1R1K1RR1 w K -"),
            ("4k3/8/8/8/8/8/8/RR2KR1R w KB -", "4k3/8/8/8/8/8/8/RR2KR1R w FQ -"),
            ("1rrk4/8/8/8/8/8/8/4K3 b c -", "1rrk4/8/8/8/8/8/8/4K3 b q -"),
        ] {
            let (one, other) = (position(one), position(other));
            assert_eq!(one.key(), other.key());
            assert!(one != other && one.shares_key() && other.shares_key());
        }
        for fen in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
            "4k3/8/8/8/8/8/8/1R1K1RR1 w Q -",
            "4k3/8/8/8/8/8/8/1R1K1RR1 w - -",
            "1r1k2r1/8/8/8/8/8/6RR/1R1K2R1 w KQkq -",
        ] {
            assert!(!position(fen).shares_key(), "{fen}");
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
