//! Rows of data files, and random legal play.

use pgndex::board::{MoveCode, Position};
use proptest::prelude::*;

/// The rows of a file in `tests/data`, each with its line number and its tab-separated fields.
pub(crate) fn rows(name: &str) -> Vec<(usize, Vec<String>)> {
    let path = format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let lines = text.split('\n').enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let rows: Vec<_> =
        lines.map(|(index, line)| (index + 1, line.split('\t').map(str::to_owned).collect())).collect();
    assert!(!rows.is_empty(), "{path} has no rows");
    rows
}

/// The position of a FEN.
pub(crate) fn position(fen: &str) -> Position {
    Position::from_fen(fen.as_bytes()).unwrap_or_else(|error| panic!("{fen}: {error}")).0
}

/// The legal moves.
pub(crate) fn legal(position: &Position) -> Vec<MoveCode> {
    let mut moves = Vec::new();
    position.legal_moves(&mut moves);
    moves
}

/// The position after moves in SAN.
pub(crate) fn after(position: &Position, moves: &str) -> Position {
    let mut position = position.clone();
    for san in moves.split_whitespace() {
        let code = position.resolve(san.as_bytes()).unwrap_or_else(|error| panic!("{san}: {error}"));
        position.make(code).unwrap_or_else(|error| panic!("{san}: {error}"));
    }
    position
}

/// The start position of Chess960 with this number, 0 to 959, in Scharnagl's numbering (518 is the standard one).
pub(crate) fn chess960_fen(number: usize) -> String {
    /// The squares of the two knights, as indexes into the five squares that are left for knights, rooks and king.
    const KNIGHTS: [(usize, usize); 10] =
        [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)];
    let mut rank = [b'.'; 8];
    rank[number % 4 * 2 + 1] = b'b';
    rank[number / 4 % 4 * 2] = b'b';
    let nth_free = |rank: &[u8; 8], n: usize| (0..8).filter(|&file| rank[file] == b'.').nth(n).unwrap();
    let queen = nth_free(&rank, number / 16 % 6);
    rank[queen] = b'q';
    let (first, second) = KNIGHTS[number / 96];
    let knights = [nth_free(&rank, first), nth_free(&rank, second)];
    for file in knights {
        rank[file] = b'n';
    }
    for piece in *b"rkr" {
        let file = nth_free(&rank, 0);
        rank[file] = piece;
    }
    let black = String::from_utf8(rank.to_vec()).unwrap();
    format!("{black}/pppppppp/8/8/8/8/PPPPPPPP/{} w KQkq - 0 1", black.to_uppercase())
}

/// A start of random play: the standard one, one of Chess960, or a position of the perft table.
pub(crate) fn starts() -> impl Strategy<Value = String> {
    let mut fens: Vec<String> = rows("perft.tsv").into_iter().map(|(_, row)| row[0].clone()).collect();
    fens.dedup();
    prop_oneof![
        2 => Just("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1".to_owned()),
        2 => (0..960_usize).prop_map(chess960_fen),
        3 => prop::sample::select(fens),
    ]
}

/// A game of random legal moves.
#[derive(Clone, Debug)]
pub(crate) struct Play {
    pub(crate) start: String,
    choices: Vec<u16>,
}

impl Play {
    /// Replays the game, and before each move calls `visit` with the position and the move.
    pub(crate) fn walk(
        &self,
        mut visit: impl FnMut(&Position, MoveCode) -> Result<(), TestCaseError>,
    ) -> Result<Position, TestCaseError> {
        let mut position = position(&self.start);
        for &choice in &self.choices {
            let Some(code) = Self::choose(&position, choice) else { break };
            visit(&position, code)?;
            position.make(code).map_err(|error| TestCaseError::fail(format!("{code:?}: {error}")))?;
        }
        Ok(position)
    }

    /// A legal move. Pawn moves, captures and castling are chosen more often than others, so that the position changes
    /// quickly.
    fn choose(position: &Position, choice: u16) -> Option<MoveCode> {
        let moves = legal(position);
        let rare: Vec<MoveCode> =
            moves.iter().copied().filter(|code| !matches!(code.special().bits(), 3 | 6 | 7)).collect();
        let pool = if choice & 3 == 0 && !rare.is_empty() { &rare } else { &moves };
        if pool.is_empty() { None } else { Some(pool[usize::from(choice >> 2) % pool.len()]) }
    }
}

/// Random games of at most `plies` half-moves.
pub(crate) fn plays(plies: usize) -> impl Strategy<Value = Play> {
    (starts(), prop::collection::vec(any::<u16>(), 0..plies))
        .prop_map(|(start, choices)| Play { start, choices })
}
