//! The picture of a position in a file.

use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use pgndex::board::Color;
use pgndex::picture::BoardPicture;

use crate::cli::args::PictureArgs;
use crate::cli::note;
use crate::cli::render::output_file::OutputFile;

/// The file of a picture, begun before the question is asked: what cannot be written is told at once.
pub(crate) struct PictureFile(OutputFile);

impl PictureFile {
    /// Begins the file that was asked for, if any was; it must not belong to the database that is read.
    ///
    /// # Errors
    /// Those of [`OutputFile::create`].
    pub(crate) fn create(args: &PictureArgs, database: Option<&Path>) -> anyhow::Result<Option<Self>> {
        let create = |path| OutputFile::create(path, args.overwrite, database, "name a file for the picture");
        Ok(args.svg.as_deref().map(create).transpose()?.map(Self))
    }

    /// Writes the picture, puts the file into place and says so.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn write(self, picture: &BoardPicture<'_>) -> anyhow::Result<()> {
        let Self(output) = self;
        output
            .file()
            .write_all(picture.to_svg().as_bytes())
            .with_context(|| format!("{}: cannot write it", output.path().display()))?;
        note(&format!("picture written to {}", output.finish()?.display()));
        Ok(())
    }
}

/// Whose side is at the bottom.
pub(crate) const fn orientation(flip: bool) -> Color {
    if flip { Color::Black } else { Color::White }
}
