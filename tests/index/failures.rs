//! A run that fails reports why and where, and leaves everything as it was.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pgndex::index::{Error, IndexOptions, Phase, Progress, index};
use pgndex::store;

use crate::support::*;

/// A directory with a PGN file.
struct Workspace {
    directory: tempfile::TempDir,
}

impl Workspace {
    fn new() -> Self {
        let directory = directory();
        fs::write(directory.path().join("in.pgn"), GAMES).expect("written");
        Self { directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Runs with an expected failure, and asserts that no file was added or removed.
    fn fail(&self, target: &str, source: &str, options: &IndexOptions) -> Error {
        let before = names(self.directory.path());
        let error = run(&self.path(target), &[self.path(source)], options).expect_err("fails");
        assert_eq!(names(self.directory.path()), before, "{error}");
        error
    }

    /// The message of an error without the path of the directory.
    fn message(&self, error: &Error) -> String {
        message(error)
            .replace(&format!("{}/", self.directory.path().display()), "")
            .replace(&self.directory.path().display().to_string(), "DIR")
    }
}

/// The header of a database of pgndex. `--overwrite` accepts it as a database.
fn old() -> Vec<u8> {
    let mut header = vec![0; 100];
    header[..16].copy_from_slice(b"SQLite format 3\0");
    header[68..72].copy_from_slice(&store::APPLICATION_ID.to_be_bytes());
    header
}

#[test]
fn files_without_games_are_not_an_error() {
    for text in ["", "\n", " \r\n\t\n\n", "\u{feff}", "% a comment\n", "; nothing here\n", "\0\0\0\0"] {
        let options = options();
        let place = Workspace::new();
        fs::write(place.path("empty.pgn"), text).unwrap();
        let summary = run(&place.path("out.db"), &[place.path("empty.pgn")], &options).unwrap();
        assert_sound(&place.path("out.db"), &summary);
        assert_eq!((summary.games, summary.problems.iter().count()), (0, 0), "{text:?}");
        let database = open(&place.path("out.db"));
        assert_eq!(number(&database, "SELECT count(*) FROM source WHERE indexed_at NOTNULL"), 1);
    }
    let results = Indexed::new("1-0\n0-1\n*\n");
    assert_eq!(column::<String>(&results.open(), "SELECT kind FROM problem"), ["no-game"]);
    let junk = Indexed::new("Dear Sir,\n\nplease find no games here.\n");
    assert_sound(&junk.database(), &junk.summary);
    assert_eq!(junk.summary.games, 0);
    assert_eq!(column::<String>(&junk.open(), "SELECT kind FROM problem"), ["outside-text", "no-game"]);
}

#[test]
fn without_any_source_there_is_no_database() {
    let place = Workspace::new();
    fs::create_dir(place.path("empty")).unwrap();
    fs::write(place.path("games.pgn.gz"), b"\x1f\x8b\x08\x00").unwrap();
    let options = options();
    let error = place.fail("out.db", "missing.pgn", &options);
    assert!(matches!(error, Error::NoSource(_)));
    assert_eq!(
        place.message(&error),
        "nothing to index: missing.pgn: no such file or directory; check the path"
    );
    let error = place.fail("out.db", "games.pgn.gz", &options);
    assert_eq!(
        place.message(&error),
        "nothing to index: games.pgn.gz: damaged near byte 4 of the file (byte 0 of the unpacked text): it ends too early. Download the file again, or create it again"
    );
    let error = place.fail("out.db", "empty", &options);
    assert!(place.message(&error).starts_with("nothing to index: no PGN file was found"));
    let nothing: [&Path; 0] = [];
    assert!(matches!(run(&place.path("out.db"), &nothing, &options), Err(Error::NoFile(_))));
}

#[test]
fn targets_that_cannot_be_written() {
    let place = Workspace::new();
    fs::create_dir(place.path("directory")).unwrap();
    let options = options();
    let error = place.fail("missing/out.db", "in.pgn", &options);
    assert_eq!(
        place.message(&error),
        "missing: this directory does not exist; create it, or choose another directory"
    );
    let error = place.fail("directory", "in.pgn", &options);
    assert_eq!(place.message(&error), "directory: a directory, not a database; give the name of a file");
    let error = place.fail("in.pgn/out.db", "in.pgn", &options);
    assert!(
        matches!(error, Error::Store(store::Error::File { kind: store::ErrorKind::Directory { .. }, .. })),
        "{error:?}"
    );
    assert!(!place.message(&error).contains("create it"), "{error}");
    if let Err(error) = fs::File::create("/proc/x") {
        let failure = run(Path::new("/proc/out.db"), &[place.path("in.pgn")], &options).unwrap_err();
        assert!(
            message(&failure).starts_with("/proc: cannot write into this directory; check its "),
            "{failure}: {error}"
        );
    }
}

#[test]
fn an_existing_target_is_replaced_only_on_request() {
    let options = options();
    let place = Workspace::new();
    fs::write(place.path("out.db"), old()).unwrap();
    let error = place.fail("out.db", "in.pgn", &options);
    assert_eq!(place.message(&error), "out.db: not an SQLite database; is this the right file?");
    assert_eq!(fs::read(place.path("out.db")).unwrap(), old());
    let options = IndexOptions { overwrite: true, ..options };
    // A failure with `--overwrite` leaves the existing file as it was.
    place.fail("out.db", "missing.pgn", &options);
    assert_eq!(fs::read(place.path("out.db")).unwrap(), old());
    let summary = run(&place.path("out.db"), &[place.path("in.pgn")], &options).unwrap();
    assert_sound(&place.path("out.db"), &summary);
    assert_eq!(names(place.directory.path()), ["in.pgn", "out.db"]);
}

#[test]
fn a_missing_directory_for_temporary_files_is_reported_before_the_import() {
    let place = Workspace::new();
    let options = IndexOptions { temp_dir: Some(place.path("missing")), ..options() };
    let progress = Progress::default();
    let error = index(&place.path("out.db"), &[place.path("in.pgn")], &options, &progress).unwrap_err();
    assert!(matches!(error, Error::Spill { .. }));
    assert!(
        place.message(&error).starts_with("missing: cannot use a temporary file here; no such file or directory; check the path, or choose another place for temporary files"),
        "{}", place.message(&error)
    );
    assert_eq!((progress.games(), progress.bytes()), (0, 0));
    assert_eq!(names(place.directory.path()), ["in.pgn"]);
    let options = IndexOptions { temp_dir: Some(place.path("in.pgn")), ..options };
    assert!(matches!(place.fail("out.db", "in.pgn", &options), Error::Spill { .. }));
}

#[test]
fn targets_with_special_names() {
    let place = Workspace::new();
    let options = options();
    for name in
        ["a b.db", "file:x.db?mode=memory", "it's \"quoted\".db", "100%.db", ":memory:", "größe.db", "-"]
    {
        let summary = run(&place.path(name), &[place.path("in.pgn")], &options)
            .unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert_eq!(names(place.directory.path()).len(), 2, "{name}");
        assert_eq!(summary.file_bytes, fs::metadata(place.path(name)).unwrap().len());
        fs::remove_file(place.path(name)).unwrap();
    }
}

#[test]
fn a_target_with_a_long_name() {
    let place = Workspace::new();
    let options = options();
    let longest = "x".repeat(227);
    let summary = run(&place.path(&longest), &[place.path("in.pgn")], &options).unwrap();
    assert_sound(&place.path(&longest), &summary);
    fs::remove_file(place.path(&longest)).unwrap();
    for length in [228, 240, 255, 300] {
        let error = place.fail(&"x".repeat(length), "in.pgn", &options);
        let message = place.message(&error).replace(&"x".repeat(length), "NAME");
        assert_eq!(message, "NAME: the name is too long for a database; the maximum is 227 bytes");
    }
}

/// SQLite deletes files with these names when it writes `x.db`.
#[test]
fn a_target_with_the_name_of_a_log() {
    let place = Workspace::new();
    for name in ["x.db-wal", "x.db-shm", "x.db-journal"] {
        let error = place.fail(name, "in.pgn", &options());
        assert!(place.message(&error).contains("choose another name"), "{}", place.message(&error));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_utf_8() {
    use std::os::unix::ffi::OsStrExt;
    let place = Workspace::new();
    let path = |bytes: &[u8]| place.directory.path().join(std::ffi::OsStr::from_bytes(bytes));
    fs::write(path(b"\xe9t\xe9.pgn"), GAMES).unwrap();
    let options = options();
    let target = path(b"\xe9t\xe9.db");
    let summary = run(&target, &[path(b"\xe9t\xe9.pgn")], &options).unwrap();
    assert_sound(&target, &summary);
    fs::remove_file(target).unwrap();
}

// In a separate process, because of its working directory.
#[test]
fn a_target_without_directory() {
    let place = Workspace::new();
    let output = child(place.directory.path(), &["x.db", "in.pgn"], "", 1).output().unwrap();
    assert!(text(&output).contains("indexed 53 games"), "{}", text(&output));
    assert_eq!(names(place.directory.path()), ["in.pgn", "x.db"]);
}

/// Indexes in a separate process, which runs this test program after a shell command.
fn child(directory: &Path, arguments: &[&str], before: &str, memory: u64) -> Command {
    let mut command = Command::new("bash");
    command
        .arg("-c")
        .arg(format!("{before}\nexec \"$0\" --exact index::failures::in_a_child --nocapture"))
        .arg(std::env::current_exe().expect("this executable"))
        .env("PGNDEX_TEST_CHILD", arguments.join(" "))
        .env("PGNDEX_TEST_MEMORY", memory.to_string())
        .current_dir(directory)
        .stdin(Stdio::null());
    command
}

fn text(output: &Output) -> String {
    [&output.stdout[..], &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned()).concat()
}

/// The body of the process that [`child`] starts. In an ordinary run of the tests, it does nothing.
#[test]
fn in_a_child() {
    let Ok(arguments) = std::env::var("PGNDEX_TEST_CHILD") else { return };
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let memory = std::env::var("PGNDEX_TEST_MEMORY").expect("set").parse().expect("a number");
    let options = IndexOptions { memory, overwrite: true, ..options() };
    match run(arguments[0].as_ref(), &arguments[1..], &options) {
        Ok(summary) => println!("indexed {} games", summary.games),
        Err(error) => {
            let full = matches!(error, Error::Store(store::Error::DiskFull { .. }) | Error::Spill { .. });
            println!("failed{}: {}", if full { ", no space" } else { "" }, message(&error));
        }
    }
}

/// Writes a file that gives a database of about 6 MB, and returns the size of the database.
fn large(place: &Workspace) -> u64 {
    fs::write(place.path("large.pgn"), GAMES.repeat(16)).expect("written");
    let summary = run(&place.path("size.db"), &[place.path("large.pgn")], &options()).expect("indexed");
    fs::remove_file(place.path("size.db")).expect("removed");
    summary.file_bytes
}

/// A limit on the file size is reported like a full disk. The process ignores the signal that the system sends.
#[test]
fn a_limit_on_the_size_of_files() {
    let place = Workspace::new();
    let kib = large(&place) / 1024;
    fs::write(place.path("x.db"), old()).unwrap();
    let before = names(place.directory.path());
    let mut failures = 0;
    for memory in [0, 64 * MIB] {
        for limit in [0, 1, 5, 64, 100, 401, 1001, kib / 3 + 1, kib / 2, kib - 100, kib - 1] {
            let before_it = format!("trap '' XFSZ; ulimit -f {limit}");
            let what = format!("{memory} bytes of memory, {limit} KiB of {kib}");
            let started = Instant::now();
            let output =
                child(place.directory.path(), &["x.db", "large.pgn"], &before_it, memory).output().unwrap();
            let text = text(&output);
            assert!(started.elapsed() < Duration::from_secs(20), "{what}");
            assert!(text.contains("failed, no space: "), "{what}: {text}");
            assert!(
                text.contains(place.directory.path().file_name().unwrap().to_str().unwrap())
                    || text.contains("x.db"),
                "{what}: {text}"
            );
            assert_eq!(names(place.directory.path()), before, "{what}");
            assert_eq!(fs::read(place.path("x.db")).unwrap(), old(), "{what}");
            failures += 1;
        }
    }
    assert_eq!(failures, 22);
}

/// A program that does not ignore the signal is killed by it: then the target is as it was, and the next run removes
/// the remaining files.
#[test]
fn killed_by_the_limit_on_the_size_of_files() {
    let place = Workspace::new();
    fs::write(place.path("large.pgn"), GAMES.repeat(40)).unwrap();
    fs::write(place.path("x.db"), old()).unwrap();
    let before = names(place.directory.path());
    let output = child(place.directory.path(), &["x.db", "large.pgn"], "ulimit -c 0; ulimit -f 2000", MIB)
        .output()
        .unwrap();
    assert!(!text(&output).contains("indexed"));
    assert_eq!(fs::read(place.path("x.db")).unwrap(), old());
    let output = child(place.directory.path(), &["x.db", "large.pgn"], "", MIB).output().unwrap();
    assert!(text(&output).contains("indexed 2120 games"), "{}", text(&output));
    assert_eq!(names(place.directory.path()), before);
}

#[test]
fn a_full_disk() {
    let place = Workspace::new();
    let size = large(&place);
    for fraction in [2, 10, 50, 200] {
        let name = format!("disk{fraction}");
        let Some(disk) = Mount::new(place.path(&name), &(size / fraction).to_string()) else { return };
        let options = options();
        for memory in [0, 64 * MIB] {
            let options = IndexOptions { memory, ..options.clone() };
            let error = run(&disk.0.join("x.db"), &[place.path("large.pgn")], &options).expect_err("fails");
            // Usually reported before the work begins; if the estimate is too low, when the disk is full.
            let full = matches!(
                error,
                Error::Space { .. } | Error::Store(store::Error::DiskFull { .. }) | Error::Spill { .. }
            );
            assert!(full, "{error:?}");
            assert!(message(&error).contains(&name), "{}", message(&error));
            assert_eq!(names(&disk.0), Vec::<String>::new());
            let options = IndexOptions { temp_dir: Some(disk.0.clone()), memory: 0, ..options };
            let spilled = run(&place.path("y.db"), &[place.path("large.pgn")], &options);
            let full = matches!(spilled, Err(Error::Spill { .. } | Error::Space { .. }));
            assert!(full || fraction < 5, "{spilled:?}");
            let _ = fs::remove_file(place.path("y.db"));
            assert_eq!(names(&disk.0), Vec::<String>::new());
        }
    }
}

#[test]
fn stopped_before_the_start() {
    let place = Workspace::new();
    let options = options();
    let progress = Progress::default();
    progress.stop();
    let result = index(&place.path("out.db"), &[place.path("in.pgn")], &options, &progress);
    assert!(matches!(result, Err(Error::Stopped)), "{result:?}");
    assert_eq!(names(place.directory.path()), ["in.pgn"]);
}

/// Stopped after delays of different length, in all phases of the run.
#[test]
fn stopped_at_any_moment() {
    let place = Workspace::new();
    fs::write(place.path("large.pgn"), GAMES.repeat(40)).unwrap();
    let mut phases = Vec::new();
    for round in 0..40 {
        let options = IndexOptions { memory: 0, chunk_size: 20_000, threads: 3, ..options() };
        let progress = Arc::new(Progress::default());
        let target = place.path("out.db");
        let (paths, shared) = ([place.path("large.pgn")], Arc::clone(&progress));
        let other = target.clone();
        let running = std::thread::spawn(move || index(&other, &paths, &options, &shared));
        // Half of the runs are stopped while games are read, however slow the machine is; the others at any time.
        while round % 2 == 0 && progress.games() < 50 * round && !running.is_finished() {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_millis(3 * (round % 2) * round));
        progress.stop();
        let (phase, stopped) = (progress.phase(), Instant::now());
        let result = running.join().expect("no panic");
        assert!(stopped.elapsed() < Duration::from_secs(20), "{phase:?}: {:?}", stopped.elapsed());
        match result {
            Err(Error::Stopped) => {
                phases.push(phase);
                assert_eq!(names(place.directory.path()), ["in.pgn", "large.pgn"], "{phase:?}");
            }
            Ok(summary) => {
                assert_sound(&target, &summary);
                fs::remove_file(&target).unwrap();
            }
            Err(error) => panic!("{phase:?}: {error:?}"),
        }
    }
    assert!(phases.contains(&Phase::Reading), "{phases:?}");
}

#[test]
fn two_runs_at_once_do_not_disturb_each_other() {
    let place = Workspace::new();
    fs::write(place.path("large.pgn"), GAMES.repeat(10)).unwrap();
    let results: Vec<_> = std::thread::scope(|scope| {
        let one = || run(&place.path("x.db"), &[place.path("large.pgn")], &options());
        let running: Vec<_> = (0..3).map(|_| scope.spawn(one)).collect();
        running.into_iter().map(|run| run.join().expect("no panic")).collect()
    });
    // A run that begins after another has finished finds nothing new.
    assert!(results.iter().flatten().any(|summary| !summary.added));
    for error in results.into_iter().filter_map(Result::err) {
        assert!(matches!(&error, Error::Store(error) if error.is_busy()), "{error:?}");
    }
    assert_eq!(number(&open(&place.path("x.db")), "SELECT count(*) FROM game"), 530);
    assert_eq!(names(place.directory.path()), ["in.pgn", "large.pgn", "x.db"]);
}

#[test]
fn a_source_that_grows_during_the_run() {
    let place = Workspace::new();
    fs::write(place.path("large.pgn"), GAMES.repeat(20)).unwrap();
    let path = place.path("large.pgn");
    let writing = std::thread::spawn(move || {
        let mut file = fs::OpenOptions::new().append(true).open(path).expect("opened");
        for _ in 0..200 {
            file.write_all(b"[Event \"more\"]\n\n1. e4 e5 *\n\n").expect("written");
            std::thread::sleep(Duration::from_micros(200));
        }
    });
    let summary = run(&place.path("out.db"), &[place.path("large.pgn")], &options()).unwrap();
    writing.join().unwrap();
    assert_sound(&place.path("out.db"), &summary);
}

#[test]
fn strict_runs_fail_at_any_problem() {
    let place = Workspace::new();
    fs::write(place.path("warning.pgn"), "[Event \"a\"]\n\n1. e4 hello *\n").unwrap();
    let options = IndexOptions { strict: true, ..options() };
    let error = place.fail("out.db", "warning.pgn", &options);
    assert!(matches!(error, Error::Strict { errors: 0, warnings: 1, .. }), "{error:?}");
    let summary = run(&place.path("out.db"), &[place.path("in.pgn")], &options).unwrap();
    assert_sound(&place.path("out.db"), &summary);
    fs::remove_file(place.path("out.db")).unwrap();
}
