//! Reading PGN: any bytes are read to the end, and the division into chunks does not change the result.

use crate::properties::cases;
use pgndex::pgn::{
    Annotation, FrameProblem, FrameProblemKind, LOOK_AHEAD, Lexer, Reader, TagPair, Token, chunks,
    next_boundary, starts_tag_pair,
};
use proptest::prelude::*;

/// All data of a game; offsets are relative to the whole text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Game {
    start: usize,
    end: usize,
    tags: Vec<(Vec<u8>, Vec<u8>, usize)>,
    /// Tokens, with the annotations before and after them.
    tokens: Vec<String>,
}

/// An annotation without its offset.
fn shown(annotation: &Annotation<'_>, text: &[u8]) -> String {
    match annotation {
        Annotation::Variation(variation) => {
            let mut lexer = variation.lexer(text);
            let mut tokens = Vec::new();
            while !matches!(tokens.last(), Some(Token::End)) {
                tokens.push(lexer.next_annotated());
            }
            format!("{tokens:?}")
        }
        annotation => format!("{annotation:?}"),
    }
}

/// Reads all games of `text`, which begins at the offset `base`. Asserts that the reader advances and ends.
fn read(text: &[u8], base: usize) -> (Vec<Game>, Vec<FrameProblem>) {
    let mut reader = Reader::new(text);
    let (mut tags, mut problems, mut games) = (Vec::<TagPair<'_>>::new(), Vec::new(), Vec::new());
    let mut offset = 0;
    while reader.next_game(&mut tags, &mut problems) {
        let mut game =
            Game { start: base + reader.game_start(), end: 0, tags: Vec::new(), tokens: Vec::new() };
        game.tokens.extend(reader.leading().iter().map(|annotation| shown(annotation, text)));
        game.tags.extend(tags.iter().map(|tag| (tag.name.to_vec(), tag.value.to_vec(), base + tag.offset)));
        loop {
            let token = reader.next_token();
            assert!(reader.offset() >= offset && reader.offset() <= text.len(), "the reader advances");
            offset = reader.offset();
            game.tokens.push(format!("{token:?}"));
            assert!(game.tokens.len() <= text.len() + 1, "a game ends");
            if matches!(token, Token::End | Token::Result(_)) {
                break;
            }
            assert_ne!(token, Token::NextGame, "reading a game does not reach the next one");
        }
        while let Some(annotation) = reader.trailing() {
            assert!(reader.offset() > offset && reader.offset() <= text.len(), "the reader advances");
            offset = reader.offset();
            game.tokens.push(shown(&annotation, text));
        }
        game.end = base + reader.offset();
        games.push(game);
        assert!(games.len() <= text.len(), "the games end");
    }
    let moved = |problem: FrameProblem| FrameProblem { offset: base + problem.offset, ..problem };
    (games, problems.into_iter().map(moved).collect())
}

/// The same, chunk by chunk.
fn read_in_chunks(text: &[u8], size: usize) -> (Vec<Game>, Vec<FrameProblem>) {
    let (mut games, mut problems) = (Vec::new(), Vec::new());
    for chunk in chunks(text, size) {
        let (more_games, more_problems) = read(&text[chunk.clone()], chunk.start);
        games.extend(more_games);
        problems.extend(more_problems);
    }
    (games, problems)
}

/// Texts similar to PGN, so that all parts of the reader are tested.
fn soup() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: [&[u8]; 63] = [
        b"[Event \"a\"]\n",
        b"[Event \"b\"]\r\n",
        b"[White \"A \\\"B\\\" C\"]\n",
        b"[Black \"open\n",
        b"[Site \"x\"][Round \"1\"]",
        b"\n[Event \"c\"]\n",
        b"\n\n[Event \"d\"]\n\n",
        b"\n\n[Site \"e\"]\n",
        b"\n",
        b"\n\n",
        b"\r\n\r\n",
        b"\r",
        b" ",
        b"\t",
        b"1. e4 e5 ",
        b"2. Nf3 ",
        b"Nc6",
        b"1.d4",
        b"e8=Q+ ",
        b"e8(Q)",
        b"exd6e.p. ",
        b"0-0 ",
        b"O-O-O# ",
        b"-- ",
        b"Z0 ",
        b"1-0",
        b"0-1 ",
        b"1/2-1/2\n",
        b"*",
        b"\xc2\xbd-\xc2\xbd ",
        b"{ comment }",
        b"{",
        b"}",
        b"(",
        b")",
        b"(1. d4 {x} d5)",
        b"; rest of line ) }\n",
        b";",
        b"\n% hidden [Event \"no\"]\n",
        b"%",
        b"$1 ",
        b"!?",
        b"\xef\xbb\xbf",
        b"\xef\xbb\xbf[Event \"f\"]\n",
        b"\xe2\x99\x98f3 ",
        b"\xff\xfe",
        b"hello world ",
        b"[%clk 1:00]",
        b"[",
        b"]",
        b"[2. d4 exd4]",
        b"\n\n[Word \"1\"] x }",
        b"\n{ comment }\n",
        b"\n; comment\n",
        b"\n\n; comment\n\n",
        b"[[White \"x\"]]\n",
        b"[Annotator 'x']\n",
        b"[Round\n\"1\"]\n",
        b"[Round \"1\n2\"]\n",
        b"[White Someone]\n",
        b"[]",
        b"&excl; ",
        b" \"]\n",
    ];
    let piece = (0..PIECES.len()).prop_map(|index| PIECES[index].to_vec());
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// Arbitrary bytes; those with a meaning in PGN are more frequent.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        any::<u8>(),
        prop::sample::select(b"[]\"\n\r {}();%$*-0121/eEN4x\\\xef\xbb\xbf".to_vec())
    ];
    prop::collection::vec(byte, 0..200)
}

/// The boundaries of a short text, found by applying the rule to each line. A boundary is a line with a tag pair that
/// follows a blank line. The text before it must not be empty or consist of comments only. It must not end with a tag
/// pair, or with a tag pair and comments. A boundary must not be within a comment.
fn boundaries_by_line(text: &[u8]) -> Vec<usize> {
    assert!(text.len() < LOOK_AHEAD);
    let line_starts = (1..text.len()).filter(|&at| text[at - 1] == b'\n');
    line_starts.filter(|&at| is_boundary(text, at)).collect()
}

const BOM: &[u8] = b"\xef\xbb\xbf";

fn is_boundary(text: &[u8], at: usize) -> bool {
    let tag = text[at..].strip_prefix(BOM).unwrap_or(&text[at..]);
    let before = trimmed(&text[..at]);
    let follows_blank_line = text[before.len()..at].iter().filter(|&&byte| byte == b'\n').count() > 1;
    let is_brace = |byte: &&u8| matches!(byte, b'{' | b'}');
    let last_brace = text[..at].iter().rfind(is_brace);
    let next_brace = text[at..].iter().find(is_brace);
    let is_in_comment = (last_brace, next_brace) == (Some(&b'{'), Some(&b'}'));
    let is_first = before.is_empty();
    starts_tag_pair(tag) && follows_blank_line && !is_in_comment && !is_first && !is_among_tags(before)
}

fn trimmed(text: &[u8]) -> &[u8] {
    &text[..text.iter().rposition(|&byte| byte > b' ').map_or(0, |last| last + 1)]
}

/// The last line, without a byte order mark at its beginning.
fn last_line(text: &[u8]) -> &[u8] {
    let line = text.rsplit(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or(text);
    line.strip_prefix(BOM).unwrap_or(line)
}

/// Whether a text without trailing blanks ends with a tag pair, or with a tag pair and comments, or consists of
/// comments only.
fn is_among_tags(text: &[u8]) -> bool {
    let line = last_line(text);
    let comment = if matches!(line.first(), Some(b';' | b'%')) {
        text.len() - line.len()
    } else if text.ends_with(b"}") {
        let brace = text[..text.len() - 1].iter().rposition(|byte| matches!(byte, b'{' | b'}'));
        match brace {
            Some(open) if text[open] == b'{' => open,
            _ => return false,
        }
    } else {
        return ends_in_tag_pair(text);
    };
    let mut rest = trimmed(&text[..comment]);
    while let Some(marked) = rest.strip_suffix(BOM) {
        rest = trimmed(marked);
    }
    rest.is_empty() || is_among_tags(rest)
}

/// Whether the last tag pair extends to the end of the text. An unclosed one counts if the last line begins with it.
fn ends_in_tag_pair(text: &[u8]) -> bool {
    let mut line = last_line(text);
    // The opening bracket may be up to four lines earlier.
    for _ in 1..5 {
        if !text.ends_with(b"]") || line.contains(&b'[') {
            break;
        }
        let before = &text[..text.len() - line.len()];
        let before = before.strip_suffix(b"\n").unwrap_or(before);
        let before = before.strip_suffix(b"\r").unwrap_or(before);
        let previous = last_line(before);
        if trimmed(previous).is_empty() {
            return false;
        }
        line = &text[before.len() - previous.len()..];
    }
    let line = line.trim_ascii_start();
    let Some(start) = (0..line.len()).rfind(|&at| starts_tag_pair(&line[at..])) else { return false };
    let start = start - usize::from(line[..start].ends_with(b"["));
    let mut reader = Reader::new(&line[start..]);
    let (mut tags, mut problems) = (Vec::new(), Vec::new());
    assert!(reader.next_game(&mut tags, &mut problems));
    let is_unclosed = matches!(problems[..], [FrameProblem { kind: FrameProblemKind::UnclosedTag, .. }]);
    let is_one = tags.len() == 1 && reader.offset() == line.len() - start;
    is_one && (problems.is_empty() || is_unclosed && start == 0)
}

proptest! {
    #![proptest_config(cases(2000))]

    /// The games and problems do not depend on the chunk size, and the offsets of the games ascend.
    #[test]
    fn chunks_of_any_size_give_the_same_games(text in prop_oneof![3 => soup(), 1 => bytes()], size in 0..300_usize) {
        let whole = read(&text, 0);
        prop_assert!(whole.0.is_sorted_by(|one, next| one.start < next.start));
        prop_assert!(whole.0.iter().all(|game| game.start < text.len()));
        for game in &whole.0 {
            let first = game.tags.first();
            prop_assert!(first.is_none_or(|tag| tag.2 >= game.start), "{:?} in {}", game, text.escape_ascii());
        }
        for size in [size, 1, usize::MAX] {
            prop_assert_eq!(&read_in_chunks(&text, size), &whole, "size {} of {}", size, text.escape_ascii());
        }
    }

    /// The boundary search finds the same boundaries as applying the rule to each line.
    #[test]
    fn boundaries_agree_with_the_rule(text in prop_oneof![3 => soup(), 1 => bytes()]) {
        let mut found = Vec::new();
        let mut at = next_boundary(&text, 0);
        while at < text.len() {
            found.push(at);
            at = next_boundary(&text, at);
        }
        prop_assert_eq!(found, boundaries_by_line(&text), "{}", text.escape_ascii());
    }

    /// Skipping the movetext of a game leads to the same next game as reading it.
    #[test]
    fn games_can_be_skipped(text in soup()) {
        let (games, _) = read(&text, 0);
        let mut reader = Reader::new(&text);
        let (mut tags, mut problems, mut starts) = (Vec::new(), Vec::new(), Vec::new());
        while reader.next_game(&mut tags, &mut problems) {
            starts.push(reader.game_start());
        }
        prop_assert_eq!(starts, games.iter().map(|game| game.start).collect::<Vec<_>>());
    }

    /// From any byte, the tokens end with the end of the text or of the game.
    #[test]
    fn the_lexer_ends(text in prop_oneof![soup(), bytes()], at in any::<prop::sample::Index>()) {
        let mut lexer = Lexer::new(&text, at.index(text.len() + 1));
        let mut tokens = 0;
        while !matches!(lexer.next_token(), Token::End | Token::NextGame) {
            tokens += 1;
            prop_assert!(tokens <= text.len(), "{}", text.escape_ascii());
        }
    }
}

/// A byte order mark before a tag pair begins a new game even if a variation before it is still open.
#[test]
fn an_unclosed_variation_does_not_swallow_a_game_with_a_byte_order_mark() {
    let text = "[Event \"a\"]\n\n1. e4 (1. d4\n\u{feff}[Event \"b\"]\n\n1. c4 *\n";
    let (games, _) = read(text.as_bytes(), 0);
    let tags: Vec<&[u8]> = games.iter().map(|game| &game.tags[0].1[..]).collect();
    assert_eq!(tags, [b"a", b"b"]);
    assert_eq!(games[1].tokens[0], format!("{:?}", Token::Move(b"c4")));
}
