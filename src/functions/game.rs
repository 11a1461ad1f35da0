//! SQL functions on games.

use super::arguments::{Arguments, Problem};
use crate::query::write_pgn;
use crate::store::row::GameId;
use crate::store::{game_annotations, game_record};

/// `game_pgn(game_id)`
pub(super) fn pgn(arguments: &Arguments<'_, '_>) -> Result<String, Problem> {
    let number = arguments.integer(0)?;
    let game = u32::try_from(number).map(GameId).map_err(|_| Problem::NoGame(number))?;
    let connection = arguments.connection()?;
    let record = game_record(&connection, game)?.ok_or(Problem::NoGame(number))?;
    let mut text = String::new();
    write_pgn(&mut text, &record, &game_annotations(&connection, game)?)?;
    Ok(text)
}
