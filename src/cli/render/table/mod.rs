//! Tables for people, printed while rows are still arriving.
//!
//! The widths of the columns come from the first rows. A later cell that is wider is shortened, or shifts the
//! next cells of its row. Crates for tables lay out all rows at once, which is impossible for a query with
//! millions of rows.

mod style;

use std::io::{self, Write};

use style::Layout;
use unicode_width::UnicodeWidthStr as _;

pub(crate) use style::{Cell, Style};

/// The maximum number of rows that are held back until the widths of the columns are known.
const HELD_ROWS: usize = 1000;
/// The maximum number of bytes of text in the rows that are held back, not counting the last row.
const HELD_BYTES: usize = 1 << 20;
/// The maximum width of a column: a wider cell shifts the next cells, but only in its own row.
const MAX_WIDTH: usize = 4096;
/// Columns of names. If [`TableWriter::shortened`] contains such a column, a plain table shortens it to the
/// width `MAX_NAME` even without a terminal. Otherwise, one name of thousands of characters would widen every
/// row.
const NAMES: [&str; 6] = ["white", "black", "event", "opponent", "name", "from"];
const MAX_NAME: usize = 80;
/// The minimum width to which a text, or a header above numbers, is shortened for a terminal.
const MIN_WIDTH: usize = 6;

/// Writes a table row by row.
#[derive(Debug)]
pub(crate) struct TableWriter<W> {
    out: W,
    headers: Vec<Cell>,
    style: Style,
    held: Vec<Vec<Cell>>,
    held_bytes: usize,
    /// The layout of each column; `None` until the first rows are printed.
    layout: Option<Vec<Layout>>,
    rows: u64,
    /// The width of the terminal to which the table is fitted. If this is `None`, only very long names are
    /// shortened.
    terminal: Option<usize>,
    /// The columns that can be shortened for the terminal; `None` if all columns can be shortened.
    pub(super) shortened: Option<&'static [&'static str]>,
    /// Whether to write one value per line if the table does not fit the terminal even with shortened texts.
    pub(super) lines_if_too_wide: bool,
    /// A column and its minimum width. The minimum applies only if the limit on buffered rows is reached:
    /// later rows can need this width.
    pub(super) reserved: Option<(&'static str, usize)>,
    /// Whether the names of the columns are printed first.
    pub(super) has_headers: bool,
}

impl<W: Write> TableWriter<W> {
    /// A plain table with these columns.
    pub(crate) fn new(out: W, headers: &[&str], terminal: Option<usize>) -> Self {
        Self {
            out,
            headers: headers.iter().map(|header| Cell::text(header)).collect(),
            style: Style::Plain,
            held: Vec::new(),
            held_bytes: 0,
            layout: None,
            rows: 0,
            terminal,
            shortened: None,
            lines_if_too_wide: false,
            reserved: None,
            has_headers: true,
        }
    }

    /// Draws the table in another style.
    pub(crate) fn styled(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// Adds a row, one cell for each column.
    pub(crate) fn row(&mut self, cells: Vec<Cell>) -> io::Result<()> {
        if self.layout.is_some() {
            return self.write(&cells);
        }
        self.held_bytes += cells.iter().map(|cell| cell.text.len()).sum::<usize>();
        self.held.push(cells);
        if self.is_full() || self.style == Style::Lines { self.release() } else { Ok(()) }
    }

    /// Prints the rows that are still held back. Returns the output, and the style in which the table was
    /// drawn.
    pub(crate) fn finish(mut self) -> io::Result<(W, Style)> {
        if self.layout.is_none() {
            self.release()?;
        }
        self.style.foot(&mut self.out, self.layout.as_deref().unwrap_or_default())?;
        Ok((self.out, self.style))
    }

    fn is_full(&self) -> bool {
        self.held.len() >= HELD_ROWS || self.held_bytes >= HELD_BYTES
    }

    /// Sets the widths and prints the header and the rows held back.
    fn release(&mut self) -> io::Result<()> {
        let mut layout: Vec<_> = (0..self.headers.len()).map(|column| self.measure(column)).collect();
        if let Some(terminal) = self.terminal.filter(|_| self.is_fitted()) {
            shrink(&mut layout, self.style, terminal);
            if self.lines_if_too_wide && self.style.width(&layout) > terminal {
                self.style = Style::Lines;
            }
        }
        if self.has_headers {
            self.style.head(&mut self.out, &self.headers, &layout)?;
        }
        self.layout = Some(layout);
        std::mem::take(&mut self.held).iter().try_for_each(|cells| self.write(cells))
    }

    fn write(&mut self, cells: &[Cell]) -> io::Result<()> {
        if self.rows > 0 {
            self.style.between(&mut self.out)?;
        }
        self.rows += 1;
        let layout = self.layout.as_deref().unwrap_or_default();
        self.style.row(&mut self.out, &self.headers, cells, layout)
    }

    /// Whether the table is fitted to the terminal. A Markdown table is not fitted, because users copy it
    /// into documents.
    fn is_fitted(&self) -> bool {
        matches!(self.style, Style::Plain | Style::Box)
    }

    fn measure(&self, column: usize) -> Layout {
        let header = &self.headers[column].text;
        let cells = || self.held.iter().filter_map(|row| row.get(column));
        let widest = cells().map(Cell::width).max().unwrap_or(0);
        let mut filled = cells().filter(|cell| !cell.text.is_empty()).peekable();
        let is_numbers = filled.peek().is_some() && filled.all(|cell| cell.is_number);
        let named = self.shortened.is_none_or(|names| names.contains(&header.as_str()));
        let reserved = self.reserved.filter(|(name, _)| header == name && self.is_full());
        let widest = widest.min(MAX_WIDTH);
        let width = widest.max(header.width().min(MAX_WIDTH)).max(reserved.map_or(0, |(_, width)| width));
        let least = match (named, is_numbers) {
            (false, _) => width,
            (true, true) => widest.max(header.width().min(MIN_WIDTH)),
            (true, false) => width.min(MIN_WIDTH),
        };
        // In a frame, numbers are aligned left, as in sqlite3.
        let right = is_numbers && self.style != Style::Box;
        let is_name =
            self.style == Style::Plain && self.shortened.is_some() && NAMES.contains(&header.as_str());
        let is_name = is_name && named && !is_numbers;
        let width = if is_name { width.min(MAX_NAME) } else { width };
        let cut = is_name || (self.terminal.is_some() && self.is_fitted() && named && !is_numbers);
        Layout { width, least, right, cut }
    }
}

/// Narrows the widest columns until the table fits the terminal, or until no column can be narrowed.
fn shrink(layout: &mut [Layout], style: Style, terminal: usize) {
    // First find a common limit of the column widths: the smallest one with which the table is still at least
    // as wide as the terminal. Narrow wider columns to this limit. Then narrow the widest column by 1
    // repeatedly, until the table fits.
    let narrowed = |column: &Layout, most: usize| column.width.min(most.max(column.least));
    let total = |layout: &[Layout], most| {
        let narrow: Vec<_> =
            layout.iter().map(|column| Layout { width: narrowed(column, most), ..*column }).collect();
        style.width(&narrow)
    };
    let (mut fits, mut most) = (0, MAX_WIDTH);
    while fits + 1 < most {
        let middle = fits.midpoint(most);
        *(if total(layout, middle) < terminal { &mut fits } else { &mut most }) = middle;
    }
    layout.iter_mut().for_each(|column| column.width = narrowed(column, most));
    let mut total = style.width(layout);
    while total > terminal {
        let widest =
            layout.iter_mut().filter(|column| column.width > column.least).max_by_key(|column| column.width);
        let Some(column) = widest else { return };
        column.width -= 1;
        total -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(headers: &[&str], rows: &[&[&str]], terminal: Option<usize>) -> String {
        draw(TableWriter::new(Vec::new(), headers, terminal), rows)
    }

    fn draw(mut table: TableWriter<Vec<u8>>, rows: &[&[&str]]) -> String {
        for row in rows {
            let cell = |text: &&str| match text.parse::<i64>() {
                Ok(_) => Cell::number((*text).to_owned()),
                Err(_) => Cell::text(text),
            };
            table.row(row.iter().map(cell).collect()).unwrap();
        }
        String::from_utf8(table.finish().unwrap().0).unwrap()
    }

    #[test]
    fn numbers_are_right_aligned_and_wide_letters_count_twice() {
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
                   n  b       c
        ────────────────────────────
        123456789012  a sho…  somet…
        ");
    }

    #[test]
    fn headers_above_numbers_are_cut() {
        let rows: [&[&str]; 1] = [&["1234567", "1"]];
        insta::assert_snapshot!(print(&["a_long_header", "occurrences"], &rows, Some(18)), @"
        a_long_…  occurre…
        ──────────────────
         1234567         1
        ");
        insta::assert_snapshot!(print(&["a_long_header", "occurrences"], &rows, Some(5)), @"
        a_long…  occur…
        ───────────────
        1234567       1
        ");
    }

    #[test]
    fn frames_look_like_those_of_sqlite3() {
        let rows: [&[&str]; 2] = [&["1", "Тали", "棋聖"], &["200", "a|b", ""]];
        let table =
            |terminal| TableWriter::new(Vec::new(), &["n", "white_player", "b"], terminal).styled(Style::Box);
        insta::assert_snapshot!(draw(table(None), &rows), @"
        ┌─────┬──────────────┬──────┐
        │  n  │ white_player │  b   │
        ├─────┼──────────────┼──────┤
        │ 1   │ Тали         │ 棋聖 │
        │ 200 │ a|b          │      │
        └─────┴──────────────┴──────┘
        ");
        insta::assert_snapshot!(draw(table(Some(22)), &rows), @"
        ┌─────┬────────┬──────┐
        │  n  │ white… │  b   │
        ├─────┼────────┼──────┤
        │ 1   │ Тали   │ 棋聖 │
        │ 200 │ a|b    │      │
        └─────┴────────┴──────┘
        ");
        insta::assert_snapshot!(draw(table(None), &[]), @"
        ┌───┬──────────────┬───┐
        │ n │ white_player │ b │
        ├───┼──────────────┼───┤
        └───┴──────────────┴───┘
        ");
    }

    #[test]
    fn markdown_is_aligned_and_never_cut() {
        let rows: [&[&str]; 2] = [&["1", "Ågren, Åsa"], &["20", ""]];
        let table = TableWriter::new(Vec::new(), &["n", "white"], Some(10)).styled(Style::Markdown);
        insta::assert_snapshot!(draw(table, &rows), @"
        |  n | white      |
        |---:|------------|
        |  1 | Ågren, Åsa |
        | 20 |            |
        ");
    }

    #[test]
    fn rows_as_lines_are_written_at_once() {
        let rows: [&[&str]; 2] = [&["1", "Тали"], &["20", ""]];
        let table = || TableWriter::new(Vec::new(), &["n", "white"], Some(10)).styled(Style::Lines);
        insta::assert_snapshot!(draw(table(), &rows), @"
            n = 1
        white = Тали

            n = 20
        white =
        ");
        assert_eq!(draw(table(), &[]), "");
        let mut table = table();
        table.row(vec![Cell::text("x"), Cell::text("y")]).unwrap();
        assert!(table.held.is_empty());
    }

    #[test]
    fn a_table_that_is_too_wide_can_be_written_as_lines() {
        let rows: [&[&str]; 2] = [&["123456789", "a text"], &["20", "another long text"]];
        for (terminal, style) in [(None, Style::Plain), (Some(17), Style::Plain), (Some(16), Style::Lines)] {
            let mut table = TableWriter::new(Vec::new(), &["n", "b"], terminal);
            table.lines_if_too_wide = true;
            for [n, b] in [["123456789", "a text"], ["20", "another long text"]] {
                table.row(vec![Cell::number(n.to_owned()), Cell::text(b)]).unwrap();
            }
            let (out, drawn) = table.finish().unwrap();
            assert_eq!(drawn, style, "{}", String::from_utf8_lossy(&out));
        }
        assert!(print(&["n", "b"], &rows, Some(16)).contains("anoth…"));
    }

    #[test]
    fn only_some_columns_may_be_cut() {
        let mut table = TableWriter::new(Vec::new(), &["name", "date"], Some(20));
        table.shortened = Some(&["name"]);
        table.row(vec![Cell::text("Abdusattorov, Nodirbek"), Cell::text("2024.02.29")]).unwrap();
        insta::assert_snapshot!(String::from_utf8(table.finish().unwrap().0).unwrap(), @"
        name      date
        ────────────────────
        Abdusat…  2024.02.29
        ");
    }

    #[test]
    fn later_rows_are_printed_at_once_and_uncut() {
        let mut table = TableWriter::new(Vec::new(), &["a", "b"], None);
        for _ in 0..HELD_ROWS {
            table.row(vec![Cell::text("x"), Cell::text("y")]).unwrap();
        }
        assert!(table.held.is_empty());
        table.row(vec![Cell::text("much wider"), Cell::text("z")]).unwrap();
        assert!(table.out.ends_with(b"x  y\nmuch wider  z\n"));
    }

    #[test]
    fn a_wide_cell_pushes_only_up_to_the_next_free_space() {
        let draw = |style| {
            let mut table = TableWriter::new(Vec::new(), &["id", "name", "elo", "x"], None).styled(style);
            for number in 0..HELD_ROWS {
                table.row([&number.to_string(), "Carlsen", "2800", "y"].map(Cell::text).to_vec()).unwrap();
            }
            let head = table.out.len();
            for name in ["Tal", "Carlsen", ""] {
                table.row(["1234567", name, "2700", "z"].map(Cell::text).to_vec()).unwrap();
            }
            String::from_utf8(table.out.split_off(head - 32)).unwrap()
        };
        insta::assert_snapshot!(draw(Style::Plain), @r#"
          2800  y
        999  Carlsen  2800  y
        1234567  Tal  2700  z
        1234567  Carlsen  2700  z
        1234567       2700  z
        "#);
        insta::assert_snapshot!(draw(Style::Box), @r#"
         │ Carlsen │ 2800 │ y │
        │ 1234567 │ Tal │ 2700 │ z │
        │ 1234567 │ Carlsen │ 2700 │ z │
        │ 1234567 │     │ 2700 │ z │
        "#);
    }

    #[test]
    fn width_is_reserved_for_later_rows() {
        let draw = |rows: usize| {
            let mut table = TableWriter::new(Vec::new(), &["game", "x"], None);
            table.reserved = Some(("game", 7));
            for number in 0..rows {
                table.row(vec![Cell::number(number.to_string()), Cell::text("y")]).unwrap();
            }
            String::from_utf8(table.finish().unwrap().0).unwrap()
        };
        assert!(draw(HELD_ROWS).starts_with("   game  x\n──────────\n      0  y\n"));
        assert!(draw(HELD_ROWS - 1).starts_with("game  x\n───────\n   0  y\n"));
    }

    #[test]
    fn a_cell_can_have_several_lines() {
        let draw = |style, terminal| {
            let mut table = TableWriter::new(Vec::new(), &["n", "board", "side"], terminal).styled(style);
            table
                .row(vec![Cell::number("1".to_owned()), Cell::lines("r n b\np p\u{1b} p\n"), Cell::text("w")])
                .unwrap();
            table
                .row(vec![Cell::number("2".to_owned()), Cell::lines("\na long line\n\n"), Cell::text("b")])
                .unwrap();
            String::from_utf8(table.finish().unwrap().0).unwrap()
        };
        insta::assert_snapshot!(draw(Style::Plain, None), @r#"
        n  board        side
        ────────────────────
        1  r n b        w
           p p␛ p
        2               b
           a long line
        "#);
        insta::assert_snapshot!(draw(Style::Plain, Some(16)), @r#"
        n  board    side
        ────────────────
        1  r n b    w
           p p␛ p
        2           b
           a long…
        "#);
        insta::assert_snapshot!(draw(Style::Box, None), @r#"
        ┌───┬─────────────┬──────┐
        │ n │    board    │ side │
        ├───┼─────────────┼──────┤
        │ 1 │ r n b       │ w    │
        │   │ p p␛ p      │      │
        │ 2 │             │ b    │
        │   │ a long line │      │
        │   │             │      │
        └───┴─────────────┴──────┘
        "#);
        insta::assert_snapshot!(draw(Style::Lines, None), @r#"
            n = 1
        board = r n b
                p p␛ p
         side = w

            n = 2
        board =
                a long line

         side = b
        "#);
    }

    #[test]
    fn tables_without_columns_or_rows_are_printed() {
        assert_eq!(print(&[], &[], Some(80)), "");
        assert_eq!(print(&["a"], &[], Some(80)), "a\n─\n");
    }
}
