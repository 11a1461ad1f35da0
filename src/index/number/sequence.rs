//! Assigns ids to games and names, and counts lines, in input order, regardless of the order in which chunks
//! were parsed.

use crate::index::game::{GameBatch, ReadGame, Signature};
use crate::index::number::Originals;
use crate::index::visited_position::CountedGames;
use crate::index::{Error, KeyHash, ProblemKind, Result, SpillMap};
use crate::pgn::skip_blanks;
use crate::source::other_text;
use crate::store::row::{DuplicateKind, DuplicateRow, GameId, NameId, SourceId, Text};
use crate::store::sink::Takes;
use crate::store::{NameTable, Snapshot, SourceTotals};

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SourceCount {
    /// The counts. The size and digest of the text, and whether it is damaged, are not set here.
    pub(crate) totals: SourceTotals,
    /// The number of games that were omitted because of an error. `totals.games` does not include them.
    pub(crate) left_out: u64,
    /// Whether the source has text outside games.
    has_text_outside: bool,
    /// Whether any text of the source was read.
    has_text: bool,
    /// The message if the source has no game, chosen by the beginning of its text. `None` if the text has only
    /// blanks or begins with a comment.
    other_text: Option<&'static str>,
}

impl SourceCount {
    /// The number of games found, kept or not.
    pub(crate) const fn games_found(&self) -> u64 {
        self.totals.games + self.totals.duplicates + self.left_out
    }
}

/// The message about a source that has text, but no games.
const NO_GAMES: &str = "no games; is it PGN?";

/// How many games and lines precede the first byte to read. Earlier runs have read the text before this byte.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SourceStart {
    pub(crate) games: u32,
    pub(crate) lines: u64,
    /// The number of bytes between the start of the line and the first byte to read.
    pub(crate) columns: u64,
}

/// Assigns ids to the games and names of batches, in input order.
#[derive(Debug)]
pub(crate) struct Sequencer {
    /// What the run keeps. If it [keeps](Takes::keeps) games, ids are assigned to games and names. With
    /// [`Takes::Games`], the rows of a batch refer to games by their indexes in the batch, from 0. With
    /// [`Takes::Nothing`], no row of `problem` refers to a game.
    takes: Takes,
    games: u32,
    names: Names,
    /// The existing database, if there is one, and the id of its last player.
    known: Option<Snapshot>,
    last_player: NameId,
    originals: Originals,
    pub(crate) counted_games: CountedGames,
    /// The counts of each source, in input order.
    pub(crate) sources: Vec<SourceCount>,
    starts: Vec<SourceStart>,
    /// The id before the id of the first source.
    last_source: SourceId,
    source: SourceId,
    source_games: u32,
    source_lines: u64,
}

impl Sequencer {
    /// Continues after the data in `known`. `starts` has one entry per source; the ids of the sources follow
    /// `last_source`. `ids` is an empty map for names.
    pub(crate) fn new(
        takes: Takes,
        starts: Vec<SourceStart>,
        last_source: SourceId,
        known: Option<Snapshot>,
        originals: Originals,
        ids: SpillMap,
        hash: KeyHash,
    ) -> Result<Self> {
        let last = |table| known.as_ref().map_or(Ok(NameId(0)), |known| known.last_name(table));
        let last = [last(NameTable::Player)?, last(NameTable::Event)?, last(NameTable::Site)?];
        let game = known.as_ref().map_or(Ok(GameId(0)), Snapshot::last_game)?;
        Ok(Self {
            takes,
            games: game.0,
            names: Names::after(last, ids, hash),
            known,
            last_player: last[0],
            originals,
            counted_games: CountedGames::new(game),
            sources: vec![SourceCount::default(); starts.len()],
            starts,
            last_source,
            source: SourceId(0),
            source_games: 0,
            source_lines: 0,
        })
    }

    /// Assigns ids to the games of a batch, and completes the lines, columns and game numbers of its problems. If games
    /// are kept, removes duplicates first. Returns the id of the first game that was not removed or, if all were
    /// removed, of the next game.
    pub(crate) fn number(&mut self, source: SourceId, batch: &mut GameBatch) -> Result<GameId> {
        let source_index = (source.0 - self.last_source.0) as usize - 1;
        if source != self.source {
            let SourceStart { games, lines, .. } = self.starts[source_index];
            (self.source, self.source_games, self.source_lines) = (source, games, lines);
        }
        let found = u32::try_from(batch.games.len()).map_err(|_| Error::TooManyGames)?;
        let first = self.games.checked_add(1).ok_or(Error::TooManyGames)?;
        if self.takes.keeps() {
            self.number_names_and_skip_duplicates(batch)?;
            self.counted_games.extend(batch.games.iter().map(|game| game.counted));
            batch.headers.renumber_games(|game| Some(GameId(game.0 + first)));
        } else {
            self.games = self.games.checked_add(found).ok_or(Error::TooManyGames)?;
        }
        let start = self.starts[source_index];
        let mut has_text_outside = false;
        for problem in &mut batch.headers.problems {
            has_text_outside |= problem.kind == ProblemKind::OutsideText.as_str();
            if problem.line == 0 && self.source_lines == start.lines {
                problem.column += start.columns;
            }
            problem.line += self.source_lines + 1;
            if problem.game_number > 0 {
                problem.game_number = problem.game_number.saturating_add(self.source_games);
            }
            match (&mut problem.game, self.takes) {
                (_, Takes::Games) => {}
                (game, Takes::Nothing) => *game = None,
                (Some(game), _) => game.0 += first,
                (None, _) => {}
            }
        }
        self.source_games = self.source_games.saturating_add(batch.read);
        let count = &mut self.sources[source_index];
        count.has_text_outside |= has_text_outside;
        count.left_out += u64::from(batch.read - found);
        let totals = &mut count.totals;
        totals.games += batch.games.len() as u64;
        totals.duplicates += batch.headers.duplicates.len() as u64;
        totals.last_game = batch.last_game.or(totals.last_game);
        totals.plies += batch.codes.len() as u64;
        totals.problems += batch.headers.problems.len() as u64;
        Ok(GameId(first))
    }

    /// Records that text of a source was read. `begins`: this text is the beginning of the source.
    pub(crate) fn note_text(&mut self, source: SourceId, text: &[u8], begins: bool) {
        let count = &mut self.sources[(source.0 - self.last_source.0) as usize - 1];
        count.has_text |= !text.is_empty();
        if begins {
            let may_lack_games = matches!(text.get(skip_blanks(text, 0)), None | Some(b'{' | b';' | b'%'));
            count.other_text = other_text(text).or((!may_lack_games).then_some(NO_GAMES));
        }
    }

    /// The problem of a completely read source without games: it has other text, or it is an empty stream,
    /// perhaps because the program that writes to the stream failed. `is_stream`: the source is standard
    /// input.
    pub(crate) fn without_game(&self, source: SourceId, is_stream: bool) -> Option<&'static str> {
        let count = &self.sources[(source.0 - self.last_source.0) as usize - 1];
        let has_text_alone = count.has_text_outside || count.other_text.is_some();
        if count.games_found() > 0 {
            None
        } else if is_stream && !count.has_text {
            Some("the input is empty; did the program that writes to it fail?")
        } else {
            has_text_alone.then(|| count.other_text.unwrap_or(NO_GAMES))
        }
    }

    /// Removes from a batch the games that repeat an earlier game, and assigns ids to the names of the other
    /// games.
    fn number_names_and_skip_duplicates(&mut self, batch: &mut GameBatch) -> Result<()> {
        let mut is_duplicate = vec![false; batch.games.len()];
        for (index, is_duplicate) in is_duplicate.iter_mut().enumerate() {
            let signature = batch.signatures.of(index);
            let repeated = match &signature {
                Some(signature) => self.find(signature, index, batch)?,
                None => None,
            };
            if let Some((original, kind)) = repeated {
                *is_duplicate = true;
                let game = batch.headers.games[index];
                let ReadGame { line, number, .. } = batch.games[index];
                batch.headers.duplicates.push(DuplicateRow {
                    source: game.source,
                    byte_offset: game.byte_offset,
                    byte_length: game.byte_length,
                    line: line + self.source_lines + 1,
                    game_number: self.source_games.saturating_add(number),
                    kind,
                    original,
                });
                continue;
            }
            self.games = self.games.checked_add(1).ok_or(Error::TooManyGames)?;
            self.name(index, batch)?;
            if let Some(signature) = &signature {
                self.originals.insert(&batch.signatures, signature, GameId(self.games))?;
            }
        }
        if is_duplicate.contains(&true) {
            batch.remove(&is_duplicate);
        }
        Ok(())
    }

    /// The earlier game that a game of a batch repeats: the first equal game, otherwise the first game with the
    /// same moves.
    fn find(
        &mut self,
        signature: &Signature,
        index: usize,
        batch: &GameBatch,
    ) -> Result<Option<(GameId, DuplicateKind)>> {
        let (games, moves_hash) = (&batch.signatures, batch.headers.games[index].moves_hash);
        let mut same = self.originals.same(games, signature)?;
        if same.is_none()
            && let Some(white) = self.known_white(index, batch)?
            && let Some(known) = &self.known
            && self.originals.take_known(known, moves_hash, Some(white))?
        {
            same = self.originals.same(games, signature)?;
        }
        if let Some(game) = same {
            return Ok(Some((game, DuplicateKind::Same)));
        }
        // A game of this run is added to the originals only if no game of the existing database has the same
        // moves. So a game found here is the earliest one.
        let mut alike = self.originals.with_moves(games, signature)?;
        if alike.is_none()
            && signature.moves_hash.is_some()
            && let Some(known) = &self.known
            && self.originals.take_known(known, moves_hash, None)?
        {
            alike = self.originals.with_moves(games, signature)?;
        }
        Ok(alike.map(|game| (game, DuplicateKind::Moves)))
    }

    /// White's id, if the existing database contains both players of a game.
    fn known_white(&mut self, index: usize, batch: &GameBatch) -> Result<Option<NameId>> {
        let Some(known) = &self.known else { return Ok(None) };
        let names = batch.games[index].names;
        let Some((white, black)) = names.white.zip(names.black) else { return Ok(None) };
        let mut player = |name: Text| {
            let look_up = |name: &str| Ok(known.name(NameTable::Player, name)?);
            let id = self.names.find(NameTable::Player, name.of(&batch.headers.text), look_up)?;
            Ok::<_, Error>(id.filter(|&id| id <= self.last_player))
        };
        let white = player(white)?;
        Ok(if white.is_some() && player(black)?.is_some() { white } else { None })
    }

    /// Adds the number of line ends of a completely read chunk.
    pub(crate) const fn pass_lines(&mut self, lines: u64) {
        self.source_lines += lines;
    }

    fn name(&mut self, index: usize, batch: &mut GameBatch) -> Result<()> {
        let names = batch.games[index].names;
        let headers = &mut batch.headers;
        let text = &headers.text;
        let row = &mut headers.games[index];
        let known = &self.known;
        let mut id = |new: &mut Vec<(NameId, Text)>, table, name: Option<Text>| {
            let Some(name) = name else { return Ok(None) };
            let look_up =
                |name: &str| Ok(known.as_ref().map_or(Ok(None), |known| known.name(table, name))?);
            let (id, is_new) = self.names.intern(table, name.of(text), look_up)?;
            if is_new {
                new.push((id, name));
            }
            Ok::<_, Error>(Some(id))
        };
        row.event = id(&mut headers.events, NameTable::Event, names.event)?;
        row.site = id(&mut headers.sites, NameTable::Site, names.site)?;
        row.white = id(&mut headers.players, NameTable::Player, names.white)?;
        row.black = id(&mut headers.players, NameTable::Player, names.black)?;
        Ok(())
    }
}

/// Assigns ids to the distinct names of each table, in the order of their first appearance. The ids follow
/// those of an existing database, or begin with 1.
#[derive(Debug)]
struct Names {
    ids: SpillMap,
    hash: KeyHash,
    /// The last assigned ids of players, events and sites.
    last: [u32; 3],
    /// A buffer for a key of `ids`: one byte for the table, followed by the name.
    key: Vec<u8>,
}

impl Names {
    /// Continues after the ids `last` of players, events and sites.
    const fn after(last: [NameId; 3], ids: SpillMap, hash: KeyHash) -> Self {
        let [players, events, sites] = last;
        Self { ids, hash, last: [players.0, events.0, sites.0], key: Vec::new() }
    }

    /// The id of a name, if it was found or assigned before, or if `known` returns it. An id that `known`
    /// returns is remembered.
    fn find(
        &mut self,
        table: NameTable,
        name: &str,
        known: impl FnOnce(&str) -> Result<Option<NameId>>,
    ) -> Result<Option<NameId>> {
        self.key.clear();
        self.key.push(table as u8);
        self.key.extend_from_slice(name.as_bytes());
        let hash = self.hash.of(&self.key);
        if let Some(id) = self.ids.find(hash, &self.key)? {
            return Ok(Some(NameId(id)));
        }
        let id = known(name)?;
        if let Some(NameId(id)) = id {
            self.ids.insert(hash, &self.key, id)?;
        }
        Ok(id)
    }

    /// The id of a name, and whether the name is new. `known` is called only for a name that was not found or
    /// assigned before.
    fn intern(
        &mut self,
        table: NameTable,
        name: &str,
        known: impl FnOnce(&str) -> Result<Option<NameId>>,
    ) -> Result<(NameId, bool)> {
        if let Some(id) = self.find(table, name, known)? {
            return Ok((id, false));
        }
        let last = &mut self.last[table as usize];
        *last = last.checked_add(1).ok_or(Error::TooManyNames)?;
        self.ids.insert(self.hash.of(&self.key), &self.key, *last)?;
        Ok((NameId(*last), true))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;
    use crate::properties::cases;

    proptest! {
        #![proptest_config(cases(64))]

        #[test]
        fn ids_are_consecutive_with_any_memory_limit(
            names in proptest::collection::vec((0..3usize, 0..150u32, any::<bool>()), 0..400),
            memory in prop_oneof![Just(0), Just(10_000), Just(u64::MAX)],
            bits in prop_oneof![Just(8), Just(64)],
        ) {
            let directory = tempfile::tempdir().unwrap();
            let map = SpillMap::new(memory, directory.path().to_owned());
            let last = [NameId(400), NameId(0), NameId(7)];
            let mut table = Names::after(last, map, KeyHash::new(bits));
            let (mut plain, mut next) = (HashMap::new(), last.map(|id| id.0));
            for (kind, number, only_found) in names {
                let names = [NameTable::Player, NameTable::Event, NameTable::Site][kind];
                let name = format!("name {number}");
                // Some players existed before.
                let known_id = (kind == 0 && number % 5 == 0).then_some(NameId(number + 1));
                let known = |_: &str| Ok(known_id);
                let existing = plain.get(&(kind, number)).copied().or(known_id);
                if only_found {
                    prop_assert_eq!(table.find(names, &name, known).unwrap(), existing);
                    continue;
                }
                let expected = existing.unwrap_or_else(|| {
                    next[kind] += 1;
                    NameId(next[kind])
                });
                prop_assert_eq!(table.intern(names, &name, known).unwrap(), (expected, existing.is_none()));
                plain.insert((kind, number), expected);
            }
        }
    }
}
