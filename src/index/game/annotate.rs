//! Converts comments (with clocks and evaluations), NAGs and variations of a game to rows.

use crate::board::{Color, FenText, MAX_CANONICAL_FEN, MoveCode, Position, SanError};
use crate::index::game::{dedup_from, glued_move, is_meant_as_move, shown};
use crate::index::{Annotations, ProblemKind};
use crate::pgn::{Annotation, CommentReader, Eval, MoveNumbers, TextFlaw, Token, Variation, is_remark};
use crate::store::MOST_DEPTH;
use crate::store::row::{
    CommandRow, CommentRow, EvalRow, GameId, GameRows, HeaderBatch, NagRow, Ply, Text, VariationMoveRow,
    VariationRow,
};

/// The maximum size of the stored annotations of one game, in bytes: garbage must not fill the memory. The
/// size of a row is about that of its text plus `BYTES_A_ROW`.
const MOST_BYTES: usize = 64 << 20;
const BYTES_A_ROW: usize = 32;

/// After this number of problems with one game's annotations, unknown words in variations are no longer
/// reported.
const MOST_PROBLEMS: usize = 100;

/// The message if annotations are left out.
const TOO_MUCH: &str = "some annotations of this game are left out: at most 64 MiB are kept, and no variations nested more than 1,000 deep";

/// A problem with annotations. It does not end the replay of the game.
#[derive(Debug)]
pub(crate) struct AnnotationProblem {
    pub(crate) kind: ProblemKind,
    /// The offset in the chunk, in bytes.
    pub(crate) offset: usize,
    pub(crate) ply: u32,
    /// If the problem concerns a word: the offset in the chunk, in bytes, at which this word ends.
    pub(crate) word_end: Option<usize>,
    pub(crate) message: String,
}

/// A place in a game (a line and a ply), and how many comments and commands are stored at this place.
#[derive(Clone, Copy, Debug, Default)]
struct LineLocation {
    line: u32,
    ply: u32,
    comments: u32,
    commands: u32,
}

impl LineLocation {
    /// Sets the place to a ply of the same line. If the ply changes, the counts begin at 0 again.
    fn go_to(&mut self, ply: u32) {
        if self.ply != ply {
            *self = Self { line: self.line, ply, ..Self::default() };
        }
    }
}

/// A variation that is being read.
#[derive(Debug)]
struct Level {
    place: LineLocation,
    /// The position before the last move, and the ply of this position. If no move was played yet, the first
    /// position of the variation.
    before: (Position, u32),
    position: Position,
    /// The index, in the batch, of the row of the variation's last move; `None` if no move was played yet.
    last_move: Option<usize>,
    /// Whether a move could not be played or stored, so that the rest of the variation is ignored.
    is_broken: bool,
    /// The number of rows of each table in the batch when the variation was opened.
    rows: GameRows,
}

/// Converts the annotations of games to rows, one game after the other.
#[derive(Debug, Default)]
pub(crate) struct Annotator {
    kept: Annotations,
    reader: CommentReader,
    /// The number of bytes that the annotations of the current game may still use.
    left: usize,
    game: GameId,
    main: LineLocation,
    lines: u32,
    /// An earlier position of the main line, and its ply; `None` if the game is not replayed. The position at
    /// which a variation branches off is computed from this position.
    behind: Option<(Position, usize)>,
    /// An empty list, whose memory `variation` reuses for the open variations.
    levels: Vec<Level>,
    pub(crate) problems: Vec<AnnotationProblem>,
    is_limit_reported: bool,
    is_encoding_reported: bool,
    /// The number of rows of each table in the batch before the current game.
    first: GameRows,
}

impl Annotator {
    pub(crate) fn new(kept: Annotations) -> Self {
        Self { kept, ..Self::default() }
    }

    /// Whether any annotations are stored.
    pub(crate) fn is_on(&self) -> bool {
        self.kept != Annotations::None
    }

    /// Begins a game, which is replayed from `start`, or is skipped if `start` is `None`.
    pub(crate) fn begin(&mut self, game: GameId, start: Option<&Position>, headers: &HeaderBatch) {
        self.left = MOST_BYTES;
        self.reader.begin_game();
        self.game = game;
        self.main = LineLocation::default();
        self.lines = 0;
        self.behind = start.map(|start| (start.clone(), 0));
        self.is_limit_reported = false;
        self.is_encoding_reported = false;
        self.first = headers.game_rows();
    }

    /// Ends a game: sorts its rows by key, and removes repeated NAGs. Returns the number of plies with an
    /// evaluation, and the number of plies with a clock.
    pub(crate) fn end(&mut self, headers: &mut HeaderBatch) -> (u32, u32) {
        let first = self.first;
        let nags = &mut headers.nags;
        let key = |row: &NagRow| (row.line, row.ply, row.nag);
        nags[first.nags..].sort_unstable_by_key(key);
        dedup_from(nags, first.nags, |last, row| key(last) == key(row));
        if self.lines > 0 {
            headers.comments[first.comments..].sort_unstable_by_key(|row| (row.line, row.ply, row.number));
            headers.commands[first.commands..].sort_unstable_by_key(|row| (row.line, row.ply, row.number));
            headers.variation_moves[first.variation_moves..].sort_unstable_by_key(|row| (row.line, row.ply));
        }
        let evals = &headers.evals[first.evals..];
        let count = |has: fn(&EvalRow) -> bool| evals.iter().filter(|row| has(row)).count() as u32;
        (count(|row| row.eval_cp.is_some() || row.eval_mate.is_some()), count(|row| row.clock.is_some()))
    }

    /// Processes an annotation of the main line after the moves `codes`, which led to `position`. `text` is the
    /// chunk's text, which has been read up to `at`.
    pub(crate) fn take(
        &mut self,
        annotation: Annotation<'_>,
        (text, at): (&[u8], usize),
        (codes, position): (&[MoveCode], &Position),
        headers: &mut HeaderBatch,
    ) {
        let ply = u32::try_from(codes.len()).unwrap_or(u32::MAX);
        self.main.go_to(ply);
        match annotation {
            Annotation::Comment(comment) => {
                let mover = (ply > 0).then(|| position.side().other());
                let mut place = self.main;
                self.comment(comment, offset_in(text, comment), &mut place, mover, headers);
                self.main = place;
            }
            Annotation::Nag(nag) => self.nag(nag, at, self.main, headers),
            Annotation::Variation(variation) if self.kept == Annotations::All => {
                let before_last = codes.split_last().and_then(|(_, before)| self.position_after(before));
                let mut from = before_last.unwrap_or_else(|| (position.clone(), 0));
                if is_numbered_as_next(variation.text(text), &from.0, position) {
                    from = (position.clone(), ply);
                }
                self.variation(variation, text, from, headers);
            }
            _ => {}
        }
    }

    /// The position of the main line after these moves, and its ply; `None` if the game is not replayed.
    fn position_after(&mut self, codes: &[MoveCode]) -> Option<(Position, u32)> {
        let (behind, ply) = self.behind.as_mut()?;
        // Each move is replayed here at most once, however many variations there are.
        codes[*ply..].iter().for_each(|&code| behind.replay(code));
        *ply = codes.len();
        Some((behind.clone(), u32::try_from(*ply).unwrap_or(u32::MAX)))
    }

    /// Counts a row with `bytes` bytes of text towards the limit of the game. Returns whether the row fits
    /// within the limit. If it does not, reports a problem.
    fn fits(&mut self, bytes: usize, offset: usize, ply: u32) -> bool {
        let left = self.left.checked_sub(bytes + BYTES_A_ROW);
        match left {
            Some(left) => self.left = left,
            None => self.leave_out(offset, ply),
        }
        left.is_some()
    }

    /// Reports, at most once per game, that annotations are left out.
    fn leave_out(&mut self, offset: usize, ply: u32) {
        if !std::mem::replace(&mut self.is_limit_reported, true) {
            let (kind, message) = (ProblemKind::LongAnnotations, TOO_MUCH.to_owned());
            self.problems.push(AnnotationProblem { kind, offset, ply, word_end: None, message });
        }
    }

    fn nag(&mut self, nag: u32, offset: usize, place: LineLocation, headers: &mut HeaderBatch) {
        let LineLocation { line, ply, .. } = place;
        if self.kept == Annotations::All && self.fits(0, offset, ply) {
            headers.nags.push(NagRow { game: self.game, line, ply: Ply(ply), nag });
        }
    }

    fn comment(
        &mut self,
        comment: &[u8],
        offset: usize,
        place: &mut LineLocation,
        mover: Option<Color>,
        headers: &mut HeaderBatch,
    ) {
        let is_all = self.kept == Annotations::All;
        // If the text of comments is not stored, a comment of any length takes only 48 bytes: a row with
        // numbers.
        if !self.fits(if is_all { comment.len() } else { 16 }, offset, place.ply) {
            return;
        }
        let (game, line, ply) = (self.game, place.line, Ply(place.ply));
        let known =
            headers.evals[self.first.evals..].last().filter(|row| row.ply == ply && line == 0).copied();
        let before = known.map(numbers_of).unwrap_or_default();
        let mut numbers = before;
        let (text, commands) = (&mut headers.text, &mut headers.commands);
        let (free, mut is_full) = (&mut self.left, false);
        // Numbers are stored only for the main line of a replayed game.
        let has_numbers = line == 0 && self.behind.is_some();
        let left = self.reader.read(comment, mover, has_numbers.then_some(&mut numbers), |name, value| {
            if !is_all {
                return;
            }
            match free.checked_sub(BYTES_A_ROW) {
                Some(left) => *free = left,
                None => is_full = true,
            }
            if !is_full {
                place.commands += 1;
                let mut push = |piece: &str| Text::push(text, piece);
                let (name, value) = (push(name), push(value));
                commands.push(CommandRow { game, line, ply, number: place.commands, name, value });
            }
        });
        if is_all && !left.is_empty() {
            place.comments += 1;
            let comment = Text::push(text, left);
            headers.comments.push(CommentRow { game, line, ply, number: place.comments, comment });
        }
        if numbers != before {
            let row = row_of(game, ply, numbers);
            match headers.evals.last_mut().filter(|_| known.is_some()) {
                Some(last) => *last = row,
                None => headers.evals.push(row),
            }
        }
        if is_full {
            self.leave_out(offset, place.ply);
        }
        self.report_flaw(comment, offset, place.ply);
    }

    /// Reports a comment that contains U+FFFD, or bytes that are not text in a known encoding. Of a game's
    /// comments in an unknown encoding, only the first is reported.
    fn report_flaw(&mut self, comment: &[u8], offset: usize, ply: u32) {
        let Some(flaw) = TextFlaw::find(comment) else { return };
        if flaw.is_encoding && std::mem::replace(&mut self.is_encoding_reported, true) {
            return;
        }
        let (kind, offset, message) = (ProblemKind::InvalidText, offset + flaw.offset, flaw.to_string());
        self.problems.push(AnnotationProblem { kind, offset, ply, word_end: None, message });
    }

    /// Replays a variation and the variations in it, from the position and ply at which it branches off the
    /// main line.
    fn variation(
        &mut self,
        variation: Variation,
        text: &[u8],
        from: (Position, u32),
        headers: &mut HeaderBatch,
    ) {
        let mut lexer = variation.lexer(text);
        let Some(outermost) = self.open(0, from, lexer.offset(), headers) else { return };
        let mut levels = std::mem::take(&mut self.levels);
        levels.push(outermost);
        // The number of open brackets whose contents are ignored.
        let mut passed = 0_usize;
        loop {
            let token = lexer.next_annotated();
            let end = lexer.offset();
            let depth = levels.len();
            let Some(level) = levels.last_mut() else { break };
            match token {
                Token::End => break,
                Token::Annotation(Annotation::Opening) => {
                    if passed == 0 && depth == MOST_DEPTH {
                        self.leave_out(end, level.place.ply);
                    }
                    let is_read = passed == 0 && !level.is_broken && depth < MOST_DEPTH;
                    match is_read.then(|| self.open_nested(level, text, end, headers)).flatten() {
                        Some(opened) => levels.push(opened),
                        None => passed += 1,
                    }
                }
                Token::Annotation(Annotation::Closing) if passed > 0 => passed -= 1,
                Token::Annotation(Annotation::Closing) => {
                    if let Some(level) = levels.pop() {
                        self.close(level, headers);
                    }
                }
                _ if passed > 0 || level.is_broken => {}
                Token::Annotation(Annotation::Comment(comment)) => {
                    self.comment(comment, offset_in(text, comment), &mut level.place, None, headers);
                }
                Token::Annotation(Annotation::Nag(nag)) => self.nag(nag, end, level.place, headers),
                Token::Move(word) => {
                    if let Some(glued) = self.play(level, word, (text, end), headers) {
                        lexer.unread(word.len() - glued);
                        let end = end - word.len() + glued;
                        _ = self.play(level, &word[..glued], (text, end), headers);
                    }
                }
                Token::Junk(word) if is_meant_as_move(word, text, end) => {
                    self.break_off(level, word, end, SanError::Unreadable);
                }
                Token::Junk(word) => self.unknown_word(level, word, end),
                _ => {}
            }
        }
        while let Some(level) = levels.pop() {
            self.close(level, headers);
        }
        self.levels = levels;
    }

    /// Opens a variation that branches off at `from`, if it fits within the limit.
    fn open(
        &mut self,
        parent_line: u32,
        from: (Position, u32),
        offset: usize,
        headers: &mut HeaderBatch,
    ) -> Option<Level> {
        if !self.fits(0, offset, from.1) {
            return None;
        }
        self.lines += 1;
        let (line, ply) = (self.lines, from.1);
        headers.variations.push(VariationRow { game: self.game, line, parent_line, ply: Ply(ply) });
        let (place, rows) = (LineLocation { line, ply, ..LineLocation::default() }, headers.game_rows());
        Some(Level { place, position: from.0.clone(), before: from, last_move: None, is_broken: false, rows })
    }

    /// Opens a variation within the variation `level`. The text of the new variation begins at `start`.
    fn open_nested(
        &mut self,
        level: &Level,
        text: &[u8],
        start: usize,
        headers: &mut HeaderBatch,
    ) -> Option<Level> {
        let mut from = level.before.clone();
        if is_numbered_as_next(&text[start..], &from.0, &level.position) {
            from = (level.position.clone(), level.place.ply);
        }
        self.open(level.place.line, from, start, headers)
    }

    /// Closes a variation, and marks mate in its last move. A variation without moves and annotations is not stored.
    fn close(&mut self, level: Level, headers: &mut HeaderBatch) {
        let Level { position, last_move, rows, .. } = level;
        if let Some(last) = last_move {
            let row = &mut headers.variation_moves[last];
            row.move_code = position.mark_mate(row.move_code);
        } else if rows == headers.game_rows() {
            headers.variations.pop();
            self.lines -= 1;
        }
    }

    /// Plays a move of a variation. If the word is a move that is followed without a space by other text,
    /// plays nothing and returns the length of the move.
    fn play(
        &mut self,
        level: &mut Level,
        word: &[u8],
        (text, end): (&[u8], usize),
        headers: &mut HeaderBatch,
    ) -> Option<usize> {
        const FEN: usize = 80;
        if !self.fits(FEN, end - word.len(), level.place.ply) {
            level.is_broken = true;
            return None;
        }
        let mut after = level.position.clone();
        match after.play_san(word) {
            Ok(move_code) => {
                level.before = (std::mem::replace(&mut level.position, after), level.place.ply);
                level.place.go_to(level.place.ply + 1);
                level.last_move = Some(headers.variation_moves.len());
                let (position, LineLocation { line, ply, .. }) = (&level.position, level.place);
                let fen = push_fen(&mut headers.text, position);
                headers.variation_moves.push(VariationMoveRow {
                    game: self.game,
                    line,
                    ply: Ply(ply),
                    key: position.key(),
                    halfmove_clock: position.halfmove_clock(),
                    move_code,
                    fen,
                });
            }
            Err(error) => match glued_move(word).filter(|&length| length < word.len()) {
                Some(length) => return Some(length),
                None if error == SanError::Unreadable && !is_meant_as_move(word, text, end) => {
                    self.unknown_word(level, word, end);
                }
                None => self.break_off(level, word, end, error),
            },
        }
        None
    }

    /// Reports an unknown word, unless it is a usual remark of annotators or too many problems have been
    /// reported.
    fn unknown_word(&mut self, level: &Level, word: &[u8], end: usize) {
        if is_remark(word) || self.problems.len() >= MOST_PROBLEMS {
            return;
        }
        let (kind, offset, ply) = (ProblemKind::UnknownToken, end - word.len(), level.place.ply);
        let message =
            format!("in a variation: \"{}\" is not valid movetext; ignored", shown(word).escape_debug());
        self.problems.push(AnnotationProblem { kind, offset, ply, word_end: Some(end), message });
    }

    /// Reports a word that cannot be played. The variation ends before it.
    fn break_off(&mut self, level: &mut Level, word: &[u8], end: usize, reason: SanError) {
        level.is_broken = true;
        let position = &level.position;
        let dots = if position.side() == Color::White { "." } else { "..." };
        let message = format!(
            "in a variation: {}{dots}{}: {reason} in {}; the variation ends before it",
            position.fullmove_number(),
            shown(word),
            position.fen()
        );
        let (kind, offset, ply) = (ProblemKind::VariationMove, end - word.len(), level.place.ply);
        self.problems.push(AnnotationProblem { kind, offset, ply, word_end: Some(end), message });
    }
}

/// Whether a variation begins with the move number of the position `after`, and not with that of the position
/// `before`. The last move led from `before` to `after`. Some programs write a variation before the move that
/// it replaces.
fn is_numbered_as_next(variation: &[u8], before: &Position, after: &Position) -> bool {
    let text = variation.trim_ascii_start();
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let dots = text[digits..].iter().take_while(|&&byte| byte == b'.').count();
    let number = std::str::from_utf8(&text[..digits]).ok().and_then(|digits| digits.parse::<u32>().ok());
    let Some(number) = number.filter(|_| dots > 0) else { return false };
    let side = if dots > 1 { Color::Black } else { Color::White };
    let fits = |position: &Position| position.fullmove_number() == number && position.side() == side;
    fits(after) && !fits(before)
}

/// Adds a position's canonical FEN to a batch's text.
fn push_fen(text: &mut String, position: &Position) -> Text {
    let mut space = [0; MAX_CANONICAL_FEN];
    let length = FenText::new(position).write_at_end(position, &mut space);
    let fen = std::str::from_utf8(&space[MAX_CANONICAL_FEN - length..]).expect("a FEN is in ASCII");
    Text::push(text, fen)
}

fn offset_in(text: &[u8], part: &[u8]) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

fn numbers_of(row: EvalRow) -> MoveNumbers {
    let EvalRow { clock, elapsed, eval_cp, eval_mate, depth, .. } = row;
    MoveNumbers { clock, elapsed, eval: Eval::from_columns(eval_cp, eval_mate), depth }
}

fn row_of(game: GameId, ply: Ply, numbers: MoveNumbers) -> EvalRow {
    let MoveNumbers { clock, elapsed, eval, depth } = numbers;
    let (eval_cp, eval_mate) = Eval::columns(eval);
    EvalRow { game, ply, clock, elapsed, eval_cp, eval_mate, depth }
}
