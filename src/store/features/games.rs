//! The features of some games.

use crate::board::{Material, MoveCode, PawnStructure, Piece, Special, Square};
use crate::store::features::feature::{Feature, piece_square};

/// For each piece, the squares that it occupies at some point of the game, one bit per square. The index of a
/// piece is its code minus 2.
pub(crate) type PieceSquares = [u64; 12];

/// The features of some games, in order. A feature that a game has several times can be listed several times.
#[derive(Debug, Default)]
pub struct GameFeatures {
    games: Vec<FeatureCounts>,
    features: Vec<Feature>,
    materials: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
struct FeatureCounts {
    pieces: PieceSquares,
    /// The end, exclusive, of the game's features in [`GameFeatures::features`].
    features: usize,
    /// The end, exclusive, of the game's materials in [`GameFeatures::materials`].
    materials: usize,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct FeaturesOfGame<'p> {
    pub(crate) pieces: &'p PieceSquares,
    pub(crate) features: &'p [Feature],
    /// The [packed](crate::board::Material::packed) materials.
    pub(crate) materials: &'p [u64],
}

impl GameFeatures {
    /// Removes all games and keeps the allocated memory.
    pub(crate) fn clear(&mut self) {
        self.games.clear();
        self.features.clear();
        self.materials.clear();
    }

    /// Adds a feature of the next game.
    #[inline]
    pub(crate) fn push_feature(&mut self, feature: Feature) {
        self.features.push(feature);
    }

    /// Adds a material of the next game.
    #[inline]
    pub(crate) fn push_material(&mut self, packed: u64) {
        self.materials.push(packed);
    }

    /// Adds the next game, with the features added since the game before.
    pub(crate) fn push_game(&mut self, pieces: PieceSquares) {
        let (features, materials) = (self.features.len(), self.materials.len());
        self.games.push(FeatureCounts { pieces, features, materials });
    }

    /// The games.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = FeaturesOfGame<'_>> {
        let (mut feature, mut material) = (0, 0);
        self.games.iter().map(move |game| {
            let features = &self.features[feature..game.features];
            let materials = &self.materials[material..game.materials];
            (feature, material) = (game.features, game.materials);
            FeaturesOfGame { pieces: &game.pieces, features, materials }
        })
    }

    /// The games for whose index `is_kept` returns true.
    pub(crate) fn kept(&self, mut is_kept: impl FnMut(usize) -> bool) -> Self {
        let mut kept = Self::default();
        for (_, game) in self.iter().enumerate().filter(|(index, _)| is_kept(*index)) {
            kept.features.extend_from_slice(game.features);
            kept.materials.extend_from_slice(game.materials);
            kept.push_game(*game.pieces);
        }
        kept
    }
}

/// Collects the features of a game from its stored rows. An import computes the same features with faster
/// code.
#[derive(Debug, Default)]
pub(crate) struct FeatureRows {
    game: GameFeatures,
    pieces: PieceSquares,
    last: Option<(u64, Feature)>,
}

impl FeatureRows {
    /// Adds the game's next row: the canonical FEN of a position, and the move played from it.
    pub(crate) fn observe(&mut self, fen: &[u8], played: Option<MoveCode>) {
        let structure = PawnStructure::from_placement(fen);
        let now = (Material::from_placement(fen).packed(), Feature::structure(structure));
        if self.last != Some(now) {
            self.last = Some(now);
            self.game.push_material(now.0);
            self.game.push_feature(now.1);
        }
        for (square, letter) in crate::board::pieces(fen) {
            if let Some(piece) = Piece::from_letter(letter) {
                set(&mut self.pieces, piece, square);
            }
        }
        if let Some((piece, code)) = played.and_then(|code| Some((code.piece()?, code))) {
            for feature in features_of(piece, code).into_iter().flatten() {
                self.game.push_feature(feature);
            }
        }
    }

    /// Calls `see` with the features of the game, and starts the next game.
    pub(crate) fn finish(&mut self, see: impl FnOnce(FeaturesOfGame<'_>)) {
        self.last = None;
        self.game.push_game(std::mem::take(&mut self.pieces));
        see(self.game.iter().next().expect("one game"));
        self.game.clear();
    }
}

/// Records a piece on a square.
#[inline]
pub(crate) const fn set(pieces: &mut PieceSquares, piece: Piece, square: Square) {
    let place = piece_square(piece, square);
    pieces[place as usize / 64] |= 1 << (place % 64);
}

/// The features of a move by `piece`.
#[inline]
pub(crate) fn features_of(piece: Piece, code: MoveCode) -> [Option<Feature>; 4] {
    let to = code.to();
    let special = match code.special() {
        Special::CastleShort => Some(Feature::castling(piece.color(), true)),
        Special::CastleLong => Some(Feature::castling(piece.color(), false)),
        Special::Promotion(becomes) => Some(Feature::promotion(becomes, to)),
        _ => None,
    };
    [
        special,
        code.captured().map(|_| Feature::capture(piece, to)),
        code.is_check().then(|| Feature::check(piece, to)),
        code.is_mate().then(|| Feature::mate(piece, to)),
    ]
}
