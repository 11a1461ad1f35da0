//! Kinds of features.

/// A kind of features: the column `kind` of `game_set`. Kinds are in the order of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum FeatureKind {
    /// A piece captures on a square.
    Capture,
    /// A side castles.
    Castling,
    /// A piece that moves to a square gives check or mate.
    Check,
    /// The game itself. The features of a game that is not in this set are unknown.
    Game,
    /// A piece that moves to a square gives mate.
    Mate,
    /// How many pieces of each kind are on the board.
    Material,
    /// The squares of all pawns, as a number that several structures share.
    Pawns,
    /// A piece is on a square.
    Piece,
    /// A pawn promotes to a piece on a square.
    Promotion,
}

impl FeatureKind {
    const ALL: [Self; 9] = [
        Self::Capture,
        Self::Castling,
        Self::Check,
        Self::Game,
        Self::Mate,
        Self::Material,
        Self::Pawns,
        Self::Piece,
        Self::Promotion,
    ];

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// The name in the table.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Capture => "capture",
            Self::Castling => "castling",
            Self::Check => "check",
            Self::Game => "game",
            Self::Mate => "mate",
            Self::Material => "material",
            Self::Pawns => "pawns",
            Self::Piece => "piece",
            Self::Promotion => "promotion",
        }
    }
}
