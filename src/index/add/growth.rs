//! Compares the text of a source, in one pass, with texts that were indexed earlier.

use crate::index::read::LineStream;
use crate::pgn::{LOOK_AHEAD, LOOK_BACK, boundary_in};
use crate::store::{KnownSource, SourceDigest};

/// A place in the text of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextLocation {
    /// The number of bytes before this place.
    pub(crate) offset: u64,
    /// The number of line ends before this place.
    pub(crate) lines: u64,
    /// The number of bytes between the start of the line and this place.
    pub(crate) columns: u64,
}

/// How the text of a source continues, if it begins with the whole text of an earlier reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Growth {
    /// The start of the last game that the earlier reading found.
    pub(crate) last_game: TextLocation,
    /// The start of the first game after the earlier text; if there is none, the end of the whole text.
    pub(crate) next_game: TextLocation,
    /// Whether there is text other than whitespace between the earlier text and the next game. Such text
    /// continues the last game, or the text after that game.
    pub(crate) continues: bool,
}

/// How the text of a source continues; if it does not begin with the whole text of an earlier reading, a
/// description of the difference.
pub(crate) type Continuation = Result<Growth, String>;

/// Compares a text with earlier texts, piece by piece. Keeps only as much of the text as is needed to find
/// the starts of games.
#[derive(Debug, Default)]
pub(crate) struct GrowthCheck<'k> {
    /// The latest reading of the source. Its text is not empty.
    earlier: Option<&'k KnownSource>,
    /// The length, in bytes, of the longest text in the database that can be equal to the checked text;
    /// `None` if there is no such text.
    longest: Option<u64>,
    hasher: blake3::Hasher,
    bytes: u64,
    lines: LineStream,
    /// Whether the text begins with the earlier text; `None` until enough of the text was read to decide
    /// this.
    is_same: Option<bool>,
    growth: Growth,
    has_next_game: bool,
    /// The last part of the text read so far. It begins at most [`KEPT`] bytes before `searched`, and is
    /// emptied when the next game is found.
    window: Vec<u8>,
    /// Lines have been counted up to this place: its offset in the window, and its offset in the text.
    counted: usize,
    counted_to: u64,
    /// The offset in the window at which the search for the next game continues.
    searched: usize,
}

/// The number of bytes before an offset that are needed to decide whether a game starts at the offset.
const KEPT: usize = LOOK_BACK + 8;

impl<'k> GrowthCheck<'k> {
    /// Begins to compare a text with an earlier reading, if there is one. `longest` is the size of the longest text in
    /// the database that can be equal to this text, or `None`. The caller compares the digest with those of such texts.
    pub(crate) fn new(earlier: Option<&'k KnownSource>, longest: Option<u64>) -> Self {
        Self { earlier, longest, ..Self::default() }
    }

    /// Processes the next piece.
    pub(crate) fn take(&mut self, text: &[u8]) {
        let old_end = self.earlier.map_or(0, |earlier| earlier.bytes);
        let (before, after) = text.split_at(within(old_end, self.bytes, text));
        if let Some(earlier) = self.earlier.filter(|_| !before.is_empty()) {
            self.take_known(before, earlier);
        }
        if self.is_same == Some(true) && !self.has_next_game {
            self.window.extend_from_slice(after);
            self.search(false);
        }
        self.hash(after);
    }

    /// Whether the result no longer depends on the rest of the text.
    pub(crate) fn is_done(&self) -> bool {
        let may_be_known = self.longest.is_some_and(|longest| self.bytes <= longest);
        let is_decided = self.earlier.is_none() || self.is_same == Some(false) || self.has_next_game;
        !may_be_known && is_decided
    }

    /// Ends the check of a text that was read completely, or until the check [was done](Self::is_done).
    /// The first result is the size and the digest of the text, if the size is at most `longest`. The second
    /// result says how the text continues, if there is an earlier reading.
    pub(crate) fn finish(mut self) -> (Option<(u64, SourceDigest)>, Option<Continuation>) {
        if self.is_same == Some(true) && !self.has_next_game {
            self.search(true);
        }
        let may_be_known = self.longest.is_some_and(|longest| self.bytes <= longest);
        let whole = may_be_known.then(|| (self.bytes, self.digest()));
        let growth = self.earlier.map(|earlier| match self.is_same {
            None => Err(format!("{} bytes of text instead of {}", self.bytes, earlier.bytes)),
            Some(false) => Err("it begins differently".to_owned()),
            Some(true) => Ok(self.growth),
        });
        (whole, growth)
    }

    fn hash(&mut self, text: &[u8]) {
        self.hasher.update(text);
        self.bytes += text.len() as u64;
    }

    fn digest(&self) -> SourceDigest {
        SourceDigest(*self.hasher.finalize().as_bytes())
    }

    /// Processes a piece that does not extend beyond the length of the earlier text.
    fn take_known(&mut self, text: &[u8], earlier: &KnownSource) {
        let at = within(earlier.last_game, self.bytes, text);
        self.lines.pass(&text[..at]);
        if at < text.len() && self.bytes + at as u64 == earlier.last_game {
            self.growth.last_game = self.place(earlier.last_game);
        }
        self.lines.pass(&text[at..]);
        self.window.extend_from_slice(&text[text.len().saturating_sub(KEPT)..]);
        self.window.drain(..self.window.len().saturating_sub(KEPT));
        self.hash(text);
        if self.bytes == earlier.bytes {
            self.is_same = Some(self.digest().to_hex() == earlier.digest);
            self.counted = self.window.len();
            self.counted_to = self.bytes;
            self.searched = self.window.len() - 1;
        }
    }

    /// Searches for the first game after the end of the earlier text. Near the end of the window, a game can be
    /// found only when more text has arrived, unless the whole text ends there (`is_end`).
    fn search(&mut self, is_end: bool) {
        let length = self.window.len();
        let end = if is_end { length } else { length.saturating_sub(LOOK_AHEAD) };
        let found = boundary_in(&self.window, self.searched..end).or(is_end.then_some(length));
        self.searched = self.searched.max(end.saturating_sub(8));
        let next = found.unwrap_or(self.searched).max(self.counted);
        let passed = &self.window[self.counted..next];
        self.lines.pass(passed);
        self.growth.continues |= !passed.trim_ascii().is_empty();
        self.counted_to += passed.len() as u64;
        if found.is_some() {
            self.growth.next_game = self.place(self.counted_to);
            self.has_next_game = true;
            self.window = Vec::new();
            return;
        }
        let gone = self.searched.saturating_sub(KEPT);
        self.window.drain(..gone);
        self.searched -= gone;
        self.counted = next - gone;
    }

    fn place(&self, offset: u64) -> TextLocation {
        let (lines, columns) = self.lines.place();
        TextLocation { offset, lines, columns }
    }
}

/// Converts `offset` in a text to an index in `piece`, which begins at byte `start` of this text. Returns 0
/// for an offset before the piece, and the length of the piece for an offset after it.
fn within(offset: u64, start: u64, piece: &[u8]) -> usize {
    usize::try_from(offset.saturating_sub(start)).unwrap_or(usize::MAX).min(piece.len())
}

#[cfg(test)]
mod tests {
    use crate::properties::cases;
    use proptest::prelude::*;

    use super::*;
    use crate::index::read::lines::LineCounter;
    use crate::pgn::next_boundary;

    fn hex(text: &[u8]) -> String {
        blake3::hash(text).to_hex().to_string()
    }

    fn reading(bytes: u64, digest: &str, last_game: u64) -> KnownSource {
        let mut reading = KnownSource::default();
        (reading.bytes, reading.digest, reading.last_game) = (bytes, digest.to_owned(), last_game);
        reading
    }

    /// The growth, computed from the whole text at once.
    fn plain_growth(text: &[u8], read: usize, last_game: usize) -> Growth {
        let next_game = next_boundary(text, read - 1);
        let place = |offset: usize| {
            let (lines, column) = LineCounter::default().at(text, offset);
            TextLocation { offset: offset as u64, lines, columns: column - 1 }
        };
        let continues = !text[read..next_game].trim_ascii().is_empty();
        Growth { last_game: place(last_game), next_game: place(next_game), continues }
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn the_result_does_not_depend_on_the_pieces(
            parts in proptest::collection::vec((0..9usize, 1..3000usize), 1..40),
            read in 0.0..1.0, last_game in 0.0..1.0, size in 1..200_000usize,
        ) {
            let pieces: [&[u8]; 9] =
                [b"[Event \"a\"]\n", b"\n", b"1. e4 e5 *\n", b"{ open ", b"} ", b" \r\n", b"[W \"", b"\n\n[E \"x\"]\n\n", b"\xef\xbb\xbf"];
            // Sometimes a piece is so long that it fills the window.
            let repeated = |&(part, times): &(usize, usize)| pieces[part].repeat(if times > 2900 { times * 10 } else { times % 5 });
            let text: Vec<u8> = parts.iter().flat_map(repeated).chain(*b"*\n").collect();
            let read = 1 + (read * (text.len() - 1) as f64) as usize;
            let last_game = (last_game * read as f64) as usize;
            // A game does not begin with a line feed.
            let last_game = (0..=last_game).rev().find(|&at| at == 0 || text[at] != b'\n').unwrap_or(0);
            let digest = hex(&text[..read]);
            let earlier = reading(read as u64, &digest, last_game as u64);
            for longest in [None, Some(read as u64), Some(u64::MAX)] {
                let mut survey = GrowthCheck::new(Some(&earlier), longest);
                for piece in text.chunks(size) {
                    survey.take(piece);
                    if survey.is_done() {
                        break;
                    }
                }
                let (whole, growth) = survey.finish();
                prop_assert_eq!(growth, Some(Ok(plain_growth(&text, read, last_game))));
                let whole = whole.map(|(bytes, digest)| (bytes as usize, digest.to_hex()));
                let is_short = longest.is_some_and(|longest| text.len() as u64 <= longest);
                prop_assert_eq!(whole, is_short.then(|| (text.len(), hex(&text))));
            }
        }
    }

    #[test]
    fn other_texts_are_recognised() {
        let text = b"[Event \"a\"]\n\n1. e4 *\n";
        let digest = hex(&text[..10]);
        let growth = |text: &[u8], bytes| {
            let earlier = reading(bytes, &digest, 0);
            let mut survey = GrowthCheck::new(Some(&earlier), None);
            survey.take(text);
            survey.finish().1.unwrap()
        };
        assert!(growth(text, 10).is_ok());
        assert_eq!(growth(text, 11).unwrap_err(), "it begins differently");
        assert_eq!(growth(&text[1..], 10).unwrap_err(), "it begins differently");
        assert_eq!(growth(&text[..9], 10).unwrap_err(), "9 bytes of text instead of 10");
        assert_eq!(GrowthCheck::new(None, None).finish(), (None, None));
    }
}
