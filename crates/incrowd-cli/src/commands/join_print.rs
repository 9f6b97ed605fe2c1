//! What is said of a release with people of an external table.

use incrowd::{JoinReport, Report};

use crate::print::{Talk, number, say, thousands};

/// What a person should know before publishing.
pub(crate) fn warn(joined: &JoinReport, talk: Talk) {
    for warning in &joined.warnings {
        talk.note(warning);
    }
    if joined.trimmed {
        talk.note(
            "trim = \"greedy\" tells who is in the table: `incrowd attack --only trimming --population` counts the people \
             exposed; trim = \"off\" exposes nobody that way",
        );
    }
}

/// The second table, among what may be published.
pub(crate) fn print_public(report: &Report, joined: &JoinReport) {
    let content = &report.manifest.content;
    if let Some(path) = &joined.sensitive_path {
        let groups = content["sensitive_groups"]["groups"].as_u64().unwrap_or(0);
        say!(
            "values   {}   {} sensitive values in {} sensitive groups",
            path.display(),
            thousands(report.records.published),
            thousands(groups)
        );
        for model in content["sensitive_groups"]["models"].as_array().into_iter().flatten() {
            let (what, have) =
                (&model["measured"]["what"], model["measured"]["have"].as_f64().unwrap_or(0.0));
            let (name, what) = (model["name"].as_str().unwrap_or(""), what.as_str().unwrap_or(""));
            say!("         {name} holds of the sensitive groups   {what} {}", number(have));
        }
    } else {
        say!("values   none: without a sensitive column nothing tells how many of the rows are of the table");
    }
}

/// What only the publisher can know.
pub(crate) fn print_private(joined: &JoinReport) {
    say!(
        "people   {} strangers of {} external records, {} of them published; {} records of the table are not in the external \
         table",
        thousands(joined.strangers),
        thousands(joined.external_read),
        thousands(joined.strangers_published),
        thousands(joined.outside)
    );
    say!(
        "cost     of the table's own records: NCP {:.4} of the domain per cell (sum {:.1}), discernibility {}",
        joined.ncp_rate,
        joined.ncp,
        thousands(joined.discernibility)
    );
    say!("margin   every group can lose {} people before fewer than k remain", thousands(joined.margin));
    if let Some(smallest) = joined.smallest_without_conflicts {
        say!(
            "conflict smallest group {} without people about whom the tables do not agree: an adversary looks for them \
             elsewhere",
            thousands(smallest)
        );
    }
    if let Some(path) = &joined.audit_path {
        say!("audit    {}   who stands where: never publish it", path.display());
    }
}
