//! When a position gets a row of `visited_position`.
//!
//! A new position gets a row as soon as enough games have reached it. But when games are added level by
//! level, each addition brings some hundred old positions to that number. Their games are spread over the
//! whole database, so writing their rows and sets would take longer the larger the database is. Therefore a
//! position that is already in older levels gets its row only when half that number of games reached it in
//! the level being written. Until then, look-ups read its rows in `occurrence`, fewer than that number in
//! each level. Merging all levels writes all missing rows.

/// Lists of frequent keys contain all keys with this many rows. With a lower threshold, no position is
/// delayed.
const MIN_DELAYED: u32 = 16;

/// The number of rows of a key that the level being written must have, if positions that `threshold` games
/// reached get a row.
pub(crate) const fn rows_in_level(threshold: u32) -> u32 {
    if may_be_delayed(threshold) { threshold / 2 } else { 1 }
}

/// Whether a position that enough games reached can lack a row for some time.
pub(crate) const fn may_be_delayed(threshold: u32) -> bool {
    threshold >= MIN_DELAYED
}
