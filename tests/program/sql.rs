//! `pgndex sql` as a program.

use std::fs;
use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::command::Run;
use crate::needs::has_program;
use crate::workspace::{Workspace, run_with_input};
use pgndex::store::WriterLock;

const GAMES: &str = r#"[Event "Club"]
[White "Ågren, Åsa"]
[Black "棋聖"]
[Result "1-0"]
[WhiteElo "2455"]
[Annotator "a|b, \"c\""]

1. e4 e5 2. Nc3 1-0

[Event "Endings"]
[White "?"]
[Black "?"]
[Result "*"]
[SetUp "1"]
[FEN "r3k3/7P/8/8/8/8/8/4K3 b q - 5 17"]
[Annotator "me"]

17... O-O-O 18. h8=Q *

[Event "Shuffle"]
[White "Knight, A"]
[Black "Knight, B"]
[Result "1/2-1/2"]

1. Nf3 Nf6 2. Ng1 Ng8 1/2-1/2
"#;

/// A query with values of every type, special characters and NULL.
const QUERY: &str = "SELECT g.game_id, white, white_elo, t.value AS note, x'00ff' AS blob, 0.5 AS half
    FROM games AS g LEFT JOIN tag AS t USING (game_id) ORDER BY 1";

const ENDLESS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";

fn sample() -> Workspace {
    Workspace::for_command(&["sql", "games.db"]).built(GAMES)
}

mod formats {
    use super::*;

    #[test]
    fn rows_in_each_format() {
        let sample = sample();
        let print = |format| sample.ok(&["--format", format, QUERY]);
        insta::assert_snapshot!(print("table"), @r#"
        game_id  white       white_elo  note      blob  half
        ────────────────────────────────────────────────────
              1  Ågren, Åsa       2455  a|b, "c"  00ff   0.5
              2                         me        00ff   0.5
              3  Knight, A                        00ff   0.5
        3 rows
        "#);
        insta::assert_snapshot!(print("box"), @r#"
        ┌─────────┬────────────┬───────────┬──────────┬──────┬──────┐
        │ game_id │   white    │ white_elo │   note   │ blob │ half │
        ├─────────┼────────────┼───────────┼──────────┼──────┼──────┤
        │ 1       │ Ågren, Åsa │ 2455      │ a|b, "c" │ 00ff │ 0.5  │
        │ 2       │            │           │ me       │ 00ff │ 0.5  │
        │ 3       │ Knight, A  │           │          │ 00ff │ 0.5  │
        └─────────┴────────────┴───────────┴──────────┴──────┴──────┘
        "#);
        insta::assert_snapshot!(print("csv"), @r#"
        game_id,white,white_elo,note,blob,half
        1,"Ågren, Åsa",2455,"a|b, ""c""",00ff,0.5
        2,,,me,00ff,0.5
        3,"Knight, A",,,00ff,0.5
        "#);
        insta::assert_snapshot!(print("json"), @r#"
        {"game_id":1,"white":"Ågren, Åsa","white_elo":2455,"note":"a|b, \"c\"","blob":"00ff","half":0.5}
        {"game_id":2,"white":null,"white_elo":null,"note":"me","blob":"00ff","half":0.5}
        {"game_id":3,"white":"Knight, A","white_elo":null,"note":null,"blob":"00ff","half":0.5}
        "#);
        insta::assert_snapshot!(print("md"), @r#"
        | game_id | white      | white_elo | note      | blob | half |
        |--------:|------------|----------:|-----------|------|-----:|
        |       1 | Ågren, Åsa |      2455 | a\|b, "c" | 00ff |  0.5 |
        |       2 |            |           | me        | 00ff |  0.5 |
        |       3 | Knight, A  |           |           | 00ff |  0.5 |
        "#);
        insta::assert_snapshot!(print("line"), @r#"
          game_id = 1
            white = Ågren, Åsa
        white_elo = 2455
             note = a|b, "c"
             blob = 00ff
             half = 0.5

          game_id = 2
            white =
        white_elo =
             note = me
             blob = 00ff
             half = 0.5

          game_id = 3
            white = Knight, A
        white_elo =
             note =
             blob = 00ff
             half = 0.5
        "#);
        assert_eq!(print("jsonl"), print("json"));
        assert_eq!(sample.ok(&[QUERY]), print("table"));
    }

    #[test]
    fn empty_results_in_each_format() {
        let sample = sample();
        let print = |format| sample.ok(&["--format", format, "SELECT 1 AS a, 2 AS b WHERE 0"]);
        insta::assert_snapshot!(print("table"), @"
        a  b
        ────
        0 rows
        ");
        insta::assert_snapshot!(print("box"), @"
        ┌───┬───┐
        │ a │ b │
        ├───┼───┤
        └───┴───┘
        ");
        insta::assert_snapshot!(print("csv"), @"a,b");
        insta::assert_snapshot!(print("md"), @"
        | a | b |
        |---|---|
        ");
        assert_eq!((print("json").as_str(), print("line").as_str()), ("", ""));
    }

    /// The cells of a framed or Markdown table, without the blanks around them.
    fn cells(table: &str) -> Vec<Vec<&str>> {
        let rows = table.lines().filter(|line| line.starts_with(['│', '|']) && !line.starts_with("|-"));
        let rows = rows.map(|line| line.split(['│', '|']).map(str::trim).collect());
        rows.filter(|cells: &Vec<&str>| cells.iter().any(|cell| cell.contains(char::is_alphanumeric)))
            .collect()
    }

    #[test]
    fn output_agrees_with_the_sqlite3_shell() {
        let shell = |sample: &Workspace, mode: &str, sql: &str| {
            let mut command = Command::new("sqlite3");
            let output =
                command.args([mode, "-header", "games.db", sql]).current_dir(sample.directory()).output();
            output.ok().map(|output| String::from_utf8(output.stdout).expect("text"))
        };
        let sample = sample();
        let sql = "SELECT game_id, white, white_elo, result, 'ünï' || char(10) || '\"x\"' AS text FROM games";
        let plain = sql.replace("char(10)", "''");
        if !has_program("sqlite3") {
            return;
        }
        let theirs = |mode, sql: &str| shell(&sample, mode, sql).expect("sqlite3 runs");
        let ours = |format, sql: &str| sample.ok(&["--format", format, sql]);
        assert_eq!(cells(&ours("box", &plain)), cells(&theirs("-box", &plain)));
        assert_eq!(cells(&ours("box", &plain)).len(), 4);
        assert_eq!(cells(&ours("md", &plain)), cells(&theirs("-markdown", &plain)));
        let lines = |text: String| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
        assert_eq!(lines(ours("line", &plain)), lines(theirs("-line", &plain)));
        // The `sqlite3` shell ends lines with CR LF, as RFC 4180 requires.
        assert_eq!(ours("csv", sql), theirs("-csv", sql).replace("\r\n", "\n"));
        let objects = ours("json", sql).lines().collect::<Vec<_>>().join(",\n");
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        assert_eq!(value(&format!("[{objects}]")), value(&theirs("-json", sql)));
    }

    /// It is not an error if the reader closes the pipe after the first line, even if the query never ends.
    #[test]
    fn a_closed_pipe_is_not_an_error() {
        let sample = sample();
        let endless = format!("{ENDLESS} SELECT i FROM n");
        for format in ["table", "box", "csv", "json", "md", "line"] {
            let mut command = sample.command_with(&[&endless, "--format", format]);
            let mut child =
                command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
            let mut start = [0; 8];
            child.stdout.take().expect("a pipe").read_exact(&mut start).expect("output");
            let run = Run::of(child.wait_with_output().expect("an end"));
            assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{format}");
        }
    }
}

mod scripts {
    use super::*;

    const SCRIPT: &str = "\
-- Two statements and a command.
SELECT count(*) AS games
FROM game; SELECT 'a;b' AS text;

.mode csv
/* The last one
   needs no semicolon. */
SELECT 1 AS a, NULL AS b
";

    #[test]
    fn statements_run_one_after_the_other() {
        let sample = sample().with("report.sql", SCRIPT);
        let printed = sample.ok(&["--file", "report.sql"]);
        insta::assert_snapshot!(printed, @"
        games
        ─────
            3
        1 row

        text
        ────
        a;b
        1 row
        a,b
        1,
        ");
        assert_eq!(sample.ok(&[SCRIPT]), printed);
        // A statement without a result set prints nothing.
        assert_eq!(sample.ok(&["BEGIN; SELECT 1 AS a; COMMIT", "--format", "line"]), "a = 1\n");
        for arguments in [&[][..], &["-"]] {
            let run = run_with_input(sample.command_with(arguments), SCRIPT);
            assert_eq!((run.status, run.stdout, run.stderr.as_str()), (0, printed.clone(), ""));
        }
    }

    #[test]
    fn a_comment_may_come_first() {
        let sample = sample();
        for query in ["-- one\nSELECT 1 AS a", "--one\nSELECT 1 AS a", "/* one */ SELECT 1 AS a -- end"] {
            assert_eq!(sample.ok(&["--format", "csv", query]), "a\n1\n", "{query}");
            assert_eq!(sample.ok(&[query, "--format", "csv"]), "a\n1\n", "{query}");
        }
        for arguments in [&["--wirte"][..], &["-x"], &["SELECT 1", "--wirte"], &["SELECT", "1"]] {
            let run = sample.run_with(arguments);
            assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{arguments:?}");
        }
    }

    #[test]
    fn dot_commands_in_scripts() {
        let sample = sample();
        insta::assert_snapshot!(sample.ok(&[".schema player"]), @"
        CREATE TABLE player (
            player_id INTEGER PRIMARY KEY,
            name      TEXT NOT NULL
        ) STRICT;

        CREATE UNIQUE INDEX player_name ON player (name);
        ");
        insta::assert_snapshot!(sample.ok(&[".help"]), @"
        .tables             the tables and views with their columns
        .schema [TABLE]     the SQL that created the tables, with comments
        .mode FORMAT        how rows are printed: table, box, csv, json, md or line
        .headers on|off     whether table and csv begin with the names of the columns
        .parameter [WHAT]   list; set NAME VALUE gives :NAME a value; unset NAME; clear
        .output [FILE]      write further answers to a new file; without FILE, to the screen again
        .timer on|off       whether the time a statement took is shown
        .help               this text
        .quit               leave the prompt; so does Ctrl-D
        A statement ends with ';' and can be several lines long. Ctrl-C stops it. Tab completes names.
        ");
        let tables = sample.ok(&[".mode csv\n.tables\n.quit\nnonsense"]);
        assert!(tables.starts_with("name,kind,columns\n"), "{tables}");
        assert!(tables.contains("\nplayer,table,\"player_id, name\"\n"), "{tables}");
        assert!(tables.contains("\nmoves,view,\"game_id, ply, move_number,"), "{tables}");
        assert!(sample.ok(&[".schema"]).contains("CREATE VIEW positions AS"));
        let run = sample.run_with(&[".timer on\nSELECT 1;\n.timer off\nSELECT 2;", "--format", "csv"]);
        assert_eq!((run.status, run.stdout.as_str()), (0, "1\n1\n2\n2\n"));
        assert_eq!((run.stderr.lines().count(), run.stderr.ends_with(" s\n")), (1, true), "{}", run.stderr);
        insta::assert_snapshot!(sample.failure(&[".tabels"]), @r#"pgndex: error: no such command: .tabels; did you mean ".tables"?"#);
        insta::assert_snapshot!(sample.failure(&[".frobnicate"]), @"pgndex: error: no such command: .frobnicate; .help lists the commands");
        insta::assert_snapshot!(sample.failure(&[".quit now"]), @"pgndex: error: .quit takes no argument");
        insta::assert_snapshot!(sample.failure(&[".mode tree"]), @r#"pgndex: error: no such format: "tree"; .mode takes table, box, csv, json, md, line"#);
        insta::assert_snapshot!(sample.failure(&[".timer"]), @"pgndex: error: .timer takes on or off");
        insta::assert_snapshot!(sample.failure(&[".headers"]), @"pgndex: error: .headers takes on or off");
        insta::assert_snapshot!(sample.failure(&[".parameter nonsense"]), @"pgndex: error: .parameter takes: list; set NAME VALUE; unset NAME; clear");
        insta::assert_snapshot!(sample.failure(&[".parameter unset x"]), @"pgndex: error: no parameter x; .parameter list shows all parameters");
        insta::assert_snapshot!(sample.failure(&[".schema gmes"]), @r#"pgndex: error: no such table: gmes; did you mean "games"?"#);
    }
}

mod session {
    use super::*;

    #[test]
    fn parameters_are_numbers_and_texts() {
        let sample = sample();
        let query = "SELECT typeof(:a) AS a, typeof(@b) AS b, typeof($c) AS c, :d AS d, :d || 'x' AS e";
        let arguments =
            ["--param", "a=42", "-p", "b=4.5", "-p", ":c='42'", "-p", "d=rnbq/8 w - -", "-f", "csv", query];
        assert_eq!(sample.ok(&arguments), "a,b,c,d,e\ninteger,real,text,rnbq/8 w - -,rnbq/8 w - -x\n");
        insta::assert_snapshot!(sample.failure(&["SELECT :name"]), @"pgndex: error: no value for :name; give --param name=VALUE, or use the command `.parameter set name VALUE`");
        insta::assert_snapshot!(sample.failure(&["SELECT ?"]), @"pgndex: error: a parameter without a name: write :name instead of ?, and give --param name=VALUE");
        let script = ".mode csv\n.parameter set x 7\n.parameter set y 'a b'\nSELECT :x + 1 AS n;\n.parameter list\n\
            .parameter unset x\n.parameter list\n.parameter clear\n.parameter\n";
        assert_eq!(sample.ok(&[script]), "n\n8\nname,value\nx,7\ny,a b\nname,value\ny,a b\nname,value\n");
        for wrong in ["x", "=1", "a b=1", ""] {
            assert_eq!(sample.run_with(&["--param", wrong, "SELECT 1"]).status, 2, "{wrong}");
        }
    }

    #[test]
    fn unused_parameters_are_an_error() {
        let sample = sample().with("a.sql", "SELECT :na;\nSELECT ?1;\n");
        let failure = |arguments: &[&str]| sample.stderr_of(2, arguments);
        let write = ["--write", "-p", "nam=x", "-p", "1=2", "DELETE FROM game WHERE ?1 = $1 AND 'x' = :name"];
        insta::assert_snapshot!(failure(&write), @"pgndex: error: --param nam: no statement has the parameter :nam; leave the option out, or check the name");
        assert_eq!(sample.number("games.db", "SELECT count(*) FROM game"), 3);
        insta::assert_snapshot!(failure(&["-p", "11=3", "-p", "1=2", "SELECT ?1"]), @"pgndex: error: --param 11: no statement has the parameter ?11; leave the option out, or check the name");
        let file = ["--file", "a.sql", "-p", "1=2", "-p", "n=3", "-p", "na=1", "-f", "csv"];
        let run = sample.run_with(&file);
        assert_eq!((run.status, run.stdout.as_str()), (2, ":na\n1\n?1\n2\n"));
        insta::assert_snapshot!(run.stderr, @"pgndex: error: --param n: no statement of a.sql has the parameter :n; leave the option out, or check the name");
        assert_eq!(sample.ok(&["-p", "x=1", ".mode csv\nSELECT 1 AS a;\nSELECT :x AS b;"]), "a\n1\nb\n1\n");
    }

    #[test]
    fn output_files_and_headers_can_be_set() {
        let sample = sample();
        let script = ".headers off\nSELECT 1 AS a, 2 AS b;\n.mode csv\nSELECT 3 AS c;\n.headers on\n\
            .output a.csv\nSELECT 4 AS d;\n.output\nSELECT 5 AS e;\n.output b.csv\n.mode table\nSELECT 6 AS f;\nSELECT 7 AS g;\n";
        assert_eq!(sample.ok(&[script]), "1  2\n1 row\n3\ne\n5\n");
        let read = |name| std::fs::read_to_string(sample.path(name)).expect("a file");
        assert_eq!(read("a.csv"), "d\n4\n");
        assert_eq!(read("b.csv"), "\nf\n─\n6\n1 row\n\ng\n─\n7\n1 row\n");
        assert_eq!(sample.names(), ["a.csv", "b.csv", "games.db"]);
        insta::assert_snapshot!(sample.failure(&[".output a.csv"]), @"pgndex: error: a.csv: already exists; remove it first, or name another file");
        insta::assert_snapshot!(sample.failure(&[".output games.db-wal"]), @"pgndex: error: games.db-wal: is the database itself or one of its auxiliary files, so it is not replaced; choose another file");
        // If a statement fails, no file is left.
        sample.failure(&[".output c.csv\nSELECT 1;\nSELECT nonsense;"]);
        assert_eq!(sample.names(), ["a.csv", "b.csv", "games.db"]);
    }

    #[test]
    fn words_that_begin_no_statement_are_commands() {
        let sample = sample();
        assert!(sample.ok(&["help\nexit\nnonsense"]).starts_with(".tables "));
        assert_eq!(sample.ok(&["SELECT 1 AS a;\nQUIT;\nnonsense", "-f", "csv"]), "a\n1\n");
    }

    #[test]
    fn functions_of_other_programs_are_available() {
        let sample = sample();
        let query = "SELECT round(sqrt(2), 3) AS a, median(value) AS b, percentile(value, 25) AS c, \
            sum('ab' || value REGEXP '^ab[1-3]$') AS d FROM generate_series(1, 10)";
        assert_eq!(sample.ok(&["-f", "csv", query]), "a,b,c,d\n1.414,5.5,3.25,3\n");
        insta::assert_snapshot!(sample.failure(&["SELECT 'a' REGEXP '('"]), @"pgndex: error: regexp: not a regular expression: found open group without closing ')'");
    }
}

mod errors {
    use super::*;

    #[test]
    fn errors_show_the_location() {
        let sample = sample();
        let failure = |query| sample.failure(&[query]);
        insta::assert_snapshot!(failure("SELECT whiet FROM games"), @r#"
        pgndex: error: no such column: whiet
          1 | SELECT whiet FROM games
            |        ^
          did you mean "white"?
        "#);
        insta::assert_snapshot!(failure("SELECT game_id,\n\twhite\nFROM game"), @"
        pgndex: error: no such column: white
          2 |  white
            |  ^
          tables with this column: games; similar columns: as_white
        ");
        insta::assert_snapshot!(failure("SELEC 1"), @r#"
        pgndex: error: near "SELEC": syntax error
          1 | SELEC 1
            | ^
        "#);
        insta::assert_snapshot!(failure("SELECT * FROM gmae"), @r#"
        pgndex: error: no such table: gmae
          did you mean "game"?
        "#);
        insta::assert_snapshot!(failure("SELECT conut(*) FROM game"), @r#"
        pgndex: error: no such function: conut
          1 | SELECT conut(*) FROM game
            |        ^
          did you mean "count"?
        "#);
        for (query, hint) in [
            ("SELECT * FROM game WHERE eco = B90", "if you meant a string, put it in single quotes: 'B90'"),
            ("show tables", ".tables lists the tables, and .schema TABLE shows one"),
            ("SELECT load_extension('x')", "extensions cannot be loaded here"),
            ("ATTACH 'new.db' AS new", "ATTACH needs an existing database"),
            ("SELECT * FROM nonsense", ".tables lists the tables"),
        ] {
            let reported = failure(query);
            assert!(reported.contains(&format!("\n  {hint}")), "{query}: {reported}");
        }
        insta::assert_snapshot!(failure("SELECT ("), @"
        pgndex: error: incomplete input
          the statement ends too early, or a bracket or quote is not closed
        ");
        insta::assert_snapshot!(failure(""), @"pgndex: error: the query is empty; give a statement, such as SELECT * FROM games LIMIT 10");
        insta::assert_snapshot!(failure("SELECT json('{')"), @"pgndex: error: malformed JSON");
        insta::assert_snapshot!(failure("SELECT ?1"), @"pgndex: error: no value for ?1; give --param 1=VALUE, or use the command `.parameter set 1 VALUE`");
    }

    #[test]
    fn errors_in_a_file_show_its_name_and_line() {
        let sample = sample()
            .with(
                "a.sql",
                "-- one\nSELECT count(*) AS n FROM game;\n\nSELECT *\nFROM games\nWHERE whiet = 'x';\nnever",
            )
            .with("b.sql", "\n\nSELECT json('{');")
            .with("c.sql", "SELECT 1;\n.mode tree")
            .with("d.sql", b"SELECT 1;\nSELECT '\xff'");
        let run = sample.run_with(&["--file", "a.sql", "--format", "csv"]);
        assert_eq!((run.status, run.stdout.as_str()), (1, "n\n3\n"));
        insta::assert_snapshot!(run.stderr, @r#"
        pgndex: error: a.sql:6: no such column: whiet
          6 | WHERE whiet = 'x';
            |       ^
          did you mean "white"?
        "#);
        insta::assert_snapshot!(sample.failure(&["--file", "b.sql"]), @"pgndex: error: b.sql:3: malformed JSON");
        insta::assert_snapshot!(sample.run_with(&["--file", "c.sql"]).stderr, @r#"pgndex: error: c.sql:2: no such format: "tree"; .mode takes table, box, csv, json, md, line"#);
        insta::assert_snapshot!(sample.run_with(&["--file", "d.sql"]).stderr, @"
        pgndex: error: d.sql: cannot read the statements
          because: line 2 is not UTF-8 text
        ");
        insta::assert_snapshot!(sample.failure(&["--file", "e.sql"]), @"
        pgndex: error: e.sql: cannot read the statements; give an existing file with --file, or - for standard input
          because: No such file or directory (os error 2)
        ");
        insta::assert_snapshot!(run_with_input(sample.command_with(&[]), "SELECT\n1 +").stderr, @"
        pgndex: error: standard input:1: incomplete input
          the statement ends too early, or a bracket or quote is not closed
        ");
    }
}

mod attaching {
    use super::*;

    /// An error in an attached file is not blamed on the database.
    #[test]
    fn errors_of_an_attached_file_do_not_name_the_database() {
        let sample =
            sample().with("text.txt", "no database at all, but long enough to be looked at\n".repeat(20));
        let other = rusqlite::Connection::open(sample.path("damaged.db")).expect("a database");
        other
            .execute_batch(
                "PRAGMA page_size = 512; CREATE TABLE t(x); INSERT INTO t VALUES (zeroblob(5000));",
            )
            .expect("rows");
        drop(other);
        let mut bytes = fs::read(sample.path("damaged.db")).expect("the database");
        bytes[512..].fill(0xff);
        fs::write(sample.path("damaged.db"), bytes).expect("written");
        for (statements, message) in [
            ("ATTACH 'text.txt' AS other", "cannot attach that file: file is not a database"),
            ("-- first\nattach 'text.txt' AS other", "cannot attach that file: file is not a database"),
            (
                "ATTACH 'damaged.db' AS other; SELECT * FROM other.t",
                "database disk image is malformed, in this database or an attached one",
            ),
        ] {
            let run = sample.run_with(&[statements]);
            assert_eq!(run.status, 1, "{statements}");
            assert!(run.stderr.contains(message), "{statements}: {}", run.stderr);
            assert!(!run.stderr.contains("games.db"), "{statements}: {}", run.stderr);
        }
        assert_eq!(sample.run_with(&["ATTACH 'nothing.db' AS other"]).status, 1);
    }
}

mod writing {
    use super::*;

    #[test]
    fn writing_is_refused_unless_allowed() {
        let sample = sample();
        let before = fs::read(sample.path("games.db")).expect("the database");
        for query in [
            "DELETE FROM tag",
            "DROP TABLE game",
            "CREATE TEMP TABLE t (x)",
            "PRAGMA user_version = 9",
            "VACUUM",
            "VACUUM INTO 'copy.db'",
        ] {
            insta::allow_duplicates! {
                insta::assert_snapshot!(sample.failure(&[query]), @"pgndex: error: this would change the database; give --write to allow it");
            }
        }
        for query in ["DELETE FROM game", "delete from games WHERE game_id = 1"] {
            let hint = "to remove games with all rows that refer to them, use `pgndex remove`";
            assert!(sample.failure(&[query]).contains(hint), "{query}");
        }
        assert_eq!(sample.run_with(&["ATTACH 'new.db' AS new"]).status, 1);
        assert!(before == fs::read(sample.path("games.db")).expect("the database"));
        assert_eq!(sample.names(), ["games.db"]);
    }

    #[test]
    fn the_number_of_changed_rows_is_printed() {
        let sample = sample();
        let script = "UPDATE game SET eco = 'A00' WHERE game_id <= 2;
            DELETE FROM tag WHERE name = 'Annotator' RETURNING value;
            DELETE FROM tag WHERE name = 'Annotator';
            SELECT count(*) AS n FROM game WHERE eco = 'A00'";
        let run = sample.run_with(&["--write", "--format", "csv", script]);
        assert_eq!((run.status, run.stdout.as_str()), (0, "value\n\"a|b, \"\"c\"\"\"\nme\nn\n2\n"));
        assert_eq!(run.stderr, "2 rows changed\n2 rows changed\n0 rows changed\n");
        assert_eq!(sample.number("games.db", "SELECT count(*) FROM game WHERE eco = 'A00'"), 2);
        assert_eq!(sample.names(), ["games.db"]);
        let script = "CREATE TABLE mine (x); INSERT INTO mine VALUES (1), (2); CREATE TABLE copy AS SELECT * FROM mine";
        let run = sample.run_with(&["--write", script]);
        assert_eq!(
            (run.status, run.stderr.as_str()),
            (0, "schema changed\n2 rows changed\nschema changed\n")
        );
    }

    #[test]
    fn changes_before_an_error_are_kept_unless_in_a_transaction() {
        let sample = sample();
        let run = sample.run_with(&["--write", "DELETE FROM tag WHERE game_id = 1; DELETE FROM nonsense"]);
        assert_eq!(run.status, 1);
        assert_eq!(sample.number("games.db", "SELECT count(*) FROM tag"), 1);
        let run = sample.run_with(&["--write", "BEGIN; DELETE FROM tag; DELETE FROM nonsense; COMMIT"]);
        assert_eq!(run.status, 1);
        let run = sample.run_with(&["--write", "BEGIN; DELETE FROM tag"]);
        assert_eq!(run.status, 1);
        insta::assert_snapshot!(run.stderr, @"
        1 row changed
        pgndex: error: there was a BEGIN but no COMMIT; the changes since BEGIN were not kept
        ");
        assert_eq!(sample.number("games.db", "SELECT count(*) FROM tag"), 1);
        assert_eq!(sample.run_with(&["--write", "BEGIN; DELETE FROM tag; COMMIT"]).status, 0);
        assert_eq!(sample.number("games.db", "SELECT count(*) FROM tag"), 0);
    }

    #[test]
    fn rows_that_refer_to_a_removed_row_are_reported() {
        let sample = sample();
        insta::assert_snapshot!(sample.failure(&["--write", "DELETE FROM player WHERE player_id = 1"]), @"
        pgndex: error: FOREIGN KEY constraint failed
          rows of player are referenced by game.black_id, game.white_id
          to see the rows that would refer to a missing row: BEGIN; PRAGMA defer_foreign_keys = ON; <your statement>; PRAGMA foreign_key_check; ROLLBACK
        ");
        insta::assert_snapshot!(sample.failure(&["--write", "UPDATE game SET white_id = 99 WHERE game_id = 1"]), @"
        pgndex: error: FOREIGN KEY constraint failed
          rows of game must refer to existing rows: white_id (in player)
          to see the rows that would refer to a missing row: BEGIN; PRAGMA defer_foreign_keys = ON; <your statement>; PRAGMA foreign_key_check; ROLLBACK
        ");
        let failure = sample.failure(&["--write", "DELETE FROM game WHERE game_id = 1"]);
        assert!(failure.contains("use `pgndex remove`\n  rows of game are referenced by "), "{failure}");
        // The query from the message.
        let query = "BEGIN; PRAGMA defer_foreign_keys = ON; DELETE FROM player WHERE player_id = 1; PRAGMA foreign_key_check; ROLLBACK";
        insta::assert_snapshot!(sample.stdout_of(&["--write", "--format", "csv", query]), @"
        table,rowid,parent,fkid
        game,1,player,3
        ");
    }

    #[test]
    fn one_writer_at_a_time() {
        let sample = sample();
        let lock = WriterLock::acquire(&sample.path("games.db")).expect("the lock");
        let refused = sample.run_with(&["--write", "DELETE FROM tag"]);
        assert_eq!((refused.status, refused.stdout.as_str()), (4, ""));
        assert!(refused.stderr.contains("being written by process "), "{}", refused.stderr);
        assert_eq!(sample.ok(&["SELECT count(*) AS n FROM tag", "--format", "csv"]), "n\n2\n");
        drop(lock);
        assert_eq!(sample.run_with(&["--write", "DELETE FROM tag"]).status, 0);
    }

    #[test]
    fn no_files_are_created_for_a_missing_database() {
        let sample = sample();
        fs::remove_file(sample.path("games.db")).expect("a file");
        let failure = sample.failure(&["--write", "SELECT 1"]);
        assert!(failure.contains("no such database"), "{failure}");
        assert_eq!(sample.names(), [""; 0]);
    }
}

#[cfg(unix)]
mod signals {
    use super::*;

    fn signal(child: &Child, name: &str) {
        let kill = format!("kill -{name} {}", child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().expect("a shell").success());
    }

    #[test]
    fn ctrl_c_stops_a_statement() {
        let sample = sample();
        let endless = format!("SELECT 1 AS a; {ENDLESS} SELECT count(*) FROM n; SELECT 2");
        for (name, status) in [("INT", 130), ("TERM", 143)] {
            let mut command = sample.command_with(&["--format", "csv", &endless]);
            let mut child =
                command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
            let mut first = [0; 4];
            child.stdout.as_mut().expect("a pipe").read_exact(&mut first).expect("the first result");
            // The second statement has started by now, or starts soon.
            std::thread::sleep(Duration::from_millis(500));
            signal(&child, name);
            let run = Run::of(child.wait_with_output().expect("an end"));
            assert_eq!((run.status, run.stdout.as_str()), (status, ""));
            insta::allow_duplicates! {
                insta::assert_snapshot!(run.stderr, @"pgndex: error: stopped before the end");
            }
        }
    }

    /// SQLite cannot interrupt a function call.
    #[test]
    fn signals_end_an_endless_function_call() {
        let sample = sample();
        for (name, status) in [("INT", 130), ("TERM", 143)] {
            let mut command =
                sample.command_with(&["SELECT instr(zeroblob(30000000), zeroblob(15000000) || x'01')"]);
            let child =
                command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
            std::thread::sleep(Duration::from_millis(400));
            signal(&child, name);
            let began = Instant::now();
            let run = Run::of(child.wait_with_output().expect("an end"));
            let stopped = (status, "pgndex: error: stopped before the end\n");
            assert_eq!((run.status, run.stderr.as_str()), stopped);
            assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        }
    }

    #[test]
    fn rows_found_before_ctrl_c_are_printed() {
        let sample = sample();
        // The query finds fewer rows than the table format buffers. After that, it finds no more rows, but never ends.
        let query = format!("{ENDLESS} SELECT i FROM n WHERE i <= 10");
        let mut command = sample.command_with(&[&query]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
        std::thread::sleep(Duration::from_millis(1000));
        signal(&child, "INT");
        let run = Run::of(child.wait_with_output().expect("an end"));
        assert_eq!(run.status, 130);
        assert!(run.stdout.ends_with("\n 9\n10\n"), "{}", run.stdout);
        assert_eq!(run.stderr, "pgndex: error: stopped before the end\n");
    }

    #[test]
    fn a_stopped_statement_changes_nothing() {
        let sample = sample();
        let change = format!("INSERT INTO tag {ENDLESS} SELECT 1, i, '' FROM n");
        let mut command = sample.command_with(&["--write", &change]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
        std::thread::sleep(Duration::from_millis(500));
        signal(&child, "INT");
        assert_eq!(Run::of(child.wait_with_output().expect("an end")).status, 130);
        assert_eq!(sample.number("games.db", "SELECT count(*) FROM tag"), 2);
        assert_eq!(sample.names(), ["games.db"]);
    }
}

/// The program on a terminal, which `script` creates.
#[cfg(target_os = "linux")]
mod terminal {
    use super::*;

    struct Terminal {
        child: Child,
        keys: ChildStdin,
        screen: Arc<Mutex<Vec<u8>>>,
        /// The length of the output that has been checked.
        seen: usize,
    }

    impl Terminal {
        /// Runs the program with arguments for a shell; `None` without `script`.
        fn open(sample: &Workspace, columns: u32, arguments: &str) -> Option<Self> {
            if !has_program("script") {
                return None;
            }
            let program = env!("CARGO_BIN_EXE_pgndex");
            // The shell waits at the end until the test has seen the status; otherwise `script` could end before it has
            // read the last output. Any shell survives the interrupts that are meant for the program.
            let line = format!(
                "trap : INT; stty rows 40 cols {columns}; '{program}' sql games.db {arguments}; echo status=$?; read -r end"
            );
            let mut command = Command::new("script");
            command
                .args(["-qec", &line, "/dev/null"])
                .envs([("TERM", "xterm"), ("SHELL", "/bin/sh"), ("LC_ALL", "C.UTF-8")])
                .current_dir(sample.directory());
            let mut child =
                command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("script runs");
            let keys = child.stdin.take().expect("a pipe");
            let mut output = child.stdout.take().expect("a pipe");
            let screen = Arc::new(Mutex::new(Vec::new()));
            let shared = Arc::clone(&screen);
            std::thread::spawn(move || {
                let mut block = [0; 4096];
                while let Ok(read @ 1..) = output.read(&mut block) {
                    shared.lock().expect("no panic").extend_from_slice(&block[..read]);
                }
            });
            Some(Self { child, keys, screen, seen: 0 })
        }

        /// Waits for a text, and returns the output since the last call up to this text.
        fn until(&mut self, text: &str) -> String {
            let began = Instant::now();
            loop {
                let screen =
                    String::from_utf8_lossy(&self.screen.lock().expect("no panic")).replace('\r', "");
                let new = &screen[self.seen..];
                if let Some(at) = new.find(text) {
                    let end = at + text.len();
                    let found = new[..end].to_owned();
                    self.seen += end;
                    return found;
                }
                assert!(began.elapsed() < Duration::from_secs(30), "no {text:?} in {new:?}");
                std::thread::sleep(Duration::from_millis(20));
            }
        }

        fn press(&mut self, keys: &str) {
            self.keys
                .write_all(keys.as_bytes())
                .and_then(|()| self.keys.flush())
                .expect("the terminal takes keys");
        }

        /// Waits for the prompt, then types.
        fn enter(&mut self, keys: &str) {
            // Only a new prompt switches on bracketed paste; a redrawn line does not.
            self.until("\x1b[?2004h");
            self.until("pgndex> ");
            self.press(keys);
        }

        fn leave(self, status: i32) {
            self.leave_with("\x04", status);
        }

        fn leave_with(mut self, keys: &str, status: i32) {
            self.enter(keys);
            self.until(&format!("status={status}\n"));
            drop(self.keys);
            self.child.wait().expect("an end");
        }
    }

    #[test]
    fn a_prompt_runs_statements_until_ctrl_d() {
        let sample = sample();
        let Some(mut terminal) = Terminal::open(&sample, 80, "") else { return };
        let greeting = terminal.until(".help lists commands, .quit leaves.\n");
        assert!(greeting.contains("games.db, open for reading"), "{greeting}");
        // A statement of several lines, with completed names.
        terminal.enter("SELECT count(*) AS ga\t_count\rFROM play\t;\r");
        assert!(terminal.until("1 row\n").ends_with("game_count\n──────────\n         4\n1 row\n"));
        terminal.enter(".mo\tcs\t\r");
        terminal.enter("SELECT 'x' AS y; SELECT 2 AS z;\r");
        terminal.until("y\nx\nz\n2\n");
        // The second line of a statement has another prompt.
        terminal.enter("SELECT 5\r");
        terminal.until("   ...> ");
        terminal.press("AS five;\r");
        terminal.until("five\n5\n");
        // An error ends the statements of this input, but not the prompt.
        terminal.enter("SELECT nope; SELECT 3;\r");
        assert!(!terminal.until("|        ^\n").contains("\n3\n"));
        terminal.enter("DELETE FROM tag;\r");
        terminal.until("give --write to allow it\n");
        terminal.enter(".nope\r");
        terminal.until("no such command: .nope; .help lists the commands\n");
        // The arrow key recalls earlier input. A statement of several lines is one entry, and the key moves through its
        // lines.
        terminal.enter(&format!("{}\r", "\x1b[A".repeat(6)));
        terminal.until("y\nx\nz\n2\n");
        terminal.enter("help\r");
        terminal.until("leave the prompt; so does Ctrl-D\n");
        terminal.leave_with("exit\r", 0);
        assert_eq!(sample.names(), ["games.db"]);
    }

    #[test]
    fn ctrl_c_stops_the_statement_and_not_the_prompt() {
        let sample = sample();
        let Some(mut terminal) = Terminal::open(&sample, 80, "--write") else { return };
        terminal.until("open for changes");
        for _ in 0..2 {
            terminal.enter(&format!("{ENDLESS} SELECT count(*) FROM n;\r"));
            terminal.until("FROM n;");
            std::thread::sleep(Duration::from_millis(500));
            terminal.press("\x03");
            terminal.until("stopped before the end\n");
        }
        // Ctrl-C drops the current line, and a statement of two lines.
        terminal.enter("SELECT nonsense\rFROM\x03");
        terminal.enter("\x03");
        terminal.enter("DELETE FROM tag;\r");
        terminal.until("2 rows changed\n");
        terminal.enter("BEGIN; UPDATE game SET eco = 'A00';\r");
        terminal.until("3 rows changed\n");
        terminal.leave(1);
        assert_eq!(sample.number("games.db", "SELECT count(eco) FROM game"), 0);
        assert_eq!(sample.names(), ["games.db"]);
    }

    #[test]
    fn history_is_kept_in_the_given_file() {
        let sample = sample();
        for (keys, expected) in
            [("SELECT 1 AS first;\r", "1 row"), ("\x1b[A\r", "first\n─────\n    1\n1 row")]
        {
            let Some(mut terminal) = Terminal::open(&sample, 80, "--history typed.txt") else { return };
            terminal.enter(keys);
            terminal.until(expected);
            terminal.leave(0);
        }
        assert_eq!(sample.names(), ["games.db", "typed.txt"]);
        let sample = sample.with("notes.txt", "my notes\n").with("#V2", "#V2 and more\n").with("empty", "");
        for (name, text) in [("notes.txt", "my notes\n"), ("\\#V2", "#V2 and more\n")] {
            let Some(mut terminal) = Terminal::open(&sample, 200, &format!("--history {name}")) else {
                return;
            };
            terminal.until("not a history file of the prompt; name another file");
            terminal.until("status=1");
            let kept = fs::read_to_string(sample.path(name.trim_start_matches('\\'))).expect("the file");
            assert_eq!(kept, text);
        }
        for name in ["games.db", "./games.db-wal", "games.db-journal", ".games.db.pgndex-tmp.lock"] {
            let Some(mut terminal) = Terminal::open(&sample, 200, &format!("--history {name}")) else {
                return;
            };
            terminal.until("is the database itself or one of its auxiliary files, so it is not replaced; choose another file");
            terminal.until("status=1");
        }
        assert_eq!(sample.names(), ["#V2", "empty", "games.db", "notes.txt", "typed.txt"]);
        let Some(mut terminal) = Terminal::open(&sample, 80, "--history empty") else { return };
        terminal.enter("SELECT 2;\r");
        terminal.until("1 row");
        terminal.leave(0);
        let history = fs::read_to_string(sample.path("typed.txt")).expect("the history");
        assert_eq!(history.matches("SELECT 1 AS first;").count(), 1, "{history}");
        let Some(mut terminal) = Terminal::open(&sample, 80, "--history none/typed.txt") else { return };
        terminal.until("none/typed.txt: cannot write the history");
        terminal.until("status=1");
    }

    /// The output of a statement on a terminal with this many columns.
    fn screen(sample: &Workspace, columns: u32, arguments: &str) -> Option<String> {
        let screen = Terminal::open(sample, columns, arguments)?.until("status=0\n");
        Some(screen.replace("status=0\n", ""))
    }

    #[test]
    fn a_table_is_fitted_to_the_terminal() {
        let sample = sample();
        let query = "\"SELECT game_id, ply, uci, fen, key FROM moves WHERE game_id = 2 LIMIT 2\"";
        let Some(wide) = screen(&sample, 120, query) else { return };
        insta::assert_snapshot!(wide, @"
        game_id  ply  uci    fen                                                key
        ───────────────────────────────────────────────────────────────────────────
              2    0  e8c8   r3k3/7P/8/8/8/8/8/4K3 b q - 5 17   8333241490433655397
              2    1  h7h8q  2kr4/7P/8/8/8/8/8/4K3 w - - 6 18  -1878730448660404737
        2 rows
        ");
        insta::assert_snapshot!(screen(&sample, 64, query).expect("a terminal"), @"
        game_id  ply  uci    fen                                     key
        ────────────────────────────────────────────────────────────────
              2    0  e8c8   r3k3/7P/8/8/8/8/8/4K…   8333241490433655397
              2    1  h7h8q  2kr4/7P/8/8/8/8/8/4K…  -1878730448660404737
        2 rows
        ");
        insta::assert_snapshot!(screen(&sample, 40, query).expect("a terminal"), @"
        game_id = 2
            ply = 0
            uci = e8c8
            fen = r3k3/7P/8/8/8/8/8/4K3 b q - 5 17
            key = 8333241490433655397

        game_id = 2
            ply = 1
            uci = h7h8q
            fen = 2kr4/7P/8/8/8/8/8/4K3 w - - 6 18
            key = -1878730448660404737

        2 rows, one value per line: too wide for the terminal
        ");
        insta::assert_snapshot!(screen(&sample, 64, &format!("--format box {query}")).expect("a terminal"), @"
        ┌─────────┬─────┬───────┬───────────────┬──────────────────────┐
        │ game_id │ ply │  uci  │      fen      │         key          │
        ├─────────┼─────┼───────┼───────────────┼──────────────────────┤
        │ 2       │ 0   │ e8c8  │ r3k3/7P/8/8/… │ 8333241490433655397  │
        │ 2       │ 1   │ h7h8q │ 2kr4/7P/8/8/… │ -1878730448660404737 │
        └─────────┴─────┴───────┴───────────────┴──────────────────────┘
        ");
        for columns in [40, 64, 80] {
            let printed = screen(&sample, columns, query).expect("a terminal");
            let fits =
                |line: &str| line.chars().count() <= columns as usize || line.starts_with("    fen = ");
            assert!(
                printed.lines().all(|line| fits(line) || line.contains("too wide")),
                "{columns}: {printed}"
            );
        }
        // Formats for programs are never cut.
        let csv = screen(&sample, 40, &format!("--format csv {query}")).expect("a terminal");
        assert_eq!(csv, sample.ok(&["--format", "csv", query.trim_matches('"')]));
    }
}

#[test]
fn slow_or_probably_wrong_statements_get_a_note() {
    let sample = sample();
    for (sql, note) in [
        ("SELECT count(*) FROM game_position WHERE key = 5", "position_game"),
        ("SELECT * FROM moves AS m WHERE m.key IN (5, 6)", "position_game"),
        ("SELECT p.fen FROM positions AS p ORDER BY p.occurrences DESC LIMIT 1", "visited_position"),
        ("SELECT white FROM games WHERE date >= '2021-01-01'", "iso_date"),
        ("SELECT round FROM game AS g WHERE g.date BETWEEN '2020-01-01' AND '2021-01-01'", "iso_date"),
        ("SELECT round FROM game WHERE date LIKE '2020-01-%'", "iso_date"),
        ("SELECT round FROM game WHERE '2020-01-01' <= game.date", "iso_date"),
        ("SELECT fen FROM game_position WHERE game_id = 1 AND key = 5", ""),
        ("SELECT fen FROM game_position WHERE ply = 1", ""),
        ("SELECT game_id FROM position_game WHERE key = 5", ""),
        ("SELECT fen FROM positions WHERE key = 5", ""),
        ("SELECT white FROM games WHERE iso_date >= '2021-01-01'", ""),
        ("SELECT white FROM games WHERE date >= '2021.01.01'", ""),
        ("PRAGMA journal_mode", ""),
        ("PRAGMA main.journal_mode;", ""),
    ] {
        let run = sample.run_with(&[sql]);
        assert_eq!(run.status, 0, "{sql}: {}", run.stderr);
        assert!(
            run.stderr.contains(note) && run.stderr.is_empty() == note.is_empty(),
            "{sql}: {}",
            run.stderr
        );
    }
    let message = sample.failure(&["PRAGMA journal_mode = DELETE"]);
    assert!(message.contains("--write"), "{message}");
}
