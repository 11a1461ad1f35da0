//! Tables for people, printed while the rows are still coming.
//!
//! The widths of the columns come from the first rows; a later cell that is wider pushes the rest of its row aside.
//! Table crates lay out all rows at once, which a query with millions of rows cannot afford.

use std::io::{self, Write};

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Rows that are held back to find the widths, at most.
const HELD_ROWS: usize = 1000;
/// Bytes of text that are held back, at most; one row more can stand above it.
const HELD_BYTES: usize = 1 << 20;
/// Columns between columns.
const GAP: usize = 2;
/// No column is made narrower than this to fit a terminal.
const MIN_WIDTH: usize = 8;

/// One cell.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    text: String,
    is_number: bool,
}

impl Cell {
    /// A text; its control characters are made visible.
    pub(super) fn text(text: &str) -> Self {
        Self { text: printable(text), is_number: false }
    }

    /// A number; a column of numbers is aligned right.
    pub(super) fn number(text: String) -> Self {
        Self { text, is_number: true }
    }
}

/// Writes a table row by row.
#[derive(Debug)]
pub(super) struct TableWriter<W> {
    out: W,
    headers: Vec<String>,
    held: Vec<Vec<Cell>>,
    held_bytes: usize,
    /// Known once the first rows are printed.
    layout: Option<Vec<Layout>>,
    /// How wide the terminal is; `None` is no terminal, and nothing is ever cut off.
    terminal: Option<usize>,
    /// The columns that may be cut short to fit the terminal; `None` is all texts.
    shortened: Option<&'static [&'static str]>,
}

#[derive(Clone, Copy, Debug)]
struct Layout {
    width: usize,
    right: bool,
    /// Whether it may be cut short. A number cut short is a wrong number.
    cut: bool,
}

impl<W: Write> TableWriter<W> {
    /// A table with these columns.
    pub(super) fn new(out: W, headers: &[&str], terminal: Option<usize>) -> Self {
        let headers = headers.iter().map(|header| printable(header)).collect();
        Self { out, headers, held: Vec::new(), held_bytes: 0, layout: None, terminal, shortened: None }
    }

    /// Allows only these columns to be cut short.
    pub(super) fn shorten_only(&mut self, columns: &'static [&'static str]) {
        self.shortened = Some(columns);
    }

    /// Adds a row, one cell for each column.
    pub(super) fn row(&mut self, cells: Vec<Cell>) -> io::Result<()> {
        if let Some(layout) = &self.layout {
            return write_row(&mut self.out, &cells, layout);
        }
        self.held_bytes += cells.iter().map(|cell| cell.text.len()).sum::<usize>();
        self.held.push(cells);
        if self.held.len() >= HELD_ROWS || self.held_bytes >= HELD_BYTES { self.release() } else { Ok(()) }
    }

    /// Prints what is held back and gives the output back.
    pub(super) fn finish(mut self) -> io::Result<W> {
        if self.layout.is_none() {
            self.release()?;
        }
        Ok(self.out)
    }

    /// Settles the widths and prints the header and the rows held back.
    fn release(&mut self) -> io::Result<()> {
        let mut layout: Vec<_> = (0..self.headers.len()).map(|column| self.measure(column)).collect();
        if let Some(terminal) = self.terminal {
            shrink(&mut layout, terminal);
        }
        if !layout.is_empty() {
            let headers: Vec<_> = self.headers.iter().map(|header| Cell::text(header)).collect();
            write_row(&mut self.out, &headers, &layout)?;
            let total = layout.iter().map(|column| column.width).sum::<usize>() + GAP * (layout.len() - 1);
            writeln!(self.out, "{}", "─".repeat(total))?;
        }
        for cells in std::mem::take(&mut self.held) {
            write_row(&mut self.out, &cells, &layout)?;
        }
        self.layout = Some(layout);
        Ok(())
    }

    fn measure(&self, column: usize) -> Layout {
        let cells = || self.held.iter().filter_map(|row| row.get(column));
        let widest = cells().map(|cell| cell.text.width()).max().unwrap_or(0);
        let mut filled = cells().filter(|cell| !cell.text.is_empty()).peekable();
        let right = filled.peek().is_some() && filled.all(|cell| cell.is_number);
        let named = self.shortened.is_none_or(|names| names.contains(&self.headers[column].as_str()));
        let cut = self.terminal.is_some() && named && !right;
        Layout { width: widest.max(self.headers[column].width()), right, cut }
    }
}

/// Makes the widest columns narrower until the table fits, or until none can be.
fn shrink(layout: &mut [Layout], terminal: usize) {
    let gaps = GAP * layout.len().saturating_sub(1);
    let mut total = layout.iter().map(|column| column.width).sum::<usize>() + gaps;
    while total > terminal {
        let widest = layout.iter_mut().filter(|column| column.cut).max_by_key(|column| column.width);
        match widest {
            Some(column) if column.width > MIN_WIDTH => column.width -= 1,
            _ => return,
        }
        total -= 1;
    }
}

fn write_row(out: &mut impl Write, cells: &[Cell], layout: &[Layout]) -> io::Result<()> {
    // Blanks are written before the next text only, so that no line ends in blanks.
    let mut blanks = 0;
    for (cell, column) in cells.iter().zip(layout) {
        let text = if column.cut { shortened(&cell.text, column.width) } else { cell.text.as_str().into() };
        let padding = column.width.saturating_sub(text.width());
        if column.right {
            blanks += padding;
        }
        if !text.is_empty() {
            write!(out, "{:blanks$}{text}", "")?;
            blanks = 0;
        }
        blanks += GAP + if column.right { 0 } else { padding };
    }
    writeln!(out)
}

/// As much of a text as fits a width, with an ellipsis if that is not all.
fn shortened(text: &str, width: usize) -> std::borrow::Cow<'_, str> {
    if text.width() <= width {
        return text.into();
    }
    let mut room = width.saturating_sub(1);
    let fits = |letter: &char| {
        let needed = letter.width().unwrap_or(0);
        let fits = needed <= room;
        room = room.saturating_sub(needed);
        fits
    };
    let mut short: String = text.chars().take_while(fits).collect();
    short.push('…');
    short.into()
}

/// A text without characters that move the cursor, colour the terminal or turn the direction of writing: names come
/// from files that anybody may have written.
pub(super) fn printable(text: &str) -> String {
    let visible = |letter: char| match letter {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + letter as u32).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\u{7f}' => '\u{2421}',
        '\u{80}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            char::REPLACEMENT_CHARACTER
        }
        _ => letter,
    };
    text.chars().map(visible).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(headers: &[&str], rows: &[&[&str]], terminal: Option<usize>) -> String {
        let mut table = TableWriter::new(Vec::new(), headers, terminal);
        for row in rows {
            let cell = |text: &&str| match text.parse::<i64>() {
                Ok(_) => Cell::number((*text).to_owned()),
                Err(_) => Cell::text(text),
            };
            table.row(row.iter().map(cell).collect()).unwrap();
        }
        String::from_utf8(table.finish().unwrap()).unwrap()
    }

    #[test]
    fn numbers_stand_right_and_wide_letters_count_twice() {
        let rows: [&[&str]; 3] = [&["1", "Тали", "x"], &["20", "棋聖", ""], &["", "", ""]];
        insta::assert_snapshot!(print(&["game", "white", "event"], &rows, None), @r"
        game  white  event
        ──────────────────
           1  Тали   x
          20  棋聖

        ");
    }

    #[test]
    fn a_terminal_cuts_the_widest_texts_but_no_number() {
        let rows: [&[&str]; 1] = [&["123456789012", "a short one", "something quite long"]];
        insta::assert_snapshot!(print(&["n", "b", "c"], &rows, Some(36)), @"
                   n  b           c
        ────────────────────────────────────
        123456789012  a short o…  something…
        ");
        insta::assert_snapshot!(print(&["n", "b", "c"], &rows, Some(10)), @"
                   n  b         c
        ────────────────────────────────
        123456789012  a short…  somethi…
        ");
    }

    #[test]
    fn only_some_columns_may_be_cut() {
        let mut table = TableWriter::new(Vec::new(), &["name", "date"], Some(20));
        table.shorten_only(&["name"]);
        table.row(vec![Cell::text("Abdusattorov, Nodirbek"), Cell::text("2024.02.29")]).unwrap();
        insta::assert_snapshot!(String::from_utf8(table.finish().unwrap()).unwrap(), @"
        name      date
        ────────────────────
        Abdusat…  2024.02.29
        ");
    }

    #[test]
    fn control_characters_are_made_visible() {
        assert_eq!(printable("a\u{1b}[2Jb\nc\u{7f}\u{9b}\u{202e}"), "a␛[2Jb␊c␡��");
    }

    #[test]
    fn later_rows_are_printed_at_once_and_whole() {
        let mut table = TableWriter::new(Vec::new(), &["a", "b"], None);
        for _ in 0..HELD_ROWS {
            table.row(vec![Cell::text("x"), Cell::text("y")]).unwrap();
        }
        assert!(table.held.is_empty());
        table.row(vec![Cell::text("much wider"), Cell::text("z")]).unwrap();
        assert!(table.out.ends_with(b"x  y\nmuch wider  z\n"));
    }

    #[test]
    fn a_table_without_columns_or_rows_is_no_problem() {
        assert_eq!(print(&[], &[], Some(80)), "");
        assert_eq!(print(&["a"], &[], Some(80)), "a\n─\n");
    }
}
