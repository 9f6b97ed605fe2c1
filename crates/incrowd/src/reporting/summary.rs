//! The text of a finished release: for the public, and for the data owner.

use incrowd_core::text::{Block, groups, number, thousands};

use incrowd_engine::MANIFESTS;

use crate::making::pipeline::Report;

/// The number of columns whose loss a summary lists.
const SUMMARY_COLUMNS: usize = 8;
/// The number of blocks of an algorithm's report that a summary contains.
const SUMMARY_BLOCKS: usize = 3;

impl Report {
    /// Returns the public text.
    pub fn public_text(&self) -> Vec<Block> {
        self.public(true)
    }

    /// Returns the most important part of the public text.
    pub fn public_summary(&self) -> Vec<Block> {
        self.public(false)
    }

    fn public(&self, all: bool) -> Vec<Block> {
        let mut lines = self.publication.headline(self);
        if let Some(about) = &self.manifest.test {
            lines.push(Block::line(format!("         TEST, not for publication: {about}")));
        }
        self.persons(&mut lines);
        self.missing_and_suppressed(&mut lines);
        self.models(&mut lines);
        if let Some(entry) = &self.manifest.job.missing_cells {
            lines.push(Block::line(format!(
                "         {}",
                missing_cells_text(&entry.matches, &entry.worth)
            )));
        }
        self.cost(&mut lines, all);
        lines.push(Block::line(match self.manifest_path.as_os_str().is_empty() {
            true => format!("manifest in the table {MANIFESTS} of the same schema"),
            false => format!("manifest {}", self.manifest_path.display()),
        }));
        lines
    }

    /// Returns the result in one line.
    pub fn verdict(&self) -> String {
        let kept: Vec<&str> =
            self.verification.judgements.iter().map(|judgement| judgement.title.as_str()).collect();
        let ncp = self.manifest.metrics.get("ncp").unwrap_or(0.0);
        let (records, kept) = (thousands(self.records.published), kept.join(", "));
        let entropy = self.manifest.metrics.get("entropy_loss");
        let entropy =
            entropy.map_or_else(String::new, |share| format!(", entropy loss {share:.4}"));
        format!("verified: {records} records published, {kept} kept, NCP {ncp:.4}{entropy}")
    }

    /// Returns the text for the data owner; empty if there is nothing to add.
    pub fn owner_text(&self) -> Vec<Block> {
        self.owner(true)
    }

    /// Returns the most important part of the text for the data owner.
    pub fn owner_summary(&self) -> Vec<Block> {
        self.owner(false)
    }

    fn owner(&self, all: bool) -> Vec<Block> {
        let found = self.algorithm_report.as_ref().map(|report| {
            let mut text = report.to_text(self.outcome());
            text.truncate(if all { usize::MAX } else { SUMMARY_BLOCKS });
            text
        });
        let joined = self.joined.as_ref().map(|joined| joined.to_text(self));
        let step = self.suppression.as_ref();
        let suppression = step.map(|step| step.to_text(self.records.suppressed - step.suppressed));
        let persons = self.verification.persons.map(|found| {
            let share = 100.0 * found.dominance;
            let most = format!(
                "persons  in some group one person has {share:.0} % of the records, in none more"
            );
            vec![
                Block::line(most),
                Block::line(
                    "         an adversary who knows several records of one person may find \
                     fewer candidates than k: `attack`",
                ),
            ]
        });
        let sent = self.sent.map(|sent| {
            let rows = thousands(sent.rows);
            vec![Block::line(match sent.grouped {
                true => format!(
                    "folded   in the database, which sent {rows} distinct rows for {} records",
                    thousands(self.records.read)
                ),
                false => format!("folded   here: the database sent {rows} records"),
            })]
        });
        let parts = [sent, persons, found, joined, suppression].into_iter().flatten();
        let parts: Vec<Vec<Block>> = parts.collect();
        parts.join(&Block::line(""))
    }

    /// Adds the numbers of persons.
    fn persons(&self, lines: &mut Vec<Block>) {
        let Some(persons) = &self.manifest.persons else { return };
        let of = persons.read.map_or_else(String::new, |read| format!("of {} ", thousands(read)));
        let (published, smallest) =
            (thousands(persons.published), thousands(persons.smallest_group));
        let records = thousands(persons.smallest_group_records);
        lines.push(Block::line(format!(
            "persons  {published} {of}persons; the smallest group has {smallest} persons, \
             and none fewer than {records} records"
        )));
        if self.unnamed > 0 {
            let unnamed = thousands(self.unnamed);
            lines.push(Block::line(format!(
                "         {unnamed} records have no person identifier; each counts as a separate person"
            )));
        }
    }

    fn missing_and_suppressed(&self, lines: &mut Vec<Block>) {
        let records = self.records;
        if records.dropped_missing > 0 {
            let columns: Vec<String> = self
                .missing
                .iter()
                .map(|(column, n)| format!("{column} {}", thousands(*n)))
                .collect();
            lines.push(Block::line(format!(
                "         {} dropped for a missing value ({}); on_missing = \"keep\" keeps them",
                thousands(records.dropped_missing),
                columns.join(", ")
            )));
        }
        if records.suppressed > 0 && self.suppression.is_none() {
            let job = &self.manifest.job;
            let way = if job.suppressed == "star" { ", published as *" } else { "" };
            let (count, limit) = (thousands(records.suppressed), job.suppression_limit);
            lines.push(Block::line(format!(
                "         {count} suppressed{way} (limit {limit} of the records)"
            )));
        }
    }

    fn models(&self, lines: &mut Vec<Block>) {
        let judgements = &self.verification.judgements;
        let width = judgements.iter().map(|judgement| judgement.title.len()).max().unwrap_or(0);
        for (i, judgement) in judgements.iter().enumerate() {
            lines.push(Block::line(format!(
                "{}   {:width$}   holds   {} {}",
                if i == 0 { "verify" } else { "      " },
                judgement.title,
                judgement.measures,
                number(judgement.have)
            )));
        }
    }

    fn cost(&self, lines: &mut Vec<Block>, all: bool) {
        let metric = |name: &str| self.manifest.metrics.get(name).unwrap_or(0.0);
        let entropy = self.manifest.metrics.get("entropy_loss");
        let entropy =
            entropy.map_or_else(String::new, |share| format!("   entropy loss {share:.4}"));
        let (ncp, average) = (metric("ncp"), metric("average_class_size"));
        lines.push(Block::line(format!(
            "cost     NCP {ncp:.4}{entropy}   average group {average:.1}"
        )));
        if self.tally.columns.iter().any(|column| column.weight != 1.0) {
            let weighted = metric("weighted_ncp");
            lines.push(Block::line(format!(
                "         NCP {weighted:.4} with the weights of the job"
            )));
        }
        if all {
            let loss = metric("information_loss_per_column");
            lines.push(Block::line(format!("         information loss {loss:.4} per column")));
        }
        self.cost_by_column(lines, all);
        if let Some(levels) = &self.manifest.algorithm.levels {
            let levels = levels.iter().map(|(column, level)| format!("{column} {level}"));
            lines.push(Block::line(format!("levels   {}", levels.collect::<Vec<_>>().join("   "))));
        }
        for (name, column) in self.manifest.job.columns.iter().filter(|_| all) {
            if let Some(intervals) = &column.intervals {
                lines.push(Block::line(format!("intervals {}", intervals.describe(name))));
            }
        }
    }

    /// Adds the penalty of each column; in a summary only the greatest ones.
    fn cost_by_column(&self, lines: &mut Vec<Block>, all: bool) {
        let mut columns: Vec<(&str, f64)> = self
            .tally
            .columns
            .iter()
            .map(|c| (c.name.as_str(), self.tally.column_ncp(c)))
            .collect();
        let more = if all { 0 } else { columns.len().saturating_sub(SUMMARY_COLUMNS) };
        if more > 0 {
            columns.sort_by(|a, b| b.1.total_cmp(&a.1));
            columns.truncate(SUMMARY_COLUMNS);
        }
        let mut line: Vec<String> =
            columns.iter().map(|(name, ncp)| format!("{name} {ncp:.3}")).collect();
        if more > 0 {
            line.push(format!("and {more} cheaper ones"));
        }
        lines.push(Block::line(format!("         {}", line.join("   "))));
    }
}

/// Returns the values that a missing cell matches and the strength of that rule, in words.
pub fn missing_cells_text(matches: &str, worth: &str) -> String {
    let what = if matches == "any" { "any value" } else { "missing cells only" };
    format!("a missing cell matches {what}: this {worth}")
}

/// Returns the numbers of records and groups of a release in one table.
pub(crate) fn of_one_table(report: &Report) -> Vec<Block> {
    // If records were suppressed in secret, the number of records read is not public.
    let read = report.manifest.records.read;
    let of = read.map_or_else(String::new, |read| format!("of {} ", thousands(read)));
    let (published, groups) =
        (thousands(report.records.published), groups(report.verification.groups));
    vec![Block::line(format!("release  {}   {published} {of}records in {groups}", report.path()))]
}
