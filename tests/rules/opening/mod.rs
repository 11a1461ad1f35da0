//! Opening names: reading lists, and classifying games.

mod classify;
mod lists;
