//! What trial runs found, as text.

use incrowd::recode::optimized::{KeptRun, Trial, TrialReport};

use crate::print::{number, say, table};

pub(crate) fn print(report: &TrialReport) {
    if report.trials.is_empty() {
        say!("runs     one, the widest column first: no trials");
    } else {
        let kept = match &report.kept {
            KeptRun::Last => "the final run".to_owned(),
            KeptRun::Trial(column) => format!("the trial of {column}, which costs less than the final run"),
        };
        let way = match report.priority {
            "rank" => "as weights",
            "all-orders" => "the best of all orders",
            "lex-both" => "the better of two orders",
            _ => "the first that can be divided",
        };
        say!("runs     {}; kept: {kept}", report.runs);
        say!("order    {} ({way})", report.order.join(", "));
        let mut rows =
            vec![["divided first", "NCP of the trial", "if published"].map(str::to_owned).to_vec()];
        let rate = |x: f64| format!("{x:.4}");
        let published = |t: &Trial| t.published.map_or_else(|| "more".to_owned(), rate);
        let trial = |t: &Trial| vec![t.column.clone(), rate(t.rate), published(t)];
        rows.extend(report.trials.iter().map(trial));
        let again = |t: &Trial| vec![format!("{} (at the median)", t.column), rate(t.rate), published(t)];
        rows.extend(report.median_trials.iter().map(again));
        rows.push(vec!["final run".to_owned(), String::new(), rate(report.last)]);
        say!("{}", table(rows));
    }
    for single in &report.single_width {
        say!(
            "single width of {}: {}; its NCP is {:.4}, with all widths it was {:.4}",
            single.column,
            number(single.width),
            single.after,
            single.before
        );
    }
}
