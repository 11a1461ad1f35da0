//! Attacks against the server, and what stops them.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::time::{Duration, Instant};

use crate::server::serving::{Answer, Serving, directory_of_famous_games, talkative};

/// The beginning of a statement that never ends.
const FOR_EVER: &str = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT ";

#[test]
fn only_names_of_this_machine_are_served() {
    let server = Serving::famous(&["--allow-host", "chess.example.org"]);
    let status_of = |host: &str| server.request("GET", "/lichess", &[&format!("Host: {host}")], "").status;
    let port = server.address.rsplit(':').next().unwrap();
    for host in ["localhost", "127.0.0.1", "[::1]:9002", "chess.example.org", "CHESS.example.org:443"] {
        assert_eq!(status_of(host), 200, "{host}");
    }
    assert_eq!(status_of(&format!("localhost:{port}")), 200);
    for host in [
        "evil.example.com",
        "evil.example.com@localhost",
        "evil.example.com:9002",
        "127.0.0.1.evil.com",
        "chess.example.org.evil.com",
        "",
        "a b",
    ] {
        assert!(matches!(status_of(host), 400 | 403), "{host}");
    }
    // No host name, two host names, or one in the request line.
    for request in [
        "GET /lichess HTTP/1.0\r\n\r\n",
        "GET /lichess HTTP/1.1\r\nHost: localhost\r\nHost: evil.com\r\nConnection: close\r\n\r\n",
        "GET http://evil.com/lichess HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    ] {
        assert!(matches!(server.send(request.as_bytes()).status, 400 | 403), "{request}");
    }
}

#[test]
fn pages_of_other_hosts_cannot_send_requests() {
    let server = Serving::famous(&[]);
    let own = format!("Origin: http://{}", server.address);
    let status_of =
        |headers: &[&str]| server.request("POST", "/api/sql", headers, r#"{"sql": "SELECT 1"}"#).status;
    assert_eq!(status_of(&[]), 200);
    assert_eq!(status_of(&[&own, "Sec-Fetch-Site: same-origin"]), 200);
    for headers in [
        &["Origin: http://evil.com"][..],
        &["Origin: null"],
        &["Origin: http://127.0.0.1:1"],
        &["Sec-Fetch-Site: cross-site"],
        &["Sec-Fetch-Site: same-site"],
        &[&own, "Sec-Fetch-Site: cross-site"],
    ] {
        assert_eq!(status_of(headers), 403, "{headers:?}");
        assert_eq!(server.request("POST", "/api/repertoire", headers, "1. e4 *").status, 403, "{headers:?}");
    }
    // Pages of other hosts cannot read responses either. With `--cors` they can, but only those of the explorer's
    // routes.
    let foreign = ["Origin: http://evil.com"];
    assert_eq!(server.request("GET", "/lichess", &foreign, "").header("access-control-allow-origin"), None);
    let open = Serving::famous(&["--cors"]);
    let allowed = |target: &str| {
        let answer = open.request("GET", target, &foreign, "");
        answer.header("access-control-allow-origin").map(str::to_owned)
    };
    for (target, expected) in [
        ("/lichess", Some("*")),
        ("/db/games/masters", Some("*")),
        ("/api/explore", None),
        ("/db/games/api/explore", None),
        ("/api/game/1", None),
        ("/", None),
    ] {
        assert_eq!(allowed(target).as_deref(), expected, "{target}");
    }
    let preflight = open.request("OPTIONS", "/lichess", &foreign, "");
    assert_eq!((preflight.status, preflight.header("access-control-allow-origin")), (204, Some("*")));
    assert_eq!(open.request("OPTIONS", "/api/sql", &foreign, "").status, 403);
}

#[test]
fn responses_have_security_headers() {
    let server = Serving::famous(&[]);
    for target in [
        "/",
        "/view/games",
        "/page/app.js",
        "/lichess",
        "/api/game/1",
        "/nothing",
        "/api/games?x",
        "/api/export.pgn",
    ] {
        let answer = server.get(target);
        let policy = answer.header("content-security-policy").unwrap_or_default();
        assert!(
            policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{target}"
        );
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{target}");
        assert_eq!(answer.header("x-frame-options"), Some("DENY"), "{target}");
    }
}

#[test]
fn a_token_is_required() {
    let directory = directory_of_famous_games();
    std::fs::write(directory.path().join("token"), "correct-horse-battery\n").unwrap();
    let server = Serving::start(directory, &["games.db"], &["--token-file", "token"]);
    let status_of = |headers: &[&str]| server.request("GET", "/api/games", headers, "").status;
    assert_eq!(status_of(&["Authorization: Bearer correct-horse-battery"]), 200);
    // The token as a password, with any user name, as a browser sends it.
    assert_eq!(status_of(&["Authorization: Basic YW55OmNvcnJlY3QtaG9yc2UtYmF0dGVyeQ=="]), 200);
    for headers in [
        &[][..],
        &["Authorization: Bearer"],
        &["Authorization: Bearer correct-horse-batter"],
        &["Authorization: Bearer correct-horse-batteryy"],
        &["Authorization: Basic !!!"],
        &["Authorization: correct-horse-battery"],
    ] {
        assert_eq!(status_of(headers), 401, "{headers:?}");
    }
    for target in ["/", "/page/app.js", "/lichess", "/metrics", "/nothing"] {
        assert_eq!(server.get(target).status, 401, "{target}");
    }
    assert_eq!(server.get("/health").status, 200);
    // Repeated wrong tokens block the client. A proxy on this machine names the client.
    let guess = |more: &str| status_of(&["Authorization: Bearer guess-guess-guess", more]);
    let statuses = Vec::from_iter((0..60).map(|_| guess("X-Forwarded-For: 192.0.2.1, 192.0.2.2")));
    assert_eq!((statuses[0], statuses[59]), (401, 429), "{statuses:?}");
    let right = "Authorization: Bearer correct-horse-battery";
    let answer = server.request("GET", "/api/games", &[right, "X-Forwarded-For: 192.0.2.2"], "");
    assert!(answer.status == 429 && answer.header("retry-after").is_some(), "{}", answer.head);
    assert_eq!(status_of(&[right]), 200);
    assert_eq!(status_of(&[right, "X-Forwarded-For: 192.0.2.1"]), 200);
}

#[test]
fn access_by_others_must_be_allowed_explicitly() {
    let directory = directory_of_famous_games();
    std::fs::write(directory.path().join("short"), "é".repeat(15)).unwrap();
    std::fs::write(directory.path().join("lines"), "a first line of it\na second line\n").unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap().to_string();
    for (arguments, message) in [
        (&["serve", "games.db", "--listen", "0.0.0.0:0"][..], "--token-file FILE, or --public"),
        (&["serve", "games.db", "--token-file", "short"], "short: the token is too short"),
        (&["serve", "games.db", "--token-file", "lines"], "lines: the token must be one line"),
        (&["serve", "games.db", "--allow-host", "http://chess.example.org/"], "is not a host name"),
        (&["serve", "games.db", "--allow-host", "chess.example.org:443"], "is not a host name"),
        (&["serve", "games.db", "--allow-host", ""], "is not a host name"),
        (&["serve", "games.db", "--token-file", "none"], "cannot read the token"),
        (&["serve", "nothing.db"], "no such database"),
        (
            &["serve", "games.db", "--listen", &taken],
            "another program listens on this address; stop that program, or name",
        ),
        (
            &["serve", "games.db", "--public", "--listen", "192.0.2.1:0"],
            "this machine does not have the address",
        ),
        (&["serve", "games.db", "--listen", "nowhere"], "an IP address and a port, such as 127.0.0.1:9002"),
        (&["serve", "games.db", "--listen", "127.0.0.1"], "an IP address and a port, such as 127.0.0.1:9002"),
    ] {
        let output = crate::command::command(directory.path(), arguments).output().unwrap();
        let is_usage =
            message.starts_with("--") || message.contains("host name") || message.starts_with("an IP");
        assert_eq!(output.status.code(), Some(if is_usage { 2 } else { 1 }), "{arguments:?}");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains(message), "{text}");
    }
}

#[test]
fn sql_only_reads() {
    let server = Serving::famous(&[]);
    let before = std::fs::read(server.path("games.db")).unwrap();
    for sql in [
        "DELETE FROM game",
        "UPDATE game SET white_elo = 1",
        "DROP TABLE game",
        "CREATE TABLE x (y)",
        "CREATE TEMP TABLE x (y)",
        "ATTACH '/tmp/evil.db' AS evil",
        "VACUUM INTO '/tmp/evil.db'",
        "PRAGMA journal_mode = WAL",
        "PRAGMA user_version = 99",
        "PRAGMA writable_schema = ON",
        "PRAGMA query_only = OFF",
        "PRAGMA temp_store_directory = '/tmp'",
        "PRAGMA wal_checkpoint",
        "SELECT load_extension('evil')",
        "SELECT readfile('/etc/passwd')",
        "SELECT writefile('/tmp/evil', 'x')",
        "SELECT fts3_tokenizer('simple')",
        "SELECT * FROM sqlite_dbpage",
        "SELECT 1; SELECT 2",
        "BEGIN EXCLUSIVE",
        "",
        "-- nothing",
    ] {
        let answer = server.sql(sql);
        assert_eq!(answer.status, 400, "{sql}: {}", answer.body);
    }
    assert_eq!(std::fs::read(server.path("games.db")).unwrap(), before);
    // The database, and the two files of a write-ahead log.
    let files: Vec<_> = std::fs::read_dir(server.directory.path()).unwrap().collect();
    assert_eq!(files.len(), 3, "{files:?}");
    for sql in [
        "SELECT count(*) FROM games",
        "SELECT name FROM pragma_table_info('game')",
        "EXPLAIN SELECT 1",
        "VALUES (1)",
    ] {
        assert_eq!(server.sql(sql).status, 200, "{sql}");
    }
    assert!(server.sql("SELECT * FROM dbstat").body.contains("The table dbstat cannot be used here."));
    assert_eq!(server.sql("SELECT fen_key('8/8/8/4k3/8/4K3/4P3/8 w - -')").status, 200);
}

/// The duration of a request, and its answer.
fn timed(work: impl FnOnce() -> Answer) -> (Duration, Answer) {
    let began = Instant::now();
    let answer = work();
    (began.elapsed(), answer)
}

/// The processor time of a server for a request, including work that continues for a moment. On systems other than
/// Linux, the duration of the request.
fn processor_time_of(server: &Serving, work: impl FnOnce() -> Answer) -> (Duration, Answer) {
    let before = server.processor_time();
    let (took, answer) = timed(work);
    let Some(before) = before else { return (took, answer) };
    std::thread::sleep(Duration::from_millis(100));
    let after = server.processor_time().expect("a running server");
    (after - before, answer)
}

#[test]
fn sql_is_limited_in_time_and_size() {
    let server = Serving::famous(&[]);
    for sql in [
        format!("{FOR_EVER} count(*) FROM n"),
        "SELECT count(*) FROM game_position a, game_position b, game_position c".to_owned(),
        // Each row takes long.
        format!(
            "{FOR_EVER} count(*) FROM n WHERE replace(printf('%.*c', 90000 + x % 2, 'a'), printf('%.*c', 45000, 'a') || 'b', 'c') = x"
        ),
        format!(
            "{FOR_EVER} count(*) FROM n WHERE printf('%.*c', 90000 + x % 2, 'a') REGEXP '((a?){{10}}){{2}}b'"
        ),
    ] {
        let (took, answer) = processor_time_of(&server, || server.sql(&sql));
        assert_eq!(answer.status, 504, "{sql}: {}", answer.body);
        assert!(
            answer.body.contains("longer than 1 s") && answer.body.contains("sql-timeout"),
            "{}",
            answer.body
        );
        assert!(took < Duration::from_secs(3), "{sql}: {took:?}");
    }
    let rows = server.sql(&format!("{FOR_EVER} x FROM n")).json();
    assert_eq!((rows["rows"].as_array().unwrap().len(), &rows["truncated"]), (1000, &true.into()));
    for (sql, limit) in [
        ("SELECT randomblob(1000000000)", "100000 bytes"),
        ("SELECT printf('%.*c', 1000000000, 'x')", "100000 bytes"),
        ("SELECT hex(zeroblob(200000))", "100000 bytes"),
        ("SELECT 'x' LIKE printf('%.*c', 101, 'x')", "100 bytes"),
    ] {
        let answer = server.sql(sql);
        assert!(answer.status == 400 && answer.body.contains(limit), "{sql}: {}", answer.body);
    }
    let long = server.sql(&format!("{FOR_EVER} hex(zeroblob(40000)) FROM n"));
    assert!(long.status == 504 || long.body.len() < 10 << 20, "{}", long.body.len());
    // The server still responds.
    assert_eq!(server.sql("SELECT 1").status, 200);
    assert_eq!(server.get("/lichess").status, 200);
}

/// SQLite cannot interrupt a function call, so the size of the arguments is limited.
#[test]
fn function_calls_are_limited_in_time() {
    let server = Serving::famous(&[]);
    let slow_call = "instr(a, b)";
    let calls = |count: usize| {
        let sum = vec![slow_call; count].join(", ");
        format!(
            "SELECT max({sum}) FROM (SELECT zeroblob(99000 + x) a, zeroblob(49000 + x) || x'01' b FROM (SELECT 1 x))"
        )
    };
    let tables = Vec::from_iter(
        (1..30).map(|at| format!("t{at} AS (SELECT a.x FROM t{before} a, t{before} b)", before = at - 1)),
    );
    let copied = format!("WITH t0 AS (SELECT 1 x), {} SELECT count(*) FROM t29", tables.join(", "));
    for (sql, status) in [
        (copied, 400),
        ("SELECT instr(zeroblob(99999), zeroblob(49999) || x'01')".to_owned(), 200),
        (
            "SELECT replace(printf('%.*c', 99999, 'a'), printf('%.*c', 49999, 'a') || 'b', 'c')".to_owned(),
            200,
        ),
        ("SELECT trim(printf('%.*c', 99999, 'a'), printf('%.*c', 49999, 'b') || 'a')".to_owned(), 200),
        ("SELECT printf('%.*c', 99999, 'a') LIKE '%' || printf('%.*c', 98, 'a') || 'b'".to_owned(), 200),
        ("SELECT printf('%.*c', 90000, 'a') REGEXP '((a?){100}){500}b'".to_owned(), 400),
        ("SELECT printf('%.*c', 30000, 'a') REGEXP '((a?){10}){6}b'".to_owned(), 200),
        ("SELECT json_patch('{}', '{}')".to_owned(), 400),
        ("SELECT unhex('00 00', ' ')".to_owned(), 400),
        (
            "SELECT length(json_pretty(replace(hex(zeroblob(450)), '0', '[') || replace(hex(zeroblob(450)), '0', ']'), \
             hex(zeroblob(500))))"
                .to_owned(),
            400,
        ),
        ("SELECT count(*) FROM dbstat".to_owned(), 400),
        (calls(41), 400),
        (calls(20), 200),
    ] {
        let (took, answer) = processor_time_of(&server, || server.sql(&sql));
        assert!(took < Duration::from_secs(3), "{sql}: {took:?}");
        // On a busy machine, even a small query can exceed the limit of a second.
        assert!(answer.status == status || answer.status == 504, "{sql}: {}", answer.body);
        assert!(!answer.body.contains("not authorized"), "{}", answer.body);
    }
}

#[test]
fn the_explorer_responds_while_sql_is_overloaded() {
    let server = Serving::famous(&[]);
    let statuses = std::thread::scope(|scope| {
        let query = || server.sql(&format!("{FOR_EVER} count(*) FROM n")).status;
        let running: Vec<_> = (0..24).map(|_| scope.spawn(query)).collect();
        std::thread::sleep(Duration::from_millis(200));
        for _ in 0..20 {
            let (took, answer) = timed(|| server.get("/lichess?play=e2e4"));
            assert_eq!(answer.status, 200);
            assert!(took < Duration::from_millis(500), "{took:?}");
        }
        running.into_iter().map(|one| one.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(statuses.iter().all(|status| matches!(status, 503 | 504)), "{statuses:?}");
    assert!(statuses.contains(&503), "{statuses:?}");
}

#[test]
fn huge_and_unusual_requests_are_refused() {
    let server = Serving::famous(&[]);
    let long = "a".repeat(100_000);
    for request in [
        format!("GET /{long} HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {long}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "X: y\r\n".repeat(1000)),
        "\0\0\0\0\r\n\r\n".to_owned(),
        "GET / HTTP/9.9\r\n\r\n".to_owned(),
    ] {
        let answer = server.send(request.as_bytes());
        assert!(matches!(answer.status, 0 | 400..=499), "{}", answer.status);
    }
    let large = "x".repeat(5 << 20);
    for target in ["/api/sql", "/api/repertoire"] {
        let answer = server.request("POST", target, &[], &large);
        assert!(matches!(answer.status, 0 | 413), "{target}: {}", answer.status);
    }
    let answer =
        server.send(b"POST /api/sql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n{}");
    assert!(matches!(answer.status, 0 | 413), "{}", answer.status);
    for method in ["PUT", "DELETE", "TRACE", "PATCH", "CONNECT"] {
        let answer = server.request(method, "/api/games", &[], "");
        assert!(matches!(answer.status, 400 | 404 | 405), "{method}: {}", answer.status);
    }
    assert_eq!(server.request("POST", "/api/games", &[], "").status, 405);
    assert_eq!(server.get("/api/sql").status, 405);
    // The name is not compared with similar parameters, which would take a second for each.
    let answer = server.get(&format!("/api/games?{}=1", "x".repeat(59_000)));
    assert!(answer.status == 400 && answer.body.len() < 2000, "{}: {}", answer.status, answer.body.len());
    assert_eq!(server.get("/lichess").status, 200);
}

#[test]
fn malformed_and_incomplete_bodies_are_reported() {
    let server = Serving::famous(&[]);
    for (header, body) in [
        ("Transfer-Encoding: chunked", "zz\r\n"),
        ("Transfer-Encoding: chunked", "5\r\n{"),
        ("Content-Length: 50", "{\"sq"),
    ] {
        let mut stream = server.connect();
        let head =
            format!("POST /api/sql HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{header}\r\n\r\n");
        stream.write_all((head + body).as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let answer = Answer::read(&bytes);
        assert_eq!(answer.status, 400, "{body}: {}", answer.body);
        assert!(answer.body.contains("ended too early, or its chunks are malformed"), "{}", answer.body);
    }
}

#[test]
fn paths_outside_the_page_are_rejected() {
    let server = Serving::famous(&[]);
    for target in [
        "/page/../../games.db",
        "/page/..%2f..%2fCargo.toml",
        "/page/%2e%2e/%2e%2e/etc/passwd",
        "/page//etc/passwd",
        "/page/",
        "/../etc/passwd",
        "/db/../games.db",
        "/db/%2e%2e/api/info",
        "/db/games.db/api/info",
        "/games.db",
        "/page/app.js%00.css",
        "/db/%ff/api/info",
        "/db/%ff",
    ] {
        let answer = server.get(target);
        if answer.status == 400 {
            assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{target}");
        }
        assert!(matches!(answer.status, 400 | 404), "{target}: {}", answer.status);
        assert!(!answer.body.contains("SQLite format") && !answer.body.contains("root:"), "{target}");
    }
}

#[test]
fn hostile_games_are_sent_as_data() {
    let hostile = "<script>alert(1)</script>\u{1b}[31m";
    let server = Serving::with_games(&format!(
        "[Event \"{hostile}\"]\n[White \"{hostile}\"]\n[Black \"=cmd|' /C calc'!A0\"]\n[Result \"1-0\"]\n\n1. e4 {{{hostile}}} 1-0\n"
    ));
    for target in [
        "/lichess",
        "/api/games",
        "/api/game/1",
        "/api/game/1/pgn",
        "/masters/pgn/00000001",
        "/api/export.csv",
        "/api/names",
    ] {
        let answer = server.get(target);
        assert_eq!(answer.status, 200, "{target}");
        let kind = answer.header("content-type").unwrap();
        assert!(!kind.contains("html"), "{target}: {kind}");
        assert!(!answer.body.contains('\u{1b}') || !kind.contains("json"), "{target}");
    }
}

/// If the file is truncated while it is served, each request gets a response, possibly one that the client recognises
/// as incomplete.
#[test]
fn a_truncated_database_is_reported() {
    let server = Serving::start(talkative(), &["games.db"], &[]);
    assert_eq!(server.get("/api/games?limit=1").status, 200);
    let length = std::fs::metadata(server.path("games.db")).unwrap().len();
    let file = std::fs::OpenOptions::new().write(true).open(server.path("games.db")).unwrap();
    for left in [length / 2, 20_000] {
        file.set_len(left).unwrap();
        for target in ["/api/export.pgn", "/api/export.csv?limit=5", "/api/games?limit=1", "/api/info"] {
            let answer = server.get(target);
            assert!(matches!(answer.status, 200 | 500 | 503), "{target} of {left}: {:?}", answer.head);
            // A response that claims to be complete is complete.
            let is_whole = answer.raw_end == "0\r\n\r\n";
            let lines = answer.body.matches("[Event ").count();
            assert!(target != "/api/export.pgn" || !is_whole || lines == 6000, "{left}: {lines}");
        }
    }
    assert_eq!(server.get("/health").status, 200);
}

#[test]
fn a_hostile_database_does_not_stop_the_server() {
    let server = Serving::famous(&[]);
    let bytes = std::fs::read(server.path("games.db")).unwrap();
    // Pages in the middle are overwritten, as by a broken disk.
    let mut broken = bytes.clone();
    let middle = broken.len() / 4..broken.len() / 4 * 3;
    broken[middle].iter_mut().enumerate().for_each(|(at, byte)| *byte = (at * 31 % 251) as u8);
    std::fs::write(server.path("broken.db"), broken).unwrap();
    std::fs::rename(server.path("broken.db"), server.path("games.db")).unwrap();
    for target in [
        "/lichess",
        "/api/games?sort=date",
        "/api/game/20",
        "/api/statistics",
        "/api/export.pgn",
        "/api/player?name=f",
    ] {
        let answer = server.get(target);
        assert!(matches!(answer.status, 0 | 200 | 404 | 500 | 503), "{target}: {}", answer.status);
    }
    assert_eq!(server.get("/health").status, 200);
}
