//! The access log on standard error: a line per request, and one more if its answer was cut off.
//!
//! A separate thread writes the lines, so that a slow reader of the log does not delay answers.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};
use std::{io, thread};

use serde_json::json;

use crate::channel::{Receiver, Sender, bounded};
use crate::server::options::{Error, LogFormat};
use crate::utc::utc;

/// The maximum number of logged characters of a method.
const METHOD: usize = 20;
/// The maximum number of logged characters of a URL or a problem.
const TARGET: usize = 2000;
/// The maximum number of queued lines.
const WAITING: usize = 4096;
/// The maximum time that the server waits for the last lines when it stops.
const END: Duration = Duration::from_millis(300);

/// A request to log.
pub(super) struct Entry<'a> {
    pub(super) method: &'a str,
    /// Path and parameters.
    pub(super) target: &'a str,
    pub(super) status: u16,
    pub(super) took: Duration,
    /// The problem, if there was one.
    pub(super) problem: Option<&'a str>,
}

pub(super) struct Log {
    format: LogFormat,
    lines: Sender<String>,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    written: AtomicU64,
    queued: AtomicU64,
    dropped: AtomicU64,
}

impl Log {
    /// Starts the writing thread, unless the log is switched off.
    pub(super) fn start(format: LogFormat) -> Result<Self, Error> {
        let (lines, receiver) = bounded(WAITING);
        let counts = Arc::<Counts>::default();
        let log = Self { format, lines, counts: Arc::clone(&counts) };
        if format != LogFormat::None {
            let writer = move || write_lines(&receiver, format, &counts, io::stderr());
            thread::Builder::new().name("log".into()).spawn(writer).map_err(Error::Thread)?;
        }
        Ok(log)
    }

    /// Passes a line to the writing thread, or drops it if too many are queued.
    pub(super) fn write(&self, entry: &Entry<'_>) {
        if self.format == LogFormat::None {
            return;
        }
        let counted = match self.lines.try_send(line(self.format, entry)) {
            Ok(()) => &self.counts.queued,
            Err(_) => &self.counts.dropped,
        };
        counted.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of dropped lines.
    pub(super) fn dropped(&self) -> u64 {
        self.counts.dropped.load(Ordering::Relaxed)
    }

    /// Waits until the queued lines are written, but only for a short time.
    pub(super) fn finish(&self) {
        let end = Instant::now() + END;
        let is_written =
            || self.counts.written.load(Ordering::Relaxed) >= self.counts.queued.load(Ordering::Relaxed);
        while !is_written() && Instant::now() < end {
            thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Writes lines as they arrive. If lines were dropped since the last report, the next line is followed by a
/// report of their number.
fn write_lines(lines: &Receiver<String>, format: LogFormat, counts: &Counts, mut out: impl io::Write) {
    let mut known = 0;
    for mut line in lines.iter() {
        let dropped = counts.dropped.load(Ordering::Relaxed);
        if dropped > known {
            let new = dropped - known;
            let problem = format!("{new} log lines were dropped because the log was not read fast enough");
            let _ = match format {
                LogFormat::Json => {
                    write!(line, "\n{}", json!({ "time": utc(SystemTime::now()), "problem": problem }))
                }
                LogFormat::Text | LogFormat::None => write!(line, "\n{problem}"),
            };
            known = dropped;
        }
        line.push('\n');
        let _ = out.write_all(line.as_bytes()); // Without standard error, nothing can be reported.
        counts.written.fetch_add(1, Ordering::Relaxed);
    }
}

/// The first `most` characters of a text, with backslashes and unprintable characters escaped.
fn shown(text: &str, most: usize) -> String {
    let mut shown = String::new();
    for letter in text.chars().take(most) {
        match letter {
            '"' | '\'' => shown.push(letter),
            _ => shown.extend(letter.escape_debug()),
        }
    }
    shown
}

fn line(format: LogFormat, entry: &Entry<'_>) -> String {
    let Entry { status, took, problem, .. } = *entry;
    let (method, target) = (shown(entry.method, METHOD), shown(entry.target, TARGET));
    let milliseconds = took.as_secs_f64() * 1000.0;
    if format == LogFormat::Json {
        let milliseconds = (milliseconds * 1000.0).round() / 1000.0;
        let mut line = json!({
            "time": utc(SystemTime::now()),
            "method": method,
            "target": target,
            "status": status,
            "milliseconds": milliseconds,
        });
        if let Some(problem) = problem {
            line["problem"] = problem.chars().take(TARGET).collect::<String>().into();
        }
        return line.to_string();
    }
    let problem = problem.map_or_else(String::new, |problem| format!("  {}", shown(problem, TARGET)));
    format!("{status} {milliseconds:.1} ms  {method} {target}{problem}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An output that accepts nothing until it is released.
    struct Blocked(Receiver<()>, Sender<String>);

    impl io::Write for Blocked {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            let _ = self.1.send(String::from_utf8_lossy(bytes).into_owned());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn control_characters_are_escaped_and_quotes_are_not() {
        assert_eq!(shown("it's \"x\"\n\u{1b}[1m", 99), "it's \"x\"\\n\\u{1b}[1m");
    }

    #[test]
    fn unread_lines_are_dropped_and_counted() {
        let (lines, receiver) = bounded(WAITING);
        let counts = Arc::<Counts>::default();
        let log = Log { format: LogFormat::Text, lines, counts: Arc::clone(&counts) };
        let (go, blocked) = bounded(WAITING);
        let (written, seen) = crate::channel::unbounded();
        thread::spawn(move || write_lines(&receiver, LogFormat::Text, &counts, Blocked(blocked, written)));
        let long = "x".repeat(100_000);
        let entry =
            Entry { method: &long, target: &long, status: 200, took: Duration::ZERO, problem: Some(&long) };
        (0..WAITING + 100).for_each(|_| log.write(&entry));
        assert!((99..=100).contains(&log.dropped()), "{}", log.dropped());
        drop(go);
        log.finish();
        let first = seen.iter().next().expect("a line");
        assert!(first.len() < 5000, "{}", first.len());
        assert!(seen.iter().take(2).any(|line| line.contains("log lines were dropped")));
    }
}
