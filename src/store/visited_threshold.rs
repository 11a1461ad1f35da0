//! When a position gets a row of `visited_position`.
//!
//! A new position gets a row as soon as enough games have reached it. But when games are added level by
//! level, each addition brings many old positions to that number of games. The games of these positions are
//! spread over the whole database, so writing their rows and sets would take longer the larger the database
//! is. Therefore a position that is already in older levels gets its row only when at least half that number
//! of games reached it in the level being written. Until then, look-ups read its rows in `occurrence`, of
//! which each level has few. Merging all levels writes all missing rows.

/// The lowest threshold with which positions are delayed. Half of it is the smallest number of rows of a key
/// in a list of frequent keys (if the list does not get too long).
const MIN_DELAYED: u32 = 16;

/// The minimum number of rows with a position's key in the level being written, for the position to get its
/// row once `threshold` games in total have reached it.
pub(crate) const fn rows_in_level(threshold: u32) -> u32 {
    if may_be_delayed(threshold) { threshold / 2 } else { 1 }
}

/// Whether a position can lack its row for some time although enough games reached it.
pub(crate) const fn may_be_delayed(threshold: u32) -> bool {
    threshold >= MIN_DELAYED
}
