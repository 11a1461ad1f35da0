//! The games to export.

use pgndex::query::{Choice, PositionQuery, PositionSequence, similar_names};
use pgndex::store::{Database, GameFilter};

use crate::cli::args::{ExportArgs, filter_option};
use crate::cli::notes::{note_players, note_unknown};

pub(super) struct Chosen<'c> {
    pub(super) args: &'c ExportArgs,
    pub(super) filter: &'c GameFilter,
    pub(super) query: Option<&'c PositionQuery>,
    pub(super) sequence: Option<&'c PositionSequence>,
}

impl Chosen<'_> {
    /// Calls `write` with the choice of games. First prints notes on the names in the filter, unless `--sql`
    /// chooses the games.
    pub(super) fn read<T>(
        &self,
        database: &Database,
        write: impl FnOnce(Choice<'_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        if let Some(sql) = &self.args.sql {
            return write(Choice::Sql(sql));
        }
        let selection = database.select(self.filter)?;
        note_unknown(&similar_names(database, &selection)?, &filter_option);
        note_players(database, &selection, &filter_option)?;
        let order = self.args.sort;
        write(match (self.query, self.sequence) {
            (Some(query), _) => Choice::Reached(query, &selection, order),
            (None, Some(sequence)) => Choice::Passed(sequence, &selection, order),
            (None, None) => Choice::Selection(&selection, order),
        })
    }
}
