//! Writes rows as a table, as JSON, as CSV and so on, to standard output or elsewhere.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, BufWriter, IsTerminal as _, StdoutLock, Write};
use std::sync::LazyLock;

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

use crate::cli::args::SqlFormat;
use crate::cli::environment;
use crate::cli::render::{Cell, Style, TableWriter, counted, escaped_json, percent, printable_lines};

/// Standard output: line-buffered for a terminal, otherwise block-buffered.
pub(crate) fn stdout() -> Box<dyn Write> {
    let stdout = io::stdout().lock();
    match stdout.is_terminal() {
        true => Box::new(Named(stdout)),
        false => Box::new(BufWriter::with_capacity(1 << 16, Named(stdout))),
    }
}

/// Standard output, with errors that name it.
struct Named(StdoutLock<'static>);

impl Write for Named {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(of_stdout)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(of_stdout)
    }
}

/// A write error, with a message that names standard output.
pub(crate) fn of_stdout(error: io::Error) -> io::Error {
    match error.kind() {
        // The caller repeats an interrupted write, so nobody reads this error.
        io::ErrorKind::Interrupted => error,
        kind => io::Error::new(kind, format!("standard output: cannot write: {error}")),
    }
}

/// A text of several lines for standard output. Its control characters are made visible on a terminal;
/// elsewhere it is unchanged.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    static IS_TERMINAL: LazyLock<bool> = LazyLock::new(|| io::stdout().is_terminal());
    if *IS_TERMINAL { printable_lines(text).into() } else { text.into() }
}

/// Writes an answer as a line of JSON, with escaped control characters.
///
/// # Errors
/// If writing fails.
pub(crate) fn write_json(out: &mut dyn Write, answer: &impl Serialize) -> anyhow::Result<()> {
    answer.serialize(&mut Serializer::with_formatter(&mut *out, Escaping))?;
    Ok(writeln!(out)?)
}

/// Prints an answer to standard output as a line of JSON.
///
/// # Errors
/// If writing fails.
pub(crate) fn print_json(answer: &impl Serialize) -> anyhow::Result<()> {
    let mut out = stdout();
    write_json(&mut out, answer)?;
    Ok(out.flush()?)
}

/// Prints a line.
///
/// # Errors
/// If writing fails.
pub(crate) fn print_line(text: &str) -> anyhow::Result<()> {
    let mut out = stdout();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

/// Compact JSON with escaped control characters.
struct Escaping;

impl Formatter for Escaping {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        out.write_all(escaped_json(fragment).as_bytes())
    }
}

/// The width of the terminal, if standard output is one; otherwise the value of the variable `COLUMNS`;
/// `None` if both are missing.
pub(crate) fn terminal_width() -> Option<usize> {
    let of_terminal = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    of_terminal.or_else(|| std::env::var("COLUMNS").ok()?.parse().ok().filter(|&width| width > 0))
}

/// One value of a row.
#[derive(Clone, Debug)]
pub(crate) enum Value<'a> {
    /// Nothing: `null` in JSON.
    Null,
    Integer(i64),
    Real(f64),
    Text(Cow<'a, str>),
    /// Bytes, printed in hexadecimal.
    Blob(&'a [u8]),
}

impl Value<'_> {
    /// A percentage, padded so that all percentages of a column are aligned.
    pub(crate) fn share(part: u64, whole: u64) -> Self {
        format!("{:>7}", percent(part, whole)).into()
    }

    /// The value as plain text, without the syntax of an output format.
    pub(crate) fn to_text(&self) -> Cow<'_, str> {
        match self {
            Self::Null => "".into(),
            Self::Integer(number) => number.to_string().into(),
            Self::Real(number) => format!("{number:?}").into(),
            Self::Text(text) => text.as_ref().into(),
            Self::Blob(bytes) => hex(bytes).into(),
        }
    }

    fn to_cell(&self) -> Cell {
        match self {
            Self::Integer(_) | Self::Real(_) => Cell::number(self.to_text().into_owned()),
            _ => Cell::lines(&self.to_text()),
        }
    }

    fn to_markdown(&self) -> Cell {
        match self {
            Self::Text(text) => Cell::text(&markdown(text)),
            _ => self.to_cell(),
        }
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Null => out.write_all(b"null"),
            Self::Integer(number) => write!(out, "{number}"),
            // Infinity is written as `null`, because JSON has no infinity.
            Self::Real(number) => Ok(serde_json::to_writer(out, number)?),
            Self::Text(text) => out.write_all(escaped_json(&serde_json::to_string(text)?).as_bytes()),
            Self::Blob(bytes) => write!(out, "\"{}\"", hex(bytes)),
        }
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

/// `None` becomes [`Value::Null`].
impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, T::into)
    }
}

macro_rules! integers {
    ($($number:ty),*) => {
        $(impl From<$number> for Value<'_> {
            fn from(number: $number) -> Self {
                Self::Integer(number as i64)
            }
        })*
    };
}

// Numbers of type `u64` are counts below 2^63, so none becomes negative as an `i64`.
integers!(u16, u32, u64, i32);

/// A text as a cell of a Markdown table. Vertical bars are escaped and line ends are replaced, because both
/// would end the cell. Backslashes and `<` are escaped too.
pub(crate) fn markdown(text: &str) -> String {
    let mut cell = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' | '|' | '<' => cell.extend(['\\', letter]),
            '\r' => {}
            '\n' => cell.push_str("<br>"),
            _ => cell.push(letter),
        }
    }
    cell
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble & 15)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}

/// Writes rows in one of the formats; JSON has one object per line.
pub(crate) struct RowWriter<'o> {
    rows: u64,
    writer: Writer<'o>,
}

enum Writer<'o> {
    Table {
        table: TableWriter<Box<dyn Write + 'o>>,
        style: Style,
    },
    Json {
        out: Box<dyn Write + 'o>,
        keys: Vec<String>,
    },
    Csv {
        writer: Box<csv::Writer<Box<dyn Write + 'o>>>,
        /// The names of the columns; empty if they are omitted or already written.
        headers: Vec<String>,
    },
}

impl<'o> RowWriter<'o> {
    /// Starts to write rows with these columns to standard output.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn stdout(format: SqlFormat, columns: &[&str]) -> anyhow::Result<Self> {
        Self::new(stdout(), format, columns, terminal_width())
    }

    /// Starts to write rows with these columns. `terminal` is the width of the terminal to which a table is
    /// fitted; `None` if the table can have any width.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn new(
        out: Box<dyn Write + 'o>,
        format: SqlFormat,
        columns: &[&str],
        terminal: Option<usize>,
    ) -> anyhow::Result<Self> {
        let table = |out, style| Writer::Table {
            table: TableWriter::new(out, columns, terminal).styled(style),
            style,
        };
        let writer = match format {
            SqlFormat::Table => table(out, Style::Plain),
            SqlFormat::Box => table(out, Style::Box),
            SqlFormat::Line => table(out, Style::Lines),
            SqlFormat::Md => {
                let columns: Vec<_> = columns.iter().map(|column| markdown(column)).collect();
                let columns: Vec<_> = columns.iter().map(String::as_str).collect();
                let style = Style::Markdown;
                Writer::Table { table: TableWriter::new(out, &columns, terminal).styled(style), style }
            }
            SqlFormat::Json => Writer::Json { out, keys: json_keys(columns)? },
            SqlFormat::Csv => {
                let headers = columns.iter().map(|column| shown(column).into_owned()).collect();
                Writer::Csv { writer: Box::new(csv::Writer::from_writer(out)), headers }
            }
        };
        Ok(Self { rows: 0, writer })
    }

    /// Allows only these columns of a table to be shortened for a terminal; by default, all columns of text
    /// can be shortened.
    pub(crate) fn shortening(self, columns: &'static [&'static str]) -> Self {
        self.with(|table| table.shortened = Some(columns))
    }

    /// Sets the minimum width of a column in a long table, because later rows can need this width.
    pub(crate) fn reserving(self, column: &'static str, width: usize) -> Self {
        self.with(|table| table.reserved = Some((column, width)))
    }

    /// Selects the style for a table that is too wide for the terminal: one value per line, and then a note.
    pub(crate) fn lines_if_too_wide(self) -> Self {
        self.with(|table| table.lines_if_too_wide = true)
    }

    fn with(mut self, set: impl FnOnce(&mut TableWriter<Box<dyn Write + 'o>>)) -> Self {
        if let Writer::Table { table, .. } = &mut self.writer {
            set(table);
        }
        self
    }

    /// Omits the names of the columns in a plain table and in CSV. Other formats always have them.
    pub(crate) fn without_headers(mut self) -> Self {
        match &mut self.writer {
            Writer::Table { table, style: Style::Plain } => table.has_headers = false,
            Writer::Csv { headers, .. } => headers.clear(),
            Writer::Table { .. } | Writer::Json { .. } => {}
        }
        self
    }

    /// Writes a row, one value for each column.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn row(&mut self, values: &[Value<'_>]) -> anyhow::Result<()> {
        self.rows += 1;
        match &mut self.writer {
            Writer::Table { table, style: Style::Markdown } => {
                table.row(values.iter().map(Value::to_markdown).collect())?;
            }
            Writer::Table { table, .. } => table.row(values.iter().map(Value::to_cell).collect())?,
            Writer::Json { out, keys } => {
                for (index, (key, value)) in keys.iter().zip(values).enumerate() {
                    write!(out, "{}{key}:", if index == 0 { '{' } else { ',' })?;
                    value.write_json(out)?;
                }
                writeln!(out, "}}")?;
            }
            Writer::Csv { writer, headers } => {
                write_headers(writer, headers)?;
                for value in values {
                    writer.write_field(shown(&csv_cell(&value.to_text())).as_bytes())?;
                }
                writer.write_record(None::<&[u8]>)?;
            }
        }
        Ok(())
    }

    /// The number of rows so far.
    pub(crate) fn count(&self) -> u64 {
        self.rows
    }

    /// Writes the remaining rows. Below a plain table, also writes `last_line`. If the table was too wide,
    /// writes a note instead.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn finish(self, last_line: Option<String>) -> anyhow::Result<()> {
        match self.writer {
            Writer::Table { table, style } => {
                let (mut out, drawn) = table.finish()?;
                if drawn != style && self.rows > 0 {
                    writeln!(
                        out,
                        "\n{}, one value per line: too wide for the terminal",
                        counted(self.rows, "row")
                    )?;
                } else if let Some(line) = last_line.filter(|_| style == Style::Plain) {
                    writeln!(out, "{line}")?;
                }
                out.flush()?;
            }
            Writer::Json { mut out, .. } => out.flush()?,
            Writer::Csv { mut writer, mut headers } => {
                write_headers(&mut writer, &mut headers)?;
                writer.flush()?;
            }
        }
        Ok(())
    }
}

/// A text as a CSV cell. Names come from files of unknown origin, and spreadsheets treat `=cmd|…` as a
/// formula. If the variable `PGNDEX_SPREADSHEET` is on, an apostrophe is put before such a text. Numbers stay
/// unchanged.
pub(crate) fn csv_cell(text: &str) -> Cow<'_, str> {
    static IS_FOR_SPREADSHEETS: LazyLock<bool> =
        LazyLock::new(|| environment::is_on(environment::SPREADSHEET));
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err();
    if *IS_FOR_SPREADSHEETS && is_formula { format!("'{text}").into() } else { text.into() }
}

/// Writes the first line of CSV, once.
fn write_headers(writer: &mut csv::Writer<impl Write>, headers: &mut Vec<String>) -> csv::Result<()> {
    let headers = std::mem::take(headers);
    if headers.is_empty() { Ok(()) } else { writer.write_record(headers) }
}

/// The names of columns as JSON strings. A repeated name gets a number, as in a subquery of SQLite.
fn json_keys(columns: &[&str]) -> anyhow::Result<Vec<String>> {
    let mut seen = HashSet::new();
    let unique = |name: &&str| {
        let numbered = (1..).map(|number| format!("{name}:{number}"));
        std::iter::once((*name).to_owned()).chain(numbered).find(|name| seen.insert(name.clone()))
    };
    let key = |name| Ok(escaped_json(&serde_json::to_string(&name)?).into_owned());
    columns.iter().filter_map(unique).map(key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(format: SqlFormat) -> String {
        let mut out = Vec::new();
        let mut rows = RowWriter::new(Box::new(&mut out), format, &["id", "a", "a"], None).unwrap();
        rows.row(&[Value::Integer(i64::MIN), Value::Null, Value::Blob(b"\x00\xfe")]).unwrap();
        rows.row(&[Value::Real(3.0), Value::from("a \"b\",\nc"), Value::Real(f64::INFINITY)]).unwrap();
        let count = rows.count();
        rows.finish(Some(format!("{count} rows"))).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn markdown_cells_cannot_break_their_row() {
        assert_eq!(markdown("a|b\\|\r\n<b>*"), r"a\|b\\\|<br>\<b>*");
    }

    #[test]
    fn every_format_prints_every_kind_of_value() {
        insta::assert_snapshot!(print(SqlFormat::Table), @r#"
                          id  a       a
        ──────────────────────────────────
        -9223372036854775808          00fe
                         3.0  a "b",  inf
                              c
        2 rows
        "#);
        insta::assert_snapshot!(print(SqlFormat::Json), @r#"
        {"id":-9223372036854775808,"a":null,"a:1":"00fe"}
        {"id":3.0,"a":"a \"b\",\nc","a:1":null}
        "#);
        insta::assert_snapshot!(print(SqlFormat::Csv), @r#"
        id,a,a
        -9223372036854775808,,00fe
        3.0,"a ""b"",
        c",inf
        "#);
        insta::assert_snapshot!(print(SqlFormat::Box), @r#"
        ┌──────────────────────┬────────┬──────┐
        │          id          │   a    │  a   │
        ├──────────────────────┼────────┼──────┤
        │ -9223372036854775808 │        │ 00fe │
        │ 3.0                  │ a "b", │ inf  │
        │                      │ c      │      │
        └──────────────────────┴────────┴──────┘
        "#);
        insta::assert_snapshot!(print(SqlFormat::Md), @r#"
        |                   id | a           | a    |
        |---------------------:|-------------|------|
        | -9223372036854775808 |             | 00fe |
        |                  3.0 | a "b",<br>c | inf  |
        "#);
        insta::assert_snapshot!(print(SqlFormat::Line), @r#"
        id = -9223372036854775808
         a =
         a = 00fe

        id = 3.0
         a = a "b",
             c
         a = inf
        "#);
    }
}
