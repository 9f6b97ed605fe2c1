//! The private report of a k-join-anonymous release, for the data owner.

use incrowd_core::text::{Block, groups, number, thousands};
use serde_json::{Value as Json, json};

use crate::making::pipeline::Report;

/// Private data about a k-join-anonymous release.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct JoinReport {
    /// Warnings about records that do not match.
    pub warnings: Vec<String>,
    /// The number of records of the external table.
    pub external_read: u64,
    /// The number of external people who are not in the microdata.
    pub strangers: u64,
    /// The number of these who are published.
    pub strangers_published: u64,
    /// The number of records of the microdata about people who are not in the external table.
    pub outside: u64,
    /// The sum of the perimeters of the boxes over the records of the microdata.
    pub ncp: f64,
    /// `ncp` as a share of all cells of the microdata.
    pub ncp_rate: f64,
    /// The sum over the groups of the squared number of records of the microdata.
    pub discernibility: u64,
    /// The number of published rows that every group can lose before fewer than k remain.
    pub margin: u64,
    /// The size of the smallest group without people about whom the tables disagree, if there are
    /// any.
    pub smallest_without_conflicts: Option<u64>,
    /// Whether surplus external people were removed.
    pub trimmed: bool,
}

impl JoinReport {
    /// Returns the report as text, for the data owner.
    pub(crate) fn to_text(&self, report: &Report) -> Vec<Block> {
        let mut lines = vec![
            Block::line(format!(
                "people   {} of {} external people are not in the table, {} of them published; \
                 {} records of the table are not in the external table",
                thousands(self.strangers),
                thousands(self.external_read),
                thousands(self.strangers_published),
                thousands(self.outside)
            )),
            Block::line(format!(
                "cost     of the table's own records: NCP {:.4} of the domain per cell \
                 (sum {:.1}), discernibility {}",
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
            lines.push(Block::line(format!(
                "conflict smallest group {} without people about whom the tables disagree: \
                 an adversary expects them in another group",
                thousands(smallest)
            )));
        }
        let public = report.manifest.files.len();
        if let Some(path) = report.tables.get(public) {
            lines.push(Block::line(format!(
                "audit    {}   each person's group: never publish it",
                path.display()
            )));
        }
        lines
    }

    /// Returns the report as JSON, for the key `private`.
    pub(crate) fn to_json(&self) -> Json {
        json!({
            "warnings": self.warnings,
            "external": {
                "read": self.external_read,
                "strangers": self.strangers,
                "published": self.strangers_published,
            },
            "microdata_outside_external": self.outside,
            "metrics": {
                "ncp_microdata": self.ncp,
                "ncp_microdata_rate": self.ncp_rate,
                "discernibility_microdata": self.discernibility,
            },
            "margin": self.margin,
            "smallest_group_without_conflicts": self.smallest_without_conflicts,
        })
    }
}

/// Returns the lines about the two tables in the public summary.
pub(super) fn headline(report: &Report) -> Vec<Block> {
    let (rows, groups) =
        (thousands(report.verification.records), groups(report.verification.groups));
    let mut lines = vec![Block::line(format!(
        "release  {}   {rows} people of both tables in {groups}",
        report.path()
    ))];
    if let (Some(groups), Some(path)) = (&report.manifest.sensitive_groups, report.tables.get(1)) {
        lines.push(Block::line(format!(
            "values   {}   {} sensitive values in {} sensitive groups",
            path.display(),
            thousands(report.records.published),
            thousands(groups.groups)
        )));
        for model in &groups.models {
            let (what, have) = (&model.measured.what, model.measured.have.unwrap_or(0.0));
            lines.push(Block::line(format!(
                "         {} holds in the sensitive groups   {what} {}",
                model.name,
                number(have)
            )));
        }
    } else {
        lines.push(Block::line(
            "values   none: without a sensitive column the release does not show \
             how many rows are of the table",
        ));
    }
    lines
}
