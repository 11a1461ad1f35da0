//! Runs the removal of games, and reads restored games again.

use crate::id::{GameId, SourceId};
use crate::index::error::Result;
use crate::index::game::batch::GameBatch;
use crate::index::game::features::record_features;
use crate::index::game::parse::ChunkParser;
use crate::index::game::positions::{Standard, for_each_position};
use crate::index::game::signature::Comparison;
use crate::index::number::sequence::Numbering;
use crate::index::progress::Phase;
use crate::index::remove::restored::{RestoredGame, RestoredGames};
use crate::index::run::Run;
use crate::index::run::worker::played_occurrence;
use crate::index::sort::setups::RecentSetups;
use crate::index::visited_position::counted_game::CountedGames;
use crate::index::visited_position::reached::ReachedPositions;
use crate::index::visited_position::sorted::AddedOccurrences;
use crate::index::visited_position::sorting::Update;
use crate::sort::Scatter;
use crate::store::sink::{
    AddedPages, BatchNumber, DuplicateLinks, KeepingSink, PositionEncoder as _, Sink as _,
};

/// The result of reading games again.
struct RestoreResult {
    counted_games: CountedGames,
    /// The last game that existed before the run.
    last_game: GameId,
    games: u64,
}

impl Run<'_> {
    /// Removes games through the sink, and restores the games that had been skipped as duplicates of the
    /// removed ones. Returns the number of restored games. If `takes_out` is not set, the sink only merges
    /// levels.
    pub(crate) fn remove_games(
        &self,
        mut sink: AddedPages<'_>,
        update: &Update<'_>,
        returning: &RestoredGames,
        takes_out: bool,
    ) -> Result<u64> {
        let read = self.restore_games(&mut sink, returning)?;
        let fens = ReachedPositions::default();
        let sorted = self.added_occurrences(&read.counted_games, update, &fens);
        self.progress.enter(Phase::Sorting);
        sink.occurrences(&sorted)?;
        self.progress.enter(Phase::Finishing);
        sink.end_removal(read.last_game)?;
        let links = DuplicateLinks {
            prefixes: takes_out,
            last_game: read.last_game,
            replaced: Vec::new(),
            taken_out: takes_out,
        };
        sink.links(&sorted, &links, |loader, freed| self.note_prefixes(loader, read.last_game, freed))?;
        self.progress.check()?;
        KeepingSink::<AddedOccurrences<'_>>::finish(sink)?;
        Ok(read.games)
    }

    /// Reads the games to restore on one thread, because they are few.
    fn restore_games(&self, sink: &mut AddedPages<'_>, returning: &RestoredGames) -> Result<RestoreResult> {
        let mut sequencer = self.sequencer(Numbering::All)?;
        let last_game = sequencer.counted_games.before();
        let standard = Standard::new();
        let mut encoder = sink.encoder();
        let mut scatter = Scatter::new(&self.partitions, self.scatter_bytes());
        let (mut setups, mut batch) = (RecentSetups::default(), GameBatch::default());
        let mut games = 0;
        // Each text is numbered as a separate source.
        let mut own = SourceId(0);
        returning.for_each(self.options, |piece| {
            self.progress.check()?;
            let &RestoredGame { text, source, import, byte_offset, rules } = piece;
            own.0 += 1;
            let comparison = Comparison { rule: rules.duplicates, hash: self.hash.clone() };
            let openings = &self.options.openings;
            ChunkParser::new(text, text.len(), own, byte_offset, &standard.position, openings)
                .annotating(rules.annotations)
                .leaving_out(rules.leaves_out)
                .comparing(&comparison)
                .parse_batch(&mut batch);
            record_features(&mut batch, &standard);
            let first = sequencer.number(own, &mut batch)?;
            batch.headers.set_source(source);
            games += batch.games.len() as u64;
            sink.set_import(import);
            batch.headers.evals.drain(..).try_for_each(|row| encoder.push_eval(&row))?;
            sink.headers(&batch.headers)?;
            for_each_position(&batch, first, &standard, |view| {
                scatter.push(played_occurrence(&view, &mut setups))?;
                Ok::<_, crate::index::Error>(encoder.push(&view)?)
            })
        })?;
        if let Some(encoded) = encoder.take(None)? {
            sink.positions(BatchNumber { chunk: 0, batch: 0 }, encoded)?;
        }
        scatter.finish()?;
        Ok(RestoreResult { counted_games: sequencer.counted_games, last_game, games })
    }
}
