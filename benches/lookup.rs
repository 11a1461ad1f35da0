//! The first page of `pgndex find`: open the database, read 15 hits, count all hits.
//!
//! The database is made from the synthetic sample. With `PGNDEX_BENCH=games.pgn`, it is made from another collection.
//! With `PGNDEX_BENCH=games.db`, a finished database is used:
//!
//! ```sh
//! pgndex index otb-400k.db otb-400k.pgn && PGNDEX_BENCH=otb-400k.db cargo bench --bench lookup
//! ```

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use divan::Bencher;
use pgndex::board::{GameResult, Position, PositionKey};
use pgndex::index::{IndexOptions, Progress, index};
use pgndex::store::row::{GameId, Ply};
use pgndex::store::{Database, GameFilter, HitCount, HitOrder, Lines, ListLengths, Search};

fn main() {
    eprintln!("database: {}", DATABASE.display());
    divan::main();
}

/// The database to query.
static DATABASE: LazyLock<PathBuf> = LazyLock::new(|| {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/synthetic.pgn");
    let source = std::env::var_os("PGNDEX_BENCH").map_or(sample, PathBuf::from);
    if source.extension().is_some_and(|extension| extension == "db") {
        return source;
    }
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lookup.db");
    let options = IndexOptions { overwrite: true, ..IndexOptions::default() };
    index(&target, &[source], &options, &Progress::default()).expect("an index");
    target
});

/// A position with its name.
struct Target {
    name: &'static str,
    key: PositionKey,
    fen: String,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The start position, a common position of the Sicilian Defence, and a rare position at move 21.
fn targets() -> Vec<Target> {
    let after = |name, moves: &str| {
        let mut position = Position::start();
        for san in moves.split_whitespace() {
            position.play_san(san.as_bytes()).expect("a legal move");
        }
        Target { name, key: position.key(), fen: position.canonical_fen() }
    };
    vec![after("start position", ""), after("1. e4 c5 2. Nf3 d6", "e4 c5 Nf3 d6"), rare()]
}

/// Of the positions before move 21 in the first 100 games with more than 40 half-moves, the one with the fewest
/// occurrences.
fn rare() -> Target {
    let database = Database::open_read_only(&DATABASE).expect("a database");
    let sql = "SELECT game_id FROM game WHERE ply_count > 40 AND status = 'ok' ORDER BY game_id LIMIT 100";
    let mut games = database.connection().prepare(sql).expect("SQL");
    let games = games.query_map([], |row| row.get(0).map(GameId)).expect("games");
    let counted = games.map(|game| {
        let record = database.game(game.expect("a game")).expect("a game");
        let stored = record.positions.into_iter().find(|stored| stored.ply == Ply(40)).expect("a position");
        let count = database.count_position(stored.key, &stored.fen, u32::MAX).expect("a count");
        (count.occurrences, stored)
    });
    let (_, stored) = counted.min_by_key(|(count, _)| *count).expect("games of more than 40 half-moves");
    Target { name: "rare", key: stored.key, fen: stored.fen }
}

fn first_page(bencher: Bencher<'_, '_>, target: &Target, order: HitOrder, filter: &GameFilter) {
    bencher.bench_local(|| {
        let database = Database::open_read_only(&DATABASE).expect("a database");
        let selection = database.select(filter).expect("a selection");
        let (key, fen) = (target.key, target.fen.as_str());
        let lines = Lines::Main;
        let search = Search { key, fen, lines, selection: &selection, order, limit: Some(15), offset: 0 };
        let mut hits = Vec::new();
        let visited = database.visit_hits(&search, &mut |hit| {
            hits.push(hit);
            true
        });
        visited.expect("hits");
        match database.count_hits(&search).expect("a count") {
            HitCount::Exact { occurrences, .. } => assert_eq!(hits.len() as u64, occurrences.min(15)),
            HitCount::Games(games) | HitCount::AtLeast(games) => assert!(hits.len() as u64 >= games.min(15)),
        }
    });
}

#[divan::bench(args = targets())]
fn in_order_of_games(bencher: Bencher<'_, '_>, target: &Target) {
    first_page(bencher, target, HitOrder::Game, &GameFilter::default());
}

#[divan::bench(args = targets())]
fn best_rated_first(bencher: Bencher<'_, '_>, target: &Target) {
    first_page(bencher, target, HitOrder::Rating, &GameFilter::default());
}

#[divan::bench(args = targets())]
fn latest_first(bencher: Bencher<'_, '_>, target: &Target) {
    first_page(bencher, target, HitOrder::Date, &GameFilter::default());
}

/// The games of one player: the search starts from the player's games if there are fewer of them than occurrences.
#[divan::bench(args = targets())]
fn of_one_player(bencher: Bencher<'_, '_>, target: &Target) {
    let database = Database::open_read_only(&DATABASE).expect("a database");
    let sql = "SELECT name FROM player ORDER BY player_id LIMIT 1 OFFSET (SELECT count(*) / 2 FROM player)";
    let name: String = database.connection().query_row(sql, [], |row| row.get(0)).expect("a player");
    let player = Some(format!("={name}").parse().expect("a name"));
    first_page(bencher, target, HitOrder::Game, &GameFilter { player, ..GameFilter::default() });
}

/// Filters on the games whose moves are counted.
const FILTERS: [&str; 5] =
    ["all games", "both 2500 or more", "2010 to 2015", "one player", "won by White, B00 to B99"];

fn filter(name: &str) -> GameFilter {
    let all = GameFilter::default();
    match name {
        "both 2500 or more" => GameFilter { elo_min: Some(2500), ..all },
        "2010 to 2015" => GameFilter { since: "2010".parse().ok(), until: "2015".parse().ok(), ..all },
        "one player" => GameFilter { player: "carlsen".parse().ok(), ..all },
        "won by White, B00 to B99" => {
            GameFilter { result: Some(GameResult::White), eco: "B".parse().ok(), ..all }
        }
        _ => all,
    }
}

/// The moves played from the start position, with its highest-rated and latest games.
#[divan::bench(args = FILTERS)]
fn explored_from_the_start(bencher: Bencher<'_, '_>, name: &str) {
    explore(bencher, &targets()[0], name);
}

/// The same counts for a common position of the Sicilian Defence.
#[divan::bench(args = FILTERS)]
fn explored_from_the_sicilian(bencher: Bencher<'_, '_>, name: &str) {
    explore(bencher, &targets()[1], name);
}

/// The same counts for the rare position, which usually only one game reached.
#[divan::bench]
fn explored_with_one_game(bencher: Bencher<'_, '_>) {
    explore(bencher, &rare(), "all games");
}

fn explore(bencher: Bencher<'_, '_>, target: &Target, name: &str) {
    let filter = filter(name);
    bencher.bench_local(|| {
        let database = Database::open_read_only(&DATABASE).expect("a database");
        let selection = database.select(&filter).expect("a selection");
        let found = database
            .explore(target.key, &target.fen, &selection, ListLengths::MAX.into())
            .expect("an exploration");
        assert!(!filter.is_empty() || found.results.games() + found.unfinished > 0);
    });
}
