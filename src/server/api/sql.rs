//! Users' SQL statements: read-only, and limited in their time and in the size of their results.

use std::collections::{HashMap, HashSet};

use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use serde::Deserialize;

use crate::query::{SqlLimits, SqlRows};
use crate::server::answer::{Answer, Problem, Shape};
use crate::server::request::Call;
use crate::server::route::{Lane, Route, route};
use crate::store::sql::{is_of_name, words};
use crate::store::{Catalog, Database, Error, Result};

/// The maximum size of a request body, and also of the statement in it, in bytes.
const STATEMENT: usize = 64 << 10;
/// The maximum number of rows in an answer, and their approximate maximum total size in bytes.
const LIMITS: SqlLimits = SqlLimits { rows: 1000, bytes: 4 << 20 };

/// The maximum size of a value in bytes. SQLite cannot interrupt a function call; with values of this size, an
/// allowed function takes about a tenth of a second at most.
const LONGEST: i32 = 100_000;
/// The maximum size of a pattern of LIKE or GLOB in bytes.
const PATTERN: i32 = 100;

/// SQLite's limits for users' statements.
const SIZES: [(Limit, i32); 10] = [
    (Limit::SQLITE_LIMIT_LENGTH, LONGEST),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, STATEMENT as i32),
    (Limit::SQLITE_LIMIT_COLUMN, 200),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 200),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 50),
    (Limit::SQLITE_LIMIT_VDBE_OP, 250_000),
    (Limit::SQLITE_LIMIT_ATTACHED, 0),
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, PATTERN),
    (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
    (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
];

/// Allowed pragmas, which describe the database. Only `user_version` could also change the database, so it is
/// allowed only without a value.
const PRAGMAS: [&str; 9] = [
    "table_list",
    "table_info",
    "table_xinfo",
    "index_list",
    "index_info",
    "index_xinfo",
    "foreign_key_list",
    "function_list",
    "user_version",
];

/// Refused functions: those that reach beyond the database, and those that take too much time or memory with
/// two long texts.
const FUNCTIONS: [&str; 6] =
    ["load_extension", "fts3_tokenizer", "json_patch", "jsonb_patch", "json_pretty", "unhex"];

/// Functions that take a tenth of a second with two long texts.
const SLOW: [&str; 4] = ["like", "glob", "instr", "replace"];
/// The maximum number of places at which a statement, including the views it reads, calls a slow function. SQLite
/// can interrupt a statement between rows, but not between the calls for one row.
const SLOW_CALLS: usize = 40;

/// The maximum product of the number of copies of WITH tables and the number of words of a statement. SQLite
/// takes about a second if the product is ten times this maximum. A statement without copies can have any
/// number of words.
const COPIED_WORDS: usize = 10_000;

/// Refused tables, which show the pages of the file instead of stored rows. For `dbstat`, SQLite reads a
/// whole file to return one row.
const TABLES: [&str; 2] = ["sqlite_dbpage", "dbstat"];

pub(super) const ROUTES: &[Route] = &[route("/api/sql", run, Lane::Sql, Shape::json::<SqlRows>())
    .about("At most 1,000 rows of a read-only SQL statement, sent as {\"sql\": \"…\"}", &[])
    .takes(STATEMENT, Shape::json::<Statement>())];

/// A request to run an SQL statement.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Statement {
    /// One statement that only reads: SELECT, VALUES, WITH or EXPLAIN.
    sql: String,
}

fn run(call: &Call, database: &Database) -> std::result::Result<Answer, Problem> {
    let statement: Statement = serde_json::from_slice(&call.body).map_err(|error| {
        let detail = if error.is_data() {
            "Send an object with the statement as its only field: {\"sql\": \"SELECT …\"}.".to_owned()
        } else {
            let (line, column) = (error.line(), error.column());
            format!(
                "The request body is not valid JSON at line {line}, column {column}; send {{\"sql\": \"SELECT …\"}}."
            )
        };
        Problem::new(400, "wrong request", detail)
    })?;
    let words = words(&statement.sql);
    if copies(&words).saturating_mul(words.len()) > COPIED_WORDS.max(words.len()) {
        let detail = "The tables of WITH refer to each other too often; use each of them fewer times.";
        return Err(Problem::new(400, "wrong SQL", detail));
    }
    authorize(database)?;
    let rows = SqlRows::query(database, &statement.sql, LIMITS).map_err(|error| {
        let mut problem = Problem::from(error);
        if let Some(detail) = refused(&problem.detail, &words) {
            problem.detail = detail;
        } else if problem.detail.starts_with("no such ") {
            let hint = |catalog: Catalog| catalog.hint(problem.detail.lines().next()?);
            let hint = database.catalog().ok().and_then(hint).map(|hint| format!("\n  {hint}"));
            problem.detail += &hint.unwrap_or_default();
        }
        problem
    })?;
    Answer::json(&rows)
}

/// An upper bound of the number of copies of WITH tables that SQLite makes before it runs a statement.
/// Wherever a statement names a WITH table, SQLite copies the table, together with all WITH tables that it
/// uses in turn. SQLite cannot be interrupted meanwhile.
fn copies(words: &[&str]) -> usize {
    let words = words.iter().map(|word| plain(word)).collect::<Vec<_>>();
    let mut uses = HashMap::<&str, usize>::new();
    for word in &words {
        *uses.entry(word).or_default() += 1;
    }
    // NAME AS (…), NAME AS [NOT] MATERIALIZED (…), NAME (COLUMNS) AS …
    let is_as = |at: &usize| {
        words[*at] == "as"
            && words.get(at + 1).is_some_and(|next| ["(", "not", "materialized"].contains(&next.as_str()))
    };
    let names = (1..words.len()).filter(is_as).filter_map(|at| {
        let is_of_columns = words[at - 1] == ")";
        let end = if is_of_columns { words[..at].iter().rposition(|word| word == "(")? } else { at };
        words.get(end.checked_sub(1)?).map(String::as_str)
    });
    let names = names.collect::<HashSet<_>>();
    names.into_iter().fold(1, |copies, name| copies.saturating_mul(uses[name].saturating_sub(1).max(1)))
}

/// Removes the quotes of a word and converts it to lower case, because SQLite compares names this way. If the
/// text between the quotes is not a single word, the result begins with a quote.
fn plain(word: &str) -> String {
    let inner = match word.chars().next() {
        Some(quote @ ('\'' | '"' | '`')) => word[1..]
            .strip_suffix(quote)
            .unwrap_or(&word[1..])
            .replace(&format!("{quote}{quote}"), &quote.to_string()),
        Some('[') => word[1..].strip_suffix(']').unwrap_or(&word[1..]).to_owned(),
        _ => return word.to_ascii_lowercase(),
    };
    let is_plain = inner.starts_with(is_of_name) && words(&inner) == [inner.as_str()];
    if is_plain { inner.to_ascii_lowercase() } else { format!("\"{}", inner.to_ascii_lowercase()) }
}

/// The message for the user if `message` says that the authorizer refused the statement, or that it exceeds a
/// limit; `None` for other errors. `words` are the words of the statement.
fn refused(message: &str, words: &[&str]) -> Option<String> {
    // Only the first line is the message. Further lines can show where the error is.
    let message = message.lines().next().unwrap_or_default();
    let function = message.strip_prefix("not authorized to use function: ");
    let is_slow = |word: &str| SLOW.iter().any(|name| word.eq_ignore_ascii_case(name));
    let uses = words.iter().filter(|word| is_slow(word)).count();
    Some(match function {
        Some(function) if is_slow(function) && uses <= SLOW_CALLS => {
            "This statement reads a view that is too slow here. In a compact database, use the names game_position and moves \
             without the prefix main."
                .to_owned()
        }
        Some(function) if is_slow(function) => {
            format!(
                "A statement can use LIKE, GLOB, instr and replace at most {SLOW_CALLS} times; use several statements."
            )
        }
        Some(function) => format!("The function {function} cannot be used here."),
        // SQLite names the column too: `access to dbstat.name is prohibited`.
        None if message.ends_with(" is prohibited") => {
            let name = message.trim_start_matches("access to ").rsplit('.').nth(1).unwrap_or_default();
            format!("The table {name} cannot be used here.")
        }
        None if message.starts_with("not authorized") => {
            "Only one statement that reads tables and views can be run here: SELECT, VALUES, WITH or EXPLAIN."
                .to_owned()
        }
        None if message.starts_with("string or blob too big") => {
            format!("A string or blob can have at most {LONGEST} bytes; leave it out, or run the statement with `pgndex sql`.")
        }
        None if message.starts_with("LIKE or GLOB pattern too complex") => {
            format!("A pattern of LIKE or GLOB can have at most {PATTERN} bytes; write a shorter one.")
        }
        None => return None,
    })
}

/// Configures a connection for users' statements.
pub(in crate::server) fn guard(database: &Database) -> Result<()> {
    database.read_views_quickly()?;
    let connection = database.connection();
    let guard = || {
        for (limit, most) in SIZES {
            connection.set_limit(limit, most)?;
        }
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false).map(drop)
    };
    guard().map_err(|source| Error::sqlite(database.path(), "guard the connection", source))
}

/// Restricts the next statement on a connection to reading, and limits its uses of slow functions.
fn authorize(database: &Database) -> Result<()> {
    let mut slow_calls = 0;
    let set = database.connection().authorizer(Some(move |context: AuthContext<'_>| {
        if is_allowed(&context.action, &mut slow_calls) { Authorization::Allow } else { Authorization::Deny }
    }));
    set.map_err(|source| Error::sqlite(database.path(), "guard the connection", source))
}

fn is_allowed(action: &AuthAction<'_>, slow_calls: &mut usize) -> bool {
    match *action {
        AuthAction::Select | AuthAction::Recursive => true,
        AuthAction::Read { table_name, .. } => !TABLES.contains(&table_name),
        AuthAction::Function { function_name } => {
            let is_named = |names: &[&str]| names.iter().any(|name| function_name.eq_ignore_ascii_case(name));
            *slow_calls += usize::from(is_named(&SLOW));
            !is_named(&FUNCTIONS) && *slow_calls <= SLOW_CALLS
        }
        AuthAction::Pragma { pragma_name, pragma_value } => {
            PRAGMAS.contains(&pragma_name) && (pragma_name != "user_version" || pragma_value.is_none())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_tables_are_counted() {
        for (sql, expected) in [
            ("SELECT x AS y FROM game", 1),
            ("WITH a AS (SELECT 1), b (x, y) AS (SELECT * FROM a, A) SELECT * FROM b", 2),
            (
                "WITH \"a\" AS NOT MATERIALIZED (SELECT 1), b AS (SELECT * FROM [a]--a\n, a) SELECT * FROM b,b,`b`",
                6,
            ),
            (
                "WITH \"a\"\"1\" AS (SELECT 1), [b\"1] AS (SELECT * FROM [a\"1], [A\"1]) SELECT * FROM `b\"1`, [b\"1]",
                4,
            ),
            (
                "WITH a\u{2603} AS (SELECT 1), b\u{2603} AS (SELECT * FROM a\u{2603}, a\u{2603}) SELECT * FROM b\u{2603}, b\u{2603}",
                4,
            ),
            (
                "WITH \"a\u{2603}\" AS (SELECT 1), b$ AS (SELECT * FROM a\u{2603}, A\u{2603}) SELECT * FROM [b$], b$",
                4,
            ),
            (
                "WITH a AS (SELECT 1), b AS (SELECT * FROM \u{feff}a,\u{feff}\u{feff}a) SELECT * FROM b\u{feff}, b",
                2,
            ),
            ("WITH \u{a0}a AS (SELECT 1), a AS (SELECT * FROM \u{a0}a, \u{a0}a) SELECT * FROM a, a", 4),
            ("WITH \")\"/*/)*/ AS (SELECT 1) SELECT * FROM \")\", \")\"", 2),
            ("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT * FROM n", 2),
        ] {
            assert_eq!(copies(&words(sql)), expected, "{sql}");
        }
    }
}
