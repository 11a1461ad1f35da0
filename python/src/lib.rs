//! The Rust part of the Python package `pgndex`; the rest is in `python/pgndex`.

mod capsule;
mod cells;
mod database;
mod error;
mod filter;
mod index;
mod part;
mod picture;
mod read;
mod rows;

use pyo3::prelude::*;

/// The internals of the package.
#[pymodule]
mod _pgndex {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::database::OpenDatabase;
    #[pymodule_export]
    use crate::error::{DatabaseError, Error, PgnError, QuestionError};
    #[pymodule_export]
    use crate::index::index;
    #[pymodule_export]
    use crate::part::{columns, files, parts, write_part};
    #[pymodule_export]
    use crate::picture::board;
    #[pymodule_export]
    use crate::read::read;
    #[pymodule_export]
    use crate::rows::{Batch, Rows};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let error = module.getattr("Error")?;
        ["path", "line", "column", "byte", "game", "ply"]
            .iter()
            .try_for_each(|name| error.setattr(name, module.py().None()))?;
        crate::rows::note_main_thread(module.py())
    }

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
