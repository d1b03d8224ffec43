//! Flows from a file: a trace, or the output of another program.
//!
//! One flow per line, columns separated by blanks or commas; `#` begins a comment. Without a header the columns are
//! `src dst size start` and, if there is a fifth, `priority`; sizes and times carry units (`64KB`, `1.5us`). A first line
//! of column names gives another order, and `size_bytes`, `start_ps`, `start_ns` or `start_us` stand for whole numbers
//! without unit. With the columns `id` and `after` flows wait for others, see [`super::triggers`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, Nearest, NicChoice, QuantityError, Time};

use super::triggers::{Entry, Triggers};
use super::{Common, Params, common};
use crate::connections::ConnectionMapping;
use crate::error::{Fault, Misfit};
use crate::generate::{FlowSpec, Plan, Scope};
use crate::sizes;

/// Flows as a file lists them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// Name of the group of flows in the results; without it, the pattern's name.
    #[serde(default)]
    pub label: Option<String>,
    /// Traffic class of the flows whose line has no priority, 0 to 7.
    #[serde(default)]
    pub priority: u8,
    /// Hosts with several NICs: which one each connection takes at its sender; without it, as `host.nic` says.
    #[serde(default)]
    pub nic: Option<NicChoice>,
    /// Which messages share a connection, and so its congestion control: none do (`"per_message"`), all from a host to another
    /// (`"per_pair"`), or this many connections from a host to another take them in turn (a number).
    #[serde(default)]
    pub connection: ConnectionMapping,
    /// Added to the start of each flow.
    #[serde(default)]
    pub start: Time,
    /// Path of the file: lines `SRC DST SIZE START [PRIORITY]` with units, or a header that names the columns.
    pub file: String,
    /// Whether a flow may wait (column `after`) for an end that its own host does not know; it then learns of that end without delay,
    /// and the run takes one thread.
    #[serde(default)]
    pub across_hosts: bool,
}

/// A column, by its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Src,
    Dst,
    Size,
    /// Bytes without unit.
    SizeBytes,
    Start,
    /// A whole number in units of this many picoseconds.
    StartIn(u64),
    Priority,
    /// The flow's name for other flows.
    Id,
    /// The flows and ends that the flow waits for.
    After,
}

const COLUMNS: &[(&str, Column)] = &[
    ("src", Column::Src),
    ("dst", Column::Dst),
    ("size", Column::Size),
    ("size_bytes", Column::SizeBytes),
    ("start", Column::Start),
    ("start_ps", Column::StartIn(1)),
    ("start_ns", Column::StartIn(1_000)),
    ("start_us", Column::StartIn(1_000_000)),
    ("priority", Column::Priority),
    ("id", Column::Id),
    ("after", Column::After),
];

/// The columns of a file without a header; the fifth need not be there.
const PLAIN: &[Column] = &[Column::Src, Column::Dst, Column::Size, Column::Start, Column::Priority];

impl Column {
    fn name(self) -> &'static str {
        COLUMNS.iter().find(|(_, c)| *c == self).map_or("", |(name, _)| name)
    }
    /// Its subject, without the unit.
    fn subject(self) -> u8 {
        match self {
            Column::Src => 0,
            Column::Dst => 1,
            Column::Size | Column::SizeBytes => 2,
            Column::Start | Column::StartIn(_) => 3,
            Column::Priority => 4,
            Column::Id => 5,
            Column::After => 6,
        }
    }
}

/// A column's name and its fault.
type Wrong = (String, Fault);

/// The columns of a header; `None` if the line is a flow.
fn header(words: &[&str]) -> Option<Result<Vec<Column>, Wrong>> {
    let known = |word: &str| COLUMNS.iter().find(|(name, _)| *name == word).map(|(_, c)| *c);
    // Hosts may be called `src`, but sizes and times begin with a digit.
    if known(words[0]).is_none() || words.iter().any(|w| w.starts_with(|c: char| c.is_ascii_digit())) {
        return None;
    }
    let mut columns: Vec<Column> = Vec::new();
    for word in words {
        let Some(column) = known(word) else {
            let near = Nearest::of(word, COLUMNS.iter().map(|(name, _)| *name));
            let expected =
                format!("src, dst, size or size_bytes, start or start_ps, priority, id, after{near}");
            return Some(Err((word.to_string(), Fault::bounds("no column", expected))));
        };
        if columns.iter().any(|c| c.subject() == column.subject()) {
            return Some(Err((word.to_string(), Fault::Unneeded("another column says the same"))));
        }
        columns.push(column);
    }
    let lacks = |column: &&Column| columns.iter().all(|c| c.subject() != column.subject());
    match PLAIN[..4].iter().find(lacks) {
        Some(column) => Some(Err((column.name().into(), Fault::Missing("a column for it")))),
        None => Some(Ok(columns)),
    }
}

impl List {
    fn flow(&self, scope: &Scope<'_>, columns: &[Column], words: &[&str]) -> Result<FlowSpec, Wrong> {
        let (mut src, mut dst, mut size, mut start, mut priority) =
            (0, 0, Bytes(0), self.start, self.priority);
        for (&column, word) in columns.iter().zip(words) {
            let wrong = |fault: Fault| (column.name().to_string(), fault);
            let whole = || word.parse::<u64>().map_err(|_| wrong(Fault::bounds(word, "a whole number")));
            let quantity = |error: QuantityError| wrong(Fault::Quantity(error));
            let mut at = Time::ZERO;
            match column {
                Column::Src => src = scope.hosts.find(word).map_err(wrong)?,
                Column::Dst => dst = scope.hosts.find(word).map_err(wrong)?,
                Column::Size => size = word.parse().map_err(quantity)?,
                Column::SizeBytes => size = Bytes(whole()?),
                Column::Start => at = word.parse().map_err(quantity)?,
                Column::StartIn(ps) => at = Time(whole()?.saturating_mul(ps)),
                Column::Priority => {
                    let within = whole()?;
                    if within > 7 {
                        return Err(wrong(Fault::bounds(within, "a priority from 0 to 7")));
                    }
                    priority = within as u8;
                }
                Column::Id | Column::After => {}
            }
            start = start.saturating_add(at);
        }
        let named = |column: Column, fault: Fault| (column.name().to_string(), fault);
        if src == dst {
            return Err(named(Column::Dst, Fault::ToItself(scope.hosts.name(dst).into())));
        }
        let size = sizes::check_value(size).map_err(|fault| named(Column::Size, fault))?;
        let end = scope.horizon.unwrap_or(Time::NEVER);
        if start >= end {
            return Err(named(Column::Start, Fault::AfterEnd { start, end }));
        }
        Ok(FlowSpec { src, dst, size: size.into(), start, priority, ..FlowSpec::default() })
    }

    fn parse(&self, scope: &Scope<'_>, text: &str) -> Result<(Vec<FlowSpec>, Triggers), Fault> {
        let (mut flows, mut entries, mut columns) = (Vec::new(), Vec::new(), None::<Vec<Column>>);
        let at = |line: usize, column: String, fault: Fault| Fault::Line {
            path: self.file.clone(),
            line,
            column,
            fault: Box::new(fault),
        };
        for (n, line) in text.lines().enumerate() {
            let content = line.split('#').next().unwrap_or_default();
            let blank = |c: char| c.is_whitespace() || c == ',';
            let words: Vec<&str> = content.split(blank).filter(|w| !w.is_empty()).collect();
            if words.is_empty() {
                continue;
            }
            let wrong = |(column, fault): Wrong| at(n + 1, column, fault);
            if columns.is_none() {
                if let Some(header) = header(&words) {
                    columns = Some(header.map_err(wrong)?);
                    continue;
                }
                columns = Some(PLAIN[..words.len().clamp(4, 5)].to_vec());
            }
            let columns = columns.as_deref().unwrap_or(PLAIN);
            if words.len() != columns.len() {
                let names: Vec<&str> = columns.iter().map(|c| c.name()).collect();
                let fault = Fault::bounds(format!("{} columns", words.len()), names.join(" "));
                return Err(wrong(("line".into(), fault)));
            }
            flows.push(self.flow(scope, columns, &words).map_err(wrong)?);
            let word = |column| columns.iter().position(|c| *c == column).map(|i| words[i]);
            entries.push(Entry { line: n + 1, id: word(Column::Id), after: word(Column::After) });
        }
        if flows.is_empty() {
            let why = "it has no flow: expected lines `SRC DST SIZE START`".to_string();
            return Err(Fault::File { path: self.file.clone(), why });
        }
        let triggers = Triggers::new(&flows, &entries, self.across_hosts);
        let triggers = triggers.map_err(|(line, column, fault)| at(line, column.into(), fault))?;
        Ok((flows, triggers))
    }
}

impl Params for List {
    const NAME: &'static str = "list";
    const TITLE: &'static str = "flows as a file lists them";

    fn common(&self) -> Common<'_> {
        common!(self)
    }

    fn plan<'a>(&'a self, scope: &'a Scope<'a>) -> Result<Plan<'a>, Misfit> {
        let text = scope.files.text(&self.file).map_err(|error| Fault::file(&self.file, &error));
        let parsed = text.and_then(|text| self.parse(scope, &text));
        let (flows, triggers) = parsed.map_err(|fault| fault.at("file"))?;
        Ok(Plan {
            flows: flows.len() as u128,
            cause: format!("as many in `{}`", self.file),
            emit: Box::new(move |sink| {
                let numbered = |flow: FlowSpec| {
                    let blank = sink.blank(flow.src, flow.dst, flow.start);
                    sink.numbered(FlowSpec { size: flow.size, priority: flow.priority, ..blank })
                };
                let numbers: Vec<u32> = flows.into_iter().map(numbered).collect();
                triggers.emit(&numbers, sink);
            }),
        })
    }
}
