//! Parses a chunk of PGN text into replayed games: the first half of a worker's work.

use std::ops::Range;

use crate::board::{FenText, GameResult, MoveCode, Position, SanError, Setup, ShortMove};
use crate::id::OpeningId;
use crate::index::game::annotate::{AnnotationProblem, Annotator};
use crate::index::game::batch::{Extent, GameBatch, ReadGame, Start};
use crate::index::game::header::Header;
use crate::index::game::signature::{Comparison, Pairing};
use crate::index::game::signature::{PREFIX_PLIES, mix, mix_text};
use crate::index::game::word::{glued_move, is_meant_as_move, may_be_move, notation_of, shorten, shown};
use crate::index::options::Annotations;
use crate::index::problem::ProblemKind;
use crate::index::read::lines::LineCounter;
use crate::index::visited_position::counted_game::CountedGame;
use crate::opening::OpeningBook;
use crate::pgn::{
    Annotation, FrameProblem, MOST_TAGS, Reader, TagPair, Token, decode, is_known_variant, is_remark,
};
use crate::store::row::{GameId, GameNames, GameRow, GameStatus, Ply, ProblemRow, SourceId};

/// Parses the games of one chunk, batch by batch.
pub(crate) struct ChunkParser<'a> {
    text: &'a [u8],
    source: SourceId,
    /// The offset of the chunk in its source.
    base: u64,
    reader: Reader<'a>,
    tags: Vec<TagPair<'a>>,
    frame: Vec<FrameProblem>,
    lines: LineCounter,
    /// How many warnings of the current game may still be reported.
    warnings_left: u32,
    /// The first ignored word of the current game that may have been a move.
    doubtful: Option<SuspectWord>,
    start: &'a Position,
    openings: &'a OpeningBook,
    /// Whether games with an error are omitted.
    leave_out: bool,
    /// How games are compared; `None` if they are not compared.
    comparison: Option<&'a Comparison>,
    annotator: Annotator,
}

/// The maximum number of warnings per game: garbage must not fill the database.
const MOST_WARNINGS: u32 = 100;

/// The maximum number of stored plies per game: garbage must not fill the memory.
const MOST_PLIES: usize = 1 << 22;

struct SuspectWord {
    word: String,
    offset: usize,
}

/// The end of a game's movetext.
struct Ending {
    status: GameStatus,
    result: Option<GameResult>,
    /// The range of the result in the chunk, in bytes.
    result_at: Range<usize>,
    /// The opening of the last position that has a name.
    opening: Option<OpeningId>,
}

impl<'a> ChunkParser<'a> {
    /// A parser for a chunk that begins `base` bytes into its source and was cut at the first boundary after
    /// `size` bytes. `start` is the standard start position.
    pub(crate) fn new(
        text: &'a [u8],
        size: usize,
        source: SourceId,
        base: u64,
        start: &'a Position,
        openings: &'a OpeningBook,
    ) -> Self {
        Self {
            text,
            source,
            base,
            reader: Reader::from_chunk(text, size),
            tags: Vec::new(),
            frame: Vec::new(),
            lines: LineCounter::default(),
            warnings_left: MOST_WARNINGS,
            doubtful: None,
            start,
            openings,
            leave_out: false,
            comparison: None,
            annotator: Annotator::new(Annotations::None),
        }
    }

    /// Prepares games for comparison.
    pub(crate) const fn comparing(mut self, comparison: &'a Comparison) -> Self {
        self.comparison = Some(comparison);
        self
    }

    /// Sets the annotations to store.
    pub(crate) fn annotating(mut self, kept: Annotations) -> Self {
        self.annotator = Annotator::new(kept);
        self
    }

    /// Sets whether games with an error are omitted.
    pub(crate) const fn leaving_out(mut self, yes: bool) -> Self {
        self.leave_out = yes;
        self
    }

    /// The number of bytes of the chunk read so far.
    pub(crate) const fn offset(&self) -> usize {
        self.reader.offset()
    }

    /// The number of line ends in the whole chunk.
    pub(crate) fn line_count(&mut self) -> u64 {
        self.lines.at(self.text, self.text.len()).0
    }

    /// Reads games into `batch`, which is cleared first, until it is full. Returns whether the end of the
    /// chunk is reached.
    pub(crate) fn parse_batch(&mut self, batch: &mut GameBatch) -> bool {
        batch.clear();
        while !batch.is_full() {
            self.frame.clear();
            self.warnings_left = MOST_WARNINGS;
            self.doubtful = None;
            let (before, errors) = (Extent::from_batch(batch), batch.errors);
            let found = self.reader.next_game(&mut self.tags, &mut self.frame);
            for index in 0..self.frame.len() {
                self.frame_problem(self.frame[index], found, batch);
            }
            if !found {
                return true;
            }
            self.game(batch);
            batch.read += 1;
            batch.last_game = Some(self.base + self.reader.game_start() as u64);
            if batch.errors > errors {
                let start = self.reader.game_start();
                let end = start + self.text[start..self.reader.offset()].trim_ascii_end().len();
                batch.rejects.push(start..end);
                if self.leave_out {
                    before.restore(batch);
                }
            }
        }
        false
    }

    fn game(&mut self, batch: &mut GameBatch) {
        let begin = self.reader.game_start();
        #[cfg(test)]
        assert!(!self.text[begin..].starts_with(crate::index::tests::PANIC.as_bytes()), "a test asks for it");
        let game = GameId(batch.game_count());
        let mut tag_problems = Vec::new();
        let mut header = Header::read(&self.tags, &self.reader, game, batch, &mut tag_problems);
        for (offset, kind, token, reason) in tag_problems {
            self.problem(batch, kind, offset, Some(game), None, Some(&token), &format!("{token}: {reason}"));
        }
        let first_code = batch.codes.len();
        let start = self.start_position(&mut header, game, batch);
        let ending = match start {
            Start::Standard => self.replay_game(self.start, &mut header, batch),
            Start::Setup => {
                let position = batch.setups.last().expect("the set-up just added").clone();
                self.replay_game(&position, &mut header, batch)
            }
            Start::Nowhere => self.skip_game(&mut header.row, batch),
        };
        let status = self.status(&mut header, ending.status, batch.codes.len() - first_code, batch);
        let end = self.reader.offset();
        let length = self.text[begin..end].trim_ascii_end().len();
        let mut row = header.row;
        row.source = self.source;
        row.byte_offset = self.base + begin as u64;
        row.byte_length = length as u64;
        row.status = status;
        row.opening = ending.opening;
        row.result = self.result(&header, &ending, game, begin + length, batch);
        row.ply_count = u32::try_from(batch.codes.len() - first_code).unwrap_or(u32::MAX);
        let pairing = pairing(&header.names, &row, &batch.headers.text);
        (row.moves_hash, row.prefix_hash) = moves_hashes(batch, start, self.start, first_code, pairing);
        self.sign(&header.names, &mut row, first_code, batch);
        batch.games.push(ReadGame {
            names: header.names,
            line: self.lines.at(self.text, begin).0,
            number: batch.read + 1,
            counted: CountedGame::of(&row, &batch.headers.text),
            moves: batch.codes.len() - first_code,
            start,
        });
        batch.headers.games.push(row);
    }

    /// Adds the data for comparing the game.
    fn sign(&self, names: &GameNames, row: &mut GameRow, first_code: usize, batch: &mut GameBatch) {
        let Some(comparison) = self.comparison else {
            batch.signatures.push_none();
            return;
        };
        row.moves_hash = comparison.hash.narrow(row.moves_hash);
        row.prefix_hash = row.prefix_hash.map(|hash| comparison.hash.narrow(hash));
        let text = &batch.headers.text;
        let (date, result) = (row.date.map(|date| date.of(text)), row.result);
        let pairing = names.white.zip(names.black).map(|(white, black)| Pairing {
            white: white.of(text),
            black: black.of(text),
            date,
            result,
        });
        let moves = batch.codes[first_code..].iter().map(|&code| ShortMove::new(code));
        let start_fen = row.start_fen.map(|fen| fen.of(text));
        batch.signatures.push(comparison, row.status, start_fen, moves, pairing);
    }

    /// The start position from the tags; a set-up position is added to the batch.
    fn start_position(&mut self, header: &mut Header, game: GameId, batch: &mut GameBatch) -> Start {
        if let Some(variant) = header.row.variant
            && !is_known_variant(variant.of(&batch.headers.text))
        {
            let name = variant.of(&batch.headers.text).to_owned();
            let message = format!("variant \"{name}\" is not supported: moves are skipped, tags are kept");
            self.problem_at_tag("Variant", batch, ProblemKind::UnsupportedVariant, game, &name, &message);
            return Start::Nowhere;
        }
        let Some(fen) = header.fen else { return Start::Standard };
        match Position::from_fen(fen.of(&batch.headers.text).as_bytes()) {
            Ok((position, _)) if position == *self.start => Start::Standard,
            Ok((position, _)) => {
                let start_fen = position.fen();
                let crowded =
                    Setup::parse_placement(start_fen.as_bytes()).ok().and_then(|setup| setup.crowded());
                if let Some((color, count)) = crowded {
                    let message =
                        format!("start position: {} has {count} pieces, more than 16", color.name());
                    self.problem_at_tag("FEN", batch, ProblemKind::ManyPieces, game, &start_fen, &message);
                }
                header.row.start_fen = Some(batch.headers.push_text(&start_fen));
                batch.setups.push(position);
                Start::Setup
            }
            Err(error) => {
                let fen = fen.of(&batch.headers.text).to_owned();
                let message = format!("start position: {error}; no move of the game can be played");
                self.problem_at_tag("FEN", batch, ProblemKind::InvalidFen, game, &fen, &message);
                header.keep("FEN", &fen, batch);
                Start::Nowhere
            }
        }
    }

    /// Plays the game's moves from `start`, and adds their codes and the rows of its annotations to the
    /// batch.
    fn replay_game(&mut self, start: &Position, header: &mut Header, batch: &mut GameBatch) -> Ending {
        let (row, both_lost) = (&mut header.row, header.both_lost);
        if !self.annotator.is_on() {
            return self.replay::<false>(start, row.game, both_lost, batch);
        }
        self.annotator.begin(row.game, true, &batch.headers);
        for &annotation in self.reader.leading() {
            let text = (self.text, self.reader.offset());
            self.annotator.take(annotation, text, (&[], start), start, &mut batch.headers);
        }
        let ending = self.replay::<true>(start, row.game, both_lost, batch);
        self.end_annotations(row, batch);
        ending
    }

    fn end_annotations(&mut self, row: &mut GameRow, batch: &mut GameBatch) {
        let (evals, clocks) = self.annotator.end(&mut batch.headers);
        (row.eval_count, row.clock_count) = (Some(evals), Some(clocks));
        self.report_annotation_problems(row.game, batch);
    }

    /// Skips a game that cannot be replayed. If its rules are known and annotations are stored, all comments
    /// outside variations are stored at ply 0.
    fn skip_game(&mut self, row: &mut GameRow, batch: &mut GameBatch) -> Ending {
        let variant = row.variant.map(|variant| variant.of(&batch.headers.text));
        let is_read = self.annotator.is_on() && variant.is_none_or(is_known_variant);
        let mut leading = self.reader.leading().to_vec().into_iter();
        if is_read {
            self.annotator.begin(row.game, false, &batch.headers);
        }
        let (mut result, mut result_at) = (None, 0..0);
        loop {
            let annotation = match leading.next() {
                Some(annotation) => Some(annotation),
                None if result_at.is_empty() => match self.reader.next::<true>() {
                    Token::Annotation(annotation) => Some(annotation),
                    token @ (Token::Result(_) | Token::End) => {
                        result = if let Token::Result(result) = token { Some(result) } else { None };
                        result_at = self.reader.token_start()..self.reader.offset();
                        if result.is_none() {
                            break;
                        }
                        None
                    }
                    _ => None,
                },
                None => match self.reader.trailing() {
                    None => break,
                    annotation => annotation,
                },
            };
            if let Some(annotation @ Annotation::Comment(_)) = annotation.filter(|_| is_read) {
                let text = (self.text, self.reader.offset());
                self.annotator.take(annotation, text, (&[], self.start), self.start, &mut batch.headers);
            }
        }
        if is_read {
            self.end_annotations(row, batch);
        }
        Ending { status: GameStatus::Skipped, result, result_at, opening: None }
    }

    /// How much of the game could be replayed. A game exported by this program has a tag that states which
    /// part is missing.
    fn status(
        &self,
        header: &mut Header,
        status: GameStatus,
        plies: usize,
        batch: &mut GameBatch,
    ) -> GameStatus {
        let Some(told) = header.truncated.take() else { return status };
        let told = told.of(&batch.headers.text);
        let plies = u32::try_from(plies).unwrap_or(u32::MAX);
        let is_told = |status: &GameStatus| status.loss(plies).is_some_and(|loss| loss == told);
        let truncated = GameStatus::Truncated;
        match status {
            GameStatus::Ok | GameStatus::Truncated if is_told(&truncated) => truncated,
            GameStatus::Skipped if is_told(&status) => status,
            _ => {
                let value = told.to_owned();
                header.keep(GameStatus::LOSS_TAG, &value, batch);
                status
            }
        }
    }

    fn replay<const ANNOTATED: bool>(
        &mut self,
        start: &Position,
        game: GameId,
        both_lost: bool,
        batch: &mut GameBatch,
    ) -> Ending {
        let first = batch.codes.len();
        let mut position = start.clone();
        let mut status = GameStatus::Ok;
        let mut opening = self.openings.find(&position);
        let mut double_loss = None;
        let result = loop {
            match self.reader.next::<ANNOTATED>() {
                Token::Move(_) if batch.codes.len() - first == MOST_PLIES => {
                    let message = format!("more than {MOST_PLIES} plies: the rest is left out");
                    let offset = self.reader.offset();
                    self.problem(
                        batch,
                        ProblemKind::LongGame,
                        offset,
                        Some(game),
                        Some(MOST_PLIES),
                        None,
                        &message,
                    );
                    status = GameStatus::Truncated;
                    break self.skip_moves();
                }
                // This is checked before the move is played, because `0-0` may also be legal castling.
                Token::Move(token) if both_lost && self.is_double_loss(token, both_lost) => {
                    double_loss = Some(self.end_in_double_loss(token));
                    break Some(GameResult::Unknown);
                }
                Token::Move(token) => match position.play_san(token) {
                    Ok(code) => {
                        batch.codes.push(code);
                        opening = self.openings.find(&position).or(opening);
                    }
                    Err(error) => {
                        let ply = batch.codes.len() - first;
                        if self.is_double_loss(token, both_lost) {
                            double_loss = Some(self.end_in_double_loss(token));
                            break Some(GameResult::Unknown);
                        }
                        if let Ok(code) = self.play_glued(token, error, &mut position, game, ply, batch) {
                            batch.codes.push(code);
                            opening = self.openings.find(&position).or(opening);
                        } else if self.unplayable(token, error, &position, game, ply, batch) {
                            status = GameStatus::Truncated;
                            break self.skip_moves();
                        }
                    }
                },
                Token::Junk(word) if is_meant_as_move(word, self.text, self.reader.offset()) => {
                    let ply = batch.codes.len() - first;
                    self.unplayable(word, SanError::Unreadable, &position, game, ply, batch);
                    status = GameStatus::Truncated;
                    break self.skip_moves();
                }
                Token::Result(result) => break Some(result),
                Token::End => break None,
                Token::Annotation(annotation) => {
                    let played = (&batch.codes[first..], &position);
                    let text = (self.text, self.reader.offset());
                    self.annotator.take(annotation, text, played, start, &mut batch.headers);
                }
                other => {
                    if self.oddity(other, game, batch.codes.len() - first, batch) {
                        status = GameStatus::Truncated;
                    }
                }
            }
        };
        let result_at = double_loss.unwrap_or(self.reader.token_start()..self.reader.offset());
        while let Some(annotation) = self.reader.trailing() {
            // NAGs and variations belong to a move, which may be lost.
            let is_kept = status == GameStatus::Ok || matches!(annotation, Annotation::Comment(_));
            if ANNOTATED && is_kept {
                let played = (&batch.codes[first..], &position);
                let text = (self.text, self.reader.offset());
                self.annotator.take(annotation, text, played, start, &mut batch.headers);
            }
        }
        if batch.codes.len() == first && status == GameStatus::Ok && self.all_moves_lost(game, batch) {
            status = GameStatus::Truncated;
        }
        if batch.codes.len() > first && position.is_check() && !position.has_legal_move() {
            let last = batch.codes.len() - 1;
            batch.codes[last] = batch.codes[last].with_mate();
        }
        Ending { status, result, result_at, opening }
    }

    fn report_annotation_problems(&mut self, game: GameId, batch: &mut GameBatch) {
        for problem in std::mem::take(&mut self.annotator.problems) {
            let AnnotationProblem { kind, offset, ply, word_end, message } = problem;
            let token = word_end.map(|end| shown(&self.text[offset..end]));
            self.problem(batch, kind, offset, Some(game), Some(ply), token.as_deref(), &message);
        }
    }

    /// Whether the word just read, which may be castling, is the result of a game that both players lost. If
    /// castling is legal, the result tag decides.
    fn is_double_loss(&self, token: &[u8], both_lost: bool) -> bool {
        let is_result = GameResult::read_scores(token) == Some((GameResult::Unknown, token.len()));
        token[0] == b'0'
            && (is_result || (both_lost && token == b"00"))
            && self.reader.is_at_last_token(both_lost)
    }

    /// Ends the game with the word just read. Returns the place of the word.
    fn end_in_double_loss(&mut self, token: &[u8]) -> Range<usize> {
        self.reader.end_game();
        self.reader.offset() - token.len()..self.reader.offset()
    }

    fn skip_moves(&mut self) -> Option<GameResult> {
        loop {
            match self.reader.next_token() {
                Token::Result(result) => return Some(result),
                Token::End => return None,
                _ => {}
            }
        }
    }

    /// Plays a move that is followed by the next move, a move number or the result without a space (`Nf3Nc6`,
    /// `d62.`, `Qd61-0`), and splits the two.
    #[cold]
    fn play_glued(
        &mut self,
        token: &[u8],
        error: SanError,
        position: &mut Position,
        game: GameId,
        ply: usize,
        batch: &mut GameBatch,
    ) -> Result<MoveCode, SanError> {
        let length = glued_move(token).filter(|_| error == SanError::Unreadable).ok_or(error)?;
        let code = position.play_san(&token[..length])?;
        let (shown, played) = (shown(token), decode(&token[..length]));
        let message = format!("no space after the move: \"{shown}\" begins with {played}");
        let offset = self.reader.offset() - token.len();
        self.problem(batch, ProblemKind::MissingSpace, offset, Some(game), Some(ply), Some(&shown), &message);
        self.reader.unread(token.len() - length);
        Ok(code)
    }

    /// Reports a token that is not a playable move. Returns whether the game ends with it.
    #[cold]
    fn unplayable(
        &mut self,
        token: &[u8],
        error: SanError,
        position: &Position,
        game: GameId,
        ply: usize,
        batch: &mut GameBatch,
    ) -> bool {
        let kind = match error {
            SanError::Unreadable if !is_meant_as_move(token, self.text, self.reader.offset()) => {
                return self.unknown_token(token, game, ply, batch);
            }
            SanError::Unreadable => ProblemKind::UnreadableMove,
            SanError::Ambiguous => ProblemKind::AmbiguousMove,
            _ => ProblemKind::IllegalMove,
        };
        let shown = shown(token);
        let dots = if position.side() == crate::board::Color::White { "." } else { "..." };
        let number = position.fullmove_number();
        let notation = if error == SanError::Unreadable { notation_of(token) } else { "" };
        let message = format!("{number}{dots}{shown}: {error}{notation} in {}", position.fen());
        let offset = self.reader.offset() - token.len();
        self.problem(batch, kind, offset, Some(game), Some(ply), Some(&shown), &message);
        true
    }

    /// Reports a token that is neither a move nor a result. Returns whether moves may be lost because of it.
    #[cold]
    fn oddity(&mut self, token: Token<'_>, game: GameId, ply: usize, batch: &mut GameBatch) -> bool {
        let offset = self.reader.token_start();
        let (kind, message) = match token {
            Token::Junk(word) => return self.unknown_token(word, game, ply, batch),
            Token::UnclosedComment => (
                ProblemKind::UnclosedComment,
                "a comment is not closed before the game ends: everything after its opening brace is lost",
            ),
            Token::UnclosedVariation => (
                ProblemKind::UnclosedVariation,
                "a variation is not closed before the game ends: everything after its opening bracket is lost",
            ),
            Token::StrayOpening => (
                ProblemKind::StrayOpening,
                "a variation before the first move is not closed: the bracket is ignored",
            ),
            _ => (ProblemKind::StrayClosing, "a closing bracket without an opening one"),
        };
        self.problem(batch, kind, offset, Some(game), Some(ply), None, message);
        matches!(kind, ProblemKind::UnclosedComment | ProblemKind::UnclosedVariation)
    }

    /// If a game has no moves because possible moves were ignored, reports that and returns `true`.
    fn all_moves_lost(&mut self, game: GameId, batch: &mut GameBatch) -> bool {
        let Some(SuspectWord { word, offset }) = self.doubtful.take() else { return false };
        let message = format!(
            "no move of the game can be read; the first word that may be one is \"{}\"",
            word.escape_debug()
        );
        self.problem(batch, ProblemKind::UnreadableMove, offset, Some(game), Some(0), Some(&word), &message);
        true
    }

    fn unknown_token(&mut self, token: &[u8], game: GameId, ply: usize, batch: &mut GameBatch) -> bool {
        if !is_remark(token) {
            let shown = shown(token);
            if self.doubtful.is_none() && may_be_move(&shown) {
                let offset = self.reader.offset() - token.len();
                self.doubtful = Some(SuspectWord { word: shown.clone().into_owned(), offset });
            }
            let message = format!("\"{}\" is not part of movetext: ignored", shown.escape_debug());
            let offset = self.reader.offset() - token.len();
            self.problem(
                batch,
                ProblemKind::UnknownToken,
                offset,
                Some(game),
                Some(ply),
                Some(&shown),
                &message,
            );
        }
        false
    }

    /// The game's result: the result in the tag or, if the tag has no known result, the result after the moves.
    fn result(
        &mut self,
        header: &Header,
        ending: &Ending,
        game: GameId,
        end: usize,
        batch: &mut GameBatch,
    ) -> GameResult {
        let tag = header.result;
        match ending.result {
            None if ending.status == GameStatus::Ok => {
                let message = "no result after the moves: the tag's result is used";
                self.problem(batch, ProblemKind::MissingResult, end, Some(game), None, None, message);
            }
            Some(token) if tag.is_some_and(|tag| tag != token) => {
                let tag = tag.unwrap_or_default().as_str();
                let message = format!("the tag says {tag}, the moves end in {}", token.as_str());
                let Range { start: at, end } = ending.result_at;
                let shown = shown(&self.text[at..end]);
                self.problem(
                    batch,
                    ProblemKind::ResultMismatch,
                    at,
                    Some(game),
                    None,
                    Some(&shown),
                    &message,
                );
            }
            _ => {}
        }
        match tag {
            None | Some(GameResult::Unknown) => ending.result.or(tag).unwrap_or_default(),
            Some(tag) => tag,
        }
    }

    fn frame_problem(&mut self, problem: FrameProblem, in_game: bool, batch: &mut GameBatch) {
        let game = in_game.then(|| GameId(batch.game_count()));
        match problem {
            FrameProblem::UnclosedTag { offset } => {
                let message = "a tag pair lacks its closing quote or bracket; its value was taken to be the rest of the line";
                self.problem(batch, ProblemKind::UnclosedTag, offset, game, None, None, message);
            }
            FrameProblem::UnquotedTag { offset } => {
                let message = "the value of a tag pair has no quotes; it was read up to the closing bracket";
                self.problem(batch, ProblemKind::UnclosedTag, offset, game, None, None, message);
            }
            FrameProblem::DamagedTag { offset } => {
                let message = "a line among the tags is not a tag pair: ignored";
                self.problem(batch, ProblemKind::InvalidTag, offset, game, None, None, message);
            }
            FrameProblem::TooManyTags { offset } => {
                let message = format!("more than {MOST_TAGS} tag pairs: the others are ignored");
                self.problem(batch, ProblemKind::LongTags, offset, game, None, None, &message);
            }
            FrameProblem::Outside { offset } => {
                let message = "text outside games: ignored";
                self.problem(batch, ProblemKind::OutsideText, offset, None, None, None, message);
            }
        }
    }

    /// Reports a problem with a tag that determines the start position of a game.
    fn problem_at_tag(
        &mut self,
        tag: &str,
        batch: &mut GameBatch,
        kind: ProblemKind,
        game: GameId,
        token: &str,
        message: &str,
    ) {
        let last = self.tags.iter().rfind(|pair| pair.name.eq_ignore_ascii_case(tag.as_bytes()));
        let offset = last.map_or(self.reader.game_start(), |pair| pair.offset);
        self.problem(batch, kind, offset, Some(game), None, Some(token), message);
    }

    #[allow(clippy::too_many_arguments)]
    fn problem(
        &mut self,
        batch: &mut GameBatch,
        kind: ProblemKind,
        offset: usize,
        game: Option<GameId>,
        ply: Option<usize>,
        token: Option<&str>,
        message: &str,
    ) {
        use crate::store::row::Severity;
        let mut message = shorten(message);
        // Games of unsupported variants are counted by problems of this kind, so none of these may be left out.
        if kind.severity() == Severity::Warning && kind != ProblemKind::UnsupportedVariant {
            let Some(left) = self.warnings_left.checked_sub(1) else { return };
            self.warnings_left = left;
            if left == 0 {
                message.to_mut().push_str("; further warnings about this game are not recorded");
            }
        }
        let (line, column) = self.lines.at(self.text, offset);
        *(match kind.severity() {
            Severity::Error => &mut batch.errors,
            Severity::Warning => &mut batch.warnings,
        }) += 1;
        let row = ProblemRow {
            source: self.source,
            byte_offset: self.base + offset as u64,
            line,
            column,
            game_number: game.map_or(0, |_| batch.read + 1),
            game,
            ply: ply.map(|ply| Ply(u32::try_from(ply).unwrap_or(u32::MAX))),
            token: token.map(|token| batch.headers.push_text(&shorten(token))),
            kind: kind.as_str(),
            severity: kind.severity(),
            message: batch.headers.push_text(&message),
        };
        batch.headers.problems.push(row);
    }
}

/// A hash of both players and the date; `None` if a player is unknown.
fn pairing(names: &GameNames, row: &GameRow, text: &str) -> Option<u64> {
    let (white, black) = names.white.zip(names.black)?;
    Some(pairing_hash(white.of(text), black.of(text), row.date.map(|date| date.of(text))))
}

/// A hash of both players and the date.
pub(crate) fn pairing_hash(white: &str, black: &str, date: Option<&str>) -> u64 {
    let hash = mix_text(mix_text(0, white), black);
    mix_text(hash, date.unwrap_or_default())
}

/// A hash of start position and moves, and a hash of the first moves and `pairing`.
fn moves_hashes(
    batch: &GameBatch,
    start: Start,
    standard: &Position,
    first_code: usize,
    pairing: Option<u64>,
) -> (u64, Option<u64>) {
    let seed = match start {
        Start::Standard => standard.key().0,
        Start::Setup => batch.setups.last().map_or(0, |position| position.key().0),
        Start::Nowhere => 0,
    };
    let codes = &batch.codes[first_code..];
    let prefix_hash = pairing.and_then(|pairing| prefix_hash(seed, codes, pairing));
    (codes.iter().copied().fold(seed, mix_move), prefix_hash)
}

/// A hash of the first moves of a game and of its `pairing`, starting from the key of its start position;
/// `None` if the game has fewer than `PREFIX_PLIES` plies.
pub(crate) fn prefix_hash(start: u64, codes: &[MoveCode], pairing: u64) -> Option<u64> {
    let first = codes.get(..PREFIX_PLIES)?;
    Some(mix(first.iter().copied().fold(start, mix_move), pairing))
}

/// Adds a move to a game's hash, which starts from the key of its start position. The marks of check and mate
/// are left out, because they follow from the moves.
pub(crate) fn mix_move(hash: u64, code: MoveCode) -> u64 {
    mix(hash, u64::from(code.model().bits()))
}

/// The standard start position and its placement as text, computed once.
#[derive(Debug)]
pub(crate) struct Standard {
    pub(crate) position: Position,
    pub(crate) fen: FenText,
}

impl Standard {
    pub(crate) fn new() -> Self {
        let position = Position::start();
        let fen = FenText::new(&position);
        Self { position, fen }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The moves and the kinds of problems of the first game.
    fn first_game(text: &[u8]) -> (Vec<String>, Vec<&'static str>, GameResult) {
        let (start, openings) = (Position::start(), OpeningBook::built_in());
        let mut batch = GameBatch::default();
        let mut parser = ChunkParser::new(text, text.len(), SourceId(1), 0, &start, &openings);
        parser.parse_batch(&mut batch);
        let moves = &batch.codes[..batch.games[0].moves];
        let kinds = batch.headers.problems.iter().map(|problem| problem.kind).collect();
        (moves.iter().map(|code| code.uci(None).to_string()).collect(), kinds, batch.headers.games[0].result)
    }

    #[test]
    fn moves_are_split_from_numbers_and_results_without_a_space() {
        let (moves, kinds, result) = first_game(b"1. e4 d62. Nf3 Nf63. Nc3 g610. d4 Bg71/2-1/2\n\n1. d4 *");
        assert_eq!(moves, ["e2e4", "d7d6", "g1f3", "g8f6", "b1c3", "g7g6", "d2d4", "f8g7"]);
        assert_eq!(kinds, ["missing-space"; 4]);
        assert_eq!(result, GameResult::Draw);
        let (moves, kinds, _) = first_game(b"1. e4 Nx2. Nf3 *");
        assert_eq!((moves.len(), kinds), (1, vec!["unreadable-move"]));
    }

    #[test]
    fn moves_in_other_languages_end_the_replay() {
        for text in ["1. Sf3 Sf6 2. d4 d5 *", "1. \u{41a}f3 d5 *", "1. Tg1-f3 d5 *"] {
            let (moves, kinds, _) = first_game(format!("[Event \"a\"]\n\n{text}").as_bytes());
            assert_eq!((moves.len(), kinds), (0, vec!["unreadable-move"]), "{text}");
        }
        let (moves, kinds, _) = first_game(b"1. e4 see above e5 *");
        assert_eq!((moves.len(), kinds), (2, vec!["unknown-token"; 2]));
    }

    #[test]
    fn a_text_may_end_within_a_character() {
        for text in [&b"1. e4 e5 \xe2\x80"[..], b"1. e4 e5 \xe2", b"1. e4 e5 \xc2", b"1. e4 e5 \xef\xbb"] {
            assert_eq!(first_game(text).0, ["e2e4", "e7e5"], "{}", text.escape_ascii());
        }
    }

    #[test]
    fn non_ascii_characters_are_skipped() {
        let text = "1. e4\u{203c} e5\u{2047} 2. Nf3\u{2049} Nc6\u{2048} 3. Bb5\u{25a1} a6= 4. Ba4\u{221e} *";
        let (moves, kinds, _) = first_game(text.as_bytes());
        assert_eq!((moves.len(), kinds.len()), (7, 0));
    }

    #[test]
    fn very_long_games_are_truncated() {
        let text = format!("{} *", "Nf3 Nf6 Ng1 Ng8 ".repeat(MOST_PLIES / 4));
        let (moves, kinds, _) = first_game(text.as_bytes());
        assert_eq!((moves.len(), kinds.len()), (MOST_PLIES, 0));
        let (moves, kinds, _) = first_game(format!("Nf3 Nf6 Ng1 Ng8 {text}").as_bytes());
        assert_eq!((moves.len(), kinds), (MOST_PLIES, vec!["long-game"]));
    }
}
