//! What goes onto the public page.

use incrowd_audit::attack::Finding;
use incrowd_audit::utility::{Classification, ColumnUtility, Pairs, Part, QueryError};
use incrowd_core::MissingCells;
use incrowd_core::audience::Fact;
use incrowd_core::model::MODELS;
use incrowd_core::text::thousands;
use incrowd_report::{
    Association, Attack, ColumnCost, Cost, Learned, Loss, Outcome, Promise, Public, Queries, Score, Sentence,
    SizeBin,
};

use super::settings::{commands, settings, suppressed};
use super::{Findings, about_metric, first_sentence, shapes};
use crate::sentences;
use crate::utility_report::Utility;

pub(super) fn public(found: &Findings) -> Public {
    let verification = &found.checked.verification;
    let promises = verification.judgements.iter().map(|j| {
        let card = MODELS.iter().find(|card| card.name == j.name);
        let (promise, limits) = card.map(|card| card.chosen(&j.params)).unwrap_or_default();
        Promise {
            title: j.title.clone(),
            promise,
            limits,
            outcome: match (j.holds, j.unknown) {
                (true, _) => Outcome::Holds,
                (false, true) => Outcome::Unknown,
                (false, false) => Outcome::Fails,
            },
            measures: j.measures.to_owned(),
            have: j.have,
            need: j.need,
            margin: j.margin,
        }
    });
    let mut faults: Vec<String> = Vec::new();
    if found.checked.digest_matches == Some(false) {
        faults.push(
            "The digest differs from the manifest's: the table was changed after it was released".into(),
        );
    }
    faults
        .extend(found.checked.identifiers.iter().map(|name| format!("The identifier `{name}` is published")));
    let own = found.checked.from_original.iter().flat_map(|found| &found.failures);
    for failure in found.checked.failures.iter().chain(own) {
        faults.push(format!("Rule {} is broken: {}", failure.rule, failure.says));
    }
    let skipped = |s: &incrowd_audit::attack::Skipped| {
        let name = s.column.as_ref().map_or_else(|| s.attack.to_owned(), |c| format!("{} of {c}", s.attack));
        (name, s.why.clone())
    };
    let told = found.may_be_public(Fact::MeasuredOverTheTable);
    let beside = found.measured.as_ref().and_then(|m| m.utility.as_ref()).filter(|_| told);
    let mut left_out = Vec::new();
    if found.measured.is_some() && !told {
        left_out.push(
            "Records were withheld, and how many is not told: whatever is measured beside the original would tell it, and \
             stands on the data owner's page."
                .to_owned(),
        );
    }
    if found.measured.is_none() {
        left_out.push("The original was not at hand, so nothing was measured beside it.".to_owned());
    }
    Public {
        release: found.release(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        holds: found.checked.holds(),
        sentences: plain(found),
        singles_out: found.attacks.singles_out(),
        caution: (found.checked.missing_cells == MissingCells::Any).then(|| {
            let told = MissingCells::Any;
            let text = crate::summary::missing_cells_text(told.name(), told.worth());
            format!("Not k-anonymity in the usual sense: {text}.")
        }),
        faults,
        stamp: found.manifest().and_then(|manifest| manifest.test.clone()),
        records: verification.records,
        groups: verification.groups,
        promises: promises.collect(),
        counts: found.manifest().map(|manifest| manifest.counts_told()).unwrap_or_default(),
        suppressed: suppressed(found.manifest()),
        sizes: sizes(found.attacks.group_sizes()),
        attacks: found.attacks.of(false).map(|attacked| of_finding(&attacked.finding)).collect(),
        not_run: found.attacks.skipped.iter().map(skipped).collect(),
        cost: cost(found, beside),
        shapes: published_shapes(found),
        left_out,
        settings: settings(found),
        digest: found.checked.digest.clone(),
        digest_matches: found.checked.digest_matches,
        commands: commands(found, false),
    }
}

/// What may be told to everybody in plain words: nothing that is not on the page anyway.
pub(super) fn plain(found: &Findings) -> Vec<Sentence> {
    let persons = found.manifest().is_some_and(|manifest| manifest.by_persons());
    let any = found.checked.missing_cells == MissingCells::Any;
    let narrowed = sentences::narrowed(found.checked.verification.smallest_group, persons, any);
    let ncp = found.manifest().and_then(|manifest| manifest.metrics.get("ncp"));
    std::iter::once(narrowed).chain(ncp.map(sentences::lost)).collect()
}

pub(super) fn title(finding: &Finding) -> String {
    match &finding.column {
        Some(column) => format!("{} of {column}", finding.attack),
        None => finding.attack.to_owned(),
    }
}

pub(super) fn of_finding(finding: &Finding) -> Attack {
    Attack {
        title: title(finding),
        measures: finding.measures.to_owned(),
        worst: finding.worst,
        average: finding.average,
        at_risk: finding.at_risk,
        of: finding.of,
        people: finding.people.to_owned(),
        alarm: signs(&finding.alarm),
        bands: finding.bands.iter().map(|band| (signs(band.label), band.people)).collect(),
        notes: finding.notes.clone(),
    }
}

/// Comparisons as they are printed.
pub(super) fn signs(text: &str) -> String {
    text.replace("<=", "≤").replace(">=", "≥")
}

/// How many sizes are shown one by one before they are put together.
const MOST_SIZES: usize = 20;

/// Into how many bins many sizes are put.
const BINS: usize = 12;

/// Groups by size: each size by itself if there are few, else in bins.
fn sizes(of_groups: &[u64]) -> Vec<SizeBin> {
    let mut sizes = of_groups.to_vec();
    sizes.sort_unstable();
    let alike: Vec<(u64, u64)> = sizes.chunk_by(|a, b| a == b).map(|c| (c[0], c.len() as u64)).collect();
    let (Some(least), Some(most)) = (sizes.first(), sizes.last()) else { return Vec::new() };
    if alike.len() <= MOST_SIZES {
        let bin = |&(size, groups): &(u64, u64)| SizeBin {
            label: size.to_string(),
            groups,
            records: size * groups,
        };
        return alike.iter().map(bin).collect();
    }
    // Every bin is as many times wider than the one before it, so that a dozen of them reach from the least to the greatest.
    let (least, most) = (*least.max(&1), *most);
    let ratio = ((most + 1) as f64 / least as f64).powf(1.0 / BINS as f64);
    let mut ends = vec![least];
    while ends.last().is_some_and(|end| *end <= most) {
        let last = ends[ends.len() - 1];
        ends.push(((last as f64 * ratio).round() as u64).max(last + 1));
    }
    let bin = |pair: &[u64]| {
        let (from, to) = (pair[0], pair[1] - 1);
        let inside = || alike.iter().filter(|(size, _)| (from..=to).contains(size));
        let label = if from == to { from.to_string() } else { format!("{from}–{to}") };
        let records = inside().map(|(size, groups)| size * groups).sum();
        SizeBin { label, groups: inside().map(|(_, groups)| groups).sum(), records }
    };
    ends.windows(2).map(bin).collect()
}

/// The manifest's scores, and what was measured beside the original where that may be told.
fn cost(found: &Findings, beside: Option<&Utility>) -> Cost {
    let stated = found.manifest().map(|manifest| manifest.metrics.clone()).unwrap_or_default();
    let told = found.may_be_public(Fact::MeasuredOverTheTable);
    let mut all = stated.all.0;
    if let (true, Some(measured)) = (all.is_empty() && told, &found.measured) {
        all = measured.metrics().all.0;
    }
    let mut scores: Vec<(String, f64)> = all.into_iter().filter_map(|(n, v)| Some((n, v?))).collect();
    scores.retain(|(name, _)| !about_metric(name).is_empty());
    let role = || "quasi-identifier".to_owned();
    let by_column = stated.ncp_by_column.0.into_iter();
    let columns: Vec<ColumnCost> = by_column
        .filter_map(|(name, ncp)| Some(ColumnCost { name, role: role(), ncp: ncp?, beside: None }))
        .collect();
    beside_original(beside, scores, columns)
}

/// Everything that is measured beside the original, on top of what is known without it.
pub(super) fn beside_original(
    utility: Option<&Utility>,
    scores: Vec<(String, f64)>,
    mut columns: Vec<ColumnCost>,
) -> Cost {
    let score = |(name, value): (String, f64)| Score { about: about_metric(&name), name, value };
    let mut scores: Vec<Score> = scores.into_iter().map(score).collect();
    let Some(utility) = utility else { return Cost { scores, columns, ..Cost::default() } };
    scores.extend(utility.scores().map(|(card, value)| Score {
        name: card.name.into(),
        value,
        about: first_sentence(card.about),
    }));
    if !utility.columns.is_empty() {
        columns = utility.columns.iter().map(column).collect();
    }
    let pairs = utility.get::<Pairs>().into_iter().flat_map(|pairs| &pairs.0).map(|p| Association {
        columns: p.columns.clone(),
        original: p.original,
        release: p.reconstructed,
    });
    let queries = utility.get::<QueryError>().map(|q| {
        let and = if q.sensitive { " and values of a sensitive column" } else { "" };
        let ranges = if q.dimensions == 1 { "a range on 1 quasi-identifier" } else { "ranges on quasi-identifiers" };
        let asked = format!(
            "{} random counts with {ranges}{and} were asked of both tables (expected selectivity {}, seed {}).",
            thousands(q.workload.queries as u64), q.workload.selectivity, q.workload.seed
        );
        let told = q.may_be_published();
        let errors = q.all.median.zip(q.all.mean).filter(|_| told);
        Queries { asked, errors }
    });
    let learned = utility.get::<Classification>().map(|c| {
        let scores = [("the release", &c.from_release), ("originals", &c.from_originals), ("the majority", &c.majority)];
        let of = |s: &incrowd_audit::utility::Scores| [s.accuracy, s.balanced_accuracy, s.macro_f1];
        Learned {
            about: format!(
                "Decision trees predict {} ({} values) from the quasi-identifiers. {} originals and {} published records were \
                 drawn, {} folds, seed {}.",
                c.target, c.classes, thousands(c.originals), thousands(c.published), c.folds, c.seed
            ),
            scores: scores.iter().map(|(name, s)| ((*name).to_owned(), of(s))).collect(),
        }
    });
    Cost { scores, columns, associations: pairs.collect(), queries, learned }
}

pub(super) fn role_of(part: Part) -> &'static str {
    match part {
        Part::Quasi => "quasi-identifier",
        Part::Sensitive => "sensitive",
        Part::Target => "target",
    }
}

fn column(c: &ColumnUtility) -> ColumnCost {
    let figure = |name: &str| c.figure(name).unwrap_or(f64::NAN);
    let beside = Loss {
        cells: c.cells,
        entropy: figure("non_uniform_entropy"),
        kl_divergence: figure("kl_divergence"),
        total_variation: figure("total_variation"),
    };
    ColumnCost { name: c.name.clone(), role: role_of(c.part).into(), ncp: c.ncp, beside: Some(beside) }
}

/// The columns of the release as it stands there.
fn published_shapes(found: &Findings) -> Vec<incrowd_report::Shape> {
    let (release, quasi) = found.attacks.published();
    let names = found.case.reading.names();
    let known = |name: &str| names.iter().any(|known| known == name);
    // Labels that link two tables are no column of the original.
    let columns = (0..release.columns.len()).filter(|&c| known(&release.columns[c].name));
    let role = |c: usize| if c < quasi { "quasi-identifier" } else { "sensitive" };
    columns.map(|c| shapes::of_release(release, c, role(c))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_and_record_is_in_one_bin() {
        let many: Vec<u64> = (5..200).chain([5, 5, 7, 1000]).collect();
        for groups in [vec![3, 3, 4], many, vec![1], vec![]] {
            let bins = sizes(&groups);
            assert_eq!(bins.iter().map(|b| b.groups).sum::<u64>(), groups.len() as u64);
            assert_eq!(bins.iter().map(|b| b.records).sum::<u64>(), groups.iter().sum::<u64>());
            assert!(bins.len() <= 24, "{}", bins.len());
        }
        assert_eq!(sizes(&[3, 3, 4])[0].label, "3");
    }
}
