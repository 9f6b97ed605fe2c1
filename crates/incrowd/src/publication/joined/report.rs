//! What happened, for the person who asked: everything here is for the owner of the data.

use incrowd_core::text::{Block, groups, number, thousands};
use serde_json::{Value as Json, json};

use crate::pipeline::Report;

/// What only the publisher can know of a k-join-anonymous release.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JoinReport {
    /// What a person should know about how the tables fit together.
    pub warnings: Vec<String>,
    /// How many records the external table has.
    pub external_read: u64,
    /// How many people of it are not in the microdata.
    pub strangers: u64,
    /// How many of them are published.
    pub strangers_published: u64,
    /// Records of the microdata about people who are not in the external table.
    pub outside: u64,
    /// Sum over the records of the microdata of the perimeters of their boxes.
    pub ncp: f64,
    /// The same as a share of all cells of the microdata.
    pub ncp_rate: f64,
    /// Sum over the groups of the squared number of records of the microdata.
    pub discernibility: u64,
    /// How many published rows a group may lose before fewer than k remain, in the worst group.
    pub margin: u64,
    /// The size of the smallest group without people about whom the tables do not agree, if there are any.
    pub smallest_without_conflicts: Option<u64>,
    /// Whether surplus external people were left out.
    pub trimmed: bool,
}

impl JoinReport {
    /// The report in words, for the owner of the data.
    pub(crate) fn to_text(&self, report: &Report) -> Vec<Block> {
        let mut said = vec![
            Block::line(format!(
                "people   {} strangers of {} external records, {} of them published; {} records of the table are not in the \
                 external table",
                thousands(self.strangers),
                thousands(self.external_read),
                thousands(self.strangers_published),
                thousands(self.outside)
            )),
            Block::line(format!(
                "cost     of the table's own records: NCP {:.4} of the domain per cell (sum {:.1}), discernibility {}",
                self.ncp_rate,
                self.ncp,
                thousands(self.discernibility)
            )),
            Block::line(format!(
                "margin   every group can lose {} people before fewer than k remain",
                thousands(self.margin)
            )),
        ];
        if let Some(smallest) = self.smallest_without_conflicts {
            said.push(Block::line(format!(
                "conflict smallest group {} without people about whom the tables do not agree: an adversary looks for them \
                 elsewhere",
                thousands(smallest)
            )));
        }
        let public = report.manifest.files.len();
        if let Some(path) = report.tables.get(public) {
            said.push(Block::line(format!(
                "audit    {}   who stands where: never publish it",
                path.display()
            )));
        }
        said
    }

    /// The report as JSON, for the key `private`.
    pub(crate) fn to_json(&self) -> Json {
        json!({
            "warnings": self.warnings,
            "external": { "read": self.external_read, "strangers": self.strangers, "published": self.strangers_published },
            "microdata_outside_external": self.outside,
            "metrics": { "ncp_microdata": self.ncp, "ncp_microdata_rate": self.ncp_rate, "discernibility_microdata": self.discernibility },
            "margin": self.margin,
            "smallest_group_without_conflicts": self.smallest_without_conflicts,
        })
    }
}

/// The two tables, among what may be published.
pub(super) fn headline(report: &Report) -> Vec<Block> {
    let (rows, groups) = (thousands(report.verification.records), groups(report.verification.groups));
    let mut said =
        vec![Block::line(format!("release  {}   {rows} people of both tables in {groups}", report.path()))];
    if let (Some(groups), Some(path)) = (&report.manifest.sensitive_groups, report.tables.get(1)) {
        said.push(Block::line(format!(
            "values   {}   {} sensitive values in {} sensitive groups",
            path.display(),
            thousands(report.records.published),
            thousands(groups.groups)
        )));
        for model in &groups.models {
            let (what, have) = (&model.measured.what, model.measured.have.unwrap_or(0.0));
            said.push(Block::line(format!(
                "         {} holds of the sensitive groups   {what} {}",
                model.name,
                number(have)
            )));
        }
    } else {
        said.push(Block::line(
            "values   none: without a sensitive column nothing tells how many of the rows are of the table",
        ));
    }
    said
}
