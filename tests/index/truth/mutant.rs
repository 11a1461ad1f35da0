//! Damages games in the ways in which people and programs do it, at random from a seed.

/// The maximum length of a game that is damaged, because python-chess is slow.
const LONGEST: usize = 2500;

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014): the same numbers on each
/// machine.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number less than `end`.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn pick<'t, T: ?Sized>(&mut self, from: &[&'t T]) -> &'t T {
        from[self.below(from.len())]
    }
}

/// Characters that replace others.
const LETTERS: &[u8] = b"()[]{};%$\"\\ \n\t.!?+#=-/:x*0189abehKQRBNPOoZ@SDLT\xa0\xe9";

/// Words that replace moves.
const MOVES: [&str; 34] = [
    "e4", "e5", "d5", "Nf3", "Nc6", "Bb5", "Qd2", "Rd1", "Ke2", "O-O", "O-O-O", "0-0", "o-o", "OO", "Kg1",
    "exd5", "e8=Q", "a1Q", "h8(N)", "bxa8=R+", "e2e4", "Ng1-f3", "Nbd2", "R1e1", "--", "Z0", "Qh9", "Nf33",
    "Sf3", "Cf6", "Nf3Nc6", "exd6e.p.", "N", "xd5",
];

/// Texts that are inserted between characters.
const INSERTED: [&str; 34] = [
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    " ; ",
    "$",
    " $6 ",
    " $1$2 ",
    "!?",
    " {c} ",
    " { 12. Qd4 ( } ",
    " (1. e4) ",
    " (12. Kb1 ",
    "\n% 12. Qd4 }\n",
    "\n; 12. Qd4 {\n",
    "\n\n",
    "\n \n",
    "\n",
    " ",
    "1-0",
    " 0-1 ",
    " * ",
    " 1/2-1/2 ",
    " 1. ",
    "...",
    " -- ",
    " novelty ",
    " see Qd4 ",
    "\u{bd}-\u{bd}",
    "\u{2026}",
    "\n[White \"A\"]\n",
];

/// At most `count` games of a collection, spread over all of it; none is very long.
pub(crate) fn games(text: &[u8], count: usize) -> Vec<&[u8]> {
    let mut starts: Vec<usize> = memchr::memmem::find_iter(text, b"\n[Event ").map(|at| at + 1).collect();
    starts.insert(0, 0);
    starts.push(text.len());
    let games: Vec<&[u8]> = starts
        .windows(2)
        .map(|range| &text[range[0]..range[1]])
        .filter(|game| game.len() <= LONGEST && game.starts_with(b"[Event "))
        .collect();
    games.iter().step_by(games.len().div_ceil(count).max(1)).copied().collect()
}

/// A game chosen from `games`, with one or two errors.
pub(crate) fn mutant(random: &mut Random, games: &[&[u8]]) -> Vec<u8> {
    let mut text = random.pick(games).to_vec();
    for _ in 0..random.below(3).max(1) {
        damage(random, &mut text, games);
    }
    text
}

fn damage(random: &mut Random, text: &mut Vec<u8>, games: &[&[u8]]) {
    let moves = memchr::memmem::rfind(text, b"\"]").map_or(0, |tag| tag + 2);
    // Most errors are in the moves.
    let first = if random.below(6) == 0 { 0 } else { moves };
    if first + 1 >= text.len() {
        return text.extend_from_slice(b"1. e4 *");
    }
    let at = first + random.below(text.len() - first);
    let some = (at + 1 + random.below(10)).min(text.len());
    match random.below(20) {
        0..=2 => drop(text.drain(at..some)),
        3 | 4 => drop(text.remove(at)),
        5 | 6 => {
            let doubled = text[at..some].to_vec();
            drop(text.splice(at..at, doubled));
        }
        7 => {
            let next = (at + 1).min(text.len() - 1);
            text.swap(at, next);
        }
        8 | 9 => text[at] = LETTERS[random.below(LETTERS.len())],
        10..=12 => {
            let is_blank = |byte: &u8| byte.is_ascii_whitespace();
            let start = text[..at].iter().rposition(is_blank).map_or(0, |blank| blank + 1);
            let end = text[at..].iter().position(is_blank).map_or(text.len(), |blank| at + blank);
            drop(text.splice(start..end.max(start), random.pick(&MOVES).bytes()));
        }
        13..=16 => drop(text.splice(at..at, random.pick(&INSERTED).bytes())),
        17 => {
            let line_end = random.pick(&["\r\n", "\r", " \n", "\n\n", " "]);
            let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
            *text = lines.join(line_end.as_bytes());
        }
        18 => text.truncate(at),
        _ => {
            let cut = text.len() - random.below(3).min(text.trim_ascii_end().len());
            text.truncate(if random.below(2) == 0 { text.trim_ascii_end().len() } else { cut });
            text.extend_from_slice(random.pick(&["", " ", "\n", "\n\n"]).as_bytes());
            text.extend_from_slice(random.pick(games));
        }
    }
}
