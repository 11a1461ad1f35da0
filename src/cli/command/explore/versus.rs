//! Compares two sets of games side by side.

use pgndex::query::{ExploreQuery, MoveStatistics, PositionStatistics};

use super::table::{
    Bars, Field, OPENING, chosen, fields, hidden_moves, points, shares, shares_header, won_drawn_lost,
    write_head,
};
use crate::cli::args::{ExploreArgs, SqlFormat};
use crate::cli::render::{RowWriter, Value};

const SCORE: &str = "  score";

/// The statistics of a move in each of the two sets; `None` for a set in which no game played the move.
type Both<'a> = [Option<&'a MoveStatistics>; 2];

/// The moves to show, and the number of moves that are not shown. The moves are sorted by the sum of their
/// shares in the two sets, the greatest sum first.
fn moves<'a>(args: &ExploreArgs, answers: [&'a PositionStatistics; 2]) -> (Vec<Both<'a>>, usize) {
    let [first, second] = answers;
    let in_second = |uci: &str| second.moves.iter().find(|played| played.uci == uci);
    let is_new = |played: &&MoveStatistics| first.moves.iter().all(|other| other.uci != played.uci);
    let both = first.moves.iter().map(|played| [Some(played), in_second(&played.uci)]);
    let mut moves: Vec<Both<'_>> =
        both.chain(second.moves.iter().filter(is_new).map(|played| [None, Some(played)])).collect();
    let shares = |both: &Both<'_>| {
        let share =
            |(played, answer): (&Option<&MoveStatistics>, &PositionStatistics)| share(*played, answer);
        both.iter().zip(answers).map(share).sum::<f64>()
    };
    moves.sort_by(|one, other| shares(other).total_cmp(&shares(one)));
    let shown = if args.limit == 0 { moves.len() } else { moves.len().min(args.limit as usize) };
    let hidden = moves.split_off(shown).len();
    (moves, hidden)
}

/// The share of a set's games in which a move was played.
fn share(played: Option<&MoveStatistics>, answer: &PositionStatistics) -> f64 {
    let games = played.map_or(0, |played| played.results.games());
    games as f64 / answer.results.games().max(1) as f64
}

pub(super) fn write_table(
    args: &ExploreArgs,
    explore: &ExploreQuery<'_>,
    answers: [&PositionStatistics; 2],
) -> anyhow::Result<()> {
    write_head(args, explore, answers[0].opening.as_ref())?;
    let results = shares_header(explore.side);
    let columns =
        ["move", "games", "  share", SCORE, results, "versus", "  share", SCORE, results, "change", OPENING];
    let is_shown = columns.map(|name| name != SCORE || explore.side.is_some());
    let bars = Bars::beside(0);
    let mut rows = RowWriter::stdout(SqlFormat::Table, &chosen(columns, is_shown))?.shortening(&[OPENING]);
    let (moves, hidden) = moves(args, answers);
    for both in moves {
        let [first, second] = both;
        let Some(either) = first.or(second) else { continue };
        let [[games, of_games, score, results], [versus, of_versus, versus_score, versus_results]] =
            [(first, answers[0]), (second, answers[1])].map(|(played, answer)| cells(played, answer));
        let change = 100.0 * (share(second, answers[1]) - share(first, answers[0]));
        let cells = [
            either.san.as_str().into(),
            games,
            of_games,
            score,
            results,
            versus,
            of_versus,
            versus_score,
            versus_results,
            format!("{change:>+6.1}").into(),
            either.opening.as_ref().map(ToString::to_string).into(),
        ];
        rows.row(&chosen(cells, is_shown))?;
    }
    let total = |answer: &PositionStatistics| bars.total(&answer.results, explore.side);
    let lines = format!("{}\nversus {}", total(answers[0]), total(answers[1]));
    rows.finish(Some(lines + &hidden_moves(hidden).map_or_else(String::new, |text| format!("\n{text}"))))
}

/// The cells of a move for one set: games, share, score and results.
fn cells(played: Option<&MoveStatistics>, answer: &PositionStatistics) -> [Value<'static>; 4] {
    let games = played.map_or(0, |played| played.results.games());
    let side = answer.score.map(|score| score.color);
    let parts = played.map_or([0; 3], |played| won_drawn_lost(&played.results, side));
    [games.into(), Value::share(games, answer.results.games()), points(parts, games), shares(parts, games)]
}

pub(super) fn write_csv(args: &ExploreArgs, answers: [&PositionStatistics; 2]) -> anyhow::Result<()> {
    /// The fields of a move that are the same in both sets.
    const OF_MOVE: [&str; 5] = ["uci", "san", "in_variations", "eco", "opening"];
    let all_fields = fields(answers[0].score.is_some(), answers[0].in_variations.is_some());
    let (of_move, of_games): (Vec<Field>, Vec<Field>) =
        all_fields.into_iter().partition(|(name, _)| OF_MOVE.contains(name));
    let versus: Vec<_> = of_games.iter().map(|(name, _)| format!("versus_{name}")).collect();
    let names = of_move.iter().chain(&of_games).map(|(name, _)| *name);
    let columns: Vec<_> = names.chain(versus.iter().map(String::as_str)).collect();
    let mut rows = RowWriter::stdout(SqlFormat::Csv, &columns)?;
    for [first, second] in moves(args, answers).0 {
        let Some(either) = first.or(second) else { continue };
        let mut cells: Vec<_> = of_move.iter().map(|(_, value)| value(either)).collect();
        for played in [first, second] {
            cells.extend(of_games.iter().map(|(_, value)| Value::from(played.map(value))));
        }
        rows.row(&cells)?;
    }
    rows.finish(None)
}
