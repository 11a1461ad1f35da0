//! The inputs of the benchmarks.
#![allow(dead_code)] // Each benchmark uses a part of this module.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use pgndex::board::Position;
use pgndex::pgn::{Reader, Token};

/// A PGN text, all games of which are replayed.
pub(crate) struct Corpus {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) text: Vec<u8>,
    pub(crate) games: u64,
    pub(crate) plies: u64,
    /// The XOR of the keys of the positions after each move. A replay must compute the same value.
    pub(crate) keys: u64,
}

impl fmt::Display for Corpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let megabytes = self.text.len() as f64 / 1e6;
        write!(f, "{} ({} games, {} plies, {megabytes:.1} MB)", self.name, self.games, self.plies)
    }
}

/// The synthetic sample and, if available, a real collection of 40,000 games.
pub(crate) fn standard_corpora() -> impl Iterator<Item = &'static Corpus> {
    static CORPORA: LazyLock<Vec<Corpus>> = LazyLock::new(|| {
        let project = Path::new(env!("CARGO_MANIFEST_DIR"));
        let shared = std::env::var_os("PGNDEX_SHARED").map_or(project.join("../shared"), PathBuf::from);
        let sample = load("synthetic", project.join("examples/synthetic.pgn"));
        let real = unpack(&shared.join("corpora/otb-40k.pgn.zst")).map(|path| load("otb-40k", path));
        if real.is_none() {
            eprintln!(
                "only the shipped sample is measured: no ../shared/corpora/otb-40k.pgn.zst, or no zstd"
            );
        }
        [Some(sample), real].into_iter().flatten().collect()
    });
    CORPORA.iter()
}

/// Unpacks an archive into the build directory, unless it is unpacked there already.
fn unpack(archive: &Path) -> Option<PathBuf> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(archive.file_stem()?);
    if archive.is_file() && !target.is_file() {
        let mut zstd = Command::new("zstd");
        zstd.args(["-q", "-d", "--long=27"]).arg(archive).arg("-o").arg(&target);
        zstd.status().ok().filter(std::process::ExitStatus::success)?;
    }
    target.is_file().then_some(target)
}

fn load(name: &str, path: PathBuf) -> Corpus {
    let text = std::fs::read(&path).expect("the input can be read");
    let (mut games, mut plies, mut keys) = (0, 0, 0);
    let mut reader = Reader::new(&text);
    let (mut tags, mut problems) = (Vec::new(), Vec::new());
    while reader.next_game(&mut tags, &mut problems) {
        games += 1;
        let mut position = Position::start();
        loop {
            match reader.next_token() {
                Token::Move(san) => {
                    let code = position.resolve(san).expect("a legal move");
                    position.make(code).expect("a legal move");
                    keys ^= position.key().0;
                    plies += 1;
                }
                Token::End | Token::Result(_) => break,
                _ => {}
            }
        }
    }
    Corpus { name: name.to_owned(), path, games, plies, keys, text }
}
