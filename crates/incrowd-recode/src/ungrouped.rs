//! Suppression of rows that an algorithm left without a group.
//!
//! Suppressed records are absent from the release or published with `*` in every quasi-identifier.
//! The release must satisfy all models in both cases. Absent records change the distribution of the
//! table that some models compare groups with. Starred records form a group of their own: an
//! adversary who finds a person in no other group knows that the person is among them.

use incrowd_core::model::{BoundModel, Need, PrivacyModel};
use incrowd_core::population::PublishedCell;
use incrowd_core::{Dataset, Error, Extent, GroupId, GroupSummary, Partition, Region, Result};

/// How suppressed records are published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Suppressed {
    /// They are not published.
    #[default]
    Absent,
    /// With `*` in every quasi-identifier.
    Star,
}

impl Suppressed {
    /// The names in a job file.
    pub const ALL: [(&'static str, Suppressed); 2] =
        [("absent", Suppressed::Absent), ("star", Suppressed::Star)];
}

/// Suppresses the rows without a group. At most `suppressible` records are suppressed; returns an
/// error if the models require more.
pub fn finish_suppression(
    data: &Dataset,
    privacy_models: &[PrivacyModel],
    models: &[Box<dyn BoundModel>],
    partition: Partition,
    how: Suppressed,
    suppressible: u64,
) -> Result<Partition> {
    if (0..data.rows()).all(|row| partition.group(row).is_some()) {
        // Rows that are divided among groups are never suppressed.
        return Ok(partition);
    }
    match how {
        Suppressed::Absent => absent(data, privacy_models, partition, suppressible),
        Suppressed::Star => star(data, models, partition, suppressible),
    }
}

fn too_many(suppressible: u64) -> Error {
    Error::unsatisfiable(format!(
        "the models cannot be satisfied with at most {suppressible} suppressed records: the \
         suppression of some records makes other groups violate them"
    ))
    .help("raise suppression_limit, or set it to 0")
    .at("suppression_limit")
}

/// Also suppresses groups that violate a model after other records have been removed.
fn absent(
    data: &Dataset,
    privacy_models: &[PrivacyModel],
    mut partition: Partition,
    suppressible: u64,
) -> Result<Partition> {
    let fragile: Vec<&PrivacyModel> =
        privacy_models.iter().filter(|p| !p.model.card().survives.suppressing).collect();
    if fragile.is_empty() {
        return Ok(partition);
    }
    let needs_population = fragile.iter().any(|p| p.model.card().needs.contains(&Need::Population));
    loop {
        let published = data
            .with_counts(|row| if partition.group(row).is_some() { data.weight(row) } else { 0 });
        if data.records() - published.records() > suppressible || published.records() == 0 {
            return Err(too_many(suppressible));
        }
        let models =
            fragile.iter().map(|p| p.model.bind(&published)).collect::<Result<Vec<_>>>()?;
        let (groups, outside) = summaries(data, &partition, needs_population);
        if !models
            .iter()
            .all(|model| model.sensitive_column().is_some() || model.admits(&outside).holds)
        {
            return Err(too_many(suppressible));
        }
        let leaving: Vec<bool> = groups
            .iter()
            .map(|group| !models.iter().all(|model| model.admits(group).holds))
            .collect();
        if !leaving.contains(&true) {
            return Ok(partition);
        }
        partition = partition.without(&leaving);
    }
}

/// Suppresses the smallest groups until the starred records satisfy the models.
fn star(
    data: &Dataset,
    models: &[Box<dyn BoundModel>],
    mut partition: Partition,
    suppressible: u64,
) -> Result<Partition> {
    let (groups, _) = summaries(data, &partition, false);
    let mut starred = data.summary((0..data.rows()).filter(|&row| partition.group(row).is_none()));
    starred.population =
        data.population().map_or(0, |p| (0..p.rows() as u32).map(|row| p.weight(row)).sum());
    let (alike, mut order): (Vec<usize>, Vec<usize>) =
        (0..groups.len()).partition(|&group| is_starred(data, &partition, group));
    order.sort_by_key(|&group| groups[group].records);
    let mut leaving = vec![false; groups.len()];
    let mut next = order.into_iter();
    // A reader sees a group that was generalized to `*` everywhere as one with the starred records.
    let with_alike = |starred: &GroupSummary| {
        let mut all = starred.clone();
        alike.iter().for_each(|&group| all.merge(&groups[group]));
        let extents = data.quasi().iter().map(|quasi| Extent::whole(&quasi.domain)).collect();
        all.region = Some(Region { extents });
        all
    };
    while !models.iter().all(|model| model.admits(&with_alike(&starred)).holds) {
        let Some(group) = next.next() else { return Err(too_many(suppressible)) };
        starred.merge(&groups[group]);
        leaving[group] = true;
        if starred.records > suppressible {
            return Err(too_many(suppressible));
        }
    }
    partition = partition.without(&leaving);
    partition.star(data.quasi().iter().map(|quasi| quasi.domain.leaves()))?;
    Ok(partition)
}

/// Returns whether a group is published with `*` in every quasi-identifier.
fn is_starred(data: &Dataset, partition: &Partition, group: usize) -> bool {
    let spans = partition.spans(GroupId(group as u32));
    data.quasi().iter().zip(spans).all(|(quasi, span)| {
        !quasi.domain.publishes_sets() && quasi.domain.label(span.lo, span.hi) == "*"
    })
}

/// Returns the summary of each group, and one of the people in the population that no group covers.
fn summaries(
    data: &Dataset,
    partition: &Partition,
    with_population: bool,
) -> (Vec<GroupSummary>, GroupSummary) {
    let rows = partition.members(data.rows());
    let summary = |rows: &Vec<u32>| data.summary(rows.iter().map(|&row| row as usize));
    let mut groups: Vec<GroupSummary> = rows.iter().map(summary).collect();
    let mut outside = GroupSummary::empty(data.sensitive().len());
    if let Some(population) = data.population().filter(|_| with_population) {
        let everybody = 0..population.rows() as u32;
        let mut reached = vec![false; population.rows()];
        for (group, rows) in rows.iter().enumerate() {
            let spans = partition.spans(GroupId(group as u32));
            let covered = match partition.levels() {
                Some(levels) => {
                    let cells = data.quasi().iter().zip(spans).zip(levels);
                    let cells: Vec<PublishedCell<'_>> = cells
                        .map(|((quasi, span), &level)| {
                            PublishedCell::at_level(&quasi.domain, span.lo, level as usize)
                        })
                        .collect();
                    population.covered(&cells, everybody.clone())
                }
                None => population.covered_by(data, spans, rows.iter().copied(), everybody.clone()),
            };
            groups[group].population = population.people(&covered);
            covered.iter().for_each(|&row| reached[row as usize] = true);
        }
        outside.population =
            everybody.filter(|&row| !reached[row as usize]).map(|row| population.weight(row)).sum();
    }
    (groups, outside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use incrowd_core::{Code, ColumnSpec, Folded, HierarchySpec, SensitiveSpec, Span, Value};

    /// Rows 0 to 3 of the fold are suppressed, rows 4 to 7 have the label of the root, rows 8 to 11
    /// form a group of their own.
    fn finished(pooled: [&str; 4]) -> Result<Partition> {
        let hierarchy =
            HierarchySpec::Arx { name: "h".into(), text: "a;A;*\nb;A;*\nc;*;*\nd;*;*\n".into() };
        let spec = ColumnSpec { hierarchy: Some(hierarchy), ..ColumnSpec::default() };
        let lost = ["0", "300", "400", "500"].map(|income| vec![Some("b"), Some(income)]);
        let places = ["c", "d", "c", "d"];
        let pooled = [0, 1, 2, 3].map(|i| vec![Some(places[i]), Some(pooled[i])]);
        let alone = ["10", "20", "30", "40"].map(|income| vec![Some("a"), Some(income)]);
        let folded = Folded::from_records(
            &["q", "income"],
            lost.into_iter().chain(pooled).chain(alone),
            false,
        );
        let data = Dataset::encode(folded, &[&spec], &[&SensitiveSpec::default()], "?").unwrap();
        let given = [("epsilon", Value::Real(1.0)), ("m", Value::Integer(4))];
        let privacy_model =
            PrivacyModel::new("epsilon-m-anonymity", given.map(|(n, v)| (n.to_owned(), v)))
                .unwrap();
        let models = [privacy_model.model.bind(&data).unwrap()];
        let mut partition = Partition::new(1, data.rows());
        let whole = Span { lo: Code(0), hi: Code(3) };
        let row = |row: u32| data.row_of_fold(row).unwrap();
        partition.add(&[whole], (4..8).map(row)).unwrap();
        partition.add(&[Span { lo: Code(0), hi: Code(0) }], (8..12).map(row)).unwrap();
        finish_suppression(&data, &[privacy_model], &models, partition, Suppressed::Star, 4)
    }

    #[test]
    fn starred_records_are_judged_with_the_groups_that_have_the_same_cells() {
        assert_eq!(finished(["-7", "7", "100", "200"]).unwrap().groups(), 3);
        // The two numbers around 0 are farther than epsilon from each other, but 0 is near both.
        assert!(finished(["-1", "1", "100", "200"]).is_err());
    }
}
