//! Divides files into parts, for jobs that consist of many tasks.

use std::path::PathBuf;

use arrow_schema::DataType;
use pgndex::columnar::{PartitionBy, StreamQuery, WrittenBy};
use pgndex::index::{Duplicates, IndexOptions, ParquetOptions, Plan, Progress};
use pgndex::source::{self, DecodeOptions};
use pgndex::store::row::Severity;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{PgnError, bug, of_question, of_run};

/// The files that paths refer to, as `pgndex index` lists them: files, directories, patterns, lists. A zip archive is one file.
#[pyfunction]
pub(crate) fn files(py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<Vec<PathBuf>> {
    let options = IndexOptions::default();
    let decode = DecodeOptions { threads: options.threads, memory: options.memory };
    let listed = || source::list(&paths, decode, &());
    let sources = py.detach(listed).ok_or_else(|| bug("listing files was stopped"))?;
    let mut files: Vec<PathBuf> = Vec::new();
    for file in sources.files {
        let file = file.map_err(|error| PgnError::new_err(error.full_message()))?;
        let path = file.file_path().ok_or_else(|| {
            let path = file.path.display();
            PgnError::new_err(format!("{path}: a stream cannot be divided among tasks; give a file"))
        })?;
        if files.last().is_none_or(|last| last != path) {
            files.push(path.to_owned());
        }
    }
    Ok(files)
}

/// The start and the end of each part in bytes, and the format of the file if the format allows only one part.
type Ranges = (Vec<(u64, u64)>, Option<&'static str>);

/// Divides a file into parts of about `size` bytes that can be read separately. Returns the start and the end of each
/// part, and the format of the file if the format allows only one part.
#[pyfunction]
pub(crate) fn parts(py: Python<'_>, path: PathBuf, size: u64) -> PyResult<Ranges> {
    let parts = py.detach(|| source::parts(&path, size));
    let parts = parts.map_err(|error| PgnError::new_err(error.full_message()))?;
    Ok((parts.ranges.into_iter().map(|range| (range.start, range.end)).collect(), parts.undivided))
}

/// The columns of a table: name, `long`, `int` or `text`, and whether NULLs are possible.
#[pyfunction]
#[pyo3(signature = (table, columns=None))]
pub(crate) fn columns(
    table: &str,
    columns: Option<Vec<String>>,
) -> PyResult<Vec<(String, &'static str, bool)>> {
    let question = StreamQuery::new(table, columns.as_deref()).map_err(|error| of_question(&error))?;
    let schema = question.schema();
    let fields = schema.fields().iter().map(|field| {
        let kind = match field.data_type() {
            DataType::Int64 => "long",
            DataType::Int32 => "int",
            _ => "text",
        };
        (field.name().clone(), kind, field.is_nullable())
    });
    Ok(fields.collect())
}

/// Writes Parquet files with the games that begin in the bytes `start..end` of a file, as shard `shard` of a directory.
/// Does not count continuations, look for duplicates or divide `position_game`, because these need all parts. Returns
/// the counts.
#[pyfunction]
#[pyo3(signature = (path, start, end, directory, *, shard, partition_by, continuation_threshold, threads, memory))]
#[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn write_part<'py>(
    py: Python<'py>,
    path: PathBuf,
    start: u64,
    end: u64,
    directory: PathBuf,
    shard: u32,
    partition_by: &str,
    continuation_threshold: u32,
    threads: usize,
    memory: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let by = [PartitionBy::Nothing, PartitionBy::Year, PartitionBy::Month];
    let partition_by = by.into_iter().find(|by| by.as_str() == partition_by).ok_or_else(|| {
        PyValueError::new_err(format!("partition_by={partition_by:?}: write none, year or month"))
    })?;
    let options = IndexOptions {
        threads,
        memory,
        continuation_threshold,
        duplicates: Duplicates::Keep,
        ..IndexOptions::default()
    };
    let progress = Progress::default();
    let parquet = ParquetOptions { directory, shard, partition_by, by_key: WrittenBy::Job, overwrite: true };
    let write = || {
        let plan = Plan::new(&[path], &options, &progress)?.with_range(&(start..end));
        plan.write_parquet(&parquet, &progress)
    };
    let summary = py.detach(write).map_err(|error| of_run(&error))?;
    let written = PyDict::new(py);
    written.set_item("games", summary.games)?;
    written.set_item("plies", summary.plies)?;
    written.set_item("positions", summary.positions)?;
    written.set_item("errors", summary.problems.of(Severity::Error))?;
    written.set_item("warnings", summary.problems.of(Severity::Warning))?;
    written.set_item("files", summary.parquet_files)?;
    written.set_item("bytes", summary.file_bytes)?;
    Ok(written)
}
