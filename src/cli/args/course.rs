//! Descriptions of positions, one after the other.

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use pgndex::board::Ending;

use crate::cli::args::within;

/// What positions are like, as it stands on the command line: one or more descriptions, parted by `--then`.
#[derive(Debug, Default)]
pub(crate) struct CourseArgs {
    /// The descriptions; none if nothing is described.
    pub(crate) steps: Vec<StepArgs>,
    /// Whether colours are reversed too.
    pub(crate) either: bool,
    /// Whether left and right are changed round too.
    pub(crate) mirror: bool,
}

/// One description.
#[derive(Debug, Default)]
pub(crate) struct StepArgs {
    pub(crate) pattern: Option<String>,
    pub(crate) material: Option<String>,
    pub(crate) structure: Option<String>,
    pub(crate) ending: Option<Ending>,
    pub(crate) played: Option<String>,
    pub(crate) lasting: Option<u32>,
    pub(crate) plies: Option<PlyRange>,
}

impl StepArgs {
    /// Whether it says nothing of positions.
    const fn is_empty(&self) -> bool {
        self.pattern.is_none()
            && self.material.is_none()
            && self.structure.is_none()
            && self.ending.is_none()
            && self.played.is_none()
    }
}

/// Plies, as in `20`, `20-40`, `-40` or `60-`.
#[derive(Clone, Debug)]
pub(crate) struct PlyRange(pub(crate) std::ops::RangeInclusive<u32>);

fn read_plies(text: &str) -> Result<PlyRange, String> {
    let number = |text: &str, open| if text.is_empty() { Ok(open) } else { within(0..=u32::MAX)(text) };
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    if first.is_empty() && last.is_empty() {
        return Err("no plies; write 20, 20-40, -40 or 60-".to_owned());
    }
    let (first, last) = (number(first, 0)?, number(last, u32::MAX)?);
    if first > last {
        Err("the last ply comes before the first".to_owned())
    } else {
        Ok(PlyRange(first..=last))
    }
}

impl ValueEnum for EndingArg {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [EndingArg; Ending::ALL.len()] = {
            let mut all = [EndingArg(Ending::Pawn); Ending::ALL.len()];
            let mut index = 0;
            while index < all.len() {
                all[index] = EndingArg(Ending::ALL[index]);
                index += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.0.as_str()))
    }
}

#[derive(Clone, Copy, Debug)]
struct EndingArg(Ending);

/// The options as clap knows them: each may stand once before each `--then` and after the last.
#[derive(Args, Debug)]
struct Options {
    /// A FEN's placement with these signs: '?' anything, '!' any piece, 'A' a white piece, 'a' a black piece, [QR] one of
    /// these, '*' any number of squares. The side to move can follow
    #[arg(long, value_name = "PLACEMENT", help_heading = DESCRIPTION)]
    pattern: Vec<String>,
    /// The pieces that are left, White's first, as in KRPvKR
    #[arg(long, value_name = "PIECES", help_heading = DESCRIPTION)]
    material: Vec<String>,
    /// The pawns stand as in this FEN; its other pieces do not matter
    #[arg(long, value_name = "FEN", help_heading = DESCRIPTION)]
    structure: Vec<String>,
    /// The kind of ending
    #[arg(long, value_name = "KIND", value_enum, help_heading = DESCRIPTION)]
    ending: Vec<EndingArg>,
    /// The move that is played from the position, as in "Qxh7#"; what is not written may be anything: Qx, e4, ?xR, +, =N
    #[arg(long = "move", value_name = "MOVE", help_heading = DESCRIPTION)]
    played: Vec<String>,
    /// So many positions in a row fit, at least, so that exchanges in passing do not count
    #[arg(long = "for", value_name = "PLIES", value_parser = within(1..=u32::MAX), help_heading = DESCRIPTION)]
    lasting: Vec<u32>,
    /// They stand at these plies: 20, 20-40, -40 or 60-
    #[arg(long = "ply", value_name = "PLIES", value_parser = read_plies, allow_hyphen_values = true, help_heading = DESCRIPTION)]
    plies: Vec<PlyRange>,
    /// What is described before comes first, what is described after comes later in the game
    #[arg(long, num_args = 0, default_missing_value = "true", help_heading = DESCRIPTION)]
    then: Vec<bool>,
    /// Also with the colours reversed
    #[arg(long, help_heading = DESCRIPTION)]
    either: bool,
    /// Also with left and right changed round
    #[arg(long, help_heading = DESCRIPTION)]
    mirror: bool,
}

const DESCRIPTION: &str = "Positions by description";

/// The options that describe positions.
const DESCRIBING: [&str; 5] = ["pattern", "material", "structure", "ending", "played"];
/// Those that only say more of a description.
const ASIDE: [&str; 5] = ["lasting", "plies", "then", "either", "mirror"];

impl Args for CourseArgs {
    fn augment_args(command: Command) -> Command {
        Options::augment_args(command).mut_args(|option| {
            let is_own = |name: &&str| option.get_id() == *name;
            if DESCRIBING.iter().chain(&ASIDE).any(is_own) {
                option.conflicts_with_all(["fen", "moves", "play", "like"])
            } else {
                option
            }
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for CourseArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let options = Options::from_arg_matches(matches)?;
        let parts: Vec<usize> = places(matches, "then");
        let mut steps: Vec<StepArgs> = (0..=parts.len()).map(|_| StepArgs::default()).collect();
        let mut fill = Fill { matches, parts: &parts, steps: &mut steps };
        fill.with("pattern", "--pattern", options.pattern, |step| &mut step.pattern)?;
        fill.with("material", "--material", options.material, |step| &mut step.material)?;
        fill.with("structure", "--structure", options.structure, |step| &mut step.structure)?;
        let endings = options.ending.into_iter().map(|EndingArg(ending)| ending).collect();
        fill.with("ending", "--ending", endings, |step| &mut step.ending)?;
        fill.with("played", "--move", options.played, |step| &mut step.played)?;
        fill.with("lasting", "--for", options.lasting, |step| &mut step.lasting)?;
        fill.with("plies", "--ply", options.plies, |step| &mut step.plies)?;
        let is_described = steps.iter().any(|step| !step.is_empty());
        let is_asked = is_described || ASIDE.iter().any(|name| !places(matches, name).is_empty());
        if is_asked && steps.iter().any(StepArgs::is_empty) {
            let place = if parts.is_empty() { "" } else { " before and after each --then" };
            let message = format!("give --pattern, --material, --structure, --ending or --move{place}");
            return Err(clap::Error::raw(ErrorKind::MissingRequiredArgument, message));
        }
        if !is_described {
            steps.clear();
        }
        Ok(Self { steps, either: options.either, mirror: options.mirror })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Where the values of an option stand on the command line; none where it is not given.
fn places(matches: &ArgMatches, name: &str) -> Vec<usize> {
    if matches.value_source(name) != Some(clap::parser::ValueSource::CommandLine) {
        return Vec::new();
    }
    matches.indices_of(name).into_iter().flatten().collect()
}

/// Puts values where they belong.
struct Fill<'f> {
    matches: &'f ArgMatches,
    parts: &'f [usize],
    steps: &'f mut [StepArgs],
}

impl Fill<'_> {
    fn with<T>(
        &mut self,
        name: &str,
        option: &str,
        values: Vec<T>,
        place: fn(&mut StepArgs) -> &mut Option<T>,
    ) -> Result<(), clap::Error> {
        for (value, at) in values.into_iter().zip(places(self.matches, name)) {
            let step = self.parts.iter().filter(|&&part| part < at).count();
            if place(&mut self.steps[step]).replace(value).is_some() {
                let message = format!("{option} stands twice; parted by --then, one comes after the other");
                return Err(clap::Error::raw(ErrorKind::ArgumentConflict, message));
            }
        }
        Ok(())
    }
}
