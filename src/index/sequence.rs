//! Parts in input order, whatever order they were parsed in: here games, names and lines get their numbers.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::error::{Error, Result};
use super::names::Names;
use super::outcome::Outcome;
use super::parse::Part;
use crate::store::row::{GameId, NameId, SourceId, Text};

/// Lets one chunk after the other through, in the order of their numbers.
///
/// A worker takes chunks in order and passes each turn before it takes the next chunk, so the chunk whose turn it is is always
/// being worked on, and nobody waits for ever.
#[derive(Debug, Default)]
pub(super) struct Turnstile {
    state: Mutex<TurnState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct TurnState {
    next: u64,
    stopped: bool,
}

impl Turnstile {
    fn lock(&self) -> MutexGuard<'_, TurnState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until it is the turn of `chunk`.
    pub(super) fn wait(&self, chunk: u64) -> Result<()> {
        let mut state = self.lock();
        while state.next != chunk && !state.stopped {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.stopped { Err(Error::Stopped) } else { Ok(()) }
    }

    /// Ends the turn of the chunk whose turn it is.
    pub(super) fn pass(&self) {
        self.lock().next += 1;
        self.changed.notify_all();
    }

    /// Whether everybody is turned away.
    pub(super) fn is_stopped(&self) -> bool {
        self.lock().stopped
    }

    /// Turns everybody away.
    pub(super) fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }
}

/// What came of a source.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SourceCount {
    pub(super) games: u64,
    pub(super) plies: u64,
    pub(super) problems: u64,
}

/// Numbers what comes by in input order.
#[derive(Debug, Default)]
pub(super) struct Sequencer {
    games: u32,
    players: Names,
    events: Names,
    sites: Names,
    /// By game: id 1 first.
    pub(super) outcomes: Vec<Outcome>,
    /// By source: id 1 first.
    pub(super) sources: Vec<SourceCount>,
    source: SourceId,
    source_games: u32,
    source_lines: u64,
}

impl Sequencer {
    pub(super) fn new(sources: usize) -> Self {
        Self { sources: vec![SourceCount::default(); sources], ..Self::default() }
    }

    /// Numbers a part. Gives back the id of its first game.
    pub(super) fn number(&mut self, source: SourceId, part: &mut Part) -> Result<GameId> {
        if source != self.source {
            (self.source, self.source_games, self.source_lines) = (source, 0, 0);
        }
        let games = u32::try_from(part.names.len()).map_err(|_| Error::TooManyGames)?;
        let first = self.games.checked_add(1).ok_or(Error::TooManyGames)?;
        self.games = self.games.checked_add(games).ok_or(Error::TooManyGames)?;
        self.outcomes.extend_from_slice(&part.outcomes);
        for index in 0..part.names.len() {
            self.name(index, part);
            part.headers.games[index].game.0 += first;
        }
        part.headers.tags.iter_mut().for_each(|tag| tag.game.0 += first);
        for problem in &mut part.headers.problems {
            problem.line += self.source_lines + 1;
            if let Some(game) = &mut problem.game {
                problem.game_number = self.source_games + game.0 + 1;
                game.0 += first;
            }
        }
        self.source_games += games;
        let count = &mut self.sources[source.0 as usize - 1];
        count.games += u64::from(games);
        count.plies += part.codes.len() as u64;
        count.problems += part.headers.problems.len() as u64;
        Ok(GameId(first))
    }

    /// Counts the line ends of a chunk that has come by whole.
    pub(super) const fn pass_lines(&mut self, lines: u64) {
        self.source_lines += lines;
    }

    fn name(&mut self, index: usize, part: &mut Part) {
        let names = part.names[index];
        let headers = &mut part.headers;
        let text = &headers.text;
        let row = &mut headers.games[index];
        let id = |table: &mut Names, new: &mut Vec<(NameId, Text)>, name: Option<Text>| {
            name.map(|name| {
                let (id, is_new) = table.intern(name.of(text));
                if is_new {
                    new.push((id, name));
                }
                id
            })
        };
        row.event = id(&mut self.events, &mut headers.events, names.event);
        row.site = id(&mut self.sites, &mut headers.sites, names.site);
        row.white = id(&mut self.players, &mut headers.players, names.white);
        row.black = id(&mut self.players, &mut headers.players, names.black);
    }
}
