//! The interactive prompt.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{Context as _, bail};
use pgndex::read_start;
use pgndex::store::{Catalog, Relation, is_complete};
use rustyline::error::ReadlineError;
use rustyline::{CompletionType, Config, Context, Editor, Helper};

use super::script::command_of;
use super::session::{COMMANDS, Flow, Session, formats};
use crate::cli::render::{printable, refuse_file_of};
use crate::cli::report::report_error;

const PROMPT: &str = "pgndex> ";
/// The prompt for further lines of an incomplete statement.
const MORE: &str = "   ...> ";
/// The maximum number of inputs in the history.
const HISTORY: usize = 1000;

/// Reads statements and commands and runs them until the user quits.
///
/// # Errors
/// If the terminal or the history file cannot be used; also those of [`Session::finish`]. Errors of statements are
/// printed.
pub(crate) fn run(mut session: Session, history: Option<&Path>) -> anyhow::Result<()> {
    let config = Config::builder().completion_type(CompletionType::List).max_history_size(HISTORY)?.build();
    let mut editor = Editor::with_config(config).context("cannot use the terminal")?;
    editor.set_helper(Some(Completer::default()));
    if let Some(path) = history {
        refuse_file_of(session.database.path(), path)?;
        open_history(&mut editor, path)?;
    }
    greet(&session)?;
    loop {
        if let Some(completer) = editor.helper_mut() {
            completer.catalog = session.database.catalog().unwrap_or_default();
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
        // No blank line is needed before the first result of an input: the prompt separates it from earlier
        // results.
        session.printed = false;
        match session.run(&mut input.as_bytes()) {
            Ok(Flow::Leave) => break,
            Ok(Flow::Continue { .. }) => {}
            // An error ends the input, but not the prompt.
            Err(error) => drop(report_error(&error)),
        }
    }
    session.finish()
}

/// Reads lines until they form a command or complete statements.
fn read(editor: &mut PromptEditor) -> rustyline::Result<String> {
    let mut input = editor.readline(PROMPT)?;
    while !is_whole(&input) {
        input.push('\n');
        input += &editor.readline(MORE)?;
    }
    Ok(input)
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

type PromptEditor = Editor<Completer, rustyline::history::DefaultHistory>;

/// Reads the history, and checks at once that the file can be written. Fails if an existing file is not a
/// history.
fn open_history(editor: &mut PromptEditor, path: &Path) -> anyhow::Result<()> {
    if path.exists() && !is_history(path) {
        bail!("{}: not a history file of the prompt; name another file", path.display());
    }
    OpenOptions::new().append(true).create(true).open(path).with_context(|| cannot_write(path))?;
    editor.load_history(path).with_context(|| format!("{}: cannot read the history", path.display()))
}

/// Whether a file is empty, or begins like a history.
fn is_history(path: &Path) -> bool {
    const BEGINNING: &[u8] = b"#V2\n";
    let is_like = |found: Vec<u8>| found.is_empty() || found == BEGINNING;
    path.is_file() && read_start(path, BEGINNING.len() as u64).is_ok_and(is_like)
}

fn cannot_write(path: &Path) -> String {
    format!("{}: cannot write the history", path.display())
}

impl Helper for Completer {}
impl rustyline::hint::Hinter for Completer {
    type Hint = String;
}
impl rustyline::highlight::Highlighter for Completer {}
impl rustyline::validate::Validator for Completer {}

impl rustyline::completion::Completer for Completer {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.completions(line.get(..at).unwrap_or(line)))
    }
}

/// Whether Enter runs an input; otherwise, it starts another line of the input.
fn is_whole(input: &str) -> bool {
    let nothing = |line: &str| line.trim().is_empty() || line.trim_start().starts_with("--");
    let is_command = |line: &str| line.trim_start().starts_with('.') || command_of(line).is_some();
    input.lines().find(|line| !nothing(line)).is_none_or(is_command) || is_complete(input)
}

/// Words that are followed by the name of a table or view.
const BEFORE_RELATIONS: [&str; 5] = ["from", "join", "into", "update", "table"];

/// The SQL keywords that are completed.
const KEYWORDS: [&str; 37] = [
    "ALL", "AND", "AS", "ASC", "BETWEEN", "BY", "CASE", "CAST", "COLLATE", "CROSS", "DELETE", "DESC",
    "DISTINCT", "ELSE", "END", "EXISTS", "EXPLAIN", "FROM", "GLOB", "GROUP", "HAVING", "INSERT", "JOIN",
    "LEFT", "LIKE", "LIMIT", "NOT", "NULL", "ORDER", "SELECT", "SET", "THEN", "UNION", "UPDATE", "USING",
    "WHERE", "WITH",
];

/// Completes names and keywords while a line is edited.
#[derive(Default)]
struct Completer {
    /// The names of the tables, views, columns and functions.
    catalog: Catalog,
}

impl Completer {
    /// The byte offset at which the last word of an input begins, and the possible completions of this word.
    fn completions(&self, input: &str) -> (usize, Vec<String>) {
        let start = input.len() - ending(input).len();
        let (before, word) = input.split_at(start);
        let candidates = match input.trim_start().strip_prefix('.') {
            Some(command) => self.of_command(command),
            None => self.of_sql(before, word),
        };
        // The dot before the name of a command is part of the completed word; other dots are not.
        let is_command_name = before.trim_start() == ".";
        let start = if is_command_name { start - 1 } else { start };
        let word = &input[start..];
        let mut fitting: Vec<_> = candidates
            .into_iter()
            .filter(|name| name.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word)))
            .collect();
        fitting.sort_unstable();
        fitting.dedup();
        (start, fitting)
    }

    fn of_command(&self, command: &str) -> Vec<String> {
        match command.split_once(char::is_whitespace).map(|(name, _)| name) {
            None => COMMANDS
                .iter()
                .map(|(name, argument, _)| match *argument {
                    "" => (*name).to_owned(),
                    _ => format!("{name} "),
                })
                .collect(),
            Some("schema") => self.relations(),
            Some("mode") => formats(),
            Some("headers" | "timer") => ["off", "on"].map(str::to_owned).to_vec(),
            Some("parameter") => ["clear", "list", "set", "unset"].map(str::to_owned).to_vec(),
            Some(_) => Vec::new(),
        }
    }

    fn of_sql(&self, before: &str, word: &str) -> Vec<String> {
        if let Some(qualified) = before.strip_suffix('.') {
            let relation =
                self.catalog.relations.iter().find(|relation| is_named(relation, ending(qualified)));
            return match relation {
                Some(relation) => relation.columns.clone(),
                None => self.mentioned(before).flat_map(|relation| relation.columns.clone()).collect(),
            };
        }
        let last = ending(before.trim_end()).to_ascii_lowercase();
        if BEFORE_RELATIONS.contains(&last.as_str()) {
            return self.relations();
        }
        let mut names: Vec<_> =
            self.mentioned(before).flat_map(|relation| relation.columns.clone()).collect();
        names.extend(self.relations());
        // Keywords and functions are completed only if a letter is typed: otherwise, there would be too many
        // completions.
        if let Some(first) = word.chars().next() {
            let cased = |word: &str| if first.is_lowercase() { word.to_lowercase() } else { word.to_owned() };
            names.extend(KEYWORDS.iter().map(|word| cased(word)));
            names.extend(self.catalog.functions.iter().map(|name| format!("{name}(")));
        }
        names
    }

    fn relations(&self) -> Vec<String> {
        self.catalog.relations.iter().map(|relation| relation.name.clone()).collect()
    }

    /// The tables and views that a text names; if it names none, all tables and views.
    fn mentioned(&self, text: &str) -> impl Iterator<Item = &Relation> {
        let words: Vec<_> = text.split(|letter| !is_of_name(letter)).collect();
        let is_mentioned = move |relation: &Relation| words.iter().any(|word| is_named(relation, word));
        let any = self.catalog.relations.iter().any(&is_mentioned);
        self.catalog.relations.iter().filter(move |relation| !any || is_mentioned(relation))
    }
}

/// The name, or the beginning of a name, at the end of a text. Empty if the last letter cannot be part of a
/// name.
fn ending(text: &str) -> &str {
    let end = text.rfind(|letter| !is_of_name(letter));
    end.and_then(|end| text.get(end..)).map_or(text, |rest| {
        let mut letters = rest.chars();
        letters.next();
        letters.as_str()
    })
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn is_named(relation: &Relation, name: &str) -> bool {
    relation.name.eq_ignore_ascii_case(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgndex::store::RelationKind;

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

    fn complete(input: &str) -> (String, Vec<String>) {
        let relation = |name: &str, columns: &[&str]| Relation {
            name: name.to_owned(),
            kind: RelationKind::Table,
            columns: columns.iter().map(ToString::to_string).collect(),
        };
        let catalog = Catalog {
            relations: vec![
                relation("game", &["game_id", "eco"]),
                relation("moves", &["game_id", "uci"]),
                relation("player", &["player_id", "name"]),
            ],
            functions: ["count", "group_concat", "unicode"].map(str::to_owned).to_vec(),
        };
        let (start, names) = Completer { catalog }.completions(input);
        (input[start..].to_owned(), names)
    }

    #[track_caller]
    fn check(input: &str, word: &str, names: &[&str]) {
        let (found, candidates) = complete(input);
        assert_eq!(
            (found.as_str(), candidates),
            (word, names.iter().map(ToString::to_string).collect()),
            "{input}"
        );
    }

    #[test]
    fn tables_are_completed_after_from_and_join() {
        check("SELECT * FROM ", "", &["game", "moves", "player"]);
        check("SELECT * FROM game JOIN p", "p", &["player"]);
        check("select * from\n  G", "G", &["game"]);
        check("SELECT * FROM x", "x", &[]);
    }

    #[test]
    fn columns_of_the_named_tables_are_completed() {
        check("SELECT * FROM moves WHERE uc", "uc", &["uci"]);
        check("SELECT * FROM game WHERE uc", "uc", &[]);
        check("SELECT ga", "ga", &["game", "game_id"]);
        check("SELECT na", "na", &["name"]);
        check("SELECT moves.", "", &["game_id", "uci"]);
        check("SELECT * FROM player AS p WHERE p.", "", &["name", "player_id"]);
        check("SELECT count(uc", "uc", &["uci"]);
        check("SELECT * FROM player WHERE ", "", &["game", "moves", "name", "player", "player_id"]);
    }

    #[test]
    fn completed_keywords_keep_the_case_of_the_typed_letters() {
        check("SELECT * FR", "FR", &["FROM"]);
        check("sel", "sel", &["select"]);
        check("SELECT U", "U", &["UNION", "UPDATE", "USING", "uci", "unicode("]);
    }

    #[test]
    fn commands_and_their_arguments_are_completed() {
        let all = [
            ".headers ",
            ".help",
            ".mode ",
            ".output ",
            ".parameter ",
            ".quit",
            ".schema ",
            ".tables",
            ".timer ",
        ];
        check(".", ".", &all);
        check("  .t", ".t", &[".tables", ".timer "]);
        check(".schema m", "m", &["moves"]);
        check(".mode j", "j", &["json"]);
        check(".timer ", "", &["off", "on"]);
        check(".headers o", "o", &["off", "on"]);
        check(".parameter ", "", &["clear", "list", "set", "unset"]);
        check(".quit x", "x", &[]);
    }

    #[test]
    fn any_input_is_completed_without_a_panic() {
        for input in ["", "é", "SELECT é", "'…", "\u{1f600}.", ".é"] {
            let (start, _) = Completer::default().completions(input);
            assert!(input.is_char_boundary(start), "{input}");
        }
    }
}
