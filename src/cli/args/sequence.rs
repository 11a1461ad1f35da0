//! Sequences of position descriptions.

use std::ops::RangeInclusive;

use anyhow::Context as _;
use clap::error::ErrorKind;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use pgndex::board::{Description, Ending, MaterialSignature, MovePattern, Pattern, PawnStructure};
use pgndex::query::{PositionSequence, Step};

use crate::cli::args::{one_of, within};
use crate::cli::error::WrongValue;

/// The position descriptions on the command line, separated by `--then`. `EXPORTS` is true in `export`, where
/// `--ply` may be given without a description.
#[derive(Debug, Default)]
pub(crate) struct SequenceArgs<const EXPORTS: bool = false> {
    /// The descriptions; empty if no description is given.
    steps: Vec<StepArgs>,
    /// Whether positions also match with the colours reversed.
    either: bool,
    /// Whether positions also match with left and right exchanged.
    mirror: bool,
    /// The plies of `--ply` if it is given without a description.
    pub(super) plies: Option<RangeInclusive<u32>>,
}

impl<const EXPORTS: bool> SequenceArgs<EXPORTS> {
    /// The described positions, if any.
    ///
    /// # Errors
    /// If a description cannot be read.
    pub(in crate::cli) fn sequence(&self) -> anyhow::Result<Option<PositionSequence>> {
        if self.steps.is_empty() {
            return Ok(None);
        }
        let steps = self.steps.iter().map(StepArgs::step).collect::<anyhow::Result<_>>()?;
        Ok(Some(PositionSequence::new(steps, self.either, self.mirror)))
    }
}

/// The options of one description.
#[derive(Debug, Default)]
struct StepArgs {
    pattern: Option<String>,
    material: Option<String>,
    structure: Option<String>,
    ending: Option<Ending>,
    played: Option<String>,
    lasting: Option<u32>,
    plies: Option<RangeInclusive<u32>>,
}

impl StepArgs {
    /// Whether none of the options that describe a position is given.
    const fn is_empty(&self) -> bool {
        self.pattern.is_none()
            && self.material.is_none()
            && self.structure.is_none()
            && self.ending.is_none()
            && self.played.is_none()
    }

    fn step(&self) -> anyhow::Result<Step> {
        let Self { pattern, material, structure, ending, played, lasting, plies } = self;
        let description = Description {
            material: read("--material", material.as_deref(), MaterialSignature::parse)?,
            ending: *ending,
            pattern: read("--pattern", pattern.as_deref(), Pattern::parse)?,
            structure: read("--structure", structure.as_deref(), |fen| {
                PawnStructure::from_fen(fen.as_bytes())
            })?,
            played: read("--move", played.as_deref(), MovePattern::parse)?,
        };
        let plies = plies.clone().unwrap_or(0..=u32::MAX);
        Ok(Step { description, lasting: lasting.unwrap_or(1), plies })
    }
}

/// Parses the value of an option.
fn read<T, E: std::error::Error + Send + Sync + 'static>(
    option: &str,
    text: Option<&str>,
    parse: impl Fn(&str) -> Result<T, E>,
) -> anyhow::Result<Option<T>> {
    let read = text.map(parse).transpose().with_context(|| format!("{option} cannot be read"));
    Ok(read.map_err(WrongValue)?)
}

/// Parses a ply or a range of plies: `20`, `20-40`, `-40` or `60-`.
fn read_plies(text: &str) -> Result<RangeInclusive<u32>, String> {
    let number = |text: &str, open| if text.is_empty() { Ok(open) } else { within(0..=u32::MAX)(text) };
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let is_form = text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    if !is_form || (first.is_empty() && last.is_empty()) {
        return Err("not a ply or a range of plies; write 20, 20-40, -40 or 60-".to_owned());
    }
    let (first, last) = (number(first, 0)?, number(last, u32::MAX)?);
    if first > last { Err(format!("the range is reversed; write {last}-{first}")) } else { Ok(first..=last) }
}

/// The options as clap parses them. Each `--then` separates two descriptions. Every other option, except
/// `--either` and `--mirror`, can be given once for each description.
#[derive(Args, Debug)]
struct Options {
    /// Pieces on squares: a FEN's placement with wildcards.
    ///
    /// '?' is any square, even an empty one, '!' any piece, 'A' a white piece, 'a' a black piece, [QR] one of these, '*' any
    /// number of squares. A final w or b gives the side to move.
    #[arg(long, value_name = "PLACEMENT", help_heading = DESCRIPTION)]
    pattern: Vec<String>,
    /// The remaining pieces, White's first: KRPvKR, KRP-KR or KRPKR
    #[arg(long, value_name = "PIECES", help_heading = DESCRIPTION)]
    material: Vec<String>,
    /// The pawn structure of this FEN; its other pieces do not matter
    #[arg(long, value_name = "FEN", help_heading = DESCRIPTION)]
    structure: Vec<String>,
    /// The kind of ending, such as rook or opposite-bishops
    #[arg(long, value_name = "KIND", value_parser = one_of(Ending::ALL.map(|kind| (kind.as_str(), kind))), help_heading = DESCRIPTION)]
    ending: Vec<Ending>,
    /// The move played from the position, such as "Qxh7#".
    ///
    /// "Qx" is any capture by a queen, "?xR" any capture of a rook, "e4" any pawn move to e4. "+" is any
    /// check or mate, "=N" any promotion to a knight.
    #[arg(id = "move", long, value_name = "MOVE", help_heading = DESCRIPTION)]
    played: Vec<String>,
    /// At least this many consecutive positions must match.
    ///
    /// This leaves out games that match only briefly, for example during an exchange.
    #[arg(id = "for", long, value_name = "PLIES", value_parser = within(1..=u32::MAX), help_heading = DESCRIPTION)]
    lasting: Vec<u32>,
    /// Only positions at these plies: 20, 20-40, -40 or 60-.
    ///
    /// This option needs --pattern, --material, --structure, --ending or --move, except in `export`.
    #[arg(id = "ply", long, value_name = "PLIES", value_parser = read_plies, allow_hyphen_values = true, help_heading = DESCRIPTION)]
    plies: Vec<RangeInclusive<u32>>,
    /// Put this between two descriptions to match them one after the other.
    ///
    /// A later position of the same game must match the second description.
    #[arg(long, num_args = 0, default_missing_value = "true", help_heading = DESCRIPTION)]
    then: Vec<bool>,
    /// Also match with the colours reversed
    #[arg(long, help_heading = DESCRIPTION, hide_short_help = true)]
    either: bool,
    /// Also match with left and right exchanged
    #[arg(long, help_heading = DESCRIPTION, hide_short_help = true)]
    mirror: bool,
}

const DESCRIPTION: &str = "Positions by description";

/// The options that describe positions.
const DESCRIBING: [&str; 5] = ["pattern", "material", "structure", "ending", "move"];
/// The options that refine or connect descriptions.
const ASIDE: [&str; 5] = ["for", "ply", "then", "either", "mirror"];
const DESCRIBING_OPTIONS: &str = "--pattern, --material, --structure, --ending or --move";

impl<const EXPORTS: bool> Args for SequenceArgs<EXPORTS> {
    fn augment_args(command: Command) -> Command {
        Options::augment_args(command).mut_args(|option| {
            let name = option.get_id().as_str();
            let excluded: &[&str] = match name {
                _ if !DESCRIBING.iter().chain(&ASIDE).any(|own| *own == name) => &[],
                "ply" if EXPORTS => &["last"],
                _ if EXPORTS => &["fen", "moves", "play", "sql", "last"],
                _ => &["fen", "moves", "play", "like"],
            };
            option.conflicts_with_all(excluded)
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const EXPORTS: bool> FromArgMatches for SequenceArgs<EXPORTS> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let options = Options::from_arg_matches(matches)?;
        let parts: Vec<usize> = places(matches, "then");
        let mut steps: Vec<StepArgs> = (0..=parts.len()).map(|_| StepArgs::default()).collect();
        let mut fill = Fill { matches, parts: &parts, steps: &mut steps };
        fill.with("pattern", options.pattern, |step| &mut step.pattern)?;
        fill.with("material", options.material, |step| &mut step.material)?;
        fill.with("structure", options.structure, |step| &mut step.structure)?;
        fill.with("ending", options.ending, |step| &mut step.ending)?;
        fill.with("move", options.played, |step| &mut step.played)?;
        fill.with("for", options.lasting, |step| &mut step.lasting)?;
        fill.with("ply", options.plies, |step| &mut step.plies)?;
        let is_described = steps.iter().any(|step| !step.is_empty());
        let plies = match steps.as_mut_slice() {
            [step] if EXPORTS && !is_described => step.plies.take(),
            _ => None,
        };
        let is_alone = |name: &&str| *name == "ply" && plies.is_some();
        let is_given = |name: &&str| !places(matches, name).is_empty() && !is_alone(name);
        let needs_description = is_described || ASIDE.iter().any(is_given);
        if needs_description && steps.iter().any(StepArgs::is_empty) {
            let message = match ASIDE.iter().find(|name| is_given(name)) {
                Some(option) if parts.is_empty() => {
                    format!("--{option} refines a description; also give {DESCRIBING_OPTIONS}")
                }
                _ => format!("give {DESCRIBING_OPTIONS} before and after each --then"),
            };
            return Err(clap::Error::raw(ErrorKind::MissingRequiredArgument, message));
        }
        if !is_described {
            steps.clear();
        }
        Ok(Self { steps, either: options.either, mirror: options.mirror, plies })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The indices of an option's values on the command line; empty if the option is not given.
fn places(matches: &ArgMatches, name: &str) -> Vec<usize> {
    if matches.value_source(name) != Some(clap::parser::ValueSource::CommandLine) {
        return Vec::new();
    }
    matches.indices_of(name).into_iter().flatten().collect()
}

/// Assigns each value of an option to a description. The number of `--then` options before the value
/// determines the description.
struct Fill<'f> {
    matches: &'f ArgMatches,
    parts: &'f [usize],
    steps: &'f mut [StepArgs],
}

impl Fill<'_> {
    fn with<T>(
        &mut self,
        option: &str,
        values: Vec<T>,
        place: fn(&mut StepArgs) -> &mut Option<T>,
    ) -> Result<(), clap::Error> {
        for (value, at) in values.into_iter().zip(places(self.matches, option)) {
            let step = self.parts.iter().filter(|&&part| part < at).count();
            if place(&mut self.steps[step]).replace(value).is_some() {
                let message = format!(
                    "--{option} is given twice; to match one after the other, put --then between them"
                );
                return Err(clap::Error::raw(ErrorKind::ArgumentConflict, message));
            }
        }
        Ok(())
    }
}
