//! Compares two sets of games side by side.

use pgndex::query::{ExploreQuery, MoveStatistics, PositionStatistics};

use super::csv;
use super::table::{Bars, chosen, hidden_moves, integer, won_drawn_lost, write_head};
use crate::cli::args::{ExploreArgs, RowFormat};
use crate::cli::render::board::BoardStyle;
use crate::cli::render::number::{counted, percent};
use crate::cli::render::output::{RowWriter, Value};

const OPENING: &str = "opening";
const SCORE: &str = "  score";

/// A move in one set or in both.
type Both<'a> = [Option<&'a MoveStatistics>; 2];

/// The moves of both sets to show, those with the greatest shares first, and the number of further moves.
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

/// The share of a move in the games of a set.
fn share(played: Option<&MoveStatistics>, answer: &PositionStatistics) -> f64 {
    let games = played.map_or(0, |played| played.results.games());
    games as f64 / answer.results.games().max(1) as f64
}

/// Writes the moves as a table.
pub(super) fn write_table(
    args: &ExploreArgs,
    explore: &ExploreQuery<'_>,
    answers: [&PositionStatistics; 2],
) -> anyhow::Result<()> {
    write_head(args, explore, answers[0].opening.as_ref().map(ToString::to_string))?;
    let results = if explore.side.is_some() { "+/=/- %" } else { "w/d/b %" };
    let columns =
        ["move", "games", "  share", SCORE, results, "versus", "  share", SCORE, results, "change", OPENING];
    let told = columns.map(|name| name != SCORE || explore.side.is_some());
    let bars = Bars::with_other_width(BoardStyle::new(&args.style).is_ascii(), 0);
    let mut rows = RowWriter::stdout(RowFormat::Table, &chosen(columns, told))?.shortening(&[OPENING]);
    let (moves, hidden) = moves(args, answers);
    for both in moves {
        let [first, second] = both;
        let Some(either) = first.or(second) else { continue };
        let [[games, of_games, score, results], [versus, of_versus, versus_score, versus_results]] =
            [(first, answers[0]), (second, answers[1])].map(|(played, answer)| cells(played, answer));
        let change = 100.0 * (share(second, answers[1]) - share(first, answers[0]));
        let cells = [
            Value::from(either.san.as_str()),
            games,
            of_games,
            score,
            results,
            versus,
            of_versus,
            versus_score,
            versus_results,
            format!("{change:>+6.1}").into(),
            either.opening.as_ref().map_or(Value::Null, |opening| opening.to_string().into()),
        ];
        rows.row(&chosen(cells, told))?;
    }
    let total = |answer: &PositionStatistics| {
        let games = answer.results.games();
        let parts = won_drawn_lost(&answer.results, answer.score.as_ref());
        format!("{}: {}", counted(games, "game"), bars.legend(parts, games, explore.side))
    };
    let lines = format!("{}\nversus {}", total(answers[0]), total(answers[1]));
    rows.finish(|_| Some(lines + &hidden_moves(hidden).map_or_else(String::new, |told| format!("\n{told}"))))
}

/// Games, share, score and results of a move in a set.
fn cells(played: Option<&MoveStatistics>, answer: &PositionStatistics) -> [Value<'static>; 4] {
    let all = answer.results.games();
    let Some(MoveStatistics { results, score, .. }) = played else {
        return [Value::Integer(0), format!("{:>7}", percent(0, all)).into(), Value::Null, Value::Null];
    };
    let games = results.games();
    let parts = won_drawn_lost(results, score.as_ref());
    let shares = parts.map(|part| (f64::from(part) * 100.0 / games as f64).round().to_string());
    let points = 2 * u64::from(parts[0]) + u64::from(parts[1]);
    [
        integer(Some(games)),
        format!("{:>7}", percent(games, all)).into(),
        format!("{:>7}", percent(points, 2 * games)).into(),
        shares.join("/").into(),
    ]
}

/// Writes the moves as CSV.
pub(super) fn write_csv(args: &ExploreArgs, answers: [&PositionStatistics; 2]) -> anyhow::Result<()> {
    /// The indexes of the fields on games, not on the move.
    const OF_GAMES: std::ops::Range<usize> = 2..11;
    let told = csv::columns(answers[0]);
    let names = csv::FIELDS.map(|name| format!("versus_{name}"));
    let only = |range: std::ops::Range<usize>| std::array::from_fn(|at| told[at] && range.contains(&at));
    let of_move = |at: usize| told[at] && !OF_GAMES.contains(&at);
    let of_moves: [bool; csv::FIELDS.len()] = std::array::from_fn(of_move);
    let versus = names.each_ref().map(String::as_str);
    let columns =
        [chosen(csv::FIELDS, of_moves), chosen(csv::FIELDS, only(OF_GAMES)), chosen(versus, only(OF_GAMES))]
            .concat();
    let mut rows = RowWriter::stdout(RowFormat::Csv, &columns)?;
    let nothing = [const { Value::Null }; csv::FIELDS.len()];
    for [first, second] in moves(args, answers).0 {
        let Some(either) = first.or(second) else { continue };
        let of_set = |played: Option<&'_ MoveStatistics>| match played {
            Some(played) => chosen(csv::cells(played).map(owned), only(OF_GAMES)),
            None => chosen(nothing.clone(), only(OF_GAMES)),
        };
        let mut cells = chosen(csv::cells(either), of_moves);
        cells.extend(of_set(first));
        cells.extend(of_set(second));
        rows.row(&cells)?;
    }
    rows.finish(|_| None)
}

/// An owned copy of a value.
fn owned(value: Value<'_>) -> Value<'static> {
    match value {
        Value::Null => Value::Null,
        Value::Integer(number) => Value::Integer(number),
        Value::Real(number) => Value::Real(number),
        other => other.to_text().into_owned().into(),
    }
}
