//! Requests of clients of Lichess's explorer, and the responses that they expect.

use serde_json::Value;

use crate::server::serving::Serving;

/// Games as Lichess writes them, and one with unknown players.
const GAMES: &str = r#"[Event "Rated Blitz game"]
[Site "https://lichess.org/q7ZvsdUF"]
[Date "2024.03.05"]
[Round "-"]
[White "anna"]
[Black "berta"]
[Result "1-0"]
[WhiteElo "2010"]
[BlackElo "1990"]
[TimeControl "180+2"]

1. e4 e5 2. Nf3 Nf6 3. Bc4 Bc5 4. O-O O-O 1-0

[Event "Casual Rapid game"]
[Site "https://lichess.org/ABCDEFGH"]
[Date "2024.11.20"]
[Round "-"]
[White "berta"]
[Black "anna"]
[Result "1/2-1/2"]
[WhiteElo "2300"]
[BlackElo "1500"]
[TimeControl "600+0"]

1. e4 e5 2. Nf3 Nf6 3. Bc4 Bc5 4. d3 d6 1/2-1/2

[Event "?"]
[Site "?"]
[Date "1999.??.??"]
[Round "?"]
[White "?"]
[Black "?"]
[Result "0-1"]

1. d4 d5 0-1

"#;

const BEFORE_CASTLING: &str = "play=e2e4,e7e5,g1f3,g8f6,f1c4,f8c5";

fn games(answer: &Value) -> u64 {
    ["white", "draws", "black"].iter().map(|name| answer[name].as_u64().expect("a number")).sum()
}

#[test]
fn responses_have_the_form_of_lichess() {
    let server = Serving::with_games(GAMES);
    let answer = server.json(&format!("/lichess?{BEFORE_CASTLING}"));
    insta::assert_snapshot!(answer, @r#"{"white":1,"draws":1,"black":0,"opening":{"eco":"C42","name":"Petrov's Defense: Italian Variation"},"moves":[{"uci":"d2d3","san":"d3","averageRating":2300,"white":0,"draws":1,"black":0,"game":{"id":"ABCDEFGH","winner":null,"speed":"rapid","mode":"casual","white":{"name":"berta","rating":2300},"black":{"name":"anna","rating":1500},"year":2024,"month":"2024-11"},"opening":null},{"uci":"e1h1","san":"O-O","averageRating":2010,"white":1,"draws":0,"black":0,"game":{"id":"q7ZvsdUF","winner":"white","speed":"blitz","mode":"rated","white":{"name":"anna","rating":2010},"black":{"name":"berta","rating":1990},"year":2024,"month":"2024-03"},"opening":null}],"topGames":[{"uci":"e1h1","id":"q7ZvsdUF","winner":"white","speed":"blitz","mode":"rated","white":{"name":"anna","rating":2010},"black":{"name":"berta","rating":1990},"year":2024,"month":"2024-03"},{"uci":"d2d3","id":"ABCDEFGH","winner":null,"speed":"rapid","mode":"casual","white":{"name":"berta","rating":2300},"black":{"name":"anna","rating":1500},"year":2024,"month":"2024-11"}],"recentGames":[{"uci":"d2d3","id":"ABCDEFGH","winner":null,"speed":"rapid","mode":"casual","white":{"name":"berta","rating":2300},"black":{"name":"anna","rating":1500},"year":2024,"month":"2024-11"},{"uci":"e1h1","id":"q7ZvsdUF","winner":"white","speed":"blitz","mode":"rated","white":{"name":"anna","rating":2010},"black":{"name":"berta","rating":1990},"year":2024,"month":"2024-03"}]}"#);
    // Fields that clients need are not null if the value is unknown.
    let answer = server.json("/lichess?play=d2d4");
    let game = &answer["recentGames"][0];
    assert_eq!(game["id"], "00000003");
    assert_eq!(game["white"]["name"], "?");
    assert_eq!(game["black"]["rating"], 0);
    assert_eq!(game["month"], "1999-01");
    for name in ["opening", "topGames", "recentGames", "moves"] {
        assert!(answer.get(name).is_some(), "{name}");
    }
    let nothing = server.json("/lichess?play=a2a3,a7a6");
    assert_eq!(games(&nothing), 0);
    assert!(nothing["moves"].as_array().is_some_and(Vec::is_empty));
}

#[test]
fn query_strings_of_clients_are_understood() {
    let server = Serving::with_games(GAMES);
    // Castling is accepted in both notations. Empty, unknown and unreadable parameters are ignored.
    for (query, expected) in [
        ("", 3),
        ("fen=&play=", 3),
        (
            "variant=standard&play=&fen=rnbqkbnr%2Fpppppppp%2F8%2F8%2F8%2F8%2FPPPPPPPP%2FRNBQKBNR%20w%20KQkq%20-%200%201",
            3,
        ),
        ("fen=rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR+w+KQkq+-+0+1&topGames=0", 3),
        ("history=True&moves=12", 3),
        ("since=2024-3", 2),
        ("since=2024-03&until=2024-4", 1),
        ("since=0000-01&until=3000-12", 3),
        ("since=yesterday&until=", 3),
        ("speeds=blitz,rapid", 2),
        ("speeds[]=blitz", 1),
        ("speeds%5B%5D=blitz&speeds%5B%5D=rapid", 2),
        ("speeds=ultraBullet,bullet,blitz,rapid,classical,correspondence", 3),
        ("speeds=warp", 3),
        // The mean of 2010 and 1990 is 2000; that of 2300 and 1500 is 1900.
        ("ratings=2000", 1),
        ("ratings=1800", 1),
        ("ratings=1800,2000", 2),
        ("ratings[]=1000&ratings[]=2200", 0),
        ("ratings=0,1000,1200,1400,1600,1800,2000,2200,2500", 3),
        ("modes=casual", 1),
        ("modes=rated", 2),
        ("modes=rated,casual", 3),
        ("play=e2e4,e7e5,g1f3,g8f6,f1c4,f8c5,e1h1", 1),
        ("play=e2e4,e7e5,g1f3,g8f6,f1c4,f8c5,e1g1", 1),
        ("variant=chess960", 0),
        ("source=analysis&whatever=1&play=d2d4", 1),
    ] {
        assert_eq!(games(&server.json(&format!("/lichess?{query}"))), expected, "{query}");
    }
    assert_eq!(games(&server.json("/masters?since=1990&until=2000")), 1);
    // Only impossible positions and moves are rejected.
    for query in ["fen=nonsense", "play=e2e5"] {
        assert_eq!(server.get(&format!("/lichess?{query}")).status, 400, "{query}");
    }
}

#[test]
fn the_response_for_a_player_is_one_line() {
    let server = Serving::with_games(GAMES);
    let answer = server.get("/player?player=anna&color=white&recentGames=8&modes=casual,rated");
    assert_eq!(answer.status, 200);
    assert!(answer.body.ends_with('\n') && answer.body.lines().count() == 1, "{}", answer.body);
    assert_eq!(answer.json()["queuePosition"], 0);
    assert_eq!(games(&answer.json()), 1);
    let black = server.get("/player?player=anna&color=black").json();
    assert_eq!((games(&black), &black["draws"]), (1, &Value::from(1)));
    assert_eq!(server.get("/player").status, 400);
}

/// Accounts with similar names and very different ratings.
const ACCOUNTS: &str = r#"[Event "Rated Blitz game"]
[Site "https://lichess.org/abcdefg1"]
[Date "2024.01.01"]
[White "ghost"]
[Black "x"]
[Result "0-1"]
[WhiteElo "1500"]
[BlackElo "2500"]

1. e4 e5 0-1

[Event "Rated Blitz game"]
[Site "https://lichess.org/abcdefg2"]
[Date "2024.01.02"]
[White "GhostZilla"]
[WhiteTitle "GM"]
[Black "y"]
[Result "1-0"]
[WhiteElo "2500"]
[BlackElo "1500"]

1. d4 e5 1-0

[Event "Rated Blitz game"]
[Site "https://lichess.org/abcdefg3"]
[Date "2024.??.??"]
[White "the_ghost"]
[Black "Ghost"]
[Result "1-0"]
[WhiteElo "2000"]

1. e4 e5 1-0

"#;

#[test]
fn accounts_match_only_whole_names() {
    let server = Serving::with_games(ACCOUNTS);
    for (player, color, expected) in [
        ("ghost", "white", 1),
        ("GHOST", "white", 1),
        ("%20Ghost%20", "white", 1),
        ("ghost", "black", 1),
        ("ghost", "BLACK", 1),
        ("GhostZilla", "white", 1),
        ("ghostzilla", "white", 1),
        ("ghostz", "white", 0),
        ("GM%20GhostZilla", "white", 0),
        ("the", "white", 0),
        ("nobody", "black", 0),
    ] {
        let answer = server.get(&format!("/player?player={player}&color={color}"));
        assert_eq!((answer.status, games(&answer.json())), (200, expected), "{player} {color}");
    }
}

#[test]
fn the_mean_rating_is_that_of_the_side_that_moved() {
    let server = Serving::with_games(ACCOUNTS);
    let ratings = |query: &str| {
        let answer = server.json(query);
        let moves = answer["moves"].as_array().expect("moves").clone();
        moves
            .iter()
            .map(|played| {
                (played["san"].as_str().expect("a move").to_owned(), played["averageRating"].clone())
            })
            .collect::<Vec<_>>()
    };
    let expected = |moves: &[(&str, u32)]| {
        moves.iter().map(|&(san, elo)| (san.to_owned(), elo.into())).collect::<Vec<_>>()
    };
    for path in ["/lichess?", "/masters?", "/lichess?since=2024-01&"] {
        assert_eq!(ratings(path), expected(&[("e4", 1750), ("d4", 2500)]), "{path}");
        // In one of these games, Black's rating is unknown.
        assert_eq!(ratings(&format!("{path}play=e2e4")), expected(&[("e5", 2500)]), "{path}");
        assert_eq!(ratings(&format!("{path}play=d2d4")), expected(&[("e5", 1500)]), "{path}");
    }
}

#[test]
fn an_empty_time_span_has_no_games() {
    let server = Serving::with_games(ACCOUNTS);
    for path in ["/lichess?", "/masters?", "/player?player=ghost&color=black&", "/lichess?history=true&"] {
        for span in ["since=2024-06&until=2024-02", "since=2025&until=2024", "since=3000-12&until=0001-01"] {
            let answer = server.get(&format!("{path}{span}"));
            assert_eq!((answer.status, games(&answer.json())), (200, 0), "{path}{span}");
            assert_eq!(answer.json()["moves"].as_array().map(Vec::len), Some(0), "{path}{span}");
        }
    }
}

#[test]
fn games_are_found_by_their_ids() {
    let server = Serving::with_games(GAMES);
    for (id, line) in
        [("q7ZvsdUF", "[White \"anna\"]"), ("ABCDEFGH", "[White \"berta\"]"), ("00000003", "1. d4 d5")]
    {
        for path in ["masters", "master"] {
            let answer = server.get(&format!("/{path}/pgn/{id}"));
            assert_eq!(answer.status, 200, "{id}");
            assert!(answer.body.contains(line), "{}", answer.body);
            assert!(
                answer.header("content-type").is_some_and(|kind| kind.starts_with("application/x-chess-pgn"))
            );
        }
    }
    for id in ["zzzzzzzz", "00000009", "%00", "..%2f..%2fetc%2fpasswd", "1e9"] {
        assert_eq!(server.get(&format!("/masters/pgn/{id}")).status, 404, "{id}");
    }
}

#[test]
fn the_response_for_a_player_has_scores_and_months() {
    let server = Serving::with_games(GAMES);
    let answer = server.json("/player?player=anna&color=white&history=True");
    let played = &answer["moves"][0];
    assert_eq!((&played["averageOpponentRating"], &played["performance"]), (&1990.into(), &2790.into()));
    assert!(played.get("averageRating").is_none());
    assert_eq!(answer["history"].to_string(), r#"[{"month":"2024-03","white":1,"draws":0,"black":0}]"#);
    let answer = server.json("/lichess?history=true");
    assert_eq!(answer["history"].as_array().map(Vec::len), Some(2));
    assert!(server.json("/lichess").get("history").is_none());
    let answer = server.json("/api/explore?player=anna&side=black&history=true");
    assert_eq!((&answer["color"], &answer["averageOpponentRating"]), (&"black".into(), &2300.into()));
    assert_eq!(answer["history"][0]["gamesOfYear"], 1);
    let tree = server.json("/api/tree?depth=2&leastShare=0");
    assert_eq!((games(&tree), tree["moves"][0]["moves"][0]["san"].as_str()), (3, Some("e5")));
}
