//! The seeds of the fuzz targets.

use std::fs;
use std::path::Path;

use crate::needs::shared;

/// The seeds of a target.
pub(crate) fn of(target: &str) -> Vec<Vec<u8>> {
    match target {
        "fen" => table("fen.tsv", |fields| Some(fields.first()?.replace("\\t", "\t"))),
        "san" => {
            let line = |fields: &[&str]| Some(format!("{}\n{}", fields.first()?, fields.get(1)?));
            let mut seeds = table("san.tsv", line);
            seeds.extend(table("san_lax.tsv", line));
            seeds.extend(games().into_iter().map(|game| [b"\n".to_vec(), game].concat()));
            seeds
        }
        _ => games(),
    }
}

/// Seeds made of the rows of a table in `tests/data`.
fn table(name: &str, seed: impl Fn(&[&str]) -> Option<String>) -> Vec<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    let text = fs::read_to_string(path).expect("a table");
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    rows.filter_map(|row| seed(&row.split('\t').collect::<Vec<_>>())).map(String::into_bytes).collect()
}

/// The examples, and the PGN files of other programs' tests if they are available.
fn games() -> Vec<Vec<u8>> {
    const MOST: u64 = 64 << 10;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = vec![root.join("examples/famous-games.pgn"), root.join("examples/synthetic.pgn")];
    let mut directories = Vec::from_iter(shared("edge"));
    while let Some(directory) = directories.pop() {
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        for path in entries.map(|entry| entry.expect("an entry").path()) {
            let is_small =
                fs::metadata(&path).is_ok_and(|metadata| metadata.is_file() && metadata.len() < MOST);
            if path.is_dir() {
                directories.push(path);
            } else if is_small && path.extension().is_some_and(|extension| extension == "pgn") {
                paths.push(path);
            }
        }
    }
    // The system lists a directory in any order.
    paths[2..].sort();
    paths.iter().map(|path| fs::read(path).expect("a seed")).collect()
}
