//! Output to standard error: lines for people, or JSON for programs.

use std::borrow::Cow;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime};

use pgndex::utc;
use serde::Serialize;

use crate::cli::render::{Done, bounded, escaped_json, sanitized};

/// Whether lines are JSON.
static IS_JSON: AtomicBool = AtomicBool::new(false);

/// The importance of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) enum Level {
    /// Information.
    Info,
    /// Something was lost or failed.
    Error,
}

/// What happened, with data for programs.
#[derive(Debug, Serialize)]
#[serde(tag = "event", content = "fields", rename_all = "lowercase")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) enum Event {
    /// Only a message.
    Note {},
    /// Progress of the search for sources.
    Looking {
        /// Number of files and directories examined so far.
        files_looked_at: u64,
        /// Bytes of text compared with the database so far.
        bytes_looked_at: u64,
    },
    /// Progress of the work.
    Progress {
        /// Bytes read or copied so far.
        bytes_done: u64,
        /// Total number of bytes; `null` if unknown.
        bytes_total: Option<u64>,
        /// Number of games so far; `null` in phases that do not count games.
        games: Option<u64>,
        /// Number of half-moves so far; `null` in phases that do not count games.
        plies: Option<u64>,
        /// Half-moves per second; `null` in phases that do not count games.
        plies_per_second: Option<u64>,
        /// Estimated remaining time in seconds; `null` if unknown.
        seconds_left: Option<u64>,
    },
    /// The command is done. The fields are those of its `--json` output. `watch` logs this for each addition,
    /// with the fields of `index`.
    Done(Done),
    /// The command failed.
    Failed {
        /// The causes of the error, one sentence each.
        causes: Vec<String>,
        /// The exit status.
        exit_status: u8,
    },
}

/// A line of the log.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(title = "A line of --log-format json"))]
struct Line<'l> {
    /// Time in UTC, such as `2026-02-28T23:59:59.999Z`.
    time: String,
    level: Level,
    /// For the events `looking` and `progress`, the current stage, such as `reading`. For the event `done`,
    /// the word `done`, but in `watch` a sentence. For all other events, a sentence.
    message: Cow<'l, str>,
    #[serde(flatten)]
    event: Event,
}

/// Makes all further lines JSON.
pub(crate) fn use_json() {
    IS_JSON.store(true, Ordering::Relaxed);
}

/// Whether lines are JSON.
pub(crate) fn is_json() -> bool {
    IS_JSON.load(Ordering::Relaxed)
}

/// Writes a line to standard error: `text` or, if lines are JSON, an object with `message` and the event.
pub(crate) fn write(level: Level, text: &str, message: &str, event: Event) {
    let line = self::text(level, text, message, event);
    // If standard error cannot be written, there is no other place for a message.
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// The line that [`write`] writes.
pub(crate) fn text(level: Level, text: &str, message: &str, event: Event) -> String {
    if is_json() { line(SystemTime::now(), level, message, event) } else { sanitized(text) }
}

/// Writes a note to standard error.
pub(crate) fn note(text: &str) {
    write(Level::Info, &format!("pgndex: note: {text}"), text, Event::Note {});
}

/// Prints that the command will stop soon.
pub(crate) fn note_stopping() {
    note(
        "stopping; a second signal ends the program immediately and can leave temporary files, which the next run removes",
    );
}

/// Writes an error message to standard error; as JSON, an event `note` with the level `error`.
pub(crate) fn complain(text: &str) {
    write(Level::Error, &format!("pgndex: error: {text}"), text, Event::Note {});
}

fn line(time: SystemTime, level: Level, message: &str, event: Event) -> String {
    let line = Line { time: utc(time), level, message: bounded(message), event };
    let object = serde_json::to_string(&line).expect("all keys of its maps are strings");
    escaped_json(&object).into_owned()
}

/// Writes the time since `start` to standard error. Writes nothing if `start` is `None`.
pub(crate) fn note_time(start: Option<Instant>) {
    if let Some(start) = start {
        note(&format!("took {:.2} ms", start.elapsed().as_secs_f64() * 1000.0));
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;
    use crate::cli::generated_file::compare_with_file;

    #[test]
    fn a_log_line_as_json() {
        let time = UNIX_EPOCH + Duration::from_millis(1_772_323_199_999);
        insta::assert_snapshot!(
            line(time, Level::Error, "no \"a\"", Event::Failed { causes: vec!["b".to_owned()], exit_status: 1 }),
            @r#"{"time":"2026-02-28T23:59:59.999Z","level":"error","message":"no \"a\"","event":"failed","fields":{"causes":["b"],"exit_status":1}}"#
        );
        insta::assert_snapshot!(
            line(time, Level::Info, "a", Event::Note {}),
            @r#"{"time":"2026-02-28T23:59:59.999Z","level":"info","message":"a","event":"note","fields":{}}"#
        );
    }

    #[test]
    fn the_published_schema_matches_the_log_lines() {
        let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
        let schema = settings.into_generator().into_root_schema_for::<Line<'_>>();
        compare_with_file(&format!("{:#}\n", schema.as_value()), "docs/log.schema.json");
    }
}
