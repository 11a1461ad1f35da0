//! Checks on the source text: which modules use which others, and the size of functions, files and folders.

mod layers;
mod modules;
mod size;

use std::fs;
use std::path::{Path, PathBuf};

use regex_lite::Regex;

/// A Rust file without comments and tests. Texts in quotes are empty.
struct SourceFile {
    /// The path below `src`.
    path: PathBuf,
    code: String,
}

impl SourceFile {
    /// The path of the module, for instance `store`, `pages`, `tree`; empty for the root of the library.
    fn module(&self) -> Vec<&str> {
        let mut names: Vec<_> =
            self.path.iter().map(|name| name.to_str().expect("a name in ASCII")).collect();
        let file = names.pop().expect("the name of a file").trim_end_matches(".rs");
        names.extend((!["mod", "lib"].contains(&file)).then_some(file));
        names
    }
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The Rust files of `src` and of the folders below it, in a fixed order, except those that only tests use.
fn source_files() -> Vec<SourceFile> {
    let noise = Regex::new(r##"(?s)'"'|(?m:^\s*//[^\n]*$)|r#+".*?"#+|"(?:\\.|[^"\\])*""##)
        .expect("a regular expression");
    let tests = Regex::new(
        r"(?s)\n#\[cfg\(test\)\]\n(?:#\[[^\n]*\]\n)*(?:pub(?:\([^)]*\))? )?mod (\w+)(?:;| \{.*?\n\})",
    )
    .expect("a regular expression");
    let mut files = Vec::new();
    let mut only_tests = Vec::new();
    for path in rust_files(&source()) {
        let text = fs::read_to_string(&path).expect("a readable file");
        let code = noise.replace_all(&text, "\"\"");
        let home = path.with_file_name("");
        let home =
            if path.ends_with("mod.rs") || path.ends_with("lib.rs") { home } else { path.with_extension("") };
        only_tests.extend(tests.captures_iter(&code).map(|module| home.join(&module[1])));
        let code = tests.replace_all(&code, "\n").into_owned();
        files.push(SourceFile { path, code });
    }
    files.retain(|file| !only_tests.iter().any(|test| file.path.with_extension("").starts_with(test)));
    for file in &mut files {
        file.path = file.path.strip_prefix(source()).expect("a path below src").to_owned();
    }
    assert!(files.len() > 100, "{} files", files.len());
    files
}

/// The text of a file without the unit tests at its end.
fn without_unit_tests(path: &Path) -> String {
    let mut text = fs::read_to_string(path).expect("a readable file");
    text.truncate(text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len()));
    text
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}
