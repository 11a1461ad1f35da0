//! Metrics in the format of Prometheus.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::server::pool::Pool;

/// Upper bounds of the histogram's buckets, in seconds.
const TIMES: [f64; 9] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 1.0, 10.0];

#[derive(Default)]
pub(in crate::server) struct Metrics {
    /// Answers by the first digit of their status.
    answers: [AtomicU64; 6],
    times: [AtomicU64; TIMES.len()],
    microseconds: AtomicU64,
    turned_away: AtomicU64,
    made_room: AtomicU64,
    too_slow: AtomicU64,
    unreadable: AtomicU64,
}

impl Metrics {
    pub(super) fn answered(&self, status: u16, took: Duration) {
        let class = usize::from(status / 100).min(self.answers.len() - 1);
        self.answers[class].fetch_add(1, Ordering::Relaxed);
        let seconds = took.as_secs_f64();
        if let Some(at) = TIMES.iter().position(|&end| seconds <= end) {
            self.times[at].fetch_add(1, Ordering::Relaxed);
        }
        let microseconds = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.microseconds.fetch_add(microseconds, Ordering::Relaxed);
    }

    /// Counts a connection that was refused because the limit was reached.
    pub(super) fn connection_refused(&self) {
        self.turned_away.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a connection that was closed for a new one.
    pub(super) fn connection_evicted(&self) {
        self.made_room.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a connection whose client read an answer too slowly.
    pub(super) fn too_slow(&self) {
        self.too_slow.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a request whose head cannot be parsed.
    pub(super) fn unreadable(&self) {
        self.unreadable.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn text<'p>(
        &self,
        connections: usize,
        log_dropped: u64,
        pools: impl Iterator<Item = &'p Pool>,
    ) -> String {
        let mut text = String::new();
        self.write_answers(&mut text);
        head(&mut text, "pgndex_connections", "gauge", "Open connections.");
        let _ = writeln!(text, "pgndex_connections {connections}");
        for (name, help, number) in [
            (
                "pgndex_connections_refused_total",
                "Connections refused because the limit was reached.",
                &self.turned_away,
            ),
            (
                "pgndex_connections_closed_total",
                "Idle connections closed to admit new ones.",
                &self.made_room,
            ),
            (
                "pgndex_slow_readers_total",
                "Connections closed because the client read too slowly.",
                &self.too_slow,
            ),
            ("pgndex_unreadable_total", "Requests with an unreadable header.", &self.unreadable),
        ] {
            head(&mut text, name, "counter", help);
            let _ = writeln!(text, "{name} {}", read(number));
        }
        head(
            &mut text,
            "pgndex_log_dropped_total",
            "counter",
            "Log lines dropped because the log was not read fast enough.",
        );
        let _ = writeln!(text, "pgndex_log_dropped_total {log_dropped}");
        let pools = Vec::from_iter(pools);
        head(&mut text, "pgndex_waiting", "gauge", "Requests waiting for a thread, by thread pool.");
        for pool in &pools {
            let _ = writeln!(text, "pgndex_waiting{{lane=\"{}\"}} {}", pool.name(), pool.waiting());
        }
        head(
            &mut text,
            "pgndex_refused_total",
            "counter",
            "Requests refused because the queue was full, by thread pool.",
        );
        for pool in &pools {
            let _ = writeln!(text, "pgndex_refused_total{{lane=\"{}\"}} {}", pool.name(), pool.refused());
        }
        text
    }

    /// Writes the counts of answers, and the histogram of their times.
    fn write_answers(&self, text: &mut String) {
        head(text, "pgndex_answers_total", "counter", "Responses by status class.");
        for (class, count) in self.answers.iter().enumerate().skip(1) {
            let _ = writeln!(text, "pgndex_answers_total{{class=\"{class}xx\"}} {}", read(count));
        }
        let all: u64 = self.answers.iter().map(read).sum();
        head(
            text,
            "pgndex_answer_seconds",
            "histogram",
            "Seconds from the request's header to the response's header.",
        );
        let mut sum = 0;
        for (end, count) in TIMES.iter().zip(&self.times) {
            sum += read(count);
            let _ = writeln!(text, "pgndex_answer_seconds_bucket{{le=\"{end}\"}} {sum}");
        }
        let seconds = read(&self.microseconds) as f64 / 1e6;
        let _ = writeln!(
            text,
            "pgndex_answer_seconds_bucket{{le=\"+Inf\"}} {all}\npgndex_answer_seconds_sum {seconds}\npgndex_answer_seconds_count {all}"
        );
    }
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn read(number: &AtomicU64) -> u64 {
    number.load(Ordering::Relaxed)
}
