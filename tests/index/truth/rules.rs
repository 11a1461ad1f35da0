//! Rules that decide whether rows of python-chess and our games are the same, or different for a known reason.
//!
//! Each rule looks at the next rows and the next games, and returns how many of both it explains.

use pgndex::board::{GameResult, MoveCode, Position, PositionKey, Special};
use pgndex::pgn::{Lexer, Token, starts_tag_pair};

use super::align::Class;
use super::corpus::{Corpus, Game, Row};

type Fit = Option<(Class, usize, usize)>;
type Rule = fn(&Corpus, &[Row], &[Game]) -> Fit;

/// The result of the first rule that explains the next rows and games.
pub(crate) fn first_that_fits(corpus: &Corpus, rows: &[Row], games: &[Game]) -> Fit {
    const RULES: [Rule; 12] = [
        cut_at_blank_line,
        variant,
        castling_order,
        equal,
        junk,
        tags_lost,
        tags_on_a_line,
        spaced_result,
        lower_case_castling,
        swallowed,
        unreadable_tags,
        only_tags,
    ];
    RULES.into_iter().find_map(|rule| rule(corpus, rows, games))
}

/// Compares the plies and the last position with both move counters.
pub(crate) fn same_moves(row: &Row, game: &Game) -> bool {
    row.plies == Some(game.plies) && row.fen == game.fen
}

/// Compares the names; `?` and an empty name are the same.
pub(crate) fn same_names(row: &Row, game: &Game) -> bool {
    let known = |name: &str| if name.trim() == "?" { String::new() } else { name.trim().to_owned() };
    known(&row.white) == game.white && known(&row.black) == game.black
}

/// Whether a row has none of the tags that are in the table.
fn is_tagless(row: &Row) -> bool {
    [&row.white, &row.black, &row.result_tag, &row.variant, &row.start_fen].iter().all(|tag| tag.is_empty())
}

/// Compares the result: that of the tag or, if it is unknown, that after the moves. After an error, python-chess does
/// not give the latter, so it is taken from the game's text.
fn same_result(corpus: &Corpus, rows: &[Row], game: &Game) -> bool {
    let tag = GameResult::parse(rows[0].result_tag.trim().as_bytes());
    let token = if rows.iter().any(|row| !row.error.is_empty()) {
        corpus.text_of(game).rsplit(u8::is_ascii_whitespace).next().and_then(GameResult::parse)
    } else {
        rows.iter().find_map(|row| GameResult::parse(row.result_token.as_bytes()))
    };
    let expected = tag.filter(|&tag| tag != GameResult::Unknown).or(token).unwrap_or_default();
    expected.as_str() == game.result
}

/// `Some(false)` if the key is that of python-chess, `Some(true)` if it differs only by an en-passant capture that is
/// pseudo-legal but not legal, `None` if it differs otherwise.
fn key_differs(row: &Row, game: &Game) -> Option<bool> {
    let counted = pseudo_legal_only(row).map_or(0, en_passant_key);
    (row.key?.0 == game.key?.0 ^ counted).then_some(counted != 0)
}

/// The file of an en-passant square with an enemy pawn beside the moved pawn, if no capture is legal.
fn pseudo_legal_only(row: &Row) -> Option<u8> {
    let square = row.fen_always.split(' ').nth(3).filter(|square| *square != "-")?;
    if row.fen.split(' ').nth(3) != Some("-") {
        return None;
    }
    let file = square.as_bytes()[0];
    let (rank, taker) = if square.ends_with('3') { (4, b'p') } else { (5, b'P') };
    let line = row.fen.split(' ').next()?.split('/').nth(8 - rank)?;
    let cells: Vec<u8> = line
        .bytes()
        .flat_map(|letter| match letter {
            b'1'..=b'8' => vec![b' '; usize::from(letter - b'0')],
            piece => vec![piece],
        })
        .collect();
    let file_index = usize::from(file - b'a');
    let beside = [file_index.checked_sub(1), Some(file_index + 1)];
    beside.into_iter().flatten().any(|index| cells.get(index) == Some(&taker)).then_some(file)
}

/// The part of a key for an en-passant file: the difference between the keys of two positions that differ only in it.
fn en_passant_key(file: u8) -> u64 {
    let mut line = [b'.'; 8];
    let index = usize::from(file - b'a');
    line[index] = b'p';
    line[if index == 0 { 1 } else { index - 1 }] = b'P';
    let line = String::from_utf8_lossy(&line).replace('.', "1");
    let key = |square: &str| -> PositionKey {
        let fen = format!("7k/8/8/{line}/8/8/8/7K w - {square} 0 1");
        Position::from_fen(fen.as_bytes()).unwrap().0.key()
    };
    key("-").0 ^ key(&format!("{}6", char::from(file))).0
}

fn equal(corpus: &Corpus, rows: &[Row], games: &[Game]) -> Fit {
    let (row, game) = (rows.first()?, games.first()?);
    if !same_moves(row, game) || !same_names(row, game) || !same_result(corpus, &rows[..1], game) {
        return None;
    }
    let class = if key_differs(row, game)? { Class::EqualButKey } else { Class::Equal };
    Some((class, 1, 1))
}

/// The text after a game's tags.
fn movetext<'c>(corpus: &'c Corpus, game: &Game) -> &'c [u8] {
    let mut text = corpus.text_of(game);
    loop {
        let line = text.iter().position(|&byte| byte == b'\n').map_or(text.len(), |end| end + 1);
        let trimmed = text[..line].trim_ascii();
        let is_tag = starts_tag_pair(trimmed) && trimmed.ends_with(b"]");
        if line == 0 || !(trimmed.is_empty() || is_tag || trimmed.starts_with(b"%")) {
            return text;
        }
        text = &text[line..];
    }
}

fn count_newlines(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).count()
}

/// Movetext divided at blank lines outside comments.
fn paragraphs(text: &[u8]) -> Vec<&[u8]> {
    let (mut parts, mut start, mut at) = (Vec::new(), 0, 0);
    while let Some(found) = memchr::memchr2(b'\n', b'{', &text[at..]) {
        at += found;
        if text[at] == b'{' {
            at += memchr::memchr(b'}', &text[at..]).unwrap_or(text.len() - at);
            continue;
        }
        let blank = text[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if count_newlines(&text[at..at + blank]) > 1 {
            parts.push(&text[start..at]);
            start = at + blank;
        }
        at += blank;
    }
    parts.push(&text[start..]);
    parts
}

/// Plays movetext from a position up to its end or to the first error.
fn play(text: &[u8], mut position: Position) -> (u32, String) {
    let mut lexer = Lexer::new(text, 0);
    let mut plies = 0;
    loop {
        match lexer.next_token() {
            Token::Move(word) => {
                let Ok(code) = position.resolve(word) else { break };
                position.make(code).unwrap();
                plies += 1;
            }
            Token::Result(_) | Token::End | Token::NextGame => break,
            _ => {}
        }
    }
    (plies, position.fen())
}

fn start_of(game: &Game) -> Position {
    game.start_fen.as_ref().map_or_else(Position::start, |fen| Position::from_fen(fen.as_bytes()).unwrap().0)
}

/// Each row is the reading of one paragraph: the first from the game's start position, the others from the standard
/// one. Our game is the reading of all together.
fn cut_at_blank_line(corpus: &Corpus, rows: &[Row], games: &[Game]) -> Fit {
    let game = games.first().filter(|game| game.status != "skipped")?;
    let text = movetext(corpus, game);
    let mut parts = paragraphs(text);
    let tags = &corpus.text_of(game)[..game.end - game.start - text.len()];
    if count_newlines(&tags[tags.trim_ascii_end().len()..]) > 2 {
        // For python-chess, two blank lines after the tags also end a game.
        parts.insert(0, b"");
    }
    let rows = rows.get(..parts.len()).filter(|rows| rows.len() > 1)?;
    let is_row = |(index, (row, part)): (usize, (&Row, &&[u8]))| {
        let start = if index == 0 { start_of(game) } else { Position::start() };
        let tags_fit = if index == 0 { same_names(row, game) } else { is_tagless(row) };
        let (plies, fen) = play(part, start);
        tags_fit && row.plies == Some(plies) && row.fen == fen
    };
    let is_ours = play(text, start_of(game)) == (game.plies, game.fen.clone());
    if !is_ours || !rows.iter().zip(&parts).enumerate().all(is_row) || !same_result(corpus, rows, game) {
        return None;
    }
    Some((Class::CutAtBlankLine, rows.len(), 1))
}

fn variant(corpus: &Corpus, rows: &[Row], games: &[Game]) -> Fit {
    let (row, game) = (rows.first()?, games.first()?);
    let same = game.status == "skipped"
        && row.variant == game.variant
        && same_names(row, game)
        && same_result(corpus, &rows[..1], game)
        && corpus
            .problems("unsupported-variant")
            .iter()
            .any(|offset| (game.start..game.end).contains(offset));
    same.then_some((Class::Variant, 1, 1))
}

/// Once its castling rights are in the usual order, the FEN in the text equals our start position, except for an
/// en-passant square on which no capture is possible.
fn castling_order(corpus: &Corpus, rows: &[Row], games: &[Game]) -> Fit {
    let (row, game) = (rows.first()?, games.first()?);
    if row.plies.is_some() || !row.error.starts_with("invalid castling part in fen") {
        return None;
    }
    let text = corpus.text_of(game);
    let at = memchr::memmem::find(text, b"[FEN \"")? + 6;
    let given = std::str::from_utf8(&text[at..at + memchr::memchr(b'"', &text[at..])?]).ok()?;
    let given: Vec<&str> = given.split(' ').collect();
    let ours: Vec<&str> = game.start_fen.as_deref()?.split(' ').collect();
    let in_order: String = "KQkq".chars().filter(|&right| given[2].contains(right)).collect();
    let is_same = given[..2] == ours[..2]
        && in_order == ours[2]
        && in_order.len() == given[2].len()
        && (given[3] == ours[3] || (ours[3] == "-" && !is_capture_near(&given)))
        && ours[4..] == ["0", "1"]
        && play(movetext(corpus, game), start_of(game)) == (game.plies, game.fen.clone())
        && same_names(row, game)
        && same_result(corpus, &rows[..1], game);
    is_same.then_some((Class::CastlingOrder, 1, 1))
}

/// Whether a pawn of the side to move is beside the pawn that has just moved two squares, but may not capture it.
fn is_capture_near(fields: &[&str]) -> bool {
    let [placement, side, _, square, ..] = fields else { return false };
    let fen = format!("{placement} {side} - - 0 1");
    let always = format!("{placement} {side} - {square} 0 1");
    pseudo_legal_only(&Row { fen, fen_always: always, ..Row::default() }).is_some()
}

/// An empty row where we report text that belongs to no game.
fn junk(corpus: &Corpus, rows: &[Row], games: &[Game]) -> Fit {
    let row = rows.first()?;
    let start = games.first().map_or(corpus.text.len(), |game| game.start);
    let before = corpus.games.partition_point(|game| game.start < start);
    let end = before.checked_sub(1).map_or(0, |last| corpus.games[last].end);
    let is_junk = is_tagless(row)
        && row.plies == Some(0)
        && row.result_token.is_empty()
        && row.error.is_empty()
        && corpus.problems("outside-text").iter().any(|offset| (end..start).contains(offset));
    is_junk.then_some((Class::Junk, 1, 0))
}

/// The row is the reading of the movetext without the tags, so from the standard start position; ours is the reading
/// from the start position of the tags.
fn tags_lost(corpus: &Corpus, rows: &[Row], games: &[Game]) -> Fit {
    let (row, game) = (rows.first()?, games.first()?);
    let before = &corpus.text[..game.start];
    let text = movetext(corpus, game);
    let (plies, fen) = play(text, Position::start());
    let fits = is_tagless(row)
        && row.plies == Some(plies)
        && row.fen == fen
        && play(text, start_of(game)) == (game.plies, game.fen.clone())
        && same_result(corpus, &rows[..1], game)
        && starts_tag_pair(corpus.text_of(game))
        && count_newlines(&before[before.trim_ascii_end().len()..]) < 2;
    fits.then_some((Class::TagsLost, 1, 1))
}

fn spaced_result(corpus: &Corpus, rows: &[Row], games: &[Game]) -> Fit {
    let (row, game) = (rows.first()?, games.first()?);
    let fits = same_moves(row, game)
        && same_names(row, game)
        && key_differs(row, game) == Some(false)
        && row.result_token.is_empty()
        && game.result == "1/2-1/2"
        && corpus.text_of(game).ends_with(b"1/2 - 1/2");
    fits.then_some((Class::SpacedResult, 1, 1))
}

fn tags_on_a_line(corpus: &Corpus, rows: &[Row], games: &[Game]) -> Fit {
    let (row, game) = (rows.first()?, games.first()?);
    let joined = format!("{}\"] [Black \"{}", game.white, game.black);
    let fits = same_moves(row, game)
        && key_differs(row, game) == Some(false)
        && row.white == joined
        && same_result(corpus, &rows[..1], game);
    fits.then_some((Class::TagsOnALine, 1, 1))
}

/// The row is our game up to a castling move that the text writes in lower case.
fn lower_case_castling(corpus: &Corpus, rows: &[Row], games: &[Game]) -> Fit {
    let (row, game) = (rows.first()?, games.first()?);
    let plies = row.plies.filter(|&plies| plies < game.plies)?;
    let (fen, clock, code) = corpus.position(game, plies);
    let full = format!("{fen} {clock} {}", super::corpus::fullmove_number(game.start_fen.as_deref(), plies));
    let castles =
        matches!(MoveCode::from_stored(code?).special(), Special::CastleShort | Special::CastleLong);
    let fits = castles
        && row.fen == full
        && same_names(row, game)
        && same_result(corpus, &rows[..1], game)
        && row.error.starts_with("no matching legal move")
        && memchr::memmem::find(corpus.text_of(game), b"o-o").is_some()
        && play(movetext(corpus, game), start_of(game)) == (game.plies, game.fen.clone());
    fits.then_some((Class::LowerCaseCastling, 1, 1))
}

/// A comment before the game is still open.
fn swallowed(corpus: &Corpus, _: &[Row], games: &[Game]) -> Fit {
    let game = games.first()?;
    let open = corpus.problems("unclosed-comment").into_iter().rfind(|&offset| offset <= game.start)?;
    let fits = memchr::memchr(b'}', &corpus.text[open..game.start]).is_none()
        && play(movetext(corpus, game), start_of(game)) == (game.plies, game.fen.clone());
    fits.then_some((Class::Swallowed, 0, 1))
}

/// The first line is not a tag pair by itself, or has no space between name and value.
fn unreadable_tags(corpus: &Corpus, _: &[Row], games: &[Game]) -> Fit {
    let game = games.first()?;
    let text = corpus.text_of(game);
    let line = text.split(|&byte| byte == b'\n').next()?.trim_ascii();
    let is_tag = line.ends_with(b"\"]") && !line.starts_with(b"[Event\"");
    let moves = memchr::memmem::rfind(text, b"\"]").map_or(text, |tag| &text[tag + 2..]);
    let fits =
        starts_tag_pair(line) && !is_tag && play(moves, start_of(game)) == (game.plies, game.fen.clone());
    fits.then_some((Class::UnreadableTags, 0, 1))
}

fn only_tags(corpus: &Corpus, _: &[Row], games: &[Game]) -> Fit {
    let [game, next, ..] = games else { return None };
    let fits = game.plies == 0
        && corpus.text_of(game).split(|&byte| byte == b'\n').all(|line| starts_tag_pair(line.trim_ascii()))
        && starts_tag_pair(corpus.text_of(next));
    fits.then_some((Class::OnlyTags, 0, 1))
}
