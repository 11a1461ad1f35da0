//! Responses of our own API.

use serde_json::{Value, json};

use crate::command::{Run, command};
use crate::server::serving::{Serving, directory_of_famous_games};

fn printed(server: &Serving, arguments: &[&str]) -> Value {
    let run = Run::of(command(server.directory.path(), arguments).output().expect("the program runs"));
    assert_eq!(run.status, 0, "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}", run.stdout))
}

#[test]
fn the_description_requires_the_field_sql() {
    let server = Serving::famous(&[]);
    let description = server.json("/api/openapi.json");
    let body =
        &description["paths"]["/api/sql"]["post"]["requestBody"]["content"]["application/json"]["schema"];
    let name = body["$ref"].as_str().and_then(|path| path.rsplit('/').next()).expect("a schema");
    assert_eq!(description["components"]["schemas"][name]["required"], json!(["sql"]));
}

#[test]
fn answers_agree_with_the_commands() {
    let server = Serving::famous(&[]);
    for (target, arguments) in [
        ("/api/info", &["info", "games.db", "--format", "json"][..]),
        ("/api/explore?play=e2e4,c7c5", &["explore", "games.db", "--play", "e2e4,c7c5", "--format", "json"]),
        (
            "/api/explore?moves=1.%20e4%20e5&since=1900&result=1-0&limit=2",
            &[
                "explore", "games.db", "--moves", "1. e4 e5", "--since", "1900", "--result", "1-0",
                "--limit", "2", "--format", "json",
            ],
        ),
        ("/api/player?name=fischer", &["player", "games.db", "fischer", "--format", "json"]),
    ] {
        assert_eq!(server.json(target), printed(&server, arguments), "{target}");
    }
    let games = printed(&server, &["game", "games.db", "7", "--format", "json"]);
    assert_eq!(server.json("/api/game/7"), games);
    let run = Run::of(
        command(server.directory.path(), &["game", "games.db", "7", "--format", "pgn"]).output().unwrap(),
    );
    assert_eq!(server.get("/api/game/7/pgn").body, run.stdout);
    let run = Run::of(
        command(server.directory.path(), &["export", "games.db", "--format", "csv", "--white", "morphy"])
            .output()
            .unwrap(),
    );
    assert_eq!(server.get("/api/export.csv?white=morphy").body, run.stdout);
    let run = Run::of(
        command(
            server.directory.path(),
            &["export", "games.db", "--format", "pgn", "--sort", "date", "--limit", "9"],
        )
        .output()
        .unwrap(),
    );
    assert_eq!(server.get("/api/export.pgn?sort=date&limit=9").body, run.stdout);
}

#[test]
fn the_position_route_gives_moves_and_states() {
    let server = Serving::famous(&[]);
    let answer = server.json("/api/position?play=f2f3,e7e5,g2g4");
    assert_eq!(answer["turn"], "b");
    assert_eq!(answer["line"][2]["san"], "g4");
    let mate =
        answer["moves"].as_array().unwrap().iter().find(|found| found["san"] == "Qh4#").expect("a mate");
    let mated =
        server.json(&format!("/api/position?fen={}", mate["fen"].as_str().unwrap().replace(' ', "%20")));
    assert_eq!(
        (&mated["isMate"], &mated["isCheck"], &mated["moves"]),
        (&json!(true), &json!(true), &json!([]))
    );
    let stalemate = server.json("/api/position?fen=7k/5Q2/6K1/8/8/8/8/8%20b%20-%20-");
    assert_eq!((&stalemate["isStalemate"], &stalemate["isMate"]), (&json!(true), &json!(false)));
    // A FEN with moves played from it, and pasted moves.
    let after = server.json("/api/position?fen=8/P7/8/8/8/8/k7/2K5%20w%20-%20-&play=a7a8q");
    assert_eq!(after["line"][0]["san"], "a8=Q+");
    let pasted = server.json("/api/position?moves=1.e4%20e5%202.Sf3");
    assert_eq!(pasted["line"][2]["uci"], "g1f3");
    assert!(pasted["assumptions"].as_array().is_some_and(|notes| !notes.is_empty()));
    assert_eq!(server.json("/api/position")["opening"], Value::Null);
    assert_eq!(server.json("/api/position?play=e2e4,c7c5")["opening"]["eco"], "B20");
}

/// All games of a list, read page by page.
fn pages(server: &Serving, query: &str, limit: usize) -> Vec<Value> {
    let (mut found, mut cursor) = (Vec::new(), String::new());
    for _ in 0..1000 {
        let page = server.json(&format!("/api/games?{query}&limit={limit}&cursor={cursor}"));
        let games = page["games"].as_array().unwrap();
        assert!(games.len() <= limit);
        found.extend(games.iter().map(|game| json!([game["game_id"], game["ply"]])));
        match page["nextCursor"].as_str() {
            Some(next) => cursor = next.to_owned(),
            None => return found,
        }
    }
    panic!("the pages do not end: {query}");
}

#[test]
fn pages_list_every_game_once_and_in_order() {
    let server = Serving::famous(&[]);
    let shuffle = "play=g1f3,g8f6";
    for query in [
        "",
        "sort=date",
        "sort=rating",
        "sort=date&since=1900",
        "sort=rating&result=1-0",
        "play=e2e4",
        "play=e2e4&sort=date",
        "material=KRPvKR",
        "ending=rook&sort=date",
        "player=fischer&play=e2e4&sort=date",
        shuffle,
        "like=8/5pk1/R5p1/8/6P1/8/r4PK1/8%20w%20-%20-",
    ] {
        let all = pages(&server, query, 500);
        for limit in [1, 3, 7] {
            assert_eq!(pages(&server, query, limit), all, "{query}, {limit} per page");
        }
    }
    assert_eq!(pages(&server, "", 20).len(), 53);
    // Letter case and spelling do not matter, as on the command line.
    for (one, other) in [
        ("speed=blitz", "speed=BLITZ"),
        ("ending=rook", "ending=Rook"),
        ("result=1/2-1/2", "result=1/2"),
        ("result=draw", "result=DRAW"),
        ("sort=date", "sort=DATE"),
    ] {
        assert_eq!(pages(&server, other, 500), pages(&server, one, 500), "{other}");
    }
}

#[test]
fn pages_may_end_between_occurrences_of_one_game() {
    let game =
        |moves: &str| format!("[Event \"?\"]\n[White \"A\"]\n[Black \"B\"]\n[Result \"*\"]\n\n{moves} *\n\n");
    let returning = "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 5. Nf3 Nf6 6. e4";
    let server = Serving::with_games(
        &[game(returning), game("1. Nf3 Nf6"), game("1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. d4")].concat(),
    );
    for sort in ["game", "date", "rating"] {
        let all = pages(&server, &format!("play=g1f3,g8f6&sort={sort}"), 500);
        assert_eq!(all.len(), 6);
        for limit in 1..6 {
            assert_eq!(pages(&server, &format!("play=g1f3,g8f6&sort={sort}"), limit), all, "{sort}, {limit}");
        }
    }
}

#[test]
fn statistics_names_openings_and_problems() {
    let server = Serving::famous(&[]);
    let statistics = server.json("/api/statistics");
    assert_eq!(statistics["games"], 53);
    let years: u64 =
        statistics["years"].as_array().unwrap().iter().map(|year| year["games"].as_u64().unwrap()).sum();
    assert_eq!(years + statistics["undated"]["games"].as_u64().unwrap(), 53);
    let lengths: u64 =
        statistics["lengths"].as_array().unwrap().iter().map(|year| year["games"].as_u64().unwrap()).sum();
    assert_eq!(lengths, 53);
    let openings = server.json("/api/openings");
    let counted: u64 =
        openings["openings"].as_array().unwrap().iter().map(|one| one["games"].as_u64().unwrap()).sum();
    assert_eq!(counted + openings["unnamed"]["games"].as_u64().unwrap(), 53);
    assert_eq!(server.json("/api/openings?limit=0"), openings);
    assert_eq!(server.json("/api/statistics?player=fischer")["games"], 5);
    assert_eq!(server.json("/api/names?prefix=fisch")["names"], json!(["Fischer, Robert James"]));
    assert_eq!(server.json("/api/sources")["sources"][0]["games"], 53);
    assert_eq!(server.json("/api/problems")["problems"], json!([]));
    // Several positions of the list have the same name.
    std::fs::write(server.path("kadas.pgn"), "1. h4 c5 2. b4 *\n\n1. h4 e5 2. d4 exd4 3. c3 *\n").unwrap();
    printed(&server, &["index", "--quiet", "--json", "games.db", "kadas.pgn"]);
    let openings = server.json("/api/openings");
    let gambits = openings["openings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["name"] == "Kádas Opening: Kádas Gambit");
    assert_eq!(gambits.map(|one| &one["games"]).collect::<Vec<_>>(), [2]);
}

#[test]
fn a_repertoire_is_compared_with_the_games() {
    let server = Serving::famous(&[]);
    std::fs::write(server.path("mine.pgn"), "1. e4 e5 2. Nf3 (2. f4) *\n").unwrap();
    let printed =
        printed(&server, &["repertoire", "games.db", "mine.pgn", "--side", "white", "--format", "json"]);
    let answer = server.request("POST", "/api/repertoire?side=white", &[], "1. e4 e5 2. Nf3 (2. f4) *\n");
    assert_eq!(answer.json(), printed);
    // The answer counts what a list leaves out.
    let target = "/api/repertoire?side=white&leastGames=1&leastShare=0&leastPlies=1&limit=1&games=1";
    let answer = &server.request("POST", target, &[], "1. e4 e5 2. Nf3 (2. f4) *\n").json()[0];
    assert_eq!(answer["unanswered"].as_array().map(Vec::len), Some(1));
    assert!(answer["unanswered_count"].as_u64() > Some(1), "{answer}");
    assert_eq!((answer["games"].as_array().map(Vec::len), &answer["more_games"]), (Some(1), &json!(true)));
    let all =
        server.request("POST", "/api/repertoire?side=white&games=500", &[], "1. e4 e5 2. Nf3 (2. f4) *\n");
    assert_eq!(all.json()[0]["more_games"], false);
    for text in ["", "not chess"] {
        assert_eq!(server.request("POST", "/api/repertoire", &[], text).status, 400, "{text:?}");
    }
}

#[test]
fn unreadable_requests_are_reported_with_a_hint() {
    let server = Serving::famous(&[]);
    for (target, status, detail) in [
        ("/api/games?wihte=x", 400, "did you mean \"white\"?"),
        ("/api/games?eloMin=high", 400, "eloMin"),
        ("/api/games?eloMin=2000&eloMax=1000", 400, "swap the two"),
        ("/api/games?since=2020-13", 400, "no such month"),
        ("/api/games?limit=0", 400, "from 1 to 500"),
        ("/api/games?limit=501", 400, "from 1 to 500"),
        ("/api/player?name=fischer&limit=0", 400, "from 1 to 1000"),
        ("/api/names?limit=0", 400, "from 1 to 100"),
        ("/api/games?sort=beauty", 400, "game, rating, date"),
        ("/api/games?cursor=1.x", 400, "nextCursor"),
        ("/api/games?white=a&white=b", 400, "given twice"),
        ("/api/games?material=KRPvKR&play=e2e4", 400, "give only one of these"),
        ("/api/games?opponent=x", 400, "player"),
        ("/api/position?play=e2e5", 400, "because: White has no pawn that can reach e5"),
        ("/api/position?fen=8/8", 400, "because: the number of ranks in the placement is 2, not 8"),
        ("/api/games?like=8/8", 400, "because: the number of ranks"),
        ("/api/games?like=8/5pk1/R5p1/8/6P1/8/r4PK1/8&sort=date", 400, "sort: leave it out"),
        ("/api/games?like=8/5pk1/R5p1/8/6P1/8/r4PK1/8&variations", 400, "variations: leave it out"),
        ("/api/games?variations", 400, "variations: needs a position"),
        ("/api/games?wxyz=1", 400, "no such parameter; known parameters: "),
        (
            "/api/games?source=nope.pgn",
            400,
            "no games were indexed from nope.pgn; /api/sources lists the files of this database",
        ),
        ("/api/game/0", 404, "no game 0"),
        ("/api/game/99999", 404, "no game 99999"),
        ("/api/nothing", 404, "nothing"),
        ("/db/other/api/info", 404, "no database"),
        ("/api/player", 400, "name"),
        ("/api/problems?kind=foo", 400, "illegal-move"),
        ("/api/games?ply=20-40", 400, "ply: needs"),
        ("/api/games?ply=later", 400, "ply: not a ply or a range"),
        (
            "/api/games?material=KRvK&then",
            400,
            "then: before and after each parameter `then`, give a description",
        ),
        ("/api/games?material=KRvK&then&material=KvK&white=a&white=b", 400, "white: given twice"),
        ("/api/games?material=KRvK&then=false&material=KvK", 400, "material: given twice"),
        ("/api/games?material=KRvK&then=later&material=KvK", 400, "then: write true or false"),
        ("/api/sql", 405, "Use POST"),
    ] {
        let answer = server.get(target);
        let problem = answer.json();
        assert_eq!(answer.status, status, "{target}: {problem}");
        assert_eq!(answer.header("content-type"), Some("application/problem+json"));
        assert_eq!(problem["status"], status);
        assert!(problem["detail"].as_str().unwrap().contains(detail), "{target}: {problem}");
    }
    let problem = server.sql("SELECT whiet FROM games").json();
    assert!(problem["detail"].as_str().unwrap().ends_with("\n  did you mean \"white\"?"), "{problem}");
    let problem = server.sql(&format!("SELECT {}1", "1 LIKE ".repeat(41))).json();
    assert!(problem["detail"].as_str().unwrap().contains("at most 40 times"), "{problem}");
}

#[test]
fn stored_views_of_a_compact_database_are_refused_with_the_reason() {
    let directory = directory_of_famous_games();
    let convert = ["optimize", "games.db", "--layout", "compact", "--quiet"];
    assert!(command(directory.path(), &convert).status().expect("the program runs").success());
    let server = Serving::start(directory, &["games.db"], &[]);
    assert_eq!(server.sql("SELECT fen FROM game_position").status, 200);
    let problem = server.sql("SELECT fen FROM main.game_position").json();
    assert!(problem["detail"].as_str().unwrap().contains("without the prefix main"), "{problem}");
}

#[test]
fn invalid_bodies_of_sql_requests_are_explained() {
    let server = Serving::famous(&[]);
    for (body, reported) in [
        ("[]", "its only field"),
        ("{\"sql\": 1}", "its only field"),
        ("{\"query\": \"SELECT 1\"}", "its only field"),
        ("{\"sql\": \"SELECT 1\"", "line 1, column"),
        ("SELECT 1", "line 1, column"),
    ] {
        let answer = server.request("POST", "/api/sql", &[], body);
        let detail = answer.json()["detail"].as_str().expect("a text").to_owned();
        assert_eq!(answer.status, 400);
        assert!(detail.contains(reported) && detail.contains("SELECT …"), "{body}: {detail}");
        assert!(!detail.contains("struct") && !detail.contains("expected"), "{body}: {detail}");
    }
}

#[test]
fn requests_with_a_wrong_method_get_the_allowed_one() {
    let server = Serving::famous(&[]);
    for (method, target, reported, allowed) in [
        ("POST", "/api/games", "Use GET", "GET,HEAD"),
        (
            "GET",
            "/api/repertoire",
            "Use POST for this address, with a body of the type application/x-chess-pgn",
            "POST",
        ),
        ("POST", "/api/databases", "Use GET", "GET,HEAD"),
        ("DELETE", "/api/games", "Use GET", "GET,HEAD"),
        ("PUT", "/api/sql", "Use POST", "POST"),
    ] {
        let answer = server.request(method, target, &[], "");
        assert_eq!(answer.status, 405, "{method} {target}");
        assert!(answer.body.contains(reported), "{method} {target}: {}", answer.body);
        assert_eq!(answer.header("allow").unwrap_or_default(), allowed, "{method} {target}");
    }
}

#[test]
fn a_name_that_matches_several_players_is_reported() {
    let server = Serving::famous(&[]);
    for target in ["/api/games?player=a&limit=1", "/api/filter?player=a"] {
        let several = &server.json(target)["severalPlayers"][0];
        assert_eq!(several["field"], "player");
        let most = several["most"].as_array().expect("players");
        assert!(several["players"].as_u64() > Some(6) && most.len() == 6, "{target}: {several}");
        assert!(most[0]["games"].as_u64() >= most[5]["games"].as_u64(), "{target}: {several}");
    }
    for target in
        ["/api/games?player=fischer", "/api/filter?player=%3DFischer,%20Robert%20James", "/api/filter"]
    {
        assert_eq!(server.json(target)["severalPlayers"], json!([]), "{target}");
    }
    assert_eq!(server.json("/api/filter?white=nobody")["unknownNames"][0]["field"], "white");
    // Later pages do not repeat this note.
    let first = server.json("/api/games?player=a&limit=1");
    let next = first["nextCursor"].as_str().expect("a cursor");
    let second = server.json(&format!("/api/games?player=a&limit=1&cursor={next}"));
    assert_eq!(second["severalPlayers"], json!([]));
}

#[test]
fn the_description_has_every_address() {
    let server = Serving::famous(&[]);
    let document = server.json("/api/openapi.json");
    assert_eq!(document["openapi"], "3.1.0");
    for (path, item) in document["paths"].as_object().unwrap() {
        let Some(get) = item.get("get") else { continue };
        let target = path.replace("{id}", "1");
        let target =
            if target.starts_with("/api/player") { format!("{target}?name=fischer") } else { target };
        let target = if target == "/player" { "/player?player=fischer".to_owned() } else { target };
        let target = target.replace("pgn/1", "pgn/00000001");
        let answer = server.get(&target);
        assert_eq!(answer.status, 200, "{target}");
        let promised = get["responses"]["200"]["content"].as_object().unwrap().keys().next().unwrap();
        assert!(answer.header("content-type").unwrap().starts_with(promised.as_str()), "{target}");
    }
}
