//! Single plies compared with python-chess, if a Python with python-chess is available.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use pgndex::board::Position;

use super::corpus::Corpus;
use crate::needs::python_with_chess;

/// Compares about `wanted` plies of a collection, or its beginning, from games spread over all of it. From FEN and UCI,
/// python-chess must compute the same SAN, key, FEN after the move and key after the move.
pub(crate) fn agrees(corpus: &Corpus, wanted: i64) {
    let Some(python) = python_with_chess() else { return };
    let name = corpus.pgn.display();
    pgndex::functions::register(&corpus.database).unwrap();
    let every = (corpus.summary.plies as i64 / wanted).max(1);
    let mut statement = corpus
        .database
        .prepare(
            "SELECT m.fen, move_uci(m.fen, m.move_code) AS uci, move_san(m.fen, m.move_code), m.key,
                    fen_after(m.fen, move_san(m.fen, m.move_code)), after.key, after.fen
             FROM moves AS m
             JOIN game_position AS after ON after.game_id = m.game_id AND after.ply = m.ply + 1
             WHERE m.game_id % ? = 0 AND m.move_code <> 0",
        )
        .unwrap();
    let mut rows = statement.query([every]).unwrap();
    let (mut table, mut plies) = (String::new(), 0);
    while let Some(row) = rows.next().unwrap() {
        let text = |column| row.get_ref(column).unwrap().as_str().unwrap();
        let key = |column| row.get::<_, i64>(column).unwrap();
        // The stored position after the move is the one that the function returns.
        assert!(text(4).starts_with(&format!("{} ", text(6))), "{} {}", text(0), text(2));
        // python-chess needs to know whether kings or rooks castle from other squares than in standard chess.
        let (position, _) = Position::from_fen(text(0).as_bytes()).unwrap();
        let chess960 = i32::from(!position.has_standard_castling());
        writeln!(
            table,
            "{}\t{}\t{}\t{}\t{}\t{}\t{chess960}",
            text(0),
            text(1),
            text(2),
            key(3),
            text(4),
            key(5)
        )
        .unwrap();
        plies += 1;
    }
    assert!(plies > wanted / 2, "{name}: only {plies} plies");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("plies.tsv");
    File::create(&path).unwrap().write_all(table.as_bytes()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/index/truth/replay.py");
    let output = Command::new(python)
        .arg(script)
        .stdin(File::open(&path).unwrap())
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(output.status.success(), "{name}: the script failed");
    let printed = String::from_utf8(output.stdout).unwrap();
    println!("{name}: {plies} plies");
    assert_eq!(printed.trim_end(), plies.to_string(), "{name}: differences");
}
