//! Arrows from square to square.

use crate::board::{Color, Square};
use crate::picture::place::{centre, escaped};
use crate::query::PositionStatistics;
use crate::sorted::sort_by_key;

const FILL: &str = "#0f5c8c";
/// The colour of the edge that separates an arrow from arrows below it and from dark pieces.
const EDGE: &str = "#fff";

/// The width of the shaft of an arrow with weight 0, and the additional width for weight 1, in hundredths of
/// a square.
const WIDTH: [f64; 2] = [7.0, 17.0];
/// The opacity of an arrow with weight 0, and the additional opacity for weight 1.
const OPACITY: [f64; 2] = [0.6, 0.3];
/// The distance of the shaft's start from the centre of the arrow's start square, in hundredths of a square.
const TAIL: f64 = 22.0;
/// The distance of the arrow's tip from the centre of its target square, in hundredths of a square.
const TIP: f64 = 4.0;

/// A move gets an arrow if it was played in at least this share of the games.
const LEAST_SHARE: f64 = 0.01;

/// An arrow from one square to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrow {
    /// The start square.
    pub from: Square,
    /// The target square. An arrow whose start and target are equal is not drawn.
    pub to: Square,
    /// The weight, which determines width and opacity: from 0 (minimum) to 1 (maximum). Other values are
    /// clamped; NaN counts as 0.
    pub weight: f64,
    /// A description that viewers show when the pointer is on the arrow; any text is allowed.
    pub label: String,
}

/// At most `most` arrows for the moves played from a position, in the order of `explored.moves`. The weight
/// of an arrow is its move's share of the games. Null moves, and moves played in less than one percent of the
/// games, get no arrow. Promotions to different pieces on the same squares share one arrow, whose weight is
/// the sum of their shares.
#[must_use]
pub fn continuation_arrows(explored: &PositionStatistics, most: usize) -> Vec<Arrow> {
    let games = explored.results.games();
    let mut arrows: Vec<Arrow> = Vec::new();
    for played in &explored.moves {
        let Some((from, to)) = squares(&played.uci) else { continue };
        let count = played.results.games();
        let weight = count as f64 / games.max(1) as f64;
        if weight < LEAST_SHARE {
            continue;
        }
        let noun = if count == 1 { "game" } else { "games" };
        let label = format!("{}: {count} {noun}, {:.1} %", played.san, weight * 100.0);
        match arrows.iter().position(|arrow| (arrow.from, arrow.to) == (from, to)) {
            Some(same) => {
                arrows[same].weight += weight;
                arrows[same].label += &format!("; {label}");
            }
            None if arrows.len() < most => arrows.push(Arrow { from, to, weight, label }),
            None => {}
        }
    }
    arrows
}

/// The squares of a move in UCI notation; `None` for a null move.
fn squares(uci: &str) -> Option<(Square, Square)> {
    let uci = uci.as_bytes();
    Some((Square::parse(uci.get(..2)?)?, Square::parse(uci.get(2..4)?)?))
}

/// Draws the arrows, the longest first, so that a shorter one in the same direction remains visible.
pub(super) fn draw(svg: &mut String, arrows: &[Arrow], orientation: Color) {
    let mut drawn: Vec<&Arrow> = arrows.iter().filter(|arrow| arrow.from != arrow.to).collect();
    if drawn.is_empty() {
        return;
    }
    sort_by_key(&mut drawn, |arrow| std::cmp::Reverse(square_of_length(arrow)));
    *svg += &format!(
        "<g class=\"arrows\" fill=\"{FILL}\" stroke=\"{EDGE}\" stroke-width=\"2\" stroke-linejoin=\"round\">\n"
    );
    for arrow in drawn {
        let weight = if arrow.weight.is_nan() { 0.0 } else { arrow.weight.clamp(0.0, 1.0) };
        let outline = outline(arrow, orientation, WIDTH[0] + WIDTH[1] * weight);
        *svg += &format!(
            "<path class=\"{}{}\" opacity=\"{:.2}\" d=\"{outline}\"><title>{}</title></path>\n",
            arrow.from,
            arrow.to,
            OPACITY[0] + OPACITY[1] * weight,
            escaped(&arrow.label),
        );
    }
    *svg += "</g>\n";
}

fn square_of_length(arrow: &Arrow) -> u16 {
    let apart = |from: u8, to: u8| u16::from(from.abs_diff(to)).pow(2);
    apart(arrow.from.file(), arrow.to.file()) + apart(arrow.from.rank(), arrow.to.rank())
}

/// The outline of an arrow whose shaft has this width, as an SVG path.
fn outline(arrow: &Arrow, orientation: Color, width: f64) -> String {
    let [from, to] = [arrow.from, arrow.to].map(|square| centre(square, orientation));
    let along = [to[0] - from[0], to[1] - from[1]];
    // `sqrt` returns the same result on every machine; the result of `hypot` can differ.
    let length = (along[0] * along[0] + along[1] * along[1]).sqrt();
    let along = along.map(|part| part / length);
    let at = |forward: f64, aside: f64| {
        [from[0] + along[0] * forward - along[1] * aside, from[1] + along[1] * forward + along[0] * aside]
    };
    let (half, barb) = (width / 2.0, width / 2.0 + 5.0 + width * 0.4);
    let tip = length - TIP;
    let neck = tip - 14.0 - width;
    let points = [
        at(TAIL, half),
        at(neck, half),
        at(neck, barb),
        at(tip, 0.0),
        at(neck, -barb),
        at(neck, -half),
        at(TAIL, -half),
    ];
    let points: Vec<_> = points.iter().map(|[x, y]| format!("{x:.1} {y:.1}")).collect();
    format!("M{}Z", points.join("L"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::MoveCode;
    use crate::query::MoveStatistics;
    use crate::store::row::ResultCounts;

    fn arrow(from: &str, to: &str, weight: f64, label: &str) -> Arrow {
        let [from, to] = [from, to].map(|name| Square::parse(name.as_bytes()).unwrap());
        Arrow { from, to, weight, label: label.to_owned() }
    }

    /// Statistics with these moves, each with its number of games, all won by White.
    fn explored(games: u32, moves: &[(&str, u32)]) -> PositionStatistics {
        let results = |white_wins| ResultCounts { white_wins, ..ResultCounts::default() };
        let moves = moves.iter().map(|&(uci, games)| MoveStatistics {
            code: MoveCode::NULL,
            score: None,
            uci: uci.to_owned(),
            san: uci.to_uppercase(),
            average_rating: None,
            results: results(games),
            in_variations: None,
            game: None,
            opening: None,
        });
        PositionStatistics {
            opening: None,
            results: results(games),
            score: None,
            unfinished: 0,
            transposed: None,
            in_variations: None,
            moves: moves.collect(),
            top_games: Vec::new(),
            recent_games: Vec::new(),
            ended: 0,
            hidden_moves: 0,
        }
    }

    #[test]
    fn arrows_show_the_moves_played_most() {
        let answer = explored(
            1000,
            &[
                ("e2e4", 500),
                ("b7b8q", 240),
                ("c2c4", 100),
                ("b7b8n", 60),
                ("0000", 50),
                ("a2a3", 10),
                ("h2h3", 9),
                ("d2d4", 0),
            ],
        );
        let arrows = |most| continuation_arrows(&answer, most);
        assert_eq!(
            arrows(10),
            [
                arrow("e2", "e4", 0.5, "E2E4: 500 games, 50.0 %"),
                arrow("b7", "b8", 0.3, "B7B8Q: 240 games, 24.0 %; B7B8N: 60 games, 6.0 %"),
                arrow("c2", "c4", 0.1, "C2C4: 100 games, 10.0 %"),
                arrow("a2", "a3", 0.01, "A2A3: 10 games, 1.0 %"),
            ]
        );
        assert_eq!(
            arrows(2),
            arrows(10)[..2],
            "a promotion after the last arrow is added to the arrow of its move"
        );
        assert_eq!(
            continuation_arrows(&explored(1, &[("e2e4", 1)]), 6),
            [arrow("e2", "e4", 1.0, "E2E4: 1 game, 100.0 %")]
        );
        // A move that occurs only in variations gets no arrow.
        assert_eq!(continuation_arrows(&explored(0, &[("e2e4", 0)]), 6), []);
    }
}
