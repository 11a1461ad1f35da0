//! Named positions, and a table that finds the name of a position.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};

use serde::Serialize;

use crate::board::{Position, PositionKey};
use crate::id::OpeningId;

/// The name of an opening.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Opening {
    /// ECO code as written in the list of openings: `B90`, or longer, such as Scid's `B90a`.
    pub eco: String,
    /// Name, such as `Sicilian Defense: Najdorf Variation`.
    pub name: String,
}

impl fmt::Display for Opening {
    /// Writes the code and the name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.eco, self.name)
    }
}

/// An opening and its position.
#[derive(Clone, Debug)]
pub struct NamedPosition {
    /// The opening.
    pub opening: Opening,
    /// The key of the position.
    pub key: PositionKey,
    /// The canonical FEN of the position.
    pub fen: Cow<'static, str>,
    /// The board, built from the FEN when it is first needed: usually, only a few of the thousands of boards
    /// are needed.
    position: OnceLock<Box<Position>>,
}

impl NamedPosition {
    pub(crate) fn new(opening: Opening, position: &Position) -> Self {
        Self::from_parts(opening, position.key(), position.canonical_fen().into())
    }

    /// `key` and `fen` must belong to the same legal position. `fen` must be canonical.
    pub(super) const fn from_parts(opening: Opening, key: PositionKey, fen: Cow<'static, str>) -> Self {
        Self { opening, key, fen, position: OnceLock::new() }
    }

    fn is_of(&self, position: &Position) -> bool {
        let own = self.position.get_or_init(|| {
            let (own, _) = Position::from_fen(self.fen.as_bytes()).expect("a legal position");
            Box::new(own)
        });
        own.is_same(position)
    }
}

/// A list of openings, for looking up the name of a position.
///
/// Looking up a position without a name usually takes one or two nanoseconds: a bit table of two to four bytes
/// per opening shows that it has none. A position found by its key is compared completely, so that two
/// positions with the same key are never confused.
#[derive(Clone, Debug)]
pub struct OpeningBook {
    openings: Vec<NamedPosition>,
    /// A bit table, indexed by the low bits of a key; its length is a power of two. If a bit is clear, no
    /// opening has a key with these low bits.
    filter: Box<[u64]>,
    /// A hash table with linear probing, at most half full; its length is a power of two. `None` is a free
    /// slot.
    slots: Box<[Option<OpeningId>]>,
}

/// The built-in list. `examples/openings.rs` generates `eco.tsv`. This TSV file also contains the key and the
/// FEN of each position, because playing thousands of lines would take longer than indexing a few games.
static BUILT_IN: LazyLock<Arc<OpeningBook>> = LazyLock::new(|| {
    const HEADER: &str = "eco\tname\tpgn\tkey\tfen\n";
    let (_, mut lines) = include_str!("eco.tsv").split_once(HEADER).expect("the tests have read it");
    let mut openings = Vec::new();
    while !lines.is_empty() {
        openings.push(take_line(&mut lines).expect("the tests have read it"));
    }
    Arc::new(OpeningBook::new(openings))
});

impl OpeningBook {
    /// The built-in list: the names of Lichess's `chess-openings`, more than 3,000.
    #[must_use]
    pub fn built_in() -> Arc<Self> {
        Arc::clone(&BUILT_IN)
    }

    /// A book of these openings. They get their ids in the order in which their positions first occur. If a
    /// position occurs more than once, it gets the name of its last occurrence.
    pub(crate) fn new(openings: Vec<NamedPosition>) -> Self {
        let capacity = openings.len().max(8);
        let mut book = Self {
            openings: Vec::with_capacity(openings.len()),
            filter: vec![0; (16 * capacity).next_power_of_two() / 64].into(),
            slots: vec![None; (2 * capacity).next_power_of_two()].into(),
        };
        for named in openings {
            match book.search(named.key, |known| known.fen == named.fen) {
                Some(id) => book.openings[id.0 as usize - 1].opening = named.opening,
                None => book.insert(named),
            }
        }
        book
    }

    /// Adds a position that is not yet in the book.
    fn insert(&mut self, named: NamedPosition) {
        let key = named.key;
        self.filter[self.word(key)] |= bit(key);
        let mut at = self.home(key);
        while self.slots[at].is_some() {
            at = self.after(at);
        }
        self.openings.push(named);
        let id = u32::try_from(self.openings.len()).expect("a list is small");
        self.slots[at] = Some(OpeningId(id));
    }

    /// The number of named positions.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.openings.len()
    }

    /// Whether there are no openings.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.openings.is_empty()
    }

    /// The openings and their positions, in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = (OpeningId, &NamedPosition)> {
        (1..).map(OpeningId).zip(&self.openings)
    }

    /// The id of the opening with this position; `None` if the position has no name.
    #[inline]
    #[must_use]
    pub fn find(&self, position: &Position) -> Option<OpeningId> {
        let key = position.key();
        if self.filter[self.word(key)] & bit(key) == 0 { None } else { self.look_up(position) }
    }

    /// The opening with this position; `None` if the position has no name.
    #[must_use]
    pub fn get(&self, position: &Position) -> Option<&Opening> {
        self.by_id(self.find(position)?)
    }

    /// The opening with this id; `None` if there is none.
    pub(crate) fn by_id(&self, id: OpeningId) -> Option<&Opening> {
        self.openings.get((id.0 as usize).checked_sub(1)?).map(|named| &named.opening)
    }

    #[inline(never)]
    fn look_up(&self, position: &Position) -> Option<OpeningId> {
        self.search(position.key(), |known| known.is_of(position))
    }

    /// The id of the opening with this key for which `is_it` returns true.
    fn search(&self, key: PositionKey, is_it: impl Fn(&NamedPosition) -> bool) -> Option<OpeningId> {
        let mut at = self.home(key);
        loop {
            let id = self.slots[at]?;
            let named = &self.openings[id.0 as usize - 1];
            if named.key == key && is_it(named) {
                return Some(id);
            }
            at = self.after(at);
        }
    }

    /// A digest of all codes, names and positions, in hexadecimal: equal lists have equal digests, whatever
    /// the format of their files.
    #[cfg(feature = "index")]
    #[must_use]
    pub fn digest(&self) -> String {
        // Hashing one long text takes a quarter of the time that many short texts take.
        let fields =
            self.openings.iter().flat_map(|named| [&named.opening.eco, &named.opening.name, &*named.fen]);
        let mut text = String::new();
        fields.for_each(|field| text.extend([field, "\0"]));
        blake3::hash(text.as_bytes()).to_hex().to_string()
    }

    #[inline]
    fn word(&self, key: PositionKey) -> usize {
        (key.0 >> 6) as usize & (self.filter.len() - 1)
    }

    /// The slot at which the search for a key begins; the filter uses other bits of the key.
    fn home(&self, key: PositionKey) -> usize {
        (key.0 >> 32) as usize & (self.slots.len() - 1)
    }

    fn after(&self, slot: usize) -> usize {
        (slot + 1) & (self.slots.len() - 1)
    }
}

/// Removes the first line from the text and parses it.
fn take_line(lines: &mut &'static str) -> Option<NamedPosition> {
    let mut field = |end| {
        let at = memchr::memchr(end, lines.as_bytes())?;
        let (field, rest) = (&lines[..at], &lines[at + 1..]);
        *lines = rest;
        Some(field)
    };
    let opening = Opening { eco: field(b'\t')?.to_owned(), name: field(b'\t')?.to_owned() };
    let _pgn = field(b'\t')?;
    let key = u64::from_str_radix(field(b'\t')?, 16).ok()?;
    Some(NamedPosition::from_parts(opening, PositionKey(key), field(b'\n')?.into()))
}

#[inline]
const fn bit(key: PositionKey) -> u64 {
    1 << (key.0 & 63)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn named(name: &str, fen: &str) -> NamedPosition {
        let (position, _) = Position::from_fen(fen.as_bytes()).unwrap();
        NamedPosition::new(Opening { eco: "A00".to_owned(), name: name.to_owned() }, &position)
    }

    const KINGS: &str = "4k3/8/8/8/8/8/4P3/4K3 w - -";

    #[test]
    fn the_last_name_of_a_position_counts_whatever_its_move_counters() {
        let book = OpeningBook::new(vec![
            named("first", KINGS),
            named("other", "4k3/8/8/8/8/8/4P3/4K3 b - -"),
            named("last", &format!("{KINGS} 7 20")),
        ]);
        assert_eq!(book.len(), 2);
        let (position, _) = Position::from_fen(KINGS.as_bytes()).unwrap();
        assert_eq!(book.find(&position), Some(OpeningId(1)));
        assert_eq!(book.get(&position).unwrap().name, "last");
        assert_eq!(book.find(&Position::start()), None);
    }

    #[test]
    fn positions_with_one_key_are_distinguished() {
        let mut book = OpeningBook::new(vec![named("right", KINGS)]);
        let (position, _) = Position::from_fen(KINGS.as_bytes()).unwrap();
        let key = position.key();
        let home = book.home(key);
        // Pretend that the start position has the same key as `position` and is in the slot before it.
        let wrong = named("wrong", &Position::start().fen());
        book.openings.push(NamedPosition { key, ..wrong });
        let after = book.after(home);
        book.slots[after] = book.slots[home];
        book.slots[home] = Some(OpeningId(2));
        assert_eq!(book.get(&position).unwrap().name, "right");
    }

    #[test]
    fn look_ups_agree_with_a_map_of_fens() {
        let mut positions = vec![Position::start()];
        let mut codes = Vec::new();
        for depth in 0..3 {
            for position in positions.clone().iter().filter(|position| plies(position) == depth) {
                position.legal_moves(&mut codes);
                positions.extend(codes.iter().map(|&code| {
                    let mut after = position.clone();
                    after.make(code).unwrap();
                    after
                }));
            }
        }
        assert_eq!(positions.len(), 1 + 20 + 400 + 8902);
        let every_third = positions.iter().enumerate().step_by(3);
        let list: Vec<NamedPosition> =
            every_third.map(|(index, position)| named(&index.to_string(), &position.fen())).collect();
        let map: HashMap<String, String> =
            list.iter().map(|named| (named.fen.to_string(), named.opening.name.clone())).collect();
        let book = OpeningBook::new(list);
        assert_eq!(book.len(), map.len());
        for position in &positions {
            let name = book.get(position).map(|opening| &opening.name);
            assert_eq!(name, map.get(&position.canonical_fen()), "{}", position.fen());
        }
    }

    fn plies(position: &Position) -> u32 {
        2 * position.fullmove_number() - 2 + position.side() as u32
    }
}
