//! Names of openings: reading lists of them, and classifying games by them.

mod classify;
mod lists;
