//! What a run did, told at its end.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use pgndex::store::ProblemCount;
use serde_json::{Value, json};

use super::number::{bytes, counted, duration, grouped, rough};
use super::table::printable;

/// What a run did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Summary {
    /// The database.
    pub(crate) database: PathBuf,
    /// Its size, in bytes.
    pub(crate) database_bytes: u64,
    /// PGN text read, decompressed, in bytes.
    pub(crate) input_bytes: u64,
    /// Games added.
    pub(crate) games: u64,
    /// Moves in them.
    pub(crate) plies: u64,
    /// Distinct positions in them.
    pub(crate) positions: u64,
    /// Games left out because they were there already.
    pub(crate) duplicates: u64,
    /// What was found wrong.
    pub(crate) problems: Vec<ProblemCount>,
    /// What took how long, in order.
    pub(crate) phases: Vec<(&'static str, Duration)>,
    /// How long all of it took.
    pub(crate) elapsed: Duration,
}

impl Summary {
    /// Moves per second.
    fn plies_per_second(&self) -> f64 {
        let seconds = self.elapsed.as_secs_f64();
        if seconds > 0.0 { self.plies as f64 / seconds } else { 0.0 }
    }

    /// The summary as `index --json` prints it: one object.
    pub(crate) fn to_json(&self) -> Value {
        let problems = self.problems.iter().map(
            |problem| json!({ "severity": problem.severity, "kind": problem.kind, "count": problem.count }),
        );
        let phases = self.phases.iter().map(|(name, time)| ((*name).to_owned(), json!(time.as_secs_f64())));
        json!({
            "database": self.database.display().to_string(),
            "games": self.games,
            "plies": self.plies,
            "positions": self.positions,
            "duplicates": self.duplicates,
            "problems": self.problems.iter().map(|problem| problem.count).sum::<u64>(),
            "problem_kinds": problems.collect::<Vec<_>>(),
            "bytes": self.database_bytes,
            "input_bytes": self.input_bytes,
            "seconds": self.elapsed.as_secs_f64(),
            "plies_per_second": self.plies_per_second().round() as u64,
            "phases": phases.collect::<serde_json::Map<_, _>>(),
        })
    }

    /// Writes the summary for people.
    ///
    /// # Errors
    /// Of writing.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "indexed {}, {}, {} in {} ({} plies/s)\n",
            counted(self.games, "game"),
            counted(self.plies, "ply"),
            match self.positions {
                1 => "1 distinct position".to_owned(),
                positions => format!("{} distinct positions", rough(positions as f64)),
            },
            duration(self.elapsed),
            rough(self.plies_per_second())
        )?;
        let name = printable(&self.database.display().to_string());
        let mut database = format!("{name}, {}", bytes(self.database_bytes));
        if self.plies > 0 {
            database += &format!(" ({:.0} bytes a ply)", self.database_bytes as f64 / self.plies as f64);
        }
        writeln!(out, "  database    {database}")?;
        writeln!(out, "  input       {}", bytes(self.input_bytes))?;
        if !self.phases.is_empty() {
            let phases = self.phases.iter().map(|(name, time)| format!("{name} {}", duration(*time)));
            writeln!(out, "  time        {}", phases.collect::<Vec<_>>().join(", "))?;
        }
        if self.duplicates > 0 {
            writeln!(out, "  duplicates  {}", grouped(self.duplicates))?;
        }
        self.write_problems(out)?;
        writeln!(out, "\n  next: pgndex info {name}")?;
        if !self.problems.is_empty() {
            writeln!(out, "        pgndex sql {name} \"SELECT * FROM problem\"")?;
        }
        Ok(())
    }

    fn write_problems(&self, out: &mut impl Write) -> io::Result<()> {
        if self.problems.is_empty() {
            return writeln!(out, "  problems    none");
        }
        writeln!(out, "  problems")?;
        let width = self.problems.iter().map(|problem| grouped(problem.count).len()).max().unwrap_or(0);
        for (severity, meaning) in [("error", "something of these games was lost"), ("warning", "put right")]
        {
            let problems = || self.problems.iter().filter(|problem| problem.severity == severity);
            let total: u64 = problems().map(|problem| problem.count).sum();
            if total > 0 {
                writeln!(out, "    {}: {meaning}", counted(total, severity))?;
            }
            for problem in problems() {
                writeln!(out, "      {:>width$}  {}", grouped(problem.count), problem.kind)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary() -> Summary {
        let problem = |kind: &str, severity: &str, count| ProblemCount {
            kind: kind.to_owned(),
            severity: severity.to_owned(),
            count,
        };
        Summary {
            database: "games.db".into(),
            database_bytes: 312_345_678,
            input_bytes: 34_567_890,
            games: 40_000,
            plies: 3_372_442,
            positions: 2_604_118,
            duplicates: 17,
            problems: vec![
                problem("result-mismatch", "warning", 1_204),
                problem("illegal-move", "error", 12),
                problem("unclosed-comment", "warning", 3),
            ],
            phases: vec![
                ("reading", Duration::from_millis(1_810)),
                ("sorting", Duration::from_millis(340)),
                ("writing", Duration::from_millis(1_050)),
            ],
            elapsed: Duration::from_millis(3_200),
        }
    }

    fn print(summary: &Summary) -> String {
        let mut out = Vec::new();
        summary.write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_summary_for_people() {
        insta::assert_snapshot!(print(&summary()), @r#"
        indexed 40,000 games, 3,372,442 plies, 2.60 M distinct positions in 3.2 s (1.05 M plies/s)

          database    games.db, 298 MiB (93 bytes a ply)
          input       33.0 MiB
          time        reading 1.8 s, sorting 0.3 s, writing 1.1 s
          duplicates  17
          problems
            12 errors: something of these games was lost
                 12  illegal-move
            1,207 warnings: put right
              1,204  result-mismatch
                  3  unclosed-comment

          next: pgndex info games.db
                pgndex sql games.db "SELECT * FROM problem"
        "#);
    }

    #[test]
    fn a_summary_of_nothing() {
        insta::assert_snapshot!(print(&Summary { database: "games.db".into(), ..Summary::default() }), @"
        indexed 0 games, 0 plies, 0 distinct positions in 0.00 s (0 plies/s)

          database    games.db, 0 B
          input       0 B
          problems    none

          next: pgndex info games.db
        ");
    }

    #[test]
    fn a_summary_for_programs() {
        insta::assert_snapshot!(summary().to_json(), @r#"
        {"database":"games.db","games":40000,"plies":3372442,"positions":2604118,"duplicates":17,"problems":1219,"problem_kinds":[{"severity":"warning","kind":"result-mismatch","count":1204},{"severity":"error","kind":"illegal-move","count":12},{"severity":"warning","kind":"unclosed-comment","count":3}],"bytes":312345678,"input_bytes":34567890,"seconds":3.2,"plies_per_second":1053888,"phases":{"reading":1.81,"sorting":0.34,"writing":1.05}}
        "#);
    }
}
