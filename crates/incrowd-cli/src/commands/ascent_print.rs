//! What ascent reached, as text.

use incrowd::recode::ascent::AscentReport;

use crate::print::{say, thousands};

pub(crate) fn print(report: &AscentReport) {
    let metric = if report.metric.name() == "ncp" { "NCP" } else { "information loss" };
    say!(
        "climbing {} combinations of levels: {} groups, {} records without company placed with others; {metric} {:.4}",
        thousands(report.combinations),
        thousands(report.groups_at_first),
        thousands(report.without_company),
        report.climbed
    );
    if report.rounds > 0 {
        let time = if report.out_of_time { ", then the time was up" } else { "" };
        say!("moving   {} rounds{time}: {metric} {:.4}", thousands(report.rounds), report.reached);
    }
    match report.bound {
        Some(bound) => say!(
            "bound    no release that keeps the promises and suppresses nobody has less than {bound:.4}; the least possible is \
             between that and {:.4}",
            report.reached
        ),
        None => {
            say!("bound    not computed: too much work beside the rest (effort = \"best\" takes the time)")
        }
    }
}
