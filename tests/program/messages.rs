//! Messages that help users of similar programs, and users whose files cannot be read.

use serde_json::Value;

use crate::workspace::{Workspace, json};

const GAMES: &str = include_str!("../../examples/famous-games.pgn");

/// A database of the famous games.
fn workspace() -> Workspace {
    let workspace = Workspace::new().with("a.pgn", GAMES);
    workspace.stdout_of(&["index", "--quiet", "a.db", "a.pgn"]);
    workspace
}

#[test]
fn commands_and_options_of_other_programs_get_a_tip() {
    let workspace = workspace();
    for (arguments, reported) in [
        (&["merge", "a.db", "b.db"][..], "index the files of both into one"),
        (
            &["restore", "a.db"],
            "to restore it, copy it over the damaged database: 'pgndex backup BACKUP DB --overwrite'",
        ),
        (&["wxyz"], "'pgndex --help' lists the commands"),
        (&["find", "a.db", "--won"], "use '--result 1-0'"),
        (&["find", "a.db", "--player", "tal", "--lost"], "use '--result 1-0'"),
        (&["find", "a.db", "--eval-max", "3"], "query evaluations and clocks with SQL"),
        (&["find", "a.db", "--clock", "3"], "query evaluations and clocks with SQL"),
        (&["find", "a.db", "--rating-min", "2000"], "use '--elo-min N'"),
        (&["find", "a.db", "--colour", "white"], "use '--white NAME' or '--black NAME'"),
        (&["find", "a.db", "--wxyz"], "'pgndex find --help' lists the options"),
        (&["find", "a.db", "--playr", "tal"], "a similar argument exists: '--player'"),
        (&["find", "a.db", "--time-contrl", "60"], "a similar argument exists: '--time-control'"),
        (&["fnd", "a.db"], "'find'"),
    ] {
        let message = workspace.stderr_of(2, arguments);
        assert!(message.contains(reported), "{arguments:?}: {message}");
        assert!(!message.contains("--json") && !message.contains("--offset"), "{arguments:?}: {message}");
    }
}

#[test]
fn options_without_effect_are_refused() {
    let workspace = workspace();
    let message = workspace.stderr_of(2, &["index", "--dry-run", "--layout", "compact", "a.pgn"]);
    assert!(message.contains("'--dry-run' cannot be used with '--layout <LAYOUT>'"), "{message}");
    if !cfg!(feature = "parquet") {
        let message = workspace.stderr_of(2, &["export", "a.db", "--parquet", "tables"]);
        assert!(message.starts_with("error: --parquet: this pgndex was built without Parquet."), "{message}");
    }
}

#[test]
fn a_file_is_not_written_to_standard_output() {
    let workspace = workspace();
    for arguments in [
        &["backup", "a.db", "-"][..],
        &["index", "a.db", "a.pgn", "--problems", "-"],
        &["watch", "-", ".", "--once"],
        &["man", "-"],
    ] {
        let message = workspace.stderr_of(2, arguments);
        assert!(message.contains("-: the output goes to a file, not to standard output"), "{message}");
        assert!(!workspace.path("-").exists(), "{arguments:?}");
    }
    let message = workspace.stderr_of(2, &["index", "-", "a.pgn"]);
    assert!(
        message.contains("-: the first argument is the database, which cannot be standard input"),
        "{message}"
    );
    workspace.stderr_of(0, &["backup", "a.db", "./-"]);
    assert!(workspace.path("-").exists());
}

#[cfg(unix)]
#[test]
fn an_unreadable_file_is_named_with_the_reason() {
    use crate::command::bound_by_modes;
    use std::os::unix::fs::PermissionsExt as _;

    let workspace = workspace();
    std::fs::create_dir(workspace.path("in")).expect("a directory");
    for name in ["in/x.zip", "a.db"] {
        if name != "a.db" {
            workspace.write(name, "PK");
        }
        std::fs::set_permissions(workspace.path(name), std::fs::Permissions::from_mode(0o0)).expect("a mode");
    }
    for (arguments, name) in [
        (&["index", "b.db", "in"][..], "in/x.zip"),
        (&["index", "b.db", "in/x.zip"], "in/x.zip"),
        (&["info", "a.db"], "a.db"),
        (&["index", "a.db", "a.pgn"], "a.db"),
    ] {
        let Some(mut command) = bound_by_modes(&workspace.command(arguments)) else { return };
        let output = command.output().expect("a run");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains(name) && message.contains("ermission denied"), "{arguments:?}: {message}");
    }
}

#[test]
fn an_empty_directory_is_not_an_error() {
    let workspace = workspace();
    std::fs::create_dir(workspace.path("in")).expect("a directory");
    workspace.write("list.txt", "# none\n");
    for (input, expected) in [("in", "no PGN file was found"), ("@list.txt", "list.txt: the list is empty")] {
        for database in ["a.db", "new.db"] {
            let message = workspace.stderr_of(0, &["index", database, input]);
            assert!(message.contains(expected), "{message}");
        }
    }
    assert!(!workspace.path("new.db").exists());
    workspace.stderr_of(0, &["watch", "a.db", "in", "--once"]);
    let run = workspace.run(&["index", "--json", "a.db", "in"]);
    assert_eq!((run.status, &json(&run.stdout)["games"]), (0, &Value::from(0)));
    // An existing database is not replaced by an empty one.
    let message = workspace.failure(&["index", "--overwrite", "a.db", "in"]);
    assert!(message.contains("nothing to index: no PGN file was found"), "{message}");
    assert!(workspace.number("a.db", "SELECT count(*) FROM game") > 40);
}

#[test]
fn openings_are_found_in_common_spellings() {
    let workspace = workspace();
    let found = |name: &str| {
        let run = workspace.run(&["find", "a.db", "--opening", name, "--format", "json", "--limit", "99"]);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{name}");
        run.stdout.lines().count()
    };
    for (name, same) in [
        ("kings gambit", "King's Gambit"),
        ("King’s Gambit", "King's Gambit"),
        ("Caro Kann", "Caro-Kann"),
        ("Queens Gambit", "Queen's Gambit"),
        ("Sicilian Defence", "Sicilian Defense"),
        ("gruenfeld", "Grünfeld"),
    ] {
        assert!(found(same) > 0 && found(name) == found(same), "{name}");
    }
}

#[test]
fn an_unknown_event_is_searched_among_the_sites() {
    let workspace =
        Workspace::new().with("a.pgn", "[Event \"Hoogovens\"]\n[Site \"Wijk aan Zee\"]\n\n1. e4 *\n");
    workspace.stdout_of(&["index", "--quiet", "a.db", "a.pgn"]);
    let message = workspace.stderr_of(0, &["find", "a.db", "--event", "wijk aan zee"]);
    let reported = "no event has a name that matches \"wijk aan zee\" (--event); --site matches 1 game";
    assert!(message.contains(reported), "{message}");
    let message = workspace.stderr_of(0, &["find", "a.db", "--site", "hoogovens"]);
    assert!(message.contains("(--site); --event matches 1 game"), "{message}");
    let message = workspace.stderr_of(0, &["find", "a.db", "--site", "london"]);
    assert!(!message.contains("--event"), "{message}");
}

#[test]
fn an_eco_code_given_as_an_opening_is_searched_as_a_code() {
    let workspace = Workspace::new().with("a.pgn", "1. e4 e5 2. Nf3 Nc6 3. Bb5 *\n");
    workspace.stdout_of(&["index", "--quiet", "a.db", "a.pgn"]);
    let message = workspace.stderr_of(0, &["find", "a.db", "--opening", "C60"]);
    let reported = "no opening has a name that matches \"C60\" (--opening); --opening-eco matches 1 game\n";
    assert!(message.contains(reported), "{message}");
}
