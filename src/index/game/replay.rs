//! Replays the moves of a game, and reports what cannot be played.

use crate::board::{Color, GameResult, MoveCode, Position, SanError};
use crate::index::game::annotate::AnnotationProblem;
use crate::index::game::batch::GameBatch;
use crate::index::game::header::Header;
use crate::index::game::parse::{ChunkParser, Ending, SuspectWord};
use crate::index::game::word::{glued_move, is_meant_as_move, may_be_move, notation_of, shown};
use crate::index::problem::ProblemKind;
use crate::pgn::{Annotation, Token, decode, is_known_variant, is_remark};
use crate::store::row::{GameId, GameRow, GameStatus};

/// The maximum number of stored plies per game: garbage must not fill the memory.
const MOST_PLIES: usize = 1 << 22;

impl ChunkParser<'_> {
    /// Plays the game's moves from `start`, and adds their codes and the rows of its annotations to the
    /// batch.
    pub(super) fn replay_game(
        &mut self,
        start: &Position,
        header: &mut Header,
        batch: &mut GameBatch,
    ) -> Ending {
        let (row, both_lost) = (&mut header.row, header.both_lost);
        if !self.annotator.is_on() {
            return self.replay::<false>(start, row.game, both_lost, batch);
        }
        self.annotator.begin(row.game, true, &batch.headers);
        let text = (self.text, self.reader.offset());
        for &annotation in self.reader.leading() {
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

    /// Skips a game that cannot be replayed. If its rules are known and comments are stored, all comments
    /// outside variations are stored at ply 0.
    pub(super) fn skip_game(&mut self, row: &mut GameRow, batch: &mut GameBatch) -> Ending {
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

    /// Replays a game: its moves, and the annotations after its result.
    fn replay<const ANNOTATED: bool>(
        &mut self,
        start: &Position,
        game: GameId,
        both_lost: bool,
        batch: &mut GameBatch,
    ) -> Ending {
        let first = batch.codes.len();
        let mut position = start.clone();
        let mut ending = self.replay_moves::<ANNOTATED>(start, &mut position, game, both_lost, batch);
        while let Some(annotation) = self.reader.trailing() {
            // NAGs and variations belong to a move, which may be lost.
            let is_kept = ending.status == GameStatus::Ok || matches!(annotation, Annotation::Comment(_));
            if ANNOTATED && is_kept {
                self.annotate(annotation, start, &position, first, batch);
            }
        }
        if batch.codes.len() == first && ending.status == GameStatus::Ok && self.all_moves_lost(game, batch) {
            ending.status = GameStatus::Truncated;
        }
        if let Some(last) = batch.codes[first..].last_mut()
            && position.is_check()
            && !position.has_legal_move()
        {
            *last = last.with_mate();
        }
        ending
    }

    /// Plays the moves of a game on `position` up to its result, or up to a move that cannot be played.
    fn replay_moves<const ANNOTATED: bool>(
        &mut self,
        start: &Position,
        position: &mut Position,
        game: GameId,
        both_lost: bool,
        batch: &mut GameBatch,
    ) -> Ending {
        let first = batch.codes.len();
        let mut opening = self.openings.find(position);
        let mut status = GameStatus::Ok;
        let (result, status) = loop {
            match self.reader.next::<ANNOTATED>() {
                Token::Move(_) if batch.codes.len() - first == MOST_PLIES => {
                    self.long_game(game, batch);
                    break self.skip_moves();
                }
                // This is checked before the move is played, because `0-0` may also be legal castling.
                Token::Move(token) if both_lost && self.is_double_loss(token, both_lost) => {
                    self.reader.end_game(token.len());
                    break (Some(GameResult::Unknown), status);
                }
                Token::Move(token) => {
                    let code = match position.play_san(token) {
                        Ok(code) => code,
                        Err(_) if self.is_double_loss(token, both_lost) => {
                            self.reader.end_game(token.len());
                            break (Some(GameResult::Unknown), status);
                        }
                        Err(error) => {
                            let ply = batch.codes.len() - first;
                            match self.play_glued(token, error, position, game, ply, batch) {
                                Some(code) => code,
                                None if self.unplayable(token, error, position, game, ply, batch) => {
                                    break self.skip_moves();
                                }
                                None => continue,
                            }
                        }
                    };
                    batch.codes.push(code);
                    opening = self.openings.find(position).or(opening);
                }
                Token::Junk(word) if is_meant_as_move(word, self.text, self.reader.offset()) => {
                    let ply = batch.codes.len() - first;
                    self.unplayable(word, SanError::Unreadable, position, game, ply, batch);
                    break self.skip_moves();
                }
                Token::Result(result) => break (Some(result), status),
                Token::End => break (None, status),
                Token::Annotation(annotation) => self.annotate(annotation, start, position, first, batch),
                other => {
                    if self.oddity(other, game, batch.codes.len() - first, batch) {
                        status = GameStatus::Truncated;
                    }
                }
            }
        };
        Ending { status, result, result_at: self.reader.token_start()..self.reader.offset(), opening }
    }

    /// Stores an annotation at `position`, which the codes of the batch from `first` on led to.
    fn annotate(
        &mut self,
        annotation: Annotation<'_>,
        start: &Position,
        position: &Position,
        first: usize,
        batch: &mut GameBatch,
    ) {
        let played = (&batch.codes[first..], position);
        let text = (self.text, self.reader.offset());
        self.annotator.take(annotation, text, played, start, &mut batch.headers);
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

    /// Skips the rest of the moves, which are lost. Returns the result after them.
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

    /// Reports that a game is too long to be stored completely.
    #[cold]
    fn long_game(&mut self, game: GameId, batch: &mut GameBatch) {
        let message = format!("more than {MOST_PLIES} plies: the rest is left out");
        let (kind, offset) = (ProblemKind::LongGame, self.reader.offset());
        self.problem(batch, kind, offset, Some(game), Some(MOST_PLIES), None, &message);
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
    ) -> Option<MoveCode> {
        let length = glued_move(token).filter(|_| error == SanError::Unreadable)?;
        let code = position.play_san(&token[..length]).ok()?;
        let (shown, played) = (shown(token), decode(&token[..length]));
        let message = format!("no space after the move: \"{shown}\" begins with {played}");
        let offset = self.reader.offset() - token.len();
        self.problem(batch, ProblemKind::MissingSpace, offset, Some(game), Some(ply), Some(&shown), &message);
        self.reader.unread(token.len() - length);
        Some(code)
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
        let dots = if position.side() == Color::White { "." } else { "..." };
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

    /// If a game has no moves because words that may be moves were ignored, reports a problem and returns
    /// `true`.
    fn all_moves_lost(&mut self, game: GameId, batch: &mut GameBatch) -> bool {
        let Some(SuspectWord { word, offset }) = self.doubtful.take() else { return false };
        let message = format!(
            "no move of the game can be read; the first word that may be a move is \"{}\"",
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opening::OpeningBook;
    use crate::store::row::SourceId;

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
