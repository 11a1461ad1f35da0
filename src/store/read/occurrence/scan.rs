//! Finds games with a position that matches a description, by reading all positions of the games that can
//! match.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::ops::RangeInclusive;
use std::sync::Mutex;

use crate::board::MoveCode;
use crate::parallel;
use crate::sorted::{SortedMap, sort, sort_by_key};
use crate::store::block_games::BlockGames;
use crate::store::block_set::{block_of, game_of, games_of};
use crate::store::blocks::{has_games, last_block};
use crate::store::cell::VARIATION;
use crate::store::database::SetUp;
use crate::store::read::features::FeatureMatches;
use crate::store::read::occurrence::hit::{GameSortKey, HitLocation};
use crate::store::row::{GameId, Ply};
use crate::store::{Database, FeatureQuery, Hit, HitOrder, Lines, Result, Selection, Stop};

/// The number of games per chunk. A chunk has about 20,000 positions, and reading it takes a few
/// milliseconds.
pub(super) const GAMES: u32 = 250;
/// The maximum number of games that are read only to count matches. Reading them takes about a tenth of a
/// second.
const FEW: u32 = 12_000;
/// The maximum number of chunks per thread that are read together before their hits are returned.
const PIECES: usize = 16;

const LOOK: &str = "search the positions of the games";
const SETS: &str = "search the sets of games";

/// The games to scan, and the part of the hits to return.
#[derive(Clone, Copy, Debug)]
pub struct Scan<'a> {
    /// The lines to search.
    pub lines: Lines,
    /// The games to search.
    pub selection: &'a Selection,
    /// The order of the hits.
    pub order: HitOrder,
    /// The maximum number of hits; `None`: all.
    pub limit: Option<u32>,
    /// How many hits to skip first.
    pub offset: u32,
}

/// A condition to search for in the lines of games.
pub trait Seek: Sync {
    /// State kept for a line while its positions are read.
    type Line;

    /// Whether [`matters`](Self::matters) and [`observe`](Self::observe) need the moves.
    fn asks_for_moves(&self) -> bool {
        false
    }

    /// Whether a position is relevant. Of an irrelevant position, only the FEN and the move are read.
    fn matters(&self, fen: &[u8], played: Option<MoveCode>) -> bool;

    /// Selects, by sets, the games whose main line can match.
    fn feature_query(&self) -> FeatureQuery {
        FeatureQuery::any()
    }

    /// Starts a line.
    fn begin(&self) -> Self::Line;

    /// Processes the next [relevant](Self::matters) position of a line: its ply, its canonical FEN and the
    /// move played. The move is passed only in a main line, and only if [needed](Self::asks_for_moves).
    /// Returns the ply of the match as soon as a match is found.
    fn observe(&self, line: &mut Self::Line, ply: Ply, fen: &[u8], played: Option<MoveCode>) -> Option<Ply>;
}

/// A function that returns whether a FEN matches. The search finds the first position with a matching FEN.
impl<F: Fn(&[u8]) -> bool + Sync> Seek for F {
    type Line = ();

    fn matters(&self, fen: &[u8], _: Option<MoveCode>) -> bool {
        self(fen)
    }

    fn begin(&self) {}

    fn observe(&self, (): &mut (), ply: Ply, _: &[u8], _: Option<MoveCode>) -> Option<Ply> {
        Some(ply)
    }
}

/// Connections for the threads of rayon's current pool. A thread opens its connection when it first needs it.
pub(super) struct Readers<'a> {
    database: &'a std::path::Path,
    set_up: SetUp,
    stop: Option<Stop>,
    open: Vec<Mutex<Option<Database>>>,
}

impl<'a> Readers<'a> {
    pub(super) fn new(database: &'a Database) -> Self {
        let open = (0..rayon::current_num_threads()).map(|_| Mutex::new(None)).collect();
        Self { database: database.path(), set_up: database.set_up(), stop: database.stop(), open }
    }

    fn open(&self) -> Result<Database> {
        let database = Database::open_read_only_with(self.database, self.set_up)?;
        if let Some(stop) = &self.stop {
            database.stop_when(stop)?;
        }
        Ok(database)
    }

    fn with<T>(&self, work: impl FnOnce(&Database) -> Result<T>) -> Result<T> {
        let index = rayon::current_thread_index().unwrap_or(0);
        match &mut *parallel::lock(&self.open[index]) {
            Some(database) => work(database),
            reader => work(reader.insert(self.open()?)),
        }
    }

    /// The results of `work` for each number below `count`, in order. All threads share the work.
    pub(super) fn map<T: Send>(
        &self,
        action: &'static str,
        count: usize,
        work: impl Fn(&Database, usize) -> rusqlite::Result<T> + Sync,
    ) -> Result<Vec<T>> {
        parallel::map(None, count, |index| {
            self.with(|database| work(database, index).map_err(database.failed(action)))
        })
    }
}

/// Searches the games in some ranges, and returns the first match of each game that has one.
type Look<'l> =
    dyn Fn(&Database, &[GameRange]) -> rusqlite::Result<SortedMap<GameId, HitLocation>> + Sync + 'l;

impl Database {
    /// Searches all games of a selection with all threads, and passes the first match of each game to `visit`
    /// until `visit` returns `false`. With [`Lines::All`], a game without a match in its main line is passed
    /// with the first match in its variations.
    ///
    /// With [`HitOrder::Game`], stops as soon as there are enough hits. With another order, stops early only
    /// if few games can match; otherwise first reads all games that can match.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn scan(
        &self,
        scan: &Scan<'_>,
        sought: &impl Seek,
        visit: &mut dyn FnMut(Hit) -> bool,
    ) -> Result<()> {
        let look = |database: &Self, ranges: &[GameRange]| database.scan_games(scan, ranges, sought);
        self.scan_all(scan, &sought.feature_query(), &look, visit)
    }

    fn scan_all(
        &self,
        scan: &Scan<'_>,
        query: &FeatureQuery,
        look: &Look<'_>,
        visit: &mut dyn FnMut(Hit) -> bool,
    ) -> Result<()> {
        let failed = self.failed(LOOK);
        let (mut skip, mut left) = (scan.offset, scan.limit);
        if left == Some(0) {
            return Ok(());
        }
        let mut pass = |place| {
            if skip > 0 {
                skip -= 1;
                return Ok(true);
            }
            left = left.map(|left| left - 1);
            let hit = self.hit(place, None).map_err(failed)?;
            Ok(hit.is_none_or(&mut *visit) && left != Some(0))
        };
        if scan.order == HitOrder::Game {
            return self.scan_in_order(scan, query, look, &mut pass);
        }
        let key = |GameSortKey { is_unfinished, rank, game: GameId(game) }| {
            (is_unfinished, rank, if scan.order.is_descending() { !game } else { game })
        };
        if let Some(few) = self.few_candidates(scan, query)? {
            let games = few.into_iter().flat_map(|(first, last)| (first.0..=last.0).map(GameId));
            let mut ranked = Vec::new();
            for game in games {
                let place = self.place(game, scan.order).map_err(failed)?;
                ranked.extend(place.map(|place| (key(place), game)));
            }
            sort(&mut ranked);
            let mut ranked = ranked.into_iter().map(|(_, game)| (game, game));
            let mut next = || Ok(ranked.by_ref().take(GAMES as usize).collect());
            return self.scan_pieces(look, &mut next, &mut pass);
        }
        let mut found = Vec::new();
        self.scan_in_order(scan, query, look, &mut |location| {
            let place = self.place(location.game, scan.order).map_err(failed)?;
            found.extend(place.map(|place| (key(place), location)));
            Ok(true)
        })?;
        sort_by_key(&mut found, |&(key, _)| key);
        for (_, location) in found {
            if !pass(location)? {
                break;
            }
        }
        Ok(())
    }

    /// The games that can match; `None` if their number is more than a quarter of the last game's id. Then
    /// they are too many to be sorted before they are read.
    fn few_candidates(&self, scan: &Scan<'_>, query: &FeatureQuery) -> Result<Option<Vec<GameRange>>> {
        let most = self.last_game()?.unwrap_or_default().0 / 4;
        let few = Candidates::new(self, query, scan.lines)?.take(most + 1)?;
        Ok((games_in(&few) <= most).then_some(few))
    }

    /// Passes matches to `pass`, in the order of games, until `pass` returns `false`.
    fn scan_in_order(
        &self,
        scan: &Scan<'_>,
        query: &FeatureQuery,
        look: &Look<'_>,
        pass: &mut dyn FnMut(HitLocation) -> Result<bool>,
    ) -> Result<()> {
        let mut candidates = Candidates::new(self, query, scan.lines)?;
        self.scan_pieces(look, &mut || candidates.take(GAMES), pass)
    }

    /// Searches the chunks that `next` returns, and passes the matches to `pass`, until `pass` returns
    /// `false` or `next` returns no games.
    fn scan_pieces(
        &self,
        look: &Look<'_>,
        next: &mut dyn FnMut() -> Result<Vec<GameRange>>,
        pass: &mut dyn FnMut(HitLocation) -> Result<bool>,
    ) -> Result<()> {
        let readers = Readers::new(self);
        // The first matches can be enough, so the first rounds read few chunks.
        let threads = rayon::current_num_threads();
        let mut width = threads;
        loop {
            self.check_stop()?;
            let mut pieces = Vec::with_capacity(width);
            while pieces.len() < width {
                match next()? {
                    piece if piece.is_empty() => break,
                    piece => pieces.push(piece),
                }
            }
            if pieces.is_empty() {
                break;
            }
            // An unreadable chunk is not an error if the chunks before it have enough matches.
            let Ok(found) = parallel::map(None, pieces.len(), |index| {
                let found =
                    readers.with(|database| look(database, &pieces[index]).map_err(database.failed(LOOK)));
                Ok::<_, Infallible>(found)
            });
            for (piece, found) in pieces.iter().zip(found) {
                let found = found?;
                for &(first, last) in piece {
                    for &(_, place) in found.range(first, last) {
                        if !pass(place)? {
                            return Ok(());
                        }
                    }
                }
            }
            width = (width * 2).min(threads * PIECES);
        }
        Ok(())
    }

    /// The first match of each game in some ranges, for games that have one.
    fn scan_games(
        &self,
        scan: &Scan<'_>,
        ranges: &[GameRange],
        sought: &impl Seek,
    ) -> rusqlite::Result<SortedMap<GameId, HitLocation>> {
        let asks_for_moves = sought.asks_for_moves();
        let mut found = SortedMap::new();
        // With `Lines::All`, `each_position` visits only variations.
        let passes: &[Lines] =
            if scan.lines == Lines::All { &[Lines::Main, Lines::All] } else { &[Lines::Main] };
        for &lines in passes {
            let mut state = None;
            self.each_position(scan.selection, lines, ranges, |fen, row| {
                let played = if asks_for_moves { row.played()? } else { None };
                if !sought.matters(fen, played) {
                    return Ok(());
                }
                let game = row.game()?;
                if found.contains_key(&game) {
                    return Ok(());
                }
                let (line, ply) = (row.line()?, row.ply()?);
                let seen = match &mut state {
                    Some((of, seen)) if *of == (game, line) => seen,
                    state => &mut state.insert(((game, line), sought.begin())).1,
                };
                if let Some(ply) = sought.observe(seen, ply, fen, played) {
                    found.insert(game, HitLocation { game, line, ply });
                }
                Ok(())
            })?;
        }
        Ok(found)
    }

    /// The number of games of a selection that have a match; `None` if it cannot be computed quickly. It is
    /// computed from the sets of games alone, or by reading the games that the sets select, if these are few.
    ///
    /// # Errors
    /// The same errors as [`scan`](Self::scan).
    pub fn count_scanned(&self, scan: &Scan<'_>, sought: &impl Seek) -> Result<Option<u64>> {
        let query = sought.feature_query();
        if scan.lines == Lines::Main
            && scan.selection.is_all()
            && let Some(count) = self.count_exact(&query)?
        {
            return Ok(Some(count));
        }
        let few = Candidates::new(self, &query, scan.lines)?.take(FEW + 1)?;
        if games_in(&few) > FEW {
            return Ok(None);
        }
        let mut count = 0;
        let look = |database: &Self, ranges: &[GameRange]| database.scan_games(scan, ranges, sought);
        self.scan_in_order(scan, &query, &look, &mut |_| {
            count += 1;
            Ok(true)
        })?;
        Ok(Some(count))
    }
}

/// The number of ids in some ranges.
fn games_in(ranges: &[GameRange]) -> u32 {
    ranges.iter().map(|(first, last)| last.0 - first.0 + 1).sum()
}

/// The first and the last id of a range, which can contain ids without a game.
pub(super) type GameRange = (GameId, GameId);

/// The games that can match a search, block by block, in order: games that the sets select, games with
/// unknown features and, if variations are searched, all games with variations. Only these games are read.
struct Candidates<'c> {
    database: &'c Database,
    query: &'c FeatureQuery,
    lines: Lines,
    /// The remaining ranges of the block read last.
    ranges: VecDeque<GameRange>,
    /// The numbers of the blocks that are not read yet.
    blocks: RangeInclusive<u32>,
    last: GameId,
}

impl<'c> Candidates<'c> {
    fn new(database: &'c Database, query: &'c FeatureQuery, lines: Lines) -> Result<Self> {
        let last = database.last_game()?.unwrap_or_default();
        Ok(Self { database, query, lines, ranges: VecDeque::new(), blocks: 0..=block_of(last).0, last })
    }

    /// The next ranges, with at most `most` ids in total; empty at the end.
    fn take(&mut self, most: u32) -> Result<Vec<GameRange>> {
        let (mut taken, mut left) = (Vec::new(), most);
        while left > 0 {
            let Some(&(first, last)) = self.ranges.front() else {
                match self.next_block().map_err(self.database.failed(SETS))? {
                    true => continue,
                    false => break,
                }
            };
            if last.0 - first.0 < left {
                taken.push((first, last));
                left -= last.0 - first.0 + 1;
                self.ranges.pop_front();
            } else {
                taken.push((first, GameId(first.0 + left - 1)));
                self.ranges[0] = (GameId(first.0 + left), last);
                left = 0;
            }
        }
        Ok(taken)
    }

    /// Reads the ranges of the next block that has games. Returns whether there is one.
    fn next_block(&mut self) -> rusqlite::Result<bool> {
        let connection = self.database.connection();
        while let Some(block) = self.blocks.next() {
            if has_games(connection, games_of(block))? {
                let mut games = self.of_block(block)?;
                games.limit(0..=block_of(self.last.min(game_of(block, u16::MAX))).1);
                let range =
                    |run: RangeInclusive<u16>| (game_of(block, *run.start()), game_of(block, *run.end()));
                self.ranges.extend(games.runs().into_iter().map(range));
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn of_block(&self, block: u32) -> rusqlite::Result<BlockGames> {
        let FeatureMatches { mut matching, unknown } =
            FeatureMatches::read(self.database.connection(), block, self.query)?;
        matching.add(&unknown);
        if self.lines == Lines::All {
            // The sets cover main lines only.
            let sql = "SELECT DISTINCT game_id FROM variation WHERE game_id BETWEEN ?1 AND ?2";
            VARIATION.each(self.database.connection(), sql, games_of(block), |cells| {
                matching.insert(block_of(cells.get(0)?).1);
                Ok(())
            })?;
        }
        Ok(matching)
    }
}

impl Database {
    /// The number of games that match, if the sets alone determine it: the features of all games are known,
    /// and the query is exact. Otherwise `None`.
    ///
    /// # Errors
    /// Errors of SQLite.
    fn count_exact(&self, query: &FeatureQuery) -> Result<Option<u64>> {
        let count = || -> rusqlite::Result<Option<u64>> {
            if !query.is_exact() {
                return Ok(None);
            }
            let mut count = 0;
            for block in 0..=last_block(self.connection())? {
                let FeatureMatches { matching, unknown } =
                    FeatureMatches::read(self.connection(), block, query)?;
                for run in unknown.runs() {
                    let games = [*run.start(), *run.end()].map(|number| game_of(block, number).0);
                    if has_games(self.connection(), games)? {
                        return Ok(None);
                    }
                }
                count += u64::from(matching.len());
            }
            Ok(Some(count))
        };
        count().map_err(self.failed(SETS))
    }
}
