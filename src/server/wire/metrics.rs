//! Metrics in the format of Prometheus.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::server::pool::Pool;

/// The inclusive upper bounds of the histogram's buckets, in seconds.
const TIMES: [f64; 9] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 1.0, 10.0];

#[derive(Default)]
pub(in crate::server) struct Metrics {
    /// The number of answers, by the first digit of their status.
    answers: [AtomicU64; 6],
    times: [AtomicU64; TIMES.len()],
    microseconds: AtomicU64,
    /// Connections that were refused because the limit was reached.
    pub(super) refused: AtomicU64,
    /// Connections that were closed for new ones.
    pub(super) evicted: AtomicU64,
    /// Connections whose client read an answer too slowly.
    pub(super) slow_readers: AtomicU64,
    /// Requests whose head cannot be parsed.
    pub(super) unreadable: AtomicU64,
}

impl Metrics {
    pub(super) fn answered(&self, status: u16, took: Duration) {
        let class = usize::from(status / 100).min(self.answers.len() - 1);
        count(&self.answers[class]);
        let seconds = took.as_secs_f64();
        if let Some(at) = TIMES.iter().position(|&end| seconds <= end) {
            count(&self.times[at]);
        }
        let microseconds = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.microseconds.fetch_add(microseconds, Ordering::Relaxed);
    }

    pub(super) fn text(&self, connections: usize, log_dropped: u64, pools: &[Pool]) -> String {
        let mut text = String::new();
        self.write_answers(&mut text);
        let mut number = |name: &str, kind: &str, help: &str, number: u64| {
            head(&mut text, name, kind, help);
            let _ = writeln!(text, "{name} {number}");
        };
        number("pgndex_connections", "gauge", "Open connections.", connections as u64);
        let Self { refused, evicted, slow_readers, unreadable, .. } = self;
        for (name, help, count) in [
            ("connections_refused", "Connections refused because the limit was reached.", read(refused)),
            ("connections_closed", "Idle connections closed to admit new ones.", read(evicted)),
            ("slow_readers", "Connections closed because the client read too slowly.", read(slow_readers)),
            ("unreadable", "Requests with an unreadable header.", read(unreadable)),
            ("log_dropped", "Log lines dropped because the log was not read fast enough.", log_dropped),
        ] {
            number(&format!("pgndex_{name}_total"), "counter", help, count);
        }
        head(&mut text, "pgndex_waiting", "gauge", "Requests waiting for a thread, by thread pool.");
        for pool in pools {
            let _ = writeln!(text, "pgndex_waiting{{lane=\"{}\"}} {}", pool.name, pool.waiting());
        }
        let help = "Requests refused because the queue was full, by thread pool.";
        head(&mut text, "pgndex_refused_total", "counter", help);
        for pool in pools {
            let _ = writeln!(text, "pgndex_refused_total{{lane=\"{}\"}} {}", pool.name, pool.refused());
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
        let help = "Seconds from the request's header to the response's header.";
        head(text, "pgndex_answer_seconds", "histogram", help);
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

pub(super) fn count(number: &AtomicU64) {
    number.fetch_add(1, Ordering::Relaxed);
}

fn read(number: &AtomicU64) -> u64 {
    number.load(Ordering::Relaxed)
}
