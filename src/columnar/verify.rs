//! Checks Parquet files: compares the files with their manifest, `position_game` with `game_position`, and
//! games with the rules of chess.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, Int32Array, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use rayon::ThreadPoolBuilder;

use super::output::{Manifest, PARTIAL, Result, TableTotals, WrittenBy, entries};
use super::part::{ListedFile, io_error};
use super::progress::Progress;
use super::schema::{Placed, TABLES};
use crate::board::{MoveCode, Position};
use crate::parallel;
use crate::store::Error;

/// Options of a check.
#[derive(Clone, Copy, Debug)]
pub struct VerifyOptions {
    /// The approximate number of games to replay in each shard; `None` for all games.
    pub sample: Option<u32>,
    /// The maximum number of findings to keep; all are counted.
    pub limit: usize,
    /// The number of worker threads; 0 for one per processor.
    pub threads: usize,
}

/// The result of a check.
#[derive(Clone, Debug, Default)]
pub struct VerifyReport {
    /// The number of files checked.
    pub files: u64,
    /// The total size of the checked files in bytes, as listed in the manifests.
    pub bytes: u64,
    /// The number of rows of `game`.
    pub games: u64,
    /// The number of rows of `game_position`.
    pub positions: u64,
    /// The number of games replayed.
    pub replayed_games: u64,
    /// The first findings. Each consists of a path and a description of the fault.
    pub findings: Vec<String>,
    /// The number of all findings.
    pub found: u64,
}

/// Checks the Parquet files of all shards in a directory. Writes nothing.
///
/// # Errors
/// If there is no manifest. If the directory or a manifest cannot be read, or an unchanged file cannot be read
/// as Parquet. If threads cannot be started, or the check is [stopped](Progress::stop). Files that are missing
/// or have changed are findings, not errors.
pub fn verify(directory: &Path, options: VerifyOptions, progress: &Progress) -> Result<VerifyReport> {
    let manifests = Manifest::all(directory)?;
    let pool = ThreadPoolBuilder::new().num_threads(options.threads).build();
    let pool = pool.map_err(|error| Error::io(directory, "start threads", std::io::Error::other(error)))?;
    let bytes = manifests.iter().flat_map(|manifest| &manifest.files).map(|file| file.bytes).sum();
    progress.total_bytes.store(bytes, Ordering::Relaxed);
    let findings = Findings { limit: options.limit, found: Mutex::default() };
    let mut report = VerifyReport::default();
    for manifest in &manifests {
        let check = Check { directory, manifest, options, progress, findings: &findings };
        pool.install(|| check.run(&mut report))?;
    }
    unlisted(directory, directory, &manifests, &findings)?;
    let (first, found) = parallel::into_inner(findings.found);
    Ok(VerifyReport { findings: first, found, bytes, ..report })
}

/// Collects findings.
struct Findings {
    limit: usize,
    /// The first findings, and the number of all findings.
    found: Mutex<(Vec<String>, u64)>,
}

impl Findings {
    fn add(&self, path: &Path, what: impl std::fmt::Display) {
        let (first, found) = &mut *parallel::lock(&self.found);
        *found += 1;
        if first.len() < self.limit {
            first.push(format!("{}: {what}", path.display()));
        }
    }
}

/// The check of one shard.
struct Check<'c> {
    directory: &'c Path,
    manifest: &'c Manifest,
    options: VerifyOptions,
    progress: &'c Progress,
    findings: &'c Findings,
}

/// 2^64 divided by the golden ratio. Its multiples, modulo 2^64, are evenly spread.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A hash of a row. The sum of the hashes of a table's rows does not depend on the order of the rows.
fn row_sum(key: i64, game_id: i64, ply: i32, move_code: Option<i32>) -> u64 {
    let code = move_code.map_or(u64::MAX, |code| u64::from(code.cast_unsigned()));
    let mut sum = 0_u64;
    for part in [key.cast_unsigned(), game_id.cast_unsigned(), ply.cast_unsigned().into(), code] {
        let mixed = (sum ^ part).wrapping_mul(GOLDEN);
        sum = mixed ^ mixed >> 29;
    }
    sum
}

impl Check<'_> {
    fn run(&self, report: &mut VerifyReport) -> Result<()> {
        let files = &self.manifest.files;
        let are_sound = parallel::map(None, files.len(), |index| self.content(&files[index]))?;
        self.totals(report);
        report.files += files.len() as u64;
        if are_sound.contains(&false) {
            // Further findings would be about the same damage.
            return Ok(());
        }
        let of = |table: &str| files.iter().filter(|file| file.table == table).collect::<Vec<_>>();
        let is_written_by_run = self.manifest.by_key == WrittenBy::Run;
        if is_written_by_run && self.rows(&of("game_position"))? != self.rows(&of("position_game"))? {
            let shard = self.manifest.shard;
            let found = format_args!("shard {shard}: position_game and game_position have different rows");
            self.findings.add(self.directory, found);
        }
        let (starts, expected) = self.starts(&of("game"))?;
        let positions: u64 = of("game_position").iter().map(|file| file.rows).sum();
        if i64::try_from(positions) != Ok(expected) {
            let shard = self.manifest.shard;
            let found = "game_position does not have all positions of the games";
            let found = format_args!("shard {shard}: {found}: {positions} rows, expected {expected}");
            self.findings.add(self.directory, found);
        }
        let games = of("game").iter().map(|file| file.rows).sum();
        report.replayed_games += self.replay(&of("game_position"), games, &starts)?;
        Ok(())
    }

    fn path(&self, file: &ListedFile) -> PathBuf {
        self.directory.join(&file.path)
    }

    /// Checks the contents and the number of rows of a file against the manifest. Returns whether both agree.
    fn content(&self, file: &ListedFile) -> Result<bool> {
        self.progress.check()?;
        let path = self.path(file);
        let is_inside =
            Path::new(&file.path).components().all(|part| matches!(part, std::path::Component::Normal(_)));
        let mut hasher = blake3::Hasher::new();
        let read = if is_inside {
            File::open(&path).and_then(|file| hasher.update_reader(file).map(|_| ()))
        } else {
            Err(std::io::ErrorKind::InvalidFilename.into())
        };
        self.progress.bytes.fetch_add(file.bytes, Ordering::Relaxed);
        if let Err(error) = read {
            self.findings.add(&path, format_args!("cannot be read: {error}"));
            return Ok(false);
        }
        if hasher.count() != file.bytes {
            let (found, written) = (hasher.count(), file.bytes);
            self.findings.add(&path, format_args!("has {found} bytes, but {written} were written"));
            return Ok(false);
        }
        if hasher.finalize().to_hex().as_str() != file.blake3 {
            self.findings.add(&path, "its contents have changed since they were written");
            return Ok(false);
        }
        let rows = open(&path)?.metadata().file_metadata().num_rows();
        let is_listed = u64::try_from(rows).is_ok_and(|rows| rows == file.rows);
        if !is_listed {
            self.findings.add(
                &path,
                format_args!("its number of rows is {rows}, but the manifest says {}", file.rows),
            );
        }
        Ok(is_listed)
    }

    /// Compares the number of rows that the manifest lists for each table with the sum of the numbers that it
    /// lists for the table's files. Adds the numbers of games and positions to the report.
    fn totals(&self, report: &mut VerifyReport) {
        for totals in &self.manifest.tables {
            let files = self.manifest.files.iter().filter(|file| file.table == totals.table);
            let rows: u64 = files.map(|file| file.rows).sum();
            if rows != totals.rows {
                let (shard, TableTotals { table, rows: listed, .. }) = (self.manifest.shard, totals);
                let found = format!(
                    "shard {shard}: the manifest lists {listed} rows of {table}, but its files have {rows}"
                );
                self.findings.add(self.directory, found);
            }
            match totals.table.as_str() {
                "game" => report.games += rows,
                "game_position" => report.positions += rows,
                _ => {}
            }
        }
    }

    /// Reads `columns` of a file and passes them to `see` in batches. Reads only the row groups `groups`, if
    /// they are given.
    fn read(
        &self,
        file: &ListedFile,
        columns: &[&str],
        groups: Option<Vec<usize>>,
        mut see: impl FnMut(&RecordBatch) -> Result<()>,
    ) -> Result<()> {
        let path = self.path(file);
        let failed = |error| Error::io(&path, "read", io_error(error));
        let mut reader = open(&path)?.with_batch_size(1 << 14);
        if let Some(groups) = groups {
            reader = reader.with_row_groups(groups);
        }
        let mask = ProjectionMask::columns(reader.parquet_schema(), columns.iter().copied());
        for batch in reader.with_projection(mask).build().map_err(failed)? {
            self.progress.check()?;
            see(&batch.map_err(|error| Error::io(&path, "read", std::io::Error::other(error)))?)?;
        }
        Ok(())
    }

    /// The number of rows in files, and the sum of the rows' hashes.
    fn rows(&self, files: &[&ListedFile]) -> Result<(u64, u64)> {
        let of_file = |index: usize| -> Result<(u64, u64)> {
            let (mut rows, mut sum) = (0, 0_u64);
            self.read(files[index], &["key", "game_id", "ply", "move_code"], None, |batch| {
                let (key, game) = (int64(batch, "key"), int64(batch, "game_id"));
                let (ply, code) = (int32(batch, "ply"), int32(batch, "move_code"));
                rows += batch.num_rows() as u64;
                for row in 0..batch.num_rows() {
                    let code = code.is_valid(row).then(|| code.value(row));
                    sum = sum.wrapping_add(row_sum(key.value(row), game.value(row), ply.value(row), code));
                }
                Ok(())
            })?;
            Ok((rows, sum))
        };
        let parts = parallel::map(None, files.len(), of_file)?;
        Ok(parts.into_iter().fold((0, 0), |sum, part| (sum.0 + part.0, sum.1.wrapping_add(part.1))))
    }

    /// The FENs of the start positions of games that start from a set-up, by game id, and the number of
    /// positions of all games.
    fn starts(&self, files: &[&ListedFile]) -> Result<(HashMap<i64, String>, i64)> {
        let (mut starts, mut positions) = (HashMap::new(), 0);
        for file in files {
            self.read(file, &["game_id", "start_fen", "ply_count", "status"], None, |batch| {
                let (game, plies) = (int64(batch, "game_id"), int32(batch, "ply_count"));
                let (fen, status) = (texts(batch, "start_fen"), texts(batch, "status"));
                let set_up = (0..batch.num_rows()).filter(|&row| fen.is_valid(row));
                starts.extend(set_up.map(|row| (game.value(row), fen.value(row).to_owned())));
                let indexed = (0..batch.num_rows()).filter(|&row| status.value(row) != "skipped");
                positions += indexed.map(|row| i64::from(plies.value(row)) + 1).sum::<i64>();
                Ok(())
            })?;
        }
        Ok((starts, positions))
    }

    /// Replays about as many games as the sample requires, in whole row groups; `games` is the number of
    /// games in the shard. Returns the number of replayed games.
    fn replay(&self, files: &[&ListedFile], games: u64, starts: &HashMap<i64, String>) -> Result<u64> {
        let mut groups = Vec::new();
        let mut all_rows = 0;
        for file in files {
            for (group, metadata) in open(&self.path(file))?.metadata().row_groups().iter().enumerate() {
                let rows = metadata.num_rows().unsigned_abs();
                groups.push((*file, group, rows));
                all_rows += rows;
            }
        }
        let wanted = self.options.sample.map_or(all_rows, |sample| {
            let rows = u128::from(all_rows) * u128::from(sample) / u128::from(games.max(1));
            u64::try_from(rows).unwrap_or(u64::MAX)
        });
        // The chosen row groups are spread evenly over all files. The choice is the same each time.
        let mut order: Vec<_> = (0_u64..).zip(groups).collect();
        order.sort_by_key(|(index, _)| index.wrapping_mul(GOLDEN));
        let mut rows_before = 0;
        let chosen: Vec<_> = order
            .into_iter()
            .map(|(_, group)| group)
            .take_while(|(_, _, rows)| {
                let is_wanted = rows_before < wanted;
                rows_before += rows;
                is_wanted
            })
            .collect();
        let games = parallel::map(None, chosen.len(), |index| {
            let (file, group, _) = chosen[index];
            self.replay_group(file, group, starts)
        })?;
        Ok(games.into_iter().sum())
    }

    /// The start position of a game; `None` if it is not legal, which is reported.
    fn start(&self, path: &Path, starts: &HashMap<i64, String>, game: i64) -> Option<Position> {
        match starts.get(&game).map(|fen| Position::from_fen(fen.as_bytes())) {
            None => Some(Position::start()),
            Some(Ok((position, _))) => Some(position),
            Some(Err(error)) => {
                let found = "its start position is not legal";
                self.findings.add(path, format_args!("game {game}, ply 0: {found}: {error}"));
                None
            }
        }
    }

    fn replay_group(&self, file: &ListedFile, group: usize, starts: &HashMap<i64, String>) -> Result<u64> {
        let path = self.path(file);
        let mut games = 0;
        let mut at: Option<(i64, i32, Position)> = None;
        let mut before = None;
        let columns = ["game_id", "ply", "key", "halfmove_clock", "move_code", "fen"];
        self.read(file, &columns, Some(vec![group]), |batch| {
            let (game, key) = (int64(batch, "game_id"), int64(batch, "key"));
            let (ply, clock) = (int32(batch, "ply"), int32(batch, "halfmove_clock"));
            let (code, fen) = (int32(batch, "move_code"), texts(batch, "fen"));
            for row in 0..batch.num_rows() {
                let (id, number) = (game.value(row), ply.value(row));
                let place = |what: &str| format!("game {id}, ply {number}: {what}");
                let last = before.replace((id, number, code.is_valid(row)));
                if let Some((game, ply)) = missing_row(last, id, number) {
                    self.findings.add(&path, format_args!("game {game}, ply {ply}: the row is missing"));
                }
                let mut position = match at.take() {
                    Some((of, next, position)) if of == id && next == number => position,
                    // This row is skipped: its game begins in an earlier group, has ended, has a finding already,
                    // or lacks the previous row.
                    _ if number != 0 => continue,
                    _ => {
                        games += 1;
                        self.progress.games.fetch_add(1, Ordering::Relaxed);
                        let Some(position) = self.start(&path, starts, id) else { continue };
                        position
                    }
                };
                let found = (key.value(row), clock.value(row), fen.value(row));
                let (clock, fen) = (position.halfmove_clock().cast_signed(), position.canonical_fen());
                if found != (position.key().as_i64(), clock, fen.as_str()) {
                    self.findings
                        .add(&path, place("the position differs from the one that the moves lead to"));
                    continue;
                }
                if code.is_null(row) {
                    continue;
                }
                match position.make(MoveCode::from_stored(code.value(row).cast_unsigned())) {
                    Ok(_) => at = Some((id, number + 1, position)),
                    Err(_) => self.findings.add(&path, place("the move is not legal")),
                }
            }
            Ok(())
        })?;
        Ok(games)
    }
}

/// The game and the ply of the first row that is missing before the row of this game and ply, if any. `before`
/// is the previous row: its game, its ply, and whether a move was played there.
fn missing_row(before: Option<(i64, i32, bool)>, game: i64, ply: i32) -> Option<(i64, i32)> {
    match before {
        Some((of, last, true)) => Some((of, last.saturating_add(1))).filter(|next| *next != (game, ply)),
        Some((of, _, false)) if of != game && ply != 0 => Some((game, 0)),
        _ => None,
    }
}

/// Reports files that no manifest lists, in `directory` and its subdirectories. `directory` is `root` or a
/// directory below it. Skips incomplete files, and files and directories that query engines ignore because of
/// their names. Also skips the directories of tables that a job wrote for all shards.
fn unlisted(root: &Path, directory: &Path, manifests: &[Manifest], findings: &Findings) -> Result<()> {
    for entry in entries(directory)? {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let of_job = || {
            manifests.iter().any(|manifest| manifest.by_key == WrittenBy::Job)
                && (name == "duplicate"
                    || TABLES.iter().any(|table| table.name == name && matches!(table.placed, Placed::ByKey)))
        };
        if name.starts_with(['_', '.']) || name.ends_with(PARTIAL) || directory == root && of_job() {
            continue;
        }
        if entry.file_type().map_err(|source| Error::io(directory, "read", source))?.is_dir() {
            unlisted(root, &path, manifests, findings)?;
            continue;
        }
        let listed = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
        let lists = |manifest: &Manifest| {
            manifest.files.binary_search_by(|file| file.path.as_str().cmp(&listed)).is_ok()
        };
        if manifests.iter().any(lists) {
            continue;
        }
        let shard = name.strip_prefix("part-").and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
        match shard.filter(|shard| manifests.iter().all(|manifest| manifest.shard != *shard)) {
            Some(shard) => {
                let found =
                    "has no manifest: an unfinished run, or a stray file; query engines read it nevertheless";
                findings.add(&path, format_args!("shard {shard} {found}"));
            }
            None if name.ends_with(".parquet") => {
                findings.add(&path, "is not in the manifest, but query engines read it")
            }
            None => findings.add(&path, "is not in the manifest, and does not belong here"),
        }
    }
    Ok(())
}

/// Opens a Parquet file.
fn open(path: &Path) -> Result<ParquetRecordBatchReaderBuilder<File>> {
    let file = File::open(path).map_err(|source| Error::io(path, "read", source))?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file);
    Ok(reader.map_err(|error| Error::io(path, "read", io_error(error)))?)
}

fn int64<'b>(batch: &'b RecordBatch, name: &str) -> &'b Int64Array {
    batch.column_by_name(name).expect("a requested column").as_primitive()
}

fn int32<'b>(batch: &'b RecordBatch, name: &str) -> &'b Int32Array {
    batch.column_by_name(name).expect("a requested column").as_primitive()
}

fn texts<'b>(batch: &'b RecordBatch, name: &str) -> &'b StringArray {
    batch.column_by_name(name).expect("a requested column").as_string()
}

#[cfg(test)]
mod tests {
    use super::missing_row;

    #[test]
    fn the_first_missing_row_is_reported() {
        let (after_move, at_end) = (Some((7, 4, true)), Some((7, 4, false)));
        for (before, game, ply, missing) in [
            (None, 7, 3, None), // The game can begin in an earlier group.
            (after_move, 7, 5, None),
            (after_move, 7, 6, Some((7, 5))),
            (after_move, 8, 0, Some((7, 5))),
            (at_end, 8, 0, None),
            (at_end, 8, 2, Some((8, 0))),
        ] {
            assert_eq!(missing_row(before, game, ply), missing, "{before:?}, {game}, {ply}");
        }
    }
}
