//! `pgndex key`: prints the key and the canonical FEN of a position.

use std::io::Write as _;

use pgndex::query::PositionQuery;
use serde_json::json;

use crate::cli::args::{KeyArgs, RowFormat, SqlFormat, read_fen, read_position};
use crate::cli::render::{PictureOutput, RowWriter, Value, stdout};

/// Prints the key and the canonical FEN of a position, and writes its picture if requested.
///
/// # Errors
/// If the position is not legal or cannot be read, or the answer or the picture cannot be written.
pub(crate) fn run(args: &KeyArgs) -> anyhow::Result<()> {
    let query = match args.words.is_empty() {
        true => read_position(&args.position)?,
        false => read_fen(&args.words.join(" "))?,
    };
    let picture = PictureOutput::requested(&args.picture, None)?;
    write(&query, args.format)?;
    if let Some(file) = picture {
        file.write(&query.position, None, args.flip, &[])?;
    }
    Ok(())
}

fn write(query: &PositionQuery, format: RowFormat) -> anyhow::Result<()> {
    let (key, fen) = (query.position.key(), query.position.canonical_fen());
    let changes = query.assumptions();
    if format == RowFormat::Csv {
        let mut rows = RowWriter::stdout(SqlFormat::Csv, &["key", "integer", "fen", "changes"])?;
        rows.row(&[
            key.to_string().into(),
            Value::Integer(key.as_i64()),
            fen.into(),
            changes.join("; ").into(),
        ])?;
        return rows.finish(None);
    }
    let mut out = stdout();
    if format == RowFormat::Json {
        let object =
            json!({ "key": key.to_string(), "integer": key.as_i64(), "fen": fen, "changes": changes });
        writeln!(out, "{object}")?;
    } else {
        writeln!(out, "key      {key}\ninteger  {}\nfen      {fen}", key.as_i64())?;
        for change in changes {
            writeln!(out, "changed  {change}")?;
        }
    }
    Ok(out.flush()?)
}
