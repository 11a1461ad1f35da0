//! Formats answers: tables, boards, numbers, text.

pub(crate) mod annotation;
pub(crate) mod board;
pub(crate) mod curve;
pub(crate) mod done;
pub(crate) mod histogram;
pub(crate) mod number;
pub(crate) mod output;
pub(crate) mod output_file;
pub(crate) mod picture;
pub(crate) mod record;
pub(crate) mod sheet;
pub(crate) mod summary;
pub(crate) mod table;
pub(crate) mod text;
