//! When a position gets a row of `visited_position`.
//!
//! One that is reached for the first time has it as soon as enough games reached it. In a database to which games are added level by level,
//! each addition brings some hundred positions to that number. What was played there stands in rows of games from all over the database,
//! and so would the new sets of games: each night would cost more the larger the database is. So such a position waits until half as many
//! games reached it in the level that is written. Until then it is looked up as all others are, by its rows, of which there are
//! still few: fewer than that number in each level. Merging all levels leaves none waiting.

/// Rows that lists of frequent keys surely tell of; below, nothing waits.
const FEWEST_THAT_WAIT: u32 = 16;

/// How many rows of a key the level that is written must have, if positions that `threshold` games reached get a row.
pub(crate) const fn rows_in_level(threshold: u32) -> u32 {
    if waits(threshold) { threshold / 2 } else { 1 }
}

/// Whether a position that enough games reached may be without a row for a while.
pub(crate) const fn waits(threshold: u32) -> bool {
    threshold >= FEWEST_THAT_WAIT
}
