//! A line on standard error for each request.

use std::io::Write as _;
use std::time::Duration;

use serde_json::json;

use crate::server::options::LogFormat;

/// How much of an address is logged.
const MOST: usize = 2000;

/// A request that was answered.
pub(super) struct Entry<'a> {
    pub(super) method: &'a str,
    /// Path and parameters.
    pub(super) target: &'a str,
    pub(super) status: u16,
    pub(super) took: Duration,
    /// What went wrong, if something did.
    pub(super) problem: Option<&'a str>,
}

pub(super) fn write(format: LogFormat, entry: &Entry<'_>) {
    let Entry { method, target, status, took, problem } = *entry;
    // Control characters of a terminal cannot stand in an address, and a problem tells them escaped.
    let target: String = target.chars().take(MOST).flat_map(char::escape_debug).collect();
    let milliseconds = took.as_secs_f64() * 1000.0;
    let line = match format {
        LogFormat::None => return,
        LogFormat::Json => {
            let milliseconds = (milliseconds * 1000.0).round() / 1000.0;
            let mut line = json!({
                "time": now(),
                "method": method,
                "target": target,
                "status": status,
                "milliseconds": milliseconds,
            });
            if let Some(problem) = problem {
                line["problem"] = problem.into();
            }
            line.to_string()
        }
        LogFormat::Text => {
            let problem: String = problem.unwrap_or_default().chars().flat_map(char::escape_debug).collect();
            let problem = if problem.is_empty() { problem } else { format!("  {problem}") };
            format!("{status} {milliseconds:.1} ms  {method} {target}{problem}")
        }
    };
    // There is nowhere left to say that standard error cannot be written.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// The time as RFC 3339 has it, in UTC.
fn now() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let (days, seconds) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", since.subsec_millis())
}

/// The date of a day that is told by how many days after 1970-01-01 it is.
const fn date(days: u64) -> (u64, u64, u64) {
    // Years begin in March here, so that a leap day ends one: https://howardhinnant.github.io/date_algorithms.html
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (year + era * 400 + next, month, day)
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn days_have_their_dates() {
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
}
