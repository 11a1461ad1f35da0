//! Checks in the source text which modules of the library use which others.

use std::path::PathBuf;

use super::{rust_files, source, without_unit_tests};

/// Modules, each with the modules that it may use in addition to itself. Modules that are not listed here are
/// not checked.
const MAY_USE: [(&str, &[&str]); 11] = [
    ("board", &[]),
    ("pgn", &["board"]),
    ("opening", &["board", "id", "pgn", "positioned_io", "sorted"]),
    ("source", &["channel", "parallel", "path_bytes", "positioned_io", "error_advice", "sorted"]),
    ("sort", &["parallel", "positioned_io"]),
    (
        "store",
        &[
            "board",
            "id",
            "opening",
            "parallel",
            "path_bytes",
            "pgn",
            "positioned_io",
            "error_advice",
            "sorted",
        ],
    ),
    ("query", &["board", "id", "opening", "pgn", "sorted", "store"]),
    ("columnar", &["board", "id", "opening", "parallel", "positioned_io", "query", "sort", "store"]),
    ("server", &["board", "channel", "id", "opening", "parallel", "pgn", "query", "store", "utc"]),
    ("picture", &["board", "query", "sorted"]),
    ("functions", &["board", "pgn", "query", "store"]),
];

/// The messages of this file mention options of another program, which can decompress data that needs more
/// memory than is allowed here.
const MENTIONS_OPTIONS: &str = "source/frames.rs";

/// The lines of all Rust files of a module, without comments and the unit tests at the end, each with the path of
/// its file.
fn code(module: &str) -> Vec<(PathBuf, String)> {
    let mut lines = Vec::new();
    for path in rust_files(&source().join(module)) {
        let text = without_unit_tests(&path);
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        lines.extend(code.map(|line| (path.clone(), line.to_owned())));
    }
    assert!(!lines.is_empty(), "{module}");
    lines
}

/// The words that follow each `mark` in a text.
fn words_after<'t>(text: &'t str, mark: &'t str) -> impl Iterator<Item = &'t str> {
    text.split(mark).skip(1).map(|rest| {
        let end = rest.find(|letter: char| !letter.is_ascii_lowercase() && letter != '_');
        &rest[..end.unwrap_or(rest.len())]
    })
}

#[test]
fn modules_use_only_modules_below_them() {
    for (module, may_use) in MAY_USE {
        for (path, line) in code(module) {
            for used in words_after(&line, "crate::") {
                let is_allowed = used == module
                    || may_use.contains(&used)
                    || ["generated_file", "properties"].contains(&used);
                assert!(is_allowed, "{}: {line}", path.display());
            }
        }
    }
}

#[test]
fn no_module_of_the_library_mentions_an_option() {
    let modules = [
        "board",
        "pgn",
        "opening",
        "store",
        "source",
        "query",
        "picture",
        "server",
        "functions",
        "index",
        "verify",
    ];
    for (path, line) in modules.iter().flat_map(|module| code(module)) {
        let names = words_after(&line, "--").any(|word| !word.is_empty());
        assert!(!names || path.ends_with(MENTIONS_OPTIONS), "{}: {line}", path.display());
    }
}
