//! Plain text in order.

use crate::cell::set_label;
use crate::index::Code;
use crate::schema::Labels;

/// Texts in alphabetical order. The order means nothing to a reader; it only makes cuts possible.
#[derive(Clone)]
pub struct LabelLine {
    texts: Vec<String>,
    labels: Labels,
}

// Cells must not reach logs.
impl std::fmt::Debug for LabelLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LabelLine")
            .field("texts", &self.texts.len())
            .field("labels", &self.labels)
            .finish_non_exhaustive()
    }
}

impl LabelLine {
    pub(super) fn build(values: &[&str], missing: Option<&str>, labels: Labels) -> (LabelLine, Vec<Code>) {
        let mut texts: Vec<String> = values.iter().chain(missing.iter()).map(|t| (*t).to_owned()).collect();
        texts.sort();
        texts.dedup();
        let position = |t: &str| Code(texts.partition_point(|s| s.as_str() < t) as u32);
        let mut codes = vec![position(missing.unwrap_or(""))];
        codes.extend(values.iter().map(|v| position(v)));
        (LabelLine { texts, labels }, codes)
    }

    pub(super) fn leaves(&self) -> u32 {
        self.texts.len() as u32
    }

    /// Whether sets or stars are published.
    pub fn labels(&self) -> Labels {
        self.labels
    }

    /// The position of a value.
    pub fn code(&self, text: &str) -> Option<Code> {
        self.texts.binary_search_by(|t| t.as_str().cmp(text)).ok().map(|i| Code(i as u32))
    }

    /// The share of the domain, counting every leaf of the interval; a group's own set can only be smaller.
    pub(super) fn ncp(&self, lo: Code, hi: Code) -> f64 {
        if self.labels == Labels::Star { f64::from(u8::from(lo != hi)) } else { self.share(hi.0 - lo.0 + 1) }
    }

    /// 0 for one value, else the share of all values.
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
    fn sets_or_stars() {
        let (line, codes) = LabelLine::build(&["Peru", "Mexico"], None, Labels::Set);
        assert_eq!(codes[1..], [Code(1), Code(0)]);
        assert_eq!(line.label(Code(0), Code(1)), "{Mexico, Peru}");
        let (line, _) = LabelLine::build(&["Peru", "Mexico"], None, Labels::Star);
        assert_eq!((line.label(Code(0), Code(1)), line.label(Code(1), Code(1))), ("*".into(), "Peru".into()));
        assert_eq!((line.ncp(Code(0), Code(1)), line.ncp(Code(1), Code(1))), (1.0, 0.0));
    }
}
