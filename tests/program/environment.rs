//! Environment variables that replace missing arguments.

use crate::command::Run;
use crate::workspace::Workspace;

const GAMES: &str = "1. e4 e5 *\n\n1. d4 d5 *\n";

fn run(workspace: &Workspace, variables: &[(&str, &str)], arguments: &[&str]) -> Run {
    Run::of(workspace.command(arguments).envs(variables.iter().copied()).output().expect("the program runs"))
}

#[test]
fn pgndex_db_names_the_database_of_read_only_commands() {
    let workspace = Workspace::new().indexed(GAMES);
    let named = [("PGNDEX_DB", "games.db")];
    for arguments in [
        &["info"][..],
        &["find", "--moves", "1. e4"],
        &["explore", "--moves", "1. e4"],
        &["export", "--format", "pgn"],
        &["verify"],
    ] {
        let given = workspace.run(&[&arguments[..1], &["games.db"], &arguments[1..]].concat());
        assert_eq!(run(&workspace, &named, arguments).status, 0, "{arguments:?}");
        if arguments[0] != "info" {
            assert_eq!(run(&workspace, &named, arguments), given, "{arguments:?}");
        }
        assert_eq!(run(&workspace, &[("PGNDEX_DB", "")], arguments).status, 2, "{arguments:?}");
    }
    let both = run(&workspace, &[("PGNDEX_DB", "missing.db")], &["find", "games.db", "--moves", "1. e4"]);
    assert_eq!(both.status, 0, "the command line goes first: {both:?}");
    let missing = run(&workspace, &[("PGNDEX_DB", "missing.db")], &["find", "--moves", "1. e4"]);
    assert_eq!(missing.status, 1);
    let reported = "pgndex: error: missing.db: no such database; create one with `pgndex index`\n  the variable PGNDEX_DB names the database\n";
    assert_eq!(missing.stderr, reported);
}

#[test]
fn pgndex_db_is_not_used_by_writing_or_ambiguous_commands() {
    let workspace = Workspace::new().indexed(GAMES);
    for arguments in
        [&["game", "1"][..], &["optimize"], &["repair"], &["remove", "--shrink"], &["index", "games.pgn"]]
    {
        let run = run(&workspace, &[("PGNDEX_DB", "games.db")], arguments);
        assert_eq!(run.status, 2, "{arguments:?}: {run:?}");
    }
}

#[test]
fn pgndex_threads_sets_the_number_of_threads() {
    let workspace = Workspace::new().with("games.pgn", GAMES);
    let index = ["index", "--dry-run", "--json", "games.pgn"];
    assert_eq!(run(&workspace, &[("PGNDEX_THREADS", "1")], &index).status, 0);
    assert_eq!(run(&workspace, &[("PGNDEX_THREADS", "")], &index).status, 0);
    let wrong = run(&workspace, &[("PGNDEX_THREADS", "many")], &index);
    assert_eq!(wrong.status, 2);
    assert!(wrong.stderr.starts_with("error: invalid value 'many' for 'PGNDEX_THREADS', the default of '--threads <N>': not a whole number"), "{wrong:?}");
    assert_eq!(
        run(&workspace, &[("PGNDEX_THREADS", "many")], &[&index[..], &["-j", "1"]].concat()).status,
        0
    );
}

#[test]
fn names_are_not_formulas_in_spreadsheets() {
    let name = "[White \"=cmd|' /C calc'!A0\"]\n[Black \"-2+3\"]\n[Event \"@SUM(1)\"]\n[Site \"+1\"]\n\n1. e4 {[%eval -0.5]} *\n";
    let workspace = Workspace::new().indexed(name);
    for arguments in [
        &["find", "games.db", "--format", "csv"][..],
        &["sql", "games.db", "--format", "csv", "SELECT white, black, event, -1 AS number FROM games"],
        &["export", "games.db", "--format", "csv"],
    ] {
        let as_it_is = workspace.run(arguments).stdout;
        let harmless = run(&workspace, &[("PGNDEX_SPREADSHEET", "1")], arguments).stdout;
        assert!(as_it_is.contains("=cmd|") && !as_it_is.contains("'=cmd|"), "{as_it_is}");
        for cell in ["=cmd|", "-2+3", "@SUM"] {
            let quoted = format!("'{cell}");
            assert_eq!(harmless.matches(cell).count(), harmless.matches(&quoted).count(), "{harmless}");
        }
        assert_eq!(harmless.replace("'=", "=").replace("'-2", "-2").replace("'@", "@"), as_it_is);
    }
}
