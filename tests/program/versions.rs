//! Databases that unreleased versions made.

use std::fs;

use crate::place::{CLUB, Place};

#[test]
fn databases_of_unreleased_versions_are_refused_untouched_and_can_be_replaced() {
    let place = Place::new();
    fs::write(place.path("club.pgn"), CLUB).expect("a file");
    place.printed(&["index", "--quiet", "games.db", "club.pgn"]);
    let unreleased = "PRAGMA application_id = 0x50474e78; PRAGMA user_version = 8";
    place.connection("games.db").execute_batch(unreleased).expect("an older database");
    let before = fs::read(place.path("games.db")).expect("the database");
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
        let run = place.run(arguments);
        assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{arguments:?}: {}", run.stderr);
        let message = "games.db: made by an unreleased version of pgndex; index its games again (pgndex index --overwrite)\n";
        assert!(run.stderr.ends_with(message), "{arguments:?}: {}", run.stderr);
        assert!(fs::read(place.path("games.db")).expect("the database") == before, "{arguments:?}");
    }
    place.printed(&["index", "--quiet", "--overwrite", "games.db", "club.pgn"]);
    assert_eq!(place.number("games.db", "PRAGMA user_version"), 1);
    place.printed(&["verify", "games.db", "--all"]);
}
