//! Makes the built-in list of openings, `src/opening/eco.tsv`.
//!
//! `cargo run --example openings -- DIR > eco.tsv`
//!
//! `DIR` has the files `a.tsv` to `e.tsv` of <https://github.com/lichess-org/chess-openings>, with the columns eco, name and
//! pgn. Missing positions that define a code are added. Each line is replayed, and written with the key and the
//! canonical FEN of its position, sorted by code, name and moves. If several lines lead to one position, the shortest
//! is kept. Write the output to another file first, because the program has the current list compiled in.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use pgndex::board::Position;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const HEAD: &str = "\
# Openings: code, name, moves, and the Polyglot key and FEN of the position after them.
# Made by examples/openings.rs from https://github.com/lichess-org/chess-openings, which is in the public domain (CC0 1.0).
eco\tname\tpgn\tkey\tfen
";

/// Lines that define a code of the Encyclopaedia of Chess Openings, but whose positions have no name in the list. They get the
/// name of the last named position before them.
const DEFINING: [(&str, &str); 8] = [
    ("B07", "1. e4 d6 2. d4 Nf6 3. Nc3"),
    ("B54", "1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4"),
    ("B56", "1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3"),
    ("C70", "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4"),
    ("C77", "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6"),
    ("E00", "1. d4 Nf6 2. c4 e6"),
    ("E02", "1. d4 Nf6 2. c4 e6 3. g3 d5 4. Bg2 dxc4 5. Qa4+"),
    ("E24", "1. d4 Nf6 2. c4 e6 3. Nc3 Bb4 4. a3 Bxc3+ 5. bxc3"),
];

fn main() -> ExitCode {
    let Some(directory) = std::env::args_os().nth(1) else {
        eprintln!("openings: which directory has the files a.tsv to e.tsv?");
        return ExitCode::from(2);
    };
    match table(directory.as_ref()) {
        Ok(table) => {
            print!("{table}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("openings: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The whole list as text.
pub(crate) fn table(directory: &Path) -> Result<String> {
    let mut openings = Vec::new();
    for volume in 'a'..='e' {
        let path = directory.join(format!("{volume}.tsv"));
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        for (number, line) in (1..).zip(text.lines()).skip(1) {
            let opening = Opening::read(line);
            openings.push(opening.map_err(|error| format!("{}:{number}: {error}", path.display()))?);
        }
    }
    openings.sort_by_key(|opening| opening.plies);
    let mut names = HashMap::new();
    openings.retain(|opening| match names.entry(opening.fen.clone()) {
        Entry::Occupied(_) => false,
        Entry::Vacant(entry) => {
            entry.insert(opening.name.clone());
            true
        }
    });
    for (eco, pgn) in DEFINING {
        let fens: Vec<String> = play(pgn)?.iter().map(Position::canonical_fen).collect();
        if !names.contains_key(&fens[fens.len() - 1]) {
            let name = fens.iter().rev().find_map(|fen| names.get(fen)).ok_or("no name")?;
            openings.push(Opening::new(eco, name, pgn)?);
        }
    }
    openings.sort_by(|one, other| one.columns().cmp(&other.columns()));
    let lines = openings.iter().map(|opening| opening.columns().join("\t") + "\n");
    Ok(HEAD.to_owned() + &lines.collect::<String>())
}

/// The position after each move.
fn play(pgn: &str) -> Result<Vec<Position>> {
    let mut position = Position::start();
    let moves = pgn.split_whitespace().filter(|word| !word.ends_with('.'));
    moves
        .map(|san| match position.play_san(san.as_bytes()) {
            Ok(_) => Ok(position.clone()),
            Err(error) => Err(format!("{san}: {error}").into()),
        })
        .collect()
}

/// A line of the list.
struct Opening {
    eco: String,
    name: String,
    pgn: String,
    plies: usize,
    key: String,
    fen: String,
}

impl Opening {
    /// Reads the columns eco, name and pgn.
    fn read(line: &str) -> Result<Self> {
        let [eco, name, pgn] = line.split('\t').collect::<Vec<_>>()[..] else {
            return Err("not three columns".into());
        };
        Self::new(eco, name, pgn)
    }

    fn new(eco: &str, name: &str, pgn: &str) -> Result<Self> {
        let positions = play(pgn)?;
        let last = positions.last().ok_or("no moves")?;
        Ok(Self {
            eco: eco.to_owned(),
            name: name.to_owned(),
            pgn: pgn.to_owned(),
            plies: positions.len(),
            key: last.key().to_string(),
            fen: last.canonical_fen(),
        })
    }

    fn columns(&self) -> [&str; 5] {
        [&self.eco, &self.name, &self.pgn, &self.key, &self.fen]
    }
}
