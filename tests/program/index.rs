//! `pgndex index` as a program: its output, its exit status, and the files that it leaves.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::command::Run;
use crate::workspace::{Workspace, json as json_of};
use serde_json::{Value, json};

const TWO_GAMES: &str = "\
[Event \"Test\"]\n[White \"Adams\"]\n[Black \"Torre\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 d6 1-0\n\n\
[Event \"Test\"]\n[White \"Torre\"]\n[Black \"Adams\"]\n[Result \"0-1\"]\n\n1. d4 d5 0-1\n";
const ILLEGAL: &str =
    "[Event \"Test\"]\n[White \"A\"]\n[Black \"B\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Ke3 Nf6 1-0\n";

/// All rows of a table.
fn rows_of(workspace: &Workspace, database: &str, table: &str) -> Vec<String> {
    workspace.rows(database, &format!("SELECT * FROM {table}"))
}

#[test]
fn json_is_one_object_on_standard_output() {
    let workspace = Workspace::new().with("a.pgn", TWO_GAMES);
    let Run { status, stdout: out, stderr: err } = workspace.run(&["index", "--json", "a.db", "a.pgn"]);
    assert_eq!((status, err.as_str()), (0, ""));
    assert_eq!(out.lines().count(), 1);
    let object: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&object["games"], &object["plies"], &object["distinct_positions"]),
        (&2.into(), &6.into(), &7.into())
    );
    assert_eq!((&object["positions"], &object["problems"]), (&8.into(), &0.into()));
    assert_eq!(object["input_bytes"], TWO_GAMES.len());
    assert_eq!(object["bytes"], std::fs::metadata(workspace.path("a.db")).unwrap().len());
    assert!(object["stages"]["parse_s"].is_number() && object["seconds"].is_number());
    assert_eq!(workspace.names(), ["a.db", "a.pgn"]);
}

#[test]
fn the_summary_is_text_and_omitted_with_quiet() {
    let workspace = Workspace::new().with("a.pgn", TWO_GAMES);
    let Run { status, stdout: out, stderr: err } = workspace.run(&["index", "a.db", "a.pgn"]);
    assert_eq!((status, out.as_str()), (0, ""));
    assert!(err.starts_with("indexed 2 games, 6 plies, 7 distinct positions in "), "{err}");
    assert!(err.contains("problems    none"), "{err}");
    assert_eq!(
        workspace.run(&["index", "--quiet", "--overwrite", "a.db", "a.pgn"]),
        Run { status: 0, stdout: String::new(), stderr: String::new() }
    );
}

#[test]
fn repeated_games_are_skipped_by_default() {
    let repeated = TWO_GAMES.replace("\"Test\"", "\"Again\"");
    let workspace = Workspace::new().with("a.pgn", TWO_GAMES).with("b.pgn", repeated);
    let json = |arguments: &[&str]| -> Value {
        let all = [&["index", "--json", "--overwrite", "a.db", "a.pgn", "b.pgn"], arguments].concat();
        let Run { status, stdout: out, stderr: err } = workspace.run(&all);
        assert_eq!((status, err.as_str()), (0, ""));
        let report: Value = serde_json::from_str(&out).unwrap();
        serde_json::json!([report["games"], report["duplicates"], report["duplicate_kinds"]])
    };
    let two = serde_json::json!([2, 2, [{ "kind": "same", "count": 2 }]]);
    assert_eq!(json(&["--duplicates", "keep"]), serde_json::json!([4, 0, []]));
    assert_eq!(json(&["--duplicates", "moves"]), two);
    assert_eq!(json(&[]), two);
    let Run { stderr: err, .. } = workspace.run(&["index", "--overwrite", "a.db", "a.pgn", "b.pgn"]);
    let reported =
        "  duplicates\n    2 games skipped: same moves, players, date and result as an earlier game\n";
    assert!(err.contains(reported), "{err}");
    let Run { stdout: out, .. } = workspace.run(&["info", "a.db"]);
    assert!(out.lines().any(|line| line.starts_with("  repeated ") && line.ends_with("2  2 same")), "{out}");
    let Run { stdout: out, .. } = workspace.run(&["info", "--format", "json", "a.db"]);
    let info: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(info["duplicates"], two[2]);
    assert_eq!(
        (&info["sources"][0]["duplicates"], &info["sources"][1]["duplicates"]),
        (&0.into(), &2.into())
    );
    assert_eq!(info["imports"][0]["duplicates"], 2);
    let Run { status, stdout: out, .. } = workspace.run(&["verify", "a.db"]);
    assert_eq!(status, 0, "{out}");
}

#[test]
fn openings_come_from_the_built_in_or_the_given_list() {
    let workspace = Workspace::new()
        .with("a.pgn", TWO_GAMES)
        .with("my.tsv", "eco\tname\tpgn\nD00\tClosed Game\t1. d4 d5\n");
    let names = "SELECT group_concat(ifnull(opening, '-'), '; ' ORDER BY game_id) FROM games";
    let name = |database: &str| -> String {
        let database = rusqlite::Connection::open(workspace.path(database)).unwrap();
        database.query_row(names, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(workspace.run(&["index", "-q", "a.db", "a.pgn"]).status, 0);
    assert_eq!(name("a.db"), "Philidor Defense; Queen's Pawn Game");
    assert_eq!(workspace.run(&["index", "-q", "--openings", "my.tsv", "b.db", "a.pgn"]).status, 0);
    assert_eq!(name("b.db"), "-; Closed Game");
    // In other commands, `--eco` takes an ECO code.
    let run = workspace.run(&["index", "-q", "--eco", "my.tsv", "c.db", "a.pgn"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("tip: give names of openings with --openings FILE\n"), "{run:?}");
}

#[test]
fn an_invalid_list_of_openings_is_reported_before_the_import() {
    let workspace =
        Workspace::new().with("a.pgn", TWO_GAMES).with("my.tsv", "eco\tname\tpgn\nD00\tx\t1. d4 d5 2. d5\n");
    let Run { status, stdout: out, stderr: err } =
        workspace.run(&["index", "--openings", "my.tsv", "a.db", "a.pgn"]);
    assert_eq!((status, out.as_str()), (1, ""));
    insta::assert_snapshot!(err, @"pgndex: error: my.tsv:2: 2.d5: illegal move in rnbqkbnr/ppp1pppp/8/3p4/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - 0 2; correct or remove this entry, or choose another file");
    let Run { status, stderr: err, .. } =
        workspace.run(&["index", "--openings", "none.tsv", "a.db", "a.pgn"]);
    assert_eq!(status, 1);
    insta::assert_snapshot!(err, @r"
    pgndex: error: none.tsv: cannot be read; check the path and the permissions
      because: No such file or directory (os error 2)
    ");
    assert_eq!(workspace.names(), ["a.pgn", "my.tsv"]);
}

#[test]
fn a_lost_move_is_status_3_and_strict_fails() {
    let workspace = Workspace::new().with("a.pgn", TWO_GAMES).with("bad.pgn", ILLEGAL);
    let Run { status, stderr: err, .. } = workspace.run(&["index", "a.db", "a.pgn", "bad.pgn"]);
    assert_eq!(status, 3);
    assert!(
        err.contains("1 error: a game or file could not be read completely") && err.contains("illegal-move"),
        "{err}"
    );
    assert_eq!(workspace.number("a.db", "SELECT count(*) FROM game"), 3);
    let message = "SELECT path || ':' || line || ' byte ' || byte_offset || ' game ' || game_number || ' ply ' || ply || ' ' || token
        FROM problem JOIN source USING (source_id)";
    let where_: String = rusqlite::Connection::open(workspace.path("a.db"))
        .unwrap()
        .query_row(message, [], |row| row.get(0))
        .unwrap();
    assert_eq!(where_, "bad.pgn:6 byte 67 game 1 ply 2 Ke3");

    let Run { status, stdout: out, stderr: err } =
        workspace.run(&["index", "--strict", "--quiet", "b.db", "a.pgn", "bad.pgn"]);
    assert_eq!((status, out.as_str()), (1, ""));
    assert!(
        err.starts_with("pgndex: error: 1 error in the input: bad.pgn:6:13: 2.Ke3: illegal move (White's king cannot reach e3) in "),
        "{err}"
    );
    assert_eq!(workspace.names(), ["a.db", "a.pgn", "bad.pgn"]);
    // The first error is named, even if a warning precedes it.
    let workspace = Workspace::new().with("web.pgn", "<!DOCTYPE html>\n<html></html>\n");
    let refused = workspace.failure(&["index", "--strict", "b.db", "web.pgn"]);
    assert!(
        refused.contains("1 error and 1 warning in the input, the first error: web.pgn: this is a web page"),
        "{refused}"
    );
}

#[test]
fn an_existing_database_is_replaced_only_with_overwrite() {
    let workspace = Workspace::new().with("a.pgn", TWO_GAMES).with("b.pgn", ILLEGAL);
    assert_eq!(workspace.run(&["index", "--quiet", "a.db", "b.pgn"]).status, 3);
    let Run { status, stderr: err, .. } = workspace.run(&["index", "a.db", "a.pgn"]);
    assert_eq!(status, 0);
    assert!(err.contains("added 2 games"), "{err}");
    assert_eq!(workspace.number("a.db", "SELECT count(*) FROM game"), 3);
    let Run { status, stderr: err, .. } = workspace.run(&["index", "a.db", "a.pgn", "b.pgn"]);
    assert_eq!((status, err.as_str()), (0, "nothing to add: a.db already contains all 2 files\n"));
    assert_eq!(workspace.run(&["index", "--quiet", "--overwrite", "a.db", "a.pgn"]).status, 0);
    assert_eq!(workspace.number("a.db", "SELECT count(*) FROM game"), 2);
    assert_eq!(workspace.names(), ["a.db", "a.pgn", "b.pgn"]);
}

#[test]
fn a_changed_file_is_named_in_a_note() {
    let workspace = Workspace::new().with("a.pgn", TWO_GAMES);
    assert_eq!(workspace.run(&["index", "a.db", "a.pgn"]).status, 0);
    let workspace = workspace.with("a.pgn", &TWO_GAMES[..110]);
    let Run { status, stderr: err, .. } = workspace.run(&["index", "a.db", "a.pgn"]);
    assert_eq!(status, 0);
    let note = "pgndex: note: a.pgn has changed since it was indexed (110 bytes of text instead of 163) and is \
                read as a new file; its earlier games stay, and games already in the database are skipped as duplicates";
    assert_eq!(err.lines().next(), Some(note), "{err}");
    let workspace = workspace.with("a.pgn", TWO_GAMES.replacen("Test", "Rest", 1));
    let quiet = workspace.run(&["index", "a.db", "a.pgn", "--quiet"]);
    assert_eq!(quiet, Run { status: 0, stdout: String::new(), stderr: String::new() });
}

#[test]
fn other_files_are_never_replaced() {
    let workspace =
        Workspace::new().with("a.pgn", TWO_GAMES).with("notes.txt", "precious").with("empty.db", "");
    let other = rusqlite::Connection::open(workspace.path("other.db")).unwrap();
    other.execute_batch("CREATE TABLE t (x)").unwrap();
    drop(other);
    for target in ["a.pgn", "notes.txt", "other.db"] {
        let before = std::fs::read(workspace.path(target)).unwrap();
        let Run { status, stderr: err, .. } = workspace.run(&["index", "--overwrite", target, "a.pgn"]);
        assert_eq!(status, 1);
        assert!(err.contains("already exists and is not a pgndex database, so it is not replaced"), "{err}");
        assert_eq!(std::fs::read(workspace.path(target)).unwrap(), before);
    }
    assert_eq!(workspace.run(&["index", "--quiet", "--overwrite", "empty.db", "a.pgn"]).status, 0);
    assert_eq!(workspace.names(), ["a.pgn", "empty.db", "notes.txt", "other.db"]);
}

#[test]
fn unreadable_files_are_reported_before_or_with_the_rest() {
    let workspace = Workspace::new()
        .with("a.pgn", TWO_GAMES)
        .with("empty.pgn", "")
        .with("prose.pgn", "Dear friend,\n\nbye.\n");
    let Run { status, stderr: err, .. } = workspace.run(&["index", "a.db", "missing.pgn"]);
    assert_eq!(status, 1);
    assert!(err.contains("missing.pgn: no such file or directory; check the path"), "{err}");
    assert_eq!(workspace.names(), ["a.pgn", "empty.pgn", "prose.pgn"]);

    let Run { status, stderr: err, .. } = workspace.run(&["index", "a.db", "missing.pgn", "a.pgn"]);
    assert_eq!(status, 3);
    assert!(err.starts_with("pgndex: error: missing.pgn: no such file or directory"), "{err}");
    assert!(err.contains("unreadable-source"), "{err}");
    assert_eq!(workspace.number("a.db", "SELECT count(*) FROM game"), 2);

    let reported = ["no games were found", "no games; is it PGN?"];
    for (target, input, expected) in [("b.db", "empty.pgn", 0), ("c.db", "prose.pgn", 3)] {
        let Run { status, stderr: err, .. } = workspace.run(&["index", "--overwrite", target, input]);
        assert_eq!(status, expected, "{err}");
        let is_reported = reported.map(|text| err.contains(text));
        assert_eq!(is_reported, [expected == 0, expected == 3], "{err}");
        assert_eq!(workspace.number(target, "SELECT count(*) FROM game"), 0);
        // A database with games is not replaced by one without games.
        let run = workspace.run(&["index", "--overwrite", "a.db", input]);
        assert_eq!(run.status, 1, "{run:?}");
        assert!(
            run.stderr.contains("no game was found in the input") && run.stderr.contains("is not replaced"),
            "{run:?}"
        );
        assert_eq!(workspace.number("a.db", "SELECT count(*) FROM game"), 2);
    }
    let Run { status, stderr: err, .. } = workspace.run(&["index", "no/such/directory/a.db", "a.pgn"]);
    assert_eq!(status, 1);
    assert!(err.contains("no/such/directory: this directory does not exist; create it"), "{err}");
    assert_eq!(workspace.run(&["index", "a.db"]).status, 2);
}

#[test]
fn a_file_with_text_and_no_game_is_reported_and_changes_the_status() {
    let workspace = Workspace::new()
        .with("a.pgn", TWO_GAMES)
        .with("page.pgn", "<html>404 not found</html>\n")
        .with("picture.pgn", b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x02\x81")
        .with("comment.pgn", "; no games today\n\n")
        .with("again.pgn", TWO_GAMES);
    for arguments in [
        &["index", "-q", "a.db", "a.pgn", "page.pgn", "picture.pgn", "comment.pgn", "again.pgn"][..],
        &["index", "-q", "--dry-run", "a.pgn", "page.pgn", "picture.pgn", "comment.pgn", "again.pgn"],
    ] {
        let run = workspace.run(arguments);
        assert_eq!((run.status, run.stdout.as_str()), (3, ""));
        assert_eq!(
            run.stderr,
            "pgndex: error: page.pgn: this is a web page (HTML), not PGN; download the file again\n\
             pgndex: error: picture.pgn: no games; is it PGN?\n"
        );
    }
    assert_eq!(workspace.number("a.db", "SELECT count(*) FROM game"), 2);
    let run = workspace.run(&[
        "index",
        "--json",
        "--overwrite",
        "--problems",
        "p.jsonl",
        "a.db",
        "a.pgn",
        "page.pgn",
        "again.pgn",
    ]);
    let summary = objects(&run.stdout)[0].clone();
    assert_eq!(
        (run.status, &summary["sources_without_games"], &summary["errors"]),
        (3, &1.into(), &1.into())
    );
    let reported = objects(&std::fs::read_to_string(workspace.path("p.jsonl")).unwrap());
    let reported = reported.iter().find(|problem| problem["severity"] == "error").expect("an error");
    let expected = json!({
        "path": "page.pgn", "line": 1, "column_number": 1, "byte_offset": 0, "game_number": null, "game_id": null,
        "ply": null, "token": null, "kind": "no-game", "severity": "error",
        "message": "page.pgn: this is a web page (HTML), not PGN; download the file again",
    });
    assert_eq!(*reported, expected);
    let rows = "SELECT count(*) FROM problem JOIN source USING (source_id) WHERE kind = 'no-game' AND path = 'page.pgn' AND line = 1";
    assert_eq!(workspace.number("a.db", rows), 1);
    for option in [&["--on-problem", "stop"][..], &["--max-problems", "0"], &["--strict"]] {
        let run = workspace.run(&[&["index", "-q"], option, &["b.db", "a.pgn", "page.pgn"]].concat());
        assert_eq!(run.status, 1, "{option:?}");
    }
    assert_eq!(workspace.run(&["verify", "--all", "a.db"]).status, 0);
    // Text added to a file that had games may be a remark.
    let workspace = workspace.with("a.pgn", [TWO_GAMES, "\n% the end\nThat was all.\n"].concat());
    let run = workspace.run(&["index", "-q", "a.db", "a.pgn", "page.pgn"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let known = workspace.run(&["index", "a.db", "page.pgn"]).stderr;
    assert_eq!(known, "nothing to add: a.db already contains this file, which has no games\n");
}

/// Files that were downloaded instead of games, each with the expected message.
const NO_GAMES: [(&str, &[u8], &str); 10] = [
    (
        "nginx.pgn",
        b"<html>\r\n<head><title>403 Forbidden</title></head>\r\n<body>\r\n<center><h1>403 Forbidden</h1></center>\r\n\
          <hr><center>nginx/1.18.0 (Ubuntu)</center>\r\n</body>\r\n</html>\r\n",
        "this is a web page (HTML), not PGN; download the file again",
    ),
    (
        "apache.pgn",
        b"<!DOCTYPE HTML PUBLIC \"-//IETF//DTD HTML 2.0//EN\">\n<style>h3{margin:0} h4 a{color:#a4b5c6}</style>\n<h1>Not Found</h1>\n\
          <h3>See a3 or 'b4'</h3><a href=\"/d4\">d4</a><script src=\"https://d3js.org/d3.v7.min.js\"></script>\n",
        "this is a web page (HTML), not PGN; download the file again",
    ),
    (
        "feed.xml",
        b"<?xml version=\"1.0\"?>\n<moves><m n=\"1\">e4</m><m n=\"2\">d4</m></moves>\n",
        "this is XML, not PGN; download the file again",
    ),
    (
        "error.json",
        b"{\"error\":\"Too many requests. Please slow down.\"}",
        "this is JSON, not PGN; download the file again",
    ),
    (
        "games.ndjson",
        b"{\"moves\":\"e4 e5\"}\n{\"moves\":\"d4\"}\n",
        "this is JSON, not PGN; download the file again",
    ),
    ("list.json", b"[\"e4\", \"d4\"]", "this is JSON, not PGN; download the file again"),
    ("rows.csv", b"id,move,count\n1,e4,100\n2,d4,90\n", "no games; is it PGN?"),
    (
        "server.log",
        b"10.0.0.1 - - [10/Oct/2000:13:55:36] \"GET /d4/e4.html HTTP/1.1\" 200 d3 bytes\n10.0.0.1. e4 is up\n",
        "no games; is it PGN?",
    ),
    ("mail.txt", b"Dear Sir,\n\nhe always opened with e4 and won with Nf3 there.\n", "no games; is it PGN?"),
    (
        "utf16.pgn",
        b"[\0E\0v\0e\0n\0t\0 \0\"\0a\0\"\0]\0\n\0\n\x001\0.\0 \0e\x004\0 \0*\0",
        "every second byte is NUL, so this is probably UTF-16; set --encoding to utf-16le",
    ),
];

#[test]
fn files_that_are_not_pgn_give_no_games_and_a_message() {
    let workspace = Workspace::new().with("a.pgn", TWO_GAMES).with("paper.pdf", "%PDF-1.4\n1 0 obj\n<<>>\n");
    let workspace = NO_GAMES.iter().fold(workspace, |workspace, (name, text, _)| workspace.with(name, text));
    let names: Vec<&str> = NO_GAMES.iter().map(|(name, ..)| *name).collect();
    let run = workspace.run(&[&["index", "-q", "a.db", "a.pgn"][..], &names, &["paper.pdf"]].concat());
    let reported = NO_GAMES.map(|(name, _, what)| format!("pgndex: error: {name}: {what}\n")).concat();
    let paper = "pgndex: error: paper.pdf: a PDF document, not PGN text; give PGN files\n";
    assert_eq!((run.status, run.stderr), (3, format!("{paper}{reported}")));
    assert_eq!(workspace.number("a.db", "SELECT count(*) FROM game"), 2);
}

#[test]
fn confused_arguments_are_reported() {
    let workspace = Workspace::new()
        .with("a.pgn", TWO_GAMES)
        .with("list.txt", "a.pgn\n# none\nmissing.pgn\n")
        .with("empty.txt", "# none\n");
    assert_eq!(workspace.run(&["index", "-q", "a.db", "a.pgn"]).status, 0);
    for (arguments, status, reported) in [
        (
            &["index", "-q", "b.db", "@a.pgn"][..],
            1,
            "a.pgn: PGN, not a list of paths (one path per line); omit the @",
        ),
        (&["index", "-q", "b.db", "@a.db"], 1, "a.db: binary data, not a list of paths (one path per line)"),
        (
            &["index", "-q", "b.db", "@list.txt"],
            3,
            "list.txt:3: missing.pgn: no such file or directory; check the path",
        ),
        (&["index", "-q", "b.db", "@empty.txt"], 0, "nothing to index: empty.txt: the list is empty\n"),
        (&["index", "-q", "b.db", "@"], 1, "@: no list is given; write the name of a file"),
        (
            &["index", "-q", "--dry-run", "new.db", "a.pgn"],
            0,
            "--dry-run takes no database; new.db is ignored",
        ),
        (&["index", "-q", "--dry-run", "a.db", "a.pgn"], 0, "--dry-run takes no database; a.db is ignored"),
        (
            &["index", "-q", "--dry-run", "missing.pgn", "a.pgn"],
            3,
            "missing.pgn: no such file or directory; check the path",
        ),
        (&["index", "-q", "--drop-missing", "a.db", "a.pgn"], 2, "--drop-missing needs --reread"),
        (
            &["index", "-q", "--temp-dir", "nowhere", "b.db", "a.pgn"],
            1,
            "nowhere: cannot create temporary files: no such directory; choose another one with --temp-dir",
        ),
        (
            &["index", "-q", "--temp-dir", "a.pgn", "b.db", "a.pgn"],
            1,
            "not a directory; check the path, or choose another place with --temp-dir",
        ),
        (
            &["index", "-q", "--overwrite", "list.txt", "a.pgn"],
            1,
            "is not a pgndex database, so it is not replaced",
        ),
        (
            &["index", "-q", "list.txt", "a.pgn"],
            1,
            "list.txt: not an SQLite database; is this the right file?",
        ),
        (&["info", "."], 1, ".: a directory, not a database"),
    ] {
        let run = workspace.run(arguments);
        assert_eq!(run.status, status, "{arguments:?}: {run:?}");
        assert!(run.stderr.contains(reported), "{arguments:?}: {run:?}");
        let _ = std::fs::remove_file(workspace.path("b.db"));
    }
    assert_eq!(workspace.names(), ["a.db", "a.pgn", "empty.txt", "list.txt"]);
}

#[test]
fn a_signal_stops_the_run_and_leaves_no_files() {
    for (signal, status) in [("-INT", 130), ("-TERM", 143)] {
        let games: String = TWO_GAMES.repeat(200_000);
        let workspace = Workspace::new().with("big.pgn", games);
        let child = workspace
            .command(&["index", "--quiet", "-j", "1", "a.db", "big.pgn"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let temporary = workspace.path(".a.db.pgndex-tmp");
        wait_for(&temporary);
        let kill = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(status));
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(err.contains("stopped before the end; nothing was written"), "{err}");
        assert!(
            err.starts_with("pgndex: note: stopping; a second signal ends the program immediately"),
            "{err}"
        );
        assert_eq!(workspace.names(), ["big.pgn"]);
    }
}

#[test]
fn a_killed_run_leaves_no_database_and_the_next_run_cleans_up() {
    let games: String = TWO_GAMES.repeat(200_000);
    let workspace = Workspace::new().with("big.pgn", games).with("a.pgn", TWO_GAMES);
    let mut child = workspace.command(&["index", "--quiet", "-j", "1", "a.db", "big.pgn"]).spawn().unwrap();
    wait_for(&workspace.path(".a.db.pgndex-tmp"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!workspace.path("a.db").exists());
    assert_eq!(workspace.run(&["index", "--quiet", "a.db", "a.pgn"]).status, 0);
    assert_eq!(workspace.names(), ["a.db", "a.pgn", "big.pgn"]);
}

fn wait_for(path: &Path) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !path.exists() {
        assert!(std::time::Instant::now() < deadline, "{} never came", path.display());
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// The signal that a limit on the file size causes must not end the program.
#[cfg(unix)]
#[test]
fn a_limit_of_file_size_is_reported_and_leaves_no_files() {
    let workspace =
        Workspace::new().with("a.pgn", include_str!("../../examples/famous-games.pgn").repeat(20));
    for kib in [0, 100, 2000] {
        let limit = format!("ulimit -f {kib}; exec \"$0\" index --duplicates keep a.db a.pgn");
        let output = Command::new("bash")
            .args(["-c", &limit, env!("CARGO_BIN_EXE_pgndex")])
            .current_dir(workspace.directory())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{kib} KiB: {text}");
        assert!(text.contains("a file of this size is not allowed here"), "{text}");
        assert_eq!(workspace.names(), ["a.pgn"]);
    }
}

#[test]
fn replacing_keeps_permissions_and_dangling_links() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let workspace = Workspace::new().with("a.pgn", TWO_GAMES);
    assert_eq!(workspace.run(&["index", "--quiet", "a.db", "a.pgn"]).status, 0);
    std::fs::set_permissions(workspace.path("a.db"), std::fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(workspace.run(&["index", "--quiet", "--overwrite", "a.db", "a.pgn"]).status, 0);
    assert_eq!(std::fs::metadata(workspace.path("a.db")).unwrap().permissions().mode() & 0o777, 0o600);
    symlink("nowhere", workspace.path("link.db")).unwrap();
    for (target, reported) in [
        ("link.db", "a link to a missing file, so no database is created here"),
        ("new.db/", "a database cannot be created here"),
    ] {
        let Run { status, stderr: err, .. } = workspace.run(&["index", target, "a.pgn"]);
        assert_eq!(status, 1);
        assert!(err.contains(reported), "{err}");
    }
    assert!(workspace.failure(&["find", "link.db"]).contains("link.db: a link to a missing file;"));
    assert_eq!(workspace.names(), ["a.db", "a.pgn", "link.db"]);
}

#[test]
fn adversarial_text_is_read_quickly() {
    let dashes = format!("[Event \"x\"]\n\n1. e4 {} *\n", "1-".repeat(500_000));
    let quotes = format!("[Event \"{}\"]\n\n1. e4 *\n", "\\\"]".repeat(500_000));
    let workspace = Workspace::new().with("dashes.pgn", dashes).with("quotes.pgn", quotes);
    let started = std::time::Instant::now();
    // Only a part of the long value with quotes is kept.
    assert_eq!(workspace.run(&["index", "--quiet", "a.db", "dashes.pgn", "quotes.pgn"]).status, 3);
    assert!(started.elapsed() < std::time::Duration::from_secs(60), "{:?}", started.elapsed());
    assert_eq!(workspace.number("a.db", "SELECT sum(ply_count) FROM game"), 2);
}

/// Good and bad games, with different line ends and blanks.
const MIXED: &str = "[Event \"one\"]\n[White \"A\"]\n[Black \"B\"]\n[Result \"1-0\"]\n\n1. e4 e5 1-0\n\n\
    [Event \"two\"]\r\n[White \"C\"]\r\n[Result \"1-0\"]\r\n\r\n1. e4 {a\r\nb}   e5 2. Ke3 {lost} 1-0\r\n\r\n\
    [Event \"three\"]\n[Variant \"Atomic\"]\n\n1. e4 e5 1-0\n\n\n\
    [Event \"four\"]\n[WhiteElo \"x\"]\n\n1. d4 ) d5 *\n\n\
    [Event \"five\"]\n[FEN \"nonsense\"]\n\n1. e4 *\n\n\
    [Event \"six\"]\n[Variant \"Atomic\"]\n\n1. e4 2. d5 *\n\n\
    [Event \"s\u{ed}even\"]\n[White \"D\"]\n\n{\u{fc}} 1. e4 e5 2. Nf6 Nf3 *\n\n\
    [Event \"eight\"]\n[White \"E\"]\n[Black \"A\"]\n\n1. c4 *\n";
/// The games of [`MIXED`] with errors, by their event.
const BAD: [&str; 3] = ["two", "five", "s\u{ed}even"];

/// The text of a game of [`MIXED`].
fn text_of(event: &str) -> &'static str {
    let start = MIXED.find(&format!("[Event \"{event}\"]")).unwrap();
    let end = MIXED[start + 1..].find("[Event ").map_or(MIXED.len(), |end| start + 1 + end);
    MIXED[start..end].trim_end()
}

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("one object per line")).collect()
}

#[test]
fn problems_and_rejects_are_written_as_they_are_found() {
    let rejects: String = BAD.map(|event| format!("{}\n\n", text_of(event))).concat();
    let mut first = None;
    for (threads, chunk) in [("1", "1M"), ("4", "1K"), ("3", "300")] {
        let workspace = Workspace::new().with("a.pgn", MIXED).with("b.pgn", MIXED);
        let arguments = [
            "index",
            "-q",
            "-j",
            threads,
            "--chunk-size",
            chunk,
            "--problems",
            "p.jsonl",
            "--rejects",
            "r.pgn",
            "a.db",
            "a.pgn",
            "missing.pgn",
            "b.pgn",
        ];
        assert_eq!(workspace.run(&arguments).status, 3);
        assert_eq!(std::fs::read_to_string(workspace.path("r.pgn")).unwrap(), rejects.repeat(2));
        let problems = objects(&std::fs::read_to_string(workspace.path("p.jsonl")).unwrap());
        let rows: Vec<Value> = rusqlite::Connection::open(workspace.path("a.db"))
            .unwrap()
            .prepare(
                "SELECT json_object('path', path, 'line', line, 'column_number', column_number, 'byte_offset', byte_offset,
                 'game_number', game_number, 'game_id', game_id, 'ply', ply, 'token', token, 'kind', kind,
                 'severity', severity, 'message', message) FROM problem JOIN source USING (source_id) ORDER BY problem_id",
            )
            .unwrap()
            .query_map([], |row| Ok(serde_json::from_str(&row.get::<_, String>(0)?).unwrap()))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        assert_eq!(problems, rows);
        assert!(problems.len() > 2 * BAD.len());
        for problem in problems.iter().filter(|problem| problem["path"] != "missing.pgn") {
            let number = |name: &str| usize::try_from(problem[name].as_u64().unwrap()).unwrap();
            let before = &MIXED[..number("byte_offset")];
            let line = before.matches('\n').count() + 1;
            let column = before.len() - before.rfind('\n').map_or(0, |end| end + 1) + 1;
            assert_eq!((number("line"), number("column_number")), (line, column), "{problem}");
        }
        let documentation = include_str!("../../docs/json.md");
        for name in problems[0].as_object().unwrap().keys() {
            assert!(documentation.contains(&format!("`{name}`")), "{name}");
        }
        assert_eq!(*first.get_or_insert(problems.clone()), problems, "{threads} threads, {chunk}");
        // Indexed alone, the rejected games have the same errors.
        assert_eq!(
            workspace.run(&["index", "-q", "--problems", "again.jsonl", "again.db", "r.pgn"]).status,
            3
        );
        let again = objects(&std::fs::read_to_string(workspace.path("again.jsonl")).unwrap());
        let errors = |problems: &[Value]| -> Vec<Value> {
            let errors = problems.iter().filter(|problem| problem["severity"] == "error");
            errors.map(|problem| json!([problem["kind"], problem["ply"], problem["token"]])).collect()
        };
        let found: Vec<_> =
            problems.into_iter().filter(|problem| problem["kind"] != "unreadable-source").collect();
        assert_eq!(errors(&again), errors(&found));
    }
}

#[test]
fn games_with_errors_can_be_left_out() {
    let good: String =
        ["one", "three", "four", "six", "eight"].map(|event| format!("{}\n\n", text_of(event))).concat();
    for (threads, chunk) in [("1", "1M"), ("4", "300")] {
        let workspace = Workspace::new().with("a.pgn", MIXED).with("good.pgn", good.as_bytes());
        let arguments = [
            "index",
            "--json",
            "--on-problem",
            "skip",
            "--rejects",
            "r.pgn",
            "-j",
            threads,
            "--chunk-size",
            chunk,
        ];
        let Run { status, stdout: out, .. } = workspace.run(&[&arguments[..], &["a.db", "a.pgn"]].concat());
        assert_eq!(status, 3);
        let summary: Value = serde_json::from_str(&out).unwrap();
        assert_eq!((&summary["games"], &summary["left_out"]), (&5.into(), &3.into()));
        assert_eq!(summary["skipped_variants"], json!({ "Atomic": 2 }));
        assert_eq!(std::fs::read_to_string(workspace.path("r.pgn")).unwrap().matches("[Event").count(), 3);
        assert_eq!(workspace.run(&["index", "-q", "b.db", "good.pgn"]).status, 0);
        for table in ["game_position", "position_game", "player", "event", "tag", "site"] {
            assert_eq!(rows_of(&workspace, "a.db", table), rows_of(&workspace, "b.db", table), "{table}");
        }
        let of_problems =
            "SELECT group_concat(DISTINCT game_number ORDER BY game_number) FROM problem WHERE game_id IS";
        let text = |sql: &str| -> String {
            let database = rusqlite::Connection::open(workspace.path("a.db")).unwrap();
            database.query_row(sql, [], |row| row.get(0)).unwrap()
        };
        assert_eq!(text(&format!("{of_problems} NULL")), "2,5,7");
        assert_eq!(text(&format!("{of_problems} NOT NULL")), "3,4,6");
        assert_eq!(
            text("SELECT kind FROM problem WHERE game_id = 3 AND token = ')' OR kind = 'stray-closing'"),
            "stray-closing"
        );
        assert_eq!(workspace.number("a.db", "SELECT sum(games) FROM source"), 5);
        // When the file grows, the numbering of games includes the games that were left out.
        std::fs::write(workspace.path("a.pgn"), [MIXED, "\n[Event \"nine\"]\n\n1. e4 Ke3 *\n"].concat())
            .unwrap();
        assert_eq!(workspace.run(&["index", "-q", "--problems", "p.jsonl", "a.db", "a.pgn"]).status, 3);
        let grown = objects(&std::fs::read_to_string(workspace.path("p.jsonl")).unwrap());
        assert_eq!((&grown[0]["game_number"], &grown[0]["game_id"]), (&9.into(), &6.into()));
    }
}

#[test]
fn a_run_can_stop_at_the_first_error_or_at_a_limit() {
    for (threads, chunk) in [("1", "1M"), ("4", "300")] {
        let workspace = Workspace::new().with("a.pgn", MIXED).with("good.pgn", TWO_GAMES);
        assert_eq!(workspace.run(&["index", "-q", "a.db", "good.pgn"]).status, 0);
        let tables = ["import", "source", "game", "game_position", "position_game", "problem", "player"];
        let before = tables.map(|table| rows_of(&workspace, "a.db", table));
        let run = |more: &[&str], database: &str| {
            let all = [
                &["index", "-q", "-j", threads, "--chunk-size", chunk],
                more,
                &[database, "good.pgn", "a.pgn"],
            ];
            let Run { status, stdout: out, stderr: err } = workspace.run(&all.concat());
            assert_eq!((status, out.as_str()), (1, ""));
            err
        };
        for database in ["a.db", "b.db"] {
            let err = run(&["--on-problem", "stop", "--problems", "p.jsonl"], database);
            insta::allow_duplicates! { insta::assert_snapshot!(err, @r#"
            pgndex: error: a.pgn:13:12 (byte 135, game 2, ply 2): 2.Ke3: illegal move (White's king cannot reach e3) in rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2; stopped at the first error, because of --on-problem stop; nothing was written to the database
            "#); }
            let problems = objects(&std::fs::read_to_string(workspace.path("p.jsonl")).unwrap());
            assert_eq!(problems.last().unwrap()["token"], "Ke3");
            let err = run(&["--max-problems", "2"], database);
            insta::allow_duplicates! { insta::assert_snapshot!(err, @r#"
            pgndex: error: a.pgn:39:18 (byte 388, game 7, ply 2): 2.Nf6: illegal move (White has no knight that can reach f6) in rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2; stopped, because there are more errors than --max-problems 2 allows; nothing was written to the database
            "#); }
        }
        assert_eq!(tables.map(|table| rows_of(&workspace, "a.db", table)), before);
        assert_eq!(workspace.names(), ["a.db", "a.pgn", "good.pgn", "p.jsonl"]);
        assert_eq!(workspace.run(&["index", "-q", "--max-problems", "3", "a.db", "a.pgn"]).status, 3);
    }
}

#[test]
fn a_dry_run_has_the_same_results_and_writes_no_database() {
    let workspace = Workspace::new().with("a.pgn", MIXED).with("good.pgn", TWO_GAMES);
    let Run { status, stdout: out, .. } =
        workspace.run(&["index", "--json", "--problems", "p", "--rejects", "r", "a.db", "a.pgn", "good.pgn"]);
    assert_eq!(status, 3);
    let whole: Value = serde_json::from_str(&out).unwrap();
    // A database as the first argument is ignored.
    for database in [&[][..], &["a.db"]] {
        let options = ["index", "--json", "--dry-run", "--problems", "p2", "--rejects", "r2"];
        let Run { status, stdout: out, .. } =
            workspace.run(&[&options[..], database, &["a.pgn", "good.pgn"]].concat());
        assert_eq!(status, 3);
        let dry: Value = serde_json::from_str(&out).unwrap();
        for name in [
            "games",
            "plies",
            "positions",
            "problems",
            "problem_kinds",
            "errors",
            "warnings",
            "input_bytes",
            "skipped_variants",
        ] {
            assert_eq!(dry[name], whole[name], "{name}");
        }
        assert_eq!(
            (&dry["database"], &dry["dry_run"], &dry["bytes"]),
            (&Value::Null, &true.into(), &0.into())
        );
        let read = |name: &str| std::fs::read_to_string(workspace.path(name)).unwrap();
        assert_eq!(read("r2"), read("r"));
        let without_ids = |text: &str| {
            let mut problems = objects(text);
            problems.iter_mut().for_each(|problem| problem["game_id"] = Value::Null);
            problems
        };
        assert_eq!(without_ids(&read("p2")), without_ids(&read("p")));
        // A file with games is not overwritten.
        std::fs::remove_file(workspace.path("r2")).unwrap();
    }
    assert_eq!(workspace.names(), ["a.db", "a.pgn", "good.pgn", "p", "p2", "r"]);
    let Run { status, stderr: err, .. } = workspace.run(&["index", "--dry-run", "good.pgn"]);
    assert_eq!(status, 0);
    assert!(err.starts_with("read 2 games, 6 plies in ") && err.contains("no database was written"), "{err}");
    assert!(err.contains("problems    none"), "{err}");
    let Run { status, stderr: err, .. } = workspace.run(&["index", "--dry-run", "--strict", "a.pgn"]);
    assert!(
        status == 1 && err.contains("--strict allows no errors or warnings; use --problems FILE"),
        "{err}"
    );
    assert!(!err.contains("database"), "{err}");
    let Run { stderr: err, .. } = workspace.run(&["index", "--dry-run", "--rejects", "r2", "a.pgn"]);
    assert!(err.contains("    games with errors are in r2\n"), "{err}");
    assert!(err.ends_with("hint: use --problems FILE to list each problem with its location\n"), "{err}");
    assert_eq!(workspace.run(&["index", "--dry-run", "--on-problem", "stop", "a.pgn"]).status, 1);
    assert_eq!(workspace.run(&["index", "--dry-run", "missing.pgn"]).status, 1);
    assert_eq!(workspace.run(&["index", "--dry-run"]).status, 2);
}

#[test]
fn unsupported_variants_are_named() {
    let workspace = Workspace::new().with("a.pgn", MIXED);
    let Run { status, stderr: err, .. } = workspace.run(&["index", "a.db", "a.pgn"]);
    assert_eq!(status, 3);
    assert!(err.contains("    2 Atomic games stored without their moves\n"), "{err}");
    // A variant whose moves are skipped is not an error.
    let variants = format!("{}\n\n{}\n\n{}\n", text_of("three"), text_of("one"), text_of("six"));
    let workspace = workspace.with("b.pgn", variants);
    for arguments in
        [&["b.db"][..], &["--dry-run"], &["--on-problem", "stop", "c.db"], &["--on-problem", "skip", "d.db"]]
    {
        let all = [&["index", "--json", "--rejects", "r.pgn"], arguments, &["b.pgn"]].concat();
        let Run { status, stdout: out, .. } = workspace.run(&all);
        let summary = &objects(&out)[0];
        assert_eq!((status, &summary["skipped_variants"]), (0, &json!({ "Atomic": 2 })), "{arguments:?}");
        assert_eq!((&summary["games"], &summary["errors"]), (&3.into(), &0.into()), "{arguments:?}");
        assert_eq!(std::fs::read_to_string(workspace.path("r.pgn")).unwrap(), "");
    }
    let Run { stderr: err, .. } = workspace.run(&["index", "--dry-run", "b.pgn"]);
    assert!(err.contains("    2 Atomic games would be stored without their moves\n"), "{err}");
    assert_eq!(workspace.run(&["index", "-q", "--strict", "e.db", "b.pgn"]).status, 1);
}

/// Games of unknown variants are counted even if no more problems are recorded.
#[test]
fn games_of_variants_are_counted_despite_many_problems() {
    let tags = "[Round )]\n".repeat(150);
    let game = format!("[Event \"a\"]\n{tags}[Variant \"Atomic\"]\n\n1. e4 *\n\n");
    let workspace = Workspace::new().with("a.pgn", game.repeat(3));
    let Run { status, stdout: out, .. } = workspace.run(&["index", "--json", "a.db", "a.pgn"]);
    assert_eq!((status, &objects(&out)[0]["skipped_variants"]), (0, &json!({ "Atomic": 3 })));
}

#[test]
fn the_number_of_threads_depends_on_the_amount_of_text() {
    let workspace =
        Workspace::new().with("a.pgn", MIXED.repeat(20)).with("b.pgn", "").with("e.pgn", TWO_GAMES);
    let length = MIXED.len() * 20;
    let threads = |arguments: &[&str]| {
        let Run { stdout: out, .. } = workspace.run(&[&["index", "--json", "-j", "3"], arguments].concat());
        objects(&out)[0]["threads"].clone()
    };
    for (way, new) in [(&["--dry-run"][..], &["--dry-run"]), (&["--overwrite", "a.db"], &["b.db"])] {
        let chunk = |chunks: usize| (length / chunks).to_string();
        assert_eq!(threads(&[way, &["--chunk-size", &chunk(10), "a.pgn"]].concat()), 3, "{way:?}");
        assert_eq!(
            threads(&[way, &["--chunk-size", &(length - 1).to_string(), "a.pgn"]].concat()),
            2,
            "{way:?}"
        );
        assert_eq!(threads(&[way, &["--chunk-size", "1M", "a.pgn"]].concat()), 1, "{way:?}");
        assert_eq!(threads(&[&new[..], &["b.pgn"]].concat()), 1, "{way:?}");
    }
    // The number of threads depends on the new files, not on the files in the database.
    assert_eq!(threads(&["--overwrite", "--chunk-size", "300", "a.db", "a.pgn"]), 3);
    assert_eq!(threads(&["--chunk-size", "300", "a.db", "a.pgn", "e.pgn"]), 1);
    assert_eq!(threads(&["--chunk-size", "300", "a.db", "a.pgn", "e.pgn"]), 0);
}

/// Text for a database of more than 100 MiB.
fn large_text() -> String {
    let moves = "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 5. Nf3 Nf6 6. Ng1 Ng8 ".repeat(10);
    format!("[Event \"a\"]\n\n{moves}*\n\n").repeat(10_000)
}

/// Each run stops at its first error, before it writes anything.
#[test]
fn the_growth_of_the_database_is_announced_only_if_it_is_large() {
    let workspace =
        Workspace::new().with("bad.pgn", [ILLEGAL, "\n", &large_text()].concat()).with("a.pgn", TWO_GAMES);
    let note = |arguments: &[&str]| {
        let stderr = workspace.run(arguments).stderr;
        stderr.lines().find(|line| line.contains("the database will grow by")).map(str::to_owned)
    };
    let stop = ["index", "--on-problem", "stop"];
    assert!(note(&[&stop[..], &["a.db", "bad.pgn"]].concat()).is_some());
    assert_eq!(note(&["index", "a.db", "a.pgn"]), None);
    let reported = note(&[&stop[..], &["a.db", "a.pgn", "bad.pgn"]].concat());
    assert!(reported.is_some_and(|note| note.starts_with("pgndex: note: the database will grow by about ")));
    assert_eq!(note(&["index", "--quiet", "--on-problem", "stop", "a.db", "bad.pgn"]), None);
    assert_eq!(note(&["index", "--dry-run", "--on-problem", "stop", "bad.pgn"]), None);
    // The database only seems to contain the source, so that nothing large needs to be written.
    let database = rusqlite::Connection::open(workspace.path("a.db")).unwrap();
    let large = std::fs::read(workspace.path("bad.pgn")).unwrap();
    let known = "UPDATE source SET bytes = ?1, digest = ?2";
    let digest = blake3::hash(&large).to_hex().to_string();
    database.execute(known, rusqlite::params![large.len() as i64, digest]).unwrap();
    drop(database);
    let Run { status, stderr, .. } = workspace.run(&["index", "a.db", "bad.pgn"]);
    assert_eq!((status, stderr.as_str()), (0, "nothing to add: a.db already contains this file\n"));
}

#[test]
fn an_option_that_contradicts_the_database_is_an_error() {
    let workspace = Workspace::new().with("a.pgn", TWO_GAMES).with("b.pgn", MIXED);
    assert_eq!(workspace.run(&["index", "-q", "--continuation-threshold", "2", "a.db", "a.pgn"]).status, 0);
    let before =
        ["game", "import", "source", "visited_position"].map(|table| rows_of(&workspace, "a.db", table));
    for (threshold, input) in [("3", "b.pgn"), ("64", "b.pgn"), ("3", "a.pgn")] {
        let run = workspace.run(&["index", "-q", "--continuation-threshold", threshold, "a.db", input]);
        assert_eq!(run.status, 1);
        assert_eq!(
            run.stderr,
            format!(
                "pgndex: error: {}: was built with --continuation-threshold 2, which cannot be changed to {threshold}; omit the option to keep \
                 2, or index everything again with --overwrite\n",
                std::fs::canonicalize(workspace.path("a.db")).unwrap().display()
            )
        );
    }
    assert_eq!(
        ["game", "import", "source", "visited_position"].map(|table| rows_of(&workspace, "a.db", table)),
        before
    );
    assert_eq!(workspace.run(&["index", "-q", "--continuation-threshold", "2", "a.db", "a.pgn"]).status, 0);
    assert_eq!(workspace.run(&["index", "-q", "a.db", "b.pgn"]).status, 3);
    let kept = "SELECT value FROM setting WHERE name = 'continuation_threshold'";
    assert_eq!(workspace.number("a.db", kept), 2);
    let rebuild = ["index", "-q", "--overwrite", "--continuation-threshold", "3", "a.db", "a.pgn"];
    assert_eq!(workspace.run(&rebuild).status, 0);
    assert_eq!(workspace.number("a.db", kept), 3);
}

/// The names of the files that SQLite and pgndex use next to a database.
const SIDE_FILES: [&str; 6] =
    ["a.db", "a.db-wal", "a.db-shm", "a.db-journal", ".a.db.pgndex-tmp.lock", ".a.db.pgndex-tmp-x"];

#[test]
fn output_to_a_file_of_the_database_is_refused() {
    let workspace = Workspace::new().with("a.pgn", TWO_GAMES);
    let is_refused = |arguments: &[&str], name: &str| {
        let Run { status, stderr: err, .. } = workspace.run(arguments);
        assert_eq!(status, 1, "{arguments:?}: {err}");
        assert!(
            (err.contains("belongs to") || err.contains("auxiliary files")) && err.contains(name),
            "{arguments:?}: {err}"
        );
    };
    for exists in [false, true] {
        for name in SIDE_FILES {
            let dotted = format!("./{name}");
            for option in ["--problems", "--rejects"] {
                for name in [name, &dotted] {
                    is_refused(&["index", "-q", option, name, "a.db", "a.pgn"], name);
                }
                if exists {
                    is_refused(&["index", "-q", "--dry-run", option, name, "a.db", "a.pgn"], name);
                }
            }
            if exists {
                is_refused(&["export", "a.db", "--format", "pgn", "--overwrite", "--output", name], name);
            }
        }
        assert_eq!(workspace.names().len(), 1 + usize::from(exists), "{:?}", workspace.names());
        assert_eq!(workspace.run(&["index", "-q", "a.db", "a.pgn"]).status, 0);
    }
    // Similar names are allowed.
    for name in ["b.db-wal", "a.db-walk", "a.db.jsonl", "a.db-journal.txt"] {
        let run = workspace.run(&["index", "-q", "--overwrite", "--problems", name, "a.db", "a.pgn"]);
        assert_eq!(run.status, 0, "{name}: {}", run.stderr);
    }
}

#[test]
fn reports_never_replace_inputs_outputs_or_other_files() {
    let workspace = Workspace::new().with("a.pgn", MIXED);
    for arguments in [
        ["--rejects", "a.pgn", "--problems", "p"],
        ["--problems", "./a.pgn", "--rejects", "r"],
        ["--problems", "a.db", "--rejects", "r"],
        ["--problems", "same", "--rejects", "same"],
        ["--problems", "same", "--rejects", "./same"],
    ] {
        let Run { status, stderr: err, .. } =
            workspace.run(&[&["index", "-q"], &arguments[..], &["a.db", "a.pgn"]].concat());
        assert_eq!(status, 1);
        assert!(
            err.contains(
                "this file is also an input or another output of this run, or it belongs to the database;"
            ),
            "{err}"
        );
        assert_eq!(std::fs::read_to_string(workspace.path("a.pgn")).unwrap(), MIXED);
        assert_eq!(workspace.names(), ["a.pgn"]);
    }
    // Other files are not replaced either, except for the problems of an earlier run.
    let old_problems = "{\"path\":\"x\"}\n";
    for (name, text) in
        [("games.pgn", MIXED), ("rejects.pgn", "\n"), ("old.jsonl", old_problems), ("empty", "")]
    {
        std::fs::write(workspace.path(name), text).unwrap();
        for option in ["--rejects", "--problems"] {
            for dry_run in [&["--dry-run"][..], &["a.db"]] {
                let arguments = [&["index", "-q", option, name], dry_run, &["a.pgn"]].concat();
                let Run { status, stderr: err, .. } = workspace.run(&arguments);
                let is_replaced = name == "empty" || (name, option) == ("old.jsonl", "--problems");
                if is_replaced {
                    assert_eq!(status, 3, "{arguments:?}: {err}");
                    std::fs::write(workspace.path(name), text).unwrap();
                } else {
                    assert_eq!(status, 1, "{arguments:?}");
                    let replaced = match option {
                        "--problems" => "Only an empty file, or an earlier list of problems, is replaced",
                        _ => "Only an empty file is replaced",
                    };
                    assert!(
                        err.contains(&format!(
                            "{name}: already exists, so nothing was written to it; choose another file, or move this one away. {replaced}"
                        )),
                        "{err}"
                    );
                    assert_eq!(std::fs::read_to_string(workspace.path(name)).unwrap(), text);
                }
                let _ = std::fs::remove_file(workspace.path("a.db"));
            }
        }
    }
    let Run { status, stderr: err, .. } =
        workspace.run(&["index", "-q", "--problems", "no/such/p", "a.db", "a.pgn"]);
    assert_eq!(status, 1);
    assert!(err.contains("no/such/p: cannot be written; check the path"), "{err}");
    if cfg!(target_os = "linux") {
        let Run { status, stderr: err, .. } =
            workspace.run(&["index", "-q", "--problems", "/dev/full", "a.db", "a.pgn"]);
        assert_eq!(status, 1, "{err}");
        assert!(!workspace.path("a.db").exists());
    }
}

#[test]
fn an_unreadable_source_is_reported_by_every_run() {
    let workspace = Workspace::new().with("a.pgn", TWO_GAMES);
    for night in 1..=3 {
        let Run { status, stderr: err, .. } = workspace.run(&["index", "n.db", "a.pgn", "missing.pgn"]);
        assert_eq!(status, 3, "{err}");
        assert!(err.contains("missing.pgn: no such file or directory"), "{err}");
        let games = rows_of(&workspace, "n.db", "game");
        assert_eq!(games.len(), 2, "night {night}");
    }
    // If no other source is given, this is the only error.
    let Run { status, stderr: err, .. } = workspace.run(&["index", "n.db", "missing.pgn"]);
    assert_eq!(status, 1);
    assert!(err.contains("nothing to index: missing.pgn"), "{err}");
}

#[test]
fn another_writer_gives_exit_status_4() {
    let workspace = Workspace::new().with("a.pgn", TWO_GAMES).with(".a.db.pgndex-tmp.lock", "");
    let lock = std::fs::File::open(workspace.path(".a.db.pgndex-tmp.lock")).unwrap();
    lock.lock().unwrap();
    let Run { status, stderr: err, .. } = workspace.run(&["index", "a.db", "a.pgn"]);
    assert_eq!(status, 4);
    assert!(err.contains("a.db: ") && err.contains("wait until it has finished"), "{err}");
    let Run { status, stderr: err, .. } = workspace.run(&["index", "--log-format", "json", "a.db", "a.pgn"]);
    let last = objects(&err).pop().unwrap();
    assert_eq!((status, &last["level"], &last["fields"]["exit_status"]), (4, &"error".into(), &4.into()));
    // Closing the file would not be enough: a process that another test starts at this moment has it open too.
    lock.unlock().unwrap();
    assert_eq!(workspace.run(&["index", "-q", "a.db", "a.pgn"]).status, 0);
}

#[test]
fn the_log_can_be_json() {
    let workspace = Workspace::new().with("a.pgn", MIXED).with("empty.pgn", "");
    let Run { status, stdout: out, stderr: err } =
        workspace.run(&["index", "--log-format", "json", "a.db", "a.pgn", "missing.pgn"]);
    assert_eq!((status, out.as_str()), (3, ""));
    let events = objects(&err);
    let documentation = include_str!("../../docs/json.md");
    for event in &events {
        let names: Vec<_> = event.as_object().unwrap().keys().collect();
        assert_eq!(names, ["time", "level", "message", "event", "fields"], "{event}");
        for name in event["fields"].as_object().unwrap().keys() {
            assert!(documentation.contains(&format!("`{name}`")), "{name}");
        }
    }
    let (last, before) = events.split_last().unwrap();
    assert_eq!(
        (&last["level"], &last["message"], &last["fields"]["games"]),
        (&"info".into(), &"done".into(), &8.into())
    );
    assert!(
        before.iter().any(|event| event["level"] == "error"
            && event["message"].as_str().unwrap().starts_with("missing.pgn: no such file")),
        "{err}"
    );
    let Run { status, stderr: err, .. } =
        workspace.run(&["index", "-q", "--log-format", "json", "b.db", "empty.pgn"]);
    assert_eq!(status, 0);
    assert_eq!(objects(&err)[0]["message"], "no games were found");
}

#[test]
fn a_range_skips_removed_ids() {
    let workspace = Workspace::new().with("a.pgn", "[Event \"x\"]\n\n1. e4 e5");
    assert_eq!(workspace.run(&["index", "--quiet", "a.db", "a.pgn"]).status, 0);
    let workspace =
        workspace.with("a.pgn", "[Event \"x\"]\n\n1. e4 e5 2. Nf3 *\n\n[Event \"y\"]\n\n1. d4 *\n");
    assert_eq!(workspace.run(&["index", "--quiet", "a.db", "a.pgn"]).status, 0);
    let Run { status, stdout: out, stderr: err } = workspace.run(&["game", "a.db", "1-3", "--format", "pgn"]);
    assert!(
        status == 0 && err.contains("note: a.db: 1 of the requested numbers has no game; games may"),
        "{err}"
    );
    assert_eq!(out.matches("[Event ").count(), 2);
    let Run { status, stderr: err, .. } = workspace.run(&["game", "a.db", "1"]);
    assert_eq!(
        (status, err.as_str()),
        (
            1,
            "pgndex: error: a.db: no game 1; it was removed, or got a new number when its file was read again; `pgndex find` lists games with their numbers\n"
        )
    );
}

#[test]
fn a_database_with_tables_of_users_is_not_reread() {
    let workspace = Workspace::new().with("a.pgn", "1. e4 {a comment} e5 *\n");
    workspace.stdout_of(&["index", "--quiet", "--annotations", "none", "games.db", "a.pgn"]);
    workspace.connection("games.db").execute_batch("CREATE TABLE notes (game_id)").expect("a table");
    let message = workspace.failure(&["index", "--reread", "games.db"]);
    assert!(message.contains("notes") && message.contains("would be lost"), "{message}");
    assert_eq!(workspace.number("games.db", "SELECT count(*) FROM comment"), 0);
    workspace.connection("games.db").execute_batch("DROP TABLE notes").expect("no table");
    workspace.stdout_of(&["index", "--quiet", "--reread", "games.db"]);
    assert_eq!(workspace.number("games.db", "SELECT count(*) FROM comment"), 1);
}

#[test]
fn all_files_are_reread_or_none() {
    let workspace = Workspace::new().with("a.pgn", "1. e4 {a} *\n").with("b.pgn", "1. d4 {b} *\n");
    let arguments = ["index", "--quiet", "--duplicates", "keep", "--continuation-threshold", "2", "games.db"];
    workspace.stdout_of(&[&arguments[..], &["b.pgn", "a.pgn"]].concat());
    std::fs::rename(workspace.path("a.pgn"), workspace.path("c.pgn")).expect("a new name");
    let message = workspace.failure(&["index", "--reread", "games.db"]);
    assert!(message.contains("a.pgn: cannot be read"), "{message}");
    std::fs::rename(workspace.path("c.pgn"), workspace.path("a.pgn")).expect("the old name");
    workspace.stdout_of(&["index", "--quiet", "--reread", "games.db"]);
    let comments = "SELECT count(*) FROM comment WHERE (game_id, text) IN (VALUES (1, 'b'), (2, 'a'))";
    assert_eq!(workspace.number("games.db", comments), 2);
    let kept = "SELECT json_extract(options, '$.duplicates') = 'keep'
                   AND json_extract(options, '$.continuation_threshold') = 2 FROM import";
    assert_eq!(workspace.number("games.db", kept), 1);
    // A missing file without games does not matter.
    assert_eq!(workspace.run(&["index", "--quiet", "games.db", "missing.pgn", "b.pgn", "a.pgn"]).status, 3);
    workspace.stdout_of(&["index", "--quiet", "--reread", "games.db"]);
    assert_eq!(workspace.number("games.db", comments), 2);
    // Options do not apply to known files.
    let known = ["index", "games.db", "a.pgn", "--annotations", "none", "--on-problem", "skip"];
    let Run { stderr: err, .. } = workspace.run(&known);
    assert!(
        err.contains("note: --annotations and --on-problem skip apply only to new games; to change all games, use --reread as well"),
        "{err}"
    );
}

#[test]
fn rereading_does_not_drop_games_of_a_shorter_file() {
    let (one, two) = ("1. e4 {a} *\n", "1. e4 {a} *\n\n1. d4 {b} *\n");
    let games = |workspace: &Workspace| workspace.number("games.db", "SELECT count(*) FROM game");
    let shorter = [("", (0, 0)), (one, (1, 12)), ("1. e4 *\n\n1. d4 *\n", (2, 17))];
    for (text, (number, bytes)) in shorter {
        let workspace = Workspace::new().with("a.pgn", two).with("b.pgn", "1. c4 *\n");
        workspace.stdout_of(&["index", "--quiet", "games.db", "a.pgn", "b.pgn"]);
        let workspace = workspace.with("a.pgn", text);
        let message = workspace.failure(&["index", "--reread", "games.db"]);
        let counts = format!("(games: {number} now, 2 then; bytes of text: {bytes} now, 25 then)");
        assert!(
            message.contains(&format!("a.pgn: contains less than when it was indexed {counts}")),
            "{message}"
        );
        assert!(message.contains("--drop-missing"), "{message}");
        assert_eq!(games(&workspace), 3);
        workspace.stdout_of(&["index", "--quiet", "--reread", "--drop-missing", "games.db"]);
        assert_eq!(games(&workspace), 1 + text.matches("1. ").count() as i64);
    }
    // A file that is replaced each week contains only the games of the last week.
    let workspace = Workspace::new().with("new.pgn", "1. e4 *\n");
    workspace.stdout_of(&["index", "--quiet", "games.db", "new.pgn"]);
    let workspace = workspace.with("new.pgn", "1. d4 d5 *\n");
    workspace.stdout_of(&["index", "--quiet", "games.db", "new.pgn"]);
    let message = workspace.failure(&["index", "--reread", "games.db"]);
    assert!(message.contains("games: 1 now, 2 then"), "{message}");
    // A missing file.
    let workspace = Workspace::new().with("a.pgn", one).with("b.pgn", "1. c4 *\n");
    workspace.stdout_of(&["index", "--quiet", "games.db", "a.pgn", "b.pgn"]);
    std::fs::remove_file(workspace.path("a.pgn")).expect("no file");
    workspace.failure(&["index", "--reread", "games.db"]);
    workspace.stdout_of(&["index", "--quiet", "--reread", "--drop-missing", "games.db"]);
    assert_eq!(games(&workspace), 1);
}

#[test]
fn a_known_file_keeps_its_encoding() {
    let old = b"[White \"\xca\xe0\xf0\"]\n\n1. e4 *\n\n";
    let repeated = "[White \"A\"]\n[Black \"B\"]\n\n1. d4 *\n";
    let workspace = Workspace::new().with("a.pgn", repeated).with("b.pgn", old);
    workspace.stdout_of(&["index", "--quiet", "games.db", "a.pgn"]);
    workspace.stdout_of(&["index", "--quiet", "--encoding", "windows-1251", "games.db", "b.pgn"]);
    let index = ["index", "--json", "games.db", "b.pgn"];
    assert_eq!(json_of(&workspace.stdout_of(&index))["known_sources"], 1);
    // The new part is read in the same encoding, and so is a skipped duplicate in it.
    let grown = [&old[..], b"[White \"\xd2\xe0\xeb\xfc\"]\n\n1. c4 *\n\n", repeated.as_bytes()].concat();
    workspace.write("b.pgn", grown);
    assert_eq!(json_of(&workspace.stdout_of(&index))["games"], 1);
    let white = "SELECT ifnull(white, '?') FROM games";
    assert_eq!(
        crate::support::lines(&workspace.connection("games.db"), white),
        ["A", "\u{41a}\u{430}\u{440}", "\u{422}\u{430}\u{43b}\u{44c}"]
    );
    assert!(workspace.ok(&["verify", "games.db"]).contains("3 compared with the source"));
    assert_eq!(
        json_of(&workspace.stdout_of(&["remove", "--json", "games.db", "--source", "a.pgn"]))["returned"],
        1
    );
    // An unchanged file in another encoding is an error, because it would give the same games again.
    let message = workspace.failure(&["index", "--encoding", "auto", "games.db", "b.pgn"]);
    assert!(message.contains("b.pgn: was indexed with --encoding windows-1251, not auto"), "{message}");
    assert!(message.contains("--reread --encoding auto"), "{message}");
    let message = workspace.failure(&["index", "--reread", "games.db"]);
    assert!(message.contains("all files are read again in one encoding"), "{message}");
    assert_eq!(workspace.number("games.db", "SELECT count(*) FROM game"), 3);
}

#[test]
fn rereading_with_another_encoding_may_give_a_shorter_text() {
    let workspace = Workspace::new();
    std::fs::write(workspace.path("a.pgn"), b"[White \"\xc6\xe5\xca\xd6\"]\n\n1. e4 *\n").expect("a file");
    workspace.stdout_of(&["index", "--quiet", "games.db", "a.pgn"]);
    workspace.stdout_of(&["index", "--quiet", "--reread", "--encoding", "gbk", "games.db"]);
    assert_eq!(workspace.number("games.db", "SELECT count(*) FROM player WHERE name = '棋手'"), 1);
}
