//! `pgndex watch`: adds games of files that appear in a directory.

mod folder;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use anyhow::Context as _;
use pgndex::index::{DatabaseSettings, Error, IndexOptions, Plan, Progress, Summary};
use pgndex::store::{Database, FileId};

use crate::cli::args::WatchArgs;
use crate::cli::command::index::{first_error, snapshot, status};
use crate::cli::render::done::Done;
use crate::cli::render::number::counted;
use crate::cli::render::output_file::refuse_standard_output;
use crate::cli::render::text::printable;
use crate::cli::report::Status;
use crate::cli::terminal::log::{self, Event, Level, complain, note};
use crate::cli::terminal::notify::{Notifier, Watchdog};
use crate::cli::terminal::progress::Progress as Display;
use crate::cli::terminal::signal::{ignore_file_size_signal, stop_on_signal, stop_run};
use folder::{Folder, Scan};

/// Watches a directory until the command is stopped or, with `--once`, done.
///
/// # Errors
/// If an argument is invalid, the directory cannot be read, or the database cannot be read or written.
pub(crate) fn run(args: &WatchArgs) -> anyhow::Result<Status> {
    ignore_file_size_signal();
    refuse_standard_output(&args.database)?;
    check_database(&args.database)?;
    let notifier = Arc::new(Notifier::from_environment());
    let (stop, woken) = listen(&notifier)?;
    let watchdog = Watchdog::new(Arc::clone(&notifier));
    let mut watch = Watch {
        args,
        options: args.made_with.given(args.work.options())?,
        folder: Folder::default(),
        stop,
        watchdog,
        was_busy: false,
        status: Status::Done,
        has_waited: false,
        file: None,
    };
    let mut ready = watch.scan()?;
    notifier.notify("READY=1\nSTATUS=watching");
    if !args.once && !args.log.quiet {
        note(&format!("watching {}", printable(&args.directory.to_string_lossy())));
    }
    let interval = Duration::from_secs(args.interval);
    loop {
        if !ready.is_empty() && !watch.stop.is_requested() {
            notifier.notify(&format!("STATUS=adding {}", counted(ready.len() as u64, "file")));
            watch.add(&ready)?;
            notifier.notify("STATUS=watching");
        }
        if watch.stop.is_requested() {
            return Ok(Status::Done);
        }
        if args.once && !watch.repeats_scan() {
            watch.note_settling();
            return Ok(watch.status);
        }
        watch.watchdog.wait(&woken, if args.once { Duration::from_secs(args.settle) } else { interval });
        if watch.stop.is_requested() {
            return Ok(Status::Done);
        }
        ready = watch.scan()?;
    }
}

/// Fails if games cannot be added to the file at the database's path. A lock by another program is found only
/// when games are added.
fn check_database(path: &Path) -> anyhow::Result<()> {
    if fs::metadata(path).is_ok_and(|metadata| metadata.len() > 0)
        && let Err(error) = Database::open_read_only(path)
        && !error.is_busy()
    {
        return Err(error.into());
    }
    Ok(())
}

/// Stops the command on a signal.
#[derive(Debug, Default)]
struct Stop {
    is_asked: AtomicBool,
    /// The progress of the current addition.
    progress: Mutex<Weak<Progress>>,
}

impl Stop {
    fn is_requested(&self) -> bool {
        self.is_asked.load(Ordering::SeqCst)
    }

    fn request(&self) {
        self.is_asked.store(true, Ordering::SeqCst);
        let progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
        progress.iter().for_each(stop_run);
    }

    /// The progress for a new addition.
    fn begin(&self) -> Arc<Progress> {
        let progress = Arc::new(Progress::default());
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(&progress);
        if self.is_requested() {
            progress.stop();
        }
        progress
    }
}

/// Listens for signals. The returned receiver gets a message on each.
fn listen(notifier: &Arc<Notifier>) -> anyhow::Result<(Arc<Stop>, Receiver<()>)> {
    let (wake, woken) = sync_channel(1);
    let stop = Arc::new(Stop::default());
    let (asked, notifier) = (Arc::clone(&stop), Arc::clone(notifier));
    stop_on_signal(move || {
        // The flag is set before the message is sent.
        asked.request();
        notifier.notify("STOPPING=1");
        let _ = wake.try_send(()); // If it is full, there is a message already.
    })?;
    Ok((stop, woken))
}

struct Watch<'a> {
    args: &'a WatchArgs,
    options: IndexOptions,
    folder: Folder,
    stop: Arc<Stop>,
    watchdog: Watchdog,
    /// Whether it was reported that another program is writing the database.
    was_busy: bool,
    /// The status so far, as for `index`.
    status: Status,
    /// With `--once`: whether the scan was repeated for files that had just changed.
    has_waited: bool,
    /// The database to which games were last added.
    file: Option<FileId>,
}

impl Watch<'_> {
    /// The files that are ready.
    fn scan(&mut self) -> anyhow::Result<Vec<PathBuf>> {
        // Somebody removed the database or replaced it by a copy, which may have other games.
        if self.file.is_some() && self.file != FileId::from_path(&self.args.database).ok() {
            self.file = None;
            self.folder.read_again();
        }
        let directory = &self.args.directory;
        let Scan { ready, unreadable } =
            self.folder
                .scan(directory, Duration::from_secs(self.args.settle))
                .with_context(|| {
                    format!(
                        "{}: cannot read the directory to watch; name an existing directory, or add files with `pgndex index`",
                        directory.display()
                    )
                })?;
        for (path, error) in unreadable {
            complain(&format!(
                "{}: this directory cannot be read: {error}",
                printable(&path.to_string_lossy())
            ));
            self.status = Status::Lossy;
        }
        Ok(ready)
    }

    /// Adds files in one transaction. If another program is writing the database, the files stay ready; with
    /// `--once`, this is an error.
    fn add(&mut self, ready: &[PathBuf]) -> anyhow::Result<()> {
        let progress = self.stop.begin();
        let shown = Arc::clone(&progress);
        let display = Display::start(self.args.log.quiet, move || snapshot(&shown));
        let added = self.watchdog.during(&progress, || {
            let made_with = DatabaseSettings::read(&self.args.database)?;
            let options = self.args.made_with.or(self.options.clone(), made_with);
            Plan::new(ready, &options, &progress).and_then(|plan| plan.run(&self.args.database, &progress))
        });
        display.stop();
        match added {
            Ok(summary) => {
                self.report_summary(&summary);
                if status(&summary) == Status::Lossy {
                    self.status = Status::Lossy;
                }
            }
            Err(Error::NoSource(reason)) => {
                complain(&reason);
                self.status = Status::Lossy;
            }
            Err(Error::Stopped) => {
                note("stopped; the games that were being added will be added at the next start");
                return Ok(());
            }
            Err(Error::Store(error)) if error.is_busy() && !self.args.once => {
                if !self.was_busy {
                    note(&format!("{error}; watch tries again"));
                }
                self.was_busy = true;
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        }
        self.was_busy = false;
        self.file = FileId::from_path(&self.args.database).ok();
        self.folder.done(ready);
        Ok(())
    }

    /// With `--once`: whether to repeat the scan for files that have just changed.
    fn repeats_scan(&mut self) -> bool {
        const LONGEST: u64 = 60;
        let is_first = !std::mem::replace(&mut self.has_waited, true);
        is_first && self.args.settle <= LONGEST && self.folder.settling() > 0
    }

    /// With `--once`: prints what the scan leaves for the next run.
    fn note_settling(&self) {
        let files = self.folder.settling();
        if files > 0 && !self.args.log.quiet {
            let files = counted(files as u64, "file");
            let settle = counted(self.args.settle, "second");
            note(&format!("{files} changed less than {settle} ago (--settle); left for the next run"));
        }
    }

    fn report_summary(&self, summary: &Summary) {
        for source in summary.unreadable.iter().chain(&summary.damaged).chain(&summary.gameless) {
            complain(source);
        }
        first_error(summary, Some(&self.args.database)).iter().for_each(|text| complain(text));
        summary.rewritten.iter().chain(&summary.log_left).for_each(|text| note(text));
        if !self.args.log.quiet && (summary.games > 0 || summary.duplicates.skipped() > 0) {
            let duplicates = match summary.duplicates.skipped() {
                0 => String::new(),
                skipped => format!("; {} skipped as duplicates", counted(skipped, "game")),
            };
            let database = printable(&self.args.database.to_string_lossy());
            let text = format!("added {} to {database}{duplicates}", counted(summary.games, "game"));
            let done = Done::Index(Box::new(summary.object(Some(&self.args.database))));
            log::write(Level::Info, &format!("pgndex: note: {text}"), &text, Event::Done(done));
        }
    }
}
