//! Reads the games of a text, one after the other.

use super::lex::{Annotation, Lexer, Token, begins_moves};
use super::outside::{annotations_end, begins_untagged_game, is_in_movetext, next_annotation};
use super::split::{Boundaries, LOOK_BACK};
use super::tags::{ReadTag, TagPair, damaged_tag, read_tag, starts_tag_pair, unquoted_tag};
use super::text::{has_blank_line, line_length, skip_blanks};
use crate::board::GameResult;

/// A problem outside a game's movetext. Reading continues after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameProblem {
    /// The kind of problem.
    pub kind: FrameProblemKind,
    /// The start of the tag pair, line or text with the problem.
    pub offset: usize,
}

/// A kind of problem outside a game's movetext.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameProblemKind {
    /// The line of a tag pair ended before the tag pair was closed.
    UnclosedTag,
    /// A tag pair has no quotes.
    UnquotedTag,
    /// A line among the tag pairs is too damaged to parse.
    DamagedTag,
    /// Text is outside games.
    Outside,
    /// A game has more than [`MOST_TAGS`] tag pairs. The tag pairs beyond this number are ignored. The offset
    /// is the start of the first of these.
    TooManyTags,
}

/// The maximum number of tag pairs of a game.
pub const MOST_TAGS: usize = 1000;

/// Adds a problem, unless there are already very many: garbage must not fill the memory.
fn note(problems: &mut Vec<FrameProblem>, kind: FrameProblemKind, offset: usize) {
    const MOST: usize = 1000;
    if problems.len() < MOST {
        problems.push(FrameProblem { kind, offset });
    }
}

/// Reads the games of a text that begins with a game (a whole file, or a chunk of one).
///
/// [`next_game`](Self::next_game) moves to the next game and reads its tags; [`leading`](Self::leading)
/// returns the annotations before and between the tag pairs. [`next_token`](Self::next_token) then reads its
/// movetext, and [`trailing`](Self::trailing) the annotations after its result. Unread parts of a game are
/// skipped.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    text: &'a [u8],
    lexer: Lexer<'a>,
    /// The next [boundary](super::next_boundary), or the end of the text: the current game does not extend
    /// beyond it.
    limit: usize,
    /// Boundaries are searched for only before this offset.
    boundaries_end: usize,
    boundaries: Boundaries,
    in_game: bool,
    /// Whether the last game read ended with a result.
    has_result: bool,
    start: usize,
    leading: Vec<Annotation<'a>>,
    /// The offset up to which annotations belong to the last game read.
    trailing_end: usize,
}

impl<'a> Reader<'a> {
    /// A reader at the start of `text`.
    #[must_use]
    pub fn new(text: &'a [u8]) -> Self {
        Self::from_chunk(text, text.len())
    }

    /// A reader at the start of a chunk. `text` must have been cut at the first boundary that is at least
    /// `size` bytes after its start. So all text after the first `size` bytes belongs to a single game, and
    /// is not searched for boundaries.
    #[must_use]
    pub fn from_chunk(text: &'a [u8], size: usize) -> Self {
        // To find a boundary, a few bytes of its line are needed.
        let boundaries_end = size.saturating_add(8).min(text.len());
        let mut boundaries = Boundaries::default();
        let limit = boundaries.next_in(text, 0..boundaries_end).unwrap_or(text.len());
        Self {
            text,
            lexer: Lexer::new(&text[..limit], 0),
            limit,
            boundaries_end,
            boundaries,
            in_game: false,
            has_result: false,
            start: 0,
            leading: Vec::new(),
            trailing_end: 0,
        }
    }

    /// The offset at which the current game's text starts, in bytes.
    #[must_use]
    pub const fn game_start(&self) -> usize {
        self.start
    }

    /// The number of bytes read so far.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.lexer.offset()
    }

    /// The offset of the token just read. Meaningful only for a result, junk, an unbalanced bracket, or an unclosed
    /// comment.
    #[must_use]
    pub const fn token_start(&self) -> usize {
        self.lexer.token_start()
    }

    /// Moves to the next game. Clears `tags` and stores the game's tag pairs in it, in the order of the text;
    /// appends problems to `problems`. Returns `false` at the end of the text.
    pub fn next_game(&mut self, tags: &mut Vec<TagPair<'a>>, problems: &mut Vec<FrameProblem>) -> bool {
        while self.in_game {
            self.next_token();
        }
        while self.trailing().is_some() {}
        self.has_result = false;
        self.leading.clear();
        tags.clear();
        loop {
            let at = skip_blanks(&self.text[..self.limit], self.lexer.offset());
            if at == self.limit {
                if self.limit == self.text.len() {
                    return false;
                }
                let rest = self.limit..self.boundaries_end.max(self.limit);
                self.limit = self.boundaries.next_in(self.text, rest).unwrap_or(self.text.len());
                self.lexer = Lexer::after(&self.lexer, &self.text[..self.limit], at);
                continue;
            }
            self.lexer = Lexer::after(&self.lexer, &self.text[..self.limit], at);
            if self.read_tags(tags, problems) {
                self.in_game = !self.is_at_next_game(tags);
                return true;
            }
            if self.find_untagged_game(problems) {
                self.in_game = true;
                return true;
            }
        }
    }

    /// The annotations before and between the tag pairs of the current game.
    #[must_use]
    pub fn leading(&self) -> &[Annotation<'a>] {
        &self.leading
    }

    /// The next comment, NAG or variation after the result of the current game. Annotations that follow a
    /// blank line belong to the next game if that game follows them without a blank line.
    #[inline]
    pub fn trailing(&mut self) -> Option<Annotation<'a>> {
        if !self.has_result {
            return None;
        }
        let at = skip_blanks(&self.text[..self.limit], self.lexer.offset());
        match self.text[..self.limit].get(at) {
            None | Some(b'[') => None,
            _ => self.next_trailing(),
        }
    }

    #[cold]
    fn next_trailing(&mut self) -> Option<Annotation<'a>> {
        let text = &self.text[..self.limit];
        let end = self.lexer.offset();
        let mut next = self.lexer.clone();
        let annotation = next_annotation(text, &mut next, end)?;
        if end >= self.trailing_end {
            let begin = skip_blanks(text, end);
            let (run_end, is_followed) = annotations_end(text, &next);
            if is_followed && has_blank_line(&text[end..begin]) && begins_game(text, run_end) {
                return None;
            }
            self.trailing_end = run_end;
        }
        self.lexer = next;
        Some(annotation)
    }

    /// Reads tag pairs, and annotations before and between them, up to other text. Returns whether there was
    /// a tag pair.
    fn read_tags(&mut self, tags: &mut Vec<TagPair<'a>>, problems: &mut Vec<FrameProblem>) -> bool {
        let text = &self.text[..self.limit];
        self.start = self.lexer.offset();
        let (mut end, mut is_reported) = (self.start, false);
        loop {
            let at = skip_blanks(text, end);
            let starts_line = at == self.start || matches!(text[at - 1], b'\n' | b'\r');
            if starts_line && text.get(at) == Some(&b'%') {
                end = at + line_length(&text[at..]);
                continue;
            }
            if matches!(text.get(at), Some(b'{' | b'(' | b';' | b'$')) {
                let first = self.leading.len();
                let Some(next) = self.comments_before_tag(text, at, tags, end) else { break };
                if tags.is_empty() && first == 0 {
                    self.start = at;
                }
                end = next;
                continue;
            }
            let after_blank_line = has_blank_line(&text[end..at]);
            let follows_tags = !tags.is_empty() && !after_blank_line;
            let Some((tag, problem)) = self.tag_at(text, at, starts_line, [!tags.is_empty(), follows_tags])
            else {
                let Some(length) = damaged_line(&text[at..], follows_tags).filter(|_| starts_line) else {
                    break;
                };
                note(problems, FrameProblemKind::DamagedTag, at);
                end = at + length;
                continue;
            };
            if is_next_game(tags, &tag.pair, after_blank_line) {
                break;
            }
            problem.into_iter().for_each(|problem| note(problems, problem, at));
            if tags.is_empty() && self.leading.is_empty() {
                self.start = at;
            }
            if tags.len() < MOST_TAGS {
                tags.push(tag.pair);
            } else if !is_reported {
                note(problems, FrameProblemKind::TooManyTags, at);
                is_reported = true;
            }
            end = tag.end;
        }
        self.lexer = Lexer::after(&self.lexer, text, end);
        !tags.is_empty()
    }

    /// Reads the tag pair at `at`. Also returns the kind of its problem, if there is one. `has_tags`: the game
    /// already has tag pairs. `follows_tags`: no blank line is between them and `at`.
    fn tag_at(
        &self,
        text: &'a [u8],
        at: usize,
        starts_line: bool,
        [has_tags, follows_tags]: [bool; 2],
    ) -> Option<(ReadTag<'a>, Option<FrameProblemKind>)> {
        if let Some(tag) = read_tag(text, at) {
            let problem = tag.unclosed.then_some(FrameProblemKind::UnclosedTag);
            return Some((tag, problem));
        }
        let tag = unquoted_tag(text, at).filter(|_| starts_line)?;
        // A tag pair without quotes that does not directly follow other tag pairs counts only if its name is
        // in the Seven Tag Roster. If it is the first of its game, another `[` must also follow it.
        let is_tag = follows_tags
            || is_of_roster(tag.pair.name)
                && (has_tags || text.get(skip_blanks(text, tag.end)) == Some(&b'['));
        is_tag.then_some((tag, Some(FrameProblemKind::UnquotedTag)))
    }

    /// Reads the annotations from `at` on into `leading`, if a tag pair of the same game follows them.
    /// Returns the end of these annotations. `before` is the end of the text that was read before.
    #[cold]
    fn comments_before_tag(
        &mut self,
        text: &'a [u8],
        at: usize,
        tags: &[TagPair<'a>],
        before: usize,
    ) -> Option<usize> {
        let first = self.leading.len();
        let mut lexer = Lexer::after(&self.lexer, text, at);
        let mut end = at;
        while let Some(annotation) = next_annotation(text, &mut lexer, end) {
            self.leading.push(annotation);
            end = lexer.offset();
        }
        let mut next = skip_blanks(text, end);
        while text.get(next) == Some(&b'%') && matches!(text[next - 1], b'\n' | b'\r') {
            end = next + line_length(&text[next..]);
            next = skip_blanks(text, end);
        }
        let [blank_before, blank_after] = [before..at, end..next].map(|gap| has_blank_line(&text[gap]));
        let belongs = read_tag(text, next).is_some_and(|tag| match tags {
            [] => true,
            _ if blank_before && blank_after => !begins_next_game(tags, text, next),
            _ => !is_next_game(tags, &tag.pair, blank_before || blank_after),
        });
        if !belongs {
            self.leading.truncate(first);
        }
        belongs.then_some(end)
    }

    /// Whether the game with these tags has no moves because the next game follows. This is so if
    /// a blank line and then comments follow the tags, and the tags of the next game follow the comments without
    /// a blank line.
    #[inline]
    fn is_at_next_game(&self, tags: &[TagPair<'a>]) -> bool {
        let text = &self.text[..self.limit];
        let end = self.lexer.offset();
        let begin = skip_blanks(text, end);
        matches!(text.get(begin), Some(b'{' | b';')) && has_blank_line(&text[end..begin]) && {
            let (run_end, is_followed) = annotations_end(text, &Lexer::after(&self.lexer, text, begin));
            let next = skip_blanks(text, run_end);
            is_followed && read_tag(text, next).is_some_and(|tag| is_next_game(tags, &tag.pair, true))
        }
    }

    /// Searches for a game without tags, which begins with a move before the next tag pair. If there is such
    /// a game, goes to the start of its text and returns `true`.
    fn find_untagged_game(&mut self, problems: &mut Vec<FrameProblem>) -> bool {
        let (text, offset) = (&self.text[..self.limit], self.lexer.offset());
        let mut outside = false;
        // The start of the comments right before the current token.
        let mut comments = None;
        loop {
            let before = self.lexer.clone();
            match self.lexer.next_annotated() {
                Token::Move(word) | Token::Junk(word)
                    if begins_untagged_game(word)
                        && is_in_movetext(text, &mut self.lexer, word, before.offset()) =>
                {
                    if outside {
                        note(problems, FrameProblemKind::Outside, offset);
                    }
                    self.start = skip_blanks(text, comments.unwrap_or(before.offset()));
                    // The text of the game must not begin with a bracket: if the text is parsed alone, the
                    // bracket could begin a tag pair. A `%` line is not part of the game.
                    loop {
                        let passed = match text.get(self.start) {
                            Some(b'[') => 1,
                            Some(b'%') => line_length(&text[self.start..]),
                            _ => break,
                        };
                        self.start = skip_blanks(text, self.start + passed);
                    }
                    self.lexer = Lexer::after(&before, text, self.start);
                    // If a damaged tag pair begins here, this is not a game without tags.
                    return damaged_line(&text[self.start..], false).is_none();
                }
                Token::End | Token::NextGame => {
                    // Comments of more than `LOOK_BACK` bytes belong to no game: the next game begins at the
                    // tags after them.
                    if outside || comments.is_some() && self.limit - offset > LOOK_BACK {
                        note(problems, FrameProblemKind::Outside, offset);
                    }
                    return false;
                }
                // An annotation in square brackets does not count as the beginning of the game: otherwise, the
                // game's text would begin with `[`, and would be parsed differently without the text before it.
                Token::Annotation(_) if text.get(skip_blanks(text, before.offset())) != Some(&b'[') => {
                    comments.get_or_insert(before.offset());
                }
                Token::Result(_) => comments = None,
                _ => {
                    outside = true;
                    comments = None;
                }
            }
        }
    }

    /// Puts back the last `bytes` bytes of the token just read; the next token begins with them.
    pub fn unread(&mut self, bytes: usize) {
        self.lexer.unread(bytes);
    }

    /// Ends the current game: the last `bytes` bytes read are its result.
    pub(crate) const fn end_game(&mut self, bytes: usize) {
        (self.in_game, self.has_result) = (false, true);
        self.lexer.set_token_length(bytes);
    }

    /// Whether the current game has no further tokens except annotations. If `star_may_follow`, the next
    /// token can also be a `*`.
    #[cold]
    pub(crate) fn is_at_last_token(&self, star_may_follow: bool) -> bool {
        match self.lexer.clone().next_token() {
            Token::End | Token::NextGame => true,
            token => star_may_follow && token == Token::Result(GameResult::Unknown),
        }
    }

    /// The next token of the current game, without annotations; `End` after the last token.
    #[inline]
    pub fn next_token(&mut self) -> Token<'a> {
        self.next::<false>()
    }

    /// The next token of the current game, with annotations if `ANNOTATED`; `End` after the last token.
    #[inline]
    pub(crate) fn next<const ANNOTATED: bool>(&mut self) -> Token<'a> {
        if !self.in_game {
            return Token::End;
        }
        let token = self.lexer.next::<ANNOTATED>();
        // `==` would force the token into memory and slow down this function, which reads each move.
        if matches!(token, Token::Result(_) | Token::End | Token::NextGame) {
            self.in_game = false;
            self.has_result = matches!(token, Token::Result(_));
            if matches!(token, Token::NextGame) {
                return Token::End;
            }
        }
        token
    }
}

/// The length of the damaged tag pair at the start of `text`, if there is one. A damaged tag pair without a
/// closing bracket must not contain a result: a game's text can end after this result, and must be parsed in
/// the same way with and without the text after it.
fn damaged_line(text: &[u8], after_tags: bool) -> Option<usize> {
    let holds_result = |tag: &[u8]| {
        let mut lexer = Lexer::new(tag, 0);
        loop {
            match lexer.next_token() {
                Token::Result(_) => return true,
                Token::End | Token::NextGame => return false,
                _ => {}
            }
        }
    };
    damaged_tag(text, after_tags)
        .filter(|&length| text[..length].ends_with(b"]") || !holds_result(&text[..length]))
}

/// Whether a tag pair begins another game right after the tags of a game without moves. A second `Event` tag
/// does, and after a blank line any repeated tag.
fn is_next_game(tags: &[TagPair<'_>], tag: &TagPair<'_>, after_blank_line: bool) -> bool {
    (after_blank_line || tag.name.eq_ignore_ascii_case(b"Event"))
        && tags.iter().any(|other| other.name.eq_ignore_ascii_case(tag.name))
}

/// Whether any of the tag pairs from `at` up to a blank line begins another game. `tags` are the tags before
/// `at`.
#[cold]
fn begins_next_game(tags: &[TagPair<'_>], text: &[u8], mut at: usize) -> bool {
    while let Some(tag) = read_tag(text, at) {
        if is_next_game(tags, &tag.pair, true) || tag.pair.name.eq_ignore_ascii_case(b"Event") {
            return true;
        }
        at = skip_blanks(text, tag.end);
        if has_blank_line(&text[tag.end..at]) {
            break;
        }
    }
    false
}

/// Whether a tag name belongs to the Seven Tag Roster.
fn is_of_roster(name: &[u8]) -> bool {
    const ROSTER: [&[u8]; 7] = [b"Event", b"Site", b"Date", b"Round", b"White", b"Black", b"Result"];
    ROSTER.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Whether another game begins at `at`, with a tag pair or a move, after blanks and `%` lines.
fn begins_game(text: &[u8], at: usize) -> bool {
    let mut rest = &text[skip_blanks(text, at)..];
    while rest.first() == Some(&b'%') {
        rest = &rest[skip_blanks(rest, line_length(rest))..];
    }
    starts_tag_pair(rest) || begins_moves(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A game's tag values and moves.
    type Game = (Vec<String>, Vec<String>);

    /// All games, and the number of problems.
    fn games(text: &[u8]) -> (Vec<Game>, usize) {
        let mut reader = Reader::new(text);
        let (mut tags, mut problems, mut games) = (Vec::new(), Vec::new(), Vec::new());
        while reader.next_game(&mut tags, &mut problems) {
            let mut moves = Vec::new();
            loop {
                match reader.next_token() {
                    Token::Move(word) => moves.push(String::from_utf8_lossy(word).into_owned()),
                    Token::End | Token::Result(_) => break,
                    _ => {}
                }
            }
            games.push((tags.iter().map(|tag| tag.text().into_owned()).collect(), moves));
        }
        (games, problems.len())
    }

    fn shape(text: &str) -> Vec<(usize, usize)> {
        games(text.as_bytes()).0.iter().map(|(tags, moves)| (tags.len(), moves.len())).collect()
    }

    #[test]
    fn games_are_separated_with_and_without_blank_lines_and_results() {
        assert_eq!(shape(""), []);
        assert_eq!(shape(" \n\n"), []);
        assert_eq!(shape("[Event \"a\"]\n\n1. e4 e5 1-0\n\n[Event \"b\"]\n\n1. d4 *\n"), [(1, 2), (1, 1)]);
        assert_eq!(shape("[Event \"a\"]\n1. e4 e5 1-0\n[Event \"b\"]\n1. d4 *\n"), [(1, 2), (1, 1)]);
        assert_eq!(shape("[Event \"a\"]\n1. e4 e5\n[Event \"b\"]\n1. d4"), [(1, 2), (1, 1)]);
        assert_eq!(shape("[Event \"a\"][Site \"b\"] 1. e4 *"), [(2, 1)]);
        assert_eq!(shape("[Event \"a\"]\n\n[Event \"b\"]\n\n"), [(1, 0), (1, 0)]);
        assert_eq!(shape("[Event \"a\"]\n\n[Site \"b\"]\n\n1. e4 *"), [(2, 1)]);
        assert_eq!(shape("1. e4 e5 1-0 1. d4 d5 0-1"), [(0, 2), (0, 2)]);
        assert_eq!(shape("[Event \"a\"]\n\n1. e4\n\n\ne5 *"), [(1, 2)]);
        assert_eq!(shape("[Event \"a\"]\r\r1. e4 *\r\r[Event \"b\"]\r\r1. d4 d5 *\r"), [(1, 1), (1, 2)]);
        assert_eq!(
            shape("\u{feff}[Event \"a\"]\n\n1. e4 *\n\n\u{feff}[Event \"b\"]\n\n1. d4 d5 *\n"),
            [(1, 1), (1, 2)]
        );
    }

    #[test]
    fn an_unclosed_comment_does_not_hide_the_next_game() {
        assert_eq!(shape("[Event \"a\"]\n\n1. e4 {open\n\n[Event \"b\"]\n\n1. d4 *\n"), [(1, 1), (1, 1)]);
        assert_eq!(shape("[Event \"a\"]\n\n1. e4 {\n[Event \"in\"]\n} e5 *\n"), [(1, 2)]);
    }

    #[test]
    fn dashes_between_games_are_not_games() {
        let text = "[Event \"a\"]\n\n1. e4 *\n\n----- forwarded message -----\n\n[Event \"b\"]\n\n1. d4 *\n";
        assert_eq!(shape(text), [(1, 1), (1, 1)]);
        assert_eq!(shape("-- 0000 O-O 00 *\n\n1. e4 *\n"), [(0, 1)]);
    }

    #[test]
    fn a_damaged_tag_pair_does_not_end_the_tags() {
        assert_eq!(shape("[Event \"a\"]\n[Wh(te \"b\"]\nBlack \"c\"]\n[Round \"1\"]\n\n1. e4 *\n"), [(2, 1)]);
        assert_eq!(
            shape("[Ev(nt \"a\"]\n[White \"b\"]\n[Res{lt \"*\"]\n\n1. e4 *\n\n[Event \"b\"]\n\n*\n"),
            [(1, 1), (1, 0)]
        );
        assert_eq!(shape("[Event \"a\"]\ne4 e5 1-0\n[Event \"b\"]\nd4 *"), [(1, 2), (1, 1)]);
    }

    #[test]
    fn the_number_of_tags_is_limited() {
        let text = format!("{}\n1. e4 *\n\n[Event \"b\"]\n\n*\n", "[A \"x\"]\n".repeat(MOST_TAGS + 5));
        let (found, problems) = games(text.as_bytes());
        assert_eq!((found[0].0.len(), found[0].1.len(), found.len(), problems), (MOST_TAGS, 1, 2, 1));
    }

    #[test]
    fn an_untagged_game_begins_with_a_move_or_its_number() {
        for text in ["so:\n%[Event \"x\"]\n1. e4 e5", "so: [ [e4 e5", "so: [1. e4 e5"] {
            let mut reader = Reader::new(text.as_bytes());
            assert!(reader.next_game(&mut Vec::new(), &mut Vec::new()), "{text}");
            assert!(text[reader.game_start()..].starts_with(['e', '1']), "{text}");
            assert_eq!(shape(text), shape(&text[reader.game_start()..]));
        }
    }

    #[test]
    fn text_between_games_is_reported_and_is_not_a_game() {
        let text = b"From: somebody\n\n[Event \"a\"]\n\n1. e4 *\n\nbye now\n\n[Event \"b\"]\n\n1. d4 *\n";
        let (found, problems) = games(text);
        assert_eq!((found.len(), problems), (2, 2));
    }
}
