//! `pgndex sql`: runs SQL from the command line, a file, standard input or a prompt.

mod explain;
mod prompt;
mod script;
mod session;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, IsTerminal as _};
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
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
/// If the database or the input cannot be read, or there is nothing to run. If a statement is invalid SQL, would change
/// something without permission, or fails. If a parameter of the arguments is unused.
pub(crate) fn run(args: &SqlArgs) -> anyhow::Result<()> {
    refuse_statement(&args.database)?;
    let (lock, database) = if args.write {
        let (lock, database) = open_to_write(&args.database)?;
        (Some(lock), database)
    } else {
        (None, Database::open_read_only(&args.database)?)
    };
    let Some((mut reader, name)) = input(args)? else {
        let interrupts = Interrupts::for_prompt(&database)?;
        return prompt::run(Session::new(args, database, lock, interrupts), args.history.as_deref());
    };
    let interrupts = Interrupts::for_script(&database)?;
    let mut session = Session::new(args, database, lock, interrupts);
    if let Some(query) = args.query.as_deref().filter(|_| name.is_none()) {
        // This text is known before the first statement runs.
        session.mark_used(query);
        session.check_unused()?;
    }
    session.source = name;
    let checked = match session.run(&mut reader)? {
        Flow::Continue { ran: false } => {
            bail!("the query is empty; give a statement, such as SELECT * FROM games LIMIT 10")
        }
        Flow::Continue { ran: true } => session.check_unused(),
        Flow::Leave => Ok(()),
    };
    session.finish().and(checked)
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

/// A reader of statements, and its name in messages. Statements from the command line need no name.
type Input = (Box<dyn BufRead>, Option<String>);

/// The reader of statements, chosen by the arguments; `None` for a prompt.
fn input(args: &SqlArgs) -> anyhow::Result<Option<Input>> {
    let stdin = io::stdin();
    Ok(Some(match (&args.file, &args.query) {
        (Some(path), _) if path.as_os_str() != "-" => {
            let name = path.display().to_string();
            let file = File::open(path).with_context(|| {
                format!("{}; give an existing file with --file, or - for standard input", unreadable(&name))
            })?;
            (Box::new(BufReader::new(file)), Some(name))
        }
        (_, Some(query)) if query != "-" => (Box::new(Cursor::new(query.clone())), None),
        (None, None) if stdin.is_terminal() => {
            ensure!(
                io::stdout().is_terminal(),
                "no query; give one, such as pgndex sql games.db \"SELECT * FROM games LIMIT 10\""
            );
            return Ok(None);
        }
        _ => (Box::new(stdin.lock()), Some("standard input".to_owned())),
    }))
}
