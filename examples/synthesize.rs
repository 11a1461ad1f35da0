//! Writes a PGN of synthetic games to standard output: random legal moves, with a preference for common openings, captures and mate.
//! The same number of games and seed give the same text. With the word `annotated`, each move has a clock and an evaluation: roughly
//! the balance of material after the next move.
//!
//! `cargo run --release --example synthesize -- 2000 1 > synthetic.pgn`
//! `cargo run --release --example synthesize -- 20 7 annotated > annotated.pgn`

use std::io::{self, BufWriter, Write};

use pgndex::board::{Color, GameResult, Material, MoveCode, Piece, PieceKind, Position, Special};
use pgndex::pgn::{Eval, MoveNumbers};

/// Opening lines; the first ones are more frequent.
const OPENINGS: [&str; 12] = [
    "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6",
    "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7",
    "d4 Nf6 c4 e6 Nc3 Bb4 e3 O-O",
    "d4 d5 c4 e6 Nc3 Nf6 Bg5 Be7",
    "e4 e6 d4 d5 Nc3 Nf6 Bg5 Be7",
    "e4 c6 d4 d5 Nc3 dxe4 Nxe4 Bf5",
    "d4 Nf6 c4 g6 Nc3 Bg7 e4 d6",
    "e4 e5 Nf3 Nc6 Bc4 Bc5 c3 Nf6",
    "c4 e5 Nc3 Nf6 Nf3 Nc6",
    "Nf3 d5 g3 Nf6 Bg2 e6 O-O",
    "d4 d5 c4 c6 Nf3 Nf6 Nc3 dxc4",
    "e4 c5 Nf3 Nc6 d4 cxd4 Nxd4 g6",
];
const MOST_PLIES: usize = 160;

/// SplitMix64: small, well mixed, and the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(mixed ^ mixed >> 31) * bound as u128) >> 64) as usize
    }

    /// A number less than the bound; small numbers are more frequent.
    fn skewed(&mut self, bound: usize) -> usize {
        self.below(bound).min(self.below(bound))
    }
}

/// The weight of a move: captures, checks, castling and promotions to a queen are more likely than others.
fn weight(code: MoveCode, position: &Position) -> usize {
    let value = |piece: Piece| match piece.kind() {
        PieceKind::Pawn => 2,
        PieceKind::Knight | PieceKind::Bishop => 6,
        PieceKind::Rook => 10,
        PieceKind::Queen => 18,
        PieceKind::King => 0,
    };
    let mut after = position.clone();
    let check = after.make(code).is_ok_and(MoveCode::is_check);
    let mate = check && !after.has_legal_move();
    let promotion = match code.special() {
        Special::Promotion(piece) if piece.kind() == PieceKind::Queen => 20,
        Special::CastleShort | Special::CastleLong => 12,
        _ => 0,
    };
    2 + code.captured().map_or(0, value) + promotion + 3 * usize::from(check) + 400 * usize::from(mate)
}

fn choose(position: &Position, moves: &mut Vec<MoveCode>, random: &mut Random) -> Option<MoveCode> {
    position.legal_moves(moves);
    let total: usize = moves.iter().map(|&code| weight(code, position)).sum();
    let mut left = if total == 0 { return None } else { random.below(total) };
    moves.iter().copied().find(|&code| {
        let weight = weight(code, position);
        let found = left < weight;
        left = left.saturating_sub(weight);
        found
    })
}

/// A game's moves in SAN, each with the balance of material after it, and its result.
fn play(random: &mut Random) -> (Vec<(String, i32)>, GameResult) {
    let mut position = Position::start();
    let (mut sans, mut moves) = (Vec::new(), Vec::new());
    let opening: Vec<&str> = OPENINGS[random.skewed(OPENINGS.len())].split(' ').collect();
    let known = 4 + random.below(opening.len());
    let mut opening = opening.into_iter().take(known);
    while sans.len() < MOST_PLIES && position.halfmove_clock() < 60 {
        let code = match opening.next() {
            Some(san) => Some(position.resolve(san.as_bytes()).expect("openings are legal")),
            None => choose(&position, &mut moves, random),
        };
        let Some(code) = code else { break };
        let san = position.san(code);
        position.make(code).expect("a legal move");
        sans.push((san, Material::from_placement(position.canonical_fen().as_bytes()).balance()));
    }
    let result = match (position.is_check() && !position.has_legal_move(), position.side()) {
        (true, Color::Black) => GameResult::White,
        (true, Color::White) => GameResult::Black,
        (false, _) => [GameResult::Draw, GameResult::White, GameResult::Black][random.below(3)],
    };
    (sans, result)
}

/// The initial time of each clock and the increment per move, in seconds.
const TIME: (u32, u32) = (180, 2);

/// Annotates the moves with a clock, and with an evaluation near the balance of material after the next move, so that a
/// move that loses a piece counts as a mistake.
fn annotations(moves: &[(String, i32)], random: &mut Random) -> Vec<String> {
    let mut clocks = [100 * TIME.0; 2];
    let mut comments = Vec::new();
    for (ply, (_, last)) in moves.iter().enumerate() {
        let balance = moves.get(ply + 1).map_or(*last, |(_, balance)| *balance);
        let clock = &mut clocks[ply % 2];
        let used = 100 * u32::try_from(random.skewed(14)).unwrap_or_default();
        *clock = clock.saturating_sub(used).max(100) + 100 * TIME.1;
        let noise = i32::try_from(random.below(41)).unwrap_or_default() - 20;
        let eval = Some(Eval::Centipawns(100 * balance + noise));
        let numbers = MoveNumbers { clock: Some(*clock), eval, ..MoveNumbers::default() };
        let commands: Vec<_> = numbers.commands().map(|(name, value)| format!("[%{name} {value}]")).collect();
        comments.push(format!("{{{}}}", commands.join(" ")));
    }
    comments
}

fn write_game(
    out: &mut impl Write,
    number: usize,
    is_annotated: bool,
    random: &mut Random,
) -> io::Result<()> {
    let (sans, result) = play(random);
    let player = |random: &mut Random| format!("Player {:03}", 1 + random.skewed(200));
    writeln!(out, "[Event \"Synthetic Open {}\"]", 1 + number / 100)?;
    writeln!(out, "[Site \"?\"]")?;
    let date = (2001 + random.below(25), 1 + random.below(12), 1 + random.below(28));
    writeln!(out, "[Date \"{}.{:02}.{:02}\"]", date.0, date.1, date.2)?;
    writeln!(out, "[Round \"{}\"]", 1 + random.below(9))?;
    writeln!(out, "[White \"{}\"]\n[Black \"{}\"]", player(random), player(random))?;
    writeln!(out, "[Result \"{}\"]", result.as_str())?;
    writeln!(out, "[WhiteElo \"{}\"]", 1600 + random.below(1100))?;
    writeln!(out, "[BlackElo \"{}\"]", 1600 + random.below(1100))?;
    let mut comments = Vec::new();
    if is_annotated {
        writeln!(out, "[TimeControl \"{}+{}\"]", TIME.0, TIME.1)?;
        comments = annotations(&sans, random);
    }
    writeln!(out)?;
    let mut line = String::new();
    let tokens = sans.iter().enumerate().flat_map(|(ply, (san, _))| {
        let dots = if ply % 2 == 0 { "." } else { "..." };
        let number = (ply % 2 == 0 || is_annotated).then(|| format!("{}{dots}", ply / 2 + 1));
        number.into_iter().chain([san.clone()]).chain(comments.get(ply).cloned())
    });
    for token in tokens.chain([result.as_str().to_owned()]) {
        if line.len() + 1 + token.len() > 79 {
            writeln!(out, "{line}")?;
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&token);
    }
    writeln!(out, "{line}\n")
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_annotated = arguments.last().is_some_and(|word| word == "annotated");
    let mut numbers = arguments.iter().filter(|word| *word != "annotated").map(|word| word.parse::<u64>());
    let (Ok(games), Ok(seed)) = (numbers.next().unwrap_or(Ok(1000)), numbers.next().unwrap_or(Ok(1))) else {
        eprintln!("usage: synthesize [GAMES [SEED]] [annotated]");
        std::process::exit(2);
    };
    let mut out = BufWriter::new(io::stdout().lock());
    let mut random = Random(seed);
    for number in 0..games as usize {
        write_game(&mut out, number, is_annotated, &mut random)?;
    }
    out.flush()
}
