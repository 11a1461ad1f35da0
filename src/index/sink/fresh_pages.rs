//! Writes a new database: builds the pages of its large tables and of `game` directly, and writes the other
//! tables through SQL.

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;

use super::{DatabaseSink, write_occurrences};
use crate::id::ImportId;
use crate::index::visited_position::LevelOccurrences;
use crate::index::{Error, Result};
use crate::parallel;
use crate::store::pages::{PageFile, PageNumber, Segment, assemble};
use crate::store::row::virtual_table::Columns as _;
use crate::store::row::{GameRow, HeaderBatch, Level, MovesRow};
use crate::store::sink::{
    BatchNumber, GameLeaves, GameTables, IndexRows, LeafEncoder, Sink, columns_of_game, take_in_order,
};
use crate::store::{self, Build, BulkLoader};

/// Builds the pages of a new database's large tables, of its table `game`, and of the indexes of `game`.
/// Meanwhile writes the small tables through SQL to another file, and copies them from there at the end. Then
/// writes the visited positions and updates the duplicates through SQL in the database itself.
pub(crate) struct FreshPages<'b> {
    build: &'b mut Build,
    watch: &'b dyn Fn(&Connection),
    /// The database file; `None` once it is closed. It must be closed before SQLite opens the file again.
    file: Option<Arc<PageFile>>,
    /// The root pages of `game_position`, `move_eval` and `occurrence`.
    roots: [PageNumber; 3],
    /// The leaves of each batch, in order of arrival.
    leaves: Vec<(BatchNumber, GameLeaves)>,
    /// Writes the rows of `game` and `game_moves`; `None` once all games are written.
    games: Option<GameTables>,
    /// The run that adds the games.
    import: ImportId,
    /// Indexes of `game` that SQLite must build.
    not_built: Vec<String>,
    /// Writes the small tables to another file.
    small: Option<BulkLoader<'static>>,
}

impl<'b> FreshPages<'b> {
    /// Begins to fill a database with the games of the run `import`. `watch` is called with each connection that
    /// is opened. Unnamed temporary files are created in `directory`.
    pub(crate) fn new(
        build: &'b mut Build,
        watch: &'b dyn Fn(&Connection),
        directory: &Path,
        import: ImportId,
    ) -> Result<Self> {
        let root = |table| build.root_page(table);
        let roots = [root("game_position")?, root("move_eval")?, root("occurrence")?];
        let memory = build.cache_bytes() / 2;
        let game_roots = [root("game")?, root("game_moves")?];
        let failed = |source| store::Error::sqlite(build.path(), "read the schema", source);
        let columns = columns_of_game(build.connection()).map_err(failed)?;
        let indexes = IndexRows::of_table(build.connection(), "game", memory, directory).map_err(failed)?;
        let side = build.side_database("headers")?;
        watch(side.connection());
        let small = BulkLoader::into_side_database(side)?;
        build.close()?;
        let file = Arc::new(PageFile::open(build.path())?);
        let games = Some(GameTables::new(columns, indexes, game_roots, &file));
        let (leaves, not_built) = (Vec::new(), Vec::new());
        let (file, small) = (Some(file), Some(small));
        Ok(Self { build, watch, file, roots, leaves, games, import, not_built, small })
    }

    /// The loader for the small tables.
    pub(crate) fn small(&mut self) -> &mut BulkLoader<'static> {
        self.small.as_mut().expect("until the end")
    }

    fn file(&self) -> &Arc<PageFile> {
        self.file.as_ref().expect("until the end")
    }
}

/// Builds the leaves of `occurrence`, one segment for each partition, and the indexes of `game`. Then
/// completes the trees of all large tables. Returns the names of the indexes that SQLite must build.
fn build_trees(
    file: &Arc<PageFile>,
    roots: [PageNumber; 3],
    (positions, evals): (Vec<Segment>, Vec<Segment>),
    indexes: Vec<IndexRows>,
    sorted: &LevelOccurrences<'_>,
) -> Result<Vec<String>> {
    let (not_built, occurrences) = sorted.run.pool.join(
        || parallel::consume(None, indexes, || (), |(), index| index.build(file)),
        || write_occurrences(file, Level::FIRST, sorted),
    );
    let (not_built, occurrences) = (not_built?.into_iter().flatten().collect(), occurrences?);
    for (root, segments) in roots.into_iter().zip([positions, evals, occurrences]) {
        if root == PageNumber(0) {
            continue; // In the compact layout, `game_position` is not a table.
        }
        assemble(file, root, segments)?;
    }
    Ok(not_built)
}

impl Sink for FreshPages<'_> {
    type Encoder = LeafEncoder;

    fn encoder(&self) -> LeafEncoder {
        LeafEncoder::new(self.file(), self.build.layout())
    }

    fn headers(&mut self, batch: &HeaderBatch) -> store::Result<()> {
        self.games.as_mut().expect("while games are read").append(batch, self.import)?;
        self.small().append_headers_except(&[GameRow::TABLE, MovesRow::TABLE], batch)
    }

    fn positions(&mut self, number: BatchNumber, leaves: GameLeaves) -> store::Result<Option<GameLeaves>> {
        self.leaves.push((number, leaves));
        Ok(None)
    }
}

impl DatabaseSink for FreshPages<'_> {
    fn occurrences(&mut self, sorted: &LevelOccurrences<'_>) -> Result<()> {
        let leaves = take_in_order(&mut self.leaves);
        let indexes = self.games.take().expect("while games are read").finish()?;
        let (file, roots) = (Arc::clone(self.file()), self.roots);
        self.not_built = std::thread::scope(|scope| {
            let built = scope.spawn(move || build_trees(&file, roots, leaves, indexes, sorted));
            // Meanwhile, SQLite builds the indexes of the small tables in the other file.
            let indexed = self.small().make_indexes();
            let not_built = built.join().map_err(|_| Error::Panicked)??;
            Ok::<_, Error>(indexed.map(|()| not_built)?)
        })?;
        Ok(())
    }

    fn end(&mut self, write: impl FnOnce(&mut BulkLoader<'_>) -> Result<()>) -> Result<()> {
        write(self.small())?;
        let side = self.small.take().expect("until the end").finish_side_database()?;
        self.file().finish()?;
        self.file = None;
        self.build.reopen()?;
        (self.watch)(self.build.connection());
        let mut loader = BulkLoader::begin(self.build.connection(), self.build.path())?;
        self.not_built.iter().try_for_each(|name| loader.rebuild_index(name))?;
        loader.take_rows(side)?;
        loader.take_problems()?;
        Ok(loader.finish()?)
    }

    fn finish<T>(self, write: impl FnOnce(&BulkLoader<'_>) -> Result<T>) -> Result<T> {
        let loader = BulkLoader::begin(self.build.connection(), self.build.path())?;
        let written = write(&loader)?;
        loader.finish()?;
        Ok(written)
    }
}
