//! The counts of visited positions equal those that plain SQL computes from the other tables.

use pgndex::index::IndexOptions;

use crate::needs::part_of_corpus;
use crate::support::*;

/// The expected rows of `visited_position`, with the threshold as a parameter.
const VISITED: &str = "
WITH
    last AS (SELECT key, game_id, max(ply) AS ply FROM position_game GROUP BY key, game_id),
    visit AS (
        SELECT last.*, result, white_elo, black_elo, white_elo + black_elo AS elo,
            CASE WHEN substr(date, 1, 4) GLOB '[0-9][0-9][0-9][0-9]' THEN replace(date, '?', '0') ELSE '' END AS day
        FROM last JOIN game USING (game_id)
    ),
    total AS (
        SELECT key, sum(result <> '*') AS games, sum(result = '1-0') AS white_wins, sum(result = '1/2-1/2') AS draws,
            sum(result = '0-1') AS black_wins, sum(result = '*') AS unfinished,
            ifnull(sum(white_elo) FILTER (WHERE result <> '*'), 0) AS white_elo_sum,
            count(white_elo) FILTER (WHERE result <> '*') AS white_elo_games,
            ifnull(sum(black_elo) FILTER (WHERE result <> '*'), 0) AS black_elo_sum,
            count(black_elo) FILTER (WHERE result <> '*') AS black_elo_games
        FROM visit GROUP BY key HAVING count(*) >= ?1
    ),
    place AS (
        SELECT key, game_id, elo,
            row_number() OVER (PARTITION BY key ORDER BY elo DESC, game_id) AS top,
            row_number() OVER (PARTITION BY key ORDER BY day DESC, game_id DESC) AS recent
        FROM visit WHERE result <> '*'
    )
SELECT key,
    (SELECT fen FROM position_game AS o JOIN game_position AS p USING (game_id, ply) WHERE o.key = total.key LIMIT 1) AS fen,
    games, white_wins, draws, black_wins, unfinished, white_elo_sum, white_elo_games, black_elo_sum, black_elo_games,
    (SELECT json_group_array(game_id) FROM (
        SELECT game_id FROM place WHERE place.key = total.key AND elo IS NOT NULL AND top <= 15 ORDER BY top)) AS top_games,
    (SELECT json_group_array(game_id) FROM (
        SELECT game_id FROM place WHERE place.key = total.key AND recent <= 15 ORDER BY recent)) AS recent_games
FROM total ORDER BY key";

/// The expected rows of `continuation`.
const CONTINUATIONS: &str = "
WITH last AS (
    SELECT key, game_id, max(ply) AS ply FROM game_position
    WHERE key IN (SELECT key FROM position_game GROUP BY key HAVING count(DISTINCT game_id) >= ?1)
        AND move_code IS NOT NULL
    GROUP BY key, game_id
)
SELECT last.key, move_code, count(*) AS games, sum(result = '1-0') AS white_wins, sum(result = '1/2-1/2') AS draws,
    sum(result = '0-1') AS black_wins, 
    ifnull(sum(white_elo), 0) AS white_elo_sum, count(white_elo) AS white_elo_games,
    ifnull(sum(black_elo), 0) AS black_elo_sum, count(black_elo) AS black_elo_games, min(year) AS first_year, max(year) AS last_year
FROM last JOIN game_position USING (game_id, ply) JOIN (
    SELECT *, CASE WHEN substr(date, 1, 4) GLOB '[0-9][0-9][0-9][0-9]' THEN CAST(substr(date, 1, 4) AS INTEGER) END AS year
    FROM game
) USING (game_id)
WHERE result <> '*'
GROUP BY 1, 2 ORDER BY 1, 2";

/// Indexes `text` with different options and compares. Returns the number of positions and of continuations.
fn check(text: &[u8], threshold: u32) -> (usize, usize) {
    let directory = directory();
    let input = directory.path().join("in.pgn");
    std::fs::write(&input, text).expect("written");
    let target = directory.path().join("out.db");
    let usual = IndexOptions { continuation_threshold: threshold, overwrite: true, ..options() };
    let tight = IndexOptions { memory: 0, threads: 1, ..usual.clone() };
    let mut found = (0, 0);
    for options in [usual, tight] {
        let summary = run(&target, std::slice::from_ref(&input), &options).expect("indexed");
        assert_sound(&target, &summary);
        let database = open(&target);
        let compare = |table: &str, expected: &str| {
            let expected = lines(&database, &expected.replace("?1", &threshold.to_string()));
            let rows = lines(&database, &format!("SELECT * FROM {table} ORDER BY 1, 2"));
            assert_eq!(rows.len(), expected.len(), "{table}");
            for (row, expected) in rows.iter().zip(&expected) {
                assert_eq!(row, expected, "{table}");
            }
            rows.len()
        };
        found = (compare("visited_position", VISITED), compare("continuation", CONTINUATIONS));
        let kept = number(&database, "SELECT value FROM setting WHERE name = 'continuation_threshold'");
        assert_eq!(kept, u64::from(threshold));
    }
    found
}

#[test]
fn the_shipped_games() {
    assert_eq!(check(GAMES.as_bytes(), 1000), (0, 0));
    assert!(check(GAMES.as_bytes(), 3).0 > 10);
    let (positions, continuations) = check(GAMES.as_bytes(), 1);
    assert!(positions > 3000 && continuations > 3000, "{positions}, {continuations}");
}

#[test]
fn synthetic_games() {
    let (positions, continuations) = check(synthetic(700), 3);
    assert!(positions > 100 && continuations > 500, "{positions}, {continuations}");
}

#[test]
#[ignore = "takes seconds"]
fn many_synthetic_games() {
    let (positions, continuations) = check(include_bytes!("../../examples/synthetic.pgn"), 3);
    assert!(positions > 100 && continuations > 500, "{positions}, {continuations}");
}

#[test]
fn a_repeated_position_counts_once_with_the_last_move_from_it() {
    let text = "[Result \"1-0\"]\n[Date \"1999.01.01\"]\n\n1. Nf3 Nf6 2. Ng1 Ng8 3. e4 1-0\n\n\
                [Result \"0-1\"]\n[Date \"199?.??.??\"]\n\n1. Nf3 Nf6 2. Ng1 Ng8 0-1\n\n\
                [Result \"*\"]\n\n1. d4 *\n\n\
                [Result \"1/2-1/2\"]\n[WhiteElo \"2000\"]\n[BlackElo \"2001\"]\n\n1. Nf3 1/2-1/2\n\n";
    assert_eq!(check(text.as_bytes(), 1), (6, 5));
    assert_eq!(check(text.as_bytes(), 4), (1, 2));
}

#[test]
fn a_game_that_ends_in_a_repeated_position_counts_by_its_last_move_from_it() {
    // Beyond ply 16,383, occurrences are sorted without the moves played from them.
    let shuffle = |times| "Nf3 Nf6 Ng1 Ng8 ".repeat(times);
    let setup = "[FEN \"4k3/8/8/8/8/8/8/4K3 w - - 0 1\"]\n";
    let text = [
        ("", shuffle(1)),
        ("", "Nc3 Nc6 Nb1 Nb8 ".to_owned() + &shuffle(2)),
        ("", shuffle(2) + "Nc3 Nc6 Nb1 Nb8"),
        ("", shuffle(1) + "Nc3 Nc6 Nb1"),
        ("", shuffle(4096)),
        ("", shuffle(4095) + "Nc3 Nc6 Nb1 Nb8 Nf3 Nf6 Ng1"),
        ("", shuffle(4097) + "e4"),
        (setup, "Kd1 Kd8 Ke1 Ke8 ".repeat(2)),
        (setup, "Kd1 Kd8 Ke1 Ke8 Kf1 Kf8 Ke1 Ke8".to_owned()),
        (setup, String::new()),
        ("", String::new()),
    ]
    .map(|(setup, moves)| format!("[Result \"1/2-1/2\"]\n{setup}\n{moves} 1/2-1/2\n\n"))
    .concat();
    let (positions, continuations) = check(text.as_bytes(), 1);
    assert!(positions > 10 && continuations > 10, "{positions}, {continuations}");
    assert!(check(text.as_bytes(), 3).0 > 5);
}

#[test]
fn every_kind_of_move() {
    let games = [
        "[FEN \"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1\"]\n\n1. O-O O-O-O 1-0\n\n",
        "[FEN \"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1\"]\n\n1. O-O-O O-O 1-0\n\n",
        "[FEN \"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1\"]\n\n1. Kf1 Kf8 1-0\n\n",
        "[FEN \"8/2P1k3/8/8/8/8/4K1p1/5N2 w - - 0 1\"]\n\n1. c8=Q gxf1=N 1/2-1/2\n\n",
        "[FEN \"8/2P1k3/8/8/8/8/4K1p1/5N2 w - - 0 1\"]\n\n1. c8=R gxf1=B+ 1/2-1/2\n\n",
        "[FEN \"8/2P1k3/8/8/8/8/4K1p1/5N2 w - - 0 1\"]\n\n1. -- g1=Q 0-1\n\n",
        "[FEN \"4k3/8/8/8/4Pp2/8/8/4K3 b - e3 0 1\"]\n\n1... fxe3 2. Ke2 0-1\n\n",
        "[Variant \"Chess960\"]\n[FEN \"2rkr3/8/8/8/8/8/8/2RKR3 w ECec - 0 1\"]\n\n1. O-O-O O-O 1-0\n\n",
        "[Variant \"Chess960\"]\n[FEN \"1rk2r2/8/8/8/8/8/8/1RK2R2 w FBfb - 0 1\"]\n\n1. O-O-O O-O 1-0\n\n",
        "1. f3 e5 2. g4 Qh4# 0-1\n\n",
    ];
    for repeats in [1, 3, 70] {
        let text: String =
            games.iter().map(|game| format!("[Round \"1\"]\n{game}").repeat(repeats)).collect();
        let (positions, continuations) = check(text.as_bytes(), u32::try_from(repeats).unwrap());
        assert!(positions > 20 && continuations > 18, "{positions}, {continuations}");
    }
}

#[test]
fn very_long_games() {
    let long = "Nf3 Nf6 Ng1 Ng8 ".repeat(17_000);
    let text =
        format!("[Result \"1-0\"]\n\n{long} e4 1-0\n\n[Result \"0-1\"]\n\n{long} d4 0-1\n\n1. c4 1-0\n\n");
    let (positions, continuations) = check(text.as_bytes(), 2);
    assert_eq!((positions, continuations), (4, 6));
}

#[test]
fn some_real_games() {
    let Some(text) = part_of_corpus("otb-40k", 200_000) else { return };
    let (positions, _) = check(&text, 4);
    assert!(positions > 100, "{positions}");
}

#[test]
#[ignore = "takes ten seconds"]
fn many_real_games() {
    let Some(text) = part_of_corpus("otb-40k", 3 << 20) else { return };
    let (positions, _) = check(&text, 16);
    assert!(positions > 300, "{positions}");
}
