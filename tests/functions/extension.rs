//! The loadable extension, if it is built: `cargo build -p pgndex-sqlite`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::needs::{has_program, python_that_runs, skip};

use super::{cases, check, famous, table};

/// The path of the extension: the value of `PGNDEX_EXTENSION`, or else a file next to the program. `None`, with a
/// message, if the variable is not set and there is no such file. Panics if the variable names a missing file.
fn extension() -> Option<PathBuf> {
    let beside = || {
        let program = Path::new(env!("CARGO_BIN_EXE_pgndex"));
        let name = format!("{}pgndex_sqlite{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
        program.with_file_name(name)
    };
    match std::env::var_os("PGNDEX_EXTENSION") {
        Some(path) => {
            let path = PathBuf::from(path);
            assert!(path.is_file(), "PGNDEX_EXTENSION: there is no {}", path.display());
            Some(path)
        }
        None if beside().is_file() => Some(beside()),
        None => {
            skip(format_args!("there is no {}; cargo build -p pgndex-sqlite", beside().display()));
            None
        }
    }
}

/// Runs a program with a text on its standard input.
fn run(command: &mut Command, input: &str) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("an end");
    writer.join().expect("no panic").expect("the input is read");
    output
}

#[test]
fn the_extension_in_the_shell_agrees_with_the_table() {
    let Some(extension) = extension() else { return };
    if !has_program("sqlite3") {
        return;
    }
    let (_directory, database) = famous();
    let cases = cases();
    // One case per line, so that the shell's messages identify the case by its line.
    let mut script = format!(".load '{}'\n", extension.with_extension("").display());
    for (index, case) in cases.iter().enumerate() {
        writeln!(script, "SELECT {index} || ' ' || replace(quote({}), char(10), '\\n');", case.expression)
            .expect("text");
    }
    let output = run(Command::new("sqlite3").args(["-batch", "-readonly"]).arg(database), &script);
    let mut answers = vec![String::new(); cases.len()];
    for line in String::from_utf8(output.stdout).expect("text").lines() {
        let (index, answer) = line.split_once(' ').expect("an index and an answer");
        answers[index.parse::<usize>().expect("an index")] = answer.to_owned();
    }
    // Error near line 7: fen_key: … (19)
    for line in String::from_utf8(output.stderr).expect("text").lines() {
        let Some((_, rest)) = line.split_once(" near line ") else { continue };
        let (number, message) = rest.split_once(": ").expect("a message");
        let message = message.strip_prefix("stepping, ").unwrap_or(message);
        let message = message
            .rsplit_once(" (")
            // Only a number in parentheses is removed; a message may end with other parentheses.
            .filter(|(_, code)| code.strip_suffix(')').is_some_and(|code| code.parse::<u32>().is_ok()))
            .map_or(message, |(text, _)| text);
        answers[number.parse::<usize>().expect("a line") - 2] = format!("error: {message}");
    }
    check(&cases, answers);
}

#[test]
fn the_extension_in_python_agrees_with_the_table() {
    let Some(extension) = extension() else { return };
    let can_load = "import sqlite3; sqlite3.connect(':memory:').enable_load_extension(True)";
    let Some(python) = python_that_runs(can_load) else { return };
    let (_directory, database) = famous();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/functions/extension.py");
    let output = Command::new(python)
        .arg(script)
        .arg(extension.with_extension(""))
        .arg(database)
        .arg(table())
        .output()
        .expect("Python runs");
    print!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let expected = format!("{} cases", cases().len());
    assert!(String::from_utf8_lossy(&output.stdout).contains(&expected), "{expected}");
}
