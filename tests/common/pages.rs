//! Pages of the documentation, and functions that run the commands on them.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use pgndex::store::Database;

use crate::generated_file::update;
use crate::needs::has_program;
use crate::support::directory_in_memory;

/// A command on a page, and the output that the page shows.
struct Step {
    command: String,
    expected: String,
}

/// A part of a page: text that is kept, the commands of a console block, or SQL that changes the database.
enum Piece {
    Text(String),
    Step(Step),
    Sql(String),
}

fn pieces(page: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut lines = page.lines().peekable();
    let mut console = false;
    while let Some(line) = lines.next() {
        match line.strip_prefix("$ ").filter(|_| console) {
            Some(command) => {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
                let mut command = command.to_owned();
                while command.matches('"').count() % 2 == 1 {
                    command += "\n";
                    command += lines.next().expect("the quote is closed");
                }
                let mut expected = String::new();
                while let Some(output) = lines.next_if(|line| !line.starts_with("$ ") && *line != "```") {
                    expected += output;
                    expected.push('\n');
                }
                pieces.push(Piece::Step(Step { command, expected }));
            }
            None => {
                console = line == "```console" || (console && line != "```");
                text += line;
                text.push('\n');
                if line == "```sql" {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                    let mut sql = String::new();
                    while let Some(line) = lines.next_if(|&line| line != "```") {
                        sql += line;
                        sql.push('\n');
                    }
                    pieces.push(Piece::Sql(sql));
                }
            }
        }
    }
    pieces.push(Piece::Text(text));
    pieces
}

/// A directory with the samples, in which a reader would try the commands.
pub(crate) fn directory_with_samples() -> tempfile::TempDir {
    let directory = directory_in_memory();
    let examples = directory.path().join("examples");
    std::fs::create_dir(&examples).expect("a directory");
    for sample in ["annotated.pgn", "famous-games.pgn", "repertoire.pgn", "synthetic.pgn"] {
        std::fs::copy(project().join("examples").join(sample), examples.join(sample)).expect("the sample");
    }
    directory
}

pub(crate) fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs a command as a user's shell would, with the program on its path. Returns standard output and standard error.
pub(crate) fn run(command: &str, directory: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_pgndex")).parent().expect("a directory");
    let mut path = std::ffi::OsString::from(program);
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1; {command}")])
        .current_dir(directory)
        .env("PATH", path)
        .env("LC_ALL", "C.UTF-8")
        .env("PGNDEX_NO_PROGRESS", "1") // It would appear on a slow machine only.
        .output()
        .expect("there is a shell");
    assert!(output.status.success(), "{command}\n{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stdout).expect("text")
}

/// The README and all pages below `docs/`, as paths relative to the project.
pub(crate) fn pages() -> Vec<PathBuf> {
    let mut pages = vec![PathBuf::from("README.md")];
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(project().join(&folder)).expect("a folder of pages") {
            let path = folder.join(entry.expect("an entry").file_name());
            if project().join(&path).is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

/// Whether a command on a page reads or writes Parquet files, so that it needs a program with that feature.
pub(crate) fn needs_parquet(page: &Path) -> bool {
    read(page).lines().any(|line| line.starts_with("$ ") && line.contains(" --parquet "))
}

pub(crate) fn read(page: &Path) -> String {
    std::fs::read_to_string(project().join(page))
        .unwrap_or_else(|error| panic!("{}: {error}", page.display()))
}

/// Runs the commands of a page, and checks that they print what the page shows. Returns the number of commands; each
/// console block has at least one.
pub(crate) fn check_printed_outputs(page: &Path) -> usize {
    check_printed_outputs_in(directory_with_samples().path(), page)
}

/// The same, in a given directory with the samples.
pub(crate) fn check_printed_outputs_in(directory: &Path, page: &Path) -> usize {
    let text = read(page);
    let (mut updated, mut steps) = (String::new(), 0);
    for piece in pieces(&text) {
        let step = match piece {
            Piece::Text(text) => {
                updated += &text;
                continue;
            }
            Piece::Sql(sql) => {
                let database = Database::open(&directory.join("sample.db")).expect("a database");
                database.connection().execute_batch(&sql).unwrap_or_else(|error| panic!("{sql}{error}"));
                updated += &sql;
                continue;
            }
            Piece::Step(step) => step,
        };
        steps += 1;
        let Step { command, expected } = step;
        if command.starts_with("sqlite3") && !has_program("sqlite3") {
            write!(updated, "$ {command}\n{expected}").expect("a string");
            continue;
        }
        let printed: String = run(&command, directory).lines().fold(String::new(), |mut all, line| {
            all += line.trim_end();
            all.push('\n');
            all
        });
        if !update() {
            assert_eq!(printed, expected, "{}: {command}", page.display());
        }
        write!(updated, "$ {command}\n{printed}").expect("a string");
    }
    let blocks = text.lines().filter(|&line| line == "```console").count();
    assert!(steps >= blocks, "{}: {blocks} console blocks have {steps} commands", page.display());
    if update() && updated != text {
        std::fs::write(project().join(page), updated).expect("the page");
    }
    steps
}
