//! Replays the moves of a game, and reports what cannot be played.

use crate::board::{Color, GameResult, MoveCode, Position, SanError};
use crate::index::ProblemKind;
use crate::index::game::parse::{Ending, Subject, SuspectWord};
use crate::index::game::{
    AnnotationProblem, ChunkParser, GameBatch, glued_move, is_meant_as_move, may_be_move, notation_of, shown,
};
use crate::pgn::{Annotation, Token, decode, is_known_variant, is_remark};
use crate::store::row::{GameRow, GameStatus};

/// The maximum number of stored plies per game: garbage must not fill the memory.
const MOST_PLIES: usize = 1 << 22;

impl ChunkParser<'_> {
    /// Plays the game's moves from `start`, and adds their codes and the rows of its annotations to the
    /// batch.
    pub(super) fn replay_game(
        &mut self,
        start: &Position,
        row: &mut GameRow,
        batch: &mut GameBatch,
    ) -> Ending {
        if !self.annotator.is_on() {
            return self.replay::<false>(start, batch);
        }
        self.annotator.begin(row.game, Some(start), &batch.headers);
        let text = (self.text, self.reader.offset());
        for &annotation in self.reader.leading() {
            self.annotator.take(annotation, text, (&[], start), &mut batch.headers);
        }
        let ending = self.replay::<true>(start, batch);
        self.end_annotations(row, batch);
        ending
    }

    fn end_annotations(&mut self, row: &mut GameRow, batch: &mut GameBatch) {
        let (evals, clocks) = self.annotator.end(&mut batch.headers);
        (row.eval_count, row.clock_count) = (Some(evals), Some(clocks));
        for problem in std::mem::take(&mut self.annotator.problems) {
            let AnnotationProblem { kind, offset, ply, word_end, message } = problem;
            let token = word_end.map(|end| shown(&self.text[offset..end]));
            self.problem(batch, kind, offset, Subject::Ply(ply as usize), token.as_deref(), &message);
        }
    }

    /// Skips a game that cannot be replayed. If its rules are known and comments are stored, all comments
    /// outside variations are stored at ply 0.
    pub(super) fn skip_game(&mut self, row: &mut GameRow, batch: &mut GameBatch) -> Ending {
        let variant = row.variant.map(|variant| variant.of(&batch.headers.text));
        let is_read = self.annotator.is_on() && variant.is_none_or(is_known_variant);
        if is_read {
            self.annotator.begin(row.game, None, &batch.headers);
        }
        let mut keep = |parser: &mut Self, annotation| {
            if is_read && matches!(annotation, Annotation::Comment(_)) {
                let text = (parser.text, parser.reader.offset());
                parser.annotator.take(annotation, text, (&[], parser.options.start), &mut batch.headers);
            }
        };
        for annotation in self.reader.leading().to_vec() {
            keep(self, annotation);
        }
        let result = loop {
            match self.reader.next::<true>() {
                Token::Annotation(annotation) => keep(self, annotation),
                Token::Result(result) => break Some(result),
                Token::End => break None,
                _ => {}
            }
        };
        let result_at = self.reader.token_start()..self.reader.offset();
        while result.is_some()
            && let Some(annotation) = self.reader.trailing()
        {
            keep(self, annotation);
        }
        if is_read {
            self.end_annotations(row, batch);
        }
        Ending { status: GameStatus::Skipped, result, result_at, opening: None }
    }

    /// Replays the moves of a game, and reads the annotations after its result. If no move was played, but an
    /// ignored word may have been a move, the status is `Truncated`.
    fn replay<const ANNOTATED: bool>(&mut self, start: &Position, batch: &mut GameBatch) -> Ending {
        let mut position = start.clone();
        let mut ending = self.replay_moves::<ANNOTATED>(&mut position, batch);
        while let Some(annotation) = self.reader.trailing() {
            // NAGs and variations belong to the last move, which can be lost.
            let is_kept = ending.status == GameStatus::Ok || matches!(annotation, Annotation::Comment(_));
            if ANNOTATED && is_kept {
                self.annotate(annotation, &position, batch);
            }
        }
        let has_no_moves = batch.codes.len() == self.first_code;
        if has_no_moves && ending.status == GameStatus::Ok && self.all_moves_lost(batch) {
            ending.status = GameStatus::Truncated;
        }
        if let Some(last) = batch.codes[self.first_code..].last_mut() {
            *last = position.mark_mate(*last);
        }
        ending
    }

    /// Plays the moves of a game on `position`, up to the end of the game or a move that cannot be played or
    /// stored.
    fn replay_moves<const ANNOTATED: bool>(
        &mut self,
        position: &mut Position,
        batch: &mut GameBatch,
    ) -> Ending {
        let last_code = self.first_code + MOST_PLIES;
        let mut opening = self.options.openings.find(position);
        let mut status = GameStatus::Ok;
        let (result, status) = loop {
            match self.reader.next::<ANNOTATED>() {
                Token::Move(_) if batch.codes.len() == last_code => {
                    let message = format!("more than {MOST_PLIES} plies: the rest is left out");
                    let offset = self.reader.offset();
                    self.problem_here(batch, ProblemKind::LongGame, offset, None, &message);
                    break self.skip_moves();
                }
                // This is checked before the move is played, because `0-0` can also be legal castling.
                Token::Move(token) if self.both_lost && self.is_double_loss(token) => {
                    self.reader.end_game(token.len());
                    break (Some(GameResult::Unknown), status);
                }
                Token::Move(token) => {
                    let code = match position.play_san(token) {
                        Ok(code) => code,
                        Err(_) if self.is_double_loss(token) => {
                            self.reader.end_game(token.len());
                            break (Some(GameResult::Unknown), status);
                        }
                        Err(error) => match self.play_glued(token, error, position, batch) {
                            Some(code) => code,
                            None if self.unplayable(token, error, position, batch) => {
                                break self.skip_moves();
                            }
                            None => continue,
                        },
                    };
                    if position.en_passant().is_some() {
                        self.en_passant.push(batch.codes.len() - self.first_code);
                    }
                    batch.codes.push(code);
                    opening = self.options.openings.find(position).or(opening);
                }
                Token::Junk(word) if is_meant_as_move(word, self.text, self.reader.offset()) => {
                    self.unplayable(word, SanError::Unreadable, position, batch);
                    break self.skip_moves();
                }
                Token::Result(result) => break (Some(result), status),
                Token::End => break (None, status),
                Token::Annotation(annotation) => self.annotate(annotation, position, batch),
                other => {
                    if self.oddity(other, batch) {
                        status = GameStatus::Truncated;
                    }
                }
            }
        };
        Ending { status, result, result_at: self.reader.token_start()..self.reader.offset(), opening }
    }

    /// Stores an annotation at `position`, to which the moves of the game have led.
    fn annotate(&mut self, annotation: Annotation<'_>, position: &Position, batch: &mut GameBatch) {
        let played = (&batch.codes[self.first_code..], position);
        let text = (self.text, self.reader.offset());
        self.annotator.take(annotation, text, played, &mut batch.headers);
    }

    /// Reports a problem at the current ply.
    #[cold]
    fn problem_here(
        &mut self,
        batch: &mut GameBatch,
        kind: ProblemKind,
        offset: usize,
        token: Option<&str>,
        message: &str,
    ) {
        let ply = batch.codes.len() - self.first_code;
        self.problem(batch, kind, offset, Subject::Ply(ply), token, message);
    }

    /// Whether the word just read is a result that says that both players lost, or that one lost and the
    /// other drew. `0-0` can also be castling. If castling is legal, call this function only if the result
    /// tag is such a result.
    fn is_double_loss(&self, token: &[u8]) -> bool {
        let is_result = GameResult::read_scores(token) == Some((GameResult::Unknown, token.len()));
        token[0] == b'0'
            && (is_result || (self.both_lost && token == b"00"))
            && self.reader.is_at_last_token(self.both_lost)
    }

    /// Skips the rest of the moves, which are lost. Returns the result after them, if there is one, and the
    /// status of the game.
    fn skip_moves(&mut self) -> (Option<GameResult>, GameStatus) {
        let result = loop {
            match self.reader.next_token() {
                Token::Result(result) => break Some(result),
                Token::End => break None,
                _ => {}
            }
        };
        (result, GameStatus::Truncated)
    }

    /// If a move is followed without a space by the next move, a move number or the result (`Nf3Nc6`, `d62.`,
    /// `Qd61-0`), plays this move, reports the missing space, and returns the code of the move. The rest of the word is
    /// then read as the next token.
    #[cold]
    fn play_glued(
        &mut self,
        token: &[u8],
        error: SanError,
        position: &mut Position,
        batch: &mut GameBatch,
    ) -> Option<MoveCode> {
        let length = glued_move(token).filter(|_| error == SanError::Unreadable)?;
        let code = position.play_san(&token[..length]).ok()?;
        let (shown, played) = (shown(token), decode(&token[..length]));
        let message = format!("no space after the move: \"{shown}\" begins with {played}");
        let offset = self.reader.offset() - token.len();
        self.problem_here(batch, ProblemKind::MissingSpace, offset, Some(&shown), &message);
        self.reader.unread(token.len() - length);
        Some(code)
    }

    /// Reports a token that is not a playable move. Returns whether the replay must end there. A word that is
    /// not meant as a move does not end the replay.
    #[cold]
    fn unplayable(
        &mut self,
        token: &[u8],
        error: SanError,
        position: &Position,
        batch: &mut GameBatch,
    ) -> bool {
        let kind = match error {
            SanError::Unreadable if !is_meant_as_move(token, self.text, self.reader.offset()) => {
                self.unknown_token(token, batch);
                return false;
            }
            SanError::Unreadable => ProblemKind::UnreadableMove,
            SanError::Ambiguous => ProblemKind::AmbiguousMove,
            _ => ProblemKind::IllegalMove,
        };
        let shown = shown(token);
        let dots = if position.side() == Color::White { "." } else { "..." };
        let number = position.fullmove_number();
        let notation = if error == SanError::Unreadable { notation_of(token) } else { "" };
        let reason = match position.resolve_or_explain(token) {
            Err(reason) if error == SanError::Illegal => format!(" ({reason})"),
            _ => String::new(),
        };
        let message = format!("{number}{dots}{shown}: {error}{notation}{reason} in {}", position.fen());
        let offset = self.reader.offset() - token.len();
        self.problem_here(batch, kind, offset, Some(&shown), &message);
        true
    }

    /// Reports a token that is neither a move nor a result. Returns whether moves are possibly lost because
    /// of it.
    #[cold]
    fn oddity(&mut self, token: Token<'_>, batch: &mut GameBatch) -> bool {
        let (kind, message) = match token {
            Token::Junk(word) => {
                self.unknown_token(word, batch);
                return false;
            }
            Token::UnclosedComment => (
                ProblemKind::UnclosedComment,
                "a comment is not closed; the rest of the game after its opening bracket is left out",
            ),
            Token::UnclosedVariation => (
                ProblemKind::UnclosedVariation,
                "a variation is not closed; the rest of the game after its opening bracket is left out",
            ),
            Token::StrayOpening => (
                ProblemKind::StrayOpening,
                "a variation before the first move is not closed: the bracket is ignored",
            ),
            _ => (ProblemKind::StrayClosing, "a closing bracket without an opening one is ignored"),
        };
        self.problem_here(batch, kind, self.reader.token_start(), None, message);
        matches!(kind, ProblemKind::UnclosedComment | ProblemKind::UnclosedVariation)
    }

    /// Called if no move of a game was played. If a word that may have been a move was ignored, reports a
    /// problem and returns `true`.
    fn all_moves_lost(&mut self, batch: &mut GameBatch) -> bool {
        let Some(SuspectWord { word, offset }) = self.doubtful.take() else { return false };
        let message = format!(
            "no move of the game can be read; the first word that could be a move is \"{}\"",
            word.escape_debug()
        );
        self.problem_here(batch, ProblemKind::UnreadableMove, offset, Some(&word), &message);
        true
    }

    fn unknown_token(&mut self, token: &[u8], batch: &mut GameBatch) {
        if is_remark(token) {
            return;
        }
        let (shown, offset) = (shown(token), self.reader.offset() - token.len());
        if self.doubtful.is_none() && may_be_move(&shown) {
            self.doubtful = Some(SuspectWord { word: shown.clone().into_owned(), offset });
        }
        let message = format!("\"{}\" is not valid movetext; ignored", shown.escape_debug());
        self.problem_here(batch, ProblemKind::UnknownToken, offset, Some(&shown), &message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::game::Comparison;
    use crate::index::game::parse::ParseOptions;
    use crate::index::{Annotations, Duplicates, KeyHash};
    use crate::opening::OpeningBook;
    use crate::store::Layout;
    use crate::store::row::SourceId;

    /// The moves of the first game, the kinds of problems, and the result of the first game.
    fn first_game(text: &[u8]) -> (Vec<String>, Vec<&'static str>, GameResult) {
        let (start, openings) = (Position::start(), OpeningBook::built_in());
        let mut batch = GameBatch::default();
        let (start, annotations) = (&start, Annotations::None);
        let options = ParseOptions {
            start,
            openings: &openings,
            annotations,
            leave_out: false,
            comparison: &Comparison { rule: Duplicates::Keep, hash: KeyHash::new(KeyHash::BITS) },
            layout: Layout::Open,
        };
        ChunkParser::new(text, text.len(), SourceId(1), 0, options).parse_batch(&mut batch);
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
