//! Compares the join of a release and a table of original values with all pairs of records.

use crate::common::{Cells, cases, folded};
use incrowd_audit::cover;
use incrowd_core::{ColumnSpec, Folded, HierarchySpec, Kind, Silent};
use proptest::prelude::*;

pub(crate) const NAMES: [&str; 4] = ["age", "place", "country", "born"];
const PLACES: &str = "a;A;*\nb;A;*\nc;B;*\nd;B;*\n";

/// The text with which missing values are published.
pub(crate) const MISSING_TEXT: &str = "?";

pub(crate) fn specs() -> Vec<ColumnSpec> {
    let kind = |kind| ColumnSpec { kind: Some(kind), ..ColumnSpec::default() };
    let hierarchy = HierarchySpec::Arx { name: "places".into(), text: PLACES.into() };
    vec![
        kind(Kind::Numeric),
        ColumnSpec { hierarchy: Some(hierarchy), ..ColumnSpec::default() },
        kind(Kind::Text),
        kind(Kind::Date),
    ]
}

/// Returns whether a cell covers a value, from the texts alone.
fn admits(column: usize, cell: Option<&str>, value: Option<&str>) -> bool {
    let (Some(cell), Some(value)) = (cell, value) else {
        return cell == Some("*") || (value.is_none() && matches!(cell, None | Some(MISSING_TEXT)));
    };
    if cell == "*" {
        return true;
    }
    match column {
        0 => match cell.strip_prefix('[') {
            Some(range) => {
                let (lo, hi) = range.trim_end_matches(']').split_once(", ").unwrap();
                let number = |t: &str| t.parse::<f64>().ok();
                number(value).is_some_and(|x| number(lo).unwrap() <= x && x <= number(hi).unwrap())
            }
            None => cell.parse::<f64>().is_ok_and(|c| value.parse() == Ok(c)),
        },
        1 => PLACES
            .lines()
            .any(|l| l.split(';').next() == Some(value) && l.split(';').any(|n| n == cell)),
        2 if cell.starts_with('{') => {
            cell[1..cell.len() - 1].split(", ").any(|member| member == value)
        }
        2 => cell == value,
        // Dates of equal length compare like texts.
        _ => match cell.strip_prefix('[') {
            Some(range) => {
                let (lo, hi) = range.trim_end_matches(']').split_once(", ").unwrap();
                lo <= value && value <= hi
            }
            None => cell == value,
        },
    }
}

fn cell(choices: &'static [&'static str]) -> impl Strategy<Value = Option<String>> {
    let present = prop::sample::select(choices).prop_map(|c| Some(c.to_owned()));
    prop_oneof![9 => present, 1 => Just(None)]
}

pub(crate) fn releases() -> impl Strategy<Value = Vec<Cells>> {
    let record = (
        cell(&["*", "1", "[1, 2]", "[2, 4]", "[0, 9]", "[7, 8]", "3", MISSING_TEXT]),
        cell(&["*", "A", "B", "a", "c", "d", MISSING_TEXT]),
        cell(&["*", "{p, q}", "{q, z}", "p", "r", "zz", "{y, z}", "{?, r}"]),
        cell(&["*", "2001-01-01", "[2001-01-01, 2001-06-30]", "[2001-02-01, 2002-01-01]"]),
    );
    prop::collection::vec(record.prop_map(|(a, b, c, d)| vec![a, b, c, d]), 1..14)
}

pub(crate) fn tables() -> impl Strategy<Value = Vec<Cells>> {
    let record = (
        cell(&["0", "1", "2", "3", "4.5", "odd"]),
        cell(&["a", "b", "c", "elsewhere"]),
        cell(&["p", "q", "r", "s"]),
        cell(&["2001-01-01", "2001-03-05", "2002-01-01"]),
    );
    prop::collection::vec(record.prop_map(|(a, b, c, d)| vec![a, b, c, d]), 0..20)
}

/// Returns cells that can be read in every column.
pub(crate) fn readable() -> Cells {
    ["[0, 4]", "A", "{p, q, r, s}", "[2001-01-01, 2002-01-01]"].map(|c| Some(c.into())).to_vec()
}

/// Returns a person with values that match in every column.
pub(crate) fn matching_person() -> Cells {
    ["1", "a", "p", "2001-01-01"].map(|c| Some(c.into())).to_vec()
}

fn is_row(release: &Folded, a: &Cells, row: usize) -> bool {
    release.row(row).iter().zip(&release.columns).zip(a).all(|((&code, column), cell)| {
        (code != 0).then(|| column.texts[code as usize].as_str()) == cell.as_deref()
    })
}

/// `{?, r}` covers missing values too: their text is a member of the set.
pub(crate) fn admits_all(cells: &Cells, values: &Cells) -> bool {
    let lost_in_set =
        |c: usize| c == 2 && values[c].is_none() && cells[c].as_deref() == Some("{?, r}");
    (0..values.len())
        .all(|c| lost_in_set(c) || admits(c, cells[c].as_deref(), values[c].as_deref()))
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn the_join_equals_that_of_all_pairs(records in releases(), people in tables()) {
        let (mut records, mut people) = (records, people);
        records.push(readable());
        people.push(matching_person());
        let (release, table) = (folded(&NAMES, &records), folded(&NAMES, &people));
        let (join, covered) = cover(&release, &specs(), &table, MISSING_TEXT, &Silent).unwrap();
        for record in &records {
            let row = (0..release.rows()).find(|&row| is_row(&release, record, row)).unwrap();
            let group = join.groups.of_row[row] as usize;
            let expected = people.iter().filter(|person| admits_all(record, person)).count();
            prop_assert_eq!(covered.group_records[group], expected as u64);
        }
        let mut uncovered = 0;
        for person in &people {
            let row = (0..table.rows()).find(|&row| is_row(&table, person, row)).unwrap();
            let vector = join.vectors.of_row[row] as usize;
            let candidates: Vec<&Cells> =
                records.iter().filter(|r| admits_all(r, person)).collect();
            let is_first = |&i: &usize| !candidates[..i].contains(&candidates[i]);
            let groups = (0..candidates.len()).filter(is_first).count();
            prop_assert_eq!(covered.vector_records[vector], candidates.len() as u64);
            prop_assert_eq!(covered.vector_groups[vector], groups as u64);
            uncovered += u64::from(candidates.is_empty());
        }
        prop_assert_eq!(covered.uncovered, uncovered);
    }
}

#[test]
fn a_label_without_its_hierarchy_is_an_error() {
    let one = |cells: [&str; 1]| vec![cells.map(|c| Some(c.to_owned())).to_vec()];
    let (release, table) =
        (folded(&["place"], &one(["Europe"])), folded(&["place"], &one(["France"])));
    let error =
        cover(&release, &[ColumnSpec::default()], &table, MISSING_TEXT, &Silent).unwrap_err();
    assert!(error.advice().unwrap().contains("hierarch"), "{error}");
    assert!(!error.message().contains("Europe") && !error.message().contains("France"));
    let stars = folded(&["place"], &one(["*"]));
    let (_, covered) =
        cover(&stars, &[ColumnSpec::default()], &table, MISSING_TEXT, &Silent).unwrap();
    assert_eq!(covered.group_records, [1]);
}

#[test]
fn unusual_values_of_the_table_do_not_change_how_the_release_is_read() {
    let table = |values: &[&str]| {
        folded(&["age"], &values.iter().map(|v| vec![Some((*v).to_owned())]).collect::<Vec<_>>())
    };
    let release = table(&["[20, 40]", "50"]);
    let (join, covered) = cover(
        &release,
        &[ColumnSpec::default()],
        &table(&["30", "n/k", "50"]),
        MISSING_TEXT,
        &Silent,
    )
    .unwrap();
    assert_eq!((covered.group_records.as_slice(), covered.uncovered), (&[1, 1][..], 1));
    assert_eq!((join.foreign, join.unread), (vec![1], vec![0]));
    assert!(
        cover(&release, &[ColumnSpec::default()], &table(&["n/k"]), MISSING_TEXT, &Silent).is_err()
    );
}

fn column(name: &str, cells: &[&str]) -> Folded {
    folded(&[name], &cells.iter().map(|cell| vec![Some((*cell).to_owned())]).collect::<Vec<_>>())
}

#[test]
fn dates_of_another_table_are_read_in_its_own_format() {
    let release = column("born", &["[2004-01-03, 2004-01-21]", "[2004-02-02, 2004-02-04]"]);
    let join = |people: &[&str], spec: &ColumnSpec| {
        let specs = std::slice::from_ref(spec);
        cover(&release, specs, &column("born", people), MISSING_TEXT, &Silent)
    };
    let plain = ColumnSpec::default();
    let months = HierarchySpec::Dates(incrowd_core::hierarchy::dates::Dates::all());
    let regular = HierarchySpec::Mdr(incrowd_core::hierarchy::mdr::Mdr::default());
    for people in [
        ["02.02.2004", "17.01.2004", "16.01.2004"],
        ["02.02.2004", "17.01.2004", "2004-01-16"],
        ["2/2/2004", "1/17/2004", "1/16/2004"],
    ] {
        for spec in [
            plain.clone(),
            ColumnSpec { kind: Some(Kind::Date), ..plain.clone() },
            ColumnSpec { hierarchy: Some(regular.clone()), ..plain.clone() },
        ] {
            let (_, covered) = join(&people, &spec).unwrap();
            assert_eq!((covered.group_records, covered.uncovered), (vec![2, 1], 0), "{people:?}");
        }
    }
    let (joined, covered) = join(&["17.01.2004", "unknown"], &plain).unwrap();
    assert_eq!((covered.group_records, covered.uncovered), (vec![1, 0], 1));
    assert_eq!(joined.foreign, [1]);
    let by_month = column("born", &["2004-01", "2004-02"]);
    let dates = ColumnSpec { hierarchy: Some(months), ..plain.clone() };
    let people = column("born", &["02.02.2004", "17.01.2004"]);
    let (_, covered) = cover(&by_month, &[dates], &people, MISSING_TEXT, &Silent).unwrap();
    assert_eq!((covered.group_records, covered.uncovered), (vec![1, 1], 0));
    // A date that cannot be read is not silently outside the release.
    let refused = |people: &[&str]| join(people, &plain).unwrap_err().to_string();
    assert!(refused(&["17.01.2004", "1/16/2004"]).contains("several formats"));
    assert!(refused(&["02/03/2004"]).contains("ambiguous"));
}

/// A release that was read back: the text of a missing value is replaced by its label, and stays in
/// the dictionary.
fn with_label(mut release: Folded, shown: &str) -> Folded {
    let texts = &mut release.columns[0].texts;
    let old = texts.iter().skip(1).position(|text| text == shown).unwrap() as u32 + 1;
    texts.push(MISSING_TEXT.to_owned());
    let label = texts.len() as u32 - 1;
    release.codes.iter_mut().filter(|code| **code == old).for_each(|code| *code = label);
    release
}

#[test]
fn the_text_of_a_kept_missing_value_does_not_change_how_the_release_is_read() {
    let records = |cells: &[Option<&str>]| {
        folded(&["x"], &cells.iter().map(|c| vec![c.map(str::to_owned)]).collect::<Vec<_>>())
    };
    let people = records(&[None, None, Some("20"), Some("30")]);
    let covered = |release: &Folded| {
        let specs = [ColumnSpec::default()];
        cover(release, &specs, &people, MISSING_TEXT, &Silent).unwrap().1.group_records
    };
    for shown in ["", "-"] {
        assert_eq!(covered(&with_label(column("x", &[shown, "*"]), shown)), [2, 4]);
        assert_eq!(covered(&with_label(column("x", &[shown, "[20, 30]"]), shown)), [2, 2]);
    }
    // Without a manifest the text of missing values is unknown. An empty cell is one.
    assert_eq!(covered(&column("x", &["", "*"])), [2, 4]);
    assert_eq!(covered(&column("x", &["", "[20, 30]"])), [2, 2]);
}

#[test]
fn a_bounded_column_in_which_every_cell_is_a_star_is_read() {
    let limits = incrowd_core::limits::Limits { top: Some(45.0), bottom: Some(25.0) };
    let spec = ColumnSpec { limits, ..ColumnSpec::default() };
    let people = column("age", &["20", "30", "40", "50"]);
    let (join, covered) =
        cover(&column("age", &["*"]), &[spec], &people, MISSING_TEXT, &Silent).unwrap();
    assert_eq!((covered.group_records, join.unread, join.foreign), (vec![4], vec![0], vec![0]));
}
