//! The interactive prompt.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use anyhow::{Context as _, bail};
use pgndex::store::is_complete;
use rustyline::error::ReadlineError;
use rustyline::{CompletionType, Config, Context, Editor, Helper};

use super::complete::Completer;
use super::script::{Script, command_of};
use super::session::{Flow, Session};
use crate::cli::render::output_file::refuse_file_of;
use crate::cli::render::text::printable;
use crate::cli::report::report_error;

const PROMPT: &str = "pgndex> ";
/// The prompt for further lines of an incomplete statement.
const MORE: &str = "   ...> ";
/// The maximum number of inputs in the history.
const HISTORY: usize = 1000;

/// Reads statements and commands and runs them until the user quits.
///
/// # Errors
/// If the terminal or the history file cannot be used; errors of statements are printed.
pub(crate) fn run(mut session: Session, history: Option<&Path>) -> anyhow::Result<()> {
    let config = Config::builder().completion_type(CompletionType::List).max_history_size(HISTORY)?.build();
    let mut editor = Editor::with_config(config).context("cannot use the terminal")?;
    editor.set_helper(Some(Assistant { completer: Completer::default() }));
    if let Some(path) = history {
        refuse_file_of(session.database.path(), path)?;
        open_history(&mut editor, path)?;
    }
    greet(&session)?;
    loop {
        if let Some(assistant) = editor.helper_mut() {
            assistant.completer.catalog = session.database.catalog().unwrap_or_default();
        }
        let input = match read(&mut editor) {
            Ok(input) => input,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(error).context("cannot read from the terminal"),
        };
        if !input.trim().is_empty() {
            editor.add_history_entry(input.as_str())?;
            if let Some(path) = history {
                editor.append_history(path).with_context(|| cannot_write(path))?;
            }
        }
        if run_input(&mut session, &input) == Flow::Leave {
            break;
        }
    }
    session.finish()
}

/// Reads lines until they are a command or whole statements.
fn read(editor: &mut PromptEditor) -> rustyline::Result<String> {
    let mut input = editor.readline(PROMPT)?;
    while !is_whole(&input) {
        input.push('\n');
        input += &editor.readline(MORE)?;
    }
    Ok(input)
}

/// Runs an input. An error ends the input, but not the prompt.
fn run_input(session: &mut Session, input: &str) -> Flow {
    session.begin_input();
    let mut script = Script::new(input.as_bytes());
    loop {
        let flow = match script.next_piece() {
            Ok(Some(piece)) => session.run(&piece),
            Ok(None) => return Flow::Continue { ran: false },
            Err(error) => Err(error.into()),
        };
        match flow {
            Ok(Flow::Leave) => return Flow::Leave,
            Ok(Flow::Continue { .. }) => {}
            Err(error) => {
                report_error(&error);
                return Flow::Continue { ran: false };
            }
        }
    }
}

fn greet(session: &Session) -> anyhow::Result<()> {
    let name = printable(&session.database.path().display().to_string());
    let access = if session.is_writing() { "open for changes" } else { "open for reading" };
    writeln!(
        io::stdout(),
        "pgndex {}: {name}, {access}. A statement ends with ';'. .help lists commands, .quit leaves.",
        env!("CARGO_PKG_VERSION")
    )?;
    Ok(())
}

type PromptEditor = Editor<Assistant, rustyline::history::DefaultHistory>;

/// Reads the history, and checks immediately whether it can be written. A file with other contents is not
/// changed.
fn open_history(editor: &mut PromptEditor, path: &Path) -> anyhow::Result<()> {
    if path.exists() && !is_history(path) {
        bail!("{}: is not a history file of the prompt; name another file", path.display());
    }
    OpenOptions::new().append(true).create(true).open(path).with_context(|| cannot_write(path))?;
    editor.load_history(path).with_context(|| format!("{}: cannot read the history", path.display()))
}

/// Whether a file is empty, or begins like a history.
fn is_history(path: &Path) -> bool {
    const BEGINNING: &[u8] = b"#V2\n";
    let mut found = Vec::new();
    let read = File::open(path).and_then(|file| file.take(BEGINNING.len() as u64).read_to_end(&mut found));
    path.is_file() && read.is_ok() && (found.is_empty() || found == BEGINNING)
}

fn cannot_write(path: &Path) -> String {
    format!("{}: cannot write the history", path.display())
}

/// Completes names while a line is edited.
struct Assistant {
    completer: Completer,
}

impl Helper for Assistant {}
impl rustyline::hint::Hinter for Assistant {
    type Hint = String;
}
impl rustyline::highlight::Highlighter for Assistant {}

impl rustyline::completion::Completer for Assistant {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.completer.complete(line.get(..at).unwrap_or(line)))
    }
}

impl rustyline::validate::Validator for Assistant {}

/// Whether Enter runs an input; otherwise, it starts another line of the input.
fn is_whole(input: &str) -> bool {
    let nothing = |line: &str| line.trim().is_empty() || line.trim_start().starts_with("--");
    let is_command = |line: &str| line.trim_start().starts_with('.') || command_of(line).is_some();
    input.lines().find(|line| !nothing(line)).is_none_or(is_command) || is_complete(input)
}

#[cfg(test)]
mod tests {
    use super::is_whole;

    #[test]
    fn enter_runs_commands_and_whole_statements() {
        for input in [
            "",
            "  ",
            "-- a comment",
            ".tables",
            "-- a comment\n.tables",
            "exit",
            "Help;",
            "SELECT 1;",
            "SELECT\n1; -- one",
        ] {
            assert!(is_whole(input), "{input:?}");
        }
        for input in ["SELECT", "SELECT\nexit", "SELECT ';", "SELECT 1; SELECT", "/* a\n.comment */"] {
            assert!(!is_whole(input), "{input:?}");
        }
    }
}
