//! `pgndex sql`: runs SQL from the command line, a file, standard input or a prompt.

mod explain;
mod prompt;
mod script;
mod session;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, IsTerminal as _};
use std::path::Path;

use anyhow::{Context as _, bail};
use pgndex::store::Database;
use session::{COMMANDS, Flow, Session, unreadable};

use crate::cli::args::SqlArgs;
use crate::cli::command::open_to_write;
use crate::cli::error::wrong_value;
use crate::cli::render::brief;
use crate::cli::terminal::Interrupts;

/// Runs statements and prints their rows as they are found.
///
/// # Errors
/// If a statement is invalid SQL, would change something without permission, or fails.
pub(crate) fn run(args: &SqlArgs) -> anyhow::Result<()> {
    refuse_statement(&args.database)?;
    let (database, lock) = if args.write {
        let (database, lock) = open_to_write(&args.database)?;
        (database, Some(lock))
    } else {
        (Database::open_read_only(&args.database)?, None)
    };
    let Some(mut input) = input(args)? else {
        let interrupts = Interrupts::for_prompt(&database)?;
        return prompt::run(Session::new(args, database, lock, interrupts), args.history.as_deref());
    };
    let interrupts = Interrupts::for_script(&database)?;
    let mut session = Session::new(args, database, lock, interrupts);
    session.source = input.name;
    if session.run(&mut input.reader)? == (Flow::Continue { ran: false }) {
        bail!("the query is empty; give a statement, such as SELECT * FROM games LIMIT 10")
    }
    session.finish()
}

/// Fails if a statement was given instead of the database.
fn refuse_statement(database: &Path) -> anyhow::Result<()> {
    const VERBS: [&str; 9] =
        ["select", "with", "values", "explain", "pragma", "insert", "update", "delete", "create"];
    let text = database.to_string_lossy();
    let first = text.split_whitespace().next().unwrap_or_default().to_lowercase();
    let is_statement = VERBS.contains(&first.as_str()) || COMMANDS.iter().any(|(name, ..)| *name == first);
    if is_statement && !database.exists() {
        return Err(wrong_value(format!(
            "the database comes first: pgndex sql games.db \"{}\"",
            brief(&text)
        )));
    }
    Ok(())
}

/// The source of statements.
struct Input {
    reader: Box<dyn BufRead>,
    /// The name of the source in messages; `None` for the command line, which needs no name.
    name: Option<String>,
}

/// The source of statements that the arguments choose; `None` for a prompt.
fn input(args: &SqlArgs) -> anyhow::Result<Option<Input>> {
    let is_stdin = args.file.as_deref().is_some_and(|path| path == "-");
    if let Some(path) = args.file.as_ref().filter(|_| !is_stdin) {
        let name = path.display().to_string();
        let file = File::open(path).with_context(|| {
            format!("{}; give an existing file with --file, or - for standard input", unreadable(&name))
        })?;
        return Ok(Some(Input { reader: Box::new(BufReader::new(file)), name: Some(name) }));
    }
    let stdin = io::stdin();
    match args.query.as_deref() {
        Some(query) if query != "-" => {
            Ok(Some(Input { reader: Box::new(Cursor::new(query.to_owned())), name: None }))
        }
        None if !is_stdin && stdin.is_terminal() && io::stdout().is_terminal() => Ok(None),
        None if !is_stdin && stdin.is_terminal() => {
            bail!("no query; give one, such as pgndex sql games.db \"SELECT * FROM games LIMIT 10\"")
        }
        _ => Ok(Some(Input { reader: Box::new(stdin.lock()), name: Some("standard input".to_owned()) })),
    }
}
