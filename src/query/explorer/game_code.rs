//! Game ids for Lichess clients: eight letters or digits.

use crate::id::GameId;
use crate::store::{self, Database, GameMarks};

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const LENGTH: usize = 8;

/// The id of a game: its Lichess id or, if it has none, its number in base 62.
#[must_use]
pub fn game_code(game: GameId, marks: &GameMarks) -> String {
    match &marks.lichess_id {
        Some(id) if is_code(id) => id.clone(),
        _ => number_code(game),
    }
}

/// The game with an id as returned by [`game_code`]. A game's number of fewer than eight digits is accepted
/// too.
///
/// # Errors
/// Errors of SQLite.
pub fn game_of_code(database: &Database, code: &str) -> store::Result<Option<GameId>> {
    if code.len() < LENGTH {
        return existing(database, code.parse().ok().map(GameId));
    }
    if let Some(game) = existing(database, number(code))?
        && game_code(game, &database.game_marks(game)?) == code
    {
        return Ok(Some(game));
    }
    if is_code(code) { database.game_of_lichess_id(code) } else { Ok(None) }
}

fn existing(database: &Database, game: Option<GameId>) -> store::Result<Option<GameId>> {
    let Some(game) = game else { return Ok(None) };
    Ok(database.game_from(game)?.filter(|found| *found == game))
}

fn is_code(text: &str) -> bool {
    text.len() == LENGTH && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn number_code(game: GameId) -> String {
    let mut code = [DIGITS[0]; LENGTH];
    let mut rest = game.0 as usize;
    for digit in code.iter_mut().rev() {
        *digit = DIGITS[rest % DIGITS.len()];
        rest /= DIGITS.len();
    }
    code.iter().map(|&digit| char::from(digit)).collect()
}

fn number(code: &str) -> Option<GameId> {
    let digit = |byte| DIGITS.iter().position(|&digit| digit == byte);
    let read = code.bytes().try_fold(0_u64, |number, byte| Some(number * 62 + digit(byte)? as u64));
    read.filter(|_| code.len() == LENGTH).and_then(|number| u32::try_from(number).ok()).map(GameId)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_game_ids_are_parsed_again() {
        for game in [1, 9, 10, 61, 62, 3843, 3844, 400_000, u32::MAX] {
            let code = number_code(GameId(game));
            assert!(is_code(&code), "{code}");
            assert_eq!(number(&code), Some(GameId(game)), "{code}");
        }
        assert_eq!(number_code(GameId(63)), "00000011");
        for wrong in ["", "0000001", "000000001", "zzzzzzzz", "0000000-", "0000000é"] {
            assert_eq!(number(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_game_of_lichess_keeps_its_id() {
        let marks = |id: &str| GameMarks { lichess_id: Some(id.to_owned()), speed: None };
        assert_eq!(game_code(GameId(1), &marks("q7ZvsdUF")), "q7ZvsdUF");
        assert_eq!(game_code(GameId(1), &marks("<b>")), "00000001");
    }
}
