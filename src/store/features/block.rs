//! Builds the sets of a block of games, game by game.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::sorted::SortedMap;
use crate::store::block_set::BLOCK_GAMES;
use crate::store::features::feature::{Feature, FeatureKind, PIECE_SQUARES};
use crate::store::features::games::{FeaturesOfGame, PieceSquares};

/// All non-empty sets of a block, by kind and value of the feature. A set is a list of games, given by their
/// numbers within the block, in ascending order.
pub(crate) type BlockSets = SortedMap<(FeatureKind, i64), Vec<u16>>;

/// Receives a set: its kind, its value, and the numbers of its games.
pub(crate) type Give<'g> = dyn FnMut(FeatureKind, i64, &[u16]) + 'g;

/// The features of the games of a block. They take about 40 MB of memory for a block of long games.
///
/// Features are recorded game by game, and sorted when the block is complete. If each feature had its own
/// list from the start, about 40,000 lists would have to grow all the time.
#[derive(Debug, Default)]
pub(crate) struct FeatureBlock {
    /// The games' numbers within the block, in ascending order.
    games: Vec<u16>,
    pieces: Vec<PieceSquares>,
    /// Indexes of features, each with the number of a game that has the feature.
    features: Vec<(u16, u16)>,
    /// Materials, as numbers from `material_numbers`, each with the number of a game that has the material.
    materials: Vec<(u32, u16)>,
    /// The number of each material. Materials are numbered in the order of their first appearance.
    material_numbers: HashMap<u64, u32, BuildHasherDefault<MaterialHasher>>,
}

impl FeatureBlock {
    pub(crate) const fn is_empty(&self) -> bool {
        self.games.is_empty()
    }

    /// Adds a game. Its number must be greater than those of the games before.
    pub(crate) fn push(&mut self, number: u16, game: FeaturesOfGame<'_>) {
        debug_assert!(self.games.last().is_none_or(|&last| last < number), "in order");
        self.games.push(number);
        self.pieces.push(*game.pieces);
        self.features.extend(game.features.iter().map(|feature| (feature.index(), number)));
        for &material in game.materials {
            let next = self.material_numbers.len() as u32;
            self.materials.push((*self.material_numbers.entry(material).or_insert(next), number));
        }
    }

    /// Passes all non-empty sets to `see`, in the order of the rows of `game_set`, and clears the block.
    pub(crate) fn take(&mut self, see: &mut Give<'_>) {
        let give: &mut Give<'_> = &mut |kind, value, numbers| {
            if !numbers.is_empty() {
                see(kind, value, numbers);
            }
        };
        let features = self.features.iter().map(|&(feature, number)| (usize::from(feature), number));
        let features = Lists::of(features, Feature::COUNT);
        for (kind, _) in FeatureKind::NAMES {
            match kind {
                FeatureKind::Game => give(kind, 0, &self.games),
                FeatureKind::Material => self.take_materials(give),
                FeatureKind::Piece => self.take_pieces(give),
                _ => {
                    for feature in Feature::all_of(kind) {
                        give(kind, feature.place().1, features.list(usize::from(feature.index())));
                    }
                }
            }
        }
        self.games.clear();
        self.pieces.clear();
        self.features.clear();
        self.materials.clear();
    }

    fn take_materials(&mut self, give: &mut Give<'_>) {
        let materials = self.materials.iter().map(|&(material, number)| (material as usize, number));
        let lists = Lists::of(materials, self.material_numbers.len());
        let mut materials: Vec<(u64, u32)> = self.material_numbers.drain().collect();
        materials.sort_unstable();
        for (material, number) in materials {
            give(FeatureKind::Material, material.cast_signed(), lists.list(number as usize));
        }
    }

    /// Converts `pieces` into lists: for each piece and square, the games in which the piece was on the square.
    fn take_pieces(&self, give: &mut Give<'_>) {
        let mut numbers = Vec::with_capacity(BLOCK_GAMES as usize);
        let groups = self.pieces.len().div_ceil(64);
        let mut columns = vec![0; 64 * groups];
        for piece in 0..usize::from(PIECE_SQUARES / 64) {
            for (group, games) in self.pieces.chunks(64).enumerate() {
                let mut bits = [0; 64];
                for (bits, pieces) in bits.iter_mut().zip(games) {
                    *bits = pieces[piece];
                }
                transpose(&mut bits);
                for (square, bits) in bits.into_iter().enumerate() {
                    columns[square * groups + group] = bits;
                }
            }
            for square in 0..64 {
                numbers.clear();
                for (group, &bits) in columns[square * groups..(square + 1) * groups].iter().enumerate() {
                    let mut bits: u64 = bits;
                    while bits != 0 {
                        numbers.push(self.games[64 * group + bits.trailing_zeros() as usize]);
                        bits &= bits - 1;
                    }
                }
                give(FeatureKind::Piece, (64 * piece + square) as i64, &numbers);
            }
        }
    }
}

/// One list of games for each feature or each material.
struct Lists {
    starts: Vec<u32>,
    ends: Vec<u32>,
    numbers: Vec<u16>,
}

impl Lists {
    /// Distributes games among `lists` lists. An item of `games` is the index of a list and the number of a
    /// game. The items must be in ascending order of games. A list contains each game at most once.
    fn of(games: impl Iterator<Item = (usize, u16)> + Clone, lists: usize) -> Self {
        let mut starts = vec![0; lists];
        games.clone().for_each(|(list, _)| starts[list] += 1);
        let mut all = 0;
        for start in &mut starts {
            (*start, all) = (all, all + *start);
        }
        let mut ends = starts.clone();
        let mut numbers = vec![0; all as usize];
        for (list, number) in games {
            let end = ends[list] as usize;
            if ends[list] == starts[list] || numbers[end - 1] != number {
                numbers[end] = number;
                ends[list] += 1;
            }
        }
        Self { starts, ends, numbers }
    }

    fn list(&self, list: usize) -> &[u16] {
        &self.numbers[self.starts[list] as usize..self.ends[list] as usize]
    }
}

/// Transposes a 64 x 64 bit matrix (Warren, "Hacker's Delight", 7-3).
fn transpose(rows: &mut [u64; 64]) {
    let (mut width, mut mask) = (32, 0x0000_0000_ffff_ffff_u64);
    while width != 0 {
        let mut row = 0;
        while row < 64 {
            let changed = (rows[row] >> width ^ rows[row + width]) & mask;
            rows[row] ^= changed << width;
            rows[row + width] ^= changed;
            row = (row + width + 1) & !width;
        }
        width >>= 1;
        mask ^= mask << width;
    }
}

/// Hashes packed materials. They come from game collections, so a defence against chosen collisions is not
/// needed.
#[derive(Clone, Copy, Debug, Default)]
struct MaterialHasher(u64);

impl Hasher for MaterialHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(self.0 ^ u64::from(byte)));
    }

    fn write_u64(&mut self, material: u64) {
        // The hash table uses the lowest and the highest bits.
        let spread = u128::from(material) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (spread >> 64) as u64 ^ spread as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bit_matrix_is_transposed() {
        let mut seed = 1_u64;
        let rows: [u64; 64] = std::array::from_fn(|_| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            seed ^ seed >> 29
        });
        let mut turned = rows;
        transpose(&mut turned);
        for (row, bits) in rows.iter().enumerate() {
            for (column, turned) in turned.iter().enumerate() {
                assert_eq!(bits >> column & 1, turned >> row & 1, "{row}, {column}");
            }
        }
    }
}
