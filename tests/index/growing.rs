//! A file that grows gives the same database as when it is read at once, wherever it was cut off.

use std::fs;
use std::path::{Path, PathBuf};

use pgndex::index::{Duplicates, IndexOptions, OnProblem};
use pgndex::verify::{Sample, VerifyOptions, verify};
use rayon::prelude::*;
use tempfile::TempDir;

use crate::index::adding::{BY_OFFSET, assert_equal, assert_whole};
use crate::support::*;

const SICILIAN: &str = "1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6 6. Be3 e5 7. Nb3 Be6 8. f3 Be7 9. Qd2 O-O \
                        10. O-O-O Nbd7 11. g4 b5";

/// Texts, each with the length of its first game. The texts are cut only after this game.
fn texts() -> Vec<(String, usize)> {
    let tags =
        |white: &str| format!("[Event \"a\"]\n[White \"{white}\"]\n[Black \"B\"]\n[Date \"2020.01.01\"]\n");
    let game = |white: &str, moves: &str| format!("{}\n{moves}\n\n", tags(white));
    let first = game("W", &format!("{SICILIAN} 1-0"));
    let pieces = [
        // Two games with errors: one keeps some moves, the other none.
        vec![game("X", "1. e4 e5 2. Ke3 Nf6 1-0"), game("Y", "1. e5 {no move} e5 0-1")],
        // Duplicates: one with other players, one with the same.
        vec![game("Z", &format!("{SICILIAN} 1-0")), game("W", &format!("{SICILIAN} 1-0"))],
        // The first game is a prefix of the second; the second has an error and ends there.
        vec![game("W", &format!("{SICILIAN} 12. h4 0-1")), game("W", &format!("{SICILIAN} 12. h4 Ke2 0-1"))],
        // A game of an unsupported variant; and castling that becomes castling to the other side when it is cut.
        vec![
            game("V", "1. e4 *").replace("[Black", "[Variant \"Atomic\"]\n[Black"),
            game("X", "1. d4 d5 2. Nc3 Nc6 3. Bf4 Bf5 4. Qd2 Qd7 5. O-O-O O-O-O 6. Ra1 *"),
        ],
        // Lines with several games, tag pairs within lines, no tags, no results, comments and variations.
        vec![
            "1. e4 Ke4 1-0 1. d4 d5 0-1\n\n1. c4 {x} Kc5 1/2-1/2 [Event \"b\"]\n[White \"W\"]\n1. f4 (1. f3 {y}) e5".to_owned(),
            "\r\n\r\n[Event \"c\"]\r\n\r\n1. g4 $1 e5 (1... d5 2. x) 2. Kh9 hello".to_owned(),
        ],
        // Every kind of annotation.
        vec![ANNOTATED.to_owned()],
    ];
    pieces.into_iter().map(|pieces| (first.clone() + &pieces.concat(), first.len())).collect()
}

fn all_options() -> Vec<IndexOptions> {
    let rules = [Duplicates::Keep, Duplicates::Skip, Duplicates::Moves];
    let with = |on_problem| {
        rules.map(|duplicates| IndexOptions {
            on_problem,
            duplicates,
            continuation_threshold: 2,
            threads: 1,
            ..options()
        })
    };
    [OnProblem::Keep, OnProblem::Skip].into_iter().flat_map(with).collect()
}

/// Queries for rows about the file, but not for its games. Byte offsets identify the rows.
const FILE_ROWS: [&str; 3] = [
    "SELECT byte_offset, line, column_number, game_number, game_id IS NULL, ply, token, kind, severity, message
     FROM problem ORDER BY 1, game_number, kind",
    "SELECT d.byte_offset, d.byte_length, line, game_number, kind, d.game_id IS NULL, g.byte_offset
     FROM duplicate AS d JOIN game AS g ON g.game_id = original_id ORDER BY 1",
    "SELECT sum(games), sum(plies), sum(problems), sum(duplicates), max(last_game) FROM source",
];

/// A growing file, and the database to which it is added.
struct Growth {
    directory: TempDir,
}

impl Growth {
    fn new() -> Self {
        Self { directory: directory_for(0) }
    }

    fn file(&self) -> PathBuf {
        self.directory.path().join("in.pgn")
    }

    fn database(&self) -> PathBuf {
        self.directory.path().join("out.db")
    }

    fn add(&self, text: impl AsRef<[u8]>, options: &IndexOptions) {
        fs::write(self.file(), text).expect("written");
        run(&self.database(), &[self.file()], options).expect("indexed");
    }

    /// Verifies the whole database, and compares it with its source.
    fn assert_sound(&self, what: &str) {
        let options = VerifyOptions { sample: Sample::All, threads: 1, ..VerifyOptions::default() };
        let report =
            verify(&self.database(), &options, &pgndex::verify::Progress::default()).expect("verified");
        assert!(report.is_sound() && report.sources_other == 0, "{what}: {report:#?}");
    }

    /// Asserts that the database equals one that was made of the text at once.
    fn assert_like(&self, once: &Path, what: &str) {
        println!("{what}");
        assert_whole(&self.database());
        assert_equal(&self.database(), once, &BY_OFFSET);
        assert_equal(&self.database(), once, &FILE_ROWS);
    }
}

/// Cuts each text at every `step`th byte after its first game, and lets it grow to its end, at once or in two steps.
fn check_cuts(step: usize) {
    let options_count = all_options().len();
    texts().into_par_iter().enumerate().for_each(|(number, (text, first))| {
        all_options().into_par_iter().enumerate().for_each(|(round, options)| {
            let once = Growth::new();
            once.add(&text, &options);
            // A cut may divide the bytes of a character.
            let text = text.as_bytes();
            let first = first + (number + round * step / options_count) % step;
            for (index, cut) in (first..text.len()).step_by(step).enumerate() {
                let growth = Growth::new();
                growth.add(&text[..cut], &options);
                let next = cut + (text.len() - cut) * (index % 4) / 4;
                if next > cut {
                    growth.add(&text[..next], &options);
                }
                growth.add(text, &options);
                let what = format!(
                    "text {number}, {:?}, {:?}, cut at {cut} and {next}",
                    options.on_problem, options.duplicates
                );
                growth.assert_like(&once.database(), &what);
                if index % 8 == number {
                    growth.assert_sound(&what);
                }
            }
        });
    });
}

#[test]
fn cut_at_some_bytes() {
    check_cuts(797);
}

/// With each of the six sets of options, texts are cut at every twelfth byte, two bytes after the cuts of the previous
/// set.
#[test]
#[ignore = "takes minutes"]
fn cut_at_every_second_byte() {
    check_cuts(12);
}

const TAGS: &str = "[Event \"a\"]\n[White \"W\"]\n[Black \"B\"]\n[Date \"2020.01.01\"]\n\n";

fn skipping() -> IndexOptions {
    IndexOptions { on_problem: OnProblem::Skip, ..options() }
}

/// The offset and the number of plies of each game.
const GAMES_AT: &str = "SELECT byte_offset, ply_count FROM game ORDER BY 1";
const PROBLEMS_AT: &str = "SELECT game_number, byte_offset, kind FROM problem ORDER BY 1, 2";

#[test]
fn a_skipped_game_is_read_again_with_other_options() {
    let growth = Growth::new();
    let bad = format!("{TAGS}1. e4 Ke4 1-0\n\n");
    let (text, at) = (bad.repeat(3), bad.len());
    growth.add(&text[..text.len() - 6], &skipping());
    assert_eq!(lines(&open(&growth.database()), GAMES_AT), Vec::<String>::new());
    growth.add(format!("{text}{TAGS}1. d4 d5 *\n"), &options());
    // The new options apply only to the last of the skipped games, which was cut off.
    let database = open(&growth.database());
    assert_eq!(lines(&database, GAMES_AT), [format!("{}|1", 2 * at), format!("{}|2", 3 * at)]);
    let problems = (1..=3).map(|number| format!("{number}|{}|illegal-move", number * at - 9));
    assert_eq!(lines(&database, PROBLEMS_AT), problems.collect::<Vec<_>>());
    // The same with the options exchanged.
    let growth = Growth::new();
    growth.add(&text[..text.len() - 6], &options());
    growth.add(format!("{text}{TAGS}1. d4 d5 *\n"), &skipping());
    let database = open(&growth.database());
    let kept = ["0|1".to_owned(), format!("{at}|1"), format!("{}|2", 3 * at)];
    assert_eq!(lines(&database, GAMES_AT), kept);
    assert_eq!(lines(&database, "SELECT game_id IS NULL FROM problem ORDER BY byte_offset"), ["0", "0", "1"]);
    growth.assert_sound("both");
}

#[test]
fn text_without_a_game_may_become_one() {
    for (number, (begin, more, games)) in [
        ("Dear Sir\n\n1. e", "4 e5 *\n", "[\"10|2\"]"),
        ("\u{feff}[Eve", "nt \"a\"]\n\n1. e4 *\n", "[\"3|1\"]"),
        // A text that was a game may turn out not to be one.
        ("1. d4 *\n\n1. e4", "xyz\n\n[Event \"a\"]\n\n1. c4 *\n", "[\"0|1\", \"19|1\"]"),
    ]
    .into_iter()
    .enumerate()
    {
        // Each text with every second set of options.
        for options in all_options().into_iter().skip(number % 2).step_by(2) {
            let growth = Growth::new();
            growth.add(begin, &options);
            growth.add(format!("{begin}{more}"), &options);
            let once = Growth::new();
            let text = format!("{begin}{more}[Event \"b\"]\n\n1. h4 Kh5 *\n");
            once.add(&text, &options);
            assert_eq!(format!("{:?}", lines(&open(&growth.database()), GAMES_AT)), games);
            growth.add(&text, &options);
            growth.assert_like(&once.database(), begin);
        }
    }
}

#[test]
fn rows_of_a_replaced_text_stay() {
    for options in all_options() {
        let growth = Growth::new();
        growth.add(format!("{TAGS}1. a4 *\n\n{TAGS}1. b4 *\n"), &options);
        // The text of the file is replaced. If games with problems are skipped, the first run with the new text adds no
        // game.
        let text = format!("{TAGS}1. c4 Kc5\n2. c5 1-0\n\n{TAGS}1. d4 *\n");
        growth.add(&text[..text.len() - 88], &options);
        growth.add(&text, &options);
        let once = Growth::new();
        once.add(&text, &options);
        let database = open(&growth.database());
        assert_eq!(lines(&database, PROBLEMS_AT), lines(&open(&once.database()), PROBLEMS_AT));
        assert_eq!(
            number(&database, "SELECT count(*) FROM game") - 2,
            number(&open(&once.database()), "SELECT count(*) FROM game")
        );
        // The first text again, longer: it is not a growth of the text that was read last.
        growth.add(format!("{TAGS}1. a4 *\n\n{TAGS}1. b4 b5 *\n"), &options);
        assert_whole(&growth.database());
        let skipped = u64::from(options.duplicates != Duplicates::Keep);
        assert_eq!(
            number(&open(&growth.database()), "SELECT games FROM source ORDER BY source_id DESC"),
            2 - skipped
        );
    }
}

#[test]
fn a_failed_strict_run_keeps_the_last_game() {
    for options in all_options() {
        let growth = Growth::new();
        let text = format!("{TAGS}1. e4 e5 1-0\n\n{TAGS}1. d4 d5 2. Kd3 *\n\n{TAGS}1. c4 *\n");
        growth.add(&text[..text.len() - 100], &options);
        let before = fs::read(growth.database()).expect("read");
        fs::write(growth.file(), &text).expect("written");
        let strict = IndexOptions { strict: true, ..options.clone() };
        run(&growth.database(), &[growth.file()], &strict).expect_err("an illegal move");
        assert!(before[100..] == fs::read(growth.database()).expect("read")[100..]);
        growth.add(&text, &options);
        let once = Growth::new();
        once.add(&text, &options);
        growth.assert_like(&once.database(), "strict");
    }
}

/// A damaged line before the first tag pair of a game is a problem of the game.
#[test]
fn a_game_after_a_damaged_line_grows() {
    for options in all_options() {
        let growth = Growth::new();
        let text = "Event \"x\"]\n[White \"A\"]\n[Black \"B\"]\n\n1. e4 e5 *\n";
        growth.add(&text[..text.len() - 6], &options);
        growth.add(text, &options);
        growth.assert_sound("after a damaged line");
    }
}

/// The original of a duplicate and of a prefix is skipped when its file grows, because it then has an error.
#[test]
fn duplicates_of_a_skipped_game() {
    let directory = directory();
    let path = |name: &str| directory.path().join(name);
    let with = |moves: &str| format!("{TAGS}{moves}");
    fs::write(path("cut.pgn"), with(&format!("{SICILIAN} 12. h4"))).expect("written");
    fs::write(path("same.pgn"), with(&format!("{SICILIAN} 12. h4 *"))).expect("written");
    fs::write(path("short.pgn"), with(&format!("{SICILIAN} *"))).expect("written");
    fs::write(path("long.pgn"), with(&format!("{SICILIAN} 12. a4 *"))).expect("written");
    let target = path("out.db");
    let options = IndexOptions { duplicates: Duplicates::Skip, ..skipping() };
    let all = ["cut.pgn", "same.pgn", "short.pgn", "long.pgn"].map(path);
    run(&target, &all, &options).expect("indexed");
    let reported = "SELECT source_id, kind, game_id, original_id FROM duplicate ORDER BY 1";
    assert_eq!(lines(&open(&target), reported), ["2|same|-|1", "3|prefix|2|1"]);
    fs::write(path("cut.pgn"), with(&format!("{SICILIAN} 12. h4 Ke3 0-1\n"))).expect("written");
    run(&target, &all, &options).expect("added");
    assert_whole(&target);
    assert_eq!(lines(&open(&target), reported), ["2|cut|-|-", "3|prefix|2|3"]);
}

#[test]
fn ids_are_the_same_through_sql() {
    let (text, from) = texts().remove(0);
    let tables = [
        "game",
        "game_position",
        "occurrence",
        "(SELECT level FROM occurrence_level)",
        "visited_position",
        "continuation",
        "visit_set",
        "game_column",
        "problem",
        "duplicate",
        "tag",
    ];
    let queries = tables.map(|table| format!("SELECT * FROM {table}"));
    for cut in [from + 20, from + 110, text.len() - 60, text.len() - 20] {
        let [direct, sql] = [false, true].map(|through_sql| {
            let growth = Growth::new();
            let options = IndexOptions { continuation_threshold: 2, ..options() };
            growth.add(&text[..cut], &options);
            if through_sql {
                write_through_sql(&growth.database());
            }
            growth.add(&text, &options);
            growth
        });
        assert_equal(&direct.database(), &sql.database(), &queries.each_ref().map(String::as_str));
        assert!(number(&open(&direct.database()), "SELECT count(*) FROM problem") > 1);
    }
}

/// The last game of a file was cut off, and its whole text is a duplicate: the run removes the game and adds none. Its id
/// is not used again, because a level still has its positions.
#[test]
fn the_id_of_a_game_that_is_read_again_is_not_reused() {
    let directory = directory();
    let game = |round: u32, moves: &str| format!("[White \"a{round}\"]\n[Black \"b\"]\n\n{moves}\n\n");
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs::write(&path, text).expect("written");
        path
    };
    let target = directory.path().join("games.db");
    let options = IndexOptions { duplicates: Duplicates::Skip, continuation_threshold: 1, ..options() };
    let many: String = (1..9).map(|round| game(round, "1. d4 d5 2. c4 1-0")).collect();
    let whole = game(9, "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1-0");
    let (first, cut) = (file("first.pgn", &(many + &whole)), game(9, "1. e4 e5 2. Nf3"));
    let growing = file("growing.pgn", cut.trim_end());
    run(&target, &[first, growing.clone()], &options).expect("indexed");
    let last = "SELECT max(game_id) FROM game";
    assert_eq!(number(&open(&target), last), 10);
    fs::write(&growing, &whole).expect("written");
    run(&target, &[growing], &options).expect("added");
    assert_eq!(number(&open(&target), last), 9);
    assert_eq!(number(&open(&target), "SELECT game_id FROM deleted_game"), 10);
    run(&target, &[file("new.pgn", &game(11, "1. c4 1-0"))], &options).expect("added");
    assert_eq!(number(&open(&target), last), 11);
    let report = verify(&target, &VerifyOptions::default(), &pgndex::verify::Progress::default());
    let report = report.expect("verified");
    assert!(report.is_sound(), "{report:#?}");
}
