//! Texts from real collections that are easily misread, each with the right answer and the reason for it.

use super::annotations::round_trip::{come_back, exported};
use crate::support::*;

/// The reason for the answer, the PGN, a query, and its rows.
type Case = (&'static str, &'static str, &'static str, &'static [&'static str]);

/// Checks all cases; each is a source of one database. The database is sound, and its games, exported and indexed
/// again, give equal rows.
fn check(cases: &[Case]) {
    let texts: Vec<&str> = cases.iter().map(|case| case.1).collect();
    let directory = directory_for(0);
    let (inputs, target) = (directory.path().join("in"), directory.path().join("out.db"));
    write_all(&inputs, &texts);
    let summary = run(&target, &[inputs], &options()).expect("indexed");
    assert_sound(&target, &summary);
    let database = open(&target);
    // The queries see the rows of one source only.
    database
        .execute_batch("CREATE TEMP TABLE chosen (source_id); INSERT INTO chosen VALUES (0)")
        .expect("set");
    for table in ["game", "games", "moves", "move_eval", "tag", "variation", "variation_move", "problem"] {
        let source = "(SELECT source_id FROM chosen)";
        let is_chosen = match table {
            "problem" => format!("source_id = {source}"),
            _ => format!("game_id IN (SELECT game_id FROM main.game WHERE source_id = {source})"),
        };
        let view = format!("CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} WHERE {is_chosen}");
        database.execute_batch(&view).expect("a view");
    }
    let mut wrong = Vec::new();
    for &(why, pgn, query, expected) in cases {
        database.execute_batch("UPDATE chosen SET source_id = source_id + 1").expect("set");
        let found = lines(&database, query);
        if found != expected {
            wrong.push(format!("{why}\n{pgn}\nexpected {expected:?}\nfound    {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert_eq!(come_back(&texts, &options()), None);
}

/// Result, plies, status, errors and warnings of each game.
const ENDING: &str =
    "SELECT result, ply_count, status, (SELECT count(*) FROM problem WHERE severity = 'error'),
    (SELECT count(*) FROM problem WHERE severity = 'warning') FROM game";

#[test]
fn results() {
    check(&[
        (
            "both players lost without a move: chess has no result for that, and nothing is wrong with the text",
            "[White \"A\"]\n[Black \"B\"]\n[Result \"0-0\"]\n\n0-0\n",
            ENDING,
            &["*|0|ok|0|0"],
        ),
        ("the same with a colon", "[Event \"T\"]\n[Result \"0:0\"]\n\n0:0\n", ENDING, &["*|0|ok|0|0"]),
        ("the same in signs", "[Event \"T\"]\n[Result \"-:-\"]\n\n-:-\n", ENDING, &["*|0|ok|0|0"]),
        ("the same without a tag", "[Event \"T\"]\n\n0-0\n", ENDING, &["*|0|ok|0|0"]),
        (
            "the tag says that both lost, so the last word is the result, though White could castle",
            "[Result \"0-0\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 0-0\n",
            ENDING,
            &["*|6|ok|0|0"],
        ),
        (
            "the same with a comment after it",
            "[Result \"0-0\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 0-0 {both were late}\n\n[Event \"b\"]\n\n1. d4 *\n",
            "SELECT ply_count FROM game",
            &["6", "1"],
        ),
        (
            "White castles before both lose",
            "[Result \"0-0\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. 0-0 Nf6 0-0\n",
            ENDING,
            &["*|8|ok|0|0"],
        ),
        (
            "nobody can castle, so the last word is the result",
            "[Event \"T\"]\n\n1. e4 e5 0-0\n",
            ENDING,
            &["*|2|ok|0|0"],
        ),
        (
            "castling is the last move, as no tag says that both lost",
            "[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. 0-0\n",
            "SELECT result, ply_count FROM game",
            &["1-0|7"],
        ),
        (
            "castling that is not legal is an error where the game goes on",
            "[Event \"T\"]\n\n1. e4 e5 2. 0-0 Nf6 *\n",
            "SELECT ply_count, status FROM game",
            &["2|truncated"],
        ),
        (
            "White lost, Black drew: that is no draw",
            "[White \"A\"]\n\n1. e4 e5 0-1/2\n",
            ENDING,
            &["*|2|ok|0|0"],
        ),
        ("Black lost, White drew", "[White \"A\"]\n\n1. e4 e5 1/2-0\n", ENDING, &["*|2|ok|0|0"]),
        ("the same in signs for halves", "[White \"A\"]\n\n1. e4 e5 0-\u{bd}\n", ENDING, &["*|2|ok|0|0"]),
        ("half a point each", "[Result \"0.5-0.5\"]\n\n1. e4 e5 0.5-0.5\n", ENDING, &["1/2-1/2|2|ok|0|0"]),
        ("with a decimal comma", "[Event \"T\"]\n\n1. e4 e5 0,5-0,5\n", ENDING, &["1/2-1/2|2|ok|0|0"]),
        ("with spaces", "[Result \"1 - 0\"]\n\n1. e4 e5 1 - 0\n", ENDING, &["1-0|2|ok|0|0"]),
        ("halves with spaces", "[Event \"T\"]\n\n1. e4 e5 1/2 - 1/2\n", ENDING, &["1/2-1/2|2|ok|0|0"]),
        ("signs with spaces", "[Event \"T\"]\n\n1. e4 e5 \u{bd} - \u{bd}\n", ENDING, &["1/2-1/2|2|ok|0|0"]),
        ("Black won, with spaces", "[Event \"T\"]\n\n1. e4 e5 0 - 1\n", ENDING, &["0-1|2|ok|0|0"]),
        ("with an underscore", "[Result \"1_0\"]\n\n1. e4 e5 1_0\n", ENDING, &["1-0|2|ok|0|0"]),
        ("a forfeit in signs", "[Result \"+:-\"]\n\n+:-\n", ENDING, &["1-0|0|ok|0|0"]),
        ("Black wins by forfeit", "[Result \"-:+\"]\n\n-:+\n", ENDING, &["0-1|0|ok|0|0"]),
        ("a forfeit with letters", "[Result \"1F-0F\"]\n\n1F-0F\n", ENDING, &["1-0|0|ok|0|0"]),
        ("with an em dash", "[Result \"1\u{2014}0\"]\n\n1. e4 1\u{2014}0\n", ENDING, &["1-0|1|ok|0|0"]),
        ("with a minus sign", "[Result \"0\u{2212}1\"]\n\n1. e4 0\u{2212}1\n", ENDING, &["0-1|1|ok|0|0"]),
        ("with a hyphen", "[Event \"T\"]\n\n1. e4 \u{bd}\u{2010}\u{bd}\n", ENDING, &["1/2-1/2|1|ok|0|0"]),
        (
            "only the tag says it",
            "[Result \"1-0 (time)\"]\n\n1. e4 e5 *\n",
            "SELECT result FROM game",
            &["1-0"],
        ),
        (
            "in words, in the tag",
            "[Result \"Draw\"]\n\n1. e4 e5 *\n",
            "SELECT result FROM game",
            &["1/2-1/2"],
        ),
        (
            "what the tag says is kept if PGN has another word for it",
            "[Result \"+/-\"]\n\n1. e4 1-0\n",
            "SELECT result, value FROM game JOIN tag USING (game_id) WHERE name = 'Result'",
            &["1-0|+/-"],
        ),
        (
            "an evaluation is no result",
            "[Event \"T\"]\n\n1. e4 +/- e5 +- 2. Nf3 -/+ Nc6 -+ 3. Bb5 = a6 1-0\n",
            ENDING,
            &["1-0|6|ok|0|0"],
        ),
        (
            "castling of move 1 is no result",
            "[FEN \"4k2r/5ppp/8/8/8/8/5PPP/4K2R w Kk - 0 1\"]\n\n1.0-0 0-0 1/2-1/2\n",
            ENDING,
            &["1/2-1/2|2|ok|0|0"],
        ),
        (
            "a tag that nobody can read is a warning; the moves end in a result",
            "[Result \"adjourned\"]\n\n1. e4 0-1\n",
            ENDING,
            &["0-1|1|ok|0|1"],
        ),
        (
            "one and nought with a decimal point are no castling",
            "[Event \"T\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 1.0-0.0\n",
            ENDING,
            &["1-0|6|ok|0|0"],
        ),
        (
            "with the same in the tag",
            "[Result \"1.0-0.0\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 1.0-0.0\n",
            ENDING,
            &["1-0|6|ok|0|0"],
        ),
        (
            "with decimal commas",
            "[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 1,0-0,0\n",
            ENDING,
            &["1-0|6|ok|0|0"],
        ),
        (
            "with spaces too",
            "[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 1.0 - 0.0\n",
            ENDING,
            &["1-0|6|ok|0|0"],
        ),
        (
            "the tag says that both lost, and a star follows",
            "[Result \"0-0\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 0-0 *\n",
            ENDING,
            &["*|6|ok|0|0"],
        ),
        (
            "the same without a dash",
            "[Result \"0-0\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 00 *\n",
            ENDING,
            &["*|6|ok|0|0"],
        ),
        (
            "without a dash and without a star",
            "[Result \"0-0\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 00\n",
            ENDING,
            &["*|6|ok|0|0"],
        ),
        (
            "the tag does not say that both lost, so White castles",
            "[Result \"*\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 0-0 *\n",
            ENDING,
            &["*|7|ok|0|0"],
        ),
        (
            "forfeits in small letters",
            "[Result \"0f-0f\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 0f-0f\n",
            ENDING,
            &["*|6|ok|0|0"],
        ),
        ("White wins by forfeit", "[Result \"1f-0f\"]\n\n1f-0f\n", ENDING, &["1-0|0|ok|0|0"]),
        (
            "a point and a half are too much for one game",
            "[Result \"1-\u{bd}\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 1-\u{bd}\n",
            "SELECT result, ply_count, status FROM game",
            &["*|6|ok"],
        ),
        (
            "the same in digits and with spaces",
            "[Event \"T\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 1 - 1/2\n",
            "SELECT result, ply_count, status FROM game",
            &["*|6|ok"],
        ),
        ("a draw in signs", "[Event \"T\"]\n\n1. e4 e5 =-=\n", ENDING, &["1/2-1/2|2|ok|0|0"]),
        ("in brackets at the end", "[Event \"T\"]\n\n1. e4 e5 (1-0)\n", ENDING, &["1-0|2|ok|0|0"]),
    ]);
}

const TIME: &str = "SELECT time_initial, time_increment, speed FROM game";

/// The time that the player used for each move.
const ELAPSED: &str = "SELECT elapsed FROM moves WHERE elapsed IS NOT NULL ORDER BY game_id, ply";

#[test]
fn time_controls() {
    check(&[
        (
            "a broadcast writes minutes, and the first clock shows it",
            "[TimeControl \"90+30\"]\n\n1. e4 {[%clk 1:30:00]} e5 {[%clk 1:30:00]} *\n",
            TIME,
            &["5400|30|classical"],
        ),
        (
            "the first clock shows seconds",
            "[TimeControl \"60+1\"]\n\n1. e4 {[%clk 0:01:00]} e5 {[%clk 0:00:59]} *\n",
            TIME,
            &["60|1|bullet"],
        ),
        (
            "the first clock shows minutes, though Lichess's own games are in seconds",
            "[Site \"https://lichess.org/q7ZvsdUF\"]\n[TimeControl \"60+30\"]\n\n1. e4 {[%clk 1:00:25]} *\n",
            TIME,
            &["3600|30|classical"],
        ),
        (
            "no clock: a game on Lichess has seconds, as PGN asks for",
            "[Site \"https://lichess.org/q7ZvsdUF\"]\n[TimeControl \"60+0\"]\n\n1. e4 *\n",
            TIME,
            &["60|0|bullet"],
        ),
        (
            "no clock: FICS has seconds",
            "[Site \"FICS freechess.org\"]\n[TimeControl \"120+12\"]\n\n1. e4 *\n",
            TIME,
            &["120|12|rapid"],
        ),
        (
            "no clock, no server: Lichess takes small numbers for minutes",
            "[TimeControl \"25+10\"]\n\n1. e4 *\n",
            TIME,
            &["1500|10|classical"],
        ),
        (
            "three minutes are played often, three hours hardly ever",
            "[TimeControl \"180+2\"]\n\n1. e4 *\n",
            TIME,
            &["180|2|blitz"],
        ),
        (
            "the clock of an engine game is in TCEC's words",
            "[TimeControl \"120+1\"]\n\n1. e4 {d=20, mt=1000, tl=119000, wv=0.31} *\n",
            TIME,
            &["120|1|bullet"],
        ),
        (
            "hours, minutes and seconds",
            "[TimeControl \"1:30:00+30\"]\n\n1. e4 *\n",
            TIME,
            &["5400|30|classical"],
        ),
        ("minutes and seconds", "[TimeControl \"5:00\"]\n\n1. e4 *\n", TIME, &["300|0|blitz"]),
        ("three minutes", "[TimeControl \"0:03:00\"]\n\n1. e4 *\n", TIME, &["180|0|blitz"]),
        ("two hours for 40 moves", "[TimeControl \"40/2:00:00\"]\n\n1. e4 *\n", TIME, &["7200|0|classical"]),
        (
            "time before moves",
            "[TimeControl \"5400/40+30:1800+30\"]\n\n1. e4 *\n",
            TIME,
            &["5400|30|classical"],
        ),
        (
            "an hour and a half, or a minute and a half: without a clock nobody knows",
            "[TimeControl \"1:30\"]\n\n1. e4 *\n",
            TIME,
            &["-|-|-"],
        ),
        (
            "as federations write it",
            "[TimeControl \"90 min / 40 moves + 30 min + 30 sec / move\"]\n\n1. e4 *\n",
            TIME,
            &["5400|30|classical"],
        ),
        ("in the United States", "[TimeControl \"G/60;d5\"]\n\n1. e4 *\n", TIME, &["3600|0|classical"]),
        ("a sandclock", "[TimeControl \"*180\"]\n\n1. e4 *\n", TIME, &["180|0|blitz"]),
        ("days", "[TimeControl \"3 days\"]\n\n1. e4 *\n", TIME, &["-|-|correspondence"]),
        ("nothing known", "[TimeControl \"?\"]\n\n1. e4 *\n", TIME, &["-|-|-"]),
        (
            "a tenth of a second is added for each move: 10.00 + 0.10 - 10.05, 10.00 + 0.10 - 9.60, 10.05 + 0.10 - 9.00",
            "[TimeControl \"10+0.1\"]\n\n1. e4 {[%clk 0:00:10.0]} e5 {[%clk 0:00:10.0]} 2. Nf3 {[%clk 0:00:10.05]} Nc6 \
             {[%clk 0:00:09.6]} 3. Bc4 {[%clk 0:00:09.0]} *\n",
            ELAPSED,
            &["5", "50", "115"],
        ),
        (
            "a second and a half is added",
            "[TimeControl \"180+1.5\"]\n\n1. e4 {[%clk 0:03:00]} e5 {[%clk 0:03:00]} 2. Nf3 {[%clk 0:02:58.5]} Nc6 \
             {[%clk 0:02:55]} *\n",
            ELAPSED,
            &["300", "650"],
        ),
        (
            "three periods, of which the first is a clock for 40 moves; what is added may belong to the last only",
            "[TimeControl \"1:40:00/40+50:00/20+15:00+30\"]\n\n1. e4 *\n",
            TIME,
            &["6000|-|classical"],
        ),
        (
            "each period has its own increment",
            "[TimeControl \"1:30:00/40+30, 30:00+30\"]\n\n1. e4 {[%clk 1:30:30]} *\n",
            TIME,
            &["5400|30|classical"],
        ),
        (
            "a delay in the United States is no number of days",
            "[TimeControl \"G/60 d5\"]\n\n1. e4 *\n",
            TIME,
            &["3600|0|classical"],
        ),
        (
            "a delay of so many seconds",
            "[TimeControl \"G/25 d5s\"]\n\n1. e4 *\n",
            TIME,
            &["1500|0|classical"],
        ),
        (
            "the increment is a clock too",
            "[TimeControl \"0:05:00+0:00:03\"]\n\n1. e4 *\n",
            TIME,
            &["300|3|blitz"],
        ),
        ("in minutes and seconds", "[TimeControl \"5:00+0:03\"]\n\n1. e4 *\n", TIME, &["300|3|blitz"]),
        (
            "the increment ends where a period begins",
            "[TimeControl \"300+3:10\"]\n\n1. e4 *\n",
            TIME,
            &["300|3|blitz"],
        ),
        (
            "half a minute, as sites show it",
            "[TimeControl \"1/2+0\"]\n\n1. e4 {[%clk 0:00:30]} *\n",
            TIME,
            &["30|0|bullet"],
        ),
        (
            "one and a half minutes: the clock shows it",
            "[TimeControl \"1.5+0\"]\n\n1. e4 {[%clk 0:01:30]} *\n",
            TIME,
            &["90|0|bullet"],
        ),
        ("one and a half of what, nobody knows", "[TimeControl \"1.5+0\"]\n\n1. e4 *\n", TIME, &["-|-|-"]),
        (
            "ten minutes and a tenth of a second",
            "[TimeControl \"10+0.1\"]\n\n1. e4 {[%clk 0:10:00]} *\n",
            TIME,
            &["600|0|rapid"],
        ),
        (
            "a clock of three minutes is not that of a correspondence game",
            "[TimeControl \"-\"]\n\n1. e4 {[%clk 0:03:00]} *\n",
            TIME,
            &["-|-|-"],
        ),
        ("no clock at all", "[TimeControl \"-\"]\n\n1. e4 *\n", TIME, &["-|-|correspondence"]),
    ]);
}

const DATES: &str = "SELECT date, iso_date, started_at FROM games";

#[test]
fn dates() {
    check(&[
        (
            "February never has 30 days; the tag is kept as it is written",
            "[Date \"2021.02.30\"]\n[UTCDate \"2021.02.30\"]\n[UTCTime \"12:00:00\"]\n\n1. e4 *\n",
            DATES,
            &["2021.02.??|-|-"],
        ),
        (
            "there is a warning, and the text stays",
            "[Date \"2021.02.30\"]\n\n1. e4 *\n",
            "SELECT kind, value FROM problem JOIN tag USING (game_id) WHERE name = 'Date'",
            &["invalid-tag|2021.02.30"],
        ),
        (
            "29 February in a year that has it",
            "[Date \"2024.02.29\"]\n\n1. e4 *\n",
            DATES,
            &["2024.02.29|2024-02-29|-"],
        ),
        ("29 February in 1900", "[Date \"1900.02.29\"]\n\n1. e4 *\n", DATES, &["1900.02.??|-|-"]),
        ("zeros say that it is not known", "[Date \"1988.00.00\"]\n\n1. e4 *\n", DATES, &["1988.??.??|-|-"]),
        ("the month is known", "[Date \"1988.06.00\"]\n\n1. e4 *\n", DATES, &["1988.06.??|-|-"]),
        ("nothing is known", "[Date \"0000.00.00\"]\n\n1. e4 *\n", DATES, &["-|-|-"]),
        (
            "a time of day that does not exist",
            "[Date \"2021.02.28\"]\n[UTCDate \"2021.02.28\"]\n[UTCTime \"23:59:61\"]\n\n1. e4 *\n",
            DATES,
            &["2021.02.28|2021-02-28|-"],
        ),
        ("the day first", "[Date \"31.12.1999\"]\n\n1. e4 *\n", DATES, &["1999.12.31|1999-12-31|-"]),
        ("with slashes", "[Date \"1999/12/31\"]\n\n1. e4 *\n", DATES, &["1999.12.31|1999-12-31|-"]),
        ("5 June or 6 May", "[Date \"05/06/1999\"]\n\n1. e4 *\n", DATES, &["1999.??.??|-|-"]),
        (
            "some days of a tournament: the year is known",
            "[Date \"1988.05.06-08\"]\n\n1. e4 *\n",
            DATES,
            &["1988.??.??|-|-"],
        ),
        ("letters for what is not known", "[Date \"1988.x.x\"]\n\n1. e4 *\n", DATES, &["1988.??.??|-|-"]),
        ("the name of a month", "[Date \"1988.May.06\"]\n\n1. e4 *\n", DATES, &["1988.??.??|-|-"]),
        ("with commas", "[Date \"1988,05,06\"]\n\n1. e4 *\n", DATES, &["1988.05.06|1988-05-06|-"]),
    ]);
}

const GAME: &str = "SELECT ply_count, status, (SELECT count(*) FROM variation_move), (SELECT count(*) FROM problem) FROM game";

#[test]
fn null_moves_and_remarks() {
    check(&[
        (
            "three dashes are a null move: the variation goes on with Nxe5 Nf6",
            "[Result \"*\"]\n\n1. e4 e5 2. Nf3 Nc6 (2... --- {Black must not pass} 3. Nxe5 Nf6) 3. Bb5 *\n",
            GAME,
            &["5|ok|3|0"],
        ),
        (
            "null moves in other writing",
            "[Result \"*\"]\n\n1. e4 (1. Z0 e5) (1. -- e5) (1. @@@@ e5) (1. null e5) (1. 0000 e5) (1. --- e5) e5 *\n",
            GAME,
            &["2|ok|12|0"],
        ),
        ("in the main line", "[Result \"*\"]\n\n1. e4 --- 2. d4 null 3. c4 *\n", GAME, &["5|ok|0|0"]),
        ("RR is an editorial remark", "[Result \"*\"]\n\n1. e4 e5 RR 2. Nf3 Nc6 *\n", GAME, &["4|ok|0|0"]),
        (
            "old books write ch for check",
            "[Result \"*\"]\n\n1. e4 e5 2. Qh5 Nc6 3. Qxf7 ch Kxf7 *\n",
            GAME,
            &["6|ok|0|0"],
        ),
        (
            "with a full stop, and for double check",
            "[Result \"*\"]\n\n1. e4 e5 2. Qh5 Nc6 3. Qxf7 ch. Kxf7 4. d4 dbl ch a6 5. d5 dis. ch. a5 *\n",
            GAME,
            &["10|ok|0|0"],
        ),
        (
            "a novelty without a space",
            "[Result \"*\"]\n\n1. d4 Nf6 2. c4 e6 3. Nf3 d5 4. Nc3 Be7 5. Bg5 O-ON 6. e3 Nbd7N 7. a3TN a6N 8. cxd5N *\n",
            GAME,
            &["15|ok|0|0"],
        ),
        (
            "a pawn on the last rank becomes a knight",
            "[FEN \"8/P6k/8/8/8/8/7K/8 w - - 0 1\"]\n[Result \"*\"]\n\n1. a8N *\n",
            "SELECT uci FROM moves",
            &["a7a8n"],
        ),
        (
            "remarks between moves",
            "[Result \"*\"]\n\n1. e4 D e5 N 2. Nf3 !N Nc6 = 3. Bb5 +- a6 TN 4. Bxc6 mate dxc6 e.p. *\n",
            GAME,
            &["8|ok|0|0"],
        ),
        (
            "the same in a variation",
            "[Result \"*\"]\n\n1. e4 e5 (1... c5 RR 2. Nf3 ch d6N 3. d4) *\n",
            GAME,
            &["2|ok|4|0"],
        ),
        (
            "a word that nobody knows is reported in a variation too",
            "[Result \"*\"]\n\n1. e4 e5 (1... c5 blah 2. Nf3 diagram d6) *\n",
            "SELECT kind, severity, token FROM problem ORDER BY 3",
            &["unknown-token|warning|blah", "unknown-token|warning|diagram"],
        ),
        (
            "a variation whose first move is not legal has no moves and is not kept",
            "[Result \"*\"]\n\n1. e4 e5 (1... Qa1) () (1... c5 (2. Ke5)) *\n",
            "SELECT line, parent_line, ply, (SELECT count(*) FROM problem) FROM variation",
            &["1|0|1|2"],
        ),
    ]);
}

#[test]
fn variants() {
    const NAMES: [&str; 14] = [
        "Standard Chess",
        "Regular",
        "-",
        "None",
        "FIDE",
        "Setup",
        "Rapid",
        "standard",
        "From Position",
        "CHESS",
        "Chess 9LX",
        "Freestyle Chess",
        "wild/fr",
        "chess 960",
    ];
    let pgn: String = NAMES.map(|name| format!("[Variant \"{name}\"]\n\n1. e4 e5 1-0\n\n")).concat();
    let found = lines(&Indexed::new(&pgn).open(), "SELECT variant, ply_count, status FROM game");
    assert_eq!(found, NAMES.map(|name| format!("{name}|2|ok")));
    check(&[(
        "other rules",
        "[Variant \"Atomic\"]\n\n1. e4 e5 1-0\n",
        "SELECT ply_count, status FROM game",
        &["0|skipped"],
    )]);
}

const NUMBERS: &str =
    "SELECT ply, eval_cp, eval_mate, depth, clock, elapsed FROM move_eval ORDER BY game_id, ply";

#[test]
fn engine_comments() {
    check(&[
        (
            "XBoard: the mover's view, depth, time in seconds or as a clock",
            "[Result \"*\"]\n\n1. e4 {+0.25/12 2.3} e5 {-0.10/11} 2. Nf3 {+0.31/13 45} Nc6 {+0.12/12 1:05} *\n",
            NUMBERS,
            &["1|25|-|12|-|230", "2|10|-|11|-|-", "3|31|-|13|-|4500", "4|-12|-|12|-|6500"],
        ),
        (
            "all four have a value",
            "[Result \"*\"]\n\n1. e4 {+0.25/12 2.3} e5 {-0.10/11} 2. Nf3 {+0.31/13 45} Nc6 {+0.12/12 1:05} *\n",
            "SELECT eval_count FROM game",
            &["4"],
        ),
        (
            "fastchess of 2023 and of 2024",
            "[Result \"1-0\"]\n\n1. e4 {+0.28/10, 0.104s, nodes,12345, nps, 118701} e5 {-0.31/12 0.2s, n=12345, sd=20} 2. Nf3 \
             {book} Nc6 {-M4/12 0.021s, White mates} 1-0\n",
            NUMBERS,
            &["1|28|-|10|-|10", "2|31|-|12|-|20", "4|-|2|12|-|2"],
        ),
        (
            "Arena writes the line that it expects before the value",
            "[Result \"*\"]\n\n1. e4 {(e7e5 Ng1f3) +0.12/13 15} *\n",
            NUMBERS,
            &["1|12|-|13|-|1500"],
        ),
        (
            "the first seasons of TCEC: ev is the mover's view, times are clocks",
            "[Result \"*\"]\n\n1. e4 { ev=0.34, d=25, mt=00:02:01, tl=01:54:50, s=17533 kN/s, tb=0, } e5 { ev=-0.38, d=34, \
             mt=00:01:20, tl=01:56:15, tb=0, wv=0.38, } 2. Nf3 {Eval = 0.31, Depth = 20, MoveTime = 00:01:26, TimeLeft = \
             01:53:00} Nc6 {ev=-0.40,d=21,tl=01:55:00} *\n",
            NUMBERS,
            &[
                "1|34|-|25|689000|12100",
                "2|38|-|34|697500|8000",
                "3|31|-|20|678000|8600",
                "4|40|-|21|690000|-",
            ],
        ),
        (
            "the score of a match is no value",
            "[Result \"*\"]\n\n1. e4 {1.5/2 and a half} e5 {1/2-1/2 Hunt,H 1996} *\n",
            NUMBERS,
            &[],
        ),
    ]);
}

#[test]
fn comments_are_exported_as_written() {
    let comments = [
        "d=20, mt=3000, tl=60000, wv=0.31, pv=e4 e5,",
        "+0.25/12 2.3",
        "-M9/30 0.5s, White mates",
        "[%eval 35,22] [%emt 00:02:50] (Rb8)",
        "[%emt 1.549]",
        "[%clk 0:02:59.9] [%timestamp 32]",
        "[%eval 0.35] [%clk 0:03:00]",
        "[%eval 0.35] [%eval 0.35]",
        "[%clk 01:30:00]",
        "[%clk 0:01:00] d=20, tl=59000, pv=e4",
        "[%eval #-3]",
    ];
    let pgn: String =
        comments.iter().map(|comment| format!("[Result \"*\"]\n\n1. e4 {{{comment}}} *\n\n")).collect();
    assert_eq!(come_back(&[&pgn], &options()), None);
    let exported = exported(&Indexed::new(&pgn).database())[0].replace('\n', " ");
    for comment in comments {
        assert!(exported.contains(&format!("1. e4 {{{comment}}} *")), "{comment}: {exported}");
    }
}
