//! `pgndex backup`: copies of databases, also of those that are written to.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::place::Place;

const GAMES: &str = "1. e4 e5 *\n\n1. d4 d5 *\n";

#[test]
fn a_copy_is_sound_and_has_all() {
    let place = Place::new().indexed(GAMES);
    let run = place.run(&["backup", "games.db", "copy.db"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.stderr.contains(" copied to copy.db in "), "{run:?}");
    assert_eq!(place.number("copy.db", "SELECT count(*) FROM game"), 2);
    assert_eq!(place.run(&["verify", "--all", "copy.db"]).status, 0);
    assert_eq!(place.names(), ["copy.db", "games.db", "games.pgn"]);
    assert_eq!(place.run(&["index", "-q", "copy.db", "games.pgn"]).status, 0, "games can be added to it");
}

#[test]
fn nothing_is_replaced_by_accident() {
    let place = Place::new().indexed(GAMES).with("other", "a text");
    assert_eq!(place.run(&["backup", "-q", "games.db", "copy.db"]).status, 0);
    let before = fs::read(place.path("copy.db")).unwrap();
    let told = place.failure(&["backup", "games.db", "copy.db"]);
    assert_eq!(
        told,
        "pgndex: error: copy.db: exists already; use --overwrite to replace it, or name another file\n"
            .replace("copy.db", &place.path("copy.db").canonicalize().unwrap().to_string_lossy())
    );
    assert_eq!(fs::read(place.path("copy.db")).unwrap(), before);
    assert_eq!(place.run(&["backup", "-q", "games.db", "copy.db", "--overwrite"]).status, 0);
    for arguments in [
        ["backup", "games.db", "games.db", "--overwrite"],
        ["backup", "games.db", "other", "--overwrite"],
        ["backup", "games.db", "missing/copy.db", "--overwrite"],
        ["backup", "games.pgn", "new.db", "--overwrite"],
        ["backup", "missing.db", "new.db", "--overwrite"],
    ] {
        place.failure(&arguments);
    }
    assert_eq!(fs::read(place.path("other")).unwrap(), b"a text");
    assert_eq!(place.names(), ["copy.db", "games.db", "games.pgn", "other"]);
}

/// Each copy has the games of some moment: additions come whole.
#[test]
fn while_somebody_writes_each_copy_is_whole() {
    let place = Place::new().indexed(include_str!("../../examples/synthetic.pgn"));
    let first = place.number("games.db", "SELECT count(*) FROM game");
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for number in 0..8 {
                let name = format!("{number}.pgn");
                place.write(
                    &name,
                    format!("[White \"{number}\"]\n\n1. e4 e5 *\n\n[Black \"{number}\"]\n\n1. d4 *\n"),
                );
                let run = place.run(&["index", "-q", "games.db", &name]);
                // Status 4 is a writer that a reader kept from it: it tries again.
                assert!([0, 4].contains(&run.status), "{run:?}");
            }
            is_done.store(true, Ordering::Relaxed);
        });
        let mut copies = 0;
        while !is_done.load(Ordering::Relaxed) || copies == 0 {
            let run = place.run(&["backup", "-q", "games.db", "copy.db", "--overwrite"]);
            assert_eq!(run.status, 0, "{run:?}");
            assert_eq!((place.number("copy.db", "SELECT count(*) FROM game") - first) % 2, 0);
            copies += 1;
            if writer.is_finished() {
                break;
            }
        }
        writer.join().unwrap();
    });
    assert_eq!(place.run(&["backup", "-q", "games.db", "copy.db", "--overwrite"]).status, 0);
    assert_eq!(place.run(&["verify", "--all", "copy.db"]).status, 0);
    let games = |database| place.number(database, "SELECT count(*) FROM game");
    assert_eq!(games("copy.db"), games("games.db"));
}
