//! Draws the output of a terminal as an SVG.

use std::fmt::Write as _;

// In pixels, for a font size of 15 pixels.
const COLUMN: u32 = 9;
const ROW: u32 = 19;
const MARGIN: u32 = 16;
const TITLE_BAR: u32 = 30;

/// The current colours of the terminal.
#[derive(Clone, PartialEq)]
struct Style {
    ink: String,
    paper: Option<String>,
}

impl Style {
    fn plain() -> Self {
        Self { ink: "#d8dee9".into(), paper: None }
    }

    /// Applies an escape sequence, given as the part between `ESC [` and `m`: a reset, or a text or background colour of
    /// the 6 × 6 × 6 cube.
    fn set(&mut self, sequence: &str) {
        match sequence.split(';').collect::<Vec<_>>()[..] {
            ["0"] => *self = Self::plain(),
            ["38", "5", color] => self.ink = rgb(color),
            ["48", "5", color] => self.paper = Some(rgb(color)),
            _ => panic!("unknown escape sequence: {sequence}"),
        }
    }
}

/// A colour of the terminal's 6 × 6 × 6 cube.
fn rgb(color: &str) -> String {
    let number =
        color.parse::<usize>().ok().and_then(|color| color.checked_sub(16)).filter(|&number| number < 216);
    let number = number.unwrap_or_else(|| panic!("a colour outside the cube: {color}"));
    let [red, green, blue] =
        [number / 36, number / 6 % 6, number % 6].map(|part| [0, 95, 135, 175, 215, 255][part]);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Draws the lines of a terminal.
pub(super) fn draw(session: &str) -> String {
    let mut body = String::new();
    let (mut columns, mut rows) = (0, 0);
    for line in session.lines() {
        columns = columns.max(draw_line(line, MARGIN + TITLE_BAR + ROW * rows, &mut body));
        rows += 1;
    }
    let width = 2 * MARGIN + COLUMN * columns;
    let height = 2 * MARGIN + TITLE_BAR + ROW * rows;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"15\">\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#20242c\"/>\n"
    );
    for (x, color) in [(20, "#bf616a"), (40, "#ebcb8b"), (60, "#a3be8c")] {
        writeln!(svg, "<circle cx=\"{x}\" cy=\"20\" r=\"6\" fill=\"{color}\"/>").expect("a string");
    }
    svg + &body + "</svg>\n"
}

/// A character of the terminal, and its style.
struct Cell {
    sign: char,
    style: Style,
}

impl Cell {
    /// Whether the character and the next one are drawn as one element: letters with letters, a bar with the same bar.
    fn joins(&self, next: &Self) -> bool {
        let is_letter = |sign: char| sign.is_ascii() || sign.is_alphabetic();
        self.style == next.style
            && (is_letter(self.sign) && is_letter(next.sign)
                || self.sign == next.sign && shade(self.sign).is_some())
    }
}

/// The opacity of a character that is drawn as a bar.
fn shade(sign: char) -> Option<f64> {
    match sign {
        '█' => Some(0.9),
        '▒' => Some(0.5),
        '░' => Some(0.2),
        '─' => Some(0.6),
        _ => None,
    }
}

/// The characters of a line without the escape sequences.
fn cells(line: &str) -> Vec<Cell> {
    let mut style = Style::plain();
    let mut cells = Vec::new();
    let mut signs = line.chars();
    while let Some(sign) = signs.next() {
        if sign == '\x1b' {
            let sequence: String = signs.by_ref().take_while(|&sign| sign != 'm').collect();
            style.set(sequence.strip_prefix('[').expect("a colour"));
        } else {
            cells.push(Cell { sign, style: style.clone() });
        }
    }
    cells
}

/// Draws one line with the upper edge `top`, and returns its number of columns.
fn draw_line(line: &str, top: u32, svg: &mut String) -> u32 {
    let cells = cells(line);
    let mut column = 0;
    for piece in cells.chunk_by(Cell::joins) {
        let left = MARGIN + COLUMN * column;
        let columns = u32::try_from(piece.len()).expect("a line");
        let width = COLUMN * columns;
        let Cell { sign, style } = &piece[0];
        if let Some(paper) = &style.paper {
            writeln!(
                svg,
                "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{ROW}\" fill=\"{paper}\"/>"
            )
            .expect("a string");
        }
        let mut text: String = piece.iter().map(|cell| cell.sign).collect();
        if ('♔'..='♟').contains(sign) {
            // Without it, some systems would show the figure as an emoji.
            text.push('\u{fe0e}');
        }
        if let Some(opacity) = shade(*sign) {
            let (y, height) = if *sign == '─' { (top + ROW / 2, 1) } else { (top + 3, ROW - 6) };
            writeln!(
                svg,
                "<rect x=\"{left}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{}\" fill-opacity=\"{opacity}\"/>",
                style.ink
            )
            .expect("a string");
        } else if !text.trim().is_empty() {
            // The text is stretched to the width of its columns, whatever the font.
            let (shown, y) = (text.replace('&', "&amp;").replace('<', "&lt;"), top + 14);
            writeln!(
                svg,
                "<text x=\"{left}\" y=\"{y}\" textLength=\"{width}\" xml:space=\"preserve\" fill=\"{}\">{shown}</text>",
                style.ink
            )
            .expect("a string");
        }
        column += columns;
    }
    column
}
