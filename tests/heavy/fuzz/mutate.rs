//! Inputs made from seeds, the same in every run.

/// Fragments of PGN and FEN.
const WORDS: &[&[u8]] = &[
    b"[Event \"x\"]\n",
    b"[FEN \"",
    b"\"]\n",
    b"\n\n",
    b"\r\n",
    b"\n[",
    b"[A \"",
    b"\\\"",
    b"\\",
    b"\"]",
    b"{",
    b"}",
    b"(",
    b")",
    b";",
    b"\n%",
    b"$1",
    b"1-0",
    b"0-1",
    b"1/2-1/2",
    b"*",
    b"1.",
    b"1...",
    b"e4",
    b"Nf3",
    b"O-O",
    b"O-O-O",
    b"0-0",
    b"e8=Q",
    b"exd6",
    b"--",
    b"Z0",
    b"e1h1",
    b"\xef\xbb\xbf",
    b"\xe2\x99\x98f3",
    b"\xe2\x80",
    b"\xc2\xa0",
    b"\xff\xfe",
    b"\0",
    b" w KQkq - 0 1",
    b" b - e3 0 1",
    b"4294967295",
    b"8/",
    b"/8/8",
    b"kq",
    b"HAha",
    b"[Variant \"Chess960\"]\n",
    b"[%clk 1]",
];

/// Makes inputs by cutting pieces out of seeds and changing a few bytes.
pub(crate) struct Mutator {
    seeds: Vec<Vec<u8>>,
    state: u64,
}

impl Mutator {
    /// The maximum length of a piece that is cut out of a seed.
    const MOST: usize = 4 << 10;

    pub(crate) const fn new(seeds: Vec<Vec<u8>>) -> Self {
        Self { seeds, state: 0x9e37_79b9_7f4a_7c15 }
    }

    /// A number less than `below`, or 0 if `below` is 0 (xorshift).
    fn below(&mut self, below: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state >> 8).unwrap_or(0) % below.max(1)
    }

    fn piece(&mut self) -> Vec<u8> {
        let seed = self.below(self.seeds.len());
        let length = self.seeds[seed].len();
        if length <= Self::MOST {
            return self.seeds[seed].clone();
        }
        let start = self.below(length - Self::MOST);
        let end = start + self.below(Self::MOST);
        self.seeds[seed][start..end].to_vec()
    }

    /// The next input.
    pub(crate) fn next(&mut self) -> Vec<u8> {
        let mut input = self.piece();
        for _ in 0..=self.below(8) {
            let at = self.below(input.len() + 1);
            let end = (at + self.below(64)).min(input.len());
            match self.below(8) {
                0 if at < end => input[at] ^= 1 << self.below(8),
                1 if at < end => input[at] = self.below(256) as u8,
                2 => drop(input.drain(at..end)),
                3 => {
                    let copy = input[at..end].to_vec();
                    input.splice(at..at, copy);
                }
                4 => {
                    let other = self.piece();
                    let from = self.below(other.len());
                    input.splice(at..end, other[from..].iter().take(512).copied());
                }
                5 => input.truncate(at),
                _ => {
                    let word = WORDS[self.below(WORDS.len())];
                    input.splice(at..at, word.iter().copied());
                }
            }
        }
        input
    }
}
