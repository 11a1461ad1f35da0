//! Displays the progress of a run: a bar on a terminal, or occasional lines in a log.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pgndex::index::{Phase, Progress};
use pgndex::store::is_waiting;

use crate::cli::environment;
use crate::cli::render::{bytes, counted, duration, rough};
use crate::cli::terminal::{Event, Level, log};

/// The phase in which a file is copied; it has no count of games.
pub(crate) const COPYING: &str = "copying";
/// The phase of a repair; it has no counts.
pub(crate) const REPAIRING: &str = "repairing";
/// The phase in which the command waits for a lock of the database; it has no counts.
pub(crate) const WAITING: &str = "waiting for another program, which is using the database";

/// Whether a phase has counts to show.
fn has_counts(phase: &str) -> bool {
    phase != REPAIRING && phase != WAITING
}

/// The progress of a run at a moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Snapshot {
    /// Bytes read, copied or written so far; during the search for sources, bytes of text compared so far.
    pub(crate) bytes_done: u64,
    /// Bytes to read or copy in total; 0 if unknown, for example for standard input.
    pub(crate) bytes_total: u64,
    /// Number of games so far.
    pub(crate) games: u64,
    /// Number of half-moves so far.
    pub(crate) plies: u64,
    /// Files and directories examined so far; `None` except during the search for sources.
    pub(crate) files: Option<u64>,
    /// The current activity: `reading`, `sorting` …
    pub(crate) phase: &'static str,
}

/// Displays progress on standard error while work runs. If the log is JSON, writes an object every 10
/// seconds. If the log is text, draws a bar on a terminal; elsewhere, writes a line after 2 seconds and then
/// every 5 seconds. Displays nothing if `quiet` is true or the variable `PGNDEX_NO_PROGRESS` is on.
pub(crate) fn display<T>(quiet: bool, snapshot: impl Fn() -> Snapshot + Sync, work: impl FnOnce() -> T) -> T {
    let (mut work, mut result) = (Some(work), None);
    display_during(quiet, &snapshot, &mut || result = work.take().map(|work| work()));
    result.expect("the work was done once")
}

/// Like [`display`], but not generic, so it is compiled only once.
fn display_during(quiet: bool, snapshot: &(dyn Fn() -> Snapshot + Sync), work: &mut dyn FnMut()) {
    let seconds = Duration::from_secs;
    if quiet || environment::is_on(environment::NO_PROGRESS) {
        work();
    } else if log::is_json() {
        let mut write = |now: &Snapshot, rates: &Rates| {
            log::write(Level::Info, now.phase, now.phase, event(now, rates));
        };
        run(seconds(10), seconds(10), snapshot, &mut write, work);
    } else if io::stderr().is_terminal() {
        // The bar is removed from the terminal when it is dropped.
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let mut draw = |now: &Snapshot, rates: &Rates| draw(&bar, now, rates);
        run(Duration::ZERO, Duration::from_millis(100), snapshot, &mut draw, work);
    } else {
        let mut write = |now: &Snapshot, rates: &Rates| {
            // If a log cannot be written, the work continues.
            let _ = writeln!(io::stderr(), "pgndex: {}", line(now, rates));
        };
        run(seconds(2), seconds(5), snapshot, &mut write, work);
    }
}

/// Displays the progress of `work`, which updates `progress`.
pub(crate) fn display_run<T>(quiet: bool, progress: &Progress, work: impl FnOnce() -> T) -> T {
    display(quiet, || snapshot(progress), work)
}

fn snapshot(progress: &Progress) -> Snapshot {
    let is_looking = progress.phase() == Phase::Looking;
    if is_waiting() {
        return Snapshot { phase: WAITING, ..Snapshot::default() };
    }
    // A file can have grown since the run began.
    let grown = |total: u64| if total > 0 { total.max(progress.bytes()) } else { 0 };
    Snapshot {
        bytes_done: if is_looking { progress.bytes_looked_at() } else { progress.bytes() },
        files: is_looking.then(|| progress.entries()),
        bytes_total: grown(progress.total_bytes()),
        games: progress.games(),
        plies: progress.plies(),
        phase: progress.phase().as_str(),
    }
}

/// Calls `work`. Meanwhile, a separate thread passes the result of `snapshot` to `show`: first after the time
/// `first`, then at intervals of `every`. When `work` is done, `show` is called no more.
fn run(
    first: Duration,
    every: Duration,
    snapshot: &(dyn Fn() -> Snapshot + Sync),
    show: &mut (dyn FnMut(&Snapshot, &Rates) + Send),
    work: &mut dyn FnMut(),
) {
    let (stop, stopped) = sync_channel::<()>(0);
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("progress".into()).spawn_scoped(scope, move || {
            let mut meter = Meter::new(snapshot(), Instant::now());
            let mut wait = first;
            while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                let now = snapshot();
                show(&now, &meter.rates(&now, Instant::now()));
                wait = every;
            }
        });
        work();
        // Wakes the thread, which then ends.
        drop(stop);
        // If the thread could not be started, nothing was displayed. A panic of the thread is ignored: a
        // display must not make the command fail.
        let _ = thread.map(|thread| thread.join());
    });
}

/// The first snapshot of a phase and its time, from which the speed of the phase is computed.
#[derive(Debug)]
struct Meter {
    first: Snapshot,
    began: Instant,
}

/// The numbers of games and half-moves per second in a phase, and the estimated remaining time of the phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Rates {
    games: f64,
    plies: f64,
    left: Option<Duration>,
}

impl Meter {
    fn new(first: Snapshot, began: Instant) -> Self {
        Self { first, began }
    }

    /// The rates since the phase began. If `snapshot` is of a new phase, this phase begins now.
    fn rates(&mut self, snapshot: &Snapshot, now: Instant) -> Rates {
        if snapshot.phase != self.first.phase {
            *self = Self::new(*snapshot, now);
        }
        let seconds = now.duration_since(self.began).as_secs_f64();
        let grown = |now: u64, first: u64| now.saturating_sub(first) as f64;
        let per_second = |grown: f64| if seconds > 0.0 { grown / seconds } else { 0.0 };
        let speed = per_second(grown(snapshot.bytes_done, self.first.bytes_done));
        let left = grown(snapshot.bytes_total, snapshot.bytes_done);
        Rates {
            games: per_second(grown(snapshot.games, self.first.games)),
            plies: per_second(grown(snapshot.plies, self.first.plies)),
            left: Duration::try_from_secs_f64(left / speed).ok().filter(|_| snapshot.bytes_total > 0),
        }
    }
}

/// Counts, speed and remaining time: `41,000 games, 12.3 k games/s, 1.05 M plies/s, 1 min 32 s left`.
fn describe(snapshot: &Snapshot, rates: &Rates) -> String {
    if let Some(files) = snapshot.files {
        let files = format!("{} examined", counted(files, "file"));
        return match snapshot.bytes_done {
            0 => files,
            compared => format!("{files}, {} compared", bytes(compared)),
        };
    }
    if !has_counts(snapshot.phase) {
        return String::new();
    }
    let mut text = if snapshot.phase == COPYING { String::new() } else { counted(snapshot.games, "game") };
    if rates.plies > 0.0 {
        text += &format!(", {} games/s, {} plies/s", rough(rates.games), rough(rates.plies));
    }
    if let Some(left) = rates.left {
        // Tenths of a second would only flicker.
        let whole = Duration::from_secs(left.as_secs_f64().round() as u64);
        let left =
            if whole < Duration::from_secs(60) { format!("{} s", whole.as_secs()) } else { duration(whole) };
        text += if text.is_empty() { "" } else { ", " };
        text += &format!("{left} left");
    }
    text
}

/// The progress as a line of a log.
fn line(snapshot: &Snapshot, rates: &Rates) -> String {
    let described = describe(snapshot, rates);
    if !has_counts(snapshot.phase) {
        return snapshot.phase.to_owned();
    }
    if snapshot.files.is_some() {
        return format!("{}: {described}", snapshot.phase);
    }
    let mut text = format!("{}: {}", snapshot.phase, bytes(snapshot.bytes_done));
    if snapshot.bytes_total > 0 {
        let percent = snapshot.bytes_done as f64 * 100.0 / snapshot.bytes_total as f64;
        text += &format!(" of {} ({percent:.0} %)", bytes(snapshot.bytes_total));
    }
    text + if described.is_empty() { "" } else { ", " } + &described
}

/// The progress as an event of a log in JSON.
fn event(snapshot: &Snapshot, rates: &Rates) -> Event {
    if let Some(files_looked_at) = snapshot.files {
        return Event::Looking { files_looked_at, bytes_looked_at: snapshot.bytes_done };
    }
    let has_games = has_counts(snapshot.phase) && snapshot.phase != COPYING;
    let counted = |number: u64| has_games.then_some(number);
    Event::Progress {
        bytes_done: snapshot.bytes_done,
        bytes_total: Some(snapshot.bytes_total).filter(|&total| total > 0),
        games: counted(snapshot.games),
        plies: counted(snapshot.plies),
        plies_per_second: counted(rates.plies.round() as u64),
        seconds_left: rates.left.map(|left| left.as_secs()),
    }
}

/// The templates of a bar for a phase without counts, for an input of unknown size and for an input of known
/// size.
const TEMPLATES: [&str; 3] = [
    "{prefix}",
    "{prefix} {binary_bytes}  {wide_msg}",
    "{prefix} {bar:25} {percent:>3} %  {binary_bytes} of {binary_total_bytes}  {wide_msg}",
];

fn style(phase: &str, is_total_known: bool) -> ProgressStyle {
    let template = if has_counts(phase) { 1 + usize::from(is_total_known) } else { 0 };
    let style = ProgressStyle::with_template(TEMPLATES[template]);
    style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─")
}

/// Draws the progress as a bar on a terminal.
fn draw(bar: &ProgressBar, snapshot: &Snapshot, rates: &Rates) {
    let total = Some(snapshot.bytes_total).filter(|&total| total > 0);
    if bar.prefix() != snapshot.phase || bar.length() != total {
        bar.set_style(style(snapshot.phase, total.is_some()));
        bar.set_prefix(snapshot.phase);
        match total {
            Some(total) => bar.set_length(total),
            None => bar.unset_length(),
        }
    }
    bar.set_message(describe(snapshot, rates));
    bar.set_position(snapshot.bytes_done);
    bar.tick();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    const HALF: Snapshot = Snapshot {
        bytes_done: 50 << 20,
        bytes_total: 200 << 20,
        games: 41_000,
        plies: 3_280_000,
        files: None,
        phase: "reading",
    };

    fn after(seconds: u64, snapshot: &Snapshot) -> Rates {
        let began = Instant::now();
        let first = Snapshot { phase: snapshot.phase, ..Snapshot::default() };
        Meter::new(first, began).rates(snapshot, began + Duration::from_secs(seconds))
    }

    #[test]
    fn a_log_line_has_share_speed_and_time_left() {
        let unknown = Snapshot { bytes_total: 0, ..HALF };
        let looking = Snapshot {
            files: Some(4321),
            bytes_done: 1 << 20,
            phase: "looking for sources",
            ..Snapshot::default()
        };
        let lines = [
            line(&HALF, &after(30, &HALF)),
            line(&unknown, &after(30, &unknown)),
            line(&Snapshot { phase: "sorting", ..HALF }, &Rates::default()),
            line(&looking, &after(30, &looking)),
            line(&Snapshot { bytes_done: 0, phase: COPYING, ..HALF }, &Rates::default()),
            line(&Snapshot { phase: REPAIRING, ..HALF }, &Rates::default()),
        ];
        insta::assert_snapshot!(lines.join("\n"), @"
        reading: 50.0 MiB of 200 MiB (25 %), 41,000 games, 1,367 games/s, 109 k plies/s, 1 min 30 s left
        reading: 50.0 MiB, 41,000 games, 1,367 games/s, 109 k plies/s
        sorting: 50.0 MiB of 200 MiB (25 %), 41,000 games
        looking for sources: 4,321 files examined, 1.00 MiB compared
        copying: 0 B of 200 MiB (0 %)
        repairing
        ");
    }

    #[test]
    fn an_event_has_the_same_values_for_programs() {
        let event_text = |snapshot| serde_json::to_string(&event(snapshot, &after(30, snapshot))).unwrap();
        insta::assert_snapshot!(event_text(&HALF), @r#"
        {"event":"progress","fields":{"bytes_done":52428800,"bytes_total":209715200,"games":41000,"plies":3280000,"plies_per_second":109333,"seconds_left":90}}
        "#);
        insta::assert_snapshot!(event_text(&Snapshot { bytes_total: 0, ..HALF }), @r#"
        {"event":"progress","fields":{"bytes_done":52428800,"bytes_total":null,"games":41000,"plies":3280000,"plies_per_second":109333,"seconds_left":null}}
        "#);
        insta::assert_snapshot!(event_text(&Snapshot { phase: COPYING, ..HALF }), @r#"
        {"event":"progress","fields":{"bytes_done":52428800,"bytes_total":209715200,"games":null,"plies":null,"plies_per_second":null,"seconds_left":90}}
        "#);
        insta::assert_snapshot!(event_text(&Snapshot { phase: REPAIRING, bytes_total: 0, ..HALF }), @r#"
        {"event":"progress","fields":{"bytes_done":52428800,"bytes_total":null,"games":null,"plies":null,"plies_per_second":null,"seconds_left":null}}
        "#);
        let looking = Snapshot { files: Some(7), bytes_done: 9, ..Snapshot::default() };
        insta::assert_snapshot!(event_text(&looking), @r#"{"event":"looking","fields":{"files_looked_at":7,"bytes_looked_at":9}}"#);
    }

    #[test]
    fn rates_restart_with_each_phase() {
        let began = Instant::now();
        let mut meter = Meter::new(Snapshot { phase: "reading", ..Snapshot::default() }, began);
        let sorting = Snapshot { phase: "sorting", bytes_done: 0, ..HALF };
        meter.rates(&sorting, began + Duration::from_secs(10));
        let later = Snapshot { bytes_done: 100 << 20, ..sorting };
        let rates = meter.rates(&later, began + Duration::from_secs(20));
        assert_eq!(rates, Rates { games: 0.0, plies: 0.0, left: Some(Duration::from_secs(10)) });
    }

    #[test]
    fn no_progress_causes_no_division_by_zero() {
        assert_eq!(after(0, &HALF).left, None);
        assert_eq!(describe(&Snapshot::default(), &after(5, &Snapshot::default())), "0 games");
    }

    #[test]
    fn progress_stops_at_once() {
        let shown = AtomicUsize::new(0);
        let mut show = |_: &Snapshot, _: &Rates| {
            shown.fetch_add(1, Ordering::Relaxed);
        };
        let hour = Duration::from_secs(3600);
        let mut began = Instant::now();
        run(Duration::ZERO, hour, &|| HALF, &mut show, &mut || {
            while shown.load(Ordering::Relaxed) == 0 {
                thread::yield_now();
            }
            began = Instant::now();
        });
        assert!(began.elapsed() < Duration::from_millis(50), "{:?}", began.elapsed());
        assert_eq!(shown.into_inner(), 1);
    }

    #[test]
    fn the_templates_are_valid_and_the_bar_follows() {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        for snapshot in [HALF, Snapshot { bytes_total: 0, phase: "sorting", ..HALF }] {
            draw(&bar, &snapshot, &after(30, &snapshot));
            assert_eq!((bar.prefix().as_str(), bar.position()), (snapshot.phase, 50 << 20));
        }
        assert_eq!(bar.length(), None);
        for template in TEMPLATES {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }

    #[test]
    fn quiet_progress_prints_nothing() {
        display(true, || unreachable!("nobody asks"), || ());
    }
}
