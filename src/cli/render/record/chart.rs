//! Draws charts of a page as SVG: colours and fonts come from the page's style, and nothing depends on colour
//! alone.

use pgndex::query::Record;

use super::{Name, Scores};
use crate::cli::render::number::percent;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 260.0;
/// The edges of a chart's area.
const LEFT: f64 = 60.0;
const RIGHT: f64 = WIDTH - 16.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = HEIGHT - 32.0;
/// A performance of fewer games is meaningless, and would flatten all others.
const FEWEST_GAMES: u64 = 5;
/// The heights of the parts of a bar: games won, drawn and lost.
const PARTS: [(&str, u32); 3] = [("won", 12), ("drawn", 8), ("lost", 4)];

/// The results of games as an SVG bar of three parts, side by side: won (the highest), drawn, lost (the
/// lowest).
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

/// The legend of the bars.
pub(super) fn bar_legend() -> String {
    let part = |(name, height): (&str, u32)| {
        format!(
            "<svg class=\"sign\" viewBox=\"0 0 20 12\" aria-hidden=\"true\"><rect class=\"{name}\" y=\"{}\" width=\"20\" height=\"{height}\"/></svg> {name}",
            12 - height
        )
    };
    format!("The bars: {}", PARTS.map(part).join(" "))
}

/// A line of a chart: its meaning, its name in the caption, and the shape of its points.
struct Line {
    name: &'static str,
    caption: &'static str,
    value: fn(&Record) -> Option<i64>,
    mark: fn(f64, f64) -> String,
}

const LINES: [Line; 2] = [
    Line {
        name: "rating",
        caption: "mean rating",
        value: |record| record.rating().map(u64::cast_signed),
        mark: |x, y| format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\"/>"),
    },
    Line {
        name: "performance",
        caption: "performance, if it is based on at least five games",
        value: |record| {
            record.performance().filter(|_| record.performance_games() >= FEWEST_GAMES).map(i64::from)
        },
        mark: |x, y| format!("<rect x=\"{:.1}\" y=\"{:.1}\" width=\"8\" height=\"8\"/>", x - 4.0, y - 4.0),
    },
];

/// A scale of a chart, with labels at the multiples of a round step.
struct Scale {
    first: i64,
    last: i64,
    step: i64,
}

impl Scale {
    /// The scale that covers these values in at most `most` steps.
    fn of(values: impl Iterator<Item = i64> + Clone, most: i64) -> Option<Self> {
        let (least, greatest) = values.clone().min().zip(values.max())?;
        let steps = (0..).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_i64.pow(power)));
        let step = steps.take(30).find(|step| greatest - least <= step * most)?;
        Some(Self { first: least, last: greatest, step })
    }

    /// The scale, extended so that it begins and ends at a multiple of the step.
    fn widened(self) -> Self {
        let Self { first, last, step } = self;
        let first = first.div_euclid(step) * step;
        Self { first, last: (last.div_euclid(step) + i64::from(last.rem_euclid(step) > 0)) * step, step }
    }

    /// The multiples of the step within the scale.
    fn ticks(&self) -> impl Iterator<Item = i64> {
        let from = self.first.div_euclid(self.step) + i64::from(self.first.rem_euclid(self.step) > 0);
        (from..=self.last.div_euclid(self.step)).map(|tick| tick * self.step)
    }

    /// The coordinate of a value, if the scale extends from the coordinate `from` to the coordinate `to`.
    fn place(&self, value: i64, from: f64, to: f64) -> f64 {
        from + (to - from) * (value - self.first) as f64 / (self.last - self.first).max(1) as f64
    }
}

/// The development of ratings and performances by year; nothing if no two years can be compared.
pub(super) fn progress(scores: &Scores<'_>) -> Option<String> {
    let field = Field::of(scores)?;
    let lines: Vec<_> = LINES.iter().filter_map(|line| field.line(line)).collect();
    let told: Vec<_> = lines.iter().map(|line| line.words.as_str()).collect();
    let signs: Vec<_> = lines.iter().map(|line| line.sign.as_str()).collect();
    Some(format!(
        "<figure class=\"chart\">\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\n<title>Progress by year</title>\n\
         <desc>{}. The table has all years.</desc>\n{}{}</svg>\n<figcaption>{}</figcaption>\n</figure>\n",
        told.join("; "),
        field.axes(),
        lines.iter().map(|line| line.svg.as_str()).collect::<String>(),
        signs.join("; "),
    ))
}

/// The years of a chart, and its scales.
struct Field<'r> {
    years: Vec<(i64, &'r Record)>,
    across: Scale,
    up: Scale,
}

/// A drawn line, its description in words, and its sign in the caption.
struct Drawn {
    svg: String,
    words: String,
    sign: String,
}

impl<'r> Field<'r> {
    fn of(scores: &Scores<'r>) -> Option<Self> {
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
        let values =
            years.iter().flat_map(|(_, record)| LINES.iter().filter_map(|line| (line.value)(record)));
        let up = Scale::of(values, 5)?.widened();
        let across = Scale::of(years.iter().map(|(year, _)| *year), 10)?;
        Some(Self { years, across, up })
    }

    /// The horizontal coordinate of a year.
    fn x(&self, year: i64) -> f64 {
        self.across.place(year, LEFT + 12.0, RIGHT - 12.0)
    }

    /// The vertical coordinate of a rating.
    fn y(&self, rating: i64) -> f64 {
        self.up.place(rating, BOTTOM, TOP)
    }

    fn axes(&self) -> String {
        let mut svg = String::new();
        for tick in self.up.ticks() {
            let y = self.y(tick);
            svg += &format!(
                "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{tick}</text>\n",
                LEFT - 8.0,
                y + 5.0
            );
        }
        // On a small screen, only every second label fits.
        for (tick, class) in self.across.ticks().zip(["first", "second"].into_iter().cycle()) {
            svg += &format!(
                "<text class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{tick}</text>\n",
                self.x(tick),
                BOTTOM + 22.0
            );
        }
        svg
    }

    /// A line through all of its points; nothing if it has none.
    fn line(&self, line: &Line) -> Option<Drawn> {
        let Line { name, caption, value, mark } = line;
        let points: Vec<(i64, i64)> =
            self.years.iter().filter_map(|(year, record)| Some((*year, value(record)?))).collect();
        let (first, last) = (points.first()?, points.last()?);
        let places: Vec<(f64, f64)> =
            points.iter().map(|&(year, rating)| (self.x(year), self.y(rating))).collect();
        let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        let marks: String = places.iter().map(|&(x, y)| mark(x, y)).collect();
        Some(Drawn {
            svg: format!("<g class=\"{name}\"><path d=\"M{}\"/>{marks}</g>\n", path.join("L")),
            words: format!("{name} {} in {}, {} in {}", first.1, first.0, last.1, last.0),
            sign: format!(
                "<svg class=\"sign\" viewBox=\"0 0 32 12\" aria-hidden=\"true\"><g class=\"{name}\"><path d=\"M0 6H32\"/>{}</g></svg> {caption}",
                mark(16.0, 6.0)
            ),
        })
    }
}
