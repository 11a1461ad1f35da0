//! The rules of chess on a 0x88 board.

mod key;
mod move_code;

pub use key::PositionKey;
pub use move_code::MoveCode;
