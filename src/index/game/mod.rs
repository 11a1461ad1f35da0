//! Converts a game's text to rows: tags, moves, positions, problems.

pub(crate) mod annotate;
pub(crate) mod batch;
pub(crate) mod header;
pub(crate) mod parse;
pub(crate) mod positions;
mod replay;
pub(crate) mod signature;
pub(crate) mod single_game;
pub(crate) mod word;

pub(crate) use annotate::{AnnotationProblem, Annotator};
use batch::dedup_from;
pub(crate) use batch::{GameBatch, ReadGame, Start};
pub(crate) use header::Header;
pub(crate) use parse::{ChunkParser, ParseOptions};
pub(crate) use positions::{Standard, for_each_position, moves_of, record_features};
pub(crate) use signature::{Comparison, Pairing, Signature, Signatures, canonical};
pub(crate) use word::{glued_move, is_meant_as_move, may_be_move, notation_of, shorten, shown};
