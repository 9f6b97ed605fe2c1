//! What happened, for the person who asked: everything here is for the owner of the data.

use serde_json::{Value as Json, json};

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
