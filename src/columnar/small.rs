//! The tables whose rows come while games are read.

use std::collections::BTreeMap;

use super::cells::Columns;
use super::game::DatePartition;
use super::output::{OpenPart, Output};
use super::part::Encoder;
use super::schema::{GROUP_ROWS, Placed, Table};
use crate::store::Result;
use crate::store::row::virtual_table::Cell;

/// Bytes of rows in memory, of all tables.
const MOST_BYTES: usize = 128 << 20;

/// Rows on their way into files: a file for each table and directory.
pub(super) struct SmallTables {
    files: BTreeMap<(&'static str, Option<DatePartition>), SmallFile>,
    encoders: BTreeMap<&'static str, Encoder>,
    bytes: usize,
}

struct SmallFile {
    columns: Columns,
    part: Option<OpenPart>,
}

impl SmallTables {
    pub(super) fn new() -> Self {
        Self { files: BTreeMap::new(), encoders: BTreeMap::new(), bytes: 0 }
    }

    /// Adds a row, of a game of such a date.
    pub(super) fn push<'c>(
        &mut self,
        output: &Output,
        table: &'static Table,
        date: DatePartition,
        cells: impl IntoIterator<Item = Cell<'c>>,
    ) -> Result<()> {
        let date = (table.placed == Placed::ByDate).then_some(date);
        let file = self
            .files
            .entry((table.name, date))
            .or_insert_with(|| SmallFile { columns: Columns::new(table), part: None });
        let before = file.columns.bytes();
        file.columns.push(cells);
        self.bytes += file.columns.bytes() - before;
        let encoder = self.encoders.entry(table.name).or_insert_with(|| Encoder::new(table));
        if file.columns.rows() >= GROUP_ROWS {
            self.bytes -= file.columns.bytes();
            file.flush(output, encoder, date)?;
        }
        if self.bytes > MOST_BYTES { self.flush_all(output) } else { Ok(()) }
    }

    fn flush_all(&mut self, output: &Output) -> Result<()> {
        for ((table, date), file) in &mut self.files {
            file.flush(output, &self.encoders[table], *date)?;
        }
        self.bytes = 0;
        Ok(())
    }

    /// Completes all files.
    pub(super) fn finish(mut self, output: &Output) -> Result<()> {
        self.flush_all(output)?;
        self.files.into_values().filter_map(|file| file.part).try_for_each(|part| output.complete(part))
    }
}

impl SmallFile {
    /// Writes what is in memory.
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
