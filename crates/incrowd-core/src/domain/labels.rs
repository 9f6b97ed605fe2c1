//! Domain of texts without a hierarchy.

use rayon::prelude::*;

use crate::cell::set_label;
use crate::index::Code;
use crate::schema::Labels;

/// Texts in alphabetical order. The order has no meaning; it allows splitting the domain into
/// intervals.
#[derive(Clone)]
pub struct LabelLine {
    texts: Vec<String>,
    labels: Labels,
}

crate::opaque_debug!(LabelLine { texts: |line| line.texts.len(), labels });

impl LabelLine {
    pub(super) fn build(
        values: &[&str],
        missing: Option<&str>,
        labels: Labels,
    ) -> (LabelLine, Vec<Code>) {
        // The first text is that of the missing value.
        let all = std::iter::once(missing.unwrap_or("")).chain(values.iter().copied());
        let mut sorted: Vec<(&str, u32)> =
            all.zip(0..).skip(usize::from(missing.is_none())).collect();
        sorted.par_sort_unstable();
        let mut texts: Vec<String> = Vec::with_capacity(sorted.len());
        let mut codes = vec![Code(0); values.len() + 1];
        for alike in sorted.chunk_by(|a, b| a.0 == b.0) {
            alike.iter().for_each(|&(_, at)| codes[at as usize] = Code(texts.len() as u32));
            texts.push(alike[0].0.to_owned());
        }
        (LabelLine { texts, labels }, codes)
    }

    pub(super) fn leaves(&self) -> u32 {
        self.texts.len() as u32
    }

    /// Whether sets or stars are published.
    pub fn labels(&self) -> Labels {
        self.labels
    }

    /// The code of a value.
    pub fn code(&self, text: &str) -> Option<Code> {
        self.texts.binary_search_by(|t| t.as_str().cmp(text)).ok().map(|i| Code(i as u32))
    }

    /// The code of a value that is likely at `from` or shortly after: exponential search.
    pub(super) fn code_after(&self, from: Code, text: &str) -> Option<Code> {
        let compare = |own: &String| own.as_str().cmp(text);
        let (mut before, mut step) = (from.index(), 1);
        if self.texts.get(before).is_none_or(|own| compare(own).is_gt()) {
            return self.code(text);
        }
        // Invariant: the text at `before` is not greater than the value.
        while self.texts.get(before + step).is_some_and(|own| compare(own).is_le()) {
            (before, step) = (before + step, step * 2);
        }
        let near = &self.texts[before..(before + step).min(self.texts.len())];
        near.binary_search_by(compare).ok().map(|at| Code((before + at) as u32))
    }

    /// The share of the domain, counting every leaf of the interval; a group's set may be smaller.
    pub(super) fn ncp(&self, lo: Code, hi: Code) -> f64 {
        if self.labels == Labels::Star {
            f64::from(u8::from(lo != hi))
        } else {
            self.share(hi.0 - lo.0 + 1)
        }
    }

    /// 0 for one value, otherwise the share of all values.
    pub(super) fn share(&self, count: u32) -> f64 {
        if count <= 1 { 0.0 } else { f64::from(count) / self.texts.len() as f64 }
    }

    pub(super) fn label(&self, lo: Code, hi: Code) -> String {
        match self.labels {
            Labels::Star if lo != hi => "*".to_owned(),
            _ => self.set_label(&(lo.0..=hi.0).map(Code).collect::<Vec<_>>()),
        }
    }

    pub(super) fn set_label(&self, codes: &[Code]) -> String {
        if self.labels == Labels::Star && codes.len() > 1 {
            return "*".to_owned();
        }
        let texts: Vec<&str> = codes.iter().map(|c| self.texts[c.index()].as_str()).collect();
        set_label(&texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_sorted_and_have_the_code_of_their_position() {
        let (line, codes) = LabelLine::build(&["b", "a", "", "c", "a"], Some("?"), Labels::Star);
        assert_eq!(line.texts, ["", "?", "a", "b", "c"]);
        assert_eq!(codes, [1, 3, 2, 0, 4, 2].map(Code));
        let (line, codes) = LabelLine::build(&["b", "a"], None, Labels::Star);
        assert_eq!((line.texts.len(), codes), (2, [0, 1, 0].map(Code).to_vec()));
    }

    #[test]
    fn values_are_found_from_any_start() {
        let texts: Vec<String> = (0..40).map(|n| format!("v{:03}", n * n % 97)).collect();
        let values: Vec<&str> = texts.iter().map(String::as_str).collect();
        let (line, _) = LabelLine::build(&values, None, Labels::Set);
        for from in 0..=line.leaves() + 1 {
            for n in 0..100 {
                let text = format!("v{n:03}");
                assert_eq!(line.code_after(Code(from), &text), line.code(&text), "{from} {text}");
            }
            assert_eq!(line.code_after(Code(from), ""), None);
            assert_eq!(line.code_after(Code(from), "w"), None);
        }
    }

    #[test]
    fn sets_or_stars() {
        let (line, codes) = LabelLine::build(&["Peru", "Mexico"], None, Labels::Set);
        assert_eq!(codes[1..], [Code(1), Code(0)]);
        assert_eq!(line.label(Code(0), Code(1)), "{Mexico, Peru}");
        let (line, _) = LabelLine::build(&["Peru", "Mexico"], None, Labels::Star);
        assert_eq!(
            (line.label(Code(0), Code(1)), line.label(Code(1), Code(1))),
            ("*".into(), "Peru".into())
        );
        assert_eq!((line.ncp(Code(0), Code(1)), line.ncp(Code(1), Code(1))), (1.0, 0.0));
    }
}
