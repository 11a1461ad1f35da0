//! Texts that are easy to misread, and the right reading of each.
//!
//! Each case gives a reason. The right readings follow from the PGN standard or from what a person reads, not from the
//! output of this program.

use std::fs;
use std::path::Path;

use pgndex::board::MoveCode;
use pgndex::index::IndexOptions;
use pgndex::source::TextEncoding;
use pgndex::verify::{Progress, Sample, VerifyOptions, verify};
use rusqlite::Connection;

use crate::index::annotations::round_trip::exported;
use crate::support::*;

/// A text, its reading, and the reason why it is right.
struct Case {
    why: &'static str,
    text: &'static [u8],
    /// A line for each game, annotation and problem.
    read: &'static [&'static str],
}

/// A short summary of a source: games with players, result and moves, then annotations and other tags.
fn summary(database: &Connection, source: usize) -> Vec<String> {
    let mut found = Vec::new();
    let games: Vec<u32> =
        column(database, &format!("SELECT game_id FROM game WHERE source_id = {source} ORDER BY 1"));
    for game in games {
        let query = |sql: &str| lines(database, &sql.replace("?1", &game.to_string()));
        found.extend(query(
            "SELECT 'game ' || ifnull(white, '?') || '-' || ifnull(black, '?') || ' ' || result || ' ' || status ||
                 ifnull((SELECT group_concat(' ' || uci, '' ORDER BY ply) FROM moves WHERE game_id = ?1), '')
             FROM games WHERE game_id = ?1",
        ));
        found.extend(query(
            "SELECT 'tag ' || name || ' ' || value FROM (
                 SELECT 1 AS at, 'Event' AS name, event AS value FROM games WHERE game_id = ?1
                 UNION ALL SELECT 2, 'Site', site FROM games WHERE game_id = ?1
                 UNION ALL SELECT 3, 'Date', date FROM games WHERE game_id = ?1
                 UNION ALL SELECT 4, 'Round', round FROM games WHERE game_id = ?1
                 UNION ALL SELECT 5, 'FEN', start_fen FROM game WHERE game_id = ?1
                 UNION ALL SELECT 6, 'WhiteElo', white_elo FROM games WHERE game_id = ?1
                 UNION ALL SELECT 7, 'BlackElo', black_elo FROM games WHERE game_id = ?1
                 UNION ALL SELECT 8, name, value FROM tag WHERE game_id = ?1)
             WHERE value IS NOT NULL ORDER BY at, name",
        ));
        found.extend(query(
            "SELECT 'comment ' || line || '.' || ply || ' ' || text FROM comment WHERE game_id = ?1 ORDER BY line, ply, number",
        ));
        found.extend(query("SELECT 'nag ' || line || '.' || ply || ' ' || nag FROM nag WHERE game_id = ?1 ORDER BY line, ply, nag"));
        found.extend(query(
            "SELECT 'command ' || line || '.' || ply || ' ' || name || ' ' || value FROM command WHERE game_id = ?1
             ORDER BY line, ply, number",
        ));
        found.extend(query("SELECT 'clock 0.' || ply || ' ' || clock FROM move_eval WHERE game_id = ?1 AND clock IS NOT NULL ORDER BY ply"));
        let variations = "SELECT line, 'variation ' || parent_line || '.' || ply FROM variation WHERE game_id = ?1 ORDER BY line";
        for variation in query(variations) {
            let (line, variation) = variation.split_once('|').expect("two columns");
            let codes = format!(
                "SELECT move_code FROM variation_move WHERE game_id = {game} AND line = {line} ORDER BY ply"
            );
            let moves = column::<u32>(database, &codes).into_iter();
            let moves = moves.map(|code| format!(" {}", MoveCode::from_stored(code).uci(None)));
            found.push(variation.to_owned() + &moves.collect::<String>());
        }
    }
    found
}

/// The problems of a source, with the line of each.
fn problems(database: &Connection, source: usize) -> Vec<String> {
    lines(
        database,
        &format!(
            "SELECT 'problem ' || kind || ' ' || line FROM problem WHERE source_id = {source} ORDER BY problem_id"
        ),
    )
}

/// Indexes texts, each as its own source. Checks that chunks of any size give the same database, and that `verify`
/// finds no damage.
fn indexed(directory: &Path, texts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Connection {
    let (inputs, target) = (directory.join("texts"), directory.join("out.db"));
    write_all(&inputs, texts);
    let read = |target: &Path, chunk_size| {
        run(target, &[&inputs], &IndexOptions { chunk_size, ..options() }).expect("indexed")
    };
    let summary = read(&target, 1 << 20);
    let small = directory.join("small.db");
    read(&small, 1);
    assert_same(&target, &small, "chunks of one byte");
    assert_sound(&target, &summary);
    let options = VerifyOptions { sample: Sample::All, ..VerifyOptions::default() };
    let report = verify(&target, &options, &Progress::default()).expect("verified");
    assert_eq!(report.findings.total(), 0, "{:?}", report.findings);
    open(&target)
}

#[test]
fn each_case_is_read_as_a_person_reads_it() {
    let directory = directory();
    let database = indexed(directory.path(), CASES.iter().map(|case| case.text));
    let exported = exported(&directory.path().join("out.db"));
    assert_eq!(exported.len(), CASES.len());
    let back = directory.path().join("back");
    fs::create_dir(&back).expect("created");
    let back = indexed(&back, &exported);
    let mut wrong = Vec::new();
    for (source, (Case { why, text, read }, pgn)) in (1..).zip(CASES.iter().zip(&exported)) {
        let games = summary(&database, source);
        let found: Vec<String> = games.iter().cloned().chain(problems(&database, source)).collect();
        let back = summary(&back, source);
        if found != *read {
            wrong.push(format!(
                "{why}:\n{}\n  found\n    {}\n  expected\n    {}",
                text.escape_ascii(),
                found.join("\n    "),
                read.join("\n    ")
            ));
        } else if back != games {
            // The exported text must be read as the same games.
            let (back, games) = (back.join("\n    "), games.join("\n    "));
            wrong.push(format!("{why}: exported as\n{pgn}\n  read again\n    {back}\n  before\n    {games}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n\n"));
}

/// The tags of a game between A and B.
macro_rules! ab {
    ($rest:literal) => {
        concat!("[White \"A\"]\n[Black \"B\"]\n", $rest).as_bytes()
    };
}

const CASES: &[Case] = &[
    // -------- Comments outside the movetext --------
    Case {
        why: "a comment after the result is about the end of that game",
        text: ab!("\n1. e4 e5 1-0 {White wins on time}\n\n[White \"C\"]\n\n1. d4 *\n"),
        read: &["game A-B 1-0 ok e2e4 e7e5", "comment 0.2 White wins on time", "game C-? * ok d2d4"],
    },
    Case {
        why: "a comment on the line after the result, and a line comment",
        text: ab!("\n1. e4 1-0\n{adjourned}\n; sealed\n\n[White \"C\"]\n\n1. d4 *\n"),
        read: &["game A-B 1-0 ok e2e4", "comment 0.1 adjourned", "comment 0.1 sealed", "game C-? * ok d2d4"],
    },
    Case {
        why: "glyphs and variations after the result belong to the last move",
        text: ab!("\n1. e4 e5 1-0 $14 (1... c5 2. Nf3) {end}\n"),
        read: &[
            "game A-B 1-0 ok e2e4 e7e5",
            "comment 0.2 end",
            "nag 0.2 14",
            "variation 0.1 c7c5 g1f3",
        ],
    },
    Case {
        why: "a remark in parentheses after the result is not a variation",
        text: ab!("\n1. e4 1-0 (Black forfeits on time)\n"),
        read: &["game A-B 1-0 ok e2e4", "comment 0.1 Black forfeits on time"],
    },
    Case {
        why: "comments between blank lines after a game belong to the game before them",
        text: ab!("\n1. e4 1-0\n\n{one}\n\n{two}\n\n[White \"C\"]\n\n1. d4 *\n"),
        read: &["game A-B 1-0 ok e2e4", "comment 0.1 one", "comment 0.1 two", "game C-? * ok d2d4"],
    },
    Case {
        why: "a comment right before the next game's tags belongs to that game",
        text: ab!("\n1. e4 1-0\n\n{Game 2:}\n[White \"C\"]\n\n1. d4 *\n"),
        read: &["game A-B 1-0 ok e2e4", "game C-? * ok d2d4", "comment 0.0 Game 2:"],
    },
    Case {
        why: "a comment right before the moves of a game without tags belongs to that game",
        text: b"{first} 1. e4 1-0\n\n{second} 1. d4 d5 0-1\n",
        read: &[
            "game ?-? 1-0 ok e2e4",
            "comment 0.0 first",
            "game ?-? 0-1 ok d2d4 d7d5",
            "comment 0.0 second",
        ],
    },
    Case {
        why: "several comments before the first tag of the file",
        text: b"{ Annotated\nby me }\n; second\n\n% an escape\n{third}\n\n[White \"A\"]\n[Black \"B\"]\n\n1. e4 *\n",
        read: &[
            "game A-B * ok e2e4",
            "comment 0.0 Annotated by me",
            "comment 0.0 second",
            "comment 0.0 third",
        ],
    },
    Case {
        why: "a byte order mark and a line comment before the first tag",
        text: b"\xef\xbb\xbf; exported\r\n\r\n[White \"A\"]\r\n[Black \"B\"]\r\n\r\n1. e4 *\r\n",
        read: &["game A-B * ok e2e4", "comment 0.0 exported"],
    },
    Case {
        why: "a comment between the tags and the moves, with blank lines around it",
        text: ab!("\n{preface}\n\n1. e4 *\n\n[White \"C\"]\n\n; c\n\n1. d4 *\n"),
        read: &[
            "game A-B * ok e2e4",
            "comment 0.0 preface",
            "game C-? * ok d2d4",
            "comment 0.0 c",
        ],
    },
    Case {
        why: "two results with comments between: both comments are kept",
        text: ab!("\n1. e4 1-0 {a} 1-0 {b}\n"),
        read: &["game A-B 1-0 ok e2e4", "comment 0.1 a", "comment 0.1 b"],
    },
    Case {
        why: "a comment after the result of a game with an illegal move",
        text: ab!("\n1. e4 e5 2. Ke3 d6 {lost with the move} 1-0 {flag}\n"),
        read: &["game A-B 1-0 truncated e2e4 e7e5", "comment 0.2 flag", "problem illegal-move 4"],
    },
    Case {
        why: "a comment after the result of a game that both lost",
        text: ab!("[Result \"0-0\"]\n\n1. e4 e5 0-0 {both were late}\n"),
        read: &["game A-B * ok e2e4 e7e5", "tag Result 0-0", "comment 0.2 both were late"],
    },
    Case {
        why: "a comment and an escape before the first tag, in any order",
        text: b"; made by X\n% esc\n[White \"A\"]\n[Black \"B\"]\n\n1. e4 *\n\n{c}\n%\n[White \"C\"]\n\n1. d4 *\n",
        read: &["game A-B * ok e2e4", "comment 0.0 made by X", "game C-? * ok d2d4", "comment 0.0 c"],
    },
    Case {
        why: "a comment right before the tags of a game belongs to it, be the game before without moves",
        text: b"[Event \"a\"]\n[Result \"1-0\"]\n\n{of b}\n[Event \"b\"]\n\n1. e4 *\n",
        read: &[
            "game ?-? 1-0 ok",
            "tag Event a",
            "game ?-? * ok e2e4",
            "tag Event b",
            "comment 0.0 of b",
            "problem missing-result 2",
        ],
    },
    // -------- Games of tags only --------
    Case {
        why: "a repeated tag after a blank line begins another game",
        text: b"[FEN \"8/8/8/8/8/4k3/4p3/4K3 w - - 0 1\"]\n[Result \"1-0\"]\n\n[FEN \"8/8/8/4k3/8/4K3/4P3/8 w - - 0 1\"]\n[Result \"1/2-1/2\"]\n\n0-1\n",
        read: &[
            "game ?-? 1-0 ok",
            "tag FEN 8/8/8/8/8/4k3/4p3/4K3 w - - 0 1",
            "game ?-? 1/2-1/2 ok",
            "tag FEN 8/8/8/4k3/8/4K3/4P3/8 w - - 0 1",
            "problem missing-result 2",
            "problem result-mismatch 7",
        ],
    },
    Case {
        why: "a second Event tag begins another game even without a blank line",
        text: b"[Event \"x\"]\n[White \"A\"]\n[Result \"1-0\"]\n[Event \"y\"]\n[White \"C\"]\n[Result \"0-1\"]\n",
        read: &[
            "game A-? 1-0 ok",
            "tag Event x",
            "game C-? 0-1 ok",
            "tag Event y",
            "problem missing-result 3",
            "problem missing-result 6",
        ],
    },
    Case {
        why: "games of tags with a comment each",
        text: b"[Result \"1-0\"]\n\n{not recorded}\n\n[Event \"y\"]\n[Result \"0-1\"]\n\n; nor this\n",
        read: &[
            "game ?-? 1-0 ok",
            "comment 0.0 not recorded",
            "game ?-? 0-1 ok",
            "tag Event y",
            "comment 0.0 nor this",
            "problem missing-result 3",
            "problem missing-result 8",
        ],
    },
    Case {
        why: "of a tag that a game has twice the last one counts, in letters of any case",
        text: b"[White \"A\"]\n[Opening \"one\"]\n[white \"C\"]\n[OPENING \"two\"]\n\n1. e4 *\n",
        read: &[
            "game C-? * ok e2e4",
            "tag Opening two",
            "problem duplicate-tag 3",
            "problem duplicate-tag 4",
        ],
    },
    Case {
        why: "blank lines between the tags of one game mean nothing",
        text: b"[White \"A\"]\n\n[Black \"B\"]\n\n\n[Result \"*\"]\n\n1. e4 *\n",
        read: &["game A-B * ok e2e4"],
    },
    // -------- Tags --------
    Case {
        why: "a comment between tags does not end them",
        text: b"[Event \"Masters\"]\n; [Round \"11.3\"]\n[White \"A\"]\n{ a\nb }\n[Black \"B\"] {c}\n[Site \"x\"]\n% no\n[Date \"2020.01.24\"]\n\n1. d4 0-1\n",
        read: &[
            "game A-B 0-1 ok d2d4",
            "tag Event Masters",
            "tag Site x",
            "tag Date 2020.01.24",
            "comment 0.0 [Round \"11.3\"]",
            "comment 0.0 a b",
            "comment 0.0 c",
        ],
    },
    Case {
        why: "a comment right after a tag and a blank line after it",
        text: b"[White \"A\"]\n{c}\n\n[Black \"B\"]\n\n1. e4 *\n",
        read: &["game A-B * ok e2e4", "comment 0.0 c"],
    },
    Case {
        why: "a tag over two lines is one tag",
        text: b"[Event \"Championship of the\n  World\"]\n\n[White\n\"A\"]\n[Black \"B\"\n]\n\n1. e4 *\n",
        read: &["game A-B * ok e2e4", "tag Event Championship of the World"],
    },
    Case {
        why: "doubled brackets are brackets",
        text: b"[[White \"A\"]]\n[[Black \"B\"]\n[Site \"x\"]]\n\n1. e4 *\n\n[[White \"C\"]]\n\n1. d4 *\n",
        read: &["game A-B * ok e2e4", "tag Site x", "game C-? * ok d2d4"],
    },
    Case {
        why: "single and typographic quotes are quotes",
        text: "[White 'A']\n[Black \u{201c}B\u{201d}]\n[Site \u{ab}x\u{bb}]\n[Event \"'y'\"]\n\n1. e4 *\n\n[White 'C']\n\n1. d4 *\n".as_bytes(),
        read: &["game A-B * ok e2e4", "tag Event 'y'", "tag Site x", "game C-? * ok d2d4"],
    },
    Case {
        why: "tags without quotes are read, and reported",
        text: b"[Event Casual Game]\n[White A]\n[Black \"B\"]\n[Opening Ruy Lopez]\n\n1. e4 *\n",
        read: &[
            "game A-B * ok e2e4",
            "tag Event Casual Game",
            "tag Opening Ruy Lopez",
            "problem unclosed-tag 1",
            "problem unclosed-tag 2",
            "problem unclosed-tag 4",
        ],
    },
    Case {
        why: "an empty pair of brackets among the tags is ignored",
        text: b"[White \"A\"]\n[]\n[ ]\n[Black \"B\"]\n[Site \"\"]\n\n1. e4 *\n",
        read: &["game A-B * ok e2e4", "problem invalid-tag 2", "problem invalid-tag 3"],
    },
    Case {
        why: "tag pairs on one line, and moves after them",
        text: b"[White \"A\"][Black \"B\"] [Site \"x \\\"y\\\" \\\\\"] 1. e4 e5 1-0 [White \"C\"] 1. d4 *",
        read: &["game A-B 1-0 ok e2e4 e7e5", "tag Site x \"y\" \\", "game C-? * ok d2d4"],
    },
    Case {
        why: "tag names are the same in letters of any case",
        text: b"[WHITE \"A\"]\n[black \"B\"]\n[termination \"Normal\"]\n[whiteelo \"x\"]\n\n1. e4 *\n",
        read: &["game A-B * ok e2e4", "tag Termination Normal", "tag WhiteElo x", "problem invalid-tag 4"],
    },
    Case {
        why: "a rating of zeros is unknown",
        text: ab!("[WhiteElo \"0000\"]\n[BlackElo \"2400\"]\n\n1. e4 *\n"),
        read: &["game A-B * ok e2e4", "tag BlackElo 2400"],
    },
    // -------- Bytes --------
    Case {
        why: "one byte that is not UTF-8 does not change the others",
        text: b"[White \"M\xc3\xbcller, Jos\xe9\"]\n[Black \"B\"]\n\n1. e4 {sch\xc3\xb6ner gr\xc3\xb6\xc3\x9fer \xe2\x80} *\n",
        read: &[
            "game M\u{fc}ller, Jos\u{e9}-B * ok e2e4",
            "comment 0.1 sch\u{f6}ner gr\u{f6}\u{df}er \u{fffd}",
            "problem invalid-text 1",
            "problem invalid-text 4",
        ],
    },
    Case {
        why: "Latin-1 with one name in UTF-8",
        text: b"[White \"M\xfcller\"]\n[Black \"Jos\xc3\xa9\"]\n\n1. e4 {sch\xf6n} *\n",
        read: &["game M\u{fc}ller-Jos\u{e9} * ok e2e4", "comment 0.1 sch\u{f6}n"],
    },
    Case {
        why: "Windows-1251 is read byte by byte, and reported once for the tags",
        text: b"[White \"\xca\xe0\xf0\xef\xee\xe2\"]\n[Black \"\xd2\xe0\xeb\xfc\"]\n\n1. e4 *\n",
        read: &[
            "game \u{ca}\u{e0}\u{f0}\u{ef}\u{ee}\u{e2}-\u{d2}\u{e0}\u{eb}\u{fc} * ok e2e4",
            "problem invalid-text 1",
        ],
    },
    Case {
        why: "control characters and tabs in names are kept",
        text: b"[White \"Ku\x8d\x90era\tA\"]\n[Black \"Jos\xc3\x82\xc2\x81 \xc2\x9f\"]\n\n1. e4 *\n",
        read: &["game Ku\u{8d}\u{90}era\tA-Jos\u{c2}\u{81} \u{9f} * ok e2e4", "problem invalid-text 1"],
    },
    Case {
        why: "a byte order mark in the middle begins nothing by itself",
        text: b"\xef\xbb\xbf[White \"A\"]\n[Black \"B\"]\n\n1. e4 \xef\xbb\xbf e5 *\n\n\xef\xbb\xbf[White \"C\"]\n\n1. d4 *\n",
        read: &["game A-B * ok e2e4 e7e5", "game C-? * ok d2d4"],
    },
    Case {
        why: "lines end in a carriage return alone",
        text: b"[White \"A\"]\r[Black \"B\"]\r\r1. e4 ; best\r1... e5 1-0 {end}\r\r[White \"C\"]\r\r1. d4 *\r",
        read: &[
            "game A-B 1-0 ok e2e4 e7e5",
            "comment 0.1 best",
            "comment 0.2 end",
            "game C-? * ok d2d4",
        ],
    },
    // -------- Text of other formats --------
    Case {
        why: "HTML writes signs as entities, of which the semicolon begins no comment",
        text: ab!("\n1. e4 e5 2. Nf3&excl; Nc6&quest;&#33; 3. Bb5&nbsp;a6 {x &amp; y} (3... Nf6&excl; 4. d3) 4. Ba4 &frac12;-&frac12;\n"),
        read: &[
            "game A-B 1/2-1/2 ok e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4",
            "comment 0.6 x &amp; y",
            "nag 0.3 1",
            "nag 0.4 6",
            "nag 1.6 1",
            "variation 0.5 g8f6 d2d3",
        ],
    },
    Case {
        why: "an entity that means nothing in movetext is reported",
        text: ab!("\n1. e4 &foo; e5 &amp; 2. d4 *\n"),
        read: &["game A-B * ok e2e4 e7e5 d2d4", "problem unknown-token 4", "problem unknown-token 4"],
    },
    Case {
        why: "a page of HTML with a game whose quotes are entities",
        text: b"<html><body><pre>\n[White &quot;A&quot;]\n[Black &quot;B&quot;]\n\n1. e4 e5 1-0\n</pre></body></html>\n",
        read: &["game A-B 1-0 ok e2e4 e7e5", "problem outside-text 1", "problem outside-text 6"],
    },
    Case {
        why: "square brackets after a move hold a variation or a comment; its number says which move a variation replaces",
        text: ab!("\n1. e4 e5 [2. d4 exd4 [2... d6] ] 2. Nf3 [better Bc4] Nc6 (2... d6 [2... Nf6 3. Nxe5] 3. d4) [%clk 0:01:00] *\n"),
        read: &[
            "game A-B * ok e2e4 e7e5 g1f3 b8c6",
            "comment 0.3 better Bc4",
            "clock 0.4 6000",
            "variation 0.2 d2d4 e5d4",
            "variation 1.3 d7d6",
            "variation 0.3 d7d6 d2d4",
            "variation 3.3 g8f6 f3e5",
        ],
    },
    Case {
        why: "variations that go on where a line ends are kept",
        text: ab!("\n1. e4 e5 (2. d4 exd4 (3. Qxd4)) *\n"),
        read: &["game A-B * ok e2e4 e7e5", "variation 0.2 d2d4 e5d4", "variation 1.4 d1d4"],
    },
    Case {
        why: "a square bracket that is not closed is a variation that is not closed",
        text: ab!("\n1. e4 e5 [2. d4 exd4 2. Nf3 *\n\n[White \"C\"]\n\n1. d4 *\n"),
        read: &["game A-B * truncated e2e4 e7e5", "game C-? * ok d2d4", "problem unclosed-variation 4"],
    },
    Case {
        why: "a blank line and brackets in a comment begin no game",
        text: ab!("\n1. e4 e5 {From the bulletin:\n\n[Diagram \"1\"]\n\nWhite to move.} 2. Nf3 Nc6 1-0\n"),
        read: &["game A-B 1-0 ok e2e4 e7e5 g1f3 b8c6", "comment 0.2 From the bulletin: [Diagram \"1\"] White to move."],
    },
    Case {
        why: "a comment with a whole game in it",
        text: ab!("\n1. e4 {Compare\n\n[White \"X\"]\n[Black \"Y\"]\n\n1. e4 c5 0-1\n\n} e5 1-0\n\n[White \"C\"]\n\n1. d4 {x} *\n"),
        read: &[
            "game A-B 1-0 ok e2e4 e7e5",
            "comment 0.1 Compare [White \"X\"] [Black \"Y\"] 1. e4 c5 0-1",
            "game C-? * ok d2d4",
            "comment 0.1 x",
        ],
    },
    Case {
        why: "a comment that is not closed ends with its game, even if the next has comments",
        text: ab!("\n1. e4 {open\n\n[White \"C\"]\n\n1. d4 {x} d5 {y} *\n"),
        read: &[
            "game A-B * truncated e2e4",
            "game C-? * ok d2d4 d7d5",
            "comment 0.1 x",
            "comment 0.2 y",
            "problem unclosed-comment 4",
        ],
    },
    Case {
        why: "braces within a comment that are closed one after the other belong to it",
        text: ab!("\n1. e4 {a {b} c} e5 {d {e} 2. Nf3 {f} *\n"),
        read: &[
            "game A-B * ok e2e4 e7e5 g1f3",
            "comment 0.1 a {b} c",
            "comment 0.2 d {e",
            "comment 0.3 f",
        ],
    },
    // -------- Brackets before the first move --------
    Case {
        why: "a variation in square brackets before the first move is none of the main line",
        text: ab!("\n[1. d4 d5] 1. e4 e5 *\n"),
        read: &["game A-B * ok e2e4 e7e5", "variation 0.0 d2d4 d7d5"],
    },
    Case {
        why: "a remark in square brackets before the first move, be its first word a move or a capital letter",
        text: ab!("\n[Nf3 is better]\n1. e4 *\n\n[White \"C\"]\n\n[From the bulletin] 1. d4 [see\nthere] *\n\n[White \"D\"]\n\n[Notes by himself]\n\n1. c4 *\n\n[White \"E\"]\n\n[see diagram]\n1. c4 *\n"),
        read: &[
            "game A-B * ok e2e4",
            "comment 0.0 Nf3 is better",
            "game C-? * ok d2d4",
            "comment 0.0 From the bulletin",
            "comment 0.1 see there",
            "game D-? * ok c2c4",
            "comment 0.0 Notes by himself",
            "game E-? * ok c2c4",
            "comment 0.0 see diagram",
        ],
    },
    Case {
        why: "a command before the first move",
        text: ab!("\n[%csl Ga1] {x}\n\n1. e4 *\n"),
        read: &["game A-B * ok e2e4", "comment 0.0 x", "command 0.0 csl Ga1"],
    },
    Case {
        why: "numbers in square brackets are a remark, in variations too; a glyph and a result are what they are",
        text: ab!("\n1. e4 [+0.3] e5 [!] (1... c5 [-12]) 2. Nf3 [$14] Nc6 [1/2-1/2]\n"),
        read: &[
            "game A-B 1/2-1/2 ok e2e4 e7e5 g1f3 b8c6",
            "comment 0.1 +0.3",
            "comment 1.2 -12",
            "nag 0.2 1",
            "nag 0.3 14",
            "variation 0.1 c7c5",
        ],
    },
    // -------- Comments and signs between tags --------
    Case {
        why: "a comment between blank lines in the middle of the tags; a line comment; one before an escape",
        text: b"[White \"A\"]\n\n{c}\n\n[Black \"B\"]\n[Result \"*\"]\n\n1. e4 *\n\n[White \"C\"]\n\n; c\n\n[Black \"D\"]\n{e}\n% esc\n[Result \"*\"]\n\n1. d4 *\n",
        read: &[
            "game A-B * ok e2e4",
            "comment 0.0 c",
            "game C-D * ok d2d4",
            "comment 0.0 c",
            "comment 0.0 e",
        ],
    },
    Case {
        why: "a comment between the tags of games without moves, where the tags are repeated",
        text: b"[White \"A\"]\n[Black \"B\"]\n[Result \"*\"]\n\n{c}\n\n[Site \"x\"]\n[White \"C\"]\n[Result \"*\"]\n\n*\n",
        read: &[
            "game A-B * ok",
            "comment 0.0 c",
            "game C-? * ok",
            "tag Site x",
            "problem missing-result 5",
        ],
    },
    Case {
        why: "stray signs after a tag are no end of the tags",
        text: b"[White \"A\"],\n[Black \"B\"] ]\n\n[Site \"x\"] .\n[Round \"1\"]\"\n\n1. e4 *\n",
        read: &["game A-B * ok e2e4", "tag Site x", "tag Round 1"],
    },
    // -------- Words and glyphs of annotators --------
    Case {
        why: "words for check, mate, a diagram and en passant right after a move",
        text: ab!("\n1. e4 e5D 2. Bc4 Nc6+- 3. Bxf7ch Kxf7 4. Qf3+ch Qf6 5. Qb3dis e. p. Kg6 6. Qe6 Nd4 7. Qxf6dblch gxf6 *\n"),
        read: &["game A-B * ok e2e4 e7e5 f1c4 b8c6 c4f7 e8f7 d1f3 d8f6 f3b3 f7g6 b3e6 c6d4 e6f6 g7f6"],
    },
    Case {
        why: "en passant as two words",
        text: ab!("\n1. e4 a6 2. e5 d5 3. exd6 e. p. exd6 (3... cxd6ch e. p. 4. d4mate) *\n"),
        read: &[
            "game A-B * ok e2e4 a7a6 e4e5 d7d5 e5d6 e7d6",
            "variation 0.5 c7d6 d2d4",
        ],
    },
    // -------- Start positions --------
    Case {
        why: "a game whose start position is refused keeps its comments and arrows",
        text: ab!("[FEN \"8/p7/1p6/3p4/4p3/5p2/5p1p/8 w - - 0 1\"]\n\n{An explanation [%csl Ga7,Gb6] of chains} 1. e4 {x [%clk 0:01:00]} * {end}\n"),
        read: &[
            "game A-B * skipped",
            "tag FEN 8/p7/1p6/3p4/4p3/5p2/5p1p/8 w - - 0 1",
            "comment 0.0 An explanation of chains",
            "comment 0.0 x",
            "comment 0.0 end",
            "command 0.0 csl Ga7,Gb6",
            "command 0.0 clk 0:01:00",
            "problem invalid-fen 3",
        ],
    },
    // -------- Games without tags --------
    Case {
        why: "moves on a page with their numbers are a game",
        text: b"<html><body><h1>Games</h1>\n<pre>\n1. e4 e5 2. Nf3 *\n</pre></body></html>\n",
        read: &["game ?-? * ok e2e4 e7e5 g1f3", "problem outside-text 1", "problem outside-text 4"],
    },
    Case {
        why: "a move alone, and moves without numbers, are games; a move in prose is none",
        text: b"e4\n\n[White \"A\"]\n\n*\n\nWe play e4 here.\n\n[White \"B\"]\n\n*\n\nd4 {so} d5\n",
        read: &[
            "game ?-? * ok e2e4",
            "game A-? * ok",
            "game B-? * ok",
            "game ?-? * ok d2d4 d7d5",
            "comment 0.1 so",
            "problem missing-result 1",
            "problem outside-text 7",
            "problem missing-result 13",
        ],
    },
    Case {
        why: "descriptive notation is not read, and is not passed over",
        text: b"[White \"A\"]\n\n1. e4 *\n\n1. P-K4 P-K4 2. Kt-KB3 1-0\n",
        read: &["game A-? * ok e2e4", "game ?-? 1-0 truncated", "problem unreadable-move 5"],
    },
    Case {
        why: "more than 16 pieces of one side can be played on, and are reported",
        text: ab!("[FEN \"B1B1B3/1B1B1Bk1/B1B1B3/1B1B1BKP/B1B1B2P/1B1B1B1P/B1B1B1BP/1B1B1B2 b - - 0 1\"]\n\n{Is it lost?} 1... Kf8 2. h6 *\n"),
        read: &[
            "game A-B * ok g7f8 h5h6",
            "tag FEN B1B1B3/1B1B1Bk1/B1B1B3/1B1B1BKP/B1B1B2P/1B1B1B1P/B1B1B1BP/1B1B1B2 b - - 0 1",
            "comment 0.0 Is it lost?",
            "problem many-pieces 3",
        ],
    },
];

/// A file in a named encoding gives the same games as in UTF-8; `verify` and a second run know its encoding.
#[test]
fn files_in_other_encodings_are_read_as_utf_8() {
    let text = "[White \"\u{41a}\u{430}\u{440}\u{43f}\u{43e}\u{432}\"]\n\n1. e4 {\u{448}\u{430}\u{445}} *\n";
    let cyrillic: Vec<u8> = text
        .chars()
        .map(|letter| u8::try_from(u32::from(letter)).unwrap_or_else(|_| (u32::from(letter) - 0x350) as u8))
        .collect();
    let utf_16: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    // A byte order mark overrides the named encoding.
    let marked: Vec<u8> = format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    // In GBK, the second byte of a character may have the value of a bracket.
    let gbk = b"[White \"\x81]\x81\x7d\"]\n\n1. e4 {\x81\x7d} *\n";
    let files: [(&str, &[u8], &str); 6] = [
        ("windows-1251", &cyrillic, "\u{41a}\u{430}\u{440}\u{43f}\u{43e}\u{432}"),
        ("utf-16be", &utf_16, "\u{41a}\u{430}\u{440}\u{43f}\u{43e}\u{432}"),
        (
            "windows-1251",
            text.as_bytes(),
            "\u{420}\u{459}\u{420}\u{b0}\u{421}\u{402}\u{420}\u{457}\u{420}\u{455}\u{420}\u{406}",
        ),
        ("utf-16le", &marked, "\u{41a}\u{430}\u{440}\u{43f}\u{43e}\u{432}"),
        ("windows-1251", &marked, "\u{41a}\u{430}\u{440}\u{43f}\u{43e}\u{432}"),
        ("gbk", gbk, "\u{4e5a}\u{4e87}"),
    ];
    for (label, bytes, white) in files {
        let place = directory();
        let (input, target) = (place.path().join("in.pgn"), place.path().join("out.db"));
        fs::write(&input, bytes).expect("written");
        let options = IndexOptions { encoding: TextEncoding::parse(label), ..options() };
        assert!(options.encoding.is_some(), "{label}");
        let summary = run(&target, &[&input], &options).expect("indexed");
        assert_eq!(lines(&open(&target), "SELECT white FROM games"), [white], "{label}");
        assert_eq!(problems(&open(&target), 1), Vec::<String>::new(), "{label}");
        assert_sound(&target, &summary);
        let report = verify(
            &target,
            &VerifyOptions { sample: Sample::All, ..VerifyOptions::default() },
            &Progress::default(),
        )
        .expect("verified");
        assert_eq!((report.findings.total(), report.sources_same), (0, 1), "{label}: {:?}", report.findings);
        let again = run(&target, &[&input], &options).expect("indexed again");
        assert_eq!((again.games, again.known_sources), (0, 1), "{label}");
    }
}
