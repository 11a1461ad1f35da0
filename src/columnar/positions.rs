//! Writes `game_position`: replays all games in parallel, and writes their positions, directory by directory,
//! in the order of the games.

use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, Int32Array, Int64Array};

use super::by_key::{PlayedOccurrence, PlayedOccurrences};
use super::cells::Fens;
use super::game::DatePartition;
use super::moves::AllGames;
use super::output::Output;
use super::part::{Encoder, Part, RowGroup};
use super::schema::{GAME_POSITION, GROUP_ROWS};
use crate::board::{FenText, MoveCode, Position};
use crate::id::{GameId, Ply};
use crate::parallel::{OrderedQueue, lock};
use crate::sort::Scatter;
use crate::store::Result;

/// A file with at least this many rows gets no more row groups. These rows take about 250 MB.
const FILE_ROWS: u64 = 256 * GROUP_ROWS as u64;

/// Games of one directory whose rows together fit in a row group, or a single game with more rows.
struct Job {
    date: DatePartition,
    games: Vec<GameId>,
}

impl AllGames<'_> {
    /// Writes all positions, and adds their occurrences to `visits`.
    pub(super) fn write_positions(&self, visits: &PlayedOccurrences, threads: usize) -> Result<()> {
        let encoder = Encoder::new(&GAME_POSITION);
        let start = (Position::start(), FenText::new(&Position::start()));
        let work = |Job { date, games }: Job| {
            self.check_stop()?;
            let (mut rows, mut groups) = (Rows::default(), Vec::new());
            let mut scatter = Scatter::new(visits, SCATTER_BYTES);
            let mut scattered = Ok(());
            for game in games {
                let moves = self.moves.of(game);
                let id = self.id(game);
                moves.replay(&start, |ply, position, placement, code| {
                    rows.push(id, ply, position, placement, code);
                    // A game can have more rows than fit in a group.
                    if rows.ply.len() == GROUP_ROWS {
                        groups.push(encoder.encode(&std::mem::take(&mut rows).finish()));
                    }
                    let visit = PlayedOccurrence::new(position.key(), game, ply, moves.is_setup(), code);
                    if scattered.is_ok() {
                        scattered = scatter.push(visit);
                    }
                });
            }
            scattered.and_then(|()| scatter.finish())?;
            if !rows.ply.is_empty() {
                groups.push(encoder.encode(&rows.finish()));
            }
            Ok((date, groups))
        };
        let mut files = Files { output: self.output, encoder: &encoder, open: None };
        in_order(threads, self.jobs(), work, |(date, groups)| {
            groups.into_iter().try_for_each(|group| files.append(date, group))
        })?;
        self.output.complete(files.open.map(|(.., part)| part))
    }

    /// All games, divided into jobs: directory by directory, in the order of game ids within each directory.
    fn jobs(&self) -> impl Iterator<Item = Job> + Send {
        let date = |game: &GameId| self.options.partition_by.of(self.games.of(*game));
        let mut games: Vec<GameId> = self.moves.games().collect();
        // The games are in order already, and stay in order within a directory.
        games.sort_by_key(date);
        let mut games = games.into_iter().peekable();
        std::iter::from_fn(move || {
            let first = games.next()?;
            let mut job = Job { date: date(&first), games: vec![first] };
            let mut rows = self.moves.of(first).positions();
            while let Some(game) = games.next_if(|game| {
                rows += self.moves.of(*game).positions();
                rows <= GROUP_ROWS && date(game) == job.date
            }) {
                job.games.push(game);
            }
            Some(job)
        })
    }
}

/// The approximate number of bytes of occurrences that each job buffers before it passes them on for sorting.
const SCATTER_BYTES: usize = 4 << 20;

/// The columns of `game_position`.
#[derive(Default)]
struct Rows {
    game_id: Vec<i64>,
    ply: Vec<i32>,
    key: Vec<i64>,
    halfmove_clock: Vec<i32>,
    move_code: Vec<Option<i32>>,
    fens: Fens,
}

impl Rows {
    #[inline]
    fn push(
        &mut self,
        game_id: i64,
        ply: Ply,
        position: &Position,
        placement: &FenText,
        code: Option<MoveCode>,
    ) {
        self.fens.push(position, placement, false);
        self.game_id.push(game_id);
        self.ply.push(ply.0.cast_signed());
        self.key.push(position.key().as_i64());
        self.halfmove_clock.push(position.halfmove_clock().cast_signed());
        self.move_code.push(code.map(|code| code.bits().cast_signed()));
    }

    /// The columns in the order of the table.
    fn finish(mut self) -> Vec<ArrayRef> {
        vec![
            Arc::new(Int64Array::from(self.game_id)),
            Arc::new(Int32Array::from(self.ply)),
            Arc::new(Int64Array::from(self.key)),
            Arc::new(Int32Array::from(self.halfmove_clock)),
            Arc::new(Int32Array::from(self.move_code)),
            self.fens.take(),
        ]
    }
}

/// Writes files one after the other.
struct Files<'f> {
    output: &'f Output,
    encoder: &'f Encoder,
    /// The directory of the current file, the index of the file there, and the file.
    open: Option<(DatePartition, u32, Part)>,
}

impl Files<'_> {
    fn append(&mut self, date: DatePartition, group: RowGroup) -> Result<()> {
        let number = match self.open.take() {
            Some((of, number, part)) if of == date && part.rows < FILE_ROWS => {
                return self.open.insert((of, number, part)).2.append(group);
            }
            Some((of, number, part)) => {
                self.output.complete(Some(part))?;
                if of == date { number + 1 } else { 0 }
            }
            None => 0,
        };
        let part = self.output.part(self.encoder, &date.to_string(), number)?;
        self.open.insert((date, number, part)).2.append(group)
    }
}

/// Runs jobs on `threads` threads and passes the results to `take` in the order of the jobs. At most
/// `threads` results wait for earlier ones.
fn in_order<J: Send, R, E: Send>(
    threads: usize,
    jobs: impl Iterator<Item = J> + Send,
    work: impl Fn(J) -> Result<R, E> + Sync,
    take: impl FnMut(R) -> Result<(), E> + Send,
) -> Result<(), E> {
    let (jobs, taker, turn) = (Mutex::new((0..).zip(jobs)), Mutex::new(take), OrderedQueue::default());
    let work_on_jobs = || {
        // After an error or a panic in one thread, the others must not wait forever.
        let stop = StopOnDrop(&turn);
        loop {
            let next = lock(&jobs).next();
            let Some((number, job)) = next else { break };
            let result = work(job)?;
            if !turn.wait(number) {
                break;
            }
            (lock(&taker))(result)?;
            turn.pass();
        }
        std::mem::forget(stop);
        Ok(())
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work_on_jobs)).collect();
        let mut result = work_on_jobs();
        for other in others {
            match other.join() {
                Ok(of_other) => result = result.and(of_other),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        result
    })
}

struct StopOnDrop<'t>(&'t OrderedQueue);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_an_error_ends_the_work() {
        for threads in [1, 2, 7] {
            let mut taken = Vec::new();
            let square = |number: u64| {
                std::thread::sleep(std::time::Duration::from_micros(number * 7 % 50));
                Ok::<_, &str>(number * number)
            };
            in_order(threads, 0..200, square, |square| {
                taken.push(square);
                Ok(())
            })
            .unwrap();
            assert_eq!(taken, (0..200).map(|number| number * number).collect::<Vec<u64>>());
            let failing = |number: u64| if number == 50 { Err("fifty") } else { Ok(number) };
            let mut last = 0;
            let result = in_order(threads, 0.., failing, |number| {
                last = number;
                Ok(())
            });
            assert_eq!(result, Err("fifty"));
            assert!(last < 50, "{last}");
            let result =
                in_order(threads, 0_u64.., Ok, |number| if number == 9 { Err("nine") } else { Ok(()) });
            assert_eq!(result, Err("nine"));
        }
    }
}
