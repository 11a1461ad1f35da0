//! Compares games with the text of a source that must be decoded. Decodes the source from start to end: once,
//! or twice if the rows are not in the order of their texts.

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use crate::id::{GameId, SourceId};
use crate::index::SingleGameParser;
use crate::sorted::sort_by_key;
use crate::source::{self, DecodeOptions, Decoded, Opened, SourceFile};
use crate::store::row::StoredId;
use crate::verify::rows::{
    Batch, GAMES, Reader, StoredDuplicate, StoredGame, duplicates, first_difference, read_skipped,
    replayed_codes, stored,
};
use crate::verify::source::{Chain, Marks, compare_game, compare_moves, piece, report_misplaced};
use crate::verify::{Check, Collector, Progress};

/// The amount of text to decode at once, in bytes.
const PIECE: usize = 1 << 20;
/// The maximum length of a game's text to compare, in bytes. Longer texts would need too much memory.
const MOST_TEXT: u64 = 64 << 20;
/// The maximum number of out-of-order rows to compare in a second pass.
const MOST_BEHIND: usize = 1 << 14;

/// Compares the sampled games and the sampled skipped games of all readings of a file with their texts in the
/// file. Returns the number of compared games, without the skipped games.
pub(crate) fn compare(
    check: &Check<'_>,
    connection: &Connection,
    chain: &Chain,
    file: &SourceFile,
) -> rusqlite::Result<u64> {
    let new_findings = || ReadingFindings { findings: Collector::new(check.options.limit), games: 0 };
    let mut pass = TextPass {
        check,
        connection,
        chain,
        findings_by_reading: chain.rows.iter().map(|_| new_findings()).collect(),
        reread: SingleGameParser::default(),
        behind: Vec::new(),
    };
    let mut text = match Text::open(file, Marks::new(&chain.rows), check) {
        Ok(text) => text,
        Err(error) => {
            chain.set_verdicts(Err(error));
            return Ok(0);
        }
    };
    pass.all(&mut text)?;
    let verdicts = chain.set_verdicts(Ok(text.read_to_end(check.progress).verdicts()));
    // Rows are in the order of their texts, unless their offsets are wrong. Rows whose text was no longer in
    // memory need another pass.
    let mut behind = std::mem::take(&mut pass.behind);
    sort_by_key(&mut behind, |(start, ..)| *start);
    if !behind.is_empty()
        && let Ok(mut text) = Text::open(file, Marks::new(&[]), check)
    {
        for (_, reading, item) in behind {
            pass.item(&mut text, reading, item)?;
        }
    }
    let mut games = 0;
    for (reading, _) in
        pass.findings_by_reading.into_iter().zip(verdicts).filter(|(_, verdict)| verdict.state.has_games())
    {
        check.findings.absorb(reading.findings.into_findings());
        games += reading.games;
    }
    Ok(games)
}

/// The findings about the games and duplicates of one reading, and the number of compared games. The findings
/// are reported only if the text of the reading is unchanged.
struct ReadingFindings {
    findings: Collector,
    games: u64,
}

struct TextPass<'c> {
    check: &'c Check<'c>,
    connection: &'c Connection,
    chain: &'c Chain,
    /// The findings of each reading.
    findings_by_reading: Vec<ReadingFindings>,
    reread: SingleGameParser,
    /// Rows whose text was no longer in memory, each with the start of the text and the index of its reading.
    behind: Vec<(u64, usize, Item)>,
}

/// The rows of a source, read in batches; `P` is a place in the source.
struct Batches<'c, P, R> {
    rows: std::vec::IntoIter<R>,
    /// The place from which to read more rows; `None` if there are no more.
    place: Option<P>,
    read: &'c dyn Fn(P) -> rusqlite::Result<Batch<R, P>>,
}

impl<'c, P, R> Batches<'c, P, R> {
    fn new(place: Option<P>, read: &'c dyn Fn(P) -> rusqlite::Result<Batch<R, P>>) -> Self {
        Self { rows: Vec::new().into_iter(), place, read }
    }

    fn next(&mut self) -> rusqlite::Result<Option<R>> {
        loop {
            if let Some(row) = self.rows.next() {
                return Ok(Some(row));
            }
            let Some(place) = self.place.take() else { return Ok(None) };
            let (rows, next) = (self.read)(place)?;
            (self.rows, self.place) = (rows.into_iter(), next);
        }
    }
}

/// Reads the next games of a source that are in the sample, in the order of their ids.
fn read_games(
    check: &Check<'_>,
    connection: &Connection,
    source: StoredId<SourceId>,
    [first, last]: [StoredId<GameId>; 2],
) -> rusqlite::Result<Batch<StoredGame, [StoredId<GameId>; 2]>> {
    const AT_ONCE: usize = 64;
    // Errors in the rows themselves are reported elsewhere.
    let discarded = Collector::new(0);
    let mut statement = connection.prepare_cached(&GAMES)?;
    let mut rows = statement.query([first, last])?;
    let mut games = Vec::new();
    while let Some(row) = rows.next()? {
        let (game, of) = (row.get::<_, StoredId<GameId>>(0)?, row.get_ref(1)?);
        if of == ValueRef::Integer(source.number()) && check.is_sampled(game) {
            games.push(stored::read(row, &discarded)?);
            if games.len() == AT_ONCE {
                let next = game.number().checked_add(1).map(StoredId::from);
                return Ok((games, next.map(|next| [next, last])));
            }
        }
    }
    Ok((games, None))
}

/// A row to compare with a text.
#[derive(Debug)]
enum Item {
    Game(Box<StoredGame>),
    /// A skipped game.
    Duplicate(StoredDuplicate),
}

impl Item {
    const fn place(&self) -> (i64, i64) {
        match self {
            Self::Game(game) => (game.byte_offset, game.byte_length),
            Self::Duplicate(row) => (row.byte_offset, row.byte_length),
        }
    }
}

impl<'c> TextPass<'c> {
    /// Checks games and duplicates in the order of their texts.
    fn all(&mut self, text: &mut Text<'_>) -> rusqlite::Result<()> {
        for (reading, row) in self.chain.rows.iter().enumerate() {
            self.source(text, reading, row.id)?;
        }
        Ok(())
    }

    /// Checks the games and duplicates of one source. `reading` is the index of the source in the chain.
    fn source(
        &mut self,
        text: &mut Text<'_>,
        reading: usize,
        source: StoredId<SourceId>,
    ) -> rusqlite::Result<()> {
        let (check, connection) = (self.check, self.connection);
        let read = |range| read_games(check, connection, source, range);
        let mut games = Batches::new(check.sources.games(source, connection)?, &read);
        let first = check.duplicates.before.get(&source).map(|&before| (i64::MIN, before));
        let read = |place| read_skipped(check, connection, source, place);
        let mut skipped = Batches::new(first, &read);
        let (mut game, mut duplicate) = (games.next()?, skipped.next()?);
        while !check.progress.is_stopped() {
            let game_is_next = match (&game, &duplicate) {
                (Some(game), Some(duplicate)) => game.byte_offset < duplicate.byte_offset,
                _ => game.is_some(),
            };
            let item = if game_is_next {
                std::mem::replace(&mut game, games.next()?).map(|game| Item::Game(Box::new(game)))
            } else {
                std::mem::replace(&mut duplicate, skipped.next()?).map(Item::Duplicate)
            };
            let Some(item) = item else { break };
            self.item(text, reading, item)?;
        }
        Ok(())
    }

    /// Compares a row with its text. Postpones the comparison if the text is no longer in memory.
    fn item(&mut self, text: &mut Text<'_>, reading: usize, item: Item) -> rusqlite::Result<()> {
        let Some((bytes, _)) = self.chain.rows[reading].text else { return Ok(()) };
        let (offset, length) = item.place();
        let range = piece(offset, length, bytes);
        let text = match range {
            None => None,
            Some(range) if range.end - range.start > MOST_TEXT => return Ok(()),
            Some(range) if range.start < text.start => {
                if self.behind.len() < MOST_BEHIND {
                    self.behind.push((range.start, reading, item));
                }
                return Ok(());
            }
            Some(range) => {
                // If the decoded text ends before the end of this range, the source has changed. The verdict
                // on the reading says so, and the row is not compared.
                let length = (range.end - range.start) as usize;
                let Some(text) = text.piece(range.start, length, self.check.progress) else { return Ok(()) };
                Some(text)
            }
        };
        let connection = self.connection;
        let reading = &mut self.findings_by_reading[reading];
        let reader = Reader { connection, findings: &reading.findings };
        match item {
            Item::Duplicate(row) => duplicates::compare(reader, &mut self.reread, &row, text),
            Item::Game(game) => {
                reading.games += 1;
                let Some(text) = text else {
                    report_misplaced(&reading.findings, &game, bytes);
                    return Ok(());
                };
                if let Some(in_text) = compare_game(self.check, reader, &mut self.reread, &game, text)?
                    && first_difference(connection, game.game, in_text)?.is_some()
                    && let Some(codes) = replayed_codes(connection, &game)?
                {
                    compare_moves(reader.findings, game.game, in_text, &codes);
                }
                Ok(())
            }
        }
    }
}

/// A text that is decoded from start to end.
struct Text<'r> {
    decoded: Decoded,
    marks: Marks<'r>,
    /// The decoded text that can still be needed; `start` is its offset.
    text: Vec<u8>,
    start: u64,
    has_ended: bool,
}

impl<'r> Text<'r> {
    fn open(file: &SourceFile, marks: Marks<'r>, check: &Check<'_>) -> source::Result<Self> {
        /// The default memory limit of a run, in bytes, on a machine with enough memory.
        const MEMORY: u64 = 4 << 30;
        let Opened::Packed(packed) = source::open(file)? else {
            // The file has just been replaced.
            return Err(source::Error::Missing { path: file.path.clone() });
        };
        let decoded = packed.decode(DecodeOptions { threads: check.options.threads, memory: MEMORY })?;
        Ok(Self { decoded, marks, text: Vec::new(), start: 0, has_ended: false })
    }

    /// A piece of the text; `None` if the text ends earlier or the check is stopped. The piece must not begin
    /// before [`start`](Self::start). Drops text before the piece if more text must be decoded.
    fn piece(&mut self, offset: u64, length: usize, progress: &Progress) -> Option<&[u8]> {
        while self.start + (self.text.len() as u64) < offset + length as u64 {
            let passed = usize::try_from(offset - self.start).unwrap_or(usize::MAX).min(self.text.len());
            self.text.drain(..passed);
            self.start += passed as u64;
            if self.has_ended || progress.is_stopped() {
                return None;
            }
            self.read();
        }
        let at = usize::try_from(offset - self.start).ok()?;
        self.text.get(at..at + length)
    }

    /// Decodes the remaining text, until the verdicts on all readings are final.
    fn read_to_end(mut self, progress: &Progress) -> Marks<'r> {
        while !self.has_ended && !self.marks.is_done() && !progress.is_stopped() {
            self.text.clear();
            self.read();
        }
        self.marks
    }

    fn read(&mut self) {
        let before = self.text.len();
        // After an error in a damaged archive, the text is not at its end: more text can follow.
        self.has_ended = matches!(self.decoded.read(&mut self.text, PIECE), Ok(0));
        self.marks.pass(&self.text[before..]);
    }
}
