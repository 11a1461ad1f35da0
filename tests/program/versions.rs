//! Databases of unreleased versions.

use std::fs;

use crate::workspace::{CLUB, Workspace};

#[test]
fn databases_of_unreleased_versions_are_refused_untouched_and_can_be_replaced() {
    let workspace = Workspace::new();
    fs::write(workspace.path("club.pgn"), CLUB).expect("a file");
    workspace.stdout_of(&["index", "--quiet", "games.db", "club.pgn"]);
    let unreleased = "PRAGMA application_id = 0x50474e78; PRAGMA user_version = 8";
    workspace.connection("games.db").execute_batch(unreleased).expect("an older database");
    let before = fs::read(workspace.path("games.db")).expect("the database");
    for arguments in [
        &["index", "games.db", "club.pgn"][..],
        &["find", "games.db", "--moves", "1. e4"],
        &["explore", "games.db"],
        &["game", "games.db", "1"],
        &["info", "games.db"],
        &["export", "games.db", "--format", "pgn"],
        &["players", "games.db"],
        &["sql", "games.db", "SELECT 1"],
        &["remove", "games.db", "--games", "--white", "agren"],
        &["optimize", "games.db"],
        &["repair", "games.db"],
        &["verify", "games.db"],
        &["serve", "games.db"],
    ] {
        let run = workspace.run(arguments);
        assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{arguments:?}: {}", run.stderr);
        let message = "games.db: made by an unreleased version of pgndex; index its games again (pgndex index --overwrite)\n";
        assert!(run.stderr.ends_with(message), "{arguments:?}: {}", run.stderr);
        assert!(fs::read(workspace.path("games.db")).expect("the database") == before, "{arguments:?}");
    }
    workspace.stdout_of(&["index", "--quiet", "--overwrite", "games.db", "club.pgn"]);
    assert_eq!(workspace.number("games.db", "PRAGMA user_version"), 1);
    workspace.stdout_of(&["verify", "games.db", "--all"]);
}
