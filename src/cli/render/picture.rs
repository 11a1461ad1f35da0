//! Writes the picture of a position to a file.

use std::io::Write as _;
use std::path::Path;

use anyhow::bail;
use pgndex::board::Color;
use pgndex::picture::BoardPicture;

use crate::cli::args::PictureArgs;
use crate::cli::render::output_file::{Existing, OutputFile, check, refuse_pgn};
use crate::cli::terminal::log::note;

/// What to do if the path is not that of a file.
const INSTEAD: &str = "name a file for the picture";

/// The file of a picture. It is created when the answer is written, so that no file is left if the query fails
/// or is stopped.
pub(crate) struct PictureOutput<'a> {
    path: &'a Path,
    existing: Existing,
    database: Option<&'a Path>,
}

impl<'a> PictureOutput<'a> {
    /// The requested file, if there is one. It must not belong to the database. A file that cannot be written
    /// is reported before the query runs.
    ///
    /// # Errors
    /// If the path is `-`; also those of [`check`] and [`refuse_pgn`].
    pub(crate) fn requested(
        args: &'a PictureArgs,
        database: Option<&'a Path>,
    ) -> anyhow::Result<Option<Self>> {
        let Some(path) = args.svg.as_deref() else { return Ok(None) };
        if path == Path::new("-") {
            bail!("--svg -: the answer goes to standard output; {INSTEAD}");
        }
        let existing = Existing::from_overwrite(args.overwrite);
        check(path, existing, database, INSTEAD)?;
        refuse_pgn(path)?;
        Ok(Some(Self { path, existing, database }))
    }

    /// Writes the picture, completes the file and prints its path.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn write(self, picture: &BoardPicture<'_>) -> anyhow::Result<()> {
        let output = OutputFile::create(self.path, self.existing, self.database, INSTEAD)?;
        let written = output.file().write_all(picture.to_svg().as_bytes());
        written.map_err(|error| output.failed(error.into()))?;
        note(&format!("picture written to {}", output.finish()?.display()));
        Ok(())
    }
}

/// The side at the bottom.
pub(crate) const fn orientation(flip: bool) -> Color {
    if flip { Color::Black } else { Color::White }
}
