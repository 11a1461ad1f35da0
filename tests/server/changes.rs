//! Databases that are changed, replaced or removed while they are served; and the shutdown of a server.

use std::io::{Read as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::command::command;
use crate::server::serving::{Serving, index};

const GAME: &str =
    "[Event \"New\"]\n[White \"Newcomer, N\"]\n[Black \"B\"]\n[Result \"1-0\"]\n\n1. a3 h6 1-0\n";

#[test]
fn unchanged_responses_are_not_sent_again() {
    let server = Serving::famous(&[]);
    let first = server.get("/api/explore?play=a2a3");
    let tag = first.header("etag").expect("a tag").to_owned();
    let again =
        |target: &str, tag: &str| server.request("GET", target, &[&format!("If-None-Match: {tag}")], "");
    for known in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".to_owned()] {
        let answer = again("/api/explore?play=a2a3", &known);
        assert_eq!((answer.status, answer.body.as_str()), (304, ""), "{known}");
    }
    assert_eq!(again("/api/explore?play=a2a4", &tag).status, 200);
    // Added games are visible at once.
    std::fs::write(server.path("new.pgn"), GAME).unwrap();
    assert!(
        command(server.directory.path(), &["index", "--quiet", "games.db", "new.pgn"])
            .status()
            .unwrap()
            .success()
    );
    let answer = again("/api/explore?play=a2a3", &tag);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["white"], 1);
    assert_ne!(answer.header("etag"), Some(tag.as_str()));
    assert_eq!(server.json("/api/names?prefix=newc")["names"][0], "Newcomer, N");
    for fixed in ["/page/app.js", "/api/openapi.json"] {
        let tag = server.get(fixed).header("etag").expect("a tag").to_owned();
        assert_eq!(again(fixed, &tag).status, 304);
    }
}

#[test]
fn responses_are_compressed_for_clients_that_accept_it() {
    let server = Serving::famous(&[]);
    for target in [
        "/lichess",
        "/api/explore",
        "/api/games",
        "/api/game/1/pgn",
        "/page/app.js",
        "/",
        "/api/openapi.json",
    ] {
        let plain = server.get(target);
        let packed = server.request("GET", target, &["Accept-Encoding: gzip, br"], "");
        assert_eq!((plain.header("content-encoding"), plain.header("vary")), (None, Some("accept-encoding")));
        if plain.bytes.len() < 2048 {
            assert_eq!((packed.header("content-encoding"), &packed.bytes), (None, &plain.bytes), "{target}");
            continue;
        }
        assert_eq!(packed.header("content-encoding"), Some("gzip"), "{target}");
        assert_eq!(packed.header("vary"), Some("accept-encoding"));
        assert!(packed.bytes.len() < plain.bytes.len() / 2, "{target}");
        let mut unpacked = Vec::new();
        flate2::bufread::GzDecoder::new(&packed.bytes[..])
            .read_to_end(&mut unpacked)
            .expect("it can be unpacked");
        assert_eq!(unpacked, plain.bytes, "{target}");
        // Both describe the same state of the database, but have different bytes.
        let tags = [&plain, &packed].map(|answer| answer.header("etag").expect("a tag").to_owned());
        assert_ne!(tags[0], tags[1], "{target}");
        for tag in &tags {
            let known = format!("If-None-Match: {tag}");
            let answer = server.request("GET", target, &["Accept-Encoding: gzip", &known], "");
            assert_eq!((answer.status, answer.header("etag")), (304, Some(tag.as_str())), "{target}");
            assert_eq!(answer.header("vary"), Some("accept-encoding"));
        }
    }
    // Exports are sent while the rows are read.
    let export = server.request("GET", "/api/export.pgn", &["Accept-Encoding: gzip"], "");
    assert_eq!((export.status, export.header("content-encoding")), (200, None));
    let rows =
        server.request("POST", "/api/sql", &["Accept-Encoding: gzip"], r#"{"sql": "SELECT * FROM game"}"#);
    assert_eq!((rows.status, rows.header("content-encoding")), (200, Some("gzip")));
}

#[test]
fn a_replaced_database_is_reopened_and_a_missing_one_is_reported() {
    let server = Serving::famous(&[]);
    let games = || server.json("/api/games")["total"]["all"].clone();
    assert_eq!(games()["exact"]["games"], 53);
    std::fs::write(server.path("new.pgn"), GAME).unwrap();
    index(server.directory.path(), "other.db", std::path::Path::new("new.pgn"));
    std::fs::rename(server.path("other.db"), server.path("games.db")).unwrap();
    assert_eq!(games(), "shown");
    assert_eq!(server.json("/lichess?play=a2a3")["white"], 1);
    std::fs::rename(server.path("games.db"), server.path("away.db")).unwrap();
    let answer = server.get("/lichess");
    assert_eq!(answer.status, 503);
    assert!(answer.body.contains("missing") && answer.header("retry-after").is_some(), "{}", answer.body);
    assert_eq!(server.get("/health").status, 200);
    std::fs::rename(server.path("away.db"), server.path("games.db")).unwrap();
    assert_eq!(server.json("/lichess?play=a2a3")["white"], 1);
    std::fs::write(server.path("text"), "no database").unwrap();
    std::fs::rename(server.path("text"), server.path("games.db")).unwrap();
    assert_eq!(server.get("/lichess").status, 503);
}

#[test]
fn several_databases_have_their_own_paths() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("new.pgn"), GAME).unwrap();
    std::fs::create_dir(directory.path().join("sub")).unwrap();
    index(directory.path(), "games.db", &crate::server::serving::famous_games());
    index(directory.path(), "sub/games.db", std::path::Path::new("new.pgn"));
    let server = Serving::start(directory, &["games.db", "sub/games.db"], &[]);
    let databases = server.json("/api/databases");
    assert_eq!(databases["databases"][0]["path"], "/db/games");
    assert_eq!(databases["databases"][1]["path"], "/db/games-2");
    assert_eq!(server.json("/db/games-2/lichess?play=a2a3")["white"], 1);
    assert_eq!(server.json("/db/games/lichess?play=a2a3")["white"], 0);
    assert_eq!(server.json("/lichess?play=a2a3")["white"], 0);
    for path in ["/db/games-2", "/db/games-2/"] {
        let page = server.get(path);
        assert_eq!((page.status, page.header("location")), (307, Some("/?db=games-2")));
        let view = server.get("/db/games-2/view/games?player=tal");
        assert_eq!((view.status, view.header("location")), (307, Some("/view/games?player=tal&db=games-2")));
        assert_eq!(server.get("/db/nothing/view/games").status, 404);
    }
    assert_eq!(server.get("/db/other").status, 404);
}

#[test]
fn a_signal_ends_the_server_and_a_running_statement() {
    let mut server = Serving::famous(&["--sql-timeout", "600"]);
    let mut stream = server.connect();
    let long = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n";
    let body = serde_json::json!({ "sql": long }).to_string();
    write!(
        stream,
        "POST /api/sql HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let began = Instant::now();
    assert_eq!(server.end(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("server is stopping"), "{answer}");
    // No files are left next to the database.
    assert_eq!(std::fs::read_dir(server.directory.path()).unwrap().count(), 1);
}

/// Continuous readers do not block writers, neither in a new database nor in one to which games were added.
#[test]
fn continuous_readers_do_not_block_writers() {
    let server = Serving::famous(&[]);
    std::fs::write(server.path("new.pgn"), GAME).unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for target in
            ["/api/export.pgn", "/lichess?play=e2e4", "/api/games?material=KRPvKR", "/api/statistics"]
        {
            let (server, is_over) = (&server, &is_over);
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let status = server
                        .send(
                            format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                                .as_bytes(),
                        )
                        .status;
                    assert_eq!(status, 200, "{target}");
                }
            });
        }
        let statuses = [
            &["index", "games.db", "new.pgn"][..],
            &["repair", "games.db"],
            &["remove", "games.db", "--source", "new.pgn"],
            &["repair", "games.db"],
            &["index", "games.db", "new.pgn"],
        ]
        .map(|arguments| command(server.directory.path(), arguments).arg("--quiet").output().unwrap());
        is_over.store(true, Ordering::Relaxed);
        for output in statuses {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    });
    assert_eq!(server.json("/lichess?play=a2a3")["white"], 1);
    let verified = command(server.directory.path(), &["verify", "--all", "games.db"]).output().unwrap();
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
}
