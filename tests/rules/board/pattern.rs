//! Patterns and material signatures, compared with a simple matcher that backtracks at each star, and with counting.

use pgndex::board::{Color, Material, MaterialSignature, Pattern, Piece, PieceKind, Position};
use proptest::prelude::*;

use super::common::{Play, plays};
use crate::properties::cases;

/// The squares of a rank: piece letters, and dots for empty squares.
fn squares(rank: &str) -> Vec<u8> {
    let squares = rank.bytes().flat_map(|byte| match byte {
        b'1'..=b'8' => vec![b'.'; usize::from(byte - b'0')],
        letter => vec![letter],
    });
    squares.collect()
}

fn fits(sign: u8, square: u8) -> bool {
    match sign {
        b'?' => true,
        b'!' => square != b'.',
        b'A' => square.is_ascii_uppercase(),
        b'a' => square.is_ascii_lowercase(),
        same => same == square,
    }
}

fn rank_fits(signs: &[u8], rank: &[u8]) -> bool {
    match signs {
        [] => rank.is_empty(),
        [b'*', rest @ ..] => (0..=rank.len()).any(|star| rank_fits(rest, &rank[star..])),
        [b'[', rest @ ..] => {
            let end = rest.iter().position(|&byte| byte == b']').unwrap();
            let one_of = |signs: &[u8], square| signs.iter().any(|&sign| fits(sign, square));
            let fits = |square| match &rest[..end] {
                [b'^', signs @ ..] => !one_of(signs, square),
                signs => one_of(signs, square),
            };
            rank.split_first()
                .is_some_and(|(&square, left)| fits(square) && rank_fits(&rest[end + 1..], left))
        }
        [digit @ b'1'..=b'8', rest @ ..] => {
            let empty = usize::from(digit - b'0');
            rank.len() >= empty
                && rank[..empty].iter().all(|&square| square == b'.')
                && rank_fits(rest, &rank[empty..])
        }
        [sign, rest @ ..] => {
            rank.split_first().is_some_and(|(&square, left)| fits(*sign, square) && rank_fits(rest, left))
        }
    }
}

/// Matches a pattern in the simple, slow way.
fn naive(pattern: &str, fen: &str) -> bool {
    let (mut pattern, mut fen) = (pattern.split(' '), fen.split(' '));
    let ranks = pattern.next().unwrap().split('/').zip(fen.next().unwrap().split('/'));
    let mut sides = pattern.next().into_iter().zip(fen.next());
    ranks.fold(true, |all, (signs, rank)| all && rank_fits(signs.as_bytes(), &squares(rank)))
        && sides.all(|(required, side)| required == side)
}

/// A sign of a pattern, chosen by `choice`. Most signs match the square or a run of squares that contains it; a few do
/// not match.
fn sign(square: u8, choice: u8) -> String {
    let letter = char::from(square);
    match choice % 16 {
        0..=5 => letter.to_string(),
        6 => "?".to_owned(),
        7 => if square == b'.' { "." } else { "!" }.to_owned(),
        8 if square != b'.' => if letter.is_uppercase() { "A" } else { "a" }.to_owned(),
        9 => format!("[{letter}q]"),
        10 => "[^kK]".to_owned(),
        11 => "[^.]".to_owned(),
        12 => "*".to_owned(),
        13 => format!("*{letter}*"),
        14 => format!("{letter}*"),
        _ => "[A.]".to_owned(),
    }
}

/// The positions of a game.
fn positions(play: &Play) -> Vec<Position> {
    let mut positions = Vec::new();
    let last = play.walk(|position, _| {
        positions.push(position.clone());
        Ok(())
    });
    positions.push(last.unwrap());
    positions
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn patterns_agree_with_a_simple_matcher(
        play in plays(60),
        choices in prop::collection::vec(any::<u8>(), 64),
        mild in any::<bool>(),
    ) {
        let fens: Vec<_> = positions(&play).iter().map(|position| position.canonical_fen()).collect();
        let first = &fens[fens.len() / 2];
        let mut pattern = String::new();
        for (rank, text) in first.split(' ').next().unwrap().split('/').enumerate() {
            let signs = squares(text);
            let signs = signs.iter().zip(&choices[8 * rank..]);
            // With stars for single squares, a rank gets too long and is rejected; one star for the whole rank is
            // allowed.
            let text: Vec<_> = signs.map(|(&square, &choice)| {
                if mild && choice % 16 > 11 { "?".to_owned() } else { sign(square, choice) }
            }).collect();
            let text = if choices[rank] % 3 == 0 { "*".to_owned() } else { text.concat() };
            pattern += &format!("{}{text}", if rank == 0 { "" } else { "/" });
        }
        if choices[63] % 2 == 0 {
            pattern += " b";
        }
        if let Ok(compiled) = Pattern::parse(&pattern) {
            for fen in &fens {
                prop_assert_eq!(compiled.matches(fen.as_bytes()), naive(&pattern, fen), "{} {}", pattern, fen);
            }
        }
    }

    #[test]
    fn material_agrees_with_the_board(play in plays(80)) {
        let positions = positions(&play);
        for position in &positions {
            let fen = position.canonical_fen();
            let material = Material::from_placement(fen.as_bytes());
            for color in [Color::White, Color::Black] {
                for kind in PieceKind::ALL {
                    let expected = position.squares_of(kind, color).len();
                    prop_assert_eq!(material.count(Piece::new(kind, color)), expected, "{}", fen);
                }
            }
            let text = material.to_string();
            let signature = MaterialSignature::parse(&text).unwrap();
            for parted in ["-", "", " v ", " - "] {
                prop_assert_eq!(MaterialSignature::parse(&text.replace('v', parted)), Ok(signature), "{}", text);
            }
            for other in &positions {
                let other = other.canonical_fen();
                let same = Material::from_placement(other.as_bytes()) == material;
                prop_assert_eq!(signature.matches(other.as_bytes()), same);
            }
        }
    }

    #[test]
    fn the_second_king_separates_the_sides_like_a_separator(white in "([QRBNP][*+?]?){0,6}(\\.\\.)?", black in "([QRBNP][*+?]?){0,6}(\\.\\.)?") {
        let read = |parted: &str| MaterialSignature::parse(&format!("K{white}{parted}K{black}"));
        let signature = read("v").unwrap();
        prop_assert_eq!(read("-"), Ok(signature));
        prop_assert_eq!(read(""), Ok(signature));
        // The order of the kings says which side is White's.
        let turned = MaterialSignature::parse(&format!("K{black}K{white}")).unwrap();
        prop_assert_eq!(turned, signature.reversed());
        prop_assert_eq!(turned.reversed(), signature);
    }

    #[test]
    fn no_text_causes_a_panic(pattern in "[1-8.?!AaKkPp*^\\[\\]/vw ]{0,40}", text in ".{0,40}") {
        let ranks = [pattern.as_str(); 8].join("/");
        for pattern in [&pattern, &text, &ranks] {
            if let Ok(pattern) = Pattern::parse(pattern) {
                let _ = pattern.matches(text.as_bytes());
            }
            if let Ok(signature) = MaterialSignature::parse(pattern) {
                let _ = signature.matches(text.as_bytes());
            }
        }
    }
}

/// Whether the pattern `signs` matches a rank.
fn rank_matches(signs: &str, rank: &str) -> bool {
    let pattern = Pattern::parse(&format!("*/*/*/{signs}/*/*/*/*")).unwrap();
    pattern.matches(format!("8/p7/8/{rank}/8/8/8/K6k w - -").as_bytes())
}

#[test]
fn each_sign_of_a_rank() {
    let cases = [
        ("8", "8", true),
        ("8", "7P", false),
        ("........", "8", true),
        ("4P3", "4P3", true),
        ("2.1P3", "4P3", true),
        ("4P3", "3P4", false),
        ("????P???", "RNBQPBNR", true),
        ("!7", "n7", true),
        ("!7", "8", false),
        ("A7", "N7", true),
        ("A7", "n7", false),
        ("a7", "n7", true),
        ("a7", "N7", false),
        ("[Qr]7", "r7", true),
        ("[Qr]7", "R7", false),
        ("[Qr.]7", "8", true),
        ("[^p]7", "8", true),
        ("[^p]7", "p7", false),
        ("[^.]7", "8", false),
        ("*", "rnbqkbnr", true),
        ("*", "8", true),
        ("*P*", "6P1", true),
        ("*P*", "P7", true),
        ("*P*", "7P", true),
        ("*P*", "7p", false),
        ("P*P", "PPPPPPPP", true),
        ("P*P", "P6P", true),
        ("P*P", "P5P1", false),
        ("*PP*", "P1P1P1P1", false),
        ("*PP*", "P1P2PP1", true),
        ("*R*k*", "3R2k1", true),
        ("*R*k*", "3k2R1", false),
        ("*R2k*", "3R2k1", true),
        ("*R*1*k*", "3Rk3", false),
        ("**", "rnbqkbnr", true),
        ("????????*", "rnbqkbnr", true),
    ];
    for (signs, rank, expected) in cases {
        assert_eq!(rank_matches(signs, rank), expected, "{signs} {rank}");
        assert_eq!(
            rank_fits(signs.as_bytes(), &squares(rank)),
            expected,
            "the simple matcher: {signs} {rank}"
        );
    }
}

#[test]
fn the_side_to_move_is_compared_if_given() {
    let fen = b"8/8/8/4k3/8/4K3/4P3/8 w - -";
    assert!(Pattern::parse("*/*/*/*k*/*/*/*/*").unwrap().matches(fen));
    assert!(Pattern::parse("*/*/*/*k*/*/*/*/* w").unwrap().matches(fen));
    assert!(Pattern::parse("*/*/*/*k*/*/*/*/8 w").unwrap().matches(fen));
    assert!(!Pattern::parse("*/*/*/*k*/*/*/*/* b").unwrap().matches(fen));
    let placement = b"8/8/8/4k3/8/4K3/4P3/8";
    assert!(Pattern::parse("*/*/*/*k*/*/*/*/*").unwrap().matches(placement));
    assert!(!Pattern::parse("*/*/*/*k*/*/*/*/* w").unwrap().matches(placement));
}

#[test]
fn invalid_patterns() {
    let error = |text| Pattern::parse(text).unwrap_err().to_string();
    insta::assert_snapshot!(error(""), @"the number of ranks in the pattern is 1, not 8; a rank written as '*' matches any rank");
    insta::assert_snapshot!(error("*/*/*/*/*/*/*"), @"the number of ranks in the pattern is 7, not 8; a rank written as '*' matches any rank");
    insta::assert_snapshot!(error("*/7/*/*/*/*/*/*"), @"rank 7 of the pattern has 7 squares, not 8; '*' means any number of squares");
    insta::assert_snapshot!(error("*/8?/*/*/*/*/*/*"), @"rank 7 of the pattern has 9 squares, not 8; '*' means any number of squares");
    insta::assert_snapshot!(error("*/8?*/*/*/*/*/*/*"), @"rank 7 of the pattern has 9 squares, not 8; '*' means any number of squares");
    insta::assert_snapshot!(error("*/7x/*/*/*/*/*/*"), @"'x' has no meaning in a pattern; use FEN's letters and numbers, '.', '?', '!', 'A', 'a', '[...]' and '*'");
    insta::assert_snapshot!(error("*/7é/*/*/*/*/*/*"), @"'é' has no meaning in a pattern; use FEN's letters and numbers, '.', '?', '!', 'A', 'a', '[...]' and '*'");
    insta::assert_snapshot!(error("*/7[Q/*/*/*/*/*/*"), @"a '[' in rank 7 of the pattern is not closed");
    insta::assert_snapshot!(error("*/7[]/*/*/*/*/*/*"), @"a '[...]' in rank 7 of the pattern matches nothing");
    insta::assert_snapshot!(error("*/*/*/*/*/*/*/* x"), @"the side to move of the pattern is 'x', not 'w' or 'b'");
    insta::assert_snapshot!(error("*/*/*/*/*/*/*/* w KQ"), @"there is text after the pattern: 'KQ'");
}

#[test]
fn each_sign_of_a_signature() {
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let rook_ending = "8/5pk1/R5p1/8/6P1/8/r4PK1/8 w - -";
    assert_eq!(Material::from_placement(start.as_bytes()).to_string(), "KQRRBBNNPPPPPPPPvKQRRBBNNPPPPPPPP");
    assert_eq!(Material::from_placement(rook_ending.as_bytes()).to_string(), "KRPPvKRPP");
    let cases = [
        ("KRPPvKRPP", true),
        ("KRPP-KRPP", true),
        ("KRPPKRPP", true),
        ("RPPKKRPP", true),
        ("KRPPkrpp", true),
        ("krppVkrpp", true),
        ("krp-krp", false),
        ("KRP*KRP*", true),
        ("KR..K..", true),
        ("KRPKRPP", false),
        ("PKPRvRPPK", true),
        ("PKPR-RPPK", true),
        ("KRPvKRPP", false),
        ("KRPPPvKRPP", false),
        ("KRPPvKRPPP", false),
        ("KRP*vKRP*", true),
        ("KRP+vKRP+", true),
        ("KRPP+vKRPPP+", false),
        ("KRPPP?vKRPP", true),
        ("KRP?vKRPP", false),
        ("KRQ?PPvKRPP", true),
        ("KQ?RPPvKQRPP", false),
        ("KR..vK..", true),
        ("KRP*..vK..", true),
        ("KRQ..vK..", false),
        ("KRN*PPvKRB*PP", true),
    ];
    for (signature, expected) in cases {
        let signature = MaterialSignature::parse(signature).unwrap();
        assert_eq!(signature.matches(rook_ending.as_bytes()), expected, "{signature:?}");
    }
    assert!(MaterialSignature::parse("K..vK..").unwrap().matches(start.as_bytes()));
}

#[test]
fn invalid_signatures() {
    let error = |text| MaterialSignature::parse(text).unwrap_err().to_string();
    insta::assert_snapshot!(error("KRP"), @"'KRP' does not have two sides; write White's pieces, then Black's, each with a king, such as KRPvKR, KRP-KR or KRPKR");
    insta::assert_snapshot!(error("KRv"), @"'KRv' does not have two sides; write White's pieces, then Black's, each with a king, such as KRPvKR, KRP-KR or KRPKR");
    insta::assert_snapshot!(error("KRvKvK"), @"'v' cannot be read here; write the pieces K, Q, R, B, N and P, each optionally followed by '*', '+' or '?'; '..' after a side's pieces allows any others");
    insta::assert_snapshot!(error("KRKRK"), @"each side needs exactly one king: 'KRK'");
    insta::assert_snapshot!(error("KR*"), @"'KR*' does not have two sides; write White's pieces, then Black's, each with a king, such as KRPvKR, KRP-KR or KRPKR");
    insta::assert_snapshot!(error("KRvKx"), @"'x' cannot be read here; write the pieces K, Q, R, B, N and P, each optionally followed by '*', '+' or '?'; '..' after a side's pieces allows any others");
    insta::assert_snapshot!(error("KR**vK"), @"'*' cannot be read here; write the pieces K, Q, R, B, N and P, each optionally followed by '*', '+' or '?'; '..' after a side's pieces allows any others");
    insta::assert_snapshot!(error("KR..PvK"), @"'.' cannot be read here; write the pieces K, Q, R, B, N and P, each optionally followed by '*', '+' or '?'; '..' after a side's pieces allows any others");
    insta::assert_snapshot!(error("KvR"), @"each side needs exactly one king: 'R'");
    insta::assert_snapshot!(error("K*vK"), @"each side needs exactly one king: 'K*'");
    insta::assert_snapshot!(error("KPPPPPPPPQQQQQQQQvK"), @"'KPPPPPPPPQQQQQQQQ' has more than 16 pieces");
}
