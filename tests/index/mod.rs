//! The whole job, PGN files in and a database out: equal tables however they are made, problems in the right places,
//! and nothing left behind when a run fails.

mod adding;
mod annotations;
mod archives;
mod cases;
mod continuations;
mod duplicates;
mod edge;
mod failures;
mod features;
mod growing;
mod growing_archives;
mod inputs;
mod levels;
mod problems;
mod removing;
mod repairing;
mod shared_keys;
mod tables;
mod texts;
mod truth;
mod unpacked;
mod verify;
