//! The texts of published columns, and the order of rows by these texts.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use arrow_array::{ArrayRef, StringArray};
use hashbrown::HashMap;
use incrowd_core::plan::mean_text;
use incrowd_core::{GroupId, Plan};
use rayon::prelude::*;

use crate::intern::Interner;
use crate::sink::Renderer;
use crate::table::assign::RecordsByRow;
use crate::table::{CodedTable, StoredCell};
use crate::{Content, Output, shape};

/// The index that means no text.
pub(crate) const NO_TEXT: u32 = u32::MAX;

/// The texts of a column, formatted for the sink.
#[derive(Default)]
pub(crate) struct Texts {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    /// For each text, whether it is a null. Empty if there are no nulls.
    nulls: Vec<bool>,
    /// For each text, the index of the first equal text.
    first: OnceLock<Vec<u32>>,
    /// The texts as values of the published type.
    values: OnceLock<Option<ArrayRef>>,
    /// For each text, whether it is published, if that was computed.
    published: Option<Vec<bool>>,
    dictionary: OnceLock<Option<Dictionary>>,
}

/// The distinct published texts, sorted. It reveals neither suppressed values nor the order of the
/// input.
pub(crate) struct Dictionary {
    pub(crate) values: ArrayRef,
    /// For each text, its index in `values`, or [`NO_TEXT`].
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

    /// Whether a text is a null.
    pub(crate) fn is_null(&self, index: u32) -> bool {
        self.nulls.get(index as usize) == Some(&true)
    }

    /// The index of the first text that is equal to a text, or [`NO_TEXT`] for a null. Two indices
    /// for equal texts would distinguish records that are equal in the release.
    pub(crate) fn as_read(&self, index: u32) -> u32 {
        let first = self.first.get_or_init(|| {
            let mut places: HashMap<&[u8], u32> = HashMap::with_capacity(self.len());
            let first = |i| self.get(i).map_or(NO_TEXT, |text| *places.entry(text).or_insert(i));
            (0..self.len() as u32).map(first).collect()
        });
        first[index as usize]
    }

    /// The texts as values of the published type, converted once.
    pub(crate) fn values(
        &self,
        read: impl Fn(&StringArray) -> Option<ArrayRef>,
    ) -> Option<ArrayRef> {
        let all =
            || (0..self.len() as u32).map(|i| self.get(i).map(std::str::from_utf8).transpose());
        let values =
            self.values.get_or_init(|| read(&all().collect::<Result<StringArray, _>>().ok()?));
        values.clone()
    }

    /// The dictionary of the published texts, made once. `None` if it was not computed which texts
    /// are published, or if a text cannot be converted.
    pub(crate) fn dictionary(
        &self,
        read: impl Fn(&StringArray) -> Option<ArrayRef>,
    ) -> Option<&Dictionary> {
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

    /// The texts of a dictionary, formatted for the sink. Code 0 is a null.
    fn of_dictionary(dictionary: &Interner, renderer: &Renderer) -> Texts {
        let mut all = Texts { ends: vec![0], ..Texts::default() };
        for code in 1..=dictionary.len() {
            renderer.spell(dictionary.text(code).unwrap_or_default(), &mut all.bytes);
            all.ends.push(all.bytes.len() as u32);
        }
        all.nulls = vec![false; all.ends.len()];
        all.nulls[0] = true;
        all
    }

    /// Formats texts. `None` is a null in formats that have nulls, and otherwise an empty cell or
    /// `shown`.
    fn new<'a>(
        texts: impl Iterator<Item = Option<&'a str>>,
        shown: &str,
        renderer: &Renderer,
    ) -> Texts {
        let texts: Vec<Option<&str>> = texts.collect();
        let own: Vec<String> =
            texts.iter().map(|text| text.unwrap_or_default().to_owned()).collect();
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

/// Records with passthrough columns, and the records of each row.
pub(crate) struct Passthrough<'a> {
    pub(crate) records: &'a CodedTable,
    pub(crate) by_row: RecordsByRow,
}

/// The texts of published columns, and the mapping from rows to texts.
pub(crate) struct Cells<'a> {
    pub(crate) plan: &'a Plan<'a>,
    /// The content and the texts of each column. For a passthrough column with too many values the
    /// texts are empty, and each cell is looked up in the records.
    pub(crate) columns: Vec<(Content, Arc<Texts>)>,
    /// For each passthrough column, its position in the stored records.
    pub(crate) stored: Vec<Option<usize>>,
}

impl<'a> Cells<'a> {
    pub(crate) fn new(
        plan: &'a Plan<'a>,
        output: &Output,
        renderer: &Renderer,
        passthrough: Option<&Passthrough<'_>>,
    ) -> Cells<'a> {
        let used = Used::new(plan);
        let position = |(name, content): &(String, Content)| match content {
            Content::Passthrough => passthrough?.records.position(name),
            _ => None,
        };
        let stored: Vec<Option<usize>> = output.columns.iter().map(position).collect();
        let columns = output.columns.par_iter().enumerate().map(|(column, (name, content))| {
            let shown = output.shape.shown.as_deref().unwrap_or(&output.missing);
            let labels = |q: usize| plan.labels(q).iter().map(String::as_str);
            // A column that is published as labels keeps the label of a missing value.
            let is_shaped = |name: &String| output.shape.quasi.contains(name);
            let present = |label: &&str| !label.is_empty() && *label != output.missing;
            // A missing value has no ends, also if its label is a number such as 99999.
            let keeps_missing = !output.shape.quasi.is_empty();
            let ends = |label| match keeps_missing && !present(&label) {
                true => (None, None),
                false => shape::ends(label),
            };
            let mut texts = match *content {
                Content::Quasi(q) if is_shaped(name) => {
                    Texts::new(labels(q).map(|label| Some(label).filter(present)), shown, renderer)
                }
                Content::Quasi(q) => Texts::new(labels(q).map(Some), shown, renderer),
                Content::Low(q) => Texts::new(labels(q).map(|label| ends(label).0), "", renderer),
                Content::High(q) => Texts::new(labels(q).map(|label| ends(label).1), "", renderer),
                Content::Mean(q) => {
                    let means: Vec<Option<String>> =
                        plan.means(q).into_iter().map(|mean| mean.map(mean_text)).collect();
                    Texts::new(means.iter().map(Option::as_deref), "", renderer)
                }
                Content::List(q) if renderer.has_null() => Texts::new(
                    labels(q).map(|label| Some(label).filter(|label| *label != "*")),
                    "",
                    renderer,
                ),
                Content::List(q) => Texts::new(labels(q).map(Some), shown, renderer),
                Content::Sensitive(s) | Content::Category(s) => {
                    let column = &plan.dataset().sensitive()[s];
                    let values =
                        column.values.iter().enumerate().map(|(code, value)| match content {
                            _ if column.missing == Some(code as u32) => None,
                            Content::Category(_) => {
                                Some(column.category_name(code as u32).unwrap_or("*"))
                            }
                            _ => Some(value.as_str()),
                        });
                    Texts::new(values, shown, renderer)
                }
                Content::OfGroup => {
                    Texts::new(output.by_group.iter().map(|text| Some(text.as_str())), "", renderer)
                }
                Content::Passthrough => {
                    let records = passthrough.zip(stored[column]);
                    let dictionary = records.and_then(|(own, at)| match renderer {
                        Renderer::Text { .. } => own.records.dictionary(at),
                        Renderer::Arrow(_) | Renderer::Parquet(_) => {
                            own.records.small_dictionary(at)
                        }
                    });
                    dictionary
                        .map_or_else(Texts::default, |own| Texts::of_dictionary(own, renderer))
                }
            };
            let has_texts = !texts.ends.is_empty();
            if has_texts && renderer.has_dictionary(column) {
                texts.published = Some(match passthrough.zip(stored[column]) {
                    Some((own, stored)) => used.stored_texts(own, stored, texts.len()),
                    None => used.texts(*content, texts.len()),
                });
            }
            (*content, Arc::new(texts))
        });
        let columns: Vec<(Content, Arc<Texts>)> = columns.collect();
        renderer.prepare(&columns.iter().map(|(_, texts)| texts.as_ref()).collect::<Vec<_>>());
        Cells { plan, columns, stored }
    }

    /// The text of a column whose cells are equal for all records of a group.
    #[inline]
    pub(crate) fn of_group(&self, group: GroupId, column: usize) -> Option<&[u8]> {
        let (content, texts) = &self.columns[column];
        match *content {
            Content::Quasi(q) | Content::Low(q) | Content::High(q) | Content::List(q) => {
                texts.get(self.plan.cells(group)[q])
            }
            Content::Mean(_) | Content::OfGroup => texts.get(group.0),
            Content::Sensitive(_) | Content::Category(_) | Content::Passthrough => None,
        }
    }

    /// The index of a row's text in a column. Passthrough columns have none.
    pub(crate) fn code(&self, (row, group): (u32, GroupId), column: usize) -> u32 {
        match self.columns[column].0 {
            Content::Quasi(q) | Content::Low(q) | Content::High(q) | Content::List(q) => {
                self.plan.cells(group)[q]
            }
            Content::Mean(_) | Content::OfGroup => group.0,
            Content::Sensitive(s) | Content::Category(s) => {
                self.plan.dataset().sensitive_codes(row as usize)[s]
            }
            Content::Passthrough => NO_TEXT,
        }
    }

    /// The texts of a column. `None` if they must be looked up in the records.
    pub(crate) fn texts(&self, column: usize) -> Option<&Arc<Texts>> {
        let texts = &self.columns[column].1;
        (self.stored[column].is_none() || texts.len() > 0).then_some(texts)
    }

    /// A row with its group. The row must be published, so it has a group.
    #[inline]
    pub(crate) fn row(&self, row: u32) -> (u32, GroupId) {
        (row, self.plan.partition().group(row as usize).unwrap_or(GroupId(0)))
    }
}

/// The groups with published records, computed once for all columns.
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

    /// For each text of a passthrough column, whether it is published.
    fn stored_texts(&self, own: &Passthrough<'_>, column: usize, texts: usize) -> Vec<bool> {
        // Without the cells no text counts as published, so that writing fails and reveals nothing.
        let Ok(cells) = own.records.cells(Vec::new) else { return vec![false; texts] };
        let used: Vec<AtomicBool> = (0..texts).map(|_| AtomicBool::new(false)).collect();
        let rows = (0..self.plan.dataset().rows()).into_par_iter().with_min_len(1 << 12);
        rows.filter(|row| self.group(*row).is_some()).for_each(|row| {
            for &id in own.by_row.of_row(row) {
                if let StoredCell::Code(code) = cells.get(id, column)
                    && !used[code as usize].load(Ordering::Relaxed)
                {
                    used[code as usize].store(true, Ordering::Relaxed);
                }
            }
        });
        used.into_iter().map(AtomicBool::into_inner).collect()
    }

    /// For each text of a column, whether it is published.
    fn texts(&self, content: Content, texts: usize) -> Vec<bool> {
        let (plan, data) = (self.plan, self.plan.dataset());
        let mut used = vec![false; texts];
        if let Content::Sensitive(s) | Content::Category(s) = content {
            let mark = |mut used: Vec<bool>, row: usize| {
                let used_by_row = &mut used[data.sensitive_codes(row)[s] as usize];
                *used_by_row = *used_by_row || self.group(row).is_some();
                used
            };
            let join = |mut all: Vec<bool>, more: Vec<bool>| {
                all.iter_mut().zip(more).for_each(|(all, more)| *all |= more);
                all
            };
            let rows = (0..data.rows()).into_par_iter().with_min_len(1 << 16);
            return rows.fold(|| vec![false; texts], mark).reduce(|| vec![false; texts], join);
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

/// The number of published records of each row.
pub(crate) fn published(plan: &Plan<'_>) -> Vec<u64> {
    let records =
        |row| if plan.partition().group(row).is_some() { plan.dataset().weight(row) } else { 0 };
    (0..plan.dataset().rows()).into_par_iter().map(records).collect()
}

/// Sorts published rows by their cells: first the quasi-identifiers as printed, then the sensitive
/// values. Returns the rank of each row. Rows with equal cells share a rank. Suppressed rows come
/// last.
pub(crate) fn ranks(plan: &Plan<'_>) -> Vec<u32> {
    let width = plan.dataset().quasi().len();
    let mut rank_of_label: Vec<Vec<u32>> = Vec::with_capacity(width);
    for q in 0..width {
        let labels = plan.labels(q);
        let mut order: Vec<u32> = (0..labels.len() as u32).collect();
        order.sort_by(|&a, &b| labels[a as usize].cmp(&labels[b as usize]));
        let mut rank = vec![0; labels.len()];
        order.iter().enumerate().for_each(|(r, &label)| rank[label as usize] = r as u32);
        // Different intervals may have equal texts, which share a rank.
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
    fn equal_texts_have_one_code_and_nulls_have_none() {
        let decimal = Default::default();
        let renderer = Renderer::Text {
            columns: 2,
            delimiter: b',',
            decimal,
            harmless: false,
            escape: Default::default(),
        };
        let mut texts =
            Texts::new(["other", "", "a", "other", ""].into_iter().map(Some), "", &renderer);
        texts.nulls = vec![false, true, false, false, false];
        let read: Vec<u32> = (0..5).map(|i| texts.as_read(i)).collect();
        assert_eq!(read, [0, NO_TEXT, 2, 0, 4]);
    }
}
