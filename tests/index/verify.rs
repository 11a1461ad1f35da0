//! A sound database has no findings; damage of every kind is found and located.

use std::fs;
use std::io::{Cursor, Write as _};
use std::path::PathBuf;
use std::process::Command;

use pgndex::index::{Duplicates, IndexOptions, Progress as IndexProgress, index};
use pgndex::verify::{
    Error, Finding, FindingKind, Progress, Report, Sample, SourceState, VerifyOptions, verify,
};
use rusqlite::Connection;

use crate::needs::{part_of_corpus, shared};
use crate::support::{defaults, execute_without_constraints, synthetic};

const GAMES: &str = include_str!("../../examples/famous-games.pgn");
/// A skipped game, a truncated one, set-ups, Chess960, null moves, and mate.
const ODD: &str = "\
[Event \"a\"]\n[Variant \"Atomic\"]\n\n1. e4 e5 *\n\n\
[Event \"b\"]\n[FEN \"no position\"]\n\n1. e4 *\n\n\
[Event \"c\"]\n\n1. e4 e5 2. Ke3 Nf6 1-0\n\n\
[Event \"d\"]\n[FEN \"4k3/8/8/8/4Pp2/8/8/4K3 b - e3 0 40\"]\n\n40... fxe3 41. Ke2 0-1\n\n\
[Event \"e\"]\n[Variant \"Chess960\"]\n[FEN \"1rk2r2/8/8/8/8/8/8/1RK2R2 w FBfb - 0 1\"]\n\n1. O-O-O O-O 1-0\n\n\
[Event \"f\"]\n[Annotator \"somebody\"]\n\n1. -- e5 2. f3 Qg5 3. g4 d5 4. a3 Qh4# 0-1\n\n\
[Event \"g\"]\n\n*\n\n1. f3 e5 2. g4 Qh4# 0-1\n";

/// A game with two warnings, a game with an illegal move, a game whose first tag is damaged, and text outside games.
const BROKEN: &str = "\
[Event \"a\"]\n\n1. e4 e5\n2. Nf3 ??what @ 1-0\n\n\
[Event \"b\"]\n\n1. e4 e5\n2. Nf3 Ke3 1-0\n\n\
[Eve(t \"c\"]\n[Site \"s\"]\n\n1. d4 Qd4 1-0\n\nnot a game\n";

pub(crate) struct Workspace(pub(crate) tempfile::TempDir);

impl Workspace {
    /// The database of a text, with continuations for positions that at least `threshold` games reached.
    pub(crate) fn new(text: impl AsRef<[u8]>, threshold: u32) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::write(place.source(), text).unwrap();
        place.index(IndexOptions { continuation_threshold: threshold, ..defaults() });
        place
    }

    pub(crate) fn index(&self, options: IndexOptions) {
        let options = IndexOptions { threads: 2, memory: 64 << 20, overwrite: true, ..options };
        index(&self.database(), &[self.source()], &options, &IndexProgress::default()).unwrap();
    }

    pub(crate) fn source(&self) -> PathBuf {
        self.0.path().join("in.pgn")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.0.path().join("out.db")
    }

    pub(crate) fn damage(&self, sql: &str) {
        let connection = Connection::open(self.database()).unwrap();
        // Views use `exp`, which this SQLite does not have.
        pgndex::functions::register(&connection).unwrap();
        execute_without_constraints(&connection, sql).unwrap();
    }

    pub(crate) fn number(&self, sql: &str) -> i64 {
        Connection::open(self.database()).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    pub(crate) fn verify(&self, sample: Sample) -> Report {
        let options = VerifyOptions { sample, limit: 1000, threads: 3, sources: true };
        verify(&self.database(), &options, &Progress::default()).unwrap()
    }

    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pgndex"));
        let output = command.current_dir(self.0.path()).arg("verify").args(arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().expect("an exit status"), text(output.stdout), text(output.stderr))
    }
}

fn lines(report: &Report) -> Vec<String> {
    report.findings.first.iter().map(|found| format!("{} {found}", found.kind.as_str())).collect()
}

pub(crate) fn sound(place: &Workspace, sample: Sample) -> Report {
    let report = place.verify(sample);
    assert!(report.is_sound(), "{:#?}", lines(&report));
    report
}

#[test]
fn a_sound_database_has_no_findings_and_is_not_changed() {
    for (text, threshold) in [(GAMES, 3), (ODD, 1), ("", 64)] {
        let place = Workspace::new(text, threshold);
        let state = || {
            let metadata = fs::metadata(place.database()).unwrap();
            (fs::read(place.database()).unwrap(), metadata.modified().unwrap())
        };
        let before = state();
        let report = sound(&place, Sample::All);
        assert_eq!(report.games.cast_signed(), place.number("SELECT count(*) FROM game"));
        assert_eq!(report.positions.cast_signed(), place.number("SELECT count(*) FROM game_position"));
        assert_eq!((report.replayed_games, report.reread_games), (report.games, report.games));
        assert_eq!(
            report.replayed_plies.cast_signed(),
            place.number("SELECT ifnull(sum(ply_count), 0) FROM game")
        );
        assert_eq!(
            report.visited_positions.cast_signed(),
            place.number("SELECT count(*) FROM visited_position")
        );
        assert_eq!((report.sources_same, report.sources_other), (1, 0));
        let report = sound(&place, Sample::Some(5));
        assert_eq!(report.replayed_games, report.games.min(5));
        assert_eq!(sound(&place, Sample::Some(0)).replayed_games, 0);
        assert!(state() == before, "the database was written to");
        assert_eq!(fs::read_dir(place.0.path()).unwrap().count(), 2, "a file is left behind");
    }
}

#[test]
fn databases_of_any_threshold_are_sound() {
    let place = Workspace::new(synthetic(250), 2);
    sound(&place, Sample::All);
    for continuation_threshold in [5, 1] {
        place.index(IndexOptions { continuation_threshold, ..defaults() });
        sound(&place, Sample::All);
    }
    let long = "Nf3 Nf6 Ng1 Ng8 ".repeat(17_000);
    sound(&Workspace::new(format!("[Result \"1-0\"]\n\n{long} e4 1-0\n\n1. Nf3 *\n"), 2), Sample::All);
}

#[test]
fn databases_with_added_games_are_sound() {
    let place = Workspace(tempfile::tempdir().unwrap());
    let options = IndexOptions { threads: 2, continuation_threshold: 2, ..defaults() };
    let add = |text: &str| {
        fs::write(place.source(), text).unwrap();
        index(&place.database(), &[place.source()], &options, &IndexProgress::default()).unwrap();
        sound(&place, Sample::All)
    };
    // The text ends in the middle of a game, or in the middle of a name. This game is read again later. Then the
    // beginning of the name is not a player's name any more.
    let end = GAMES.find("1. e4").unwrap() + 300;
    let name = GAMES[end..].find("[White \"").unwrap() + end + 11;
    for end in [end, name, GAMES.len() / 2, GAMES.len()] {
        let report = add(&GAMES[..end]);
        assert_eq!((report.reread_games, report.sources_other), (report.games, 0));
    }
    assert!(place.number("SELECT max(game_id) - count(*) FROM game") > 0);
    let report = add(ODD);
    assert_eq!((report.games, report.reread_games, report.sources_other), (61, 8, 4));
    place.damage("DELETE FROM game WHERE game_id = 30");
    assert!(!place.verify(Sample::Some(0)).is_sound());
}

/// Verifies the databases of the first `most` bytes of each collection.
fn check_collections(most: usize) {
    let Some(corpora) = shared("corpora") else { return };
    for corpus in fs::read_dir(corpora).unwrap().map(|entry| entry.unwrap().file_name()) {
        let Some(name) = corpus.to_str().and_then(|name| name.strip_suffix(".pgn.zst")) else { continue };
        let Some(text) = part_of_corpus(name, most) else { return };
        sound(&Workspace::new(text, 8), Sample::All);
    }
}

#[test]
fn databases_of_some_real_games_are_sound() {
    check_collections(60_000);
}

#[test]
#[ignore = "takes ten seconds"]
fn databases_of_many_real_games_are_sound() {
    check_collections(1 << 20);
}

/// SQL that damages the database of [`GAMES`] with continuations of positions that 3 games reached, and the findings
/// that it must cause.
const DAMAGE: &[(&str, &[&str])] = &[
    (
        "UPDATE game_position SET fen = replace(fen, 'k', 'q') WHERE game_id = 7 AND ply = 12",
        &["wrong-value game_position game_id 7, ply 12: fen is "],
    ),
    (
        "UPDATE game_position SET key = key + 1 WHERE game_id = 52 AND ply = 20",
        &[
            "missing-row position_game key ",
            "surplus-row position_game key ",
            "wrong-value game_position game_id 52, ply 20: key is ",
        ],
    ),
    (
        "UPDATE game_position SET halfmove_clock = 99 WHERE game_id = 2 AND ply = 3",
        &["wrong-value game_position game_id 2, ply 3: halfmove_clock is 99, expected "],
    ),
    (
        "UPDATE game_position SET move_code = move_code + 256 WHERE game_id = 2 AND ply = 25",
        &["wrong-value game_position game_id 2, ply 25: move_code is "],
    ),
    (
        "UPDATE game_position SET move_code = move_code | 1 << 28 WHERE game_id = 2 AND ply = 24",
        &["wrong-value game_position game_id 2, ply 24: move_code is "],
    ),
    (
        "UPDATE game_position SET move_code = 1 << 40 WHERE game_id = 2 AND ply = 24",
        &["wrong-value game_position game_id 2, ply 24: move_code is 1099511627776, expected "],
    ),
    (
        "UPDATE game_position SET move_code = NULL WHERE game_id = 2 AND ply = 24",
        &["wrong-value game_position game_id 2, ply 24: move_code is NULL, expected "],
    ),
    (
        "UPDATE game_position SET move_code = 0 WHERE game_id = 2 AND move_code IS NULL",
        &["wrong-value game_position game_id 2, ply "],
    ),
    (
        "UPDATE game_position SET key = 'x' WHERE game_id = 2 AND ply = 24",
        &[
            "integrity file: non-INTEGER value in game_position.key",
            "surplus-row position_game key ",
            "wrong-value game_position game_id 2, ply 24: key is 'x', expected a whole number",
            "wrong-value game_position game_id 2, ply 24: key is 0, expected ",
        ],
    ),
    (
        "DELETE FROM game_position WHERE game_id = 9 AND ply = 30",
        &[
            "missing-row game_position game_id 9, ply 30: the row is missing",
            "surplus-row position_game key ",
            "wrong-count import import_id 1: positions is ",
        ],
    ),
    (
        "DELETE FROM game_position WHERE game_id = 9 AND ply >= 30",
        &[
            "missing-row game_position game_id 9: the rows for plies 30 to ",
            "surplus-row position_game key ",
            "wrong-count import import_id 1: positions is ",
        ],
    ),
    (
        "DELETE FROM occurrence WHERE game_id = 9 AND ply = 30",
        &[
            "missing-row position_game key ",
            "wrong-count import import_id 1: distinct_positions is ",
        ],
    ),
    (
        "UPDATE occurrence SET level = 7 WHERE game_id = 9 AND ply = 30",
        &[
            "missing-row occurrence_level level 7: the row is missing, so queries do not find the rows of this level in occurrence",
            "missing-row position_game key ",
            "wrong-count import import_id 1: distinct_positions is ",
        ],
    ),
    (
        "INSERT INTO occurrence_level (level) VALUES (1000); UPDATE occurrence SET level = 1000 WHERE game_id = 9 AND ply = 30",
        &["wrong-value occurrence key "],
    ),
    (
        "INSERT INTO deleted_game VALUES (9)",
        &[
            "missing-row position_game key ",
            "surplus-row deleted_game game_id 9: the game exists, so it must not be listed here",
            "wrong-count import import_id 1: distinct_positions is ",
            "wrong-count setting name 'last_game': value is NULL, expected at least 9",
        ],
    ),
    (
        "INSERT INTO occurrence VALUES (1, 5, 9, 30)",
        &[
            "surplus-row position_game key 5, game_id 9, ply 30: game_position has the key ",
            "wrong-count import import_id 1: distinct_positions is ",
        ],
    ),
    (
        "UPDATE game SET ply_count = ply_count + 1 WHERE game_id = 4",
        &[
            "wrong-count game game_id 4: ply_count is ",
        ],
    ),
    (
        "UPDATE game SET moves_hash = 1 WHERE game_id = 4",
        &["wrong-value game game_id 4: moves_hash is 1, expected "],
    ),
    (
        "UPDATE game SET prefix_hash = prefix_hash + 1 WHERE game_id = 4",
        &["wrong-value game game_id 4: prefix_hash is "],
    ),
    (
        "UPDATE game SET prefix_hash = NULL WHERE game_id = 4",
        &["wrong-value game game_id 4: prefix_hash is NULL, expected "],
    ),
    (
        "UPDATE player SET name = 'Nobody' WHERE player_id = 6",
        &[
            "source-text game game_id 4: white_id is the id of 'Nobody', expected the id of '",
            "wrong-value game game_id 4: prefix_hash is ",
        ],
    ),
    (
        "UPDATE game SET status = 'skipped' WHERE game_id = 4",
        &[
            "source-text game game_id 4: status is skipped, expected ok",
            "wrong-value game game_id 4: status is 'skipped', expected ",
        ],
    ),
    (
        "UPDATE game SET black_elo = 70000 WHERE game_id = 4",
        &[
            "source-text game game_id 4: black_elo is 70000, expected ",
            "wrong-value game game_id 4: the row violates CHECK (black_elo BETWEEN 0 AND 65535)",
            "wrong-count level_continuation level 1, key ",
            "wrong-count level_position level 1, key ",
        ],
    ),
    (
        "UPDATE game SET start_fen = 'x' WHERE game_id = 4",
        &[
            "source-text game game_id 4: start_fen is x, expected NULL",
            "wrong-value game game_id 4: start_fen is x, expected a legal position",
        ],
    ),
    (
        "UPDATE game SET white_id = 999 WHERE game_id = 4",
        &[
            "surplus-row player player_id 6: no game has this name",
            "dangling-link game game_id 4: white_id is 999, but `player` has no such row",
            "source-text game game_id 4: white_id is NULL, expected ",
        ],
    ),
    (
        "DELETE FROM game WHERE game_id = 4",
        &[
            "dangling-link game_position game_id 4, ply 0: game_id is 4, but `game` has no such row",
            "missing-row game game_id 4: the row is missing",
            "surplus-row level_continuation level 1, key ",
            "surplus-row event event_id 4: no game has this name",
            "surplus-row player player_id 6: no game has this name",
            "wrong-count level_continuation level 1, key ",
            "wrong-count import import_id 1: games is 53, expected 52",
            "wrong-count import import_id 1: plies is 3235, expected 3179",
            "wrong-count import import_id 1: positions is 3288, expected 3231",
            "wrong-count source source_id 1: games is 53, expected 52",
            "wrong-count source source_id 1: plies is 3235, expected 3179",
            "wrong-count level_position level 1, key ",
            "wrong-value level_position level 1, key ",
        ],
    ),
    (
        "INSERT INTO player VALUES ((SELECT max(player_id) + 1 FROM player), 'Nobody')",
        &["surplus-row player player_id "],
    ),
    (
        "INSERT INTO player_alias VALUES ('B', 'A', 7), ('C', 'B', 7), ('D', 'D', 7)",
        &[
            "wrong-value player_alias alias 'C': name is 'B', expected a name that is not itself another spelling",
            "wrong-value player_alias alias 'D': name is 'D', expected a name that is not itself another spelling",
        ],
    ),
    (
        "INSERT INTO player_alias VALUES ('B', 'A', 7), ('C', 'A', 8), ('D', 'E', 'many')",
        &[
            "integrity file: non-INTEGER value in player_alias.fide_id",
            "wrong-value player_alias alias 'C': fide_id is 8, ",
            "wrong-value player_alias alias 'D': the row violates CHECK (fide_id BETWEEN 1 AND 4294967295)",
        ],
    ),
    (
        "INSERT INTO event VALUES (0, 'Nothing')",
        &["surplus-row event event_id 0: ids begin with 1, so this row should not exist", "surplus-row event event_id 0: no game has this name"],
    ),
    ("DELETE FROM site WHERE site_id = 3", &["dangling-link game", "missing-row site site_id 3", "source-text game"]),
    ("UPDATE game SET eco = 'E99' WHERE game_id = 5", &["source-text game game_id 5: eco is E99, expected "]),
    (
        "UPDATE game SET white_elo = 1 WHERE game_id = 5",
        &[
            "source-text game game_id 5: white_elo is 1, expected NULL",
            "wrong-count level_continuation level 1, key ",
            "wrong-count level_position level 1, key ",
        ],
    ),
    (
        "INSERT INTO tag VALUES (5, 'Mood', 'gloomy')",
        &["source-text tag game_id 5, name 'Mood': value is gloomy, expected no such tag"],
    ),
    ("INSERT INTO tag VALUES (1000, 'Mood', 'gloomy')", &["dangling-link tag game_id 1000, name 'Mood': game_id is 1000"]),
    ("UPDATE game SET byte_offset = byte_offset + 1 WHERE game_id = 5", &["source-text game game_id 5: "]),
    (
        "UPDATE game SET byte_length = byte_length - 30 WHERE game_id = 5",
        &["source-text game", "source-text nag game_id 5, line 0, ply 31, nag 1: nag is 1, expected no such nag"],
    ),
    (
        "UPDATE game SET byte_offset = 1 << 40 WHERE game_id = 5",
        &["source-text game game_id 5: byte_offset is ", "wrong-value source source_id 1: last_game is "],
    ),
    (
        // The order of the games in the text is wrong.
        "UPDATE game SET (byte_offset, byte_length) =
             (SELECT byte_offset, byte_length FROM game WHERE game_id = 30) WHERE game_id = 5;
         UPDATE game SET (byte_offset, byte_length) =
             (SELECT byte_offset, byte_length FROM game WHERE game_id = 2) WHERE game_id = 31",
        &[
            "source-text game",
            "source-text game_position game_id 5",
            "source-text game_position game_id 31",
            "source-text comment game_id 31, line 0, ply 35, number 1: text is NULL, expected Both rooks ",
            "source-text comment game_id 31, line 0, ply 45, number 1: text is NULL, expected Two rooks, ",
            "source-text nag game_id 5, line 0, ply 31, nag 1: nag is 1, expected no such nag",
            "source-text nag game_id 31, line 0, ply 43, nag 3: nag is NULL, expected 3",
        ],
    ),
    (
        "UPDATE game SET byte_offset = -5 WHERE game_id = 5",
        &[
            "source-text game game_id 5: byte_offset is ",
            "wrong-value game game_id 5: the row violates CHECK (byte_offset >= 0)",
        ],
    ),
    (
        "UPDATE source SET bytes = -1, first_byte = -1; UPDATE import SET duplicates = -1;
         INSERT INTO setting VALUES ('last_game', 'x'); INSERT INTO deleted_game VALUES (-1)",
        &[
            "wrong-count import import_id 1: duplicates is -1, expected 0",
            "wrong-value deleted_game game_id -1: the row violates CHECK (game_id BETWEEN 1 AND 4294967295)",
            "wrong-value import import_id 1: the row violates CHECK (duplicates >= 0)",
            "wrong-value setting name 'last_game': the row violates CHECK (name NOT IN (",
            "wrong-value source source_id 1: the row violates CHECK (bytes >= 0)",
            "wrong-value source source_id 1: the row violates CHECK (first_byte >= 0)",
        ],
    ),
    ("UPDATE import SET games = 1", &["wrong-count import import_id 1: games is 1, expected 53"]),
    ("UPDATE import SET problems = 7", &["wrong-count import import_id 1: problems is 7, expected 0"]),
    ("UPDATE source SET games = 1", &["wrong-count source source_id 1: games is 1, expected 53"]),
    (
        "UPDATE source SET last_game = last_game - 1",
        &["wrong-value source source_id 1: last_game is "],
    ),
    ("UPDATE source SET last_game = NULL", &["wrong-value source source_id 1: last_game is NULL, expected at least "]),
    ("UPDATE source SET import_id = 9", &["dangling-link source source_id 1: import_id is 9, but `import` has no such row"]),
    (
        "INSERT INTO problem VALUES (1, 2, 1 << 40, 1, 1, 1, 99, NULL, NULL, 'illegal-move', 'error', '')",
        &[
            "dangling-link problem problem_id 1: game_id is 99",
            "dangling-link problem problem_id 1: source_id is 2",
            "wrong-value problem problem_id 1: message is '', expected a sentence",
        ],
    ),
    (
        "INSERT INTO problem VALUES (1, 1, 1 << 40, 1, 1, 1, 9, 500, NULL, 'illegal-move', 'error', '')",
        &[
            "wrong-count import import_id 1: problems is 0, expected 1",
            "wrong-count source source_id 1: problems is 0, expected 1",
            "source-text game game_id 9: problems in the game's text: 0; in the table `problem`: 1",
            "wrong-value problem problem_id 1: message is '', expected a sentence",
            "wrong-value problem problem_id 1: byte_offset is 1099511627776, expected at most ",
            "wrong-value problem problem_id 1: ply is 500, expected at most ",
        ],
    ),
    (
        "UPDATE game SET opening_id = 12345 WHERE game_id = 3",
        &["dangling-link game game_id 3: opening_id is 12345", "wrong-value game game_id 3: opening_id is 12345"],
    ),
    (
        "UPDATE level_position SET white_wins = white_wins + 1 WHERE key = 5060803636482931868",
        &["wrong-count level_position level 1, key 5060803636482931868: white_wins is "],
    ),
    (
        "UPDATE level_position SET top_games = '[1,2]', recent_games = '' WHERE key = 5060803636482931868",
        &[
            "wrong-value level_position level 1, key 5060803636482931868: recent_games is '', expected '[",
            "wrong-value level_position level 1, key 5060803636482931868: top_games is '[1,2]', expected '[",
        ],
    ),
    (
        "UPDATE level_position SET fen = 'x' WHERE key = 5060803636482931868",
        &["wrong-value level_position level 1, key 5060803636482931868: fen is 'x'"],
    ),
    (
        "DELETE FROM level_position WHERE key = 5060803636482931868",
        &[
            "dangling-link level_continuation level 1, key 5060803636482931868, move_code ",
            "missing-row level_position level 1, key 5060803636482931868: the row is missing; number of games that reached ",
        ],
    ),
    (
        "DELETE FROM visit_set WHERE key = 5060803636482931868",
        &["missing-row visit_set level 1, key 5060803636482931868, block 0: the row is missing"],
    ),
    (
        "UPDATE visit_set SET games = x'00' WHERE key = 5060803636482931868",
        &["wrong-value visit_set level 1, key 5060803636482931868, block 0: column `games` differs from the list of games"],
    ),
    (
        "INSERT INTO visit_set VALUES (1, 0, 5, x''), (1, 9, 5060803636482931868, x'')",
        &[
            "dangling-link visit_set level 1, block 0, key 5: key is 5",
            "surplus-row visit_set level 1, key 5060803636482931868, block 9: no game of the block and level reached the position",
        ],
    ),
    (
        "UPDATE game SET white_elo = 2000 WHERE game_id = 3",
        &[
            "source-text game game_id 3: white_elo is 2000, expected NULL",
            "wrong-count level_continuation level 1, key ",
            "wrong-count level_position level 1, key ",
            "wrong-value game_column name 'white_elo', block 0: column `cells` differs from the list of distinct values",
        ],
    ),
    (
        "UPDATE game_column SET games = substr(games, 2) WHERE name = 'date'",
        &["wrong-value game_column name 'date', block 0: column `games` does not match the values in the table `game`"],
    ),
    (
        "DELETE FROM game_column WHERE name = 'result'; INSERT INTO game_column VALUES ('x', 0, '[]', x''), ('eco', -1, '', x'')",
        &[
            "missing-row game_column name 'result', block 0: the row is missing",
            "surplus-row game_column name 'eco', block -1: no game of this block has a value in this column",
            "wrong-value game_column name 'eco', block -1: the row violates CHECK (block BETWEEN 0 AND 65535)",
            "surplus-row game_column name 'x', block 0: no game of this block has a value in this column",
        ],
    ),
    (
        "INSERT INTO level_position VALUES (1, 5, 'x', 0, 0, 0, 0, 0, 0, 0, 0, 0, '[]', '[]')",
        &["surplus-row level_position level 1, key 5: no row of the level in occurrence has this key"],
    ),
    (
        "INSERT INTO level_position SELECT 1, key, fen, 1, 1, 0, 0, 0, 0, 0, 0, 0, '[]', '[]' FROM game_position
         WHERE game_id = 3 AND move_code IS NULL",
        &["surplus-row level_position level 1, key ", "wrong-value level_position level 1, key "],
    ),
    (
        "UPDATE level_continuation SET games = 77 WHERE key = 5060803636482931868 AND move_code =
         (SELECT move_code FROM game_position WHERE game_id = 1 AND ply = 0)",
        &["wrong-count level_continuation level 1, key 5060803636482931868, move_code "],
    ),
    (
        "UPDATE level_continuation SET first_year = 1, last_year = NULL WHERE key = 5060803636482931868 AND move_code =
         (SELECT move_code FROM game_position WHERE game_id = 1 AND ply = 0)",
        &["wrong-count level_continuation level 1, key 5060803636482931868, move_code "],
    ),
    (
        "DELETE FROM level_continuation WHERE key = 5060803636482931868 AND move_code =
         (SELECT move_code FROM game_position WHERE game_id = 1 AND ply = 0)",
        &["missing-row level_continuation level 1, key 5060803636482931868, move_code "],
    ),
    (
        "INSERT INTO level_continuation VALUES (1, 5060803636482931868, 0, 1, 1, 0, 0, 0, 0, 0, 0, NULL, NULL)",
        &["surplus-row level_continuation level 1, key 5060803636482931868, move_code 0: no game played this move"],
    ),
    (
        "DELETE FROM setting",
        &[
            "missing-row setting name 'annotations': the row is missing",
            "missing-row setting name 'continuation_threshold': the row is missing",
            "missing-row setting name 'duplicates': the row is missing",
            "missing-row setting name 'encoding': the row is missing",
            "missing-row setting name 'openings': ",
        ],
    ),
    ("UPDATE opening SET key = 5 WHERE opening_id = 9", &["wrong-value opening opening_id 9: key is 5, expected "]),
    ("UPDATE opening SET fen = 'x' WHERE opening_id = 9", &["wrong-value opening opening_id 9: fen is x, expected "]),
    ("UPDATE opening SET name = 'x' WHERE opening_id = 9", &["wrong-value opening: the rows do not match the checksum in `setting`"]),
    (
        "UPDATE game SET opening_id = NULL WHERE game_id = 3",
        &["wrong-value game game_id 3: opening_id is NULL, expected "],
    ),
    ("UPDATE setting SET value = 'many' WHERE name = 'continuation_threshold'", &["wrong-value setting name 'continuation_threshold': value is 'many'"]),
    ("DROP INDEX game_white", &["schema sqlite_schema type 'index', name 'game_white': is missing"]),
    ("DROP VIEW moves", &["schema sqlite_schema type 'view', name 'moves': is missing"]),
    (
        "DROP TABLE level_continuation",
        &["schema sqlite_schema type 'table', name 'level_continuation': is missing", "unreadable game"],
    ),
];

/// Asserts that each damage causes the expected findings and no others.
pub(crate) fn check_damage(place: &Workspace, damage: &[(&str, &[&str])]) {
    let bytes = fs::read(place.database()).unwrap();
    let mut wrong = Vec::new();
    let text = fs::read(place.source()).unwrap();
    let packed_text = gzip(&text, 10_000);
    for (sql, expected) in damage {
        fs::write(place.database(), &bytes).unwrap();
        place.damage(sql);
        let report = place.verify(Sample::All);
        let found = lines(&report);
        // The comparison with the text gives the same findings if the text is compressed.
        if found.iter().any(|line| line.starts_with("source-text")) {
            fs::write(place.source(), &packed_text).unwrap();
            let packed = place.verify(Sample::All);
            assert_eq!((lines(&packed), packed.reread_games), (found.clone(), report.reread_games), "{sql}");
            fs::write(place.source(), &text).unwrap();
        }
        for expected in *expected {
            if !found.iter().any(|line| line.starts_with(expected)) {
                wrong.push(format!("{sql}: no {expected:?} in {found:#?}"));
            }
        }
        // Columns and sets are derived from the rows of games, so most changes of these rows cause further findings
        // there.
        let follows = |line: &str| {
            let tables = [" game_column ", " visit_set ", " game_set "];
            let table = tables.into_iter().find(|table| line.contains(table));
            table.is_some_and(|table| !expected.iter().any(|expected| expected.contains(table)))
        };
        for line in &found {
            if !expected.iter().any(|expected| line.starts_with(expected)) && !follows(line) {
                wrong.push(format!("{sql}: {line:?} is not expected"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn damage_of_every_kind_is_found_and_located() {
    check_damage(&Workspace::new(GAMES, 3), DAMAGE);
}

const SICILIAN: &str = "1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6 6. Be3 e5 7. Nb3 Be6 8. f3 Be7";

/// Game 1; its duplicates at byte 187 and, with other players, at byte 374; its prefix at byte 561, which is game 2;
/// and game 4, which was cut off when another file contained the same beginning.
fn with_duplicates() -> Workspace {
    let place = Workspace(tempfile::tempdir().unwrap());
    let game = |white: &str, moves: &str| {
        format!("[White \"{white}\"]\n[Black \"Black\"]\n[Date \"2020.01.01\"]\n\n{moves}\n\n")
    };
    let whole = game("White", &format!("{SICILIAN} 9. Qd2 O-O 10. O-O-O Nbd7 11. g4 b5 12. g5 b4 1-0"));
    let other = game("Other", &format!("{SICILIAN} 9. Qd2 O-O 10. O-O-O Nbd7 11. g4 b5 12. g5 b4 1-0"));
    let (short, last) = (game("White", &format!("{SICILIAN} *")), game("Last", "1. d4 d5"));
    let text = format!("{whole}{whole}{other}{short}{}", last.trim_end());
    let more = place.0.path().join("more.pgn");
    let options = IndexOptions { threads: 2, duplicates: Duplicates::Moves, ..defaults() };
    fs::write(&more, game("Last", "1. d4 d5 *")).unwrap();
    for text in [&text, &format!("{text} 2. c4 e6 *\n")] {
        fs::write(place.source(), text).unwrap();
        index(&place.database(), &[place.source(), more.clone()], &options, &IndexProgress::default())
            .unwrap();
    }
    place
}

/// SQL that damages this database, and the expected findings.
const DUPLICATES_DAMAGE: &[(&str, &[&str])] = &[
    (
        "UPDATE duplicate SET original_id = 2 WHERE kind = 'same'",
        &[
            "source-text duplicate source_id 1, byte_offset 187: original_id is 2, whose result is *, expected a game whose result is 1-0",
        ],
    ),
    (
        "UPDATE duplicate SET original_id = 4 WHERE kind = 'same'",
        &[
            "source-text duplicate source_id 1, byte_offset 187: original_id is 4, whose white_id is Last, expected a game whose white_id is White",
        ],
    ),
    (
        "UPDATE duplicate SET original_id = 2 WHERE kind = 'moves'",
        &[
            "source-text duplicate source_id 1, byte_offset 374: original_id is 2, which differs at ply 16, expected a game with the same moves",
        ],
    ),
    (
        "UPDATE duplicate SET kind = 'moves', original_id = 4 WHERE kind = 'cut'",
        &[
            "source-text duplicate source_id 2, byte_offset 0: kind is moves, of 2 plies, expected at least 20 plies",
        ],
    ),
    (
        "UPDATE duplicate SET kind = 'same' WHERE kind = 'cut'",
        &["source-text duplicate source_id 2, byte_offset 0: original_id is 4, which differs at ply 2"],
    ),
    (
        "UPDATE duplicate SET kind = 'same' WHERE kind = 'moves'",
        &[
            "source-text duplicate source_id 1, byte_offset 374: original_id is 1, whose white_id is White, expected a game whose white_id is Other",
        ],
    ),
    (
        "UPDATE duplicate SET kind = 'x' WHERE kind = 'moves'",
        &[
            "wrong-value duplicate source_id 1, byte_offset 374: the row violates CHECK (kind IN ('same', 'moves', 'prefix', 'cut'))",
        ],
    ),
    (
        "UPDATE duplicate SET original_id = 99 WHERE kind = 'same'",
        &[
            "dangling-link duplicate source_id 1, byte_offset 187: original_id is 99, but `game` has no such row",
        ],
    ),
    (
        "UPDATE duplicate SET original_id = NULL WHERE kind IN ('same', 'prefix', 'cut')",
        &[
            "wrong-value duplicate source_id 1, byte_offset 187: original_id is NULL, expected a row of game",
            "wrong-value duplicate source_id 1, byte_offset 561: original_id is NULL, expected a row of game",
        ],
    ),
    (
        "UPDATE duplicate SET byte_length = byte_length - 5, line = NULL, game_number = 0 WHERE kind = 'same'",
        &[
            "source-text duplicate source_id 1, byte_offset 187: ",
            "wrong-value duplicate source_id 1, byte_offset 187: game_number is 0, expected a number from 1",
            "wrong-value duplicate source_id 1, byte_offset 187: line is NULL, expected a number from 1",
        ],
    ),
    (
        "UPDATE duplicate SET byte_offset = 1 << 40 WHERE kind = 'same'",
        &["source-text duplicate source_id 1, byte_offset 1099511627776: byte_length is "],
    ),
    (
        "UPDATE duplicate SET game_id = 1 WHERE kind = 'same'",
        &[
            "wrong-count import import_id 1: duplicates is 3, expected 2",
            "wrong-count source source_id 1: duplicates is 2, expected 1",
            "wrong-value duplicate source_id 1, byte_offset 187: game_id is 1, expected NULL",
        ],
    ),
    (
        "UPDATE duplicate SET game_id = 4, line = 1 WHERE kind = 'prefix'",
        &[
            "wrong-value duplicate source_id 1, byte_offset 561: game_id is 4, expected the game at this place of the source",
            "wrong-value duplicate source_id 1, byte_offset 561: line is 1, expected NULL",
            "wrong-value duplicate source_id 1, byte_offset 561: original_id is 1, expected a game of the same players and date that begins with the moves of game 4",
        ],
    ),
    (
        "UPDATE duplicate SET original_id = 4 WHERE kind = 'prefix'",
        &[
            "wrong-value duplicate source_id 1, byte_offset 561: original_id is 4, expected a game of the same players and date that begins with the moves of game 2",
        ],
    ),
    (
        "UPDATE duplicate SET byte_length = 7 WHERE kind = 'prefix'",
        &[
            "wrong-value duplicate source_id 1, byte_offset 561: game_id is 2, expected the game at this place of the source",
        ],
    ),
    (
        "UPDATE game SET date = '2021.01.01' WHERE game_id = 1",
        &[
            "source-text duplicate source_id 1, byte_offset 187: original_id is 1, whose date is 2021.01.01, expected a game whose date is 2020.01.01",
            "source-text game game_id 1: date is 2021.01.01, expected 2020.01.01",
            "wrong-value duplicate source_id 1, byte_offset 561: original_id is 1, expected a game of the same players",
            "wrong-value game game_id 1: prefix_hash is ",
        ],
    ),
    (
        "DELETE FROM duplicate WHERE kind = 'moves'",
        &[
            "wrong-count import import_id 1: duplicates is 3, expected 2",
            "wrong-count source source_id 1: duplicates is 2, expected 1",
        ],
    ),
    (
        "UPDATE duplicate SET source_id = 'x' WHERE kind = 'same'",
        &[
            "integrity file: non-INTEGER value in duplicate.source_id",
            "dangling-link duplicate source_id 'x', byte_offset 187: source_id is 'x', but `source` has no such row",
            "wrong-count source source_id 1: duplicates is 2, expected 1",
            "wrong-value duplicate source_id 'x', byte_offset 187: source_id is 'x', expected a whole number",
        ],
    ),
    (
        "DROP TABLE duplicate",
        &[
            "schema sqlite_schema type 'index', name 'duplicate_original': is missing",
            "schema sqlite_schema type 'table', name 'duplicate': is missing",
            "unreadable duplicate: cannot be read: ",
            "unreadable game: cannot be read: ",
        ],
    ),
];

#[test]
fn damaged_duplicates_are_found() {
    let place = with_duplicates();
    let report = sound(&place, Sample::All);
    assert_eq!(report.duplicates, 4);
    assert_eq!(sound(&place, Sample::Some(2)).duplicates, 2);
    check_damage(&place, DUPLICATES_DAMAGE);
}

#[test]
fn games_are_the_same_from_one_position_with_other_numbers() {
    let game = |numbers: &str| {
        format!(
            "[White \"W\"]\n[Black \"B\"]\n[FEN \"4k3/8/8/8/8/8/8/4K2R w K - {numbers}\"]\n\nO-O+ Ke7 *\n\n"
        )
    };
    let place = Workspace::new([game("0 1"), game("7 40"), game("0 1")].concat(), 64);
    assert_eq!(sound(&place, Sample::All).duplicates, 2);
}

#[test]
fn tables_of_users_are_not_damage() {
    let place = Workspace::new(GAMES, 3);
    place.damage(
        "CREATE TABLE note (game_id, text); CREATE INDEX by_round ON game (round); CREATE VIEW v AS SELECT 1",
    );
    sound(&place, Sample::All);
}

#[test]
fn columns_of_users_are_not_damage() {
    let place = Workspace::new(GAMES, 3);
    for table in
        ["import", "source", "player", "game", "tag", "game_position", "opening", "problem", "duplicate"]
    {
        place.damage(&format!(
            "ALTER TABLE {table} ADD COLUMN note ANY; ALTER TABLE {table} ADD COLUMN \"a, (b\" TEXT NOT NULL DEFAULT '), --'"
        ));
    }
    sound(&place, Sample::All);
    let added = "[Event \"new\"]\n\n1. b4 b5 2. a4 1-0\n";
    fs::write(place.0.path().join("more.pgn"), added).unwrap();
    let options = IndexOptions { threads: 2, memory: 64 << 20, ..defaults() };
    index(&place.database(), &[place.0.path().join("more.pgn")], &options, &IndexProgress::default())
        .unwrap();
    sound(&place, Sample::All);
    place.damage("ALTER TABLE game RENAME COLUMN variant TO variety");
    let found = lines(&place.verify(Sample::All));
    let renamed = "schema sqlite_schema type 'table', name 'game': is defined differently";
    assert!(found.iter().any(|line| line == renamed), "{found:#?}");
}

#[test]
fn every_column_of_a_problem_is_compared_with_the_text() {
    let place = Workspace::new(BROKEN, 64);
    assert_eq!(place.number("SELECT count(*) FROM problem"), 6);
    sound(&place, Sample::All);
    let row = "problem problem_id";
    check_damage(
        &place,
        &[
            (
                "UPDATE problem SET message = message || 'x' WHERE problem_id = 2",
                &[&format!("source-text {row} 2: message is")],
            ),
            (
                "UPDATE problem SET token = 'Qh5' WHERE problem_id = 1",
                &[&format!("source-text {row} 1: token is 'Qh5', expected")],
            ),
            (
                "UPDATE problem SET token = NULL WHERE problem_id = 1",
                &[&format!("source-text {row} 1: token is NULL")],
            ),
            (
                "UPDATE problem SET byte_offset = byte_offset + 1 WHERE problem_id = 3",
                &[&format!("source-text {row} 3: byte_offset is")],
            ),
            (
                "UPDATE problem SET ply = 0 WHERE problem_id = 3",
                &[&format!("source-text {row} 3: ply is 0, expected 3")],
            ),
            (
                "UPDATE problem SET line = line + 1 WHERE problem_id = 2",
                &[&format!("source-text {row} 2: line is")],
            ),
            (
                "UPDATE problem SET game_number = 7 WHERE problem_id = 2",
                &[&format!("source-text {row} 2: game_number is 7, expected 1")],
            ),
            (
                "UPDATE problem SET column_number = 99 WHERE problem_id = 3",
                &[&format!("source-text {row} 3: column_number is 99, expected")],
            ),
            (
                "UPDATE problem SET kind = 'unreadable-move' WHERE problem_id = 3",
                &[&format!("source-text {row} 3: kind is 'unreadable-move', expected 'illegal-move'")],
            ),
            (
                "UPDATE problem SET kind = 'nonsense' WHERE problem_id = 3",
                &[
                    &format!("source-text {row} 3: kind is 'nonsense', expected 'illegal-move'"),
                    &format!("wrong-value {row} 3: kind is 'nonsense', expected a kind of problem"),
                ],
            ),
            (
                "UPDATE problem SET severity = 'warning' WHERE problem_id = 3",
                &[
                    &format!("source-text {row} 3: severity is 'warning', expected 'error'"),
                    &format!("wrong-value {row} 3: severity is 'warning', expected 'error'"),
                ],
            ),
            (
                "UPDATE problem SET game_id = NULL WHERE problem_id = 3",
                &["source-text game game_id 2: problems in the game's text: 1; in the table `problem`: 0"],
            ),
            // A problem outside games.
            (
                "UPDATE problem SET message = '' WHERE problem_id = 6",
                &[&format!("wrong-value {row} 6: message is '', expected a sentence")],
            ),
            (
                "UPDATE problem SET line = 0 WHERE problem_id = 6",
                &[&format!("wrong-value {row} 6: the row violates CHECK (line > 0)")],
            ),
        ],
    );
}

#[test]
fn messages_of_other_versions_are_not_compared() {
    let place = Workspace::new(BROKEN, 64);
    place.damage("UPDATE problem SET message = 'in other words'");
    assert!(!place.verify(Sample::All).is_sound());
    place.damage("UPDATE import SET program_version = '0.0.1'");
    sound(&place, Sample::All);
}

#[test]
fn swapped_rows_of_one_game_are_found_despite_equal_sums() {
    let place = Workspace::new(GAMES, 64);
    place.damage(
        "CREATE TEMP TABLE swapped AS SELECT ply, key FROM game_position WHERE game_id = 6 AND ply IN (15, 16);
         UPDATE game_position AS p SET key = (SELECT key FROM swapped WHERE ply = 31 - p.ply)
         WHERE game_id = 6 AND ply IN (15, 16)",
    );
    let report = place.verify(Sample::Some(0));
    assert_eq!(report.findings.counts.get(&FindingKind::MissingRow), Some(&2), "{:#?}", lines(&report));
    assert_eq!(report.findings.counts.get(&FindingKind::SurplusRow), Some(&2));
}

#[test]
fn only_the_first_findings_are_kept_but_all_are_counted() {
    let place = Workspace::new(GAMES, 64);
    place.damage("UPDATE game_position SET halfmove_clock = halfmove_clock + 1000");
    let options = VerifyOptions { limit: 4, ..VerifyOptions::default() };
    let report = verify(&place.database(), &options, &Progress::default()).unwrap();
    // Three variations begin at changed positions, and each is a finding too.
    assert_eq!(report.findings.total(), report.positions + 3);
    let places: Vec<_> = report.findings.first.iter().map(|found| found.row.clone()).collect();
    assert_eq!(places, [0, 1, 2, 3].map(|ply| pgndex::verify::RowId::new([("game_id", 1), ("ply", ply)])));
}

#[test]
fn damaged_pages_are_found() {
    let place = Workspace::new(GAMES, 3);
    let bytes = fs::read(place.database()).unwrap();
    for table in ["game_position", "occurrence", "game", "level_position", "player"] {
        let root = place.number(&format!("SELECT rootpage FROM sqlite_schema WHERE name = '{table}'"));
        let mut damaged = bytes.clone();
        // The number of cells, and the offset at which they begin.
        let page = usize::try_from(root - 1).unwrap() * 8192;
        damaged[page + 3..page + 9].copy_from_slice(b"damage");
        fs::write(place.database(), damaged).unwrap();
        let report = place.verify(Sample::All);
        let counts = &report.findings.counts;
        let found =
            counts.contains_key(&FindingKind::Integrity) || counts.contains_key(&FindingKind::Unreadable);
        assert!(found, "{table}: {:#?}", lines(&report));
    }
}

#[test]
fn a_truncated_file_is_reported() {
    let place = Workspace::new(GAMES, 3);
    let bytes = fs::read(place.database()).unwrap();
    for length in [bytes.len() - 1, bytes.len() / 2, 3 * 8192, 8192, 5000, 100, 50, 0] {
        fs::write(place.database(), &bytes[..length]).unwrap();
        match verify(&place.database(), &VerifyOptions::default(), &Progress::default()) {
            Ok(report) => assert!(!report.is_sound(), "{length} bytes"),
            Err(Error::Store(_)) => {}
            Err(error) => panic!("{length} bytes: {error}"),
        }
        let (status, out, err) = place.run(&["out.db", "--quiet"]);
        assert_eq!(status, 1, "{length} bytes: {out}{err}");
        assert!(out.contains("not sound: ") || err.contains("pgndex: error: "), "{length} bytes: {out}{err}");
        assert_eq!(fs::metadata(place.database()).unwrap().len(), length as u64, "the file was written to");
    }
}

#[test]
fn flipped_bytes_anywhere_never_crash_the_check() {
    let place = Workspace::new(ODD, 1);
    let bytes = fs::read(place.database()).unwrap();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    for round in 0..60 {
        let source = if round % 2 == 0 { ODD.as_bytes().to_vec() } else { gzip(ODD.as_bytes(), 100) };
        fs::write(place.source(), source).unwrap();
        let mut damaged = bytes.clone();
        for _ in 0..=next(4) {
            let at = next(damaged.len());
            damaged[at] = next(256) as u8;
        }
        fs::write(place.database(), damaged).unwrap();
        let _ = verify(&place.database(), &VerifyOptions::default(), &Progress::default());
    }
}

#[test]
fn missing_or_changed_sources_are_notes_not_findings() {
    let place = Workspace::new(GAMES, 64);
    let report = |text: Option<String>| {
        match text {
            Some(text) => fs::write(place.source(), text).unwrap(),
            None => fs::remove_file(place.source()).unwrap(),
        }
        sound(&place, Sample::All)
    };
    let state = |report: &Report| report.notes.iter().map(|note| note.state).collect::<Vec<_>>();
    let grown = report(Some(format!("{GAMES}\n[Event \"new\"]\n\n1. e4 *\n")));
    assert_eq!((state(&grown), grown.sources_same, grown.reread_games), (vec![], 1, 53));
    let changed = report(Some(GAMES.replace("Nf3", "Nf6")));
    assert_eq!((state(&changed), changed.reread_games), (vec![SourceState::Changed], 0));
    let cut = report(Some(GAMES[..GAMES.len() / 2].to_owned()));
    assert_eq!((state(&cut), cut.reread_games), (vec![SourceState::Changed], 0));
    let packed = report(Some("PK\u{3}\u{4}".repeat(GAMES.len())));
    assert_eq!(packed.reread_games, 0);
    let missing = report(None);
    assert_eq!((state(&missing), missing.sources_other), (vec![SourceState::Missing], 1));
    let options = VerifyOptions { sources: false, ..VerifyOptions::default() };
    let unread = verify(&place.database(), &options, &Progress::default()).unwrap();
    assert_eq!((unread.notes.len(), unread.sources_other, unread.reread_games), (0, 0, 0));
}

fn gzip(text: &[u8], size: usize) -> Vec<u8> {
    let member = |piece: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(piece).unwrap();
        encoder.finish().unwrap()
    };
    text.chunks(size).flat_map(member).collect()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    text.chunks(9000).flat_map(|piece| zstd::encode_all(piece, 3).unwrap()).collect()
}

fn zip(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let stored = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, text) in files {
        archive.start_file(*name, stored).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[test]
fn games_are_compared_with_decoded_texts() {
    let utf_16: Vec<u8> = format!("\u{feff}{GAMES}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let text = GAMES.as_bytes();
    for (what, archive) in [
        ("gzip", gzip(text, 7000)),
        ("zstd", zstd(text)),
        ("UTF-16", utf_16.clone()),
        ("UTF-16 in gzip", gzip(&utf_16, 7000)),
    ] {
        let place = Workspace::new(archive, 3);
        for sample in [Sample::All, Sample::Some(7)] {
            let report = sound(&place, sample);
            assert_eq!((report.reread_games, report.sources_same), (report.replayed_games, 1), "{what}");
        }
    }
    // An archive that grew has several readings, and one of its games was read twice.
    let place = Workspace(tempfile::tempdir().unwrap());
    let options = IndexOptions { threads: 2, ..defaults() };
    for end in [text.len() / 3, text.len() / 2, text.len()] {
        fs::write(place.source(), zstd(&text[..end])).unwrap();
        index(&place.database(), &[place.source()], &options, &IndexProgress::default()).unwrap();
        let report = sound(&place, Sample::All);
        assert_eq!((report.reread_games, report.sources_other), (report.games, 0));
    }
    assert_eq!(place.number("SELECT count(*) FROM source WHERE first_byte > 0"), 2);
}

#[test]
fn decoded_texts_may_be_missing_or_changed_too() {
    let text = GAMES.as_bytes();
    let place = Workspace::new(gzip(text, 5000), 64);
    let report = |archive: &[u8]| {
        fs::write(place.source(), archive).unwrap();
        let report = sound(&place, Sample::All);
        (report.notes.first().map(|note| note.state), report.reread_games)
    };
    let longer = [text, b"\n[Event \"new\"]\n\n1. e4 *\n"].concat();
    assert_eq!(report(&zstd(&longer)), (None, 53));
    assert_eq!(report(&zstd(text)), (None, 53));
    let other = GAMES.replace("Nf3", "Nf6");
    assert_eq!(report(&gzip(other.as_bytes(), 5000)), (Some(SourceState::Changed), 0));
    let archive = gzip(text, 5000);
    assert_eq!(report(&archive[..archive.len() - 100]), (Some(SourceState::Changed), 0));
    assert_eq!(report(&zip(&[("a.pgn", GAMES)])), (Some(SourceState::Changed), 0));
    assert_eq!(report(b"\xfd7zXZ\0"), (Some(SourceState::Changed), 0));
    let options = VerifyOptions { sources: false, ..VerifyOptions::default() };
    let unread = verify(&place.database(), &options, &Progress::default()).unwrap();
    assert_eq!((unread.notes.len(), unread.sources_other, unread.reread_games), (0, 0, 0));
}

#[test]
fn games_in_a_zip_archive_are_compared_with_its_files() {
    let place = Workspace::new(zip(&[("a.pgn", GAMES), ("b/c.pgn", ODD), ("b/d.pgn", "1. a3 *\n")]), 2);
    let report = sound(&place, Sample::All);
    assert_eq!((report.reread_games, report.sources_same), (report.games, 3));
    fs::write(place.source(), zip(&[("b/c.pgn", ODD), ("b/d.pgn", "1. b3 *\n")])).unwrap();
    let report = sound(&place, Sample::All);
    let notes: Vec<_> = report
        .notes
        .iter()
        .map(|note| (note.path.file_name().unwrap().to_str().unwrap(), note.state))
        .collect();
    assert_eq!(notes, [("a.pgn", SourceState::Missing), ("d.pgn", SourceState::Changed)]);
    assert_eq!((report.reread_games, report.sources_same), (8, 1));
    fs::remove_file(place.source()).unwrap();
    let report = sound(&place, Sample::All);
    assert!(report.notes.iter().all(|note| note.state == SourceState::Missing) && report.notes.len() == 3);
}

#[test]
fn a_damaged_archive_is_compared_as_far_as_readable() {
    let archive = gzip(GAMES.as_bytes(), 4000);
    let place = Workspace::new(&archive[..archive.len() / 2], 64);
    let report = sound(&place, Sample::All);
    assert!(report.games > 10);
    assert_eq!((report.reread_games, report.sources_same), (report.games, 1));
    fs::write(place.source(), &archive).unwrap();
    let report = sound(&place, Sample::All);
    assert_eq!((report.reread_games, report.sources_same), (report.games, 1), "the archive grew");
    fs::write(place.source(), &archive[..archive.len() / 3]).unwrap();
    assert_eq!(sound(&place, Sample::All).notes[0].state, SourceState::Changed);
}

#[test]
fn another_text_at_the_offset_of_a_game_is_reported() {
    let place = Workspace::new(GAMES, 64);
    let other = GAMES.replacen("1. e4 e5", "1. d4 d5", 1);
    assert_ne!(other, GAMES);
    let digest = blake3::hash(other.as_bytes()).to_hex();
    place.damage(&format!("UPDATE source SET digest = '{digest}'"));
    for source in [other.clone().into_bytes(), zstd(other.as_bytes())] {
        fs::write(place.source(), source).unwrap();
        let report = place.verify(Sample::All);
        // The findings are about the game, its first move and its annotations.
        assert_eq!(report.findings.total(), 6, "{:#?}", lines(&report));
        let reported: Vec<String> = report.findings.first.iter().map(Finding::to_string).collect();
        for expected in [
            "game game_id 2: status is ok, expected truncated",
            "game_position game_id 2, ply 0: move_code is ",
            "comment game_id 2, line 0, ply 35, number 1: text is Both rooks ",
            "comment game_id 2, line 0, ply 45, number 1: text is Two rooks, ",
            "nag game_id 2, line 0, ply 43, nag 3: nag is 3, expected no such nag",
        ] {
            assert!(reported.iter().any(|line| line.starts_with(expected)), "{expected}: {reported:#?}");
        }
    }
}

/// Progress reaches 100 % only at the end.
#[test]
fn all_rows_are_expected() {
    let place = Workspace::new(GAMES.repeat(3), 2);
    let progress = Progress::default();
    let options = VerifyOptions { sample: Sample::All, ..VerifyOptions::default() };
    let report = verify(&place.database(), &options, &progress).unwrap();
    let visits = place.number("SELECT sum(games + unfinished) FROM level_position");
    assert_eq!(progress.total_rows(), 3 * report.positions + visits.cast_unsigned());
    assert_eq!(progress.rows(), progress.total_rows());
}

#[test]
fn verify_can_be_stopped() {
    let place = Workspace::new(GAMES, 3);
    let progress = Progress::default();
    progress.stop();
    let result = verify(&place.database(), &VerifyOptions::default(), &progress);
    assert!(matches!(result, Err(Error::Stopped)), "{result:?}");
}

#[test]
fn a_database_that_changes_during_the_check_is_an_error() {
    let place = Workspace::new(GAMES, 3);
    let writer = Connection::open(place.database()).unwrap();
    let (path, progress) = (place.database(), Progress::default());
    std::thread::scope(|scope| {
        let check = scope.spawn(|| {
            let options = VerifyOptions { sample: Sample::All, ..VerifyOptions::default() };
            (0..50).map(|_| verify(&path, &options, &progress)).find(Result::is_err)
        });
        while !check.is_finished() {
            // Each reader keeps the writer out only for a moment.
            let _ = writer.execute("UPDATE import SET seconds = seconds + 1", []);
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let result = check.join().unwrap();
        assert!(matches!(result, Some(Err(Error::Changed { .. } | Error::Store(_)))), "{result:?}");
    });
}

#[test]
fn the_command_prints_findings_and_exits_accordingly() {
    let place = Workspace::new(GAMES, 3);
    let (status, out, err) = place.run(&["out.db"]);
    assert_eq!((status, err.as_str()), (0, ""));
    insta::assert_snapshot!(out, @r#"
    sound: 53 games, 3,288 positions; 53 replayed, 53 compared with the source
    "#);
    fs::remove_file(place.source()).unwrap();
    place.damage("UPDATE game_position SET halfmove_clock = 7 WHERE game_id = 1 AND ply < 3");
    let (status, out, err) = place.run(&["out.db", "--limit", "2"]);
    assert_eq!(status, 1);
    insta::assert_snapshot!(out, @r#"
    wrong-value    game_position game_id 1, ply 0: halfmove_clock is 7, expected 0
    wrong-value    game_position game_id 1, ply 1: halfmove_clock is 7, expected 0
    2 of 3 findings shown; --limit shows more
    not sound: 3 findings (3 wrong-value)
    "#);
    assert!(
        err.starts_with("pgndex: note: ") && err.contains("in.pgn: the file no longer exists, "),
        "{err}"
    );
    assert!(err.contains("note: `pgndex repair` does not correct these rows"), "{err}");
    place.damage("UPDATE source SET games = 7");
    let (_, _, err) = place.run(&["out.db"]);
    assert!(
        err.contains("note: `pgndex repair` corrects 1 finding; for the rest, restore a backup"),
        "{err}"
    );
    place.damage("UPDATE game_position SET halfmove_clock = 0 WHERE game_id = 1 AND ply < 3");
    place.damage("UPDATE game SET source_id = 99 WHERE game_id = 1");
    let (_, _, err) = place.run(&["out.db"]);
    assert!(err.contains("note: `pgndex repair` removes references to missing rows"), "{err}");
    place.damage("UPDATE game SET source_id = 1 WHERE game_id = 1");
    let (_, _, err) = place.run(&["out.db"]);
    assert!(err.contains("note: `pgndex repair` rebuilds this data from the games and positions"), "{err}");
    place.damage(
        "UPDATE source SET games = 53; UPDATE game_position SET halfmove_clock = 7 WHERE game_id = 1 AND ply < 3",
    );
    let (status, out, _) = place.run(&["out.db", "--json", "--all", "--no-sources"]);
    assert_eq!((status, out.lines().count()), (1, 1));
    let object: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&object["sound"], &object["findings"]), (&false.into(), &3.into()));
    // A repair does not create a missing table.
    place.damage("DROP TABLE comment");
    let (status, _, err) = place.run(&["out.db", "--no-sources"]);
    assert_eq!(status, 1);
    assert!(err.contains("note: `pgndex repair` does not help here"), "{err}");
    assert_eq!(object["finding_kinds"], serde_json::json!({ "wrong-value": 3 }));
    assert_eq!(
        object["first_findings"][1],
        serde_json::json!({
            "kind": "wrong-value", "table": "game_position", "row": { "game_id": 1, "ply": 1 },
            "column": "halfmove_clock", "expected": "0", "found": "7",
        })
    );
    assert_eq!(place.run(&["missing.db"]).0, 1);
    assert_eq!(place.run(&["out.db", "--all", "--sample", "3"]).0, 2);
}
