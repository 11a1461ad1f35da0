//! Programs and data that tests need, but that are not part of the project. The data is in `../shared`.
//!
//! If something is missing, the test prints a message and passes. With the environment variable `CI`, the test fails
//! instead, because `.ci/run` installs the programs. If the folder `../shared` does not exist, tests that need it are
//! skipped in CI too.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// Whether a test that would be skipped fails instead, given the value of the variable `CI`.
pub(crate) fn is_ci(value: Option<&str>) -> bool {
    !matches!(value, None | Some("" | "0" | "false"))
}

/// Reports that a test, or a part of it, is skipped because something is missing.
///
/// # Panics
///
/// In CI, where everything is expected to be available.
#[track_caller]
pub(crate) fn skip(what: impl Display) {
    let ci = std::env::var("CI").ok();
    assert!(
        !is_ci(ci.as_deref()),
        "CI is set, and a test cannot be run: {what}; .ci/run installs what tests need"
    );
    println!("skipped: {what}");
}

/// Whether a program can be run.
#[track_caller]
pub(crate) fn has_program(name: &str) -> bool {
    let is_installed = Command::new(name).arg("--version").output().is_ok();
    if !is_installed {
        skip(format_args!("there is no program {name}"));
    }
    is_installed
}

/// A Python that can run this code. The result is cached for each code.
#[track_caller]
pub(crate) fn python_that_runs(code: &str) -> Option<&'static str> {
    static KNOWN: Mutex<BTreeMap<String, Option<&str>>> = Mutex::new(BTreeMap::new());
    let can = |python: &&str| {
        Command::new(python).args(["-c", code]).output().is_ok_and(|output| output.status.success())
    };
    let find = || ["python3", "/usr/bin/python3"].into_iter().find(can);
    let python = *KNOWN.lock().expect("no panic").entry(code.to_owned()).or_insert_with(find);
    if python.is_none() {
        skip(format_args!("there is no Python that can run: {code}"));
    }
    python
}

/// A Python that has these modules. They are looked up but not imported, because some take a second to import.
#[track_caller]
pub(crate) fn python_with(modules: &str) -> Option<&'static str> {
    python_that_runs(&format!(
        "import importlib.util; assert all(map(importlib.util.find_spec, '{modules}'.split(', ')))"
    ))
}

/// A Python that has python-chess, which `pip install chess` installs.
#[track_caller]
pub(crate) fn python_with_chess() -> Option<&'static str> {
    python_with("chess")
}

/// A path in `../shared`, or in the folder that `PGNDEX_SHARED` names. `None` if there is no such folder.
#[track_caller]
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    shared_in(std::env::var_os("PGNDEX_SHARED").map(PathBuf::from), beside, path)
}

#[track_caller]
fn shared_in(named: Option<PathBuf>, beside: PathBuf, path: &str) -> Option<PathBuf> {
    let is_named = named.is_some();
    let root = named.unwrap_or(beside);
    if !root.is_dir() {
        assert!(!is_named, "PGNDEX_SHARED: there is no {}", root.display());
        println!("skipped: there is no {}", root.display());
        return None;
    }
    let path = root.join(path);
    let exists = path.exists();
    if !exists {
        skip(format_args!("there is no {}", path.display()));
    }
    exists.then_some(path)
}

/// The decompressed contents of a file; the program `zstd` decompresses it.
#[track_caller]
pub(crate) fn unpacked(packed: &Path) -> Option<Vec<u8>> {
    has_program("zstd").then(|| {
        let output = Command::new("zstd").args(["-dc", "--long=27"]).arg(packed).output().expect("zstd runs");
        assert!(output.status.success(), "{}: {}", packed.display(), String::from_utf8_lossy(&output.stderr));
        output.stdout
    })
}

/// The text of a collection of games.
#[track_caller]
pub(crate) fn corpus(name: &str) -> Option<Vec<u8>> {
    unpacked(&shared(&format!("corpora/{name}.pgn.zst"))?)
}

/// The beginning of a collection: about `most` bytes, cut at the end of a line. A quick test takes a part; an ignored
/// test takes more, or all. Only this part is decompressed.
#[track_caller]
pub(crate) fn part_of_corpus(name: &str, most: usize) -> Option<Vec<u8>> {
    let packed = shared(&format!("corpora/{name}.pgn.zst"))?;
    if !has_program("zstd") {
        return None;
    }
    let mut zstd = Command::new("zstd");
    let mut zstd =
        zstd.args(["-dc", "--long=27"]).arg(&packed).stdout(Stdio::piped()).spawn().expect("zstd runs");
    let (stdout, mut text) = (zstd.stdout.take().expect("piped"), Vec::new());
    stdout.take((most as u64).saturating_add(1)).read_to_end(&mut text).expect("text");
    let status = zstd.wait().expect("zstd ends");
    if text.len() > most {
        let cut = memchr::memrchr(b'\n', &text[..most]).map_or(most, |newline| newline + 1);
        text.truncate(cut);
    } else {
        assert!(status.success(), "{}: {status}", packed.display());
    }
    Some(text)
}
