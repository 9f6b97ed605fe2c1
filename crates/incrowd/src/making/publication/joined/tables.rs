//! Construction of the two published tables: boxes with the label of their sensitive group, and
//! sensitive values by label.

use incrowd_core::{
    ColumnSpec, Dataset, Error, Folded, FoldedColumn, GroupId, Kind, Labels, Partition, Plan,
    Result, RowId, Span,
};
use incrowd_engine::{Content, Order, Output};
use incrowd_recode::join::JoinOutcome;

use super::super::TableContent;
use super::SENSITIVE_GROUP;
use crate::making::checked::CheckedJob;
use crate::making::make::MadeTable;

/// The description of the column that links the two tables.
const LINKS: &str = "number of a group, which links the two tables";

/// The published numbers of groups.
pub(crate) struct Labelled {
    /// The number of each group's sensitive group, from 0 on, in the order of first appearance in
    /// the sorted table.
    pub(crate) sensitive: Vec<u32>,
    /// The number of sensitive groups.
    pub(crate) count: u32,
    /// The number of each group among the distinct published rows, from 0 on.
    pub(crate) numbers: Vec<u32>,
}

impl Labelled {
    /// Numbers groups and sensitive groups in their order in the published table.
    pub(crate) fn new(plan: &Plan<'_>, outcome: &JoinOutcome, with_sensitive: bool) -> Labelled {
        let width = plan.dataset().quasi().len();
        let cells = |group: u32| (0..width).map(move |q| plan.text(GroupId(group), q));
        let mut order: Vec<u32> = (0..outcome.groups.len() as u32).collect();
        order.sort_by(|&a, &b| cells(a).cmp(cells(b)).then(a.cmp(&b)));
        let mut name_of = vec![None; outcome.sensitive as usize];
        let mut count = 0;
        for &group in &order {
            let name = &mut name_of[outcome.groups[group as usize].sensitive as usize];
            if name.is_none() {
                *name = Some(count);
                count += 1;
            }
        }
        let of =
            |group: u32| name_of[outcome.groups[group as usize].sensitive as usize].unwrap_or(0);
        let sensitive: Vec<u32> = (0..outcome.groups.len() as u32).map(of).collect();
        let published =
            |group: u32| (cells(group), if with_sensitive { sensitive[group as usize] } else { 0 });
        let alike = |a: u32, b: u32| {
            let ((mine, own), (theirs, other)) = (published(a), published(b));
            own == other && mine.eq(theirs)
        };
        order.sort_by(|&a, &b| cells(a).cmp(cells(b)).then(published(a).1.cmp(&published(b).1)));
        let mut numbers = vec![0; order.len()];
        let mut number = 0;
        for pair in order.windows(2) {
            number += u32::from(!alike(pair[0], pair[1]));
            numbers[pair[1] as usize] = number;
        }
        Labelled { sensitive, count, numbers }
    }
}

/// Returns the label of a sensitive group.
pub(crate) fn label(number: u32) -> String {
    format!("sg{}", number + 1)
}

/// Builds the table of boxes.
pub(crate) fn boxes(
    data: &Dataset,
    partition: &Partition,
    labelled: &Labelled,
    with_sensitive: bool,
) -> Result<MadeTable> {
    let labels: Vec<String> = (0..labelled.count).map(label).collect();
    let (data, partition) = match data.quasi().iter().any(|q| q.domain.publishes_sets()) {
        true => (data.clone(), partition.clone()),
        false => one_row_each(data, partition)?,
    };
    let of_row =
        |row: usize| partition.group(row).map_or(0, |group| labelled.sensitive[group.index()]);
    let of_row: Vec<u32> = (0..data.rows()).map(of_row).collect();
    let data = data.with_sensitive(vec![(SENSITIVE_GROUP.to_owned(), labels, of_row)])?;
    let quasi = data.quasi().iter().enumerate();
    let mut columns: Vec<(String, Content)> =
        quasi.map(|(q, quasi)| (quasi.name.clone(), Content::Quasi(q))).collect();
    if with_sensitive {
        columns.push((SENSITIVE_GROUP.to_owned(), Content::Sensitive(0)));
    }
    // Always sorted, so that the order does not reveal from which table a person came.
    let descriptions = vec![(SENSITIVE_GROUP.to_owned(), LINKS)];
    let output = Output { columns, order: Order::Sorted, descriptions, ..Output::default() };
    Ok(MadeTable { content: TableContent::Boxes, data, partition, output })
}

/// Returns a table with one row per group. All people of a group have equal cells, so that single
/// people need not be sorted.
fn one_row_each(data: &Dataset, partition: &Partition) -> Result<(Dataset, Partition)> {
    let mut sizes = vec![0; partition.groups()];
    for row in 0..data.rows() {
        if let Some(group) = partition.group(row) {
            sizes[group.index()] += data.weight(row);
        }
    }
    let spans = |group: usize| partition.spans(GroupId(group as u32));
    let codes: Vec<u32> =
        (0..sizes.len()).flat_map(|group| spans(group).iter().map(|span| span.lo.0)).collect();
    let groups = data.first_rows(0).extended(&codes, &sizes);
    let mut single = Partition::new(data.quasi().len(), groups.rows());
    for group in 0..sizes.len() {
        single.add(spans(group), [RowId(group as u32)])?;
    }
    Ok((groups, single))
}

/// Builds the table of sensitive values.
pub(crate) fn values(
    job: &CheckedJob,
    microdata: &Dataset,
    partition: &Partition,
    labelled: &Labelled,
) -> Result<MadeTable> {
    let mut columns =
        vec![FoldedColumn { name: SENSITIVE_GROUP.to_owned(), texts: vec![String::new()] }];
    columns[0].texts.extend((0..labelled.count).map(label));
    for column in microdata.sensitive() {
        // Code 0 of a folded column is the missing value.
        let texts = column.values.iter().enumerate().map(|(code, value)| {
            if column.missing == Some(code as u32) { String::new() } else { value.clone() }
        });
        let texts = std::iter::once(String::new()).chain(texts).collect();
        columns.push(FoldedColumn { name: column.name.clone(), texts });
    }
    let mut folded = Folded { missing: vec![0; columns.len()], columns, ..Folded::default() };
    for row in 0..microdata.rows() {
        let Some(group) = partition.group(row) else {
            return Err(Error::bug("a record of the microdata is in no group"));
        };
        folded.codes.push(labelled.sensitive[group.index()] + 1);
        for (column, &code) in microdata.sensitive().iter().zip(microdata.sensitive_codes(row)) {
            folded.codes.push(if column.missing == Some(code) { 0 } else { code + 1 });
        }
        folded.weights.push(microdata.weight(row));
    }
    let text = ColumnSpec { kind: Some(Kind::Text), labels: Labels::Star, ..ColumnSpec::default() };
    let specs: Vec<_> = job.schema.sensitive().map(|(_, spec)| spec).collect();
    let data = Dataset::encode(folded, &[&text], &specs, "").map_err(|e| e.misfit.error)?;
    let mut groups = Partition::new(1, data.rows());
    let mut rows: Vec<Vec<RowId>> = vec![Vec::new(); data.quasi()[0].domain.leaves() as usize];
    (0..data.rows())
        .for_each(|row| rows[data.quasi_codes(row)[0] as usize].push(RowId(row as u32)));
    for (leaf, rows) in rows.into_iter().enumerate() {
        let leaf = incrowd_core::Code(leaf as u32);
        groups.add(&[Span { lo: leaf, hi: leaf }], rows)?;
    }
    let mut columns = vec![(SENSITIVE_GROUP.to_owned(), Content::Quasi(0))];
    columns.extend(job.sensitive_columns());
    let missing = job.missing_label().to_owned();
    let descriptions = vec![(SENSITIVE_GROUP.to_owned(), LINKS)];
    let output =
        Output { columns, order: Order::Sorted, missing, descriptions, ..Output::default() };
    Ok(MadeTable { content: TableContent::SensitiveValues, data, partition: groups, output })
}
