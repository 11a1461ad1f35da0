//! Writes a run's rows through a sink that keeps games.

use std::time::Instant;

use crate::id::{GameId, Level, SourceId};
use crate::index::number::{Prefixes, SourceCount};
use crate::index::read::SourceEnd;
use crate::index::run::{ReadResult, Run};
use crate::index::visited_position::{Decreases, LevelOccurrences};
use crate::index::{Annotations, Duplicates, Phase, Result, SpillMap, Summary};
use crate::source::{self, SourceFile, TextEncoding};
use crate::store::row::DuplicateKind;
use crate::store::sink::{AddedPages, KeepingSink, NewRun, RunTotals};
use crate::store::write::duplicate::Replaced;
use crate::store::{BulkLoader, ImportTotals, SourceTotals};

impl<'r> Run<'r> {
    /// Writes everything through `sink`: reads the sources, sorts the occurrences, and completes all tables.
    pub(crate) fn fill<S: KeepingSink>(&self, mut sink: S) -> Result<Summary> {
        sink.begin(&self.new_run())?;
        let (read, none) = (self.read_all(&mut sink)?, Decreases::default());
        let sorted = LevelOccurrences::new(self, Some(Level::FIRST), &read.counted_games, &none);
        self.complete(sink, &read, &sorted, &[])
    }

    /// Like [`fill`](Self::fill), but adds everything to an existing database. `decreases` are the changes
    /// that removing games makes to the visited positions. `replaced` lists the removed games, and where each
    /// of them is read again.
    pub(crate) fn add(
        &self,
        mut sink: AddedPages<'_>,
        decreases: &Decreases,
        replaced: &[Replaced],
    ) -> Result<Summary> {
        sink.begin(&self.new_run())?;
        let mut read = self.read_all(&mut sink)?;
        let clock = Instant::now();
        let level = self.level_to_write(&mut read.counted_games, false)?;
        read.counted.stages.read += clock.elapsed();
        let sorted = LevelOccurrences::new(self, level, &read.counted_games, decreases);
        self.complete(sink, &read, &sorted, replaced)
    }

    /// Writes the data that is known only after all games have been read. The duplicates of the `replaced`
    /// games are reassigned to the games that were read from the same places.
    fn complete(
        &self,
        mut sink: impl KeepingSink,
        read: &ReadResult,
        sorted: &LevelOccurrences<'_>,
        replaced: &[Replaced],
    ) -> Result<Summary> {
        let last_game = read.counted_games.before();
        self.progress.enter(Phase::Sorting);
        let clock = Instant::now();
        sink.occurrences(sorted)?;
        let mut summary = Summary { distinct_positions: sorted.distinct(), ..self.summary(read) };
        summary.stages.sort = clock.elapsed();
        self.progress.enter(Phase::Finishing);
        let clock = Instant::now();
        sink.end(&self.totals(read, &summary))?;
        summary.stages.headers = clock.elapsed();
        let clock = Instant::now();
        self.progress.check()?;
        let linked = sink.finish(sorted, |loader| {
            let mut freed = Vec::new();
            for replaced in replaced {
                freed.extend(loader.move_duplicates(replaced, last_game)?);
            }
            let keeps = self.options.duplicates == Duplicates::Keep;
            let linked = if keeps { 0 } else { self.note_prefixes(loader, last_game, &freed)? };
            self.progress.check().map(|()| linked)
        })?;
        summary.duplicates.add(DuplicateKind::Prefix, linked);
        summary.stages.continuations = clock.elapsed();
        Ok(summary)
    }

    /// The data for the run's row in `import` and for the rows of its sources. Options that do not affect the
    /// tables, such as threads and memory, are not included.
    fn new_run(&self) -> NewRun<'_> {
        let options = serde_json::json!({
            "strict": self.options.strict,
            "duplicates": self.options.duplicates.as_str(),
            "annotations": self.options.annotations.as_str(),
            "encoding": self.options.encoding.map(TextEncoding::name),
            "on_problem": self.options.on_problem.as_str(),
            "continuation_threshold": self.options.continuation_threshold,
            "openings": self.options.openings.digest(),
        });
        let source = |(id, file): (SourceId, &'r source::Result<SourceFile>)| match file {
            Ok(file) => (id, file.path.as_path(), file.range().map_or(file.first_byte, |range| range.start)),
            Err(error) => (id, error.path(), 0),
        };
        NewRun {
            import: self.intake.import,
            options: options.to_string(),
            continuation_threshold: self.options.continuation_threshold,
            openings: &self.options.openings,
            settings: [
                (Duplicates::SETTING, self.options.duplicates.as_str()),
                (Annotations::SETTING, self.options.annotations.as_str()),
                (TextEncoding::SETTING, TextEncoding::name_or_auto(self.options.encoding)),
            ],
            sources: self.intake.ids().zip(&self.intake.sources.files).map(source).collect(),
        }
    }

    /// The totals that complete the run's row in `import` and the rows of its sources.
    fn totals(&self, read: &ReadResult, summary: &Summary) -> RunTotals {
        let sources = self.intake.ids().zip(&read.counts).zip(&read.ends);
        let source = |((id, count), end): ((SourceId, &SourceCount), &SourceEnd)| {
            let &SourceEnd { bytes, digest, is_damaged } = end;
            (id, SourceTotals { bytes, digest, is_damaged, ..count.totals })
        };
        RunTotals {
            sources: sources.map(source).collect(),
            import: ImportTotals {
                games: summary.games,
                plies: summary.plies,
                positions: summary.positions,
                distinct_positions: summary.distinct_positions,
                problems: summary.problems.iter().map(|(.., count)| count).sum(),
                duplicates: summary.duplicates.skipped(),
                elapsed: self.started.elapsed(),
            },
        }
    }

    /// Records games of which the database has a longer version. See [`Prefixes`].
    pub(crate) fn note_prefixes(
        &self,
        loader: &BulkLoader<'_>,
        last: GameId,
        freed: &[GameId],
    ) -> Result<u64> {
        let keys = SpillMap::new(SpillMap::share_of(self.options.memory), self.directory.clone());
        Prefixes::new(keys, self.hash.clone(), last, self.progress).note(loader, freed)
    }
}
