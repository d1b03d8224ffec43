//! Errors of scenarios: what is wrong, where, what was expected, and the nearest name.

use std::fmt;

use xoff_engine::Nearest;

use super::tree::Place;

/// Maximum number of problems that one error shows.
const MAX_SHOWN: usize = 5;
/// Maximum length of the part of a line that is shown, in characters.
const MAX_WIDTH: usize = 120;

/// Why a scenario was refused: every independent problem, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// The problems; never empty.
    pub problems: Vec<Problem>,
}

/// One problem of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong.
    pub message: String,
    /// The place of the problem.
    pub place: Location,
    /// What was expected, shown at the place.
    pub expected: Option<String>,
    /// Further hints, one line each.
    pub notes: Vec<String>,
}

/// The place of a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A part of a line of a file.
    File {
        /// The file's name as it was given.
        origin: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// Length in characters, at least 1.
        length: usize,
        /// The line.
        text: String,
    },
    /// A file as a whole.
    Whole {
        /// The file's name as it was given.
        origin: String,
    },
    /// An override from the command line.
    Override {
        /// The override as `key=value`.
        text: String,
    },
}

impl ScenarioError {
    /// Problems in the order of the file, those of the command line last.
    pub(crate) fn new(mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|p| match &p.place {
            Location::Whole { .. } => (0, 0),
            Location::File { line, column, .. } => (*line, *column),
            Location::Override { .. } => (usize::MAX, 0),
        });
        ScenarioError { problems }
    }
}

/// A scenario's text and overrides, from which places are found.
pub(crate) struct Source<'a> {
    pub text: &'a str,
    pub origin: &'a str,
    pub overrides: &'a [(String, String)],
}

impl Source<'_> {
    /// The line and column of `place`.
    pub fn location(&self, place: &Place) -> Location {
        let origin = self.origin.to_string();
        match place {
            Place::File(range) if range.end == 0 => Location::Whole { origin },
            Place::File(range) => {
                let start = floor_boundary(self.text, range.start);
                let line_start = self.text[..start].rfind('\n').map_or(0, |i| i + 1);
                let line_end = self.text[start..].find('\n').map_or(self.text.len(), |i| start + i);
                let end = floor_boundary(self.text, range.end).clamp(start, line_end);
                let text = self.text[line_start..line_end].trim_end_matches('\r').to_string();
                let line = self.text[..line_start].matches('\n').count() + 1;
                let column = self.text[line_start..start].chars().count() + 1;
                let length = self.text[start..end].chars().count().max(1);
                Location::File { origin, line, column, length, text }
            }
            Place::Override(index) => {
                let text = self.overrides.get(*index).map_or(String::new(), |(k, v)| format!("{k}={v}"));
                Location::Override { text }
            }
        }
    }
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.problems.iter().take(MAX_SHOWN).enumerate() {
            if i > 0 {
                f.write_str("\n\n")?;
            }
            problem.fmt(f)?;
        }
        match self.problems.len().saturating_sub(MAX_SHOWN) {
            0 => Ok(()),
            more => write!(f, "\n\nand {more} more"),
        }
    }
}

impl std::error::Error for ScenarioError {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", printable(&self.message))?;
        let expected = printable(self.expected.as_deref().unwrap_or(""));
        let gutter = match &self.place {
            Location::File { origin, line, column, length, text } => {
                let gutter = line.to_string().len();
                let (shown, padding, carets) = window(text, column - 1, *length);
                write!(f, "\n{:gutter$}--> {origin}:{line}:{column}", "")?;
                write!(f, "\n{:gutter$} |\n{line} | {shown}", "")?;
                write!(f, "\n{:gutter$} | {padding}{}", "", "^".repeat(carets))?;
                if !expected.is_empty() {
                    write!(f, " {expected}")?;
                }
                gutter
            }
            Location::Whole { origin } => {
                write!(f, "\n --> {origin}")?;
                1
            }
            Location::Override { text } => {
                write!(f, "\n --> --set {}", printable(text))?;
                1
            }
        };
        if !matches!(self.place, Location::File { .. }) && !expected.is_empty() {
            write!(f, "\n{:gutter$} = {expected}", "")?;
        }
        for note in &self.notes {
            let mut lines = note.lines();
            write!(f, "\n{:gutter$} = {}", "", printable(lines.next().unwrap_or("")))?;
            for line in lines {
                let line = format!("{:gutter$}   {}", "", printable(line));
                write!(f, "\n{}", line.trim_end())?;
            }
        }
        Ok(())
    }
}

/// The part of a line to show, the padding before the carets, and the number of carets.
fn window(text: &str, column: usize, length: usize) -> (String, String, usize) {
    let chars: Vec<char> = printable(text).chars().collect();
    let first =
        if chars.len() > MAX_WIDTH { column.saturating_sub(MAX_WIDTH / 2).min(chars.len()) } else { 0 };
    let last = chars.len().min(first + MAX_WIDTH);
    let mut shown: String = chars[first..last].iter().collect();
    let mut padding: String =
        chars[first..column.clamp(first, last)].iter().map(|c| if *c == '\t' { '\t' } else { ' ' }).collect();
    if first > 0 {
        shown.insert_str(0, "...");
        padding.insert_str(0, "   ");
    }
    if last < chars.len() {
        shown.push_str("...");
    }
    (shown, padding, length.min(last.saturating_sub(column)).max(1))
}

/// The text with control characters replaced, so that no file can send a terminal its codes.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\t' { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// The names expected in place of a wrong one: a list of names, and the nearest of them. Long lists are cut.
pub(crate) fn expected_names<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str> + Clone) -> String {
    const MAX_NAMES: usize = 24;
    let mut list: Vec<&str> = names.clone().into_iter().take(MAX_NAMES + 1).collect();
    if list.is_empty() {
        return "no further key".into();
    }
    if list.len() > MAX_NAMES {
        list[MAX_NAMES] = "...";
    }
    let list = list.join(", ");
    format!("one of: {list}{}", Nearest::of(wrong, names))
}

/// The text of [`expected_names`] after the word "expected".
pub(crate) fn one_of<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str> + Clone) -> String {
    format!("expected {}", expected_names(wrong, names))
}

/// The error for a file that cannot be read.
pub(crate) fn unreadable(origin: &str, reason: &str) -> ScenarioError {
    let message = format!("cannot read the scenario: {reason}");
    let place = Location::Whole { origin: origin.to_string() };
    ScenarioError { problems: vec![Problem { message, place, expected: None, notes: vec![] }] }
}

/// The error for a file that is not UTF-8 text.
pub(crate) fn not_text(origin: &str, error: &std::str::Utf8Error) -> ScenarioError {
    let message = format!("the scenario is no text: byte {} is not UTF-8", error.valid_up_to());
    let place = Location::Whole { origin: origin.to_string() };
    let expected = Some("expected a TOML file".to_string());
    ScenarioError { problems: vec![Problem { message, place, expected, notes: vec![] }] }
}
