//! `pgndex watch`: adds the games of new files in a directory.

use std::collections::{HashMap, HashSet};
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant, SystemTime};

use anyhow::Context as _;
use pgndex::index::{DatabaseSettings, Error, IndexOptions, Plan, Progress, Summary};
use pgndex::source::has_name_of_games;
use pgndex::store::{Database, FileId, WriterLock};

use crate::cli::args::WatchArgs;
use crate::cli::command::index::{first_error, status};
use crate::cli::error::naming_options;
use crate::cli::render::{Done, counted, printable, refuse_standard_output};
use crate::cli::report::Status;
use crate::cli::terminal::{
    Event, Level, Notifier, Watchdog, complain, display_run, log, note, stop_on_signal, stop_run,
};

/// Watches a directory until the command is stopped or, with `--once`, done.
///
/// # Errors
/// If an argument is invalid, the directory cannot be read, or the database cannot be read or written.
pub(crate) fn run(args: &WatchArgs) -> anyhow::Result<Status> {
    refuse_standard_output(&args.database)?;
    check_database(&args.database)?;
    let options = args.made_with.given(args.work.options())?;
    if let Some(directory) = options.temp_dir.clone()
        && let Err(source) = fs::metadata(&directory)
    {
        return Err(Error::Spill { directory, need: None, source }.into());
    }
    let notifier = Arc::new(Notifier::from_environment());
    let (stop, woken) = listen(&notifier)?;
    let watchdog = Watchdog::new(Arc::clone(&notifier));
    let mut watch = Watch {
        args,
        options,
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

/// Fails if the database cannot be read or, if there is none yet, cannot be created. A lock of another program
/// is not an error here: it matters only when games are added.
fn check_database(path: &Path) -> anyhow::Result<()> {
    let is_new = fs::metadata(path).map_or(true, |found| found.is_file() && found.len() == 0);
    let checked = match is_new {
        true => WriterLock::acquire(path).map(drop),
        false => Database::open_read_only(path).map(drop),
    };
    match checked {
        Err(error) if !error.is_busy() => Err(error.into()),
        _ => Ok(()),
    }
}

/// A request to stop the command. A signal makes this request.
#[derive(Debug, Default)]
struct Stop {
    is_requested: AtomicBool,
    /// The progress of the current addition.
    progress: Mutex<Weak<Progress>>,
}

impl Stop {
    fn is_requested(&self) -> bool {
        self.is_requested.load(Ordering::SeqCst)
    }

    fn request(&self) {
        self.is_requested.store(true, Ordering::SeqCst);
        let progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
        progress.iter().for_each(stop_run);
    }

    /// Creates a [`Progress`] for an addition. If a stop was requested, the addition stops at once.
    fn begin(&self) -> Arc<Progress> {
        let progress = Arc::new(Progress::default());
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(&progress);
        if self.is_requested() {
            progress.stop();
        }
        progress
    }
}

/// Listens for signals. The returned receiver gets a message at the first signal; a second signal ends the
/// process.
fn listen(notifier: &Arc<Notifier>) -> anyhow::Result<(Arc<Stop>, Receiver<()>)> {
    let (wake, woken) = sync_channel(1);
    let stop = Arc::new(Stop::default());
    let (shared_stop, notifier) = (Arc::clone(&stop), Arc::clone(notifier));
    stop_on_signal(move || {
        // The flag is set before the message is sent, because the receiver of the message then reads the
        // flag.
        shared_stop.request();
        notifier.notify("STOPPING=1");
        let _ = wake.try_send(()); // If the channel is full, it has a message already.
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
    /// The database file after the last addition; `None` before the first addition, and after the file was
    /// removed or replaced.
    file: Option<FileId>,
}

impl Watch<'_> {
    /// Scans the directory, and returns the files that are ready. Prints directories that have become unreadable.
    fn scan(&mut self) -> anyhow::Result<Vec<PathBuf>> {
        // If somebody removed the database, or replaced it with a copy, all files are read again: the copy
        // can have other games.
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
        let add = || {
            let made_with = DatabaseSettings::read(&self.args.database)?;
            let options = self.args.made_with.or(self.options.clone(), made_with);
            Plan::new(ready, &options, &progress).and_then(|plan| plan.run(&self.args.database, &progress))
        };
        match display_run(self.args.log.quiet, &progress, || self.watchdog.during(&progress, add)) {
            Ok(summary) => {
                self.report_summary(&summary);
                if status(&summary) == Status::Lossy {
                    self.status = Status::Lossy;
                }
            }
            Err(Error::NoSource(reason)) => {
                complain(&naming_options(&reason));
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

    /// With `--once`: whether to repeat the scan for files that have just changed. True at most once.
    fn repeats_scan(&mut self) -> bool {
        const LONGEST: u64 = 60;
        let is_first = !std::mem::replace(&mut self.has_waited, true);
        is_first && self.args.settle <= LONGEST && self.folder.settling > 0
    }

    /// With `--once`: prints how many files are left for the next run.
    fn note_settling(&self) {
        let files = self.folder.settling;
        if files > 0 && !self.args.log.quiet {
            let files = counted(files as u64, "file");
            let settle = counted(self.args.settle, "second");
            note(&format!("{files} changed less than {settle} ago (--settle); left for the next run"));
        }
    }

    fn report_summary(&self, summary: &Summary) {
        for source in summary.unreadable.iter().chain(&summary.damaged).chain(&summary.gameless) {
            complain(&naming_options(source));
        }
        first_error(summary, Some(&self.args.database), None).iter().for_each(|text| complain(text));
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

/// The data that shows whether a file is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileStamp {
    bytes: u64,
    changed: Option<SystemTime>,
}

impl FileStamp {
    fn of(metadata: &Metadata) -> Self {
        Self { bytes: metadata.len(), changed: metadata.modified().ok() }
    }

    /// Whether the last change is at least this old. False if the time of the change is unknown or in the
    /// future.
    fn is_older_than(self, age: Duration) -> bool {
        self.changed.and_then(|changed| changed.elapsed().ok()).is_some_and(|elapsed| elapsed >= age)
    }
}

#[derive(Debug)]
struct KnownFile {
    mark: FileStamp,
    /// The time of the first scan that found the file in this state.
    since: Instant,
    is_done: bool,
}

/// The known files of a directory.
#[derive(Debug, Default)]
struct Folder {
    seen: HashMap<PathBuf, KnownFile>,
    /// The number of new or changed files that the last scan left out, because they had changed too recently.
    settling: usize,
    /// Directories that could not be read in the last scan.
    unreadable: HashSet<PathBuf>,
}

/// The result of a scan.
#[derive(Debug)]
struct Scan {
    /// Files that are ready to be added, sorted by path.
    ready: Vec<PathBuf>,
    /// Unreadable directories, except those that were already unreadable in the previous scan.
    unreadable: Vec<(PathBuf, io::Error)>,
}

impl Folder {
    /// Scans a directory and its subdirectories for files with names of PGN files or archives. Ignores
    /// files and directories that are hidden or have temporary names.
    ///
    /// # Errors
    /// If the directory itself cannot be read.
    fn scan(&mut self, directory: &Path, settle: Duration) -> io::Result<Scan> {
        let (now, before) = (Instant::now(), std::mem::take(&mut self.seen));
        let mut directories = vec![fs::read_dir(directory)?];
        let (mut ready, mut unreadable) = (Vec::new(), Vec::new());
        let reported = std::mem::take(&mut self.unreadable);
        self.settling = 0;
        while let Some(entries) = directories.pop() {
            // An entry that cannot be read is ignored: its file has probably just been removed.
            for entry in entries.filter_map(Result::ok) {
                let path = entry.path();
                if is_temporary(&path) {
                    continue;
                }
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    match fs::read_dir(&path) {
                        Ok(entries) => directories.push(entries),
                        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                        Err(error) => {
                            self.unreadable.insert(path.clone());
                            if !reported.contains(&path) {
                                unreadable.push((path, error));
                            }
                        }
                    }
                    continue;
                }
                let Ok(metadata) = fs::metadata(&path) else { continue };
                if !metadata.is_file() || !has_name_of_games(&path) {
                    continue;
                }
                let mark = FileStamp::of(&metadata);
                let seen = match before.get(&path) {
                    Some(seen) if seen.mark == mark => KnownFile { mark, ..*seen },
                    _ => KnownFile { mark, since: now, is_done: false },
                };
                let has_stayed = now.duration_since(seen.since) >= settle || mark.is_older_than(settle);
                if !seen.is_done && mark.bytes > 0 {
                    if has_stayed {
                        ready.push(path.clone());
                    } else {
                        self.settling += 1;
                    }
                }
                self.seen.insert(path, seen);
            }
        }
        ready.sort();
        Ok(Scan { ready, unreadable })
    }

    /// Marks all files as not done, so that they are read again.
    fn read_again(&mut self) {
        self.seen.values_mut().for_each(|seen| seen.is_done = false);
    }

    /// Marks files as done. A file that changes later is no longer done.
    fn done(&mut self, paths: &[PathBuf]) {
        for path in paths {
            if let Some(seen) = self.seen.get_mut(path) {
                seen.is_done = true;
            }
        }
    }
}

/// Whether a file or directory is hidden, or has a temporary name.
fn is_temporary(path: &Path) -> bool {
    const ENDINGS: [&str; 4] = [".part", ".tmp", ".partial", ".crdownload"];
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    name.starts_with('.') || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn names(ready: &[PathBuf]) -> Vec<&str> {
        ready.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect()
    }

    #[test]
    fn ready_files_are_listed_until_done_or_changed() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path();
        fs::create_dir(place.join("below")).unwrap();
        for name in ["a.pgn", "below/b.pgn.zst", ".c.pgn", "d.pgn.part", "e.tmp", "f.txt"] {
            fs::write(place.join(name), "1. e4 *").unwrap();
        }
        fs::write(place.join("empty.pgn"), "").unwrap();
        let mut folder = Folder::default();
        assert_eq!(names(&folder.scan(place, HOUR).unwrap().ready), [""; 0], "the files are new");
        assert_eq!(folder.settling, 2);
        let ready = folder.scan(place, Duration::ZERO).unwrap().ready;
        assert_eq!(names(&ready), ["a.pgn", "b.pgn.zst"]);
        assert_eq!(folder.settling, 0);
        folder.done(&ready);
        assert_eq!(names(&folder.scan(place, Duration::ZERO).unwrap().ready), [""; 0]);
        fs::write(place.join("a.pgn"), "1. e4 e5 *").unwrap();
        fs::rename(place.join("d.pgn.part"), place.join("d.pgn")).unwrap();
        assert_eq!(names(&folder.scan(place, Duration::ZERO).unwrap().ready), ["a.pgn", "d.pgn"]);
    }

    #[test]
    fn an_old_file_is_ready_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.pgn");
        fs::write(&path, "1. e4 *").unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - HOUR).unwrap();
        let ready = Folder::default().scan(directory.path(), HOUR / 2).unwrap().ready;
        assert_eq!(names(&ready), ["a.pgn"]);
    }
}
