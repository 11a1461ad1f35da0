//! The README's tour and the page on SQL, run as they stand: each `$ ` line of a `console` block is a command, the lines after
//! it what it prints; a `sql` block is run on the database.
//!
//! After a change of output, `UPDATE_README=1 cargo test --test readme` writes the new output into the page; look at it.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use pgndex::store::Database;

/// A command of a page and what it is said to print.
struct Step {
    command: String,
    expected: String,
}

/// A page in pieces: text to be kept, the steps of console blocks, and SQL that changes the database.
enum Piece {
    Text(String),
    Step(Step),
    Sql(String),
}

fn pieces(readme: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut lines = readme.lines().peekable();
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

/// Runs a command as a user's shell would, the program on its path. Gives back both outputs.
fn run(command: &str, directory: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_pgndex")).parent().expect("a directory");
    let mut path = std::ffi::OsString::from(program);
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1; {command}")])
        .current_dir(directory)
        .env("PATH", path)
        .env("LC_ALL", "C.UTF-8")
        .output()
        .expect("there is a shell");
    assert!(output.status.success(), "{command}\n{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn the_tour_prints_what_the_readme_says() {
    prints_what_it_says("README.md", 9);
}

#[test]
fn sql_prints_what_its_page_says() {
    prints_what_it_says("docs/sql.md", 28);
}

/// Runs a page, which has at least `least` commands.
fn prints_what_it_says(page: &str, least: usize) {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(project.join(page)).expect("the page");
    let directory = tempfile::tempdir().expect("a temporary directory");
    let examples = directory.path().join("examples");
    std::fs::create_dir(&examples).expect("a directory");
    for sample in ["famous-games.pgn", "synthetic.pgn"] {
        std::fs::copy(project.join("examples").join(sample), examples.join(sample)).expect("the sample");
    }
    let has_sqlite3 = Command::new("sqlite3").arg("--version").output().is_ok();
    let update = std::env::var_os("UPDATE_README").is_some();
    let (mut updated, mut steps) = (String::new(), 0);
    for piece in pieces(&text) {
        let step = match piece {
            Piece::Text(text) => {
                updated += &text;
                continue;
            }
            Piece::Sql(sql) => {
                let database = Database::open(&directory.path().join("sample.db")).expect("a database");
                database.connection().execute_batch(&sql).unwrap_or_else(|error| panic!("{sql}{error}"));
                updated += &sql;
                continue;
            }
            Piece::Step(step) => step,
        };
        steps += 1;
        let Step { command, expected } = step;
        if command.starts_with("sqlite3") && !has_sqlite3 {
            eprintln!("SKIPPED, there is no sqlite3: {command}");
            write!(updated, "$ {command}\n{expected}").expect("a string");
            continue;
        }
        let printed: String = run(&command, directory.path()).lines().fold(String::new(), |mut all, line| {
            all += line.trim_end();
            all.push('\n');
            all
        });
        if !update {
            assert_eq!(printed, expected, "{command}");
        }
        write!(updated, "$ {command}\n{printed}").expect("a string");
    }
    assert!(steps >= least, "{page}: only {steps} commands were found");
    if update {
        std::fs::write(project.join(page), updated).expect("the page");
    }
}
