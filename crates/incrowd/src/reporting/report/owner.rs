//! The content of the data owner's page.

use incrowd_audit::attack::{Adversary, Card, Finding, Published};
use incrowd_audit::utility::QueryError;
use incrowd_core::audience::Fact;
use incrowd_core::{Folded, Progress, Result};
use incrowd_report::{Exposed, Fold, Owner, QueryClass, Risk, Sentence, UniqueOn};

use super::public::{self, of_finding, signs, title, with_utility};
use super::settings::commands;
use super::{Findings, before_after, shapes};
use crate::reporting::sentences;

/// The attacks that apply to an original as to a release.
const BEFORE: [&str; 2] = ["prosecutor", "homogeneity"];

// Long, because it lists the sections of the page in their order.
pub(super) fn owner(found: &Findings, progress: &dyn Progress) -> Result<Owner> {
    let after: Vec<&Finding> =
        found.attacks.attacked.iter().map(|attacked| &attacked.finding).collect();
    let (mut risks, mut groups, mut unique, mut records) = (Vec::new(), 0, 0, 0);
    if let Some(original) = &found.kept.original {
        let (findings, sizes) = attacked(found, original, progress)?;
        (records, groups) = (sizes.iter().sum(), sizes.len() as u64);
        unique = sizes.iter().filter(|size| **size == 1).count() as u64;
        let same = |a: &Finding, b: &Finding| a.attack == b.attack && a.column == b.column;
        for before in &findings {
            risks.extend(
                after.iter().find(|after| same(before, after)).map(|after| risk(before, after)),
            );
        }
    }
    let sizes = found.attacks.group_sizes();
    let alone = sizes.iter().filter(|size| **size == 1).count() as u64;
    let utility = found.measured.as_ref().and_then(|measured| measured.utility.as_ref());
    let counts = counts(found);
    let missing = found.kept.original.as_ref().map_or_else(Vec::new, |original| {
        let columns =
            original.columns.iter().map(|c| c.name.clone()).zip(original.missing.iter().copied());
        columns.filter(|(_, records)| *records > 0).collect()
    });
    let cost = (!found.may_be_public(Fact::MeasuredOverTheTable)).then(|| {
        let scores = found.measured.iter().flat_map(|m| m.metrics().all.0);
        let scores = scores.filter_map(|(name, value)| Some((name, value?))).collect();
        with_utility(utility, scores, Vec::new())
    });
    let mut left_out = Vec::new();
    if found.kept.marginals.is_empty() {
        left_out.push(
            "Columns before and after are not drawn for a release of two linked tables.".to_owned(),
        );
    }
    if found.manifest().is_some_and(|manifest| manifest.by_persons()) {
        left_out.push(
            "An adversary who knows several records of one person may find fewer candidates than \
             k: no model protects against that, the attack `persons` measures it."
                .to_owned(),
        );
    }
    Ok(Owner {
        release: found.release(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        outcome: super::outcome(found.checked.decision()),
        sentences: plain(found),
        sample: before_after::sample(found),
        column_risks: before_after::column_risks(found),
        moments: before_after::moments(found),
        singles_out: found.attacks.singles_out(),
        unique_on: alone_in(found),
        records: (records, found.attacks.records()),
        groups: (groups, found.attacks.groups()),
        unique: (unique, alone),
        risks,
        attacks: found.attacks.of(true).map(|attacked| of_finding(&attacked.finding)).collect(),
        exposed: exposed(found),
        shapes: found.kept.marginals.iter().map(shapes::of_marginal).collect(),
        cost,
        counts,
        missing,
        lost: utility.map_or_else(Vec::new, |u| {
            u.columns.iter().map(|c| (c.name.clone(), c.lost_values)).collect()
        }),
        queries: utility.and_then(|u| u.get::<QueryError>()).map_or_else(Vec::new, |queries| {
            let classes =
                queries.by_selectivity.iter().map(|(to, e)| (format!("up to {} %", to * 100.0), e));
            let class = |(label, e): (String, &incrowd_audit::utility::Errors)| QueryClass {
                label,
                queries: e.queries,
                answered: e.answered,
                median: e.median,
                mean: e.mean,
            };
            classes.chain([("all".to_owned(), &queries.all)]).map(class).collect()
        }),
        folds: utility.and_then(|u| u.get::<incrowd_audit::utility::Classification>()).map_or_else(
            Vec::new,
            |c| {
                c.by_fold
                    .iter()
                    .map(|(r, o)| Fold { release: r.accuracy, originals: o.accuracy })
                    .collect()
            },
        ),
        left_out,
        commands: commands(found, true),
    })
}

/// Returns the counts of the manifest, and further ones for the owner.
fn counts(found: &Findings) -> Vec<(String, u64)> {
    let record_counts = found.manifest().map(|manifest| manifest.records);
    let mut counts: Vec<(String, u64)> =
        found.manifest().map(|manifest| manifest.counts()).unwrap_or_default();
    if let Some(persons) = found.checked.verification.persons {
        let share = (100.0 * persons.dominance).ceil() as u64;
        counts.push(("per cent of a group's records that one person has, at most".into(), share));
    }
    let suppressed = record_counts.and_then(|records| records.suppressed);
    if let Some(measured) = found.measured.as_ref().filter(|_| suppressed.is_none()) {
        counts.push((
            "not in the release although in the original".into(),
            measured.tally.suppressed,
        ));
    }
    counts
}

/// Returns the most exposed groups of each attack.
fn exposed(found: &Findings) -> Vec<Exposed> {
    let exposed =
        found.attacks.attacked.iter().filter(|a| !a.finding.by_group.is_empty()).map(|attacked| {
            let groups = found.attacks.exposed(&attacked.finding).into_iter().map(|group| {
                let cells: Vec<String> =
                    group.cells.iter().map(|(name, cell)| format!("{name} {cell}")).collect();
                (group.risk, group.records, cells.join(", "))
            });
            Exposed { title: title(&attacked.finding), groups: groups.collect() }
        });
    exposed.filter(|exposed| !exposed.groups.is_empty()).collect()
}

/// Returns the sentences: the public ones, then the results of attacks and the error of counts.
fn plain(found: &Findings) -> Vec<Sentence> {
    let utility = found.measured.as_ref().and_then(|measured| measured.utility.as_ref());
    let off =
        utility.and_then(|utility| utility.get::<QueryError>()).and_then(|error| error.all.median);
    let attacks = sentences::attacks(&found.attacks).into_iter();
    public::plain(found).into_iter().chain(attacks).chain(off.map(sentences::counts_off)).collect()
}

/// Returns the unique records on unmodified columns.
fn alone_in(found: &Findings) -> Vec<UniqueOn> {
    let about = found.attacks.attacked.iter().map(|attacked| &attacked.finding);
    let about = about.filter(|finding| finding.attack == "singling-out");
    let own = |finding: &Finding| UniqueOn {
        columns: finding.column.clone().unwrap_or_default(),
        unique: finding.bands.last().map_or(0, |band| band.people),
        of: finding.of,
        people: finding.people.to_owned(),
    };
    about.map(own).collect()
}

/// Attacks the original as if it were published unchanged. Returns the findings and the sizes of
/// its groups.
fn attacked(
    found: &Findings,
    original: &Folded,
    progress: &dyn Progress,
) -> Result<(Vec<Finding>, Vec<u64>)> {
    let specs = found.case.reading.quasi_specs();
    let reading = &found.case.reading;
    let published =
        Published::new(original, &specs).with_specs(&reading.sensitive, &reading.missing);
    let adversary = Adversary::new(published, &reading.missing);
    let mut findings = Vec::new();
    for name in BEFORE {
        let card = Card::find(name)?;
        findings.extend((card.run)(&adversary, card.threshold(None)?, progress)?.findings);
    }
    Ok((findings, adversary.release.groups.records.clone()))
}

fn risk(before: &Finding, after: &Finding) -> Risk {
    let share = |people: u64, of: u64| if of == 0 { 0.0 } else { people as f64 / of as f64 };
    let bands = before.bands.iter().zip(&after.bands);
    let bands =
        bands.map(|(b, a)| (signs(b.label), share(b.people, before.of), share(a.people, after.of)));
    Risk {
        title: title(after),
        measures: after.measures.to_owned(),
        alarm: signs(&after.alarm),
        bands: bands.collect(),
        worst: (before.worst, after.worst),
        average: (before.average, after.average),
        share: (before.share(), after.share()),
    }
}
