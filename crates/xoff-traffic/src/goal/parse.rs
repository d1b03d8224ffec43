//! Parses a schedule from text.

use std::collections::HashMap;

use super::{Action, GoalError, Operation, Requirement, Schedule, circle, matching};
use xoff_engine::Nearest;

use crate::error::{Fault, shown};
use crate::sizes::MAX_FLOW;

/// Maximum number of ranks: more than the number of hosts of the largest topology.
const MAX_RANKS: u64 = 1_000_000;

/// The longest calculation, 1000 s.
const LONGEST_NS: u64 = 1_000_000_000_000;

/// LogGOPSim's number for any tag or any source.
const ANY: u64 = u32::MAX as u64;

/// The schedule in a text; with `ignore_tags` the tags of sends and receives are ignored.
///
/// # Errors
/// [`GoalError`], for the first line that is malformed or has something that is not modelled; then for messages without a
/// counterpart, and for operations that wait for themselves.
pub fn parse(text: &str, ignore_tags: bool) -> Result<Schedule, GoalError> {
    let mut reader = Reader::default();
    let mut comment = None;
    let mut line = 0;
    for content in text.lines() {
        line += 1;
        let mut words = Words { line, rest: content, comment };
        reader.line(&mut words)?;
        comment = words.comment;
    }
    if let Some(begin) = comment {
        return Err(GoalError::new(begin, "/*", Fault::Missing("`*/` behind it")));
    }
    reader.finish(line, ignore_tags)
}

/// The labels of a rank, and the dependencies between labels, until the rank is read.
#[derive(Default)]
struct Rank<'a> {
    number: u32,
    line: u32,
    labels: HashMap<&'a str, u32>,
    /// Line, the label that waits, the label that it waits for, and whether it waits for that operation's end; from the first
    /// dependency on that names an operation further down.
    wanted: Vec<(u32, &'a str, &'a str, bool)>,
}

#[derive(Default)]
struct Reader<'a> {
    schedule: Schedule,
    /// By rank: the line in which it begins; 0 if it has not begun.
    begun: Vec<u32>,
    rank: Option<Rank<'a>>,
}

/// The words of a line that are not read yet: names, numbers (a sign counts as part of one), and other characters one by one.
/// Comments are passed over.
struct Words<'a> {
    line: u32,
    rest: &'a str,
    /// The line at which a still open comment begins.
    comment: Option<u32>,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        self.skip();
        let (word, rest) = self.rest.split_at(word_end(self.rest)?);
        self.rest = rest;
        Some(word)
    }

    /// The next word, which stays.
    fn first(&mut self) -> Option<&'a str> {
        self.skip();
        word_end(self.rest).map(|end| &self.rest[..end])
    }

    /// Passes over blanks and comments.
    fn skip(&mut self) {
        loop {
            if self.comment.is_some() {
                let Some((_, after)) = self.rest.split_once("*/") else {
                    self.rest = "";
                    return;
                };
                (self.comment, self.rest) = (None, after);
            }
            self.rest = self.rest.trim_start();
            if self.rest.starts_with("//") {
                self.rest = "";
            }
            match self.rest.strip_prefix("/*") {
                Some(after) => (self.comment, self.rest) = (Some(self.line), after),
                None => return,
            }
        }
    }

    fn wrong(&self, subject: &str, value: impl ToString, expected: impl Into<String>) -> GoalError {
        GoalError::new(self.line, shown(subject), Fault::bounds(value, expected))
    }

    /// Reads the next word, which must be `word`.
    fn expect(&mut self, word: &str, behind: &str) -> Result<(), GoalError> {
        match self.next() {
            Some(found) if found == word => Ok(()),
            found => Err(self.wrong(behind, before(found), format!("`{word}`"))),
        }
    }

    /// Reads the next word as a whole number up to `max`.
    fn number(&mut self, subject: &str, max: u64) -> Result<u64, GoalError> {
        self.number_of(subject, max, "a whole number")
    }

    /// Reads the next word as a whole number up to `max`; `expected` describes it in messages.
    fn number_of(&mut self, subject: &str, max: u64, expected: &str) -> Result<u64, GoalError> {
        let word = self.next();
        let number = word.and_then(|w| w.parse::<u64>().ok()).filter(|n| *n <= max);
        number.ok_or_else(|| {
            self.wrong(subject, word.map_or_else(|| before(None), shown), format!("{expected} up to {max}"))
        })
    }

    fn end(&mut self, behind: &str) -> Result<(), GoalError> {
        match self.next() {
            None => Ok(()),
            found => Err(self.wrong(behind, before(found), "the end of the line")),
        }
    }
}

/// Where the first word of a text ends; `None` if the text is empty.
fn word_end(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    let named = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let length = |in_word: fn(&u8) -> bool| text.bytes().skip(1).take_while(in_word).count() + 1;
    Some(if first.is_ascii_alphabetic() || first == '_' {
        text.bytes().take_while(named).count()
    } else if first.is_ascii_digit() || first == '-' {
        length(u8::is_ascii_digit)
    } else {
        first.len_utf8()
    })
}

/// The value in a message about the word before `found`.
fn before(found: Option<&str>) -> String {
    found.map_or("the last word of its line".into(), |word| format!("followed by `{}`", shown(word)))
}

impl<'a> Reader<'a> {
    fn line(&mut self, words: &mut Words<'a>) -> Result<(), GoalError> {
        while let Some(word) = words.next() {
            match word {
                "num_ranks" => self.num_ranks(words)?,
                "rank" if self.rank.is_none() => self.begin_rank(words)?,
                "}" if self.rank.is_some() => self.end_rank()?,
                _ if self.rank.is_some() => self.statement(word, words)?,
                _ => {
                    let expected = "`num_ranks N` and then `rank R {`";
                    return Err(words.wrong(word, "outside of a rank", expected));
                }
            }
        }
        Ok(())
    }

    fn num_ranks(&mut self, words: &mut Words<'_>) -> Result<(), GoalError> {
        if self.schedule.ranks > 0 {
            return Err(words.wrong("num_ranks", "there twice", "it once, in the first line"));
        }
        let ranks = words.number("num_ranks", MAX_RANKS)? as u32;
        if ranks == 0 {
            return Err(words.wrong("num_ranks", 0, format!("a whole number from 1 to {MAX_RANKS}")));
        }
        self.schedule.ranks = ranks;
        self.begun = vec![0; ranks as usize];
        Ok(())
    }

    fn begin_rank(&mut self, words: &mut Words<'_>) -> Result<(), GoalError> {
        if self.schedule.ranks == 0 {
            return Err(words.wrong("rank", "before `num_ranks`", "`num_ranks N` first"));
        }
        let number = words.number("rank", u64::from(self.schedule.ranks) - 1)? as u32;
        words.expect("{", "rank")?;
        let begun = &mut self.begun[number as usize];
        if *begun > 0 {
            return Err(words.wrong("rank", format!("{number}, as in line {begun}"), "each rank once"));
        }
        *begun = words.line;
        self.rank = Some(Rank { number, line: words.line, ..Rank::default() });
        Ok(())
    }

    /// Reads an operation or a dependency, up to the end of its line.
    fn statement(&mut self, first: &'a str, words: &mut Words<'a>) -> Result<(), GoalError> {
        if ["send", "recv", "calc"].contains(&first) {
            return self.operation(None, first, words);
        }
        if !first.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let expected = "a label, `send`, `recv`, `calc` or `}`";
            return Err(words.wrong(first, "no label", expected));
        }
        match words.next() {
            Some(":") => {
                let word = words.next().unwrap_or_default();
                if !["send", "recv", "calc"].contains(&word) {
                    let near = Nearest::of(word, ["send", "recv", "calc"]);
                    let found = before(Some(word).filter(|w| !w.is_empty()));
                    return Err(words.wrong(first, found, format!("`send`, `recv` or `calc`{near}")));
                }
                self.operation(Some(first), word, words)
            }
            Some(word @ ("requires" | "irequires")) => {
                let Some(on) = words.next() else {
                    return Err(words.wrong(word, before(None), "the label of an operation"));
                };
                words.end(on)?;
                let Some(rank) = &mut self.rank else { return Ok(()) };
                let ended = word == "requires";
                match (rank.wanted.is_empty(), rank.labels.get(first), rank.labels.get(on)) {
                    (true, Some(&then), Some(&on)) => {
                        self.schedule.requirements.push(Requirement { then, on, ended });
                    }
                    _ => rank.wanted.push((words.line, first, on, ended)),
                }
                Ok(())
            }
            found => {
                Err(words.wrong(first, before(found), "`:` and an operation, `requires` or `irequires`"))
            }
        }
    }

    fn operation(
        &mut self,
        label: Option<&'a str>,
        word: &str,
        words: &mut Words<'a>,
    ) -> Result<(), GoalError> {
        let Some(rank) = &mut self.rank else { return Ok(()) };
        let mut action = if word == "calc" {
            Action::Calc { ns: words.number(word, LONGEST_NS)? }
        } else {
            let size = words.number_of(word, MAX_FLOW.0, "a size, such as `5b`,")?;
            if words.first() != Some("b") {
                let found = before(words.first());
                return Err(words.wrong(
                    word,
                    format!("{size}, {found}"),
                    format!("`b` behind it, as in `{word} {size}b`"),
                ));
            }
            words.next();
            let preposition = if word == "send" { "to" } else { "from" };
            words.expect(preposition, word)?;
            if words.first() == Some("-1") {
                let expected = "a rank, since messages are matched before the run";
                return Err(words.wrong(preposition, "any rank", expected));
            }
            let peer = words.number(preposition, u64::from(self.schedule.ranks) - 1)? as u32;
            match word {
                "send" => Action::Send { size, to: peer, tag: 0 },
                _ => Action::Recv { size, from: peer, tag: 0 },
            }
        };
        // The three keys that there are, once they are read.
        let (mut cpu, mut seen, mut keys) = (0, [""; 3], 0);
        while let Some(key) = words.next() {
            if seen[..keys].contains(&key) {
                return Err(words.wrong(key, "there twice", "it once"));
            }
            match (key, &mut action) {
                ("tag", Action::Send { tag, .. } | Action::Recv { tag, .. }) => {
                    let any = words.first() == Some("-1");
                    let number = if any { ANY } else { words.number(key, ANY)? };
                    if number == ANY {
                        let expected = "a number, since messages are matched before the run";
                        return Err(words.wrong(key, "any tag", expected));
                    }
                    *tag = number as u32;
                }
                ("cpu", _) => cpu = words.number(key, 255)? as u32,
                ("nic", _) => {
                    let nic = words.number(key, 255)?;
                    if nic > 0 {
                        return Err(words.wrong(key, nic, "0, since a host has one NIC"));
                    }
                }
                (_, Action::Calc { .. }) => {
                    return Err(words.wrong(key, "behind a `calc`", "`cpu` or `nic`"));
                }
                _ => {
                    let near = Nearest::of(key, ["tag", "cpu", "nic"]);
                    return Err(words.wrong(
                        key,
                        format!("behind a `{word}`"),
                        format!("`tag`, `cpu` or `nic`{near}"),
                    ));
                }
            }
            seen[keys] = key;
            keys += 1;
        }
        let (number, line) = (self.schedule.operations.len() as u32, words.line);
        if let Some(label) = label
            && let Some(first) = rank.labels.insert(label, number)
        {
            let first = self.schedule.operations[first as usize].line;
            return Err(words.wrong(label, format!("there already, in line {first}"), "labels of their own"));
        }
        self.schedule.operations.push(Operation { rank: rank.number, line, cpu, action });
        Ok(())
    }

    fn end_rank(&mut self) -> Result<(), GoalError> {
        let Some(rank) = self.rank.take() else { return Ok(()) };
        for (line, then, on, ended) in rank.wanted {
            let find = |label: &str| {
                rank.labels.get(label).copied().ok_or_else(|| {
                    // Sorted, so that the hint does not depend on the order of the map.
                    let mut known: Vec<&str> = rank.labels.keys().copied().collect();
                    known.sort_unstable();
                    let first = known.first().copied();
                    let near = Nearest::of(label, known);
                    let example =
                        || first.map_or(String::new(), |label| format!(" such as `{}`", shown(label)));
                    let hint = if near.0.is_some() { near.to_string() } else { example() };
                    let expected = format!("a label of rank {}{hint}", rank.number);
                    GoalError::new(line, shown(label), Fault::bounds("the label of no operation", expected))
                })
            };
            self.schedule.requirements.push(Requirement { then: find(then)?, on: find(on)?, ended });
        }
        Ok(())
    }

    fn finish(mut self, last: u32, ignore_tags: bool) -> Result<Schedule, GoalError> {
        if let Some(rank) = &self.rank {
            return Err(GoalError::new(rank.line, "rank", Fault::Missing("`}` behind its operations")));
        }
        if self.schedule.ranks == 0 {
            return Err(GoalError::new(
                last.max(1),
                "num_ranks",
                Fault::Missing("`num_ranks N` in the first line"),
            ));
        }
        if self.schedule.operations.is_empty() {
            return Err(GoalError::new(
                last.max(1),
                "rank",
                Fault::Missing("`rank R {` with operations in it"),
            ));
        }
        self.schedule.partners = matching::partners(&self.schedule, ignore_tags)?;
        circle::check(&self.schedule)?;
        Ok(self.schedule)
    }
}
