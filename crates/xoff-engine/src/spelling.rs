//! The name that was probably meant by a wrong one.

use std::fmt;

/// Names longer than this, in bytes, get no suggestion: the comparison takes time quadratic in the length.
const MAX_LENGTH: usize = 128;

/// The valid name nearest to a wrong one, as the end of a message; empty if no name is near.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nearest(pub Option<String>);

impl Nearest {
    /// The nearest of `names` to `wrong`, as [`nearest`] finds it.
    pub fn of<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Nearest {
        Nearest(nearest(wrong, names).map(String::from))
    }
}

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(name) => write!(f, "; did you mean `{name}`?"),
            None => Ok(()),
        }
    }
}

/// A text of a file that may be anything, as a message may show it: the first `max` characters, none of them a control
/// character.
pub fn shortened(text: &str, max: usize) -> String {
    let clean = |c: char| if c.is_control() { '?' } else { c };
    let short: String = text.chars().take(max).map(clean).collect();
    if text.chars().nth(max).is_some() { format!("{short}...") } else { short }
}

/// The first of `names` with the fewest edits from `wrong`, if at most a third of the letters differ: a suggestion farther
/// away misleads. Case, blanks and hyphens do not count. If no name is that near, the first name that shares a word with
/// `wrong`.
pub fn nearest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if wrong.len() > MAX_LENGTH {
        return None;
    }
    let names: Vec<&str> = names.into_iter().filter(|name| name.len() <= MAX_LENGTH).collect();
    let wrong = wrong.to_lowercase().replace([' ', '-'], "_");
    let distance = |name: &str, other: &str| strsim::osa_distance(&name.to_lowercase(), other);
    let whole = names.iter().map(|n| (distance(n, &wrong), *n)).min_by_key(|(d, _)| *d);
    if let Some((d, name)) = whole
        && d <= wrong.chars().count().max(3) / 3
    {
        return Some(name);
    }
    // A name with a word too many (`link_rate` for `rate`) or too few (`load` for `offered_load`).
    let parts = |s: &str| s.split('_').filter(|p| p.len() > 2).map(String::from).collect::<Vec<_>>();
    let wrong_parts = parts(&wrong);
    let close = |a: &str, b: &str| strsim::osa_distance(a, b) <= usize::from(a.len() > 3 || b.len() > 3);
    names.into_iter().find(|name| {
        let name = name.to_lowercase();
        wrong_parts.iter().any(|p| close(p, &name)) || parts(&name).iter().any(|p| close(p, &wrong))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortened_text_is_its_beginning_without_control_characters() {
        assert_eq!(shortened("abc\x1b[2J", 20), "abc?[2J");
        assert_eq!((shortened("äöü", 3), shortened("äöüß", 3)), ("äöü".into(), "äöü...".into()));
    }

    #[test]
    fn the_nearest_name_is_the_fewest_edits_away_and_not_just_any() {
        let names = ["websearch", "fb_hadoop", "tcd_hadoop"];
        assert_eq!(nearest("web_search", names), Some("websearch"));
        assert_eq!(nearest("Fb-Hadop", names), Some("fb_hadoop"));
        assert_eq!(nearest("uniform", names), None);
        assert_eq!(nearest("x", []), None);
    }

    #[test]
    fn a_word_too_many_or_too_few_is_seen() {
        assert_eq!(nearest("link_rate", ["delay", "rate"]), Some("rate"));
        assert_eq!(nearest("load", ["size", "offered_load"]), Some("offered_load"));
        assert_eq!(Nearest::of("ratee", ["rate"]).to_string(), "; did you mean `rate`?");
    }
}
