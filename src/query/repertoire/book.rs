//! A repertoire: the moves and variations of a PGN text as a tree.

use std::collections::HashMap;

use crate::board::{Color, MoveCode, Position, SanError};
use crate::pgn::{
    Annotation, Reader, TagPair, Token, Variation, decode, is_known_variant, is_misspelt_move, is_remark,
};
use crate::query::error::cut;
use crate::query::position::number_before;

/// The maximum number of moves and start positions of a repertoire together. A repertoire has some thousands
/// of moves; a text with more than the maximum is a collection of games.
const MOST_MOVES: usize = 200_000;
/// The maximum nesting depth of variations inside a variation of the main line.
const MOST_DEPTH: usize = 1000;
/// The maximum number of problems that are stored.
const MOST_PROBLEMS: usize = 1000;
/// The maximum number of characters of a word that a message quotes.
const QUOTED: usize = 40;

/// A part of a text that could not be parsed. The message says what is ignored because of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookProblem {
    /// The line number in the text, from 1.
    pub line: u64,
    /// The number of the game in the text, from 1.
    pub chapter: u32,
    /// What is wrong.
    pub message: String,
}

/// The text has more moves than a repertoire can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than 200,000 moves, too many for a repertoire; is this the right file?")]
pub struct TooLong;

/// A repertoire: trees of moves, one for each start position and side. Equal lines of several games are
/// merged.
#[derive(Clone, Debug, Default)]
pub struct Book {
    /// The names of the games of the text; `None` for a game without a name.
    pub(super) chapters: Vec<Option<String>>,
    pub(super) nodes: Vec<Node>,
    /// The start positions: for each, the side of the repertoire, if known, and the node.
    pub(super) roots: Vec<(Option<Color>, usize)>,
    /// The first parts of the text that could not be parsed.
    pub problems: Vec<BookProblem>,
    /// The number of all parts of the text that could not be parsed.
    pub problem_count: u64,
}

/// A position on a line.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) position: Position,
    /// The parent node and the move; `None` for a start position.
    pub(super) parent: Option<(usize, MoveCode)>,
    /// The number of half-moves from the start position of its line to this position.
    pub(super) ply: u32,
    pub(super) children: Vec<usize>,
    /// The index, from 0, of the first game that contains this node.
    pub(super) chapter: usize,
}

impl Book {
    /// Parses a text. The repertoire is for `side`. If `side` is `None`, each game is for the side in its tag
    /// `Orientation`, if it has one.
    ///
    /// # Errors
    /// [`TooLong`].
    pub fn read(text: &[u8], side: Option<Color>) -> Result<Self, TooLong> {
        let book = Self::default();
        let mut reading = Reading { text, side, book, roots: HashMap::new(), counted: (0, 0) };
        let mut reader = Reader::new(text);
        let (mut tags, mut frame) = (Vec::new(), Vec::new());
        let mut end = 0;
        while reader.next_game(&mut tags, &mut frame) {
            frame.clear();
            reading.chapter(&mut reader, &tags, end)?;
            end = reader.offset();
        }
        Ok(reading.book)
    }

    /// The number of games in the text.
    #[must_use]
    pub const fn chapters(&self) -> usize {
        self.chapters.len()
    }

    /// The number of moves in all trees.
    #[must_use]
    pub fn moves(&self) -> usize {
        self.nodes.iter().filter(|node| node.parent.is_some()).count()
    }

    /// The FEN of the first position of the line to a node; `None` for the standard start position.
    pub(super) fn start_of(&self, node: usize) -> Option<String> {
        let start = self.line(node).first().map_or(node, |&(start, _)| start);
        let fen = self.nodes[start].position.fen();
        (fen != Position::start().fen()).then_some(fen)
    }

    /// The moves that lead to a node, each with the node before it.
    pub(super) fn line(&self, mut node: usize) -> Vec<(usize, MoveCode)> {
        let mut line = Vec::with_capacity(self.nodes[node].ply as usize);
        while let Some(step) = self.nodes[node].parent {
            line.push(step);
            node = step.0;
        }
        line.reverse();
        line
    }
}

/// The state of parsing a book.
struct Reading<'t> {
    text: &'t [u8],
    side: Option<Color>,
    book: Book,
    /// The start positions, by FEN and side.
    roots: HashMap<(String, Option<Color>), usize>,
    /// An offset in the text, and the number of line ends before it.
    counted: (usize, u64),
}

/// The current place in a line.
#[derive(Clone, Copy)]
struct At {
    node: usize,
    /// The node before the last move. A variation begins at this node.
    before: usize,
    /// Whether the rest of the line is ignored, because one of its words could not be played.
    is_broken: bool,
}

impl At {
    const fn new(node: usize) -> Self {
        Self { node, before: node, is_broken: false }
    }
}

impl<'t> Reading<'t> {
    /// Parses a game; the text of the previous game ends at the offset `before`.
    fn chapter(
        &mut self,
        reader: &mut Reader<'t>,
        tags: &[TagPair<'t>],
        before: usize,
    ) -> Result<(), TooLong> {
        let tag = |name: &[u8]| {
            let pair = tags.iter().find(|pair| pair.name.eq_ignore_ascii_case(name))?;
            let value = pair.text();
            let value = value.trim();
            (!matches!(value, "" | "?" | "*")).then(|| value.to_owned())
        };
        let names: Vec<String> = [&b"White"[..], b"Black"].into_iter().filter_map(tag).collect();
        let name =
            tag(b"ChapterName").or_else(|| tag(b"Event")).or((!names.is_empty()).then(|| names.join(" – ")));
        self.book.chapters.push(name);
        let side = self.side.or_else(|| self.orientation(tags));
        let start = if let Some(variant) = tag(b"Variant").filter(|variant| !is_known_variant(variant)) {
            Err(format!("variant {:?} is not supported", cut(&variant, QUOTED)))
        } else if let Some(fen) = tag(b"FEN") {
            let parsed = Position::from_fen(fen.as_bytes());
            parsed.map(|(position, _)| position).map_err(|error| format!("start position: {error}"))
        } else {
            Ok(Position::start())
        };
        let start = match start {
            Ok(start) => start,
            Err(reason) => {
                self.problem(reader.game_start(), format!("{reason}; the game is left out"));
                // Skip the game's moves, so that they are not read as words before the next game.
                while !matches!(reader.next::<false>(), Token::End | Token::Result(_)) {}
                return Ok(());
            }
        };
        let mut at = At::new(self.root(start, side));
        // A game without tags begins with the first word that can be a move. A misspelt move can precede it.
        if tags.is_empty()
            && let Some((word, end)) = misspelt_move(self.text, before..reader.game_start())
        {
            self.break_off(&mut at, word, end, SanError::Unreadable);
        }
        loop {
            match reader.next::<true>() {
                Token::End | Token::Result(_) => return Ok(()),
                Token::Annotation(Annotation::Variation(variation)) if !at.is_broken => {
                    self.variation(variation, at.before)?;
                }
                Token::Move(word) => self.play(&mut at, word, reader.offset())?,
                Token::Junk(word) => self.skip_word(&mut at, word, reader.offset()),
                Token::UnclosedComment => self.unclosed("comment", reader.token_start()),
                Token::UnclosedVariation => self.unclosed("variation", reader.token_start()),
                _ => {}
            }
        }
    }

    /// Reads the side from a game's tag `Orientation`. Reports any other value as a problem, unless it is empty,
    /// `?` or `*`.
    fn orientation(&mut self, tags: &[TagPair<'t>]) -> Option<Color> {
        let pair = tags.iter().find(|pair| pair.name.eq_ignore_ascii_case(b"Orientation"))?;
        match pair.text().trim().to_lowercase().as_str() {
            "white" => return Some(Color::White),
            "black" => return Some(Color::Black),
            "" | "?" | "*" => {}
            other => {
                let value = cut(other, QUOTED);
                self.problem(pair.offset, format!("Orientation is {value:?}, not white or black: ignored"));
            }
        }
        None
    }

    /// Parses a variation that begins at a node, with its nested variations.
    fn variation(&mut self, variation: Variation, node: usize) -> Result<(), TooLong> {
        let mut lexer = variation.lexer(self.text);
        let (mut at, mut outer) = (At::new(node), Vec::new());
        // The number of open brackets whose contents are ignored.
        let mut depth = 0_usize;
        loop {
            match lexer.next_annotated() {
                Token::End => return Ok(()),
                Token::Annotation(Annotation::Opening) if depth > 0 || at.is_broken => depth += 1,
                Token::Annotation(Annotation::Opening) if outer.len() == MOST_DEPTH => {
                    let message = format!(
                        "variations are nested more than {MOST_DEPTH} deep: the innermost are left out"
                    );
                    self.problem(lexer.offset(), message);
                    depth += 1;
                }
                Token::Annotation(Annotation::Opening) => {
                    outer.push(at);
                    at = At::new(at.before);
                }
                Token::Annotation(Annotation::Closing) if depth > 0 => depth -= 1,
                Token::Annotation(Annotation::Closing) => at = outer.pop().unwrap_or(at),
                _ if depth > 0 => {}
                Token::Move(word) => self.play(&mut at, word, lexer.offset())?,
                Token::Junk(word) => self.skip_word(&mut at, word, lexer.offset()),
                _ => {}
            }
        }
    }

    /// Plays a word that ends at the offset `end`. Ignores a remark. Any other word that cannot be played
    /// breaks the line off.
    fn play(&mut self, at: &mut At, word: &[u8], end: usize) -> Result<(), TooLong> {
        if at.is_broken {
            return Ok(());
        }
        let mut position = self.book.nodes[at.node].position.clone();
        match position.play_san(word) {
            Ok(code) => {
                // The move codes of stored games mark mate, so mark it here too.
                let code = position.mark_mate(code);
                let node = self.child(at.node, code, position)?;
                (at.before, at.node) = (at.node, node);
            }
            Err(SanError::Unreadable) if is_remark(word) => {}
            Err(error) => self.break_off(at, word, end, error),
        }
        Ok(())
    }

    /// Ignores a sign or a remark. Any other word could be an intended move, so the rest of the line is
    /// ignored: its moves would be played from a wrong position.
    fn skip_word(&mut self, at: &mut At, word: &[u8], end: usize) {
        let is_word = || decode(word).contains(char::is_alphanumeric);
        if !at.is_broken && is_word() && !is_remark(word) {
            self.break_off(at, word, end, SanError::Unreadable);
        }
    }

    fn break_off(&mut self, at: &mut At, word: &[u8], end: usize, error: SanError) {
        at.is_broken = true;
        let position = &self.book.nodes[at.node].position;
        let number = number_before(position.fullmove_number(), position.side());
        let word_shown = decode(word);
        let message = format!(
            "{number} {}: {error} in {}; the rest of this line is left out",
            cut(&word_shown, QUOTED),
            position.fen()
        );
        self.problem(end - word.len(), message);
    }

    fn unclosed(&mut self, what: &str, offset: usize) {
        self.problem(
            offset,
            format!("a {what} is not closed; the rest of the game after its opening bracket is left out"),
        );
    }

    fn problem(&mut self, offset: usize, message: String) {
        self.book.problem_count += 1;
        if self.book.problems.len() < MOST_PROBLEMS {
            // Offsets can decrease a little: a problem of the start position has the offset of its game, and
            // is found after the problems of the game's tags.
            let (counted, lines) = if offset >= self.counted.0 { self.counted } else { (0, 0) };
            let lines = lines + memchr::memchr_iter(b'\n', &self.text[counted..offset]).count() as u64;
            self.counted = (offset, lines);
            let line = lines + 1;
            let chapter = u32::try_from(self.book.chapters.len()).unwrap_or(u32::MAX);
            self.book.problems.push(BookProblem { line, chapter, message });
        }
    }

    /// The node of a start position. Adds the node if necessary.
    fn root(&mut self, position: Position, side: Option<Color>) -> usize {
        let start = (position.fen(), side);
        if let Some(&root) = self.roots.get(&start) {
            return root;
        }
        let root = self.push(position, None, 0);
        self.book.roots.push((side, root));
        self.roots.insert(start, root);
        root
    }

    /// The node after a move. Adds the node if necessary.
    fn child(&mut self, node: usize, code: MoveCode, position: Position) -> Result<usize, TooLong> {
        let known = self.book.nodes[node].children.iter().copied();
        let mut known = known.filter(|&child| self.book.nodes[child].parent == Some((node, code)));
        if let Some(child) = known.next() {
            return Ok(child);
        }
        if self.book.nodes.len() >= MOST_MOVES {
            return Err(TooLong);
        }
        let child = self.push(position, Some((node, code)), self.book.nodes[node].ply + 1);
        self.book.nodes[node].children.push(child);
        Ok(child)
    }

    fn push(&mut self, position: Position, parent: Option<(usize, MoveCode)>, ply: u32) -> usize {
        let chapter = self.book.chapters.len() - 1;
        self.book.nodes.push(Node { position, parent, ply, children: Vec::new(), chapter });
        self.book.nodes.len() - 1
    }
}

/// In a part of a text, the first word that looks like a misspelt move, and the offset of its end.
fn misspelt_move(text: &[u8], part: std::ops::Range<usize>) -> Option<(&[u8], usize)> {
    let within = text.get(part)?;
    let words = within.split(|byte| byte.is_ascii_whitespace() || *byte == b'.');
    let word = words.into_iter().find(|word| is_misspelt_move(word))?;
    let end = word.as_ptr_range().end as usize - text.as_ptr() as usize;
    Some((word, end))
}
