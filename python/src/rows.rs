//! Passes rows to Python.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle, ThreadId};
use std::time::{Duration, Instant};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError, bounded};
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};

use crate::capsule;
use crate::error::QuestionError;

/// One output of a thread that builds batches: a batch, or the error that ended the work.
pub(crate) type Item = Result<RecordBatch, Failure>;

/// Why building rows ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Run(#[from] pgndex::index::Error),
    #[error(transparent)]
    Store(pgndex::store::Error),
    #[error(transparent)]
    Query(pgndex::query::Error),
    #[error(transparent)]
    Misfit(#[from] crate::cells::Misfit),
    #[error("{0}")]
    Other(String),
    /// Nobody receives the rows any more.
    #[error("stopped")]
    Unwanted,
    #[error("interrupted (KeyboardInterrupt)")]
    Interrupted,
    #[error("a thread failed; this is a bug in pgndex, please report it")]
    Panicked,
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match &failure {
            Failure::Run(error) => crate::error::of_run(error),
            Failure::Store(error) => crate::error::of_store(error),
            Failure::Query(error) => crate::error::of_query(error),
            Failure::Misfit(error) => QuestionError::new_err(error.to_string()),
            Failure::Other(text) => QuestionError::new_err(text.clone()),
            Failure::Interrupted | Failure::Unwanted => PyKeyboardInterrupt::new_err(()),
            Failure::Panicked => crate::error::bug(failure),
        }
    }
}

/// Batches that a thread builds while they are received.
pub(crate) struct Source {
    pub(crate) schema: SchemaRef,
    pub(crate) items: Receiver<Item>,
    /// Stops the thread soon.
    pub(crate) stop: Box<dyn Fn() + Send + Sync>,
    pub(crate) thread: Option<JoinHandle<()>>,
    /// Whether nothing more will be received: all batches have been received, or the work failed or was interrupted.
    pub(crate) is_done: bool,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl Source {
    /// Waits for the next batch. Meanwhile checks Python's signals, if the current thread handles them.
    fn wait(&mut self) -> Option<Item> {
        if self.is_done {
            return None;
        }
        loop {
            match self.items.recv_timeout(PATIENCE) {
                Ok(Ok(batch)) => return Some(Ok(batch)),
                Ok(Err(failure)) => {
                    self.is_done = true;
                    return Some(Err(failure));
                }
                Err(RecvTimeoutError::Timeout) => {
                    if is_interrupted() {
                        self.is_done = true;
                        (self.stop)();
                        return Some(Err(Failure::Interrupted));
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    self.is_done = true;
                    let ended = self.thread.take().map_or(Ok(()), JoinHandle::join);
                    return ended.is_err().then_some(Err(Failure::Panicked));
                }
            }
        }
    }
}

/// The thread that handles Python's signals, if it loaded the package.
static MAIN: OnceLock<ThreadId> = OnceLock::new();

/// Records the current thread as the main thread, if it is Python's main thread.
pub(crate) fn note_main_thread(py: Python<'_>) -> PyResult<()> {
    let threading = py.import("threading")?;
    if threading.call_method0("current_thread")?.is(&threading.call_method0("main_thread")?) {
        let _ = MAIN.set(thread::current().id());
    }
    Ok(())
}

/// How often signals are checked.
const PATIENCE: Duration = Duration::from_millis(50);

/// Whether Ctrl-C was pressed, checked only at intervals: for frequent callers.
pub(crate) fn is_interrupted_now_and_then() -> bool {
    static LAST: Mutex<Option<Instant>> = Mutex::new(None);
    if MAIN.get() != Some(&thread::current().id()) {
        return false;
    }
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if last.is_some_and(|last| last.elapsed() < PATIENCE) {
        return false;
    }
    *last = Some(Instant::now());
    drop(last);
    is_interrupted()
}

/// Whether Ctrl-C was pressed. Only the main thread checks: other threads must not wait for the interpreter,
/// because the thread that holds it may wait for them.
fn is_interrupted() -> bool {
    if MAIN.get() != Some(&thread::current().id()) {
        return false;
    }
    Python::attach(|py| py.check_signals().is_err())
}

impl Iterator for Source {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = self.wait()?;
        Some(item.map_err(|failure| ArrowError::ExternalError(crate::error::message(&failure).into())))
    }
}

impl RecordBatchReader for Source {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        (self.stop)();
        // The thread can be blocked while it sends a batch. Sending fails once the receiver is dropped here.
        self.items = crossbeam_channel::never();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// An exception that explains how to read rows, for callers that use them as something else.
fn not_so() -> PyErr {
    PyTypeError::new_err(
        "the rows are an Arrow stream, and its batches are Arrow arrays. Write pandas.DataFrame.from_arrow(rows) (pandas 3 or newer), \
         polars.DataFrame(rows), duckdb.sql(\"FROM rows\") or pyarrow.table(rows); pyarrow.table(rows).to_pylist() gives a dict for each row",
    )
}

/// Rows of a table as an Arrow stream, built while they are read.
///
/// Any library that reads Arrow streams can read them, once: `polars.DataFrame(rows)`, `pandas.DataFrame.from_arrow(rows)`, `pyarrow.table(rows)`,
/// `duckdb.sql("FROM rows")`. Iterating gives batches of rows. `close()`, or the end of a `with` block, ends the work early.
#[pyclass(module = "pgndex")]
#[derive(Debug)]
pub(crate) struct Rows {
    schema: SchemaRef,
    source: Mutex<Option<Source>>,
}

/// Passes on the schema and the batches that a separate thread builds.
pub(crate) struct Producer {
    begun: Sender<Result<SchemaRef, Failure>>,
    items: Sender<Item>,
    stop: Arc<AtomicBool>,
}

impl Producer {
    /// Passes on the schema. It must come before all batches.
    pub(crate) fn begin(&mut self, schema: SchemaRef) -> Result<(), Failure> {
        self.begun.send(Ok(schema)).map_err(|_| Failure::Unwanted)
    }

    /// Passes on a batch.
    pub(crate) fn send(&mut self, batch: RecordBatch) -> Result<(), Failure> {
        self.items.send(Ok(batch)).map_err(|_| Failure::Unwanted)
    }

    /// A function that returns whether to stop.
    pub(crate) fn is_stopped(&self) -> impl Fn() -> bool + Send + Sync + 'static {
        let stop = Arc::clone(&self.stop);
        move || stop.load(Ordering::Relaxed)
    }
}

/// The maximum number of batches waiting to be received.
pub(crate) const WAITING: usize = 2;

impl Rows {
    /// Rows that a thread builds while they are received. Waits for their schema.
    pub(crate) fn produce(
        py: Python<'_>,
        make: impl FnOnce(&mut Producer) -> Result<(), Failure> + Send + 'static,
    ) -> PyResult<Self> {
        let (begun, schema) = bounded(1);
        let (items, receiver) = bounded(WAITING);
        let stop = Arc::new(AtomicBool::new(false));
        let mut producer = Producer { begun, items, stop: Arc::clone(&stop) };
        let work = move || {
            if let Err(failure) = make(&mut producer) {
                // The caller waits for the schema first. If it has the schema already, it waits for batches.
                let Err(TrySendError::Disconnected(Err(failure)) | TrySendError::Full(Err(failure))) =
                    producer.begun.try_send(Err(failure))
                else {
                    return;
                };
                let _ = producer.items.send(Err(failure));
            }
        };
        let thread =
            thread::Builder::new().name("pgndex".to_owned()).spawn(work).map_err(crate::error::bug)?;
        let ended = Box::new(move || stop.store(true, Ordering::Relaxed));
        let schema = loop {
            match py.detach(|| schema.recv_timeout(PATIENCE)) {
                Ok(Ok(schema)) => break schema,
                Ok(Err(failure)) => return Err(failure.into()),
                Err(RecvTimeoutError::Disconnected) => return Err(Failure::Panicked.into()),
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(error) = py.check_signals() {
                        ended();
                        return Err(error);
                    }
                }
            }
        };
        Ok(Self::new(Source { schema, items: receiver, stop: ended, thread: Some(thread), is_done: false }))
    }

    pub(crate) fn new(source: Source) -> Self {
        Self { schema: source.schema.clone(), source: Mutex::new(Some(source)) }
    }

    fn take(&self) -> Option<Source> {
        self.source.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[pymethods]
impl Rows {
    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::schema(py, &self.schema)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows ignoring the requested schema. Only the types of this schema are offered.
        let _ = requested_schema;
        let taken =
            || QuestionError::new_err("these rows have already been read or closed; run the query again");
        capsule::stream(py, self.take().ok_or_else(taken)?)
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let next = || {
            let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
            source.as_mut().and_then(Source::wait)
        };
        match py.detach(next) {
            None => Ok(None),
            Some(Ok(batch)) => Ok(Some(Batch(batch))),
            Some(Err(failure)) => {
                // Readers of the Arrow stream get only a message; here, the exception also has the right type.
                Err(PyErr::from(failure))
            }
        }
    }

    /// Called by pandas.DataFrame(rows) and numpy, which would treat the batches as values.
    #[pyo3(signature = (*_arguments, **_keywords))]
    fn __array__(
        &self,
        _arguments: &Bound<'_, PyTuple>,
        _keywords: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        Err(not_so())
    }

    /// Called by functions such as pandas.read_json. Rows are not a file.
    #[pyo3(signature = (*_arguments))]
    fn read(&self, _arguments: &Bound<'_, PyTuple>) -> PyResult<()> {
        Err(not_so())
    }

    /// Ends the work.
    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(self.take()));
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) {
        self.close(py);
    }

    fn __repr__(&self) -> String {
        format!("<pgndex.Rows: {}>", self.columns().join(", "))
    }
}

/// A batch of rows: an Arrow array with a field for each column.
#[pyclass(module = "pgndex", frozen)]
#[derive(Debug)]
pub(crate) struct Batch(RecordBatch);

#[pymethods]
impl Batch {
    /// The number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.0.num_rows()
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// Called by numpy. Raises an exception, as `Rows.__array__` does.
    #[pyo3(signature = (*_arguments, **_keywords))]
    fn __array__(
        &self,
        _arguments: &Bound<'_, PyTuple>,
        _keywords: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        Err(not_so())
    }

    fn __iter__(&self) -> PyResult<Py<PyAny>> {
        Err(not_so())
    }

    fn __getitem__(&self, _index: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(not_so())
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::schema(py, &self.0.schema())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let _ = requested_schema;
        capsule::array(py, &self.0)
    }
}
