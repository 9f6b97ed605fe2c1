//! How a taxonomy node falls apart into its children, and what becomes of children that cannot stand alone.

use incrowd_core::{Code, GroupSummary};

use super::Undersized;
use super::part::{Part, Refusal, SUPPRESSED, Split, Splitter};
use super::space::Unit;

impl Splitter<'_> {
    /// Division into the children of a taxonomy node.
    pub(super) fn part_children<U: Unit>(
        &self,
        line: usize,
        children: &[(Code, Code)],
        part: &Part<U>,
        rows: &[U],
    ) -> Result<Split, Refusal> {
        let (lo, hi) = part.span(line);
        let mut child_of = vec![0u32; (hi - lo) as usize + 1];
        for (child, (first, last)) in children.iter().enumerate() {
            let (first, last) = (first.0.max(lo), last.0.min(hi));
            if first <= last {
                child_of[(first - lo) as usize..=(last - lo) as usize].fill(child as u32);
            }
        }
        let mut rows_of: Vec<Vec<&[U]>> = vec![Vec::new(); children.len()];
        let mut summaries = vec![self.no_records(); children.len()];
        // Children without microdata are merely company for others and need not stand.
        let mut bears = vec![self.rules.is_none(); children.len()];
        for row in rows.chunks_exact(self.layout.stride) {
            let child = child_of[(row[line].code() - lo) as usize] as usize;
            bears[child] |= self.rules.is_some_and(|rules| rules.is_microdata(self.layout.id(row)));
            if self.others.is_empty() {
                summaries[child].records += u64::from(self.layout.weight(row));
            }
            if !self.counts_only() {
                rows_of[child].push(row);
            }
        }
        if !self.others.is_empty() {
            let summary = |rows: &Vec<&[U]>| self.peopled(self.summary(rows), rows, part);
            summaries = rows_of.iter().map(summary).collect();
        }
        // Beside the greatest child there are too few records for a part of their own, and in any part of this one at the
        // same node there are fewer still.
        let greatest = summaries.iter().map(|summary| summary.records).max().unwrap_or(0);
        if self.others.is_empty() && part.suppressible == 0 && part.records - greatest < self.least {
            return Err(Refusal::Hopeless);
        }
        let populated = |child: &usize| summaries[*child].records > 0;
        let (mut strong, mut weak): (Vec<usize>, Vec<usize>) = (0..children.len())
            .filter(populated)
            .partition(|&child| self.stands(&summaries[child], &rows_of[child]) || !bears[child]);
        let too_few: u64 = weak.iter().map(|&child| summaries[child].records).sum();
        let pooled = if weak.is_empty() {
            Some(0)
        } else {
            self.pool(line, children, &mut strong, &mut weak, &summaries, &rows_of, part)
        };
        let mut suppressing = false;
        let pulled = pooled.map_or(part.records - too_few, |records| records - too_few);
        if too_few > 0 && pulled > 0 && too_few <= part.suppressible {
            // What cannot stand alone drags others along or blocks the division. Suppressing it costs whole records,
            // keeping it costs a label for all that are dragged along.
            let quasi = self.data.quasi();
            let label = quasi[line].weight * quasi[line].domain.ncp(Code(lo), Code(hi));
            let whole = too_few as f64 * quasi.iter().map(|q| q.weight).sum::<f64>();
            if whole < (too_few + pulled) as f64 * label {
                (strong, weak) = (0..children.len())
                    .filter(populated)
                    .partition(|&child| self.stands(&summaries[child], &rows_of[child]));
                suppressing = true;
            }
        }
        if pooled.is_none() && !suppressing {
            return Err(Refusal::Here);
        }
        strong.sort_unstable();
        let company: Vec<usize> = strong.iter().copied().filter(|&child| !bears[child]).collect();
        strong.retain(|&child| bears[child]);
        if strong.len() + usize::from(!weak.is_empty()) == 1 && !company.is_empty() {
            // All that happens is that strangers leave, and the part goes on.
            let number = |child: u32| if company.contains(&(child as usize)) { SUPPRESSED } else { 0 };
            let parts = child_of.into_iter().map(number).collect();
            let pool = (!weak.is_empty()).then_some(0);
            return Ok(Split::ByValue { line, parts, count: 1, pool });
        }
        if strong.is_empty() || (strong.len() == 1 && weak.is_empty()) {
            return Err(Refusal::Here);
        }
        let pool = (!weak.is_empty() && !suppressing).then_some(strong.len());
        let mut number = vec![0u32; children.len()];
        strong.iter().enumerate().for_each(|(n, &child)| number[child] = n as u32);
        let last = if suppressing { SUPPRESSED } else { strong.len() as u32 };
        weak.iter().for_each(|&child| number[child] = last);
        company.iter().for_each(|&child| number[child] = SUPPRESSED);
        if self.keeps_people {
            let parts = strong.iter().map(|&child| rows_of[child].clone());
            let pool = pool.map(|_| weak.iter().flat_map(|&child| rows_of[child].iter().copied()).collect());
            if !self.covers_all(parts.chain(pool), part) {
                return Err(Refusal::Here);
            }
        }
        let parts = child_of.into_iter().map(|child| number[child as usize]).collect();
        Ok(Split::ByValue { line, parts, count: strong.len() + usize::from(pool.is_some()), pool })
    }

    /// Pools the weak children, and as many of the smallest strong ones as it takes; answers with the pool's records, or
    /// with nothing if children that cannot stand alone block the division.
    #[expect(clippy::too_many_arguments, reason = "all of it is the state of one division")]
    fn pool<U: Unit>(
        &self,
        line: usize,
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
        let domain = &self.data.quasi()[line].domain;
        let key = |child: &usize| {
            let (first, last) = children[*child];
            (summaries[*child].records, domain.tie_key(first, last))
        };
        strong.sort_by_cached_key(key);
        let mut joining = std::mem::take(strong).into_iter();
        let mut pool = self.no_records();
        weak.iter().for_each(|&child| pool.merge(&summaries[child]));
        let mut rows: Vec<&[U]> = weak.iter().flat_map(|&child| rows_of[child].iter().copied()).collect();
        while !self.stands(&self.peopled(pool.clone(), &rows, part), &rows) {
            let smallest = joining.next()?;
            pool.merge(&summaries[smallest]);
            rows.extend(&rows_of[smallest]);
            weak.push(smallest);
        }
        *strong = joining.collect();
        Some(pool.records)
    }
}
