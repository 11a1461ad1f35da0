//! Formats points in time.

use std::time::{SystemTime, UNIX_EPOCH};

/// Formats a time as in RFC 3339, in UTC: `2026-02-28T23:59:59.999Z`.
#[must_use]
pub fn utc(time: SystemTime) -> String {
    const SECONDS_A_DAY: u64 = 86_400;
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, second) = (since.as_secs() / SECONDS_A_DAY, since.as_secs() % SECONDS_A_DAY);
    let (year, month, day) = date(days);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}Z",
        second / 3600,
        second / 60 % 60,
        second % 60,
        since.subsec_millis()
    )
}

/// Converts the number of days since 1970-01-01 to year, month and day in the Gregorian calendar. The
/// [calculation](https://howardhinnant.github.io/date_algorithms.html) uses years that begin in March, so
/// that the leap day is the last day of a year.
const fn date(days: u64) -> (u64, u64, u64) {
    const DAYS_TO_1970: u64 = 719_468;
    const ERA: u64 = 146_097; // 400 years
    let days = days + DAYS_TO_1970;
    let (era, day) = (days / ERA, days % ERA);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + (month <= 2) as u64, month, day)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn days_are_converted_to_dates() {
        for (days, expected) in [
            (0, (1970, 1, 1)),
            (58, (1970, 2, 28)),
            (59, (1970, 3, 1)),
            (11_016, (2000, 2, 29)),
            (20_780, (2026, 11, 23)),
        ] {
            assert_eq!(date(days), expected);
        }
    }

    /// Compares with SQLite's calendar.
    #[test]
    fn times_agree_with_sqlite() {
        let database = rusqlite::Connection::open_in_memory().unwrap();
        let mut query =
            database.prepare("SELECT strftime('%Y-%m-%dT%H:%M:%S.000Z', ?1, 'unixepoch')").unwrap();
        for seconds in (0..2_000_i64).map(|step| step * 3_654_321).chain([951_782_400, 4_107_542_399]) {
            let expected: String = query.query_row([seconds], |row| row.get(0)).unwrap();
            assert_eq!(utc(UNIX_EPOCH + Duration::from_secs(seconds.cast_unsigned())), expected);
        }
    }
}
