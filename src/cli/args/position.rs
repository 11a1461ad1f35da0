//! Which position.

use clap::Args;

/// A position, told in one of three ways.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct PositionArgs {
    /// The position as a FEN. Missing fields mean White to move, no castling and no en passant. The counters are ignored
    #[arg(long, value_name = "FEN")]
    pub(crate) fen: Option<String>,
    /// The moves that lead to it from the start position, as in PGN: "1. e4 c5 2. Nf3"
    #[arg(long, value_name = "MOVES")]
    pub(crate) moves: Option<String>,
    /// The same in UCI notation: e2e4,c7c5
    #[arg(long, value_name = "MOVES")]
    pub(crate) play: Option<String>,
}
