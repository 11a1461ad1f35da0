//! Complete imports, from PGN files to a database: equal tables with all options, problems in the right places, and no
//! files left behind when a run fails.

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
