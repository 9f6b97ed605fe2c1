//! What is said of a release with people of an external table.

use incrowd::{JoinReport, Report};

use crate::print::{number, say, thousands};

/// The second table, among what may be published.
pub(crate) fn print_public(report: &Report) {
    if let (Some(groups), Some(path)) = (&report.manifest.sensitive_groups, report.tables.get(1)) {
        say!(
            "values   {}   {} sensitive values in {} sensitive groups",
            path.display(),
            thousands(report.records.published),
            thousands(groups.groups)
        );
        for model in &groups.models {
            let (what, have) = (&model.measured.what, model.measured.have.unwrap_or(0.0));
            say!("         {} holds of the sensitive groups   {what} {}", model.name, number(have));
        }
    } else {
        say!("values   none: without a sensitive column nothing tells how many of the rows are of the table");
    }
}

/// What only the publisher can know.
pub(crate) fn print_private(report: &Report, joined: &JoinReport) {
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
    let public = report.manifest.files.len();
    if let Some(path) = report.tables.get(public) {
        say!("audit    {}   who stands where: never publish it", path.display());
    }
}
