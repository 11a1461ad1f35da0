//! Prints a tree of moves: as an indented table, as JSON, as CSV, or as a graph for Graphviz.

use std::io::Write;

use pgndex::opening::Opening;
use pgndex::query::{ExploreQuery, MoveTree, TreeMove};

use super::table::{Bars, Line, MOVES, OPENING, SIDE_WIDTH, chosen, columns, fields, write_head};
use crate::cli::args::{ExploreArgs, ExploreFormat, SqlFormat};
use crate::cli::render::{RowWriter, Value, counted, percent, print_json, print_line, stdout};
use crate::cli::terminal::note;

/// The width of the table without its bars, with shortened opening names.
const WIDTH_WITHOUT_BAR: usize = 80;

/// Writes a tree in the requested format. Prints a note if the tree was cut, or if games reached its first position
/// but it has no moves.
pub(super) fn write(args: &ExploreArgs, explore: &ExploreQuery<'_>, tree: &MoveTree) -> anyhow::Result<()> {
    if tree.is_cut {
        note(&format!(
            "the tree has more moves than can be shown: these are the most frequent ones, up to {} deep; use a higher --least-share or \
             a lower --depth",
            counted(depth(&tree.moves), "half-move")
        ));
    }
    if tree.moves.is_empty() && !tree.is_empty() {
        note(&without_moves(args, tree));
    }
    match args.format {
        ExploreFormat::Table => write_table(args, explore, tree),
        ExploreFormat::Json => print_json(tree),
        ExploreFormat::Csv => write_csv(tree),
        ExploreFormat::Dot => {
            let mut out = stdout();
            write_dot(&mut out, tree)?;
            Ok(out.flush()?)
        }
    }
}

/// Why a tree has no moves although games reached its first position.
fn without_moves(args: &ExploreArgs, tree: &MoveTree) -> String {
    let games = tree.results.games();
    match games {
        0 => format!(
            "{} without a result reached this position; games without a result are not counted",
            counted(tree.unfinished, "game")
        ),
        _ if tree.ended == games => {
            format!("no move was played from this position: {} ended here", counted(games, "game"))
        }
        _ => format!(
            "no move has a share of {} % or more of the games; a lower --least-share shows more moves",
            args.least_share
        ),
    }
}

/// The depth of a tree in half-moves.
fn depth(moves: &[TreeMove]) -> u64 {
    moves.iter().map(|node| 1 + depth(&node.moves)).max().unwrap_or(0)
}

/// Calls `see` with each move of the tree and with the UCI texts of the moves that lead to it. Parents come
/// before their children.
fn for_each(
    moves: &[TreeMove],
    line: &mut Vec<String>,
    see: &mut dyn FnMut(&TreeMove, &[String]) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    for node in moves {
        see(node, line)?;
        line.push(node.played.uci.clone());
        for_each(&node.moves, line, see)?;
        line.pop();
    }
    Ok(())
}

/// A text that says where the moves after this move are listed; `None` if they are listed below this move.
fn elsewhere(node: &TreeMove) -> Option<String> {
    node.same_as.as_ref().map(|line| match line.as_str() {
        "" => "the first position again".to_owned(),
        line => format!("as after {line}"),
    })
}

fn write_table(args: &ExploreArgs, explore: &ExploreQuery<'_>, tree: &MoveTree) -> anyhow::Result<()> {
    write_head(args, explore, tree.opening.as_ref())?;
    if tree.is_empty() {
        return Ok(());
    }
    let side = explore.side;
    let beside = WIDTH_WITHOUT_BAR + if side.is_some() { SIDE_WIDTH } else { 0 };
    let bars = Bars::beside(beside);
    let total = || bars.total(&tree.results, side);
    if tree.moves.is_empty() {
        return print_line(&total());
    }
    let columns = columns(side, false, true);
    let mut rows = RowWriter::stdout(SqlFormat::Table, &chosen(MOVES, columns))?.shortening(&[OPENING]);
    for_each(&tree.moves, &mut Vec::new(), &mut |node, before| {
        let mut line = Line::of(&node.played);
        line.name = format!("{}{} {}", "  ".repeat(before.len()), node.number(), node.played.san).into();
        let remarks: Vec<_> = line.opening.into_iter().chain(elsewhere(node)).collect();
        line.opening = Some(remarks.join(", "));
        rows.row(&chosen(line.cells(node.games_before, bars), columns))
    })?;
    rows.finish(Some(total()))
}

fn write_csv(tree: &MoveTree) -> anyhow::Result<()> {
    let (names, values): (Vec<_>, Vec<_>) = fields(tree.score.is_some(), false).into_iter().unzip();
    let columns = [vec!["ply", "line"], names, vec!["games_before", "same_as"]].concat();
    let mut rows = RowWriter::stdout(SqlFormat::Csv, &columns)?;
    for_each(&tree.moves, &mut Vec::new(), &mut |node, before| {
        let line = [before, std::slice::from_ref(&node.played.uci)].concat();
        let mut cells = vec![Value::Integer(line.len() as i64), line.join(",").into()];
        cells.extend(values.iter().map(|value| value(&node.played)));
        cells.extend([node.games_before.into(), node.same_as.as_deref().into()]);
        rows.row(&cells)
    })?;
    rows.finish(None)
}

/// Writes a graph for Graphviz: positions are nodes, and moves are edges. An edge is wider if more games
/// played its move.
fn write_dot(out: &mut dyn Write, tree: &MoveTree) -> anyhow::Result<()> {
    writeln!(out, "digraph moves {{")?;
    writeln!(out, "  rankdir=LR;")?;
    writeln!(out, "  node [shape=box, style=rounded, fontname=\"sans-serif\", fontsize=11];")?;
    writeln!(out, "  edge [fontname=\"sans-serif\", fontsize=10];")?;
    let all = tree.results.games();
    writeln!(out, "  \"\" [label={}];", label(tree.opening.as_ref(), all))?;
    write_edges(out, &tree.moves, "", all)?;
    Ok(writeln!(out, "}}")?)
}

/// Writes the moves from the position `from`, and the positions after them. In the graph, the name of a
/// position is the line that leads to it, as in [`TreeMove::same_as`].
fn write_edges(out: &mut dyn Write, moves: &[TreeMove], from: &str, all: u64) -> anyhow::Result<()> {
    for node in moves {
        let played = &node.played;
        let games = played.results.games();
        let to = match &node.same_as {
            Some(line) => line.clone(),
            None => {
                let to = node.line_after(from);
                writeln!(out, "  {} [label={}];", quoted(&to), label(played.opening.as_ref(), games))?;
                to
            }
        };
        let share = percent(games, node.games_before);
        let width = 1.0 + 6.0 * games as f64 / all.max(1) as f64;
        let text = quoted(&format!("{} {} {share}", node.number(), played.san));
        writeln!(out, "  {} -> {} [label={text}, penwidth={width:.1}];", quoted(from), quoted(&to))?;
        write_edges(out, &node.moves, &to, all)?;
    }
    Ok(())
}

/// The label of a position: the opening's name, if there is one, and the number of games.
fn label(opening: Option<&Opening>, games: u64) -> String {
    let name = opening.map_or_else(String::new, |opening| format!("{opening}\n"));
    quoted(&format!("{name}{}", counted(games, "game")))
}

/// A text in quotation marks. A line end becomes `\n`, which begins a new line of a label.
fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{text}\"")
}
