//! Writes one file from row groups that are already encoded.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::SchemaRef;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::arrow::{ArrowSchemaConverter, add_encoded_arrow_schema_to_metadata};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::SerializedFileWriter;
use serde::{Deserialize, Serialize};

use super::schema::Table;
use crate::store::{Error, Result};

/// Encodes the rows of one table, on any thread.
pub(super) struct Encoder {
    pub(super) table: &'static Table,
    schema: SchemaRef,
    properties: WriterPropertiesPtr,
    factory: ArrowRowGroupWriterFactory,
}

/// The encoded rows of one row group.
pub(super) struct RowGroup {
    columns: Vec<ArrowColumnChunk>,
    rows: usize,
}

impl Encoder {
    pub(super) fn new(table: &'static Table) -> Self {
        let schema = table.schema();
        let mut properties = table.properties();
        // Arrow's own readers get the types from this metadata.
        add_encoded_arrow_schema_to_metadata(&schema, &mut properties);
        let properties = Arc::new(properties);
        let nothing = file_writer(&schema, &properties, io::sink()).expect("writing to nothing");
        let factory = ArrowRowGroupWriterFactory::new(&nothing, Arc::clone(&schema));
        Self { table, schema, properties, factory }
    }

    pub(super) fn encode(&self, columns: &[ArrayRef]) -> RowGroup {
        let rows = columns.first().map_or(0, |column| column.len());
        let encode = || {
            let mut writers = self.factory.create_column_writers(0)?;
            for ((writer, field), column) in writers.iter_mut().zip(self.schema.fields()).zip(columns) {
                for leaf in compute_leaves(field, column)? {
                    writer.write(&leaf)?;
                }
            }
            writers.into_iter().map(|writer| writer.close()).collect::<Result<_, ParquetError>>()
        };
        RowGroup { columns: encode().expect("the columns are those of the table, and stay in memory"), rows }
    }
}

fn file_writer<W: Write + Send>(
    schema: &SchemaRef,
    properties: &WriterPropertiesPtr,
    to: W,
) -> Result<SerializedFileWriter<W>, ParquetError> {
    let parquet = ArrowSchemaConverter::new().convert(schema)?;
    SerializedFileWriter::new(to, parquet.root_schema_ptr(), Arc::clone(properties))
}

/// A file that is being written.
pub(super) struct Part {
    writer: SerializedFileWriter<Appending>,
    /// The path relative to the output directory.
    path: String,
    table: &'static Table,
    pub(super) rows: u64,
}

/// A complete file, as listed in the manifest.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ListedFile {
    /// The path relative to the output directory, with `/` between its parts.
    pub(super) path: String,
    pub(super) table: String,
    pub(super) rows: u64,
    pub(super) bytes: u64,
    pub(super) blake3: String,
}

impl Part {
    /// Creates `file`. The manifest will list it under `path`.
    pub(super) fn create(encoder: &Encoder, path: String, file: PathBuf) -> Result<Self> {
        File::create_new(&file).map_err(|source| failed(&file, source))?;
        let to =
            Appending { path: file.clone(), pending: Vec::new(), bytes: 0, hasher: blake3::Hasher::new() };
        let writer = file_writer(&encoder.schema, &encoder.properties, to)
            .map_err(|source| failed(&file, io_error(source)))?;
        Ok(Self { writer, path, table: encoder.table, rows: 0 })
    }

    pub(super) fn append(&mut self, group: RowGroup) -> Result<()> {
        let rows = group.rows;
        let append = |writer: &mut SerializedFileWriter<Appending>| {
            let mut row_group = writer.next_row_group()?;
            for column in group.columns {
                column.append_to_row_group(&mut row_group)?;
            }
            row_group.close().map(|_| ())
        };
        append(&mut self.writer).map_err(|source| failed(&self.writer.inner().path, io_error(source)))?;
        self.rows += rows as u64;
        Ok(())
    }

    /// Completes the file, but does not sync it.
    pub(super) fn finish(self) -> Result<ListedFile> {
        let Self { writer, path, table, rows } = self;
        let file = writer.inner().path.clone();
        let finish = || {
            let mut to = writer.into_inner().map_err(io_error)?;
            to.flush().map(|()| to)
        };
        let Appending { bytes, hasher, .. } = finish().map_err(|source| failed(&file, source))?;
        let blake3 = hasher.finalize().to_hex().to_string();
        Ok(ListedFile { path, table: table.name.to_owned(), rows, bytes, blake3 })
    }
}

fn failed(path: &Path, source: io::Error) -> Error {
    Error::io(path, "write", source)
}

/// Returns the I/O error that caused `error`. If the cause is another error, wraps the cause in an I/O error;
/// if there is no cause, wraps `error` itself.
pub(super) fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => cause.downcast().map_or_else(io::Error::other, |cause| *cause),
        other => io::Error::other(other),
    }
}

/// Pending bytes are appended to the file once there are at least this many.
const AT_ONCE: usize = 256 << 10;

/// Appends to a file. The file is open only while it is written to, because there can be thousands of files.
struct Appending {
    path: PathBuf,
    pending: Vec<u8>,
    bytes: u64,
    hasher: blake3::Hasher,
}

impl Write for Appending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        if self.pending.len() >= AT_ONCE {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        OpenOptions::new().append(true).open(&self.path)?.write_all(&self.pending)?;
        self.hasher.update(&self.pending);
        self.bytes += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }
}
