//! Compact sets of games. Games are grouped in blocks of 65,536 numbers, so that adding or removing games
//! changes the sets of few blocks only.
//!
//! A set of distinct numbers below 65,536 begins with twice the number of elements, plus 1 if a bitmap
//! follows. Then comes either a list or a bitmap:
//!
//! - a list: the first number, then for each further number its difference from the number before, minus 1;
//! - a bitmap: its length in bytes, then its bytes. Bit 0 of the first byte represents the number 0.
//!
//! The bitmap is used only if it is clearly shorter than the list. Numbers are varints: seven bits per byte,
//! lowest bits first; all bytes but the last have the top bit set.

use crate::id::GameId;

/// The number of games per block.
pub const BLOCK_GAMES: u32 = 1 << 16;

/// The block of a game, and the game's number within this block.
#[must_use]
#[inline]
pub const fn block_of(game: GameId) -> (u32, u16) {
    (game.0 / BLOCK_GAMES, (game.0 % BLOCK_GAMES) as u16)
}

/// The game with the given number within a block.
#[must_use]
#[inline]
pub const fn game_of(block: u32, number: u16) -> GameId {
    GameId(block * BLOCK_GAMES + number as u32)
}

/// The ids of the first and the last game that a block can contain.
#[must_use]
pub const fn games_of(block: u32) -> [u32; 2] {
    [game_of(block, 0).0, game_of(block, u16::MAX).0]
}

/// Appends a set to `bytes`. The numbers must be distinct and in ascending order.
pub fn encode(numbers: &[u16], bytes: &mut Vec<u8>) {
    let start = bytes.len();
    let count = 2 * numbers.len() as u64;
    push_number(count, bytes);
    let mut next = 0;
    for &number in numbers {
        push_number(u64::from(number) - next, bytes);
        next = u64::from(number) + 1;
    }
    if is_shorter_as_map(bytes.len() - start, map_bytes(numbers)) {
        bytes.truncate(start);
        push_number(count + 1, bytes);
        push_map(&[], numbers, bytes);
    }
}

/// Reads the set at the beginning of `set`, adds further numbers (distinct, in ascending order), and appends
/// the result to `bytes`, as [`encode`] would. Returns the bytes after the set, or `None` if the set cannot
/// be read. Not every invalid set is noticed.
pub(crate) fn encode_with<'s>(set: &'s [u8], more: &[u16], bytes: &mut Vec<u8>) -> Option<&'s [u8]> {
    // Added games nearly always have greater numbers than existing games, so the old set can be copied.
    if let Some(rest) = append_to_list(set, more, bytes).or_else(|| append_to_map(set, more, bytes)) {
        return Some(rest);
    }
    let mut numbers = Vec::new();
    let rest = decode(set, |number| numbers.push(number))?;
    numbers.extend_from_slice(more);
    numbers.sort_unstable();
    numbers.dedup();
    encode(&numbers, bytes);
    Some(rest)
}

/// Does the work of [`encode_with`] if the set is a list, stays a list, and has only numbers less than those
/// in `more`. Otherwise returns `None`.
fn append_to_list<'s>(set: &'s [u8], more: &[u16], bytes: &mut Vec<u8>) -> Option<&'s [u8]> {
    let (count, list) = take_number(set)?;
    if count % 2 == 1 {
        return None;
    }
    let (mut next, mut rest) = (0_u64, list);
    for _ in 0..count / 2 {
        let (greater, behind) = take_number(rest)?;
        (next, rest) = (next + u64::from(greater) + 1, behind);
    }
    if more.first().is_some_and(|&first| u64::from(first) < next) {
        return None;
    }
    let start = bytes.len();
    push_number(u64::from(count) + 2 * more.len() as u64, bytes);
    bytes.extend_from_slice(&list[..list.len() - rest.len()]);
    for &number in more {
        push_number(u64::from(number) - next, bytes);
        next = u64::from(number) + 1;
    }
    if is_shorter_as_map(bytes.len() - start, next.div_ceil(8) as usize) {
        bytes.truncate(start);
        return None;
    }
    Some(rest)
}

/// Does the work of [`encode_with`] if the set is a bitmap, certainly stays a bitmap, and has only numbers
/// less than those in `more`. Otherwise returns `None`.
fn append_to_map<'s>(set: &'s [u8], more: &[u16], bytes: &mut Vec<u8>) -> Option<&'s [u8]> {
    let (count, behind) = take_number(set)?;
    let (length, behind) = take_number(behind)?;
    let (map, rest) = behind.split_at_checked(length as usize)?;
    let end = 8 * map.len() - map.last()?.leading_zeros() as usize;
    let numbers = count as usize / 2 + more.len();
    // `numbers + 1` is the minimum length of a list: one byte per number, and one for the count.
    let stays = count % 2 == 1 && is_shorter_as_map(numbers + 1, map.len().max(map_bytes(more)));
    if !stays || more.first().is_some_and(|&first| usize::from(first) < end) {
        return None;
    }
    push_number(2 * numbers as u64 + 1, bytes);
    push_map(map, more, bytes);
    Some(rest)
}

/// The length in bytes of a bitmap of numbers in ascending order.
fn map_bytes(numbers: &[u16]) -> usize {
    numbers.last().map_or(0, |&last| usize::from(last) / 8 + 1)
}

/// Whether a bitmap is used instead of a list. Both lengths are in bytes. `list_bytes` includes the count.
/// `map_bytes` includes neither the count nor the stored length of the bitmap, so four bytes are added for
/// these two numbers.
const fn is_shorter_as_map(list_bytes: usize, map_bytes: usize) -> bool {
    list_bytes > map_bytes + 4
}

/// Appends the length of a bitmap, and then the bitmap: a copy of `map` with `numbers` added.
fn push_map(map: &[u8], numbers: &[u16], bytes: &mut Vec<u8>) {
    let length = map.len().max(map_bytes(numbers));
    push_number(length as u64, bytes);
    let start = bytes.len();
    bytes.extend_from_slice(map);
    bytes.resize(start + length, 0);
    for &number in numbers {
        bytes[start + usize::from(number / 8)] |= 1 << (number % 8);
    }
}

/// Reads the set at the beginning of `bytes` and passes its numbers to `see` in ascending order. Returns the
/// bytes after the set, or `None` if there is no valid set; `see` can already have been called in that case.
#[inline]
pub fn decode(bytes: &[u8], see: impl FnMut(u16)) -> Option<&[u8]> {
    decode_within(bytes, |_| u64::MAX, see)
}

/// Like [`decode`], but passes only the wanted numbers. `wanted(n)` returns one bit for each of the 64
/// numbers from `64 * n` on; the bits of wanted numbers are set.
#[inline]
pub(crate) fn decode_within(
    bytes: &[u8],
    wanted: impl Fn(usize) -> u64,
    mut see: impl FnMut(u16),
) -> Option<&[u8]> {
    let (count, mut rest) = take_number(bytes)?;
    let mut seen = 0;
    if count % 2 == 1 {
        let (length, behind) = take_number(rest)?;
        let (map, behind) = behind.split_at_checked(length as usize)?;
        if map.len() > BLOCK_GAMES as usize / 8 {
            return None;
        }
        for (index, (part, first)) in map.chunks(8).zip((0..=u16::MAX).step_by(64)).enumerate() {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            let word = u64::from_le_bytes(word);
            seen += word.count_ones();
            let mut found = word & wanted(index);
            while found != 0 {
                see(first + found.trailing_zeros() as u16);
                found &= found - 1;
            }
        }
        rest = behind;
    } else {
        let mut next = 0;
        while seen < count / 2 {
            let (more, behind) = take_number(rest)?;
            let number = u16::try_from(more.checked_add(next)?).ok()?;
            if wanted(usize::from(number / 64)) >> (number % 64) & 1 == 1 {
                see(number);
            }
            (next, rest) = (u32::from(number) + 1, behind);
            seen += 1;
        }
    }
    (seen == count / 2).then_some(rest)
}

/// Like [`decode`], but `bytes` must end with the set: if more bytes follow, returns `None`.
pub fn decode_whole(bytes: &[u8], see: impl FnMut(u16)) -> Option<()> {
    decode(bytes, see)?.is_empty().then_some(())
}

/// Appends a number to `bytes` as a varint.
pub(crate) fn push_number(mut number: u64, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads the varint at the beginning of `bytes`. Returns the number and the remaining bytes; `None` if the
/// number has more than 28 bits or is cut off.
#[inline]
pub(super) fn take_number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (&first, mut rest) = bytes.split_first()?;
    if first < 0x80 {
        return Some((u32::from(first), rest));
    }
    let mut number = u32::from(first & 0x7f);
    for shift in [7, 14, 21] {
        let (&byte, behind) = rest.split_first()?;
        rest = behind;
        number |= u32::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some((number, rest));
        }
    }
    None
}

/// Like [`take_number`], for 64-bit numbers.
pub(super) fn take_long_number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0;
    for (index, &byte) in bytes.iter().enumerate() {
        let (shift, bits) = (7 * index as u32, u64::from(byte & 0x7f));
        if shift > 63 || bits << shift >> shift != bits {
            return None;
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Some((number, &bytes[index + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::properties::cases;

    fn round_trip(numbers: &[u16]) -> usize {
        let mut bytes = vec![7];
        encode(numbers, &mut bytes);
        let length = bytes.len() - 1;
        bytes.push(9);
        let mut found = Vec::new();
        let rest = decode(&bytes[1..], |number| found.push(number));
        assert_eq!((rest, found.as_slice()), (Some([9].as_slice()), numbers));
        // A truncated set is invalid.
        assert!((0..length).all(|end| decode(&bytes[1..=end], |_| {}).is_none()));
        length
    }

    #[test]
    fn sets_are_encoded_in_the_shorter_form_and_decoded_again() {
        for (numbers, length) in [
            (vec![], 1),
            (vec![0], 2),
            (vec![u16::MAX], 4),
            (vec![0, u16::MAX], 5),
            ((0..=u16::MAX).collect(), 3 + 2 + 8192),
            ((0..100).collect(), 2 + 1 + 13),
            ((0..=u16::MAX).step_by(100).collect(), 2 + 656),
        ] {
            assert_eq!(round_trip(&numbers), length, "{} numbers", numbers.len());
        }
    }

    #[test]
    fn invalid_sets_are_reported() {
        for bytes in [
            &[][..],
            &[2],
            &[4, 0],
            &[0x80],
            &[2, 0x80, 0x80, 4], // 65,536
            &[3, 1, 3],          // two bits for one number
            &[3, 2, 1],          // a map that is cut off
            &[2, 0xff, 0xff, 0xff, 0xff, 0xff],
            &[4, 0xff, 0xff, 3, 0], // 65,536 as the second
        ] {
            assert_eq!(decode(bytes, |_| {}), None, "{bytes:?}");
        }
        let long_map = [&[3, 0x81, 0x40][..], &[0; 8192], &[1]].concat();
        assert_eq!(decode(&long_map, |_| {}), None);
    }

    #[test]
    fn games_have_a_block_and_a_number_within_it() {
        for game in [0, 1, 65_535, 65_536, u32::MAX] {
            let (block, number) = block_of(GameId(game));
            assert_eq!(game_of(block, number), GameId(game));
        }
        assert_eq!(block_of(GameId(65_537)), (1, 1));
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn any_set_is_decoded_again(numbers in proptest::collection::btree_set(any::<u16>(), 0..300)) {
            round_trip(&numbers.into_iter().collect::<Vec<_>>());
        }

        /// Most numbers are close to each other, so that bitmaps occur. The added numbers can be smaller than
        /// the others.
        #[test]
        fn adding_to_a_set_equals_encoding_it_at_once(
            numbers in proptest::collection::btree_set(0..900_u16, 0..400),
            far in proptest::option::of(any::<u16>()),
            (begin, end) in (0..1000_u16, 0..1000_u16),
        ) {
            let numbers: BTreeSet<u16> = numbers.into_iter().chain(far).collect();
            for more in [Vec::new(), numbers.iter().copied().filter(|&number| number >= begin).collect::<Vec<_>>(), (begin..end).collect()] {
                let before: Vec<u16> = numbers.iter().copied().filter(|&number| number < begin || end < begin).collect();
                let (mut set, mut joined, mut at_once) = (Vec::new(), vec![7], vec![7]);
                encode(&before, &mut set);
                set.push(9);
                prop_assert_eq!(encode_with(&set, &more, &mut joined), Some([9].as_slice()));
                let all: BTreeSet<u16> = before.into_iter().chain(more).collect();
                encode(&all.into_iter().collect::<Vec<_>>(), &mut at_once);
                prop_assert_eq!(joined, at_once);
            }
        }

        #[test]
        fn any_bytes_are_decoded_or_rejected(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let is_set = decode(&bytes, |_| {}).is_some();
            let mut joined = Vec::new();
            if encode_with(&bytes, &[1, u16::MAX], &mut joined).is_some() && is_set {
                let is_set = decode_whole(&joined, |_| {}).is_some();
                prop_assert!(is_set);
            }
        }
    }
}
