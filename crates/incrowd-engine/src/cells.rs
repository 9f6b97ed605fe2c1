//! The published cells that follow from a row's number, and the order of rows by them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use arrow_array::{ArrayRef, StringArray};
use hashbrown::HashMap;
use incrowd_core::plan::mean_text;
use incrowd_core::{GroupId, Plan};
use rayon::prelude::*;

use crate::sink::{MOST_BYTES, Renderer};
use crate::{Content, Output, shape};

/// The number of no text.
pub(crate) const NO_TEXT: u32 = u32::MAX;

/// Texts of a column in the spelling of the sink.
#[derive(Default)]
pub(crate) struct Texts {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    /// The texts that stand for nothing; empty if there are none.
    nulls: Vec<bool>,
    /// For each text the first one that reads the same.
    first: OnceLock<Vec<u32>>,
    /// The texts as values of the type that is written.
    values: OnceLock<Option<ArrayRef>>,
    /// Which of them are published, if that was asked.
    published: Option<Vec<bool>>,
    dictionary: OnceLock<Option<Dictionary>>,
}

/// The texts that are published, each once and sorted: it tells neither what was left out nor what came first.
pub(crate) struct Dictionary {
    pub(crate) values: ArrayRef,
    /// For each text its place there, or [`NO_TEXT`].
    pub(crate) places: Vec<u32>,
}

impl Texts {
    #[inline]
    pub(crate) fn get(&self, index: u32) -> Option<&[u8]> {
        if self.is_null(index) {
            return None;
        }
        let i = index as usize;
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        Some(&self.bytes[start..self.ends[i] as usize])
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether a text stands for nothing.
    pub(crate) fn is_null(&self, index: u32) -> bool {
        self.nulls.get(index as usize) == Some(&true)
    }

    /// Whether some text does.
    pub(crate) fn has_nulls(&self) -> bool {
        self.nulls.contains(&true)
    }

    /// Which text a reader sees: texts that read the same are one, and a null is none. Two numbers for one text would tell
    /// apart what looks alike.
    pub(crate) fn as_read(&self, index: u32) -> u32 {
        let first = self.first.get_or_init(|| {
            let mut places: HashMap<&[u8], u32> = HashMap::with_capacity(self.len());
            let first = |i| self.get(i).map_or(NO_TEXT, |text| *places.entry(text).or_insert(i));
            (0..self.len() as u32).map(first).collect()
        });
        first[index as usize]
    }

    /// The texts as values, read once.
    pub(crate) fn values(&self, read: impl Fn(&StringArray) -> Option<ArrayRef>) -> Option<ArrayRef> {
        let all = || (0..self.len() as u32).map(|i| self.get(i).map(std::str::from_utf8).transpose());
        let values = self.values.get_or_init(|| read(&all().collect::<Result<StringArray, _>>().ok()?));
        values.clone()
    }

    /// The dictionary of the texts that are published, made once; `None` if nobody asked which those are, or if one of them
    /// cannot be read.
    pub(crate) fn dictionary(&self, read: impl Fn(&StringArray) -> Option<ArrayRef>) -> Option<&Dictionary> {
        let make = || {
            let published = self.published.as_ref()?;
            let mut kept: Vec<(&[u8], u32)> = (0..self.len() as u32)
                .filter(|&i| published[i as usize])
                .filter_map(|i| Some((self.get(i)?, i)))
                .collect();
            kept.sort_unstable();
            let mut places = vec![NO_TEXT; self.len()];
            let mut texts: Vec<&str> = Vec::new();
            for (at, &(text, i)) in kept.iter().enumerate() {
                if at == 0 || kept[at - 1].0 != text {
                    texts.push(std::str::from_utf8(text).ok()?);
                }
                places[i as usize] = texts.len() as u32 - 1;
            }
            Some(Dictionary { values: read(&StringArray::from(texts))?, places })
        };
        self.dictionary.get_or_init(make).as_ref()
    }

    /// The dictionary of texts so few that they are numbered for a whole file.
    pub(crate) fn numbered(&self) -> Option<&Dictionary> {
        if self.published.is_none() || self.bytes.len() > MOST_BYTES {
            return None;
        }
        self.dictionary(|all| Some(Arc::new(all.clone())))
    }

    /// Texts of which `None` is a null where the format has one, and an empty cell or `shown` otherwise.
    fn new<'a>(texts: impl Iterator<Item = Option<&'a str>>, shown: &str, renderer: &Renderer) -> Texts {
        let texts: Vec<Option<&str>> = texts.collect();
        let own: Vec<String> = texts.iter().map(|text| text.unwrap_or_default().to_owned()).collect();
        let own = renderer.numbers(&own);
        let mut all = Texts::default();
        for (text, own) in texts.iter().zip(own.iter()) {
            let text = if text.is_none() { shown } else { own };
            renderer.spell(text.as_bytes(), &mut all.bytes);
            all.ends.push(all.bytes.len() as u32);
        }
        if renderer.has_null() && texts.contains(&None) {
            all.nulls = texts.iter().map(Option::is_none).collect();
        }
        all
    }
}

/// The cells of published columns that follow from a row's number.
pub(crate) struct Cells<'a> {
    pub(crate) plan: &'a Plan<'a>,
    pub(crate) columns: Vec<(Content, Arc<Texts>)>,
}

impl<'a> Cells<'a> {
    pub(crate) fn new(plan: &'a Plan<'a>, output: &Output, renderer: &Renderer) -> Cells<'a> {
        let used = Used::new(plan);
        let columns = output.columns.par_iter().enumerate().map(|(column, (name, content))| {
            let shown = output.shape.shown.as_deref().unwrap_or(&output.missing);
            let labels = |q: usize| plan.labels(q).iter().map(String::as_str);
            // A column that is not shown in any other way keeps its labels: what is missing is one of them.
            let is_shaped = |name: &String| output.shape.quasi.contains(name);
            let present = |label: &&str| !label.is_empty() && *label != output.missing;
            let mut texts = match *content {
                Content::Quasi(q) if is_shaped(name) => {
                    Texts::new(labels(q).map(|label| Some(label).filter(present)), shown, renderer)
                }
                Content::Quasi(q) => Texts::new(labels(q).map(Some), shown, renderer),
                Content::Low(q) => Texts::new(labels(q).map(|label| shape::ends(label).0), "", renderer),
                Content::High(q) => Texts::new(labels(q).map(|label| shape::ends(label).1), "", renderer),
                Content::Mean(q) => {
                    let means: Vec<Option<String>> =
                        plan.means(q).into_iter().map(|mean| mean.map(mean_text)).collect();
                    Texts::new(means.iter().map(Option::as_deref), "", renderer)
                }
                Content::List(q) if renderer.has_null() => {
                    Texts::new(labels(q).map(|label| Some(label).filter(|label| *label != "*")), "", renderer)
                }
                Content::List(q) => Texts::new(labels(q).map(Some), shown, renderer),
                Content::Sensitive(s) | Content::Category(s) => {
                    let column = &plan.dataset().sensitive()[s];
                    let values = column.values.iter().enumerate().map(|(code, value)| match content {
                        _ if column.missing == Some(code as u32) => None,
                        Content::Category(_) => Some(column.category_name(code as u32).unwrap_or("*")),
                        _ => Some(value.as_str()),
                    });
                    Texts::new(values, shown, renderer)
                }
                Content::OfGroup => {
                    Texts::new(output.by_group.iter().map(|text| Some(text.as_str())), "", renderer)
                }
                Content::Carried => Texts::default(),
            };
            if renderer.has_dictionary(column, texts.bytes.len()) && *content != Content::Carried {
                texts.published = Some(used.texts(*content, texts.len()));
            }
            (*content, Arc::new(texts))
        });
        let columns: Vec<(Content, Arc<Texts>)> = columns.collect();
        renderer.prepare(&columns.iter().map(|(_, texts)| texts.as_ref()).collect::<Vec<_>>());
        Cells { plan, columns }
    }

    /// The cell of a column that is not carried.
    #[inline]
    pub(crate) fn cell(&self, row: (u32, GroupId), column: usize) -> Option<&[u8]> {
        match self.code(row, column) {
            NO_TEXT => None,
            code => self.columns[column].1.get(code),
        }
    }

    /// Which text of its column a cell is; none if it is carried.
    #[inline]
    pub(crate) fn code(&self, (row, group): (u32, GroupId), column: usize) -> u32 {
        match self.columns[column].0 {
            Content::Quasi(q) | Content::Low(q) | Content::High(q) | Content::List(q) => {
                self.plan.cells(group)[q]
            }
            Content::Mean(_) => group.0,
            Content::Sensitive(s) | Content::Category(s) => {
                self.plan.dataset().sensitive_codes(row as usize)[s]
            }
            Content::OfGroup => group.0,
            Content::Carried => NO_TEXT,
        }
    }

    /// The texts of a column that is not carried.
    pub(crate) fn texts(&self, column: usize) -> Option<&Arc<Texts>> {
        let (content, texts) = &self.columns[column];
        (*content != Content::Carried).then_some(texts)
    }

    /// A row with its group; rows asked for are published, so they have one.
    #[inline]
    pub(crate) fn row(&self, row: u32) -> (u32, GroupId) {
        (row, self.plan.partition().group(row as usize).unwrap_or(GroupId(0)))
    }
}

/// Which groups have published records, found once for all columns that ask.
struct Used<'a> {
    plan: &'a Plan<'a>,
    groups: OnceLock<Vec<bool>>,
}

impl<'a> Used<'a> {
    fn new(plan: &'a Plan<'a>) -> Used<'a> {
        Used { plan, groups: OnceLock::new() }
    }

    fn group(&self, row: usize) -> Option<GroupId> {
        self.plan.partition().group(row).filter(|_| self.plan.dataset().weight(row) > 0)
    }

    fn groups(&self) -> &[bool] {
        self.groups.get_or_init(|| {
            let mut groups = Vec::new();
            groups.resize_with(self.plan.partition().groups(), AtomicBool::default);
            let note = |group: GroupId| {
                if !groups[group.index()].load(Ordering::Relaxed) {
                    groups[group.index()].store(true, Ordering::Relaxed);
                }
            };
            let rows = (0..self.plan.dataset().rows()).into_par_iter().with_min_len(1 << 14);
            rows.filter_map(|row| self.group(row)).for_each(note);
            groups.into_iter().map(AtomicBool::into_inner).collect()
        })
    }

    /// Which texts of a column are published.
    fn texts(&self, content: Content, texts: usize) -> Vec<bool> {
        let (plan, data) = (self.plan, self.plan.dataset());
        let mut used = vec![false; texts];
        if let Content::Sensitive(s) | Content::Category(s) = content {
            let look = |mut used: Vec<bool>, row: usize| {
                let used_by_row = &mut used[data.sensitive_codes(row)[s] as usize];
                *used_by_row = *used_by_row || self.group(row).is_some();
                used
            };
            let join = |mut all: Vec<bool>, more: Vec<bool>| {
                all.iter_mut().zip(more).for_each(|(all, more)| *all |= more);
                all
            };
            let rows = (0..data.rows()).into_par_iter().with_min_len(1 << 16);
            return rows.fold(|| vec![false; texts], look).reduce(|| vec![false; texts], join);
        }
        let groups = self.groups();
        for group in (0..groups.len() as u32).filter(|&group| groups[group as usize]) {
            let text = match content {
                Content::Quasi(q) | Content::Low(q) | Content::High(q) | Content::List(q) => {
                    plan.cells(GroupId(group))[q]
                }
                _ => group,
            };
            used[text as usize] = true;
        }
        used
    }
}

/// How many records of each row are published.
pub(crate) fn published(plan: &Plan<'_>) -> Vec<u64> {
    let records = |row| if plan.partition().group(row).is_some() { plan.dataset().weight(row) } else { 0 };
    (0..plan.dataset().rows()).into_par_iter().map(records).collect()
}

/// Published rows sorted by their cells: first the quasi-identifiers as printed, then the sensitive values. Returns for each
/// row its rank; rows that look alike share one. Suppressed rows come last.
pub(crate) fn ranks(plan: &Plan<'_>) -> Vec<u32> {
    let width = plan.dataset().quasi().len();
    let mut rank_of_label: Vec<Vec<u32>> = Vec::with_capacity(width);
    for q in 0..width {
        let labels = plan.labels(q);
        let mut order: Vec<u32> = (0..labels.len() as u32).collect();
        order.sort_by(|&a, &b| labels[a as usize].cmp(&labels[b as usize]));
        let mut rank = vec![0; labels.len()];
        order.iter().enumerate().for_each(|(r, &label)| rank[label as usize] = r as u32);
        // Equal texts of different spans read the same.
        for pair in order.windows(2) {
            if labels[pair[0] as usize] == labels[pair[1] as usize] {
                rank[pair[1] as usize] = rank[pair[0] as usize];
            }
        }
        rank_of_label.push(rank);
    }
    let key = |row: u32| {
        let group = plan.partition().group(row as usize);
        let labels = group.map(|g| {
            plan.cells(g)
                .iter()
                .zip(&rank_of_label)
                .map(|(&l, ranks)| ranks[l as usize])
                .collect::<Vec<u32>>()
        });
        (labels.is_none(), labels, plan.dataset().sensitive_codes(row as usize))
    };
    let mut order: Vec<u32> = (0..plan.dataset().rows() as u32).collect();
    order.par_sort_by_cached_key(|&row| key(row));
    let mut ranks = vec![0; order.len()];
    let mut rank = 0;
    for pair in 0..order.len() {
        if pair > 0 && key(order[pair - 1]) != key(order[pair]) {
            rank += 1;
        }
        ranks[order[pair] as usize] = rank;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_read_the_same_are_one_and_a_null_is_none() {
        let decimal = Default::default();
        let renderer = Renderer::Text {
            columns: 2,
            delimiter: b',',
            decimal,
            harmless: false,
            escape: Default::default(),
        };
        let mut texts = Texts::new(["other", "", "a", "other", ""].into_iter().map(Some), "", &renderer);
        texts.nulls = vec![false, true, false, false, false];
        let read: Vec<u32> = (0..5).map(|i| texts.as_read(i)).collect();
        assert_eq!(read, [0, NO_TEXT, 2, 0, 4]);
    }
}
