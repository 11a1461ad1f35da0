//! Parses PGN text into games (splitting, movetext tokens, tag pairs), and writes games as PGN text.
//!
//! Parsing works on bytes. This module does not depend on files. It uses no rules of chess except the form of
//! a move.

mod comment;
mod export;
mod lex;
mod move_numbers;
mod outside;
mod reader;
mod split;
mod tags;
mod text;
mod time_control;
mod value;
mod word;

pub use comment::CommentReader;
pub use export::{GameWriter, nag_sign};
pub use lex::{Annotation, Lexer, Token, Variation};
#[cfg(feature = "index")]
pub(crate) use move_numbers::clock;
pub use move_numbers::{Eval, MoveNumbers, time, winning_chances};
pub use reader::{FrameProblem, FrameProblemKind, MOST_TAGS, Reader};
pub use split::{LOOK_BACK, boundary_in, chunks, next_boundary};
pub use tags::{LOOK_AHEAD, TagPair, starts_tag_pair};
pub(crate) use text::skip_blanks;
pub use text::{TextFlaw, decode};
pub use time_control::{Speed, TimeControl};
pub use value::GameFacts;
#[cfg(feature = "index")]
pub(crate) use value::date;
pub(crate) use value::{days_of_month, is_known_variant};
pub use word::{is_descriptive_move, is_foreign_move, is_misspelt_move, is_remark, looks_like_move};
