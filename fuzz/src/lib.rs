//! Properties that hold for any bytes: the bodies of the fuzz targets. `tests/heavy/fuzz` calls them too, without libFuzzer.
//!
//! Each function panics if its property does not hold.

use std::fmt::Debug;

use pgndex::board::{FenText, MAX_CANONICAL_FEN, MoveCode, Position, ShortMove};
use pgndex::index::IndexOptions;
use pgndex::pgn::{Lexer, Reader, TagPair, Token, chunks, decode};
use pgndex::verify::{Sample, VerifyOptions};

/// A fuzz target: its name and its body.
pub type Target = (&'static str, fn(&[u8]));

/// All fuzz targets.
pub const TARGETS: [Target; 6] =
    [("reader", reader), ("lexer", lexer), ("san", san), ("fen", fen), ("tags", tags), ("index", index)];

/// Chunks of any size give the same games as the whole text.
pub fn reader(data: &[u8]) {
    let Some((size, text)) = data.split_first() else { return };
    let mut whole = Vec::new();
    read(text, 0, &mut whole);
    let mut pieces = Vec::new();
    let mut end = 0;
    for chunk in chunks(text, usize::from(*size) * 3) {
        assert_eq!(chunk.start, end, "chunks follow each other");
        end = chunk.end;
        read(&text[chunk.clone()], chunk.start, &mut pieces);
    }
    assert_eq!(end, text.len(), "chunks reach the end");
    assert_eq!(whole, pieces);
}

/// The contents of a text's games, with offsets from `base`.
fn read(text: &[u8], base: usize, found: &mut Vec<String>) {
    let mut reader = Reader::new(text);
    let (mut tags, mut problems) = (Vec::new(), Vec::new());
    while reader.next_game(&mut tags, &mut problems) {
        found.push(format!("game at {}", base + reader.game_start()));
        for TagPair { name, value, offset } in &tags {
            found.push(format!("{} {} {}", base + offset, name.escape_ascii(), value.escape_ascii()));
        }
        loop {
            let token = reader.next_token();
            assert!(reader.offset() <= text.len());
            found.push(match token {
                Token::Move(word) | Token::Junk(word) => {
                    format!("{} {}", base + reader.offset(), word.escape_ascii())
                }
                other => format!("{} {other:?}", base + reader.token_start()),
            });
            if matches!(token, Token::End | Token::Result(_)) {
                break;
            }
        }
    }
    found.extend(problems.iter().map(|problem| format!("{:?} at {}", problem.kind, base + problem.offset)));
    // A problem is reported with the game after it. Where the text is divided into chunks, only the order of the
    // problems may differ.
    found.sort();
}

/// Each token except `NextGame` takes at least one byte, and the last token is `End`.
pub fn lexer(data: &[u8]) {
    let mut lexer = Lexer::new(data, 0);
    let mut at = 0;
    loop {
        let token = lexer.next_token();
        let now = lexer.offset();
        assert!(now <= data.len() && lexer.token_start() <= now);
        if token == Token::End {
            return assert_eq!(now, data.len());
        }
        assert!(now > at || token == Token::NextGame, "{token:?} at {at} takes no byte");
        if let Token::Move(word) | Token::Junk(word) = token {
            assert!(!word.is_empty() && data[..now].ends_with(word));
        }
        if token == Token::NextGame {
            // A reader would now read the tag pair. Here, only its first byte is skipped.
            lexer = Lexer::new(data, now + 1);
        }
        at = now;
    }
}

/// The input is a FEN on the first line, then moves. Each readable move can be read back from its SAN, its UCI notation
/// and its short form.
pub fn san(data: &[u8]) {
    let (line, moves) = data.split_at(data.iter().position(|&byte| byte == b'\n').unwrap_or(0));
    let mut position = Position::from_fen(line).map_or_else(|_| Position::start(), |(position, _)| position);
    for word in moves.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
        let Ok(code) = position.resolve(word) else { continue };
        let mut after = position.clone();
        let made = after.make(code).expect("a resolved move is legal");
        check_move(&position, code, made, &after);
        position = after;
        check_position(&position);
    }
}

fn check_move(before: &Position, code: MoveCode, made: MoveCode, after: &Position) {
    assert_eq!(made.model(), code.model());
    assert_eq!(MoveCode::from_bits(made.bits()), Some(made));
    let (san, uci) = (before.san(code), before.uci(code).to_string());
    for text in [&san, &uci] {
        let again = before.resolve(text.as_bytes());
        assert_eq!(again.map(MoveCode::model), Ok(code.model()), "{text} in {}", before.fen());
    }
    let mut short = before.clone();
    assert_eq!(short.make_short(ShortMove::new(code)).map(MoveCode::model), Some(code.model()));
    assert_eq!(&short, after);
    let mut text = FenText::new(before);
    text.update(after, made);
    let mut space = [0; MAX_CANONICAL_FEN];
    let length = text.write_at_end(after, &mut space);
    assert_eq!(&space[MAX_CANONICAL_FEN - length..], after.canonical_fen().as_bytes());
    let mut legal = Vec::new();
    before.legal_moves(&mut legal);
    assert!(code.is_null() || legal.iter().any(|legal| legal.model() == code.model()));
}

fn check_position(position: &Position) {
    assert_eq!(position.key(), position.key_from_scratch());
    let fen = position.fen();
    let (again, changes) = Position::from_fen(fen.as_bytes()).expect("what was printed can be read");
    assert_eq!((&again, changes), (position, vec![]), "{fen}");
    let mut legal = Vec::new();
    position.legal_moves(&mut legal);
    assert_eq!(!legal.is_empty(), position.has_legal_move(), "{fen}");
}

/// A readable FEN is printed and read back as the same position, and so is the position after each legal move.
pub fn fen(data: &[u8]) {
    let Ok((position, _)) = Position::from_fen(data) else { return };
    check_position(&position);
    let mut legal = Vec::new();
    position.legal_moves(&mut legal);
    for code in legal {
        let mut after = position.clone();
        let made = after.make(code).expect("a legal move can be made");
        check_move(&position, code, made, &after);
        check_position(&after);
    }
}

/// Any bytes can be the value of a tag; a text can be read back from its tag pair.
pub fn tags(data: &[u8]) {
    let text = decode(data);
    assert_eq!(text.is_empty(), data.is_empty());
    let _ = TagPair { name: b"A", value: data, offset: 0 }.text();
    let value: String = text.chars().filter(|letter| !matches!(letter, '\n' | '\r')).collect();
    let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
    let pgn = format!("[A \"{escaped}\"]\n[B \"{escaped}\"]\n\n*\n");
    let mut reader = Reader::new(pgn.as_bytes());
    let (mut pairs, mut problems) = (Vec::new(), Vec::new());
    assert!(reader.next_game(&mut pairs, &mut problems), "{pgn:?}");
    let read: Vec<_> = pairs.iter().map(|pair| (pair.name, pair.text().into_owned())).collect();
    assert_eq!(read, [(&b"A"[..], value.clone()), (b"B", value)], "{pgn:?}");
}

/// Any text gives a sound database, with the same counts for chunks of any size.
pub fn index(data: &[u8]) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (input, target) = (directory.path().join("in.pgn"), directory.path().join("out.db"));
    std::fs::write(&input, data).expect("written");
    let usual = IndexOptions {
        threads: 2,
        memory: 16 << 20,
        overwrite: true,
        continuation_threshold: 2,
        ..IndexOptions::default()
    };
    let small = IndexOptions { chunk_size: 64, ..usual.clone() };
    let mut games = None;
    for options in [usual, small] {
        // An archive or a database is rejected.
        let Ok(summary) = pgndex::index::index(&target, &[&input], &options, &Default::default()) else {
            return;
        };
        let counts = (summary.games, summary.plies, summary.distinct_positions);
        assert_eq!(*games.get_or_insert(counts), counts);
        let options = VerifyOptions { threads: 1, sample: Sample::All, ..VerifyOptions::default() };
        let report = checked(pgndex::verify::verify(&target, &options, &Default::default()));
        assert!(report.is_sound(), "{:#?}", report.findings.first);
    }
}

fn checked<T, E: Debug>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("{error:?}"))
}
