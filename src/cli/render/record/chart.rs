//! Charts of a page, as SVG: their colours and letters come from its style, and nothing is told by colour alone.

use pgndex::query::Record;

use super::{Name, Scores};
use crate::cli::render::number::percent;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 260.0;
/// Where the field of a chart begins and ends.
const LEFT: f64 = 60.0;
const RIGHT: f64 = WIDTH - 16.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = HEIGHT - 32.0;
/// A performance of fewer games says little, and would make all others look alike.
const FEWEST_GAMES: u64 = 5;
/// How high the parts of a bar are: games won, drawn and lost.
const PARTS: [(&str, u32); 3] = [("won", 12), ("drawn", 8), ("lost", 4)];

/// What came of games as a bar that is highest where games were won.
pub(super) fn bar(record: &Record) -> String {
    let whole = record.finished().max(1);
    let counts = [record.wins, record.draws, record.losses].map(u64::from);
    let (mut begin, mut rects, mut words) = (0.0, String::new(), Vec::new());
    for ((name, height), count) in PARTS.into_iter().zip(counts) {
        let width = count as f64 * 100.0 / whole as f64;
        if count > 0 {
            rects += &format!(
                "<rect class=\"{name}\" x=\"{begin:.1}\" y=\"{}\" width=\"{width:.1}\" height=\"{height}\"/>",
                12 - height
            );
        }
        words.push(format!("{} {name}", percent(count, whole)));
        begin += width;
    }
    format!(
        "<svg class=\"bar\" viewBox=\"0 0 100 12\" preserveAspectRatio=\"none\" role=\"img\"><title>{}</title>{rects}</svg>",
        words.join(", ")
    )
}

/// What the bars show.
pub(super) fn bar_legend() -> String {
    let part = |(name, height): (&str, u32)| {
        format!(
            "<svg class=\"sign\" viewBox=\"0 0 20 12\" aria-hidden=\"true\"><rect class=\"{name}\" y=\"{}\" width=\"20\" height=\"{height}\"/></svg> {name}",
            12 - height
        )
    };
    format!("The bars: {}", PARTS.map(part).join(" "))
}

/// A line of a chart: what it shows, and how a point of it is drawn.
struct Line {
    name: &'static str,
    value: fn(&Record) -> Option<i64>,
    mark: fn(f64, f64) -> String,
}

const LINES: [Line; 2] = [
    Line {
        name: "rating",
        value: |record| record.rating().map(u64::cast_signed),
        mark: |x, y| format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\"/>"),
    },
    Line {
        name: "performance",
        value: |record| {
            record.performance().filter(|_| record.performance_games() >= FEWEST_GAMES).map(i64::from)
        },
        mark: |x, y| format!("<rect x=\"{:.1}\" y=\"{:.1}\" width=\"8\" height=\"8\"/>", x - 4.0, y - 4.0),
    },
];

/// A scale of a chart: round numbers at even steps.
struct Scale {
    first: i64,
    last: i64,
    step: i64,
}

impl Scale {
    /// A scale with so many steps at most.
    fn of(values: impl Iterator<Item = i64> + Clone, most: i64) -> Option<Self> {
        let (least, greatest) = values.clone().min().zip(values.max())?;
        let steps = (0..).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_i64.pow(power)));
        let step = steps.take(30).find(|step| greatest - least <= step * most)?;
        Some(Self { first: least, last: greatest, step })
    }

    /// The scale widened to whole steps.
    fn widened(self) -> Self {
        let Self { first, last, step } = self;
        let first = first.div_euclid(step) * step;
        Self { first, last: (last.div_euclid(step) + i64::from(last.rem_euclid(step) > 0)) * step, step }
    }

    /// The multiples of a step within it.
    fn ticks(&self) -> impl Iterator<Item = i64> {
        let from = self.first.div_euclid(self.step) + i64::from(self.first.rem_euclid(self.step) > 0);
        (from..=self.last.div_euclid(self.step)).map(|tick| tick * self.step)
    }

    /// Where a value stands, if the scale goes from one place to another.
    fn place(&self, value: i64, from: f64, to: f64) -> f64 {
        from + (to - from) * (value - self.first) as f64 / (self.last - self.first).max(1) as f64
    }
}

/// How ratings and performances went, year by year; nothing if no two years can be compared.
pub(super) fn progress(scores: &Scores<'_>) -> Option<String> {
    let years: Vec<(i64, &Record)> = scores
        .rows
        .iter()
        .filter_map(|(name, record)| match name {
            Name::Year(Some(year)) => Some((i64::from(*year), *record)),
            _ => None,
        })
        .filter(|(_, record)| LINES.iter().any(|line| (line.value)(record).is_some()))
        .collect();
    if years.len() < 2 {
        return None;
    }
    let values = years.iter().flat_map(|(_, record)| LINES.iter().filter_map(|line| (line.value)(record)));
    let (across, up) = (Scale::of(years.iter().map(|(year, _)| *year), 10)?, Scale::of(values, 5)?.widened());
    let mut svg = String::new();
    for tick in up.ticks() {
        let y = up.place(tick, BOTTOM, TOP);
        svg += &format!(
            "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{tick}</text>\n",
            LEFT - 8.0,
            y + 5.0
        );
    }
    for (index, tick) in across.ticks().enumerate() {
        let class = if index % 2 == 0 { "first" } else { "second" };
        let x = across.place(tick, LEFT + 12.0, RIGHT - 12.0);
        svg += &format!(
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{tick}</text>\n",
            BOTTOM + 22.0
        );
    }
    let mut told = Vec::new();
    for line in &LINES {
        let points: Vec<(i64, i64)> =
            years.iter().filter_map(|(year, record)| Some((*year, (line.value)(record)?))).collect();
        let places: Vec<(f64, f64)> = points
            .iter()
            .map(|&(year, value)| {
                (across.place(year, LEFT + 12.0, RIGHT - 12.0), up.place(value, BOTTOM, TOP))
            })
            .collect();
        let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        let marks: String = places.iter().map(|&(x, y)| (line.mark)(x, y)).collect();
        svg += &format!("<g class=\"{}\"><path d=\"M{}\"/>{marks}</g>\n", line.name, path.join("L"));
        if let (Some((first, from)), Some((last, to))) = (points.first(), points.last()) {
            told.push(format!("{} {from} in {first}, {to} in {last}", line.name));
        }
    }
    let signs = LINES.map(|Line { name, mark, .. }| {
        format!(
            "<svg class=\"sign\" viewBox=\"0 0 32 12\" aria-hidden=\"true\"><g class=\"{name}\"><path d=\"M0 6H32\"/>{}</g></svg> {name}",
            mark(16.0, 6.0)
        )
    });
    Some(format!(
        "<figure class=\"chart\">\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\n<title>Rating and performance by year</title>\n\
         <desc>{}. The table has all years.</desc>\n{svg}</svg>\n<figcaption>{}, of years with at least {FEWEST_GAMES} games</figcaption>\n</figure>\n",
        told.join("; "),
        signs.join(" and ")
    ))
}
