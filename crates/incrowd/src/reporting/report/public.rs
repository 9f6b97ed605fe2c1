//! The content of the public page.

use incrowd_audit::Decision;
use incrowd_audit::attack::Finding;
use incrowd_audit::utility::{Classification, ColumnRole, ColumnUtility, Pairs, QueryError};
use incrowd_core::MissingCells;
use incrowd_core::audience::Fact;
use incrowd_core::model::MODELS;
use incrowd_core::text::{number, thousands};
use incrowd_report::{
    Association, Attack, ColumnCost, Cost, Guarantee, Loss, Prediction, Public, Queries, Score,
    Sentence, SizeBin,
};

use super::settings::{commands, settings, suppressed};
use super::{Findings, about_metric, first_sentence, outcome, shapes};
use crate::judging::utility_report::Utility;
use crate::reporting::sentences;

// Long, because it lists the sections of the page in their order.
pub(super) fn public(found: &Findings) -> Public {
    let verification = &found.checked.verification;
    let guarantees = verification.judgements.iter().map(|j| {
        let card = MODELS.iter().find(|card| card.name == j.name);
        let (statement, limits) = card.map(|card| card.chosen(&j.params)).unwrap_or_default();
        Guarantee {
            title: j.title.clone(),
            statement,
            limits,
            outcome: outcome(j.decision()),
            measures: j.measures.to_owned(),
            have: j.have,
            need: j.need,
            margin: j.margin,
        }
    });
    let mut faults: Vec<String> = Vec::new();
    if found.checked.digest_matches == Some(false) {
        faults.push(
            "The digest differs from the manifest's: the table was changed after it was released"
                .into(),
        );
    }
    if found.checked.manifest_as_made == Some(false) {
        faults.push(
            "The manifest differs from its own digest: it was changed after it was written, and \
             its models may be too"
                .into(),
        );
    }
    if found.checked.signed == Some(false) {
        faults.push("The manifest has no valid signature of the given key".into());
    }
    let on_values = found.checked.on_values.iter().flat_map(|values| &values.judgements);
    for judgement in on_values.filter(|own| own.decision() == Decision::Fails) {
        faults.push(format!(
            "The guarantee {} fails in the table of sensitive values: {} {}",
            judgement.title,
            judgement.measures,
            number(judgement.have)
        ));
    }
    faults.extend(
        found
            .checked
            .identifiers
            .iter()
            .map(|name| format!("The identifier `{name}` is published")),
    );
    let own = found.checked.from_original.iter().flat_map(|found| &found.failures);
    for failure in found.checked.failures.iter().chain(own) {
        faults.push(format!("Rule {} is broken: {}", failure.rule, failure.message));
    }
    let skipped = |s: &incrowd_audit::attack::Skipped| {
        let name = s
            .column
            .as_ref()
            .map_or_else(|| s.attack.to_owned(), |c| format!("{} of {c}", s.attack));
        (name, s.why.clone())
    };
    let public = found.may_be_public(Fact::MeasuredOverTheTable);
    let utility = found.measured.as_ref().and_then(|m| m.utility.as_ref()).filter(|_| public);
    let mut left_out = Vec::new();
    if found.measured.is_some() && !public {
        left_out.push(
            "Records were suppressed, and their number is secret. Measures against the original \
             would reveal it, so they are on the data owner's page."
                .to_owned(),
        );
    }
    if found.measured.is_none() {
        left_out.push("The original was not given, so nothing was measured against it.".to_owned());
    }
    Public {
        release: found.release(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        outcome: outcome(found.checked.decision()),
        sentences: plain(found),
        singles_out: found.attacks.singles_out(),
        caution: (found.checked.missing_cells == MissingCells::Any).then(|| {
            let any = MissingCells::Any;
            let text = crate::reporting::summary::missing_cells_text(any.name(), any.worth());
            format!("Not k-anonymity in the usual sense: {text}.")
        }),
        faults,
        stamp: found.manifest().and_then(|manifest| manifest.test.clone()),
        records: verification.records,
        groups: verification.groups,
        guarantees: guarantees.collect(),
        counts: found.manifest().map(|manifest| manifest.counts()).unwrap_or_default(),
        suppressed: suppressed(found.manifest()),
        sizes: sizes(found.attacks.group_sizes()),
        attacks: found.attacks.of(false).map(|attacked| of_finding(&attacked.finding)).collect(),
        not_run: found.attacks.skipped.iter().map(skipped).collect(),
        cost: cost(found, utility),
        shapes: published_shapes(found),
        left_out,
        settings: settings(found),
        digest: found.checked.digest.clone(),
        digest_matches: found.checked.digest_matches,
        commands: commands(found, false),
    }
}

/// Returns the public sentences. All of their facts are on the page.
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

/// Replaces comparison operators by their typographic signs.
pub(super) fn signs(text: &str) -> String {
    text.replace("<=", "≤").replace(">=", "≥")
}

/// The maximum number of sizes that are shown individually.
const MOST_SIZES: usize = 20;

/// The number of bins for more sizes.
const BINS: usize = 12;

/// Returns the groups by size: each size if there are few, otherwise in bins.
fn sizes(of_groups: &[u64]) -> Vec<SizeBin> {
    let mut sizes = of_groups.to_vec();
    sizes.sort_unstable();
    let alike: Vec<(u64, u64)> =
        sizes.chunk_by(|a, b| a == b).map(|c| (c[0], c.len() as u64)).collect();
    let (Some(least), Some(most)) = (sizes.first(), sizes.last()) else { return Vec::new() };
    if alike.len() <= MOST_SIZES {
        let bin = |&(size, groups): &(u64, u64)| SizeBin {
            label: size.to_string(),
            groups,
            records: size * groups,
        };
        return alike.iter().map(bin).collect();
    }
    // Bin widths grow by a constant ratio, so that a dozen bins reach from the least to the
    // greatest size.
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

/// Returns the manifest's scores, and the measures against the original if these are public.
fn cost(found: &Findings, utility: Option<&Utility>) -> Cost {
    let stated = found.manifest().map(|manifest| manifest.metrics.clone()).unwrap_or_default();
    let public = found.may_be_public(Fact::MeasuredOverTheTable);
    let mut all = stated.all.0;
    if let (true, Some(measured)) = (all.is_empty() && public, &found.measured) {
        all = measured.metrics().all.0;
    }
    let mut scores: Vec<(String, f64)> =
        all.into_iter().filter_map(|(n, v)| Some((n, v?))).collect();
    scores.retain(|(name, _)| !about_metric(name).is_empty());
    let role = || "quasi-identifier".to_owned();
    let by_column = stated.ncp_by_column.0.into_iter();
    let columns: Vec<ColumnCost> = by_column
        .filter_map(|(name, ncp)| Some(ColumnCost { name, role: role(), ncp: ncp?, loss: None }))
        .collect();
    with_utility(utility, scores, columns)
}

/// Adds the measures against the original to the scores known without it.
pub(super) fn with_utility(
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
    let pairs = utility.get::<Pairs>().into_iter().flat_map(|pairs| &pairs.0).map(|p| {
        Association { columns: p.columns.clone(), original: p.original, release: p.reconstructed }
    });
    let queries = utility.get::<QueryError>().map(|q| {
        let and = if q.sensitive { " and values of a sensitive column" } else { "" };
        let ranges = match q.dimensions {
            1 => "a range on 1 quasi-identifier",
            _ => "ranges on quasi-identifiers",
        };
        let asked = format!(
            "{} random counts with {ranges}{and} were asked of both tables \
             (expected selectivity {}, seed {}).",
            thousands(q.workload.queries as u64),
            q.workload.selectivity,
            q.workload.seed
        );
        let errors = q.all.median.zip(q.all.mean).filter(|_| q.may_be_published());
        Queries { asked, errors }
    });
    let prediction = utility.get::<Classification>().map(|c| {
        let scores = [
            ("the release", &c.from_release),
            ("originals", &c.from_originals),
            ("the majority", &c.majority),
        ];
        let of = |s: &incrowd_audit::utility::Scores| [s.accuracy, s.balanced_accuracy, s.macro_f1];
        Prediction {
            about: format!(
                "Decision trees predict {} ({} values) from the quasi-identifiers. {} originals \
                 and {} published records were drawn, {} folds, seed {}.",
                c.target,
                c.classes,
                thousands(c.originals),
                thousands(c.published),
                c.folds,
                c.seed
            ),
            scores: scores.iter().map(|(name, s)| ((*name).to_owned(), of(s))).collect(),
        }
    });
    Cost { scores, columns, associations: pairs.collect(), queries, prediction }
}

pub(super) fn role_of(role: ColumnRole) -> &'static str {
    match role {
        ColumnRole::Quasi => "quasi-identifier",
        ColumnRole::Sensitive => "sensitive",
        ColumnRole::Target => "target",
    }
}

fn column(c: &ColumnUtility) -> ColumnCost {
    let figure = |name: &str| c.figure(name).unwrap_or(f64::NAN);
    let loss = Loss {
        cells: c.cells,
        entropy: figure("non_uniform_entropy"),
        kl_divergence: figure("kl_divergence"),
        total_variation: figure("total_variation"),
    };
    ColumnCost { name: c.name.clone(), role: role_of(c.role).into(), ncp: c.ncp, loss: Some(loss) }
}

/// Returns the distributions of the columns of the release.
fn published_shapes(found: &Findings) -> Vec<incrowd_report::Shape> {
    let (release, quasi) = found.attacks.published();
    let names = found.case.reading.names();
    let known = |name: &str| names.iter().any(|known| known == name);
    // Labels that link two tables are not columns of the original.
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
