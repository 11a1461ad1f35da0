//! Parses pasted positions: FENs in quotes, in a tag pair, in the URL of a board, or followed by EPD
//! operations. Also parses moves in the letters and signs of many books and programs.
//!
//! Moves are parsed in three steps: `scan` splits the text into words, `Reading` plays the words with the
//! piece letters of one language, and `from_moves` chooses the language. PGN files are parsed by
//! [`pgn`](crate::pgn) instead: programs write them, so they need less tolerance and more speed.

mod letters;
mod moves;
mod scan;

use std::borrow::Cow;

pub(super) use scan::other_variant;

/// Characters that end a FEN in the surrounding text: quotes, closing brackets, `|`, the line end, and
/// characters that follow a FEN in a URL.
const ENDS: [char; 18] =
    ['"', '\'', '`', '“', '”', '„', '‘', '’', '«', '»', ']', ')', '>', '|', '#', '?', '&', '\n'];

/// The FEN in a pasted text, or the text itself if it contains no placement with eight full ranks.
pub(super) fn pasted_fen(text: &str) -> Cow<'_, str> {
    let decoded = percent_decoded(text);
    let Some((placement, behind)) = find_placement(&decoded) else { return Cow::Borrowed(text) };
    let fields = behind.split(ENDS).next().unwrap_or_default();
    // URLs have '_' or '+' instead of blanks.
    let words: Vec<&str> =
        fields.split([' ', '\t', '_', '+', '\r']).filter(|word| !word.is_empty()).collect();
    let mut fen = placement.to_owned();
    for (index, word) in words.iter().enumerate() {
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        if index >= 3 && !is_number && behind.contains(';') {
            // The rest consists of EPD operations.
            break;
        }
        fen.push(' ');
        fen.push_str(match *word {
            side if index == 0 && side.eq_ignore_ascii_case("white") => "w",
            side if index == 0 && side.eq_ignore_ascii_case("black") => "b",
            "–" | "—" | "−" => "-",
            word => word.trim_end_matches([';', ',']),
        });
    }
    Cow::Owned(fen)
}

/// The variant that the URL of a Lichess board names, if the variant has its own rules.
pub(super) fn variant_of_address(text: &str) -> Option<String> {
    const VARIANTS: [&str; 7] =
        ["antichess", "atomic", "crazyhouse", "horde", "kingOfTheHill", "racingKings", "threeCheck"];
    let (_, path) = text.split_once("lichess.org/")?;
    let is_one = |part: &&str| VARIANTS.iter().any(|name| name.eq_ignore_ascii_case(part));
    path.split('/').find(is_one).map(str::to_owned)
}

/// The first placement in a text, and the text after it.
fn find_placement(text: &str) -> Option<(&str, &str)> {
    let starts = text.char_indices().filter(|&(at, _)| !text[..at].ends_with(is_of_rank));
    starts.map(|(at, _)| &text[at..]).find_map(|rest| {
        let end = placement_length(rest)?;
        let (placement, behind) = rest.split_at(end);
        Some((placement, behind.strip_prefix('/').unwrap_or(behind)))
    })
}

/// The length of the placement at the start of a text: eight ranks of eight squares. `None` if the text does
/// not begin with one.
fn placement_length(text: &str) -> Option<usize> {
    let mut at = 0;
    for rank in 0..8 {
        if rank > 0 {
            text[at..].strip_prefix('/')?;
            at += 1;
        }
        let length = text[at..].find(|letter| !is_of_rank(letter)).unwrap_or(text.len() - at);
        let squares: u32 = text[at..at + length].chars().map(|letter| letter.to_digit(10).unwrap_or(1)).sum();
        if squares != 8 {
            return None;
        }
        at += length;
    }
    Some(at)
}

fn is_of_rank(letter: char) -> bool {
    "pnbrqkPNBRQK12345678".contains(letter)
}

/// Decodes sequences such as `%20`. If a `%` is not followed by the code of an ASCII character, returns the
/// text unchanged.
fn percent_decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split('%');
    let mut decoded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let byte = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte.filter(u8::is_ascii) {
            Some(byte) => {
                decoded.push(char::from(byte));
                decoded.push_str(&part[2..]);
            }
            None => return Cow::Borrowed(text),
        }
    }
    Cow::Owned(decoded)
}
