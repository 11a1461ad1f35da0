//! Writes a run's rows to a database.

use std::path::Path;
use std::time::Instant;

use crate::id::{GameId, Level, SourceId};
use crate::index::number::Prefixes;
use crate::index::run::{ReadResult, Run};
use crate::index::sink::{AddedPages, DatabaseSink, FreshPages};
use crate::index::visited_position::{Decreases, LevelOccurrences};
use crate::index::{Annotations, Duplicates, IndexOptions, Phase, Result, SpillMap, Summary};
use crate::source::TextEncoding;
use crate::store::row::DuplicateKind;
use crate::store::write::duplicate::Replaced;
use crate::store::{BulkLoader, ImportTotals, NewImport};

impl<'r> Run<'r> {
    /// Writes a new database: reads the sources, sorts the occurrences, and completes all tables.
    pub(crate) fn fill(&self, mut sink: FreshPages<'_>) -> Result<Summary> {
        self.add_rows(sink.small())?;
        self.add_settings(sink.small())?;
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
        self.add_rows(sink.small())?;
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
        mut sink: impl DatabaseSink,
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
        sink.end(|loader| self.complete_rows(loader, read, &summary))?;
        summary.stages.headers = clock.elapsed();
        let clock = Instant::now();
        self.progress.check()?;
        let linked = sink.finish(|loader| {
            sorted.write_visited(loader)?;
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

    /// Adds the rows of the run and of its sources. Options that do not affect the tables, such as threads and
    /// memory, are not included.
    fn add_rows(&self, loader: &mut BulkLoader<'_>) -> Result<()> {
        let options = serde_json::json!({
            "strict": self.options.strict,
            "duplicates": self.options.duplicates.as_str(),
            "annotations": self.options.annotations.as_str(),
            "encoding": self.options.encoding.map(TextEncoding::name),
            "on_problem": self.options.on_problem.as_str(),
            "continuation_threshold": self.options.continuation_threshold,
            "openings": self.options.openings.digest(),
        });
        let (options, program_version) = (options.to_string(), env!("CARGO_PKG_VERSION"));
        loader.add_import(&NewImport { id: self.intake.import, program_version, options: &options })?;
        for (id, path, first_byte) in self.sources() {
            loader.add_source(id, path, first_byte)?;
        }
        Ok(())
    }

    /// Adds the settings of a new database, and its list of openings.
    fn add_settings(&self, loader: &mut BulkLoader<'_>) -> Result<()> {
        let IndexOptions { continuation_threshold, openings, duplicates, annotations, encoding, .. } =
            self.options;
        loader.add_setting("continuation_threshold", continuation_threshold)?;
        loader.add_setting("openings", openings.digest())?;
        loader.add_setting(Duplicates::SETTING, duplicates.as_str())?;
        loader.add_setting(Annotations::SETTING, annotations.as_str())?;
        loader.add_setting(TextEncoding::SETTING, TextEncoding::name_or_auto(*encoding))?;
        Ok(loader.add_openings(openings)?)
    }

    /// Completes the rows of the sources and of the run.
    fn complete_rows(&self, loader: &mut BulkLoader<'_>, read: &ReadResult, summary: &Summary) -> Result<()> {
        for ((id, ..), totals) in self.sources().zip(read.totals()) {
            loader.finish_source(id, &totals)?;
        }
        let totals = ImportTotals {
            games: summary.games,
            plies: summary.plies,
            positions: summary.positions,
            distinct_positions: summary.distinct_positions,
            problems: summary.problems.iter().map(|(.., count)| count).sum(),
            duplicates: summary.duplicates.skipped(),
            elapsed: self.started.elapsed(),
        };
        Ok(loader.finish_import(self.intake.import, &totals)?)
    }

    /// The id and the path of each source, and the offset, in bytes, at which reading starts.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (SourceId, &'r Path, u64)> {
        let ids = (self.intake.last_source.0 + 1..).map(SourceId);
        ids.zip(&self.intake.sources.files).map(|(id, file)| match file {
            Ok(file) => (id, file.path.as_path(), file.range().map_or(file.first_byte, |range| range.start)),
            Err(error) => (id, error.path(), 0),
        })
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
