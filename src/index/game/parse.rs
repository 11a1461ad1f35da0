//! Parses a chunk of PGN text into replayed games: the first half of a worker's work.

use std::ops::Range;

use crate::board::{GameResult, MoveCode, Position, Setup, ShortMove};
use crate::id::OpeningId;
use crate::index::game::signature::{mix_move, pairing_hash, prefix_hash};
use crate::index::game::{
    Annotator, Comparison, GameBatch, Header, Pairing, ReadGame, Start, shorten, shown,
};
use crate::index::read::LineCounter;
use crate::index::{Annotations, ProblemKind};
use crate::opening::OpeningBook;
use crate::pgn::{FrameProblem, FrameProblemKind, MOST_TAGS, Reader, TagPair, is_known_variant};
use crate::store::Layout;
use crate::store::row::{
    CountedGame, GameId, GameNames, GameRow, GameStatus, MovesRow, Ply, ProblemRow, Severity, SourceId,
};

#[derive(Clone, Copy)]
pub(crate) struct ParseOptions<'a> {
    /// The standard start position.
    pub(crate) start: &'a Position,
    pub(crate) openings: &'a OpeningBook,
    pub(crate) annotations: Annotations,
    /// Whether games with an error are omitted.
    pub(crate) leave_out: bool,
    /// How games are compared.
    pub(crate) comparison: &'a Comparison,
    /// The layout of the database for which games are read.
    pub(crate) layout: Layout,
}

/// Parses the games of one chunk, batch by batch.
pub(crate) struct ChunkParser<'a> {
    pub(super) text: &'a [u8],
    source: SourceId,
    /// The offset of the chunk in its source.
    base: u64,
    pub(super) reader: Reader<'a>,
    tags: Vec<TagPair<'a>>,
    frame: Vec<FrameProblem>,
    lines: LineCounter,
    /// How many warnings about the current game can still be recorded.
    warnings_left: u32,
    /// The index, in the batch, of the current game's first move.
    pub(super) first_code: usize,
    /// The indexes, from 0, of the current game's moves after which en passant is legal.
    pub(super) en_passant: Vec<usize>,
    /// Whether the result tag of the current game says that both players lost, or that one lost and the other
    /// drew.
    pub(super) both_lost: bool,
    /// The first ignored word of the current game that may have been a move.
    pub(super) doubtful: Option<SuspectWord>,
    pub(super) options: ParseOptions<'a>,
    pub(super) annotator: Annotator,
}

/// The maximum number of recorded warnings per game: garbage must not fill the database. Warnings about an
/// unsupported variant do not count.
const MOST_WARNINGS: u32 = 100;

pub(super) struct SuspectWord {
    pub(super) word: String,
    pub(super) offset: usize,
}

/// What a problem concerns.
pub(super) enum Subject {
    /// Text outside games.
    Outside,
    /// The current game as a whole.
    Game,
    /// A ply of the current game.
    Ply(usize),
}

/// What was found in a game's movetext.
pub(super) struct Ending {
    pub(super) status: GameStatus,
    pub(super) result: Option<GameResult>,
    /// The range of the result in the chunk, in bytes.
    pub(super) result_at: Range<usize>,
    /// The opening of the last position that is in the list of openings.
    pub(super) opening: Option<OpeningId>,
}

impl<'a> ChunkParser<'a> {
    /// A parser for a chunk that begins at byte `base` of its source. The chunk must not extend beyond the
    /// first boundary that is at least `size` bytes after its start.
    pub(crate) fn new(
        text: &'a [u8],
        size: usize,
        source: SourceId,
        base: u64,
        options: ParseOptions<'a>,
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
            first_code: 0,
            en_passant: Vec::new(),
            both_lost: false,
            doubtful: None,
            options,
            annotator: Annotator::new(options.annotations),
        }
    }

    /// The number of bytes of the chunk read so far.
    pub(crate) const fn offset(&self) -> usize {
        self.reader.offset()
    }

    /// The number of line ends in the whole chunk.
    pub(crate) fn line_count(&mut self) -> u64 {
        self.lines.at(self.text, self.text.len()).0
    }

    /// Clears `batch`, and reads games into it until it is full. Returns whether the end of the chunk was
    /// reached.
    pub(crate) fn parse_batch(&mut self, batch: &mut GameBatch) -> bool {
        batch.clear();
        // For each game, whether it is omitted; empty if games with an error are kept.
        let mut is_omitted = Vec::new();
        let is_end = loop {
            if batch.is_full() {
                break false;
            }
            self.frame.clear();
            self.warnings_left = MOST_WARNINGS;
            self.doubtful = None;
            let errors = batch.errors;
            let found = self.reader.next_game(&mut self.tags, &mut self.frame);
            for index in 0..self.frame.len() {
                self.frame_problem(self.frame[index], found, batch);
            }
            if !found {
                break true;
            }
            self.game(batch);
            batch.read += 1;
            batch.last_game = Some(self.base + self.reader.game_start() as u64);
            if batch.errors > errors {
                let start = self.reader.game_start();
                let end = start + self.text[start..self.reader.offset()].trim_ascii_end().len();
                batch.rejects.push(start..end);
            }
            if self.options.leave_out {
                is_omitted.push(batch.errors > errors);
            }
        };
        if is_omitted.contains(&true) {
            batch.remove(&is_omitted);
        }
        is_end
    }

    fn game(&mut self, batch: &mut GameBatch) {
        let begin = self.reader.game_start();
        #[cfg(test)]
        assert!(!self.text[begin..].starts_with(crate::index::tests::PANIC.as_bytes()), "a test asks for it");
        let game = GameId(batch.game_count());
        let mut tag_problems = Vec::new();
        let mut header = Header::read(&self.tags, &self.reader, game, batch, &mut tag_problems);
        for (offset, kind, token, reason) in tag_problems {
            let has_value = kind == ProblemKind::InvalidTag;
            let tag = if has_value { token.clone() } else { token.replacen('[', "tag ", 1) };
            self.problem(batch, kind, offset, Subject::Game, Some(&token), &format!("{tag}: {reason}"));
        }
        (self.first_code, self.both_lost) = (batch.codes.len(), header.both_lost);
        self.en_passant.clear();
        let start = self.start_position(&mut header, batch);
        // Hashes of moves start from the key of the start position.
        let (seed, ending) = match start {
            Start::Standard => {
                let position = self.options.start;
                (position.key().0, self.replay_game(position, &mut header.row, batch))
            }
            Start::Setup => {
                let position = batch.setups.last().expect("the set-up just added").clone();
                (position.key().0, self.replay_game(&position, &mut header.row, batch))
            }
            Start::Nowhere => (0, self.skip_game(&mut header.row, batch)),
        };
        let moves = batch.codes.len() - self.first_code;
        let ply_count = u32::try_from(moves).unwrap_or(u32::MAX);
        let status = self.status(&mut header, ending.status, ply_count, batch);
        let end = self.reader.offset();
        let length = self.text[begin..end].trim_ascii_end().len();
        let mut row = header.row;
        row.source = self.source;
        row.byte_offset = self.base + begin as u64;
        row.byte_length = length as u64;
        row.status = status;
        row.opening = ending.opening;
        row.result = self.result(header.result, &ending, begin + length, batch);
        row.ply_count = ply_count;
        self.sign(&header.names, seed, &mut row, batch);
        if self.options.layout == Layout::Compact && start != Start::Nowhere {
            let moves = self.stored_moves(&batch.codes[self.first_code..]);
            batch.headers.moves.push(MovesRow { game, moves });
        }
        batch.games.push(ReadGame {
            names: header.names,
            line: self.lines.at(self.text, begin).0,
            number: batch.read + 1,
            counted: CountedGame::of(&row, &batch.headers.text),
            moves,
            start,
        });
        batch.headers.games.push(row);
    }

    /// The moves of the current game as `game_moves` stores them.
    fn stored_moves(&self, codes: &[MoveCode]) -> Vec<u8> {
        let mut moves: Vec<_> = codes.iter().map(|code| code.to_row(false)).collect();
        self.en_passant.iter().for_each(|&ply| moves[ply] = codes[ply].to_row(true));
        moves.into_flattened()
    }

    /// Sets the row's hashes, which start from `seed`, and adds the signature with which the game is compared
    /// with others.
    fn sign(&self, names: &GameNames, seed: u64, row: &mut GameRow, batch: &mut GameBatch) {
        let (comparison, text) = (self.options.comparison, &batch.headers.text);
        let codes = &batch.codes[self.first_code..];
        let pairing = Pairing::of(names, row, text);
        let prefix_hash = pairing.and_then(|Pairing { white, black, date, .. }| {
            prefix_hash(seed, codes, pairing_hash(white, black, date))
        });
        // In tests, the hashes are shortened.
        row.prefix_hash = prefix_hash.map(|hash| comparison.hash.narrow(hash));
        row.moves_hash = comparison.hash.narrow(codes.iter().copied().fold(seed, mix_move));
        let moves = codes.iter().map(|&code| ShortMove::new(code));
        let start_fen = row.start_fen.map(|fen| fen.of(text));
        batch.signatures.push(comparison, row.status, start_fen, moves, pairing);
    }

    /// Finds the start position in the tags. If it is a set-up position, adds it to the batch.
    fn start_position(&mut self, header: &mut Header, batch: &mut GameBatch) -> Start {
        if let Some(variant) = header.row.variant
            && !is_known_variant(variant.of(&batch.headers.text))
        {
            let name = variant.of(&batch.headers.text).to_owned();
            let message = format!("variant \"{name}\" is not supported: moves are skipped, tags are kept");
            self.problem_at_tag("Variant", batch, ProblemKind::UnsupportedVariant, &name, &message);
            return Start::Nowhere;
        }
        let Some(fen) = header.fen else { return Start::Standard };
        match Position::from_fen(fen.of(&batch.headers.text).as_bytes()) {
            Ok((position, _)) if position == *self.options.start => Start::Standard,
            Ok((position, _)) => {
                let start_fen = position.fen();
                let crowded =
                    Setup::parse_placement(start_fen.as_bytes()).ok().and_then(|setup| setup.crowded());
                if let Some((color, count)) = crowded {
                    let message =
                        format!("start position: {} has {count} pieces, more than 16", color.name());
                    self.problem_at_tag("FEN", batch, ProblemKind::ManyPieces, &start_fen, &message);
                }
                header.row.start_fen = Some(batch.headers.push_text(&start_fen));
                batch.setups.push(position);
                Start::Setup
            }
            Err(error) => {
                let fen = fen.of(&batch.headers.text).to_owned();
                let message = format!("start position: {error}; no move of the game can be played");
                self.problem_at_tag("FEN", batch, ProblemKind::InvalidFen, &fen, &message);
                header.keep("FEN", &fen, batch);
                Start::Nowhere
            }
        }
    }

    /// Determines how much of the game could be replayed. When this program exports an incomplete game, it adds
    /// a tag that states which part is missing. A completely replayed game has the status `Truncated` if it has
    /// this tag with the value that fits its number of plies. A tag whose value does not fit is stored in the
    /// table `tag`.
    fn status(
        &self,
        header: &mut Header,
        status: GameStatus,
        plies: u32,
        batch: &mut GameBatch,
    ) -> GameStatus {
        let Some(tag_value) = header.truncated else { return status };
        let tag_value = tag_value.of(&batch.headers.text);
        let matches_tag = |status: GameStatus| status.loss(plies).is_some_and(|loss| loss == tag_value);
        let truncated = GameStatus::Truncated;
        match status {
            GameStatus::Ok | GameStatus::Truncated if matches_tag(truncated) => truncated,
            GameStatus::Skipped if matches_tag(status) => status,
            _ => {
                let value = tag_value.to_owned();
                header.keep(GameStatus::LOSS_TAG, &value, batch);
                status
            }
        }
    }

    /// Determines the game's result: the result in the tag or, if the tag has no known result, the result after
    /// the moves. Reports a problem if the two results differ, or if no result follows the moves of a
    /// completely replayed game.
    fn result(
        &mut self,
        tag: Option<GameResult>,
        ending: &Ending,
        end: usize,
        batch: &mut GameBatch,
    ) -> GameResult {
        match ending.result {
            None if ending.status == GameStatus::Ok => {
                let message = match tag {
                    Some(GameResult::Unknown) | None => {
                        "no result after the moves: the result is unknown".to_owned()
                    }
                    Some(tag) => {
                        format!("no result after the moves: the tag's result {} is used", tag.as_str())
                    }
                };
                self.problem(batch, ProblemKind::MissingResult, end, Subject::Game, None, &message);
            }
            Some(token) if tag.is_some_and(|tag| tag != token) => {
                let (tag_result, token) = (tag.unwrap_or_default(), token.as_str());
                let used = match tag_result {
                    GameResult::Unknown => format!("the result {token} is used"),
                    tag_result => format!("the tag's result {} is used", tag_result.as_str()),
                };
                let message =
                    format!("the tag says {}, but the moves end in {token}; {used}", tag_result.as_str());
                let (kind, at) = (ProblemKind::ResultMismatch, ending.result_at.start);
                let shown = shown(&self.text[ending.result_at.clone()]);
                self.problem(batch, kind, at, Subject::Game, Some(&shown), &message);
            }
            _ => {}
        }
        match tag {
            None | Some(GameResult::Unknown) => ending.result.or(tag).unwrap_or_default(),
            Some(tag) => tag,
        }
    }

    fn frame_problem(&mut self, problem: FrameProblem, in_game: bool, batch: &mut GameBatch) {
        let too_many = format!("more than {MOST_TAGS} tag pairs: the rest are ignored");
        let (kind, message) = match problem.kind {
            FrameProblemKind::UnclosedTag => (
                ProblemKind::UnclosedTag,
                "a tag pair lacks its closing quote or bracket; its value was read up to the end of the line",
            ),
            FrameProblemKind::UnquotedTag => (
                ProblemKind::UnclosedTag,
                "the value of a tag pair has no quotes; it was read up to the closing bracket",
            ),
            FrameProblemKind::DamagedTag => {
                (ProblemKind::InvalidTag, "a line among the tags is not a tag pair: ignored")
            }
            FrameProblemKind::TooManyTags => (ProblemKind::LongTags, &*too_many),
            FrameProblemKind::Outside => (ProblemKind::OutsideText, "text outside games: ignored"),
        };
        let is_outside = !in_game || kind == ProblemKind::OutsideText;
        let subject = if is_outside { Subject::Outside } else { Subject::Game };
        self.problem(batch, kind, problem.offset, subject, None, message);
    }

    /// Reports a problem with a tag that determines the start position of a game.
    fn problem_at_tag(
        &mut self,
        tag: &str,
        batch: &mut GameBatch,
        kind: ProblemKind,
        token: &str,
        message: &str,
    ) {
        let last = self.tags.iter().rfind(|pair| pair.name.eq_ignore_ascii_case(tag.as_bytes()));
        let offset = last.map_or(self.reader.game_start(), |pair| pair.offset);
        self.problem(batch, kind, offset, Subject::Game, Some(token), message);
    }

    pub(super) fn problem(
        &mut self,
        batch: &mut GameBatch,
        kind: ProblemKind,
        offset: usize,
        subject: Subject,
        token: Option<&str>,
        message: &str,
    ) {
        let mut message = shorten(message);
        // The summary counts games of unsupported variants by problems of this kind, so all of these problems
        // must be recorded.
        if kind.severity() == Severity::Warning && kind != ProblemKind::UnsupportedVariant {
            let Some(left) = self.warnings_left.checked_sub(1) else { return };
            self.warnings_left = left;
            if left == 0 {
                message.to_mut().push_str("; further warnings about this game are not recorded");
            }
        }
        let (line, column) = self.lines.at(self.text, offset);
        let (is_in_game, ply) = match subject {
            Subject::Outside => (false, None),
            Subject::Game => (true, None),
            Subject::Ply(ply) => (true, Some(Ply(u32::try_from(ply).unwrap_or(u32::MAX)))),
        };
        *(match kind.severity() {
            Severity::Error => &mut batch.errors,
            Severity::Warning => &mut batch.warnings,
        }) += 1;
        let row = ProblemRow {
            source: self.source,
            byte_offset: self.base + offset as u64,
            line,
            column,
            game_number: if is_in_game { batch.read + 1 } else { 0 },
            game: is_in_game.then(|| GameId(batch.game_count())),
            ply,
            token: token.map(|token| batch.headers.push_text(&shorten(token))),
            kind: kind.as_str(),
            severity: kind.severity(),
            message: batch.headers.push_text(&message),
        };
        batch.headers.problems.push(row);
    }
}
