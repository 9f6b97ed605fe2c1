//! A finished release in words: what may be told to everybody, and what is for the owner of the data.

use incrowd_core::text::{Block, groups, number, thousands};

use incrowd_engine::MANIFESTS;

use crate::pipeline::Report;

impl Report {
    /// What may be published.
    pub fn public_text(&self) -> Vec<Block> {
        let mut said = self.publication.headline(self);
        if let Some(about) = &self.manifest.test {
            said.push(Block::line(format!("         TEST, not for publication: {about}")));
        }
        self.persons(&mut said);
        self.missing_and_suppressed(&mut said);
        self.promises(&mut said);
        self.cost(&mut said);
        said.push(Block::line(match self.manifest_path.as_os_str().is_empty() {
            true => format!("manifest in the table {MANIFESTS} beside it"),
            false => format!("manifest {}", self.manifest_path.display()),
        }));
        said
    }

    /// What came of it in one line.
    pub fn verdict(&self) -> String {
        let kept: Vec<&str> =
            self.verification.judgements.iter().map(|judgement| judgement.title.as_str()).collect();
        let ncp = self.manifest.metrics.get("ncp").unwrap_or(0.0);
        let (records, kept) = (thousands(self.records.published), kept.join(", "));
        format!("verified: {records} records published, {kept} kept, NCP {ncp:.4}")
    }

    /// What only the owner of the data may know; nothing if there is nothing else.
    pub fn owner_text(&self) -> Vec<Block> {
        let found = self.algorithm_report.as_ref().map(|report| report.to_text(self.outcome()));
        let joined = self.joined.as_ref().map(|joined| joined.to_text(self));
        let step = self.suppression.as_ref();
        let suppression = step.map(|step| step.to_text(self.records.suppressed - step.withheld));
        let persons = self.verification.persons.map(|found| {
            let share = 100.0 * found.dominance;
            let most = format!("persons  in some group one person has {share:.0} % of the records, in none more");
            vec![
                Block::line(most),
                Block::line("         who knows several records of one person may find fewer candidates than k: `attack`"),
            ]
        });
        let parts = [persons, found, joined, suppression].into_iter().flatten();
        let parts: Vec<Vec<Block>> = parts.collect();
        parts.join(&Block::line(""))
    }

    /// How many persons the records are of.
    fn persons(&self, said: &mut Vec<Block>) {
        let Some(persons) = &self.manifest.persons else { return };
        let of = persons.read.map_or_else(String::new, |read| format!("of {} ", thousands(read)));
        let (published, smallest) = (thousands(persons.published), thousands(persons.smallest_group));
        let records = thousands(persons.smallest_group_records);
        said.push(Block::line(format!(
            "persons  {published} {of}persons; the smallest group has {smallest} persons, and none fewer than {records} records"
        )));
        if self.unnamed > 0 {
            let unnamed = thousands(self.unnamed);
            said.push(Block::line(format!(
                "         {unnamed} records name nobody; each counts as a person of its own"
            )));
        }
    }

    fn missing_and_suppressed(&self, said: &mut Vec<Block>) {
        let records = self.records;
        if records.dropped_missing > 0 {
            let columns: Vec<String> =
                self.missing.iter().map(|(column, n)| format!("{column} {}", thousands(*n))).collect();
            said.push(Block::line(format!(
                "         {} dropped for a missing value ({}); on_missing = \"keep\" keeps them",
                thousands(records.dropped_missing),
                columns.join(", ")
            )));
        }
        if records.suppressed > 0 && self.suppression.is_none() {
            let job = &self.manifest.job;
            let way = if job.suppressed == "star" { ", published as *" } else { "" };
            let (count, limit) = (thousands(records.suppressed), job.suppression_limit);
            said.push(Block::line(format!(
                "         {count} suppressed{way} (limit {limit} of the records)"
            )));
        }
    }

    fn promises(&self, said: &mut Vec<Block>) {
        let judgements = &self.verification.judgements;
        let width = judgements.iter().map(|judgement| judgement.title.len()).max().unwrap_or(0);
        for (i, judgement) in judgements.iter().enumerate() {
            said.push(Block::line(format!(
                "{}   {:width$}   holds   {} {}",
                if i == 0 { "verify" } else { "      " },
                judgement.title,
                judgement.measures,
                number(judgement.have)
            )));
        }
    }

    fn cost(&self, said: &mut Vec<Block>) {
        let metric = |name: &str| self.manifest.metrics.get(name).unwrap_or(0.0);
        said.push(Block::line(format!(
            "cost     NCP {:.4}   information loss {:.4} per column   average group {:.1}",
            metric("ncp"),
            metric("information_loss_per_column"),
            metric("average_class_size")
        )));
        if self.tally.columns.iter().any(|column| column.weight != 1.0) {
            let weighted = metric("weighted_ncp");
            said.push(Block::line(format!("         NCP {weighted:.4} with the weights of the job")));
        }
        let columns =
            self.tally.columns.iter().map(|c| format!("{} {:.3}", c.name, self.tally.column_ncp(c)));
        said.push(Block::line(format!("         {}", columns.collect::<Vec<_>>().join("   "))));
        if let Some(levels) = &self.manifest.algorithm.levels {
            let levels = levels.iter().map(|(column, level)| format!("{column} {level}"));
            said.push(Block::line(format!("levels   {}", levels.collect::<Vec<_>>().join("   "))));
        }
        for (name, column) in self.manifest.job.columns.iter() {
            if let Some(intervals) = &column.intervals {
                said.push(Block::line(format!("intervals {}", intervals.describe(name))));
            }
        }
    }
}

/// How many records a release of one table has, of how many, and in how many groups.
pub(crate) fn of_one_table(report: &Report) -> Vec<Block> {
    // Where records are withheld, how many were read is not for everybody.
    let read = report.manifest.records.read;
    let of = read.map_or_else(String::new, |read| format!("of {} ", thousands(read)));
    let (published, groups) = (thousands(report.records.published), groups(report.verification.groups));
    vec![Block::line(format!("release  {}   {published} {of}records in {groups}", report.path()))]
}
