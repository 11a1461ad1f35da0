//! Writes `position_game` and `continuation`: the positions of all games, and the moves played from frequent
//! positions, sorted by key.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, Int64Array, StringArray};
use rayon::ThreadPool;

use super::cells::Columns;
use super::moves::AllGames;
use super::part::{Encoder, Part};
use super::schema::{CONTINUATION, GROUP_ROWS, POSITION_GAME};
use crate::board::{FenText, GameResult, MoveCode, Position, PositionKey};
use crate::id::{GameId, Ply};
use crate::parallel;
use crate::sort::{Partitions, Record};
use crate::store::row::ResultCounts;
use crate::store::row::virtual_table::Cell;
use crate::store::{Error, Result};

/// One occurrence of a position in a game, and the move played there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PlayedOccurrence {
    /// The key with its highest bit inverted: the order of these unsigned numbers is that of the signed keys.
    key: u64,
    game: u32,
    /// Twice the ply, plus 1 if the game starts from a set-up position.
    ply: u32,
    code: u32,
}

/// The occurrences in all games.
pub(super) type PlayedOccurrences = Partitions<PlayedOccurrence>;

impl PlayedOccurrence {
    const SIGN: u64 = 1 << 63;
    /// Stored if no move was played. All bits are set, unlike in the code of any move.
    const NOTHING: u32 = u32::MAX;

    #[inline]
    pub(super) fn new(
        key: PositionKey,
        game: GameId,
        ply: Ply,
        is_setup: bool,
        code: Option<MoveCode>,
    ) -> Self {
        let code = code.map_or(Self::NOTHING, MoveCode::bits);
        Self { key: key.0 ^ Self::SIGN, game: game.0, ply: ply.0 << 1 | u32::from(is_setup), code }
    }

    const fn key(self) -> i64 {
        (self.key ^ Self::SIGN).cast_signed()
    }

    const fn game(self) -> GameId {
        GameId(self.game)
    }

    const fn ply(self) -> Ply {
        Ply(self.ply >> 1)
    }

    const fn is_setup(self) -> bool {
        self.ply & 1 == 1
    }

    const fn move_code(self) -> Option<u32> {
        if self.code == Self::NOTHING { None } else { Some(self.code) }
    }
}

impl Record for PlayedOccurrence {
    const BYTES: usize = 20;

    #[inline]
    fn sort_key(self) -> u128 {
        u128::from(self.key) << 64 | u128::from(self.game) << 32 | u128::from(self.ply)
    }

    fn write(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.key.to_le_bytes());
        [self.game, self.ply, self.code].iter().for_each(|part| bytes.extend(part.to_le_bytes()));
    }

    fn read(bytes: &[u8]) -> Self {
        let (key, rest) = bytes.split_first_chunk().expect("as many bytes as were written");
        let parts = rest.as_chunks::<4>().0;
        let [game, ply, code] = [0, 1, 2].map(|index| u32::from_le_bytes(parts[index]));
        Self { key: u64::from_le_bytes(*key), game, ply, code }
    }
}

/// The number of leading bits of a key that determine its directory.
pub(super) const PREFIX_BITS: u32 = 8;

impl AllGames<'_> {
    /// Writes `position_game` and `continuation`, with one directory for each value of the key's first byte.
    /// Each thread sorts at most about `at_once` occurrences at a time. Returns the number of distinct keys.
    pub(super) fn write_by_key(
        &self,
        visits: &PlayedOccurrences,
        pool: &ThreadPool,
        at_once: usize,
    ) -> Result<u64> {
        let (by_position, by_move) = (Encoder::new(&POSITION_GAME), Encoder::new(&CONTINUATION));
        let start = (Position::start(), FenText::new(&Position::start()));
        let write = |prefix: usize| {
            self.check_stop()?;
            // Partitions are in the order of signed keys, so the first one has the keys with the first byte
            // 0x80.
            let directory = format!("key_prefix={}/", prefix ^ 0x80);
            let mut rows = OccurrenceRows::new(self, &by_position, &directory);
            let mut moves = None;
            let mut write_moves =
                |mut columns: Columns| self.output.append(&mut moves, &by_move, &directory, &columns.take());
            let mut counter = Counter::new(self, &start);
            visits.drain_sorted(prefix, at_once, |piece| {
                for &visit in piece {
                    rows.push(visit)?;
                    counter.observe(visit);
                }
                let full = counter.columns.len().saturating_sub(1);
                counter.columns.drain(..full).try_for_each(&mut write_moves)
            })?;
            rows.finish()?;
            counter.end_key();
            counter.columns.into_iter().try_for_each(write_moves)?;
            self.output.complete(moves)?;
            Ok::<_, Error>(counter.distinct)
        };
        Ok(parallel::map(Some(pool), visits.len(), write)?.into_iter().sum())
    }

    /// Writes `position_game` to one file. Sorts at most about `at_once` occurrences at a time. Returns the
    /// number of distinct keys.
    pub(super) fn write_together(&self, visits: &PlayedOccurrences, at_once: usize) -> Result<u64> {
        let encoder = Encoder::new(&POSITION_GAME);
        let mut rows = OccurrenceRows::new(self, &encoder, "");
        let (mut distinct, mut key) = (0, None);
        for prefix in 0..visits.len() {
            visits.drain_sorted(prefix, at_once, |piece| {
                piece.iter().try_for_each(|&visit| {
                    distinct += u64::from(key.replace(visit.key) != Some(visit.key));
                    rows.push(visit)
                })
            })?;
        }
        rows.finish()?;
        Ok(distinct)
    }
}

/// Rows of `position_game` for a file. The file is created when the first rows are written.
struct OccurrenceRows<'r> {
    all: &'r AllGames<'r>,
    encoder: &'r Encoder,
    directory: &'r str,
    columns: OccurrenceColumns,
    part: Option<Part>,
}

/// The columns of `position_game`.
#[derive(Default)]
struct OccurrenceColumns {
    key: Vec<i64>,
    game_id: Vec<i64>,
    ply: Vec<i32>,
    move_code: Vec<Option<i32>>,
    result: Vec<GameResult>,
    elos: [Vec<Option<i32>>; 2],
}

impl OccurrenceColumns {
    /// The columns in the order of the table.
    fn finish(self) -> Vec<ArrayRef> {
        let [white, black] = self.elos;
        vec![
            Arc::new(Int64Array::from(self.key)),
            Arc::new(Int64Array::from(self.game_id)),
            Arc::new(Int32Array::from(self.ply)),
            Arc::new(Int32Array::from(self.move_code)),
            Arc::new(StringArray::from_iter_values(self.result.iter().map(|result| result.as_str()))),
            Arc::new(Int32Array::from(white)),
            Arc::new(Int32Array::from(black)),
        ]
    }
}

impl<'r> OccurrenceRows<'r> {
    fn new(all: &'r AllGames<'r>, encoder: &'r Encoder, directory: &'r str) -> Self {
        Self { all, encoder, directory, columns: OccurrenceColumns::default(), part: None }
    }

    #[inline]
    fn push(&mut self, visit: PlayedOccurrence) -> Result<()> {
        let columns = &mut self.columns;
        let game = self.all.games.of(visit.game());
        columns.key.push(visit.key());
        columns.game_id.push(self.all.id(visit.game()));
        columns.ply.push(visit.ply().0.cast_signed());
        columns.move_code.push(visit.move_code().map(u32::cast_signed));
        columns.result.push(game.result());
        for (column, elo) in columns.elos.iter_mut().zip(game.elos()) {
            column.push(elo.map(i32::from));
        }
        if columns.key.len() == GROUP_ROWS { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.all.check_stop()?;
        let columns = std::mem::take(&mut self.columns).finish();
        self.all.output.append(&mut self.part, self.encoder, self.directory, &columns)
    }

    fn finish(mut self) -> Result<()> {
        self.flush()?;
        self.all.output.complete(self.part)
    }
}

/// Counts the moves played from positions that many games reached.
struct Counter<'c> {
    all: &'c AllGames<'c>,
    /// The minimum number of games that must reach a position for its moves to be counted.
    threshold: u32,
    start: &'c (Position, FenText),
    /// The occurrences of the latest key, while there are fewer than `threshold`.
    pending: Vec<PlayedOccurrence>,
    /// The counts of the latest key, once it has at least `threshold` occurrences.
    counts: Option<Counts>,
    key: Option<u64>,
    distinct: u64,
    /// Rows of `continuation`; each element has the columns of one row group.
    columns: Vec<Columns>,
}

/// The counts of one key.
struct Counts {
    moves: BTreeMap<u32, ResultCounts>,
    games: u64,
    /// The occurrence that is counted for the latest game: the last occurrence so far from which a move was
    /// played. If the game reached the position only at its end, this is the occurrence at the end.
    latest: PlayedOccurrence,
    /// The first occurrence in a game from the standard start position, if there is one.
    standard: Option<PlayedOccurrence>,
    /// The FEN at the first occurrence in a game from a set-up, if there is one.
    fen: Option<String>,
    /// Whether two positions share the key. If so, `continuation` gets no rows for this key.
    is_shared: bool,
}

impl<'c> Counter<'c> {
    fn new(all: &'c AllGames<'c>, start: &'c (Position, FenText)) -> Self {
        let threshold = all.options.continuation_threshold.max(1);
        Self {
            all,
            threshold,
            start,
            pending: Vec::new(),
            counts: None,
            key: None,
            distinct: 0,
            columns: Vec::new(),
        }
    }

    fn observe(&mut self, visit: PlayedOccurrence) {
        if self.key != Some(visit.key) {
            self.end_key();
            self.key = Some(visit.key);
            self.distinct += 1;
        }
        if self.counts.is_some() {
            return self.count(visit);
        }
        self.pending.push(visit);
        if self.pending.len() >= self.threshold as usize {
            let pending = std::mem::take(&mut self.pending);
            pending.iter().for_each(|&visit| self.count(visit));
            self.pending = pending;
            self.pending.clear();
        }
    }

    fn count(&mut self, visit: PlayedOccurrence) {
        let counts = self.counts.get_or_insert_with(|| Counts {
            moves: BTreeMap::new(),
            games: 0,
            latest: visit,
            standard: None,
            fen: None,
            is_shared: false,
        });
        if counts.latest.game != visit.game {
            counts.end_game(self.all);
            counts.latest = visit;
        } else if visit.code != PlayedOccurrence::NOTHING {
            counts.latest = visit;
        }
        if !visit.is_setup() {
            counts.standard.get_or_insert(visit);
        } else if !counts.is_shared {
            // Two positions can have the same key. The key does not say which of two rooks has a castling
            // right, and somebody could construct a set-up with the key of another position.
            let fen = self.all.moves.of(visit.game()).fen_at(visit.ply(), self.start);
            counts.is_shared = *counts.fen.get_or_insert_with(|| fen.clone()) != fen;
        }
    }

    /// Adds the counts of the latest key to the columns, if enough games reached its position and no other
    /// position has the key.
    fn end_key(&mut self) {
        self.pending.clear();
        let Some(mut counts) = self.counts.take() else { return };
        counts.end_game(self.all);
        if let (Some(visit), Some(fen)) = (counts.standard, &counts.fen) {
            let standard = self.all.moves.of(visit.game()).fen_at(visit.ply(), self.start);
            counts.is_shared |= standard != *fen;
        }
        if counts.is_shared || counts.games < u64::from(self.threshold) {
            return;
        }
        let key = counts.latest.key();
        for (code, counts) in counts.moves {
            if self.columns.last().is_none_or(|columns| columns.rows == GROUP_ROWS) {
                self.columns.push(Columns::of_table(&CONTINUATION));
            }
            let columns = self.columns.last_mut().expect("columns were just added");
            let [white, black] = [counts.white_elo, counts.black_elo];
            let numbers = [
                key,
                code.into(),
                counts.games().cast_signed(),
                counts.white_wins.into(),
                counts.draws.into(),
                counts.black_wins.into(),
                white.sum.cast_signed(),
                white.games.into(),
                black.sum.cast_signed(),
                black.games.into(),
            ];
            let years = [counts.first_year, counts.last_year];
            let years = years.map(|year| year.map_or(Cell::Null, |year| Cell::Integer(year.into())));
            columns.push(numbers.into_iter().map(Cell::Integer).chain(years));
        }
    }
}

impl Counts {
    /// Adds the latest game to the counts.
    fn end_game(&mut self, all: &AllGames<'_>) {
        self.games += 1;
        let game = all.games.of(self.latest.game());
        if game.result() == GameResult::Unknown {
            return;
        }
        if let Some(code) = self.latest.move_code() {
            game.add_to(self.moves.entry(code).or_default());
        }
    }
}
