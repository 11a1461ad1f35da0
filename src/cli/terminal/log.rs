//! What goes to standard error: lines for people, or JSON for programs.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::cli::render::text::{bounded, escaped_json, fit_to_show};

/// Whether lines are JSON.
static IS_JSON: AtomicBool = AtomicBool::new(false);

/// How much a line matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Info,
    Error,
}

impl Level {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Error => "error",
        }
    }
}

/// From now on, lines are JSON.
pub(crate) fn use_json() {
    IS_JSON.store(true, Ordering::Relaxed);
}

/// Whether lines are JSON.
pub(crate) fn is_json() -> bool {
    IS_JSON.load(Ordering::Relaxed)
}

/// Writes `text` to standard error, or, if lines are JSON, an object with `message` and the members of `fields` instead.
pub(crate) fn write(level: Level, text: &str, message: &str, fields: Value) {
    let line = if is_json() { line(SystemTime::now(), level, message, fields) } else { fit_to_show(text) };
    // There is nowhere left to say that standard error cannot be written.
    let _ = writeln!(io::stderr().lock(), "{line}");
}

fn line(time: SystemTime, level: Level, message: &str, fields: Value) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let object =
        json!({ "time": utc(since), "level": level.as_str(), "message": bounded(message), "fields": fields });
    escaped_json(&object.to_string()).into_owned()
}

/// A time since 1970 as RFC 3339 writes it: `2026-02-28T23:59:59.999Z`.
fn utc(since: Duration) -> String {
    const SECONDS_A_DAY: u64 = 86_400;
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

/// Year, month and day of a day counted from 1970-01-01, in the Gregorian calendar. Years begin in March here, so that the
/// day that only leap years have is their last.
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
    use super::*;

    #[test]
    fn a_line_for_programs() {
        let time = UNIX_EPOCH + Duration::from_millis(1_772_323_199_999);
        insta::assert_snapshot!(
            line(time, Level::Info, "reading \"a\"", json!({ "games": 12 })),
            @r#"{"time":"2026-02-28T23:59:59.999Z","level":"info","message":"reading \"a\"","fields":{"games":12}}"#
        );
    }

    /// SQLite knows the calendar too.
    #[test]
    fn times_agree_with_sqlite() {
        let database = rusqlite::Connection::open_in_memory().unwrap();
        let mut query =
            database.prepare("SELECT strftime('%Y-%m-%dT%H:%M:%S.000Z', ?1, 'unixepoch')").unwrap();
        for seconds in (0..2_000_i64).map(|step| step * 3_654_321).chain([951_782_400, 4_107_542_399]) {
            let expected: String = query.query_row([seconds], |row| row.get(0)).unwrap();
            assert_eq!(utc(Duration::from_secs(seconds.cast_unsigned())), expected);
        }
    }
}
