//! What ascent reached, as text.

use incrowd::recode::ascent::AscentReport;

use crate::print::{groups, say, thousands};

pub(crate) fn print(report: &AscentReport) {
    let metric = if report.metric.name() == "ncp" { "NCP" } else { "information loss" };
    let alone = match report.without_company {
        0 => "nobody without company".to_owned(),
        1 => "1 record without company placed with others".to_owned(),
        n => format!("{} records without company placed with others", thousands(n)),
    };
    say!(
        "climbing {} combinations of levels: {}, {alone}; {metric} {:.4}",
        thousands(report.combinations),
        groups(report.groups_at_first),
        report.climbed
    );
    if report.rounds > 0 {
        let rounds = if report.rounds == 1 {
            "1 round".to_owned()
        } else {
            format!("{} rounds", thousands(report.rounds))
        };
        let time = if report.out_of_time { ", then the time was up" } else { "" };
        say!("moving   {rounds}{time}: {metric} {:.4}", report.reached);
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
