//! How a table and its cells are drawn.

use std::borrow::Cow;
use std::io::{self, Write};

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr};

use crate::cli::render::{printable, sign};

/// The number of spaces between the columns of a plain table.
const GAP: usize = 2;

/// The style of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Columns with a rule below the header.
    Plain,
    /// A table in a frame.
    Box,
    /// A Markdown table.
    Markdown,
    /// No columns: each value on a separate line, after the name of its column.
    Lines,
}

/// The layout of a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// The width, in terminal columns.
    pub(super) width: usize,
    /// The minimum width to which the column can be narrowed.
    pub(super) least: usize,
    /// Whether the column is aligned right.
    pub(super) right: bool,
    /// Whether wider cells are shortened. False for numbers: a shortened number would be a wrong number.
    pub(super) cut: bool,
}

impl Style {
    /// The width of a table.
    pub(super) fn width(self, layout: &[Layout]) -> usize {
        let columns = layout.iter().map(|column| column.width).sum::<usize>();
        match self {
            Self::Plain => columns + GAP * layout.len().saturating_sub(1),
            Self::Box | Self::Markdown => columns + 3 * layout.len() + 1,
            Self::Lines => 0,
        }
    }

    /// Writes the part before the first row.
    pub(super) fn head(self, out: &mut dyn Write, headers: &[Cell], layout: &[Layout]) -> io::Result<()> {
        // Headers are shortened even in columns whose cells are not shortened: a header is not a number, so
        // it cannot become a wrong number.
        let layout: Vec<_> = layout.iter().map(|column| Layout { cut: true, ..*column }).collect();
        let layout = layout.as_slice();
        match self {
            _ if layout.is_empty() => Ok(()),
            Self::Plain => {
                plain_row(out, &texts(headers), layout)?;
                writeln!(out, "{}", sign("─", "-").repeat(self.width(layout)))
            }
            Self::Box => {
                rule(out, layout, ["┌", "┬", "┐"].map(|corner| sign(corner, "+")))?;
                framed_row(out, &texts(headers), layout, sign("│", "|"), |text, space, _| {
                    let left = (space - text.width()) / 2;
                    (left, space - text.width() - left)
                })?;
                rule(out, layout, ["├", "┼", "┤"].map(|corner| sign(corner, "+")))
            }
            Self::Markdown => {
                framed_row(out, &texts(headers), layout, "|", aligned)?;
                for column in layout {
                    let dashes = "-".repeat(column.width + 1);
                    write!(out, "|{dashes}{}", if column.right { ':' } else { '-' })?;
                }
                writeln!(out, "|")
            }
            Self::Lines => Ok(()),
        }
    }

    /// Writes a row.
    pub(super) fn row(
        self,
        out: &mut dyn Write,
        headers: &[Cell],
        cells: &[Cell],
        layout: &[Layout],
    ) -> io::Result<()> {
        match self {
            Self::Plain => each_line(cells, |cells| plain_row(out, cells, layout)),
            Self::Box => each_line(cells, |cells| framed_row(out, cells, layout, sign("│", "|"), aligned)),
            Self::Markdown => each_line(cells, |cells| framed_row(out, cells, layout, "|", aligned)),
            Self::Lines => {
                let width = headers.iter().map(|header| header.text.width()).max().unwrap_or(0);
                for (header, cell) in headers.iter().zip(cells) {
                    write!(out, "{}{} =", " ".repeat(width - header.text.width()), header.text)?;
                    for (index, line) in cell.text.split('\n').enumerate() {
                        let indent = if index == 0 { 0 } else { width + 2 };
                        let blank = if line.is_empty() { 0 } else { indent + 1 };
                        writeln!(out, "{}{line}", " ".repeat(blank))?;
                    }
                }
                Ok(())
            }
        }
    }

    /// Writes the part between two rows.
    pub(super) fn between(self, out: &mut dyn Write) -> io::Result<()> {
        if self == Self::Lines { writeln!(out) } else { Ok(()) }
    }

    /// Writes the part after the last row.
    pub(super) fn foot(self, out: &mut dyn Write, layout: &[Layout]) -> io::Result<()> {
        if self == Self::Box && !layout.is_empty() {
            rule(out, layout, ["└", "┴", "┘"].map(|corner| sign(corner, "+")))
        } else {
            Ok(())
        }
    }
}

fn texts(cells: &[Cell]) -> Vec<&str> {
    cells.iter().map(|cell| cell.text.as_str()).collect()
}

/// Draws a row in as many lines as its tallest cell has.
fn each_line(cells: &[Cell], mut draw: impl FnMut(&[&str]) -> io::Result<()>) -> io::Result<()> {
    if !cells.iter().any(|cell| cell.text.contains('\n')) {
        return draw(&texts(cells));
    }
    let mut columns: Vec<_> = cells.iter().map(|cell| cell.text.split('\n')).collect();
    loop {
        let line: Vec<_> = columns.iter_mut().map(Iterator::next).collect();
        if line.iter().all(Option::is_none) {
            return Ok(());
        }
        draw(&line.into_iter().map(Option::unwrap_or_default).collect::<Vec<_>>())?;
    }
}

/// Writes a line of a plain table. A cell that is wider than its column shifts the next cells, until there is
/// enough space again.
fn plain_row(out: &mut dyn Write, texts: &[&str], layout: &[Layout]) -> io::Result<()> {
    // The start of the column, and the current end of the line (`None` for an empty line). Spaces are written
    // only before the next text, so that no line ends with spaces.
    let (mut begin, mut end) = (0, None);
    for (text, column) in texts.iter().zip(layout) {
        let text = column.fit(text);
        if !text.is_empty() {
            let width = text.width();
            let planned = begin + if column.right { column.width.saturating_sub(width) } else { 0 };
            let at = planned.max(end.map_or(0, |end| end + GAP));
            write!(out, "{}{text}", " ".repeat(at - end.unwrap_or(0)))?;
            end = Some(at + width);
        }
        begin += column.width + GAP;
    }
    writeln!(out)
}

/// Writes a line with bars between the cells. `pad` returns the numbers of spaces before and after a text. A
/// cell that is wider than its column shifts the next bars, until there is enough space again.
fn framed_row(
    out: &mut dyn Write,
    texts: &[&str],
    layout: &[Layout],
    bar: &str,
    pad: impl Fn(&str, usize, &Layout) -> (usize, usize),
) -> io::Result<()> {
    let mut aside = 0;
    for (text, column) in texts.iter().zip(layout) {
        let text = column.fit(text);
        let (width, wanted) = (text.width(), column.width);
        let space = wanted.saturating_sub(aside).max(width);
        aside = (aside + space) - wanted;
        let (before, after) = pad(&text, space, column);
        write!(out, "{bar} {}{text}{} ", " ".repeat(before), " ".repeat(after))?;
    }
    writeln!(out, "{bar}")
}

fn aligned(text: &str, space: usize, column: &Layout) -> (usize, usize) {
    let blanks = space - text.width();
    if column.right { (blanks, 0) } else { (0, blanks) }
}

fn rule(out: &mut dyn Write, layout: &[Layout], [left, middle, right]: [&str; 3]) -> io::Result<()> {
    for (index, column) in layout.iter().enumerate() {
        write!(out, "{}{}", if index == 0 { left } else { middle }, sign("─", "-").repeat(column.width + 2))?;
    }
    writeln!(out, "{right}")
}

impl Layout {
    /// A text, shortened with an ellipsis if it is too wide for the column and can be shortened.
    fn fit<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if !self.cut || text.width() <= self.width {
            return text.into();
        }
        let mut space = self.width.saturating_sub(1);
        let fits = |letter: &char| {
            let needed = letter.width().unwrap_or(0);
            let fits = needed <= space;
            space = space.saturating_sub(needed);
            fits
        };
        let mut short: String = text.chars().take_while(fits).collect();
        short.push_str(sign("…", "~"));
        short.into()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// One line or several.
    pub(super) text: String,
    pub(super) is_number: bool,
}

impl Cell {
    /// A text; control characters are made visible.
    pub(crate) fn text(text: &str) -> Self {
        Self { text: printable(text), is_number: false }
    }

    /// A text of several lines, such as a board; control characters are made visible.
    pub(crate) fn lines(text: &str) -> Self {
        let lines = text.strip_suffix('\n').unwrap_or(text).split('\n').map(printable);
        Self { text: lines.collect::<Vec<_>>().join("\n"), is_number: false }
    }

    /// The width of the widest line.
    pub(super) fn width(&self) -> usize {
        self.text.split('\n').map(UnicodeWidthStr::width).max().unwrap_or(0)
    }

    /// A number. A column that contains only numbers is aligned right, except in a frame.
    pub(crate) fn number(text: String) -> Self {
        Self { text, is_number: true }
    }
}
