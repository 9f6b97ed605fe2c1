//! Joins groups with equal cells that violate a model together.
//!
//! A reader of the release sees groups with equal cells as one group, so every model must admit
//! their union. If each record is a person, the union of two groups satisfies every model that
//! survives merging. If persons have several records, this holds only when no person has records in
//! both groups. Algorithms may assign rows of one person to different groups, so the unions are
//! checked here.

use std::collections::BTreeMap;

use incrowd_core::model::{BoundModel, Need, PrivacyModel};
use incrowd_core::{Dataset, Error, GroupId, Partition, Plan, Result, RowId, Span};

/// The rows that a reader sees as one group, and its extent.
struct Class {
    rows: Vec<RowId>,
    spans: Vec<Span>,
    /// The number of groups of the partition in this class.
    groups: usize,
}

/// Joins groups until every model admits each union of groups with equal cells. `data` must have
/// the domains in which the groups are published. Returns the partition unchanged if no person has
/// several records or all unions satisfy the models.
pub fn join_alike(
    data: &Dataset,
    privacy_models: &[PrivacyModel],
    models: &[Box<dyn BoundModel>],
    partition: Partition,
) -> Result<Partition> {
    if data.persons().is_none() || !partition.divided().is_empty() || partition.levels().is_some() {
        return Ok(partition);
    }
    // A verdict that depends only on a group's cells is equal for groups with equal cells.
    let by_rows = |privacy_model: &PrivacyModel| {
        !privacy_model
            .model
            .card()
            .needs
            .iter()
            .any(|need| matches!(need, Need::Population | Need::Region))
    };
    let models: Vec<&dyn BoundModel> = privacy_models
        .iter()
        .zip(models)
        .filter(|(privacy_model, _)| by_rows(privacy_model))
        .map(|(_, model)| &**model)
        .collect();
    let admits = |class: &Class| {
        let summary = data.summary(class.rows.iter().map(|row| row.index()));
        models.iter().all(|model| model.admits(&summary).holds)
    };
    let mut classes = classes(data, &partition)?;
    // The algorithm has already checked each single group.
    let mut refused: Vec<bool> =
        classes.iter().map(|class| class.groups > 1 && !admits(class)).collect();
    if !refused.contains(&true) {
        return Ok(partition);
    }
    while refused.contains(&true) {
        if classes.len() == 1 {
            return Err(Error::unsatisfiable(
                "groups with equal cells do not satisfy the models together, because persons have \
                 records in several of them",
            )
            .help("use `mondrian` with cut = \"strict\", or weaken the models"));
        }
        let joined = join(data, classes, &refused)?;
        classes = self::classes(data, &joined)?;
        refused = classes.iter().map(|class| !admits(class)).collect();
    }
    partition_of(data, &classes)
}

/// Merges groups with equal cells into classes, in the order of their first groups.
fn classes(data: &Dataset, partition: &Partition) -> Result<Vec<Class>> {
    let plan = Plan::new(data, partition);
    // Cells that were not made would look equal.
    plan.check_labels()?;
    let mut place: BTreeMap<&[u32], usize> = BTreeMap::new();
    let mut classes: Vec<Class> = Vec::new();
    let mut class_of = Vec::with_capacity(partition.groups());
    for group in (0..partition.groups() as u32).map(GroupId) {
        let spans = partition.spans(group);
        let at = *place.entry(plan.cells(group)).or_insert(classes.len());
        match classes.get_mut(at) {
            None => classes.push(Class { rows: Vec::new(), spans: spans.to_vec(), groups: 1 }),
            Some(class) => {
                class.groups += 1;
                class.spans.iter_mut().zip(spans).for_each(|(all, own)| *all = union(*all, *own));
            }
        }
        class_of.push(at);
    }
    for row in 0..data.rows() {
        if let Some(group) = partition.group(row) {
            classes[class_of[group.index()]].rows.push(RowId(row as u32));
        }
    }
    Ok(classes)
}

fn union(a: Span, b: Span) -> Span {
    Span { lo: a.lo.min(b.lo), hi: a.hi.max(b.hi) }
}

/// Joins every refused class with the class for which the union has the least loss. Each class is
/// joined at most once.
fn join(data: &Dataset, mut classes: Vec<Class>, refused: &[bool]) -> Result<Partition> {
    let loss = |a: &Class, b: &Class| -> f64 {
        let lines = data.quasi().iter().zip(a.spans.iter().zip(&b.spans));
        lines
            .map(|(quasi, (&a, &b))| (quasi, union(a, b)))
            .map(|(quasi, s)| quasi.domain.ncp(s.lo, s.hi))
            .sum()
    };
    let (mut absorbed, mut grown) = (vec![false; classes.len()], vec![false; classes.len()]);
    for (at, _) in refused.iter().enumerate().filter(|(_, refused)| **refused) {
        // A class that was extended is checked again before it is joined with another one.
        if grown[at] {
            continue;
        }
        let others = (0..classes.len()).filter(|&other| other != at && !absorbed[other]);
        let nearest = others.min_by(|&a, &b| {
            loss(&classes[at], &classes[a])
                .total_cmp(&loss(&classes[at], &classes[b]))
                .then(a.cmp(&b))
        });
        let Some(nearest) = nearest else { continue };
        let own = std::mem::replace(
            &mut classes[at],
            Class { rows: Vec::new(), spans: Vec::new(), groups: 0 },
        );
        (absorbed[at], grown[nearest]) = (true, true);
        let into = &mut classes[nearest];
        into.rows.extend(own.rows);
        into.spans.iter_mut().zip(own.spans).for_each(|(all, own)| *all = union(*all, own));
    }
    classes.retain(|class| !class.rows.is_empty());
    partition_of(data, &classes)
}

fn partition_of(data: &Dataset, classes: &[Class]) -> Result<Partition> {
    let mut partition = Partition::new(data.quasi().len(), data.rows());
    for class in classes {
        partition.add(&class.spans, class.rows.iter().copied())?;
    }
    Ok(partition)
}
