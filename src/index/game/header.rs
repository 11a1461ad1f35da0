//! Converts tag pairs to columns of `game` and rows of `tag`.

use std::borrow::Cow;

use crate::board::GameResult;
use crate::index::ProblemKind;
use crate::index::game::{GameBatch, dedup_from};
use crate::pgn::{
    Annotation, CommentReader, GameFacts, MoveNumbers, Reader, Speed, TagPair, TextFlaw, Token, clock, date,
};
use crate::store::row::{GameId, GameNames, GameRow, TagRow, Text};

/// Data from a game's tags: the columns of its row, and data that is not in the row.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Header {
    pub(crate) row: GameRow,
    pub(crate) names: GameNames,
    pub(crate) fen: Option<Text>,
    /// The result in the tag `Result`, if it is valid.
    pub(crate) result: Option<GameResult>,
    /// Whether the tag `Result` says that both players lost (`0-0`), or that one lost and the other drew
    /// (`0-1/2`).
    pub(crate) both_lost: bool,
    /// The value of the tag with which an exported game states that moves are missing.
    pub(crate) truncated: Option<Text>,
    utc_date: Option<Text>,
    /// The index, in the batch, of the game's first row of `tag`.
    first_tag: usize,
}

/// A problem with a tag: the offset of the tag, the kind of problem, the beginning of the tag (`[Name`), and the
/// reason. For an invalid value, the third field is the whole tag.
pub(crate) type TagProblem = (usize, ProblemKind, String, Cow<'static, str>);

impl Header {
    /// Parses the tags of the game that has the id `game` in the batch. `moves` is a reader at the start of
    /// the game's movetext. Tags without a column, and values that their column cannot store, become rows of
    /// `tag`, sorted by name.
    pub(crate) fn read(
        tags: &[TagPair<'_>],
        moves: &Reader<'_>,
        game: GameId,
        batch: &mut GameBatch,
        problems: &mut Vec<TagProblem>,
    ) -> Self {
        let mut header = Self::default();
        header.row.game = game;
        header.first_tag = batch.headers.tags.len();
        let mut left = MOST_TEXT;
        // The bits of all tag names so far, as given by `letter_bit`. Different names can have the same bit,
        // so names are compared if their bit was seen before.
        let (mut seen, mut is_encoding_reported) = (0, false);
        for (index, tag) in tags.iter().enumerate() {
            let token = || format!("[{}", String::from_utf8_lossy(tag.name));
            let (before, bit) = (seen, letter_bit(tag.name));
            seen |= bit;
            if before & bit != 0
                && tags[..index].iter().any(|other| other.name.eq_ignore_ascii_case(tag.name))
            {
                let message = "occurs more than once; the last value is used".into();
                problems.push((tag.offset, ProblemKind::DuplicateTag, token(), message));
            }
            let kept = tag.value.len().min(MOST_VALUE).min(left.saturating_sub(tag.name.len()));
            if kept < tag.value.len() && left > 0 {
                problems.push((tag.offset, ProblemKind::LongTags, token(), TOO_LONG.into()));
            }
            if kept == 0 && !tag.value.is_empty() {
                left = 0;
                continue;
            }
            left -= tag.name.len() + kept;
            let value = TagPair { value: cut(tag.value, kept), ..*tag }.text();
            if let Some(flaw) = TextFlaw::find(cut(tag.value, kept))
                && !(flaw.is_encoding && std::mem::replace(&mut is_encoding_reported, true))
            {
                problems.push((tag.offset, ProblemKind::InvalidText, token(), flaw.to_string().into()));
            }
            if let Err(reason) = header.set(tag.name, &value, batch) {
                let name = String::from_utf8_lossy(usual_spelling(tag.name).unwrap_or(tag.name));
                header.push(&name, &value, batch);
                if let Some(reason) = reason {
                    let token = format!("{} \"{value}\"]", token());
                    problems.push((tag.offset, ProblemKind::InvalidTag, token, reason.into()));
                }
            }
        }
        sort_tags(batch, header.first_tag);
        header.set_facts(moves, batch);
        header.row.date = header.row.date.or(header.utc_date);
        header
    }

    /// Sets the column of a tag. `Err(None)`: the tag has no column, or its column does not keep the value as
    /// written. `Err(Some(reason))`: the tag has a column, but the value cannot be parsed completely.
    fn set(&mut self, name: &[u8], value: &str, batch: &mut GameBatch) -> Result<(), Option<&'static str>> {
        let row = &mut self.row;
        match name {
            b"Event" => self.names.event = known(value, batch),
            b"Site" => self.names.site = known(value, batch),
            b"White" => self.names.white = known(value, batch),
            b"Black" => self.names.black = known(value, batch),
            b"Round" => row.round = known(value, batch),
            b"Date" => {
                let (date, read) = date(value);
                row.date = date.map(|date| batch.headers.push_text(&date));
                read.map_err(Some)?;
            }
            b"UTCDate" => {
                self.utc_date = date(value).0.map(|date| batch.headers.push_text(&date));
                return Err(None);
            }
            b"Result" if is_unknown(value) => {}
            b"Result" => {
                let result = GameResult::from_tag(value).ok_or(Some("the result cannot be read"))?;
                self.result = Some(result);
                self.both_lost = result == GameResult::Unknown && value.trim() != "*";
                // A value in an unusual form is also stored as written, in the table `tag`.
                if value.trim() != result.as_str() {
                    return Err(None);
                }
            }
            b"WhiteElo" => row.white_elo = rating(value)?,
            b"BlackElo" => row.black_elo = rating(value)?,
            b"WhiteTitle" => row.white_title = known(value, batch).filter(|_| value != "-"),
            b"BlackTitle" => row.black_title = known(value, batch).filter(|_| value != "-"),
            b"ECO" => row.eco = known(value, batch),
            b"TimeControl" => row.time_control = known(value, batch),
            b"Variant" => row.variant = known(value, batch),
            b"FEN" => self.fen = known(value, batch),
            b"SetUp" => {}
            b"Truncated" => self.truncated = Some(batch.headers.push_text(value)),
            _ => {
                let usual = usual_spelling(name).filter(|usual| *usual != name).ok_or(None)?;
                return self.set(usual, value, batch);
            }
        }
        Ok(())
    }

    /// Sets the columns derived from other columns, from stored tags, and from the first clock of the game.
    fn set_facts(&mut self, moves: &Reader<'_>, batch: &mut GameBatch) {
        let (text, row) = (&batch.headers.text, &mut self.row);
        let tags =
            batch.headers.tags[self.first_tag..].iter().map(|tag| (tag.name.of(text), tag.value.of(text)));
        let of = |value: Option<Text>| value.map(|value| value.of(text));
        let facts = GameFacts::from_tags(of(self.names.site), of(row.time_control), tags, || {
            first_clock(moves.clone())
        });
        let mut push = |value: Option<String>| value.map(|value| batch.headers.push_text(&value));
        row.lichess_id = push(facts.lichess_id);
        row.started_at = push(facts.started_at);
        row.termination = push(facts.termination);
        (row.time_initial, row.time_increment) = (facts.time.initial, facts.time.increment);
        row.time_increment_cs = facts.time.increment_cs;
        row.speed = facts.time.speed.map(Speed::as_str);
        [row.white_rating_diff, row.black_rating_diff] = facts.rating_diffs;
        [row.white_fide_id, row.black_fide_id] = facts.fide_ids;
    }

    /// Stores a tag in the table `tag`.
    pub(crate) fn keep(&self, name: &str, value: &str, batch: &mut GameBatch) {
        self.push(name, value, batch);
        sort_tags(batch, self.first_tag);
    }

    fn push(&self, name: &str, value: &str, batch: &mut GameBatch) {
        let name = batch.headers.push_text(name);
        let value = batch.headers.push_text(value);
        batch.headers.tags.push(TagRow { game: self.row.game, name, value });
    }
}

/// The first clock of a game, in centiseconds; `None` if there is no clock at the first moves.
fn first_clock(mut reader: Reader<'_>) -> Option<u32> {
    const MOST_MOVES: usize = 8;
    let (mut comments, mut moves) = (CommentReader::default(), 0);
    while moves < MOST_MOVES {
        match reader.next::<true>() {
            Token::Annotation(Annotation::Comment(comment)) => {
                // Most clocks are commands, which are read without copying the comment. Other clocks are pairs
                // such as `tl=60000`.
                let found = if let Some(at) = memchr::memmem::find(comment, b"[%clk") {
                    let value = &comment[at + 5..];
                    clock(value[..memchr::memchr(b']', value).unwrap_or(value.len())].trim_ascii())
                } else if comment.contains(&b'=') {
                    let mut numbers = MoveNumbers::default();
                    comments.read(comment, None, Some(&mut numbers), |_, _| {});
                    numbers.clock
                } else {
                    None
                };
                if found.is_some() {
                    return found;
                }
            }
            Token::Move(_) => moves += 1,
            Token::Result(_) | Token::End => break,
            _ => {}
        }
    }
    None
}

/// The maximum size of a tag's stored value, in bytes.
const MOST_VALUE: usize = 64 << 10;
/// The maximum size of all stored tags of a game, in bytes.
const MOST_TEXT: usize = 1 << 20;
const TOO_LONG: &str =
    "stored only in part: at most 64 KiB of each tag, and 1 MiB of all tags of a game, are kept";

/// The first `most` bytes of a text, without an incomplete UTF-8 character at the end.
fn cut(text: &[u8], most: usize) -> &[u8] {
    let is_inside = |at: usize| text.get(at).is_some_and(|byte| (0x80..0xc0).contains(byte));
    let end = (0..4).map(|back| most.saturating_sub(back)).find(|&at| !is_inside(at)).unwrap_or(most);
    &text[..end]
}

/// Usual spellings of tag names: the names that the database uses, and other frequent names.
#[rustfmt::skip]
const NAMES: [&str; 41] = [
    "Event", "Site", "Date", "UTCDate", "Round", "White", "Black", "Result", "WhiteElo", "BlackElo",
    "WhiteTitle", "BlackTitle", "ECO", "TimeControl", "Variant", "FEN", "SetUp", "Truncated", "UTCTime",
    "Termination", "GameId", "Link", "WhiteRatingDiff", "BlackRatingDiff", "WhiteFideId", "BlackFideId",
    "Annotator", "EventDate", "Opening", "Variation", "SubVariation", "PlyCount", "NIC", "Mode", "Time",
    "Section", "Stage", "Board", "WhiteTeam", "BlackTeam", "Source",
];

/// The name in `NAMES` that equals `name` except for letter case; `None` if there is no such name.
fn usual_spelling(name: &[u8]) -> Option<&'static [u8]> {
    NAMES.into_iter().map(str::as_bytes).find(|known| known.eq_ignore_ascii_case(name))
}

/// One of 64 bits, chosen by some letters of a name, ignoring case, and by the length of the name.
fn letter_bit(name: &[u8]) -> u64 {
    let letter = |at: usize| u64::from(name.get(at).map_or(0, u8::to_ascii_lowercase));
    let length = name.len();
    let hash =
        letter(0) + 5 * letter(length / 2) + 11 * letter(length.saturating_sub(1)) + 23 * length as u64;
    1 << (hash % 64)
}

/// Sorts the batch's rows of `tag` from index `first` on by name. Ignores letter case, as the table does. Of
/// repeated tags, the last one is kept.
fn sort_tags(batch: &mut GameBatch, first: usize) {
    let rows = &mut batch.headers.tags;
    let text = &batch.headers.text;
    let letters = |row: &TagRow| row.name.of(text).bytes().map(|byte| byte.to_ascii_lowercase());
    rows[first..].sort_unstable_by(|a, b| letters(a).cmp(letters(b)).then(b.name.start.cmp(&a.name.start)));
    dedup_from(rows, first, |last, row| last.name.of(text).eq_ignore_ascii_case(row.name.of(text)));
}

fn is_unknown(value: &str) -> bool {
    matches!(value.trim(), "" | "?")
}

fn known(value: &str, batch: &mut GameBatch) -> Option<Text> {
    (!is_unknown(value)).then(|| batch.headers.push_text(value.trim()))
}

/// Parses a rating. An empty value, `?`, `-` and zero mean that the rating is unknown.
fn rating(value: &str) -> Result<Option<u16>, Option<&'static str>> {
    match value.trim() {
        "" | "?" | "-" => Ok(None),
        zeros if zeros.bytes().all(|byte| byte == b'0') => Ok(None),
        digits => {
            digits.parse().map(Some).map_err(|_| Some("the rating cannot be read, so it is not stored"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratings_are_numbers_or_unknown() {
        assert_eq!(rating("2850"), Ok(Some(2850)));
        for text in ["", "?", "-", "0", "0000", " "] {
            assert_eq!(rating(text), Ok(None));
        }
        assert!(rating("GM").is_err());
        assert!(rating("99999").is_err());
    }

    #[test]
    fn very_long_tags_are_truncated() {
        let long = "\u{20ac}".repeat(MOST_VALUE);
        let tag = |name, value| TagPair { name, value, offset: 0 };
        let mut tags = vec![tag(&b"Event"[..], long.as_bytes()), tag(b"Latin", &[0xe9; MOST_VALUE + 1])];
        tags.extend([b"A", b"B", b"C", b"D"].map(|name| tag(&name[..], &long.as_bytes()[..MOST_VALUE - 1])));
        let (mut batch, mut problems) = (GameBatch::default(), Vec::new());
        let header = Header::read(&tags, &Reader::new(b""), GameId(0), &mut batch, &mut problems);
        let text = &batch.headers.text;
        assert_eq!(header.names.event.unwrap().of(text), "\u{20ac}".repeat(MOST_VALUE / 3));
        let latin = batch.headers.tags.iter().find(|tag| tag.name.of(text) == "Latin").unwrap();
        assert_eq!(latin.value.of(text), "\u{e9}".repeat(MOST_VALUE));
        let kinds =
            |problems: &[TagProblem], kind| problems.iter().filter(|problem| problem.1 == kind).count();
        assert_eq!(
            (kinds(&problems, ProblemKind::LongTags), kinds(&problems, ProblemKind::InvalidText)),
            (2, 1)
        );
        let many = vec![tag(&b"X"[..], &[b'x'; MOST_VALUE][..]); 100];
        let (mut batch, mut problems) = (GameBatch::default(), Vec::new());
        Header::read(&many, &Reader::new(b""), GameId(0), &mut batch, &mut problems);
        assert!(batch.headers.text.len() <= MOST_TEXT);
        assert_eq!((batch.headers.tags.len(), kinds(&problems, ProblemKind::LongTags)), (1, 1));
    }

    #[test]
    fn tags_without_a_column_are_sorted_and_the_last_one_counts() {
        let tag = |name, value| TagPair { name, value, offset: 0 };
        let tags = [
            tag(&b"Zeta"[..], &b"1"[..]),
            tag(b"Alpha", b"first"),
            tag(b"eco", b"B20"),
            tag(b"ALPHA", b"last"),
            tag(b"WhiteElo", b"none"),
        ];
        let (mut batch, mut problems) = (GameBatch::default(), Vec::new());
        let header = Header::read(&tags, &Reader::new(b""), GameId(0), &mut batch, &mut problems);
        let text = &batch.headers.text;
        let rows: Vec<_> =
            batch.headers.tags.iter().map(|row| (row.name.of(text), row.value.of(text))).collect();
        assert_eq!(rows, [("ALPHA", "last"), ("WhiteElo", "none"), ("Zeta", "1")]);
        assert_eq!(header.row.eco.unwrap().of(text), "B20");
        let kinds: Vec<_> = problems.iter().map(|problem| problem.1).collect();
        assert_eq!(kinds, [ProblemKind::DuplicateTag, ProblemKind::InvalidTag]);
    }
}
