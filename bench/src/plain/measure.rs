//! One run of one algorithm, and its results.

use std::time::Instant;

use incrowd::front_end::core::outlier::Forced;
use incrowd::front_end::core::{Dataset, Partition};
use incrowd::front_end::recode::Method;
use incrowd::front_end::recode::expansion::ExpansionReport;
use incrowd::model::{BoundModel, PrivacyModel};
use incrowd::{Silent, Value};

/// The parameters of one run.
#[derive(Clone, Copy)]
pub(super) struct Ask<'a> {
    pub(super) k: i64,
    pub(super) p: f64,
    pub(super) d: f64,
    pub(super) attributes: &'a [&'a str],
}

/// The results of one run.
#[derive(Clone)]
pub(super) struct Run {
    /// Information loss, the sum over quasi-identifiers; removed records lose all of them.
    pub(super) loss: f64,
    pub(super) per_column: f64,
    pub(super) group: f64,
    pub(super) removed: f64,
    pub(super) residues: f64,
    /// The share of the residues that were removed at a dead corner.
    pub(super) dead_ends: f64,
    /// The average group before residues joined.
    pub(super) grown: f64,
    pub(super) expansions: f64,
    pub(super) looked: f64,
    pub(super) seconds: f64,
    pub(super) forced: Option<Forced>,
}

pub(super) const METHODS: [&str; 5] = ["expc", "gnof", "gof", "remove-outliers", "expc-plus"];

pub(super) fn bind(data: &Dataset, ask: &Ask<'_>) -> Result<Box<dyn BoundModel>, String> {
    let words = ask.attributes.iter().map(|a| (*a).to_owned()).collect();
    let given = [
        ("k", Value::Integer(ask.k)),
        ("p", Value::Real(ask.p)),
        ("d", Value::Real(ask.d)),
        ("distance_attributes", Value::Words(words)),
    ];
    let privacy_model =
        PrivacyModel::new("plain-k-anonymity", given.map(|(n, v)| (n.to_owned(), v)))
            .map_err(|e| e.to_string())?;
    privacy_model.bind_for_release(data).map_err(|e| e.to_string())
}

/// Runs one algorithm. Every run binds the model again, so that no run benefits from another.
pub(super) fn measure(
    data: &Dataset,
    ask: &Ask<'_>,
    method: &str,
    skip_dead: bool,
) -> Result<Run, String> {
    measure_in_order(data, ask, method, skip_dead, "sorted")
}

/// Runs one algorithm with a given order of seeds.
pub(super) fn measure_in_order(
    data: &Dataset,
    ask: &Ask<'_>,
    method: &str,
    skip_dead: bool,
    seeds: &str,
) -> Result<Run, String> {
    let (began, worked) = (Instant::now(), processor_seconds());
    let models = [bind(data, ask)?];
    let mut given = vec![("seeds".to_owned(), Value::Word(seeds.to_owned()))];
    if skip_dead && method != "expc-plus" {
        given.push(("skip_dead".to_owned(), Value::Flag(true)));
    }
    let made = Method::new(method, given).map_err(|e| e.to_string())?;
    let recoding = made
        .algorithm
        .recode_and_report(data, &models, data.records(), &Silent)
        .map_err(|e| e.to_string())?;
    // Expansion runs on one thread; its processor time does not depend on other work of the
    // machine.
    let seconds = match (worked, processor_seconds()) {
        (Some(before), Some(after)) => after - before,
        _ => began.elapsed().as_secs_f64(),
    };
    let report: &ExpansionReport = recoding.report_as().ok_or("no expansion was reported")?;
    Ok(run(data, &recoding.partition, report, seconds))
}

/// Returns the processor time of this thread, if the system reports it.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse::<f64>().ok().map(|nanoseconds| nanoseconds / 1e9)
}

fn run(data: &Dataset, partition: &Partition, report: &ExpansionReport, seconds: f64) -> Run {
    let (columns, n) = (data.quasi().len() as f64, data.records() as f64);
    let mut losses = Vec::with_capacity(partition.groups());
    for group in 0..partition.groups() {
        let spans = partition.spans(incrowd::front_end::core::GroupId(group as u32));
        let loss = |(quasi, span): (
            &incrowd::front_end::core::dataset::Quasi,
            &incrowd::front_end::core::Span,
        )| {
            let cell = quasi.domain.read(&quasi.domain.label(span.lo, span.hi));
            cell.map_or(1.0, |cell| quasi.domain.cell_loss(&cell))
        };
        losses.push(data.quasi().iter().zip(spans).map(loss).sum::<f64>());
    }
    let (mut loss, mut removed) = (0.0, 0.0);
    for row in 0..data.rows() {
        let weight = data.weight(row) as f64;
        match partition.group(row) {
            Some(group) => loss += losses[group.index()] * weight,
            None => (loss, removed) = (loss + columns * weight, removed + weight),
        }
    }
    Run {
        loss: loss / n,
        per_column: loss / n / columns,
        group: (n - removed) / partition.groups().max(1) as f64,
        removed: removed / n,
        residues: report.residues as f64 / n,
        dead_ends: report.dead_ends as f64 / report.residues.max(1) as f64,
        grown: report.grown_records as f64 / report.grown_groups.max(1) as f64,
        expansions: report.expansions as f64,
        looked: report.looked as f64,
        seconds,
        forced: report.forced,
    }
}

pub(super) fn mean(runs: &[Run], of: impl Fn(&Run) -> f64) -> f64 {
    runs.iter().map(of).sum::<f64>() / runs.len().max(1) as f64
}
