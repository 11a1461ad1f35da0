//! Passes the positions of replayed games to a sink, and computes the games' features: the second half of a
//! worker's work.

use crate::board::{
    Color, FenText, Material, MoveCode, PawnStructure, Piece, PieceKind, Position, Special, Square,
};
use crate::id::{GameId, Ply};
use crate::index::game::{GameBatch, ReadGame, Start};
use crate::store::Layout;
use crate::store::features::{Feature, GameFeatures, PieceSquares, features_of, set};
use crate::store::sink::{GameMoves, PositionView};

/// The standard start position and its placement as text, computed once.
#[derive(Debug)]
pub(crate) struct Standard {
    pub(crate) position: Position,
    pub(crate) fen: FenText,
}

impl Standard {
    pub(crate) fn new() -> Self {
        let position = Position::start();
        let fen = FenText::new(&position);
        Self { position, fen }
    }
}

/// Replays the games of a batch, and calls `sink` with each position of each game in order. The first game of
/// the batch has the id `first`.
pub(crate) fn for_each_position<E>(
    batch: &GameBatch,
    first: GameId,
    standard: &Standard,
    layout: Layout,
    mut sink: impl FnMut(PositionView<'_>) -> Result<(), E>,
) -> Result<(), E> {
    moves_of(batch, first).try_for_each(|GameMoves { game, setup, codes }| {
        let (mut position, mut placement) = match setup {
            None => (standard.position.clone(), standard.fen.clone()),
            Some(position) => (position.clone(), FenText::new(position)),
        };
        for (ply, move_code) in (0..).zip(codes.iter().copied().map(Some).chain([None])) {
            sink(PositionView {
                game,
                ply: Ply(ply),
                position: &position,
                placement: (layout == Layout::Open).then_some(&placement),
                move_code,
                is_setup: setup.is_some(),
            })?;
            if let Some(code) = move_code {
                position.replay(code);
                if layout == Layout::Open {
                    placement.update(&position, code);
                }
            }
        }
        Ok(())
    })
}

/// The moves of the games of a batch, except games without positions. The first game of the batch has the id
/// `first`.
pub(crate) fn moves_of(batch: &GameBatch, first: GameId) -> impl Iterator<Item = GameMoves<'_>> {
    let games = (first.0..).map(GameId).zip(replayed(batch));
    games.filter_map(|(game, replayed)| replayed.map(|(setup, codes)| GameMoves { game, setup, codes }))
}

/// For each game of a batch: its start position, if this is a set-up position, and its moves. `None` for a
/// game without positions.
fn replayed(batch: &GameBatch) -> impl Iterator<Item = Option<(Option<&Position>, &[MoveCode])>> {
    let mut codes = &batch.codes[..];
    let mut setups = batch.setups.iter();
    batch.games.iter().map(move |&ReadGame { moves, start, .. }| {
        let (played, rest) = codes.split_at(moves);
        codes = rest;
        match start {
            Start::Standard => Some((None, played)),
            Start::Setup => Some((Some(setups.next().expect("one for each game that has one")), played)),
            Start::Nowhere => None,
        }
    })
}

/// Computes the features of a batch's games move by move, because each move changes few features.
pub(crate) fn record_features(batch: &mut GameBatch, standard: &Standard) {
    let mut features = std::mem::take(&mut batch.headers.features);
    features.clear();
    let standard = FeatureTracker::at(&standard.position);
    for game in replayed(batch) {
        let Some((setup, codes)) = game else {
            features.push_game(PieceSquares::default());
            continue;
        };
        let mut game = setup.map_or(standard, FeatureTracker::at);
        features.push_material(game.material);
        features.push_feature(Feature::pawns(game.pawns));
        for &code in codes {
            game.make(code, &mut features);
        }
        features.push_game(game.pieces);
    }
    batch.headers.features = features;
}

/// The state of a game while it is replayed.
#[derive(Clone, Copy, Debug, Default)]
struct FeatureTracker {
    /// The squares that each piece has occupied so far.
    pieces: PieceSquares,
    /// The pieces on the board, [packed](Material::packed).
    material: u64,
    /// The [key](PawnStructure::key) of the pawn structure.
    pawns: u64,
}

impl FeatureTracker {
    fn at(position: &Position) -> Self {
        let mut game = Self::default();
        let both = [Color::White, Color::Black];
        for piece in both.iter().flat_map(|&color| PieceKind::ALL.map(|kind| Piece::new(kind, color))) {
            for square in position.squares_of(piece.kind(), piece.color()) {
                set(&mut game.pieces, piece, square);
                game.material += Material::packed_piece(piece);
                game.pawns ^= PawnStructure::key_of(piece, square);
            }
        }
        game
    }

    #[inline]
    fn make(&mut self, code: MoveCode, features: &mut GameFeatures) {
        let Some(piece) = code.piece() else { return };
        let (special, to) = (code.special(), code.to());
        let (material, pawns) = (self.material, self.pawns);
        let becomes = if let Special::Promotion(becomes) = special { becomes } else { piece };
        set(&mut self.pieces, becomes, to);
        self.pawns ^= PawnStructure::key_of(piece, code.from()) ^ PawnStructure::key_of(becomes, to);
        self.material = self.material - Material::packed_piece(piece) + Material::packed_piece(becomes);
        if let Some(captured) = code.captured() {
            let stood =
                if special == Special::EnPassant { Square::at(to.file(), code.from().rank()) } else { to };
            self.material -= Material::packed_piece(captured);
            self.pawns ^= PawnStructure::key_of(captured, stood);
        }
        if let Special::CastleShort | Special::CastleLong = special {
            let file = if special == Special::CastleShort { 5 } else { 3 };
            set(&mut self.pieces, Piece::new(PieceKind::Rook, piece.color()), Square::at(file, to.rank()));
        }
        if self.material != material {
            features.push_material(self.material);
        }
        if self.pawns != pawns {
            features.push_feature(Feature::pawns(self.pawns));
        }
        features_of(piece, code).into_iter().flatten().for_each(|feature| features.push_feature(feature));
    }
}
