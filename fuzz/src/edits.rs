//! A text with some places changed.

use arbitrary::Unstructured;

use crate::Result;

/// Changes up to six places of a text: characters are cut, a word or any characters come in, a line comes twice.
///
/// # Errors
/// The bytes have come to their end.
pub fn edited(text: &str, words: &[&str], bytes: &mut Unstructured<'_>) -> Result<String> {
    let mut text: Vec<char> = text.chars().collect();
    for _ in 0..bytes.int_in_range(1..=6)? {
        let at = bytes.choose_index(text.len() + 1)?;
        let end = (at + bytes.int_in_range(0..=12)?).min(text.len());
        match bytes.int_in_range(0..=3)? {
            0 => drop(text.drain(at..end)),
            1 => drop(text.splice(at..end, bytes.choose(words)?.chars())),
            2 => drop(text.splice(at..at, bytes.arbitrary::<&str>()?.chars().take(40).collect::<Vec<_>>())),
            _ => {
                let begin = text[..at].iter().rposition(|&c| c == '\n').map_or(0, |newline| newline + 1);
                let end = text[at..].iter().position(|&c| c == '\n').map_or(text.len(), |n| at + n + 1);
                let line = text[begin..end].to_vec();
                drop(text.splice(begin..begin, line));
            }
        }
    }
    Ok(text.into_iter().collect())
}
