//! FIDE performance ratings: FIDE Handbook, B.02, table 8.1.1.

use crate::store::row::RatedScore;

/// For each percentage scored, from 50 to 100, the difference between the performance rating and the
/// opponents' mean rating. Below 50 percent, the difference is minus that of the opponents' percentage.
const ABOVE: [i32; 51] = [
    0, 7, 14, 21, 29, 36, 43, 50, 57, 65, //
    72, 80, 87, 95, 102, 110, 117, 125, 133, 141, //
    149, 158, 166, 175, 184, 193, 202, 211, 220, 230, //
    240, 251, 262, 273, 284, 296, 309, 322, 336, 351, //
    366, 383, 401, 422, 444, 470, 501, 538, 589, 677, //
    800,
];

/// The performance rating for a score; `None` without games. Percentages and the mean rating are rounded half
/// up.
pub(super) fn performance(score: &RatedScore) -> Option<i32> {
    let games = u64::from(score.games);
    let mean = opponent_rating(score)?;
    // Two half points per game are 100 percent.
    let percent = rounded(100 * u64::from(score.half_points), 2 * games).min(100);
    let above = |percent: u64| ABOVE[percent as usize - 50];
    let difference = if percent < 50 { -above(100 - percent) } else { above(percent) };
    i32::try_from(mean).ok().map(|mean| mean + difference)
}

/// The opponents' mean rating; `None` without games.
pub(super) const fn opponent_rating(score: &RatedScore) -> Option<u64> {
    match score.games {
        0 => None,
        games => Some(rounded(score.rating_sum, games as u64)),
    }
}

/// A quotient, rounded to the nearest integer; halves are rounded up.
pub(super) const fn rounded(number: u64, by: u64) -> u64 {
    (2 * number + by) / (2 * by)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn performances_agree_with_the_table() {
        let performance =
            |games, half_points, rating_sum| performance(&RatedScore { games, rating_sum, half_points });
        assert_eq!(performance(0, 0, 0), None);
        for (games, half_points, mean, expected) in [
            (9, 9, 2500, 2500),
            (9, 18, 2500, 3300),
            (9, 0, 2500, 1700),
            // 66.7 and 33.3 percent scored.
            (9, 12, 2600, 2725),
            (9, 6, 2600, 2475),
            // 5.5 of 9: 61.1 percent.
            (9, 11, 2400, 2480),
            // 62.5 percent is rounded up.
            (4, 5, 2000, 2095),
        ] {
            assert_eq!(performance(games, half_points, mean * u64::from(games)), Some(expected));
        }
        assert_eq!(performance(2, 2, 2001 + 2002), Some(2002));
        assert!(ABOVE.is_sorted_by(|one, other| one < other));
    }
}
