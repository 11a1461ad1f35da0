//! `pgndex game`: prints games as score sheets, as JSON or as PGN.

use std::io::{self, Write};
use std::ops::RangeInclusive;

use anyhow::Context as _;
use pgndex::board::{MoveCode, Position};
use pgndex::query::{GameAnswer, NewMove, Novelty, novelty, replay, visit_games, write_pgn};
use pgndex::store::row::{GameId, GameStatus};
use pgndex::store::{Database, ErrorKind, GameAnnotations, GameProblem, GameRecord};

use crate::cli::args::{BoardPly, GameArgs, GameFormat};
use crate::cli::error::{naming_options, wrong_value};
use crate::cli::render::{
    Cell, PictureOutput, TableWriter, counted, printable, shown, sql_command, stdout, use_ascii, write_json,
    write_sheet,
};
use crate::cli::terminal::note;

/// Prints the requested games that exist. Then fails if a range has no game, or contains 0 or an id after the
/// last game. If other ids have no game, only prints a note.
///
/// # Errors
/// If a game is missing as described above, the database cannot be read, or the games cannot be written. If the
/// requested picture is not of a single position, or cannot be written.
pub(crate) fn run(args: &GameArgs) -> anyhow::Result<()> {
    if args.board.ascii {
        use_ascii();
    }
    let is_one = matches!(&args.games[..], [range] if range.start() == range.end()) && args.ply.len() <= 1;
    if args.picture.svg.is_some() && !is_one {
        return Err(wrong_value("--svg shows one position; give one game and at most one ply"));
    }
    let database = Database::open_read_only(&args.database)?;
    let picture = PictureOutput::requested(&args.picture, Some(&args.database))?;
    if args.format != GameFormat::Table
        && picture.is_none()
        && (args.board_every.is_some() || !args.ply.is_empty())
    {
        note("boards are drawn on score sheets only, not in json or pgn");
    }
    if args.novelty && args.format == GameFormat::Pgn {
        note("novelties are shown on score sheets and in json, not in pgn");
    }
    let mut sheets = Sheets {
        database: &database,
        args,
        picture,
        drawn: None,
        out: stdout(),
        text: String::new(),
        is_first: true,
    };
    let mut found = 0;
    let missing = visit_games(&database, args.games.iter().cloned(), |record| {
        found += 1;
        sheets.write(record)
    })?;
    sheets.out.flush()?;
    if let Some((file, drawn)) = sheets.drawn {
        file.write(&drawn.0, drawn.1, args.board.flip, &[])?;
    }
    if let Some(game) = missing {
        let last = database.last_game()?;
        return Err(ErrorKind::NoSuchGame { game, last }.at(&args.database).into());
    }
    let given = |range: &RangeInclusive<u32>| u64::from(range.end() - range.start()) + 1;
    let unused = args.games.iter().map(given).sum::<u64>() - found;
    if unused > 0 {
        let have = if unused == 1 { "has" } else { "have" };
        note(&format!(
            "{}: {unused} of the requested numbers {have} no game; games may have been removed, or have \
             other numbers since their files were read again",
            args.database.display()
        ));
    }
    Ok(())
}

struct Sheets<'a> {
    database: &'a Database,
    args: &'a GameArgs,
    picture: Option<PictureOutput<'a>>,
    /// The picture to write at the end, with its position and the move that led to this position.
    drawn: Option<(PictureOutput<'a>, (Position, Option<MoveCode>))>,
    out: Box<dyn Write>,
    text: String,
    is_first: bool,
}

impl Sheets<'_> {
    fn write(&mut self, record: &GameRecord) -> anyhow::Result<()> {
        let GameId(game) = record.summary.game;
        if let Some(file) = self.picture.take() {
            self.drawn = Some((file, position_to_draw(record, self.args)?));
        }
        let annotations = match self.args.plain {
            true => GameAnnotations::default(),
            false => self.database.annotations(GameId(game))?,
        };
        let problems = || self.database.problems_of(GameId(game));
        let novelty = || self.args.novelty.then(|| novelty(self.database, record)).transpose();
        match self.args.format {
            GameFormat::Table => {
                if !std::mem::take(&mut self.is_first) {
                    writeln!(self.out)?;
                }
                write_sheet(&mut self.out, record, &annotations, self.args)?;
                if let Some(novelty) = novelty()? {
                    writeln!(self.out, "\n{}", novelty_text(&novelty))?;
                }
                write_problems(&mut self.out, record, &problems()?)?;
                return Ok(());
            }
            GameFormat::Json => {
                let problems = problems()?;
                let answer =
                    GameAnswer { novelty: novelty()?, ..GameAnswer::new(record, &annotations, &problems) };
                write_json(&mut self.out, &answer)?;
            }
            GameFormat::Pgn => {
                self.text.clear();
                write_pgn(&mut self.text, record, &annotations)?;
                self.out.write_all(shown(&self.text).as_bytes())?;
            }
        }
        if record.summary.status != GameStatus::Ok
            && let Some(missing) = missing(record, &problems()?)
        {
            let query = format!("SELECT * FROM problem WHERE game_id = {game}");
            let details = sql_command(&self.args.database, &query);
            note(&format!("game {game}: {missing}; details: {details}"));
        }
        Ok(())
    }
}

/// The novelty of a game as text.
fn novelty_text(novelty: &Novelty) -> String {
    match novelty {
        Novelty::Move(NewMove { number, san, games, last_game, .. }) => {
            let last = last_game.map(|game| format!(" (latest: game {})", game.0)).unwrap_or_default();
            let before = counted(*games, "earlier game");
            format!(
                "First new move: {number} {san}. The position before this move occurred in {before}{last}."
            )
        }
        Novelty::Start => "New: no earlier game had the same start position.".to_owned(),
        Novelty::Nothing => "Nothing new: all positions of the game occurred in earlier games.".to_owned(),
        Novelty::NoDate => {
            "The game has no year, so pgndex cannot find the earlier games to compare it with.".to_owned()
        }
    }
}

/// The position at `--ply`, by default the last position, and the move that led to this position.
fn position_to_draw(record: &GameRecord, args: &GameArgs) -> anyhow::Result<(Position, Option<MoveCode>)> {
    let wanted = args.ply.first().copied().unwrap_or(BoardPly::End);
    let (mut last, mut found) = (None, None);
    for step in replay(record)? {
        let (position, stored) = step?;
        let is_wanted = match wanted {
            BoardPly::After(ply) => stored.ply.0 == ply,
            BoardPly::End => stored.move_code.is_none(),
        };
        if is_wanted {
            found = Some((position, last));
        }
        last = stored.move_code;
    }
    found.with_context(|| {
        let (GameId(game), plies) = (record.summary.game, record.summary.ply_count);
        match record.summary.status {
            GameStatus::Skipped => format!("game {game} has no stored positions, so there is no picture"),
            _ => format!(
                "game {game} has {}; there is no picture of a later ply",
                counted(plies.into(), "ply")
            ),
        }
    })
}

/// Which part of a game is missing, as text; `None` if the game is complete. The tag `Truncated` in PGN
/// output has a different text, which `index` recognises.
fn missing(record: &GameRecord, problems: &[GameProblem]) -> Option<String> {
    match record.summary.status {
        GameStatus::Truncated => {
            let ply = record.summary.ply_count;
            Some(format!("the text after ply {ply} has an error, so the game is stored only up to there"))
        }
        GameStatus::Skipped => {
            let reason = problems.iter().find_map(|problem| match problem.kind.as_str() {
                "unsupported-variant" => Some("the variant is not supported"),
                "invalid-fen" => Some("the start position is not valid"),
                _ => None,
            });
            let reason = reason.unwrap_or("the variant is not supported, or the start position is not valid");
            Some(format!("no moves are stored, because {reason}"))
        }
        GameStatus::Ok => None,
    }
}

/// Writes which part of the game is missing, and all problems of the game.
fn write_problems(out: &mut dyn Write, record: &GameRecord, problems: &[GameProblem]) -> io::Result<()> {
    if let Some(missing) = missing(record, problems) {
        writeln!(out, "\nIncomplete: {missing}.")?;
    }
    if problems.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nProblems in {}\n", printable(&record.source.to_string_lossy()))?;
    let out: Box<dyn Write + '_> = Box::new(out);
    let mut table = TableWriter::new(out, &["line", "ply", "severity", "kind", "message"], None);
    for problem in problems {
        table.row(vec![
            Cell::number(problem.line.to_string()),
            Cell::number(problem.ply.map_or_else(String::new, |ply| ply.0.to_string())),
            Cell::text(&problem.severity),
            Cell::text(&problem.kind),
            Cell::text(&naming_options(&problem.message)),
        ])?;
    }
    table.finish()?;
    Ok(())
}
