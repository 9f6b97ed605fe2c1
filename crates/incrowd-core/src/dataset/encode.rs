//! Encodes a folded table of texts as codes.

use std::sync::Arc;

use hashbrown::HashMap;
use rayon::prelude::*;

use super::{BLOCK, Dataset, Quasi, Sensitive, row_ranges, sum_by_row};
use crate::canonical::canonical;
use crate::domain::{Domain, Misfit};
use crate::folded::{Folded, FoldedColumn, MISSING};
use crate::hierarchy::HierarchySpec;
use crate::index::Code;
use crate::numerals::DecimalMark;
use crate::packed::PackedRows;
use crate::schema::{ColumnSpec, Labels, SensitiveSpec};

/// A column that could not be encoded.
#[derive(Clone, Debug)]
pub struct EncodeError {
    /// The column's position in the folded table.
    pub column: usize,
    /// The value that does not fit, and why.
    pub misfit: Misfit,
}

/// The encoded columns of a table.
#[derive(Default)]
struct EncodedColumns {
    quasi: Vec<Quasi>,
    sensitive: Vec<Sensitive>,
    /// Per column: for each code of the fold, the new code.
    maps: Vec<Vec<u32>>,
    /// Per column of the external table: for each of its codes, the leaf in the quasi-identifier's
    /// domain.
    places: Vec<Vec<Code>>,
}

impl EncodedColumns {
    /// The highest code of each column.
    fn highest(&self) -> Vec<u32> {
        let leaves = self.quasi.iter().map(|quasi| quasi.domain.leaves());
        let values = self.sensitive.iter().map(|column| column.values.len() as u32);
        leaves.chain(values).map(|size| size.saturating_sub(1)).collect()
    }

    fn table(self, codes: Vec<u32>, counts: Vec<u64>) -> (Dataset, Vec<Vec<Code>>) {
        (Dataset::from_rows(self.quasi, self.sensitive, codes, counts), self.places)
    }

    /// Encodes a quasi-identifier. `counts` returns the number of records per code. Returns for
    /// each code of the fold the new code.
    fn add_quasi(
        &mut self,
        column: &FoldedColumn,
        spec: &ColumnSpec,
        used: &mut [bool],
        counts: &dyn Fn() -> Vec<u64>,
        missing: &str,
        external: Option<&FoldedColumn>,
    ) -> Result<Vec<u32>, Misfit> {
        let has_missing = std::mem::replace(&mut used[MISSING as usize], true);
        let mut old: Vec<u32> =
            (0..column.texts.len() as u32).filter(|&code| used[code as usize]).collect();
        let mut texts: Vec<String> =
            old.iter().map(|&code| column.texts[code as usize].clone()).collect();
        let external =
            external.map(|external| append_new_values(&mut texts, &mut old, column, external));
        // Below, codes are positions in `old`; errors are reported with codes of the fold.
        let with_old_code = |mut misfit: Misfit| {
            misfit.code = misfit.code.map(|code| old[code as usize]);
            misfit
        };
        let mut kept = FoldedColumn { name: column.name.clone(), texts };
        crate::spelling::unify(&mut kept, spec).map_err(with_old_code)?;
        let missing = has_missing.then_some(missing);
        // Values of the external table only have no count.
        let records = || -> Vec<u64> {
            let counts = counts();
            old.iter().map(|&code| counts.get(code as usize).copied().unwrap_or(0)).collect()
        };
        let is_mdr = matches!(spec.hierarchy, Some(HierarchySpec::Mdr(_)));
        let built = Domain::build_counted(&kept, spec, missing, is_mdr.then(records).as_deref());
        let (domain, codes) = built.map_err(with_old_code)?;
        if let Some(external) = external {
            self.places.push(external.into_iter().map(|at| codes[at as usize]).collect());
        }
        let mut map = vec![0; column.texts.len()];
        for (&old, code) in old.iter().zip(codes) {
            if let Some(new) = map.get_mut(old as usize) {
                *new = code.0;
            }
        }
        let with_domain = |domain| Quasi {
            name: column.name.clone(),
            domain,
            leaf_depth: 0,
            counts: Arc::default(),
            weight: spec.weight(),
            original: None,
        };
        let mut quasi = with_domain(domain);
        if spec.is_bounded() && !spec.measuring {
            let (spec, records) = (spec.for_measuring(), records());
            let built = Domain::build_counted(&kept, &spec, missing, Some(&records));
            let (domain, codes) = built.map_err(with_old_code)?;
            let mut original = with_domain(domain);
            let mut leaves = vec![0; original.domain.leaves() as usize];
            // A code without records may have no leaf.
            let present = codes.iter().zip(records).filter(|(_, records)| *records > 0);
            present.for_each(|(leaf, records)| leaves[leaf.index()] += records);
            original.set_counts(leaves);
            quasi.original = Some(Arc::new(original));
        }
        self.quasi.push(quasi);
        Ok(map)
    }

    /// Encodes a sensitive column. Returns for each code of the fold the new code.
    fn add_sensitive(
        &mut self,
        column: &FoldedColumn,
        spec: Option<&SensitiveSpec>,
        used: &[bool],
        decimal: DecimalMark,
    ) -> Result<Vec<u32>, Misfit> {
        let mut map = vec![0; column.texts.len()];
        let mut order: Vec<usize> = (0..column.texts.len()).filter(|&code| used[code]).collect();
        order.sort_by(|&a, &b| column.texts[a].cmp(&column.texts[b]));
        // Two codes may have the same text, for example if categories are published.
        let same =
            |a: usize, b: usize| a.min(b) != MISSING as usize && column.texts[a] == column.texts[b];
        let mut first: Vec<usize> = Vec::with_capacity(order.len());
        for &text in &order {
            if !first.last().is_some_and(|&last| same(last, text)) {
                first.push(text);
            }
            map[text] = first.len() as u32 - 1;
        }
        let values = first.iter().map(|&text| column.texts[text].clone()).collect();
        let missing = used[MISSING as usize].then(|| map[MISSING as usize]);
        let built = Sensitive::build(&column.name, values, missing, spec, decimal);
        self.sensitive.push(built.map_err(|mut misfit| {
            misfit.code = misfit.code.map(|code| first[code as usize] as u32);
            misfit
        })?);
        Ok(map)
    }
}

/// How the columns of a table are encoded.
#[derive(Clone, Copy)]
struct Specs<'a> {
    quasi: &'a [&'a ColumnSpec],
    sensitive: &'a [&'a SensitiveSpec],
    /// The text that is published for missing values that are kept.
    missing: &'a str,
    /// The columns of an external table; may be empty.
    external: &'a [FoldedColumn],
}

impl Dataset {
    /// Encodes a folded table. Its columns are the quasi-identifiers, in the order of `quasi`,
    /// followed by the sensitive columns, in the order of `sensitive`. `missing` is the text that
    /// is published for missing values that are kept.
    pub fn encode(
        folded: Folded,
        quasi: &[&ColumnSpec],
        sensitive: &[&SensitiveSpec],
        missing: &str,
    ) -> Result<Dataset, EncodeError> {
        Dataset::encode_with_external(folded, quasi, sensitive, missing, &[]).map(|(data, _)| data)
    }

    /// Like [`Dataset::encode`], with domains that also contain the values of an external table.
    /// `external` holds its columns for the quasi-identifiers, or is empty; an empty text is not a
    /// value. Also returns the leaf of each code of the external table. An external value that does
    /// not fit is reported with a code greater than those of the table's own column.
    pub fn encode_with_external(
        folded: Folded,
        quasi: &[&ColumnSpec],
        sensitive: &[&SensitiveSpec],
        missing: &str,
        external: &[FoldedColumn],
    ) -> Result<(Dataset, Vec<Vec<Code>>), EncodeError> {
        let specs = Specs { quasi, sensitive, missing, external };
        let mut folded = folded;
        if let Some(rows) = folded.packed.take() {
            return encode_packed(folded, &rows, specs);
        }
        let persons = take_persons(&mut folded);
        let represented = folded.represented.take();
        let (mut data, places) = encode_as_folded(folded, specs)?;
        let folded_counts = if persons.is_some() { data.counts.clone() } else { Vec::new() };
        let sizes = data.quasi.iter().map(|quasi| quasi.domain.leaves());
        let sizes = sizes.chain(data.sensitive.iter().map(|column| column.values.len() as u32));
        let rows = canonical(data.codes, data.counts, &sizes.collect::<Vec<u32>>());
        (data.codes, data.counts, data.of_fold) = (rows.codes, rows.counts, rows.of_fold);
        if let Some(persons) = persons {
            let persons = in_new_rows(&persons, &folded_counts, &data.of_fold, &data.counts);
            data.set_persons(&persons);
        }
        if let Some(represented) = represented {
            data.represented = Some(Arc::new(sum_by_row(&represented, &data.of_fold, data.rows())));
        }
        Ok((data, places))
    }

    /// Encodes a published table, without using how it was made: every quasi-identifier is plain
    /// text. The first `quasi` columns are quasi-identifiers, the others sensitive. Rows stay in
    /// the order of the fold, so that callers can read the texts of a row. Fails only if a
    /// sensitive value does not fit `sensitive`.
    pub fn of_release(
        folded: Folded,
        quasi: usize,
        sensitive: &[&SensitiveSpec],
    ) -> Result<Dataset, EncodeError> {
        let text = ColumnSpec {
            kind: Some(crate::Kind::Text),
            labels: Labels::Star,
            ..ColumnSpec::default()
        };
        // A missing value differs from an empty text: it gets a label that no cell can have.
        let mut folded = folded.unpacked();
        let persons = take_persons(&mut folded);
        let represented = folded.represented.take();
        let quasi = vec![&text; quasi];
        let specs = Specs { quasi: &quasi, sensitive, missing: "\u{0}", external: &[] };
        let encoded = encode_as_folded(folded, specs);
        encoded.map(|(mut data, _)| {
            data.represented = represented.map(Arc::new);
            if let Some(persons) = persons {
                data.set_persons(&persons);
            }
            data
        })
    }
}

/// Encodes bit-packed rows. Rows with equal codes are merged.
fn encode_packed(
    folded: Folded,
    rows: &PackedRows,
    specs: Specs<'_>,
) -> Result<(Dataset, Vec<Vec<Code>>), EncodeError> {
    let sizes: Vec<usize> = folded.columns.iter().map(|column| column.texts.len()).collect();
    let counts = rows.counts(&sizes);
    let used =
        counts.iter().map(|counts| counts.iter().map(|&records| records > 0).collect()).collect();
    let mut columns = encode_columns(&folded, used, &|column| counts[column].clone(), specs)?;
    let Some((codes, records)) = rows.recoded(&columns.maps, &columns.highest()) else {
        // A domain may have more leaves than the column has values: the codes no longer fit.
        let (codes, records) = rows.unpacked();
        return Dataset::encode_with_external(
            Folded { codes, weights: records, ..folded },
            specs.quasi,
            specs.sensitive,
            specs.missing,
            specs.external,
        );
    };
    for ((quasi, map), counts) in columns.quasi.iter_mut().zip(&columns.maps).zip(counts) {
        let mut leaves = vec![0; quasi.domain.leaves() as usize];
        // A code without records has no leaf.
        let own = map.iter().zip(counts).filter(|(_, records)| *records > 0);
        own.for_each(|(&leaf, records)| leaves[leaf as usize] += records);
        quasi.set_counts(leaves);
    }
    Ok(columns.table(codes, records))
}

/// Encodes plain rows, in the order of the fold.
fn encode_as_folded(
    folded: Folded,
    specs: Specs<'_>,
) -> Result<(Dataset, Vec<Vec<Code>>), EncodeError> {
    let width = folded.columns.len();
    // Texts that occur only in dropped records must not appear in any domain.
    let sizes: Vec<usize> = folded.columns.iter().map(|column| column.texts.len()).collect();
    let used = used_codes(&folded.codes, &sizes);
    let counts = |column: usize| {
        let mut counts = vec![0; sizes[column]];
        let codes = folded.codes.iter().skip(column).step_by(width);
        codes.zip(&folded.weights).for_each(|(&code, n)| counts[code as usize] += n);
        counts
    };
    let columns = encode_columns(&folded, used, &counts, specs)?;
    let mut codes = folded.codes;
    codes.par_chunks_mut(BLOCK * width.max(1)).for_each(|block| {
        for row in block.chunks_exact_mut(width.max(1)) {
            for (code, map) in row.iter_mut().zip(&columns.maps) {
                *code = map[*code as usize];
            }
        }
    });
    let (mut data, places) = columns.table(codes, folded.weights);
    data.count_leaves();
    Ok((data, places))
}

/// Encodes the columns of a folded table. `used` marks the codes that occur, per column; `counts`
/// returns the number of records per code of a column.
fn encode_columns(
    folded: &Folded,
    mut used: Vec<Vec<bool>>,
    counts: &dyn Fn(usize) -> Vec<u64>,
    specs: Specs<'_>,
) -> Result<EncodedColumns, EncodeError> {
    for (used, kept) in used.iter_mut().zip(folded.lines.iter().flatten()) {
        used.iter_mut().zip(kept).for_each(|(used, &kept)| *used |= kept);
    }
    let mut encoded = EncodedColumns::default();
    for (i, column) in folded.columns.iter().enumerate() {
        let (used, external) = (&mut used[i], specs.external.get(i));
        let map = match specs.quasi.get(i) {
            Some(spec) => {
                encoded.add_quasi(column, spec, used, &|| counts(i), specs.missing, external)
            }
            None => {
                let spec = specs.sensitive.get(i - specs.quasi.len()).copied();
                encoded.add_sensitive(column, spec, used, folded.decimal)
            }
        };
        encoded.maps.push(map.map_err(|misfit| EncodeError { column: i, misfit })?);
    }
    Ok(encoded)
}

/// Marks the codes that occur, per column. `sizes` holds the number of codes per column.
fn used_codes(codes: &[u32], sizes: &[usize]) -> Vec<Vec<bool>> {
    let none = || sizes.iter().map(|&size| vec![false; size]).collect::<Vec<Vec<bool>>>();
    let width = sizes.len().max(1);
    let mark = |rows: std::ops::Range<usize>| {
        let mut used = none();
        for row in codes[rows.start * width..rows.end * width].chunks_exact(width) {
            used.iter_mut().zip(row).for_each(|(used, &code)| used[code as usize] = true);
        }
        used
    };
    let join = |mut all: Vec<Vec<bool>>, more: Vec<Vec<bool>>| {
        for (all, more) in all.iter_mut().zip(more) {
            all.iter_mut().zip(more).for_each(|(all, own)| *all |= own);
        }
        all
    };
    row_ranges(codes.len() / width).into_par_iter().map(mark).reduce_with(join).unwrap_or_else(none)
}

/// Returns the person of each record, if a person has several records.
fn take_persons(folded: &mut Folded) -> Option<Vec<u32>> {
    folded.persons.take().filter(|persons| persons.repeated).map(|persons| persons.codes)
}

/// Reorders the persons of the records from rows of the fold to rows of the table. `of_fold` maps
/// the former to the latter, `counts` holds the record counts of the latter.
fn in_new_rows(persons: &[u32], folded: &[u64], of_fold: &[u32], counts: &[u64]) -> Vec<u32> {
    let mut next = Vec::with_capacity(counts.len());
    let mut start = 0;
    for &records in counts {
        next.push(start);
        start += records as usize;
    }
    let (mut moved, mut at) = (vec![0; persons.len()], 0);
    for (&row, &records) in of_fold.iter().zip(folded) {
        let own = &persons[at..at + records as usize];
        let to = &mut next[row as usize];
        moved[*to..*to + own.len()].copy_from_slice(own);
        (*to, at) = (*to + own.len(), at + own.len());
    }
    moved
}

/// Appends the values of an external column that are not among `texts`. Their codes begin after
/// those of `column`. Returns for each code of the external column its position in `texts`.
fn append_new_values(
    texts: &mut Vec<String>,
    old: &mut Vec<u32>,
    column: &FoldedColumn,
    external: &FoldedColumn,
) -> Vec<u32> {
    let own = column.texts.len() as u32;
    let mut known: HashMap<&str, u32> =
        texts.iter().enumerate().skip(1).map(|(at, text)| (text.as_str(), at as u32)).collect();
    let mut fresh: Vec<String> = Vec::new();
    let first = texts.len() as u32;
    let mut at = vec![0u32];
    for (code, text) in external.texts.iter().enumerate().skip(1) {
        if text.is_empty() {
            at.push(0);
            continue;
        }
        let place = *known.entry(text).or_insert_with(|| {
            fresh.push(text.clone());
            old.push(own + code as u32);
            first + fresh.len() as u32 - 1
        });
        at.push(place);
    }
    drop(known);
    texts.append(&mut fresh);
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::mdr::Mdr;
    use crate::packed::Layout;
    use proptest::prelude::*;

    /// The table with bit-packed rows. One record of each row with several is a row of its own.
    fn packed(folded: &Folded) -> Folded {
        let highest: Vec<u32> =
            folded.columns.iter().map(|column| column.texts.len() as u32 - 1).collect();
        let layout = Layout::new(&highest).unwrap();
        let keys: Vec<u64> =
            (0..folded.rows()).rev().map(|row| layout.pack(folded.row(row))).collect();
        let weights: Vec<u64> = folded.weights.iter().rev().copied().collect();
        let again =
            keys.iter().zip(&weights).filter(|(_, n)| **n > 1).map(|(key, _)| *key).collect();
        let first = weights.iter().map(|&n| if n > 1 { n - 1 } else { n }).collect();
        let rows = PackedRows { layout, parts: vec![(keys, first), (again, Vec::new())] };
        Folded { codes: Vec::new(), weights: Vec::new(), packed: Some(rows), ..folded.clone() }
    }

    /// Checks that packed rows encode like plain rows. Returns `None` if both fail with one error.
    fn same(
        folded: &Folded,
        quasi: &[&ColumnSpec],
        sensitive: &[&SensitiveSpec],
    ) -> Option<Dataset> {
        let plain = Dataset::encode(folded.clone(), quasi, sensitive, "?");
        let other = Dataset::encode(packed(folded), quasi, sensitive, "?");
        if let Err(why) = &plain {
            let other = other.unwrap_err();
            assert_eq!((other.column, other.misfit.code), (why.column, why.misfit.code));
            assert_eq!(other.misfit.error.message(), why.misfit.error.message());
            return None;
        }
        let (plain, other) = (plain.unwrap(), other.unwrap());
        assert_eq!((&other.codes, &other.counts), (&plain.codes, &plain.counts));
        assert_eq!(other.records, plain.records);
        for (own, line) in other.quasi.iter().zip(&plain.quasi) {
            assert_eq!((&own.counts, own.leaf_depth), (&line.counts, line.leaf_depth));
            assert_eq!(format!("{:?}", own.domain), format!("{:?}", line.domain));
        }
        for (own, column) in other.sensitive.iter().zip(&plain.sensitive) {
            assert_eq!((&own.values, own.missing), (&column.values, column.missing));
        }
        Some(other)
    }

    fn arx(leaves: usize) -> ColumnSpec {
        let text = (0..leaves).map(|leaf| format!("{leaf};{};*\n", leaf / 4)).collect();
        let hierarchy = Some(HierarchySpec::Arx { name: "leaves".into(), text });
        ColumnSpec { hierarchy, ..ColumnSpec::default() }
    }

    fn records() -> impl Strategy<Value = Vec<[Option<&'static str>; 5]>> {
        let number =
            prop::sample::select(vec![None, Some("10"), Some("2"), Some("2.0"), Some("7")]);
        let leaf = prop::sample::select(vec![Some("5"), Some("0"), Some("3")]);
        let text = prop::sample::select(vec![Some("b"), Some("a"), None, Some("c")]);
        let row = (number.clone(), leaf, text.clone(), number, text);
        prop::collection::vec(row.prop_map(|(a, b, c, d, e)| [a, b, c, d, e]), 1..60)
    }

    proptest! {
        /// Two spellings of one number, leaves without records, missing values kept or dropped.
        #[test]
        fn packed_rows_encode_like_plain_rows(records in records(), drop in any::<bool>()) {
            let cells = records.iter().map(|record| record.to_vec());
            let folded = Folded::from_records(&["n", "h", "t", "m", "s"], cells, drop);
            prop_assume!(folded.rows() > 0);
            let (plain, leaves, none) = (ColumnSpec::default(), arx(9), SensitiveSpec::default());
            let hierarchy = Some(HierarchySpec::Mdr(Mdr::default()));
            let grid = ColumnSpec { hierarchy, ..ColumnSpec::default() };
            same(&folded, &[&plain, &leaves, &plain, &grid], &[&none]);
        }
    }

    /// Five columns of six values each fit into 64 bits; the leaves of their hierarchies do not.
    #[test]
    fn domains_may_have_more_leaves_than_fit_into_a_packed_row() {
        let leaves: Vec<String> = (0..6).map(|n| (n * 1000).to_string()).collect();
        let cells = (0..200)
            .map(|at| (0..5).map(|c| Some(leaves[(at * (c + 2) + at / 7) % 6].as_str())).collect());
        let folded = Folded::from_records(&["a", "b", "c", "d", "e"], cells, false);
        let spec = arx(9000);
        let data = same(&folded, &[&spec; 5], &[]).unwrap();
        assert_eq!(data.quasi[0].domain.leaves(), 9000);
    }
}
