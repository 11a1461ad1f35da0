//! SQL of somebody else: it reads, for a second at most, and no more than can be shown.

use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use serde::Deserialize;

use crate::query::{SqlLimits, SqlRows};
use crate::server::answer::{Answer, JSON, Problem, Shape};
use crate::server::api::post;
use crate::server::request::Call;
use crate::server::route::{Lane, Route};
use crate::store::{Database, Error, Result};

/// What is sent, and what is answered at most.
const STATEMENT: usize = 64 << 10;
const LIMITS: SqlLimits = SqlLimits { rows: 1000, bytes: 4 << 20 };

/// A function of SQLite that compares long texts cannot be stopped: with these it ends soon.
const LONGEST: i32 = 300_000;

/// What the statement of somebody else may be like.
const SIZES: [(Limit, i32); 10] = [
    (Limit::SQLITE_LIMIT_LENGTH, LONGEST),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, STATEMENT as i32),
    (Limit::SQLITE_LIMIT_COLUMN, 200),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 200),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 50),
    (Limit::SQLITE_LIMIT_VDBE_OP, 250_000),
    (Limit::SQLITE_LIMIT_ATTACHED, 0),
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200),
    (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
    (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
];

/// Pragmas that tell of tables, and change nothing.
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

/// Functions that reach beyond the database.
const FUNCTIONS: [&str; 2] = ["load_extension", "fts3_tokenizer"];

pub(super) const ROUTES: &[Route] = &[post(
    "/api/sql",
    "The rows of one SQL statement that reads, sent as {\"sql\": \"…\"}",
    &[],
    Lane::Sql,
    (STATEMENT, JSON),
    Shape::json::<SqlRows>(),
    run,
)];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Statement {
    sql: String,
}

fn run(call: &Call, database: &Database) -> std::result::Result<Answer, Problem> {
    let statement: Statement = serde_json::from_slice(&call.body).map_err(|error| {
        let detail = if error.is_data() {
            "Send one object with one text, the statement: {\"sql\": \"SELECT …\"}.".to_owned()
        } else {
            let (line, column) = (error.line(), error.column());
            format!(
                "What was sent is no JSON, from line {line}, column {column} on; send {{\"sql\": \"SELECT …\"}}."
            )
        };
        Problem::new(400, "wrong request", detail)
    })?;
    let rows = SqlRows::of(database, &statement.sql, LIMITS).map_err(|error| {
        let is_refused = error.to_string().starts_with("not authorized");
        let problem = Problem::from(error);
        if is_refused {
            let detail = "Only one statement that reads tables and views can be run here: SELECT, VALUES, WITH or EXPLAIN.";
            return Problem { detail: detail.to_owned(), ..problem };
        }
        problem
    })?;
    Answer::json(&rows)
}

/// Makes a connection fit for statements of somebody else.
pub(in crate::server) fn guard(database: &Database) -> Result<()> {
    let connection = database.connection();
    let guard = || {
        for (limit, most) in SIZES {
            connection.set_limit(limit, most)?;
        }
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.authorizer(Some(authorize))
    };
    guard().map_err(|source| Error::sqlite(database.path(), "guard the connection", source))
}

fn authorize(asked: AuthContext<'_>) -> Authorization {
    let is_allowed = match asked.action {
        AuthAction::Select | AuthAction::Recursive => true,
        // Whole pages can be read as a table too.
        AuthAction::Read { table_name, .. } => table_name != "sqlite_dbpage",
        AuthAction::Function { function_name } => {
            !FUNCTIONS.iter().any(|name| function_name.eq_ignore_ascii_case(name))
        }
        AuthAction::Pragma { pragma_name, pragma_value } => {
            PRAGMAS.contains(&pragma_name) && (pragma_name != "user_version" || pragma_value.is_none())
        }
        _ => false,
    };
    if is_allowed { Authorization::Allow } else { Authorization::Deny }
}
