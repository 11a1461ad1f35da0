//! Splits a pasted text into the words of its moves.

use super::letters::{DASH, cleaned, figurine, has_moves, is_heading, is_remark, is_separator};
use crate::board::GameResult;
use crate::pgn::is_known_variant;
use crate::query::error::brief;

/// A word that is possibly a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// The word as typed, without annotation signs.
    pub(super) typed: String,
    /// The word with one kind of dash, and without signs of check and mate.
    pub(super) plain: String,
    /// The number in front of the word, if there is one.
    pub(super) number: Option<u32>,
}

/// Why scanning stopped before the end of the text, as an error message. The message is `begin`, followed by
/// the place where scanning stopped and by `end`. If `end` is `None`, the message is only `begin`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stop {
    pub(super) begin: String,
    pub(super) end: Option<&'static str>,
}

impl Stop {
    fn text(text: &str) -> Self {
        Self { begin: text.to_owned(), end: None }
    }

    pub(super) fn no_move(word: &str) -> Self {
        Self { begin: format!("{:?}", brief(word)), end: Some(" is not a move; correct it, or leave it out") }
    }

    fn variation() -> Self {
        let end = Some("; leave out the brackets and everything in them");
        Self { begin: "a variation begins".to_owned(), end }
    }

    fn next_game() -> Self {
        Self::text("another game begins; give the moves of one game")
    }

    fn after_result(result: GameResult) -> Self {
        let result = result.as_str();
        Self::text(&format!("text follows the result {result}; give the moves of one game"))
    }
}

/// The words of a text up to its end, or up to the place where scanning stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Scanned {
    pub(super) words: Vec<Word>,
    /// The FEN of a tag pair.
    pub(super) fen: Option<String>,
    /// The first ignored comment, from `;` to the line end, that contains moves.
    pub(super) skipped: Option<String>,
    /// Why scanning stopped.
    pub(super) stop: Option<Stop>,
}

/// Splits a text.
pub(super) fn scan(text: &str) -> Scanned {
    let text = cleaned(text);
    let mut scanner = Scanner { text: &text, ..Scanner::default() };
    let stop = scanner.run().err();
    let mut scanned = scanner.scanned;
    scanned.stop = stop.map(|stop| scanner.result.map_or(stop, Stop::after_result));
    scanned
}

/// The maximum number of open brackets `[` around the moves.
const MOST_SQUARES: usize = 8;

#[derive(Default)]
struct Scanner<'t> {
    text: &'t str,
    at: usize,
    /// The number that the text gives for the next move.
    number: Option<u32>,
    /// A chess symbol that is separated from the square after it.
    symbol: Option<char>,
    /// The offset of the closing bracket of a pair that encloses the whole text.
    closing: Option<usize>,
    /// The number of open brackets `[` around the moves.
    squares: usize,
    result: Option<GameResult>,
    scanned: Scanned,
}

impl<'t> Scanner<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn run(&mut self) -> Result<(), Stop> {
        self.line_start()?;
        while let Some(letter) = self.rest().chars().next() {
            match letter {
                '\n' => {
                    self.at += 1;
                    self.line_start()?;
                }
                '{' => self.comment()?,
                '(' => self.bracket()?,
                ')' if self.closing == Some(self.at) => self.at += 1,
                ')' | '}' => return Err(Stop::text("a ')' or '}' has no opening bracket; remove it")),
                '[' => self.square_bracket()?,
                ']' => {
                    self.at += 1;
                    self.squares = self.squares.saturating_sub(1);
                }
                ';' => self.line_comment(),
                '$' => self.skip_while(|letter| letter == '$' || letter.is_ascii_digit()),
                '*' => self.star()?,
                '<' => self.markup(),
                '+' | '#' | '-' | DASH if self.rest()[letter.len_utf8()..].starts_with(is_digit) => {
                    // An evaluation.
                    self.skip_while(|letter| {
                        "+#-.,/:".contains(letter) || letter == DASH || is_digit(letter)
                    });
                }
                letter if is_digit(letter) => self.number()?,
                letter if is_separator(letter) => self.at += letter.len_utf8(),
                _ => self.word()?,
            }
        }
        match self.symbol {
            Some(symbol) => Err(Stop::no_move(&symbol.to_string())),
            None => Ok(()),
        }
    }

    fn skip_while(&mut self, is_passed: impl Fn(char) -> bool) {
        self.at += length(self.rest(), is_passed);
    }

    /// At the start of a line: skips a line that begins with `%`, a separator line such as `-----`, or a list
    /// marker. Returns an error if another game begins.
    fn line_start(&mut self) -> Result<(), Stop> {
        let line = self.rest().split('\n').next().unwrap_or_default();
        let is_rule = |letter: char| "-=_*~|:+# ".contains(letter) || letter == DASH;
        let is_drawn = line.chars().all(is_rule) && line.chars().filter(|&letter| letter != ' ').count() > 2;
        let blank = line.len() - line.trim_start().len();
        if line.starts_with('%') || is_drawn {
            self.at += line.len();
        } else if line[blank..].starts_with("* ") && !line[blank + 1..].trim().is_empty() {
            self.at += blank + 1;
        } else if starts_first_move(line) {
            let before = &self.text[..self.at];
            let is_apart = before[before.trim_end().len()..].matches('\n').count() > 1;
            let moves = self.scanned.words.len();
            if moves > 1 || (moves > 0 && is_apart) {
                return Err(Stop::next_game());
            }
        }
        Ok(())
    }

    fn comment(&mut self) -> Result<(), Stop> {
        let length = self.rest().find('}').ok_or_else(|| Stop::text("a comment is not closed; add '}'"))?;
        self.at += length + 1;
        Ok(())
    }

    fn line_comment(&mut self) {
        let line = self.rest().split('\n').next().unwrap_or_default();
        if has_moves(line) && self.scanned.skipped.is_none() {
            self.scanned.skipped = Some(line.trim().to_owned());
        }
        self.at += line.len();
    }

    /// Reads a `(`, which begins a remark or a variation, or encloses the whole text.
    fn bracket(&mut self) -> Result<(), Stop> {
        let length = closed_length(self.rest(), '(', ')')
            .ok_or_else(|| Stop::text("a variation is not closed; add ')'"))?;
        let (inner, behind) = self.rest().split_at(length);
        if self.scanned.words.is_empty() && !behind.contains(char::is_alphanumeric) {
            self.closing = Some(self.at + length - 1);
            self.at += 1;
        } else if has_moves(inner) {
            return Err(Stop::variation());
        } else {
            self.at += length;
        }
        Ok(())
    }

    /// Reads a tag pair, a command such as `[%clk 0:03:00]`, or a bracket that is used like `(`.
    fn square_bracket(&mut self) -> Result<(), Stop> {
        let is_inside = !self.scanned.words.is_empty();
        if let Some(pair) = TagPair::parse(self.rest()) {
            if is_inside || self.result.is_some() {
                return Err(Stop::next_game());
            }
            if pair.name.eq_ignore_ascii_case("FEN") {
                self.scanned.fen = Some(pair.value.to_owned());
            }
            self.at += pair.length;
            return Ok(());
        }
        let closed = closed_length(self.rest(), '[', ']');
        match closed {
            Some(length) if self.rest().starts_with("[%") => self.at += length,
            Some(length) if is_inside && self.squares == 0 => {
                if has_moves(&self.rest()[..length]) {
                    return Err(Stop::variation());
                }
                self.at += length;
            }
            // Each search for a closing bracket can extend to the end of the text, so the number of searches
            // is limited.
            _ if self.squares == MOST_SQUARES => return Err(Stop::no_move("[")),
            _ => {
                self.squares += 1;
                self.at += 1;
            }
        }
        Ok(())
    }

    /// Reads an asterisk: a result, or the mark of bold text.
    fn star(&mut self) -> Result<(), Stop> {
        let before = self.text[..self.at].chars().next_back();
        let behind =
            self.rest()[1..].trim_start_matches(|letter: char| is_separator(letter) && letter != '*');
        let is_apart = before.is_none_or(char::is_whitespace)
            && self.rest()[1..].chars().next().is_none_or(char::is_whitespace);
        self.at += 1;
        if is_apart || (behind.is_empty() && before != Some('*')) {
            return self.end(GameResult::Unknown);
        }
        Ok(())
    }

    /// Skips markup such as `<br>`, or a single `<`.
    fn markup(&mut self) {
        let inner = self.rest()[1..].split(['>', '\n', '<']).next().unwrap_or_default();
        let is_markup = inner.starts_with(|letter: char| letter == '/' || letter.is_ascii_alphabetic())
            && self.rest()[1 + inner.len()..].starts_with('>');
        self.at += if is_markup { inner.len() + 2 } else { 1 };
    }

    fn end(&mut self, result: GameResult) -> Result<(), Stop> {
        self.reject_after_result()?;
        self.result = Some(result);
        Ok(())
    }

    /// Returns an error if the moves have already ended with a result.
    fn reject_after_result(&self) -> Result<(), Stop> {
        self.result.map_or(Ok(()), |result| Err(Stop::after_result(result)))
    }

    /// Reads a move number, a result, castling with zeros, a clock time, or an evaluation.
    fn number(&mut self) -> Result<(), Stop> {
        let rest = self.rest();
        let run = rest[..length(rest, is_in_word)].replace(DASH, "-");
        let plain = run.trim_end_matches(['+', '#', '=', '/', '-', ':']);
        if let Some(result) = GameResult::parse(plain.as_bytes()) {
            self.at += length(rest, is_in_word);
            return self.end(result);
        }
        if let Some(length) = value_length(rest) {
            self.at += length;
            return Ok(());
        }
        if matches!(plain, "0-0" | "0-0-0" | "00" | "000" | "0000") {
            return self.word();
        }
        let digits = length(rest, is_digit);
        let is_numeric =
            matches!(digits, 4 | 5) && rest[..digits].chars().all(|digit| ('1'..='8').contains(&digit));
        if is_numeric && self.scanned.words.is_empty() && !rest[digits..].starts_with('.') {
            // The numeric notation of correspondence chess is not supported.
            return Err(Stop::no_move(&rest[..digits]));
        }
        self.number = rest[..digits].parse().ok();
        self.at += digits;
        // `1) e4`, `1: e4`, `1-e4`
        if self.rest().starts_with([')', ':', '-', DASH]) && self.closing != Some(self.at) {
            self.at += self.rest().chars().next().map_or(0, char::len_utf8);
        }
        Ok(())
    }

    fn word(&mut self) -> Result<(), Stop> {
        let raw = self.take_word();
        let dashes = raw.trim_matches(['-', DASH]).is_empty();
        if dashes && raw.len() > 2 && raw.chars().all(|letter| letter == '-') {
            return Err(Stop::no_move(&raw));
        }
        if dashes && raw != "--" {
            return Ok(());
        }
        let plain = raw.replace(DASH, "-");
        let ends = ['+', '#', '=', '/', '-', ':'];
        if let Some(result) = GameResult::parse(plain.trim_end_matches(ends).as_bytes()) {
            return self.end(result);
        }
        let begun = if dashes { plain.as_str() } else { plain.trim_start_matches(ends) };
        let core = without_remark(if dashes { begun } else { begun.trim_end_matches(ends) });
        if core.is_empty() || is_remark(core) || (self.scanned.words.is_empty() && is_heading(core)) {
            return Ok(());
        }
        let mut letters = core.chars();
        if let (Some(symbol), None) =
            (letters.next().filter(|&first| figurine(first).is_some()), letters.next())
        {
            self.symbol = Some(symbol);
            return Ok(());
        }
        let signs = length(&begun[core.len()..], |letter| matches!(letter, '+' | '#'));
        let symbol: String = self.symbol.take().into_iter().collect();
        self.reject_after_result()?;
        self.scanned.words.push(Word {
            typed: format!("{symbol}{}", &begun[..core.len() + signs]),
            plain: format!("{symbol}{core}"),
            number: self.number.take(),
        });
        Ok(())
    }

    /// Reads the word that begins here, and skips `e.p.` after it.
    fn take_word(&mut self) -> String {
        let rest = self.rest();
        let mut end = length(rest, is_in_word);
        let promoted = |text: &str| {
            let mut letters = text.strip_prefix('(')?.chars();
            let piece =
                letters.next().filter(|&letter| letter.is_alphabetic() || figurine(letter).is_some())?;
            letters.next().filter(|&letter| letter == ')')?;
            Some(piece.len_utf8() + 2)
        };
        if rest[..end].ends_with(is_digit) {
            end += promoted(&rest[end..]).unwrap_or(0);
        }
        self.at += end;
        if rest[..end].ends_with('e') && rest[end..].starts_with(".p") {
            self.at += if rest[end..].starts_with(".p.") { 3 } else { 2 };
            end -= 1;
        }
        rest[..end].to_owned()
    }
}

/// The variant that a tag pair of a text names, unless this variant is played by the rules of chess.
pub(in crate::query) fn other_variant(text: &str) -> Option<String> {
    /// The maximum number of tag pairs to read.
    const MOST: usize = 8;
    let is_name = |name: &str| name.eq_ignore_ascii_case("Variant");
    let begins = |at: &usize| text[at + 1..].trim_start().get(..7).is_some_and(is_name);
    let places = text.match_indices('[').map(|(at, _)| at).filter(begins).take(MOST);
    let pairs = places.filter_map(|at| TagPair::parse(&text[at..])).filter(|pair| is_name(pair.name));
    let names = pairs.map(|pair| pair.value.trim()).filter(|name| !matches!(*name, "" | "?" | "-" | "*"));
    names.filter(|name| !is_known_variant(name)).map(str::to_owned).next()
}

/// A tag pair whose value is in quotes of any kind.
struct TagPair<'t> {
    name: &'t str,
    value: &'t str,
    length: usize,
}

impl<'t> TagPair<'t> {
    /// Parses the tag pair at the start of a text.
    fn parse(text: &'t str) -> Option<Self> {
        const QUOTES: [char; 7] = ['"', '“', '”', '„', '«', '»', '\''];
        let inner = text.strip_prefix('[')?.trim_start();
        let name = &inner[..length(inner, |letter| letter.is_ascii_alphanumeric() || letter == '_')];
        let value = inner[name.len()..].trim_start_matches(' ').strip_prefix(QUOTES)?;
        let line = value.split('\n').next().unwrap_or_default();
        let ends = line.match_indices(']').find(|&(at, _)| line[..at].trim_end().ends_with(QUOTES));
        let (end, _) = ends?;
        let length = text.len() - value.len() + end + 1;
        let value = value[..end].trim_end().trim_end_matches(QUOTES);
        (!name.is_empty()).then_some(Self { name, value, length })
    }
}

const fn is_digit(letter: char) -> bool {
    letter.is_ascii_digit()
}

fn is_in_word(letter: char) -> bool {
    !is_separator(letter) && !"(){}[];$".contains(letter)
}

/// The length in bytes of the characters at the start of a text for which `is_passed` returns true.
fn length(text: &str, is_passed: impl Fn(char) -> bool) -> usize {
    text.find(|letter| !is_passed(letter)).unwrap_or(text.len())
}

/// The length of the bracketed part at the start of a text, including the brackets; `None` if it is not
/// closed. Brackets in comments are ignored.
fn closed_length(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    let mut is_comment = false;
    for (at, letter) in text.char_indices() {
        match letter {
            '{' | '}' => is_comment = letter == '{',
            _ if is_comment => {}
            letter if letter == open => depth += 1,
            letter if letter == close => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Whether a line begins with White's first move: `1. e4`, but not `1... e5`.
fn starts_first_move(line: &str) -> bool {
    let Some(rest) = line.trim_start().strip_prefix("1.") else { return false };
    rest.trim_start().starts_with(|letter: char| letter.is_alphabetic() || figurine(letter).is_some())
}

/// The length of a time (`0:03:00`, `3.2s`) or an evaluation (`0.35`, `1.20/18`) at the start of a text.
fn value_length(text: &str) -> Option<usize> {
    let digits = length(text, is_digit);
    let is_value = |letter| is_digit(letter) || ":./".contains(letter);
    let whole = length(text, is_value);
    let behind = &text[whole..];
    if behind.starts_with(['-', DASH]) {
        // The `0-0` of `1.0-0` is castling.
        return None;
    }
    let parts: Vec<&str> = text[digits..whole].split(':').skip(1).collect();
    if !parts.is_empty() && text[digits..].starts_with(':') {
        let is_time = |part: &&str| part.len() > 1 && part.starts_with(is_digit);
        return parts.iter().all(is_time).then_some(whole);
    }
    let seconds =
        text[whole..].strip_prefix('s').is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
    if seconds {
        return Some(whole + 1);
    }
    let fraction = text[digits..whole].strip_prefix('.')?;
    let fraction = &fraction[..length(fraction, is_digit)];
    let is_castling =
        fraction.len() > 1 && fraction.bytes().all(|digit| digit == b'0') && &text[..digits] != "0";
    let is_plain = !fraction.is_empty() && fraction.len() < 4 && !is_castling;
    let is_alone = !behind.starts_with(|letter: char| letter.is_alphanumeric() || figurine(letter).is_some());
    (is_plain && is_alone).then_some(whole)
}

/// A word without `ch`, `mate` or `ep` at its end.
fn without_remark(word: &str) -> &str {
    let is_move = |rest: &&str| rest.contains(is_digit) || rest.ends_with(['O', '0', 'o']);
    let found = ["mate", "ch", "ep"].iter().find_map(|remark| word.strip_suffix(remark).filter(is_move));
    found.map_or(word, |rest| rest.trim_end_matches(['+', '#', '=', '-']))
}
