//! Writes the tables whose rows arrive while games are read.

use std::collections::BTreeMap;

use super::cells::Columns;
use super::game::DatePartition;
use super::output::{OpenPart, Output};
use super::part::Encoder;
use super::schema::{GAME, GROUP_ROWS, Placed, Table};
use crate::store::Result;
use crate::store::row::virtual_table::Cell;

/// The maximum size of a table's buffered rows, in bytes. The rows of each table are counted separately: the
/// ends of its row groups must not depend on the order in which rows of several tables arrive. The games of
/// an old collection are spread over a thousand months, each with its own file. With less memory, the row
/// groups of these files would have a few dozen games, and most of the time would be spent on starting row
/// groups.
fn most_bytes(table: &Table) -> usize {
    if table.name == GAME.name { 128 << 20 } else { 32 << 20 }
}

/// Buffered rows.
#[derive(Default)]
pub(super) struct SmallTables(BTreeMap<&'static str, SmallTable>);

/// The rows of one table, with one file per directory.
struct SmallTable {
    encoder: Encoder,
    files: BTreeMap<Option<DatePartition>, SmallFile>,
    bytes: usize,
}

struct SmallFile {
    columns: Columns,
    part: Option<OpenPart>,
}

impl SmallTables {
    /// Adds a row that belongs in the directory of this date.
    pub(super) fn push<'c>(
        &mut self,
        output: &Output,
        table: &'static Table,
        date: DatePartition,
        cells: impl IntoIterator<Item = Cell<'c>>,
    ) -> Result<()> {
        let new = || SmallTable { encoder: Encoder::new(table), files: BTreeMap::new(), bytes: 0 };
        self.0.entry(table.name).or_insert_with(new).push(output, date, cells)
    }

    /// Completes all files.
    pub(super) fn finish(self, output: &Output) -> Result<()> {
        for mut table in self.0.into_values() {
            table.flush(output)?;
            table
                .files
                .into_values()
                .filter_map(|file| file.part)
                .try_for_each(|part| output.complete(part))?;
        }
        Ok(())
    }
}

impl SmallTable {
    fn push<'c>(
        &mut self,
        output: &Output,
        date: DatePartition,
        cells: impl IntoIterator<Item = Cell<'c>>,
    ) -> Result<()> {
        let table = self.encoder.table;
        let date = (table.placed == Placed::ByDate).then_some(date);
        let new = || SmallFile { columns: Columns::new(table), part: None };
        let file = self.files.entry(date).or_insert_with(new);
        let before = file.columns.bytes();
        file.columns.push(cells);
        self.bytes += file.columns.bytes() - before;
        if file.columns.rows() >= GROUP_ROWS {
            self.bytes -= file.columns.bytes();
            file.flush(output, &self.encoder, date)?;
        }
        if self.bytes > most_bytes(table) { self.flush(output) } else { Ok(()) }
    }

    /// Writes the buffered rows.
    fn flush(&mut self, output: &Output) -> Result<()> {
        self.bytes = 0;
        self.files.iter_mut().try_for_each(|(date, file)| file.flush(output, &self.encoder, *date))
    }
}

impl SmallFile {
    /// Writes the buffered rows.
    fn flush(&mut self, output: &Output, encoder: &Encoder, date: Option<DatePartition>) -> Result<()> {
        if self.columns.rows() == 0 {
            return Ok(());
        }
        let group = encoder.encode(&self.columns.take());
        let part = match &mut self.part {
            Some(part) => part,
            none => {
                let directories = date.map(|date| date.to_string()).unwrap_or_default();
                none.insert(output.part(encoder, &directories, 0)?)
            }
        };
        part.part.append(group)
    }
}
