//! The division of a part into the children of a taxonomy node, and the treatment of undersized
//! children.

use incrowd_core::{Code, GroupSummary};

use super::Undersized;
use super::part::{Part, Refusal, SUPPRESSED, Split, Splitter};
use super::space::Unit;
use crate::join::JoinRules;

/// The rows of a part by child.
struct Children<'r, U> {
    /// The rows of each child. Empty if the models depend only on the number of records.
    rows_of: Vec<Vec<&'r [U]>>,
    summaries: Vec<GroupSummary>,
    /// Whether each child contains microdata. Other children are not published, so they need not be
    /// admissible.
    is_published: Vec<bool>,
}

/// Returns the child that covers each code from `lo` to `hi`.
fn child_of_codes(children: &[(Code, Code)], lo: u32, hi: u32) -> Vec<u32> {
    let mut child_of = vec![0u32; (hi - lo) as usize + 1];
    for (child, (first, last)) in children.iter().enumerate() {
        let (first, last) = (first.0.max(lo), last.0.min(hi));
        if first <= last {
            child_of[(first - lo) as usize..=(last - lo) as usize].fill(child as u32);
        }
    }
    child_of
}

impl Splitter<'_> {
    /// Divides a part into the children of a taxonomy node.
    pub(super) fn split_into_children<U: Unit>(
        &self,
        dim: usize,
        children: &[(Code, Code)],
        part: &Part<U>,
        rows: &[U],
    ) -> Result<Split, Refusal> {
        let (lo, hi) = part.span(dim);
        let child_of = child_of_codes(children, lo, hi);
        let Children { rows_of, summaries, is_published } =
            self.children(dim, (lo, &child_of), children.len(), part, rows);
        // The records outside the greatest child are too few for a part of their own. Any subset of
        // this part at the same node has even fewer.
        let greatest = summaries.iter().map(|summary| summary.records).max().unwrap_or(0);
        if self.others.is_empty() && part.suppressible == 0 && part.records - greatest < self.least
        {
            return Err(Refusal::Hopeless);
        }
        let populated = |child: &usize| summaries[*child].records > 0;
        let is_admissible = |&child: &usize| self.is_admissible(&summaries[child], &rows_of[child]);
        let (mut strong, mut weak): (Vec<usize>, Vec<usize>) = (0..children.len())
            .filter(populated)
            .partition(|child| is_admissible(child) || !is_published[*child]);
        let too_few: u64 = weak.iter().map(|&child| summaries[child].records).sum();
        let pooled = if weak.is_empty() {
            Some(0)
        } else {
            self.pool(dim, children, &mut strong, &mut weak, &summaries, &rows_of, part)
        };
        let mut suppressing = false;
        let affected = pooled.map_or(part.records - too_few, |records| records - too_few);
        if too_few > 0
            && affected > 0
            && too_few <= part.suppressible
            && self.suppression_pays(dim, part, too_few, affected)
        {
            (strong, weak) = (0..children.len()).filter(populated).partition(is_admissible);
            suppressing = true;
        }
        if pooled.is_none() && !suppressing {
            return Err(Refusal::Here);
        }
        strong.sort_unstable();
        let (external, own): (Vec<usize>, Vec<usize>) =
            strong.into_iter().partition(|&child| !is_published[child]);
        strong = own;
        if strong.len() + usize::from(!weak.is_empty()) == 1 && !external.is_empty() {
            // External rows leave, and the part is divided further.
            let number =
                |child: u32| if external.contains(&(child as usize)) { SUPPRESSED } else { 0 };
            let parts = child_of.into_iter().map(number).collect();
            let pool = (!weak.is_empty()).then_some(0);
            return Ok(Split::ByValue { dim, parts, count: 1, pool });
        }
        if strong.is_empty() || (strong.len() == 1 && weak.is_empty()) {
            return Err(Refusal::Here);
        }
        let pool = (!weak.is_empty() && !suppressing).then_some(strong.len());
        let mut number = vec![0u32; children.len()];
        strong.iter().enumerate().for_each(|(n, &child)| number[child] = n as u32);
        let last = if suppressing { SUPPRESSED } else { strong.len() as u32 };
        weak.iter().for_each(|&child| number[child] = last);
        external.iter().for_each(|&child| number[child] = SUPPRESSED);
        if self.must_cover_population {
            let parts = strong.iter().map(|&child| rows_of[child].clone());
            let pool = pool
                .map(|_| weak.iter().flat_map(|&child| rows_of[child].iter().copied()).collect());
            if !self.covers_all(parts.chain(pool), part) {
                return Err(Refusal::Here);
            }
        }
        let parts = child_of.into_iter().map(|child| number[child as usize]).collect();
        Ok(Split::ByValue { dim, parts, count: strong.len() + usize::from(pool.is_some()), pool })
    }

    /// Counts the rows of each child. `child_of` is the child of each code from `lo` on.
    fn children<'r, U: Unit>(
        &self,
        dim: usize,
        (lo, child_of): (u32, &[u32]),
        count: usize,
        part: &Part<U>,
        rows: &'r [U],
    ) -> Children<'r, U> {
        let mut rows_of: Vec<Vec<&[U]>> = vec![Vec::new(); count];
        let mut summaries = vec![self.empty_summary(); count];
        let mut is_published = vec![self.rules.is_none(); count];
        for row in rows.chunks_exact(self.layout.stride) {
            let child = child_of[(row[dim].code() - lo) as usize] as usize;
            let is_microdata = |rules: &JoinRules<'_>| rules.is_microdata(self.layout.id(row));
            is_published[child] |= self.rules.is_some_and(is_microdata);
            if self.others.is_empty() {
                summaries[child].records += u64::from(self.layout.count(row));
            }
            if !self.counts_only() {
                rows_of[child].push(row);
            }
        }
        if !self.others.is_empty() {
            let summary = |rows: &Vec<&[U]>| self.with_population(self.summary(rows), rows, part);
            summaries = rows_of.iter().map(summary).collect();
        }
        Children { rows_of, summaries, is_published }
    }

    /// Returns whether suppressing the undersized children costs less than keeping them. They block
    /// the division or need others in their pool. Suppressing them costs all their cells; keeping
    /// them costs the general label for all affected records.
    fn suppression_pays<U: Unit>(
        &self,
        dim: usize,
        part: &Part<U>,
        too_few: u64,
        affected: u64,
    ) -> bool {
        let ((lo, hi), quasi) = (part.span(dim), self.data.quasi());
        let label = quasi[dim].weight * quasi[dim].domain.ncp(Code(lo), Code(hi));
        let whole = too_few as f64 * quasi.iter().map(|q| q.weight).sum::<f64>();
        whole < (too_few + affected) as f64 * label
    }

    /// Pools the weak children, together with the smallest strong ones until the pool is
    /// admissible. Returns the pool's number of records, or `None` if undersized children block the
    /// division.
    #[expect(clippy::too_many_arguments, reason = "all of it is the state of one division")]
    fn pool<U: Unit>(
        &self,
        dim: usize,
        children: &[(Code, Code)],
        strong: &mut Vec<usize>,
        weak: &mut Vec<usize>,
        summaries: &[GroupSummary],
        rows_of: &[Vec<&[U]>],
        part: &Part<U>,
    ) -> Option<u64> {
        if self.mondrian.undersized == Undersized::Block {
            return None;
        }
        let domain = &self.data.quasi()[dim].domain;
        let key = |child: &usize| {
            let (first, last) = children[*child];
            (summaries[*child].records, domain.tie_key(first, last))
        };
        strong.sort_by_cached_key(key);
        let mut joining = std::mem::take(strong).into_iter();
        let mut pool = self.empty_summary();
        weak.iter().for_each(|&child| pool.merge(&summaries[child]));
        let mut rows: Vec<&[U]> =
            weak.iter().flat_map(|&child| rows_of[child].iter().copied()).collect();
        while !self.is_admissible(&self.with_population(pool.clone(), &rows, part), &rows) {
            let smallest = joining.next()?;
            pool.merge(&summaries[smallest]);
            rows.extend(&rows_of[smallest]);
            weak.push(smallest);
        }
        *strong = joining.collect();
        Some(pool.records)
    }
}
