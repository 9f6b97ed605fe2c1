//! Examples from the papers, named after their tables.

use super::{Millionths, Row, Table, agree, close, count, with_tree, word};
use incrowd_core::Value;

/// A table from groups of values.
fn table(groups: &[&[&str]]) -> Table {
    Table::new(&rows(groups), &[])
}

fn rows(groups: &[&[&str]]) -> Vec<Row> {
    let row = |group: usize| move |value: &&str| (group, vec![(*value).to_owned()], 1);
    groups.iter().enumerate().flat_map(|(group, values)| values.iter().map(row(group))).collect()
}

fn t(distance: &str) -> [(&'static str, Value); 3] {
    [("t", Millionths(500_000).value()), ("distance", word(distance)), ("on", word("a"))]
}

/// Salaries in thousands, in the groups of Table 4.
const LI_TABLE_4: [&[&str]; 3] = [&["3", "4", "5"], &["6", "11", "8"], &["7", "9", "10"]];

#[test]
fn li_2007_section_4_salaries_of_the_3_diverse_table() {
    let table = table(&LI_TABLE_4);
    let model = table.bind("t-closeness", &t("ordered"));
    agree(&model.admits(&table.groups[0]), 0.375, true);
    close(model.admits(&table.groups[1]).have, 1.0 / 6.0);
}

#[test]
fn li_2007_table_5_salaries_are_within_0_167() {
    let table = table(&[&["3", "5", "9"], &["6", "11", "8"], &["4", "7", "10"]]);
    let model = table.bind("t-closeness", &t("ordered"));
    let worst = table.groups.iter().map(|group| model.admits(group).have).fold(0.0, f64::max);
    assert_eq!(format!("{worst:.3}"), "0.167");
}

const LI_TABLE_5: [&[&str]; 3] = [
    &["gastric ulcer", "stomach cancer", "pneumonia"],
    &["gastritis", "flu", "bronchitis"],
    &["gastritis", "bronchitis", "stomach cancer"],
];

/// The hierarchy of the paper's figure, of height 3. The distance of flu and bronchitis is 1/3,
/// that of flu and stomach cancer 1.
const LI_FIGURE: &str = "\
[respiratory]
infection = ['flu', 'pneumonia', 'bronchitis']
vascular = ['pulmonary edema', 'pulmonary embolism']
[digestive]
stomach = ['gastric ulcer', 'stomach cancer', 'gastritis']
colon = ['colitis', 'colon cancer']
";

/// The paper prints 0.278. With three records of nine, every distance in a hierarchy of height 3 is
/// a multiple of 1/27, and 0.278 is not. The hierarchy of the figure gives 8/27. A hierarchy with
/// one more level gives 10/36, which is 0.278.
#[test]
fn li_2007_table_5_diseases() {
    let worst = |tree: &str| {
        let table = Table::new(&rows(&LI_TABLE_5), &[with_tree(tree)]);
        let model = table.bind("t-closeness", &t("hierarchical"));
        table.groups.iter().map(|group| model.admits(group).have).fold(0.0, f64::max)
    };
    close(worst(LI_FIGURE), 8.0 / 27.0);
    let deeper = "\
[organs.respiratory]
infection = ['flu', 'pneumonia', 'bronchitis']
[bowels.digestive]
stomach = ['gastric ulcer', 'stomach cancer', 'gastritis']
";
    assert_eq!(format!("{:.3}", worst(deeper)), "0.278");
}

/// Figure 2: 4-anonymous, but the last group discloses its disease. Figure 3: 3-diverse.
#[test]
fn machanavajjhala_2007_figures_2_and_3() {
    let anonymous = table(&[
        &["heart disease", "heart disease", "viral infection", "viral infection"],
        &["cancer", "heart disease", "viral infection", "viral infection"],
        &["cancer", "cancer", "cancer", "cancer"],
    ]);
    let diverse = table(&[
        &["heart disease", "viral infection", "cancer", "cancer"],
        &["cancer", "heart disease", "viral infection", "viral infection"],
        &["heart disease", "viral infection", "cancer", "cancer"],
    ]);
    let holds = |table: &Table, l: u64, more: &[(&str, Value)]| {
        let params: Vec<(&str, Value)> =
            [("l", count(l)), ("on", word("a"))].into_iter().chain(more.iter().cloned()).collect();
        let model = table.bind("l-diversity", &params);
        table.groups.iter().all(|group| model.admits(group).holds)
    };
    assert!(holds(&anonymous, 1, &[]) && !holds(&anonymous, 2, &[]));
    assert!(holds(&diverse, 3, &[]) && !holds(&diverse, 4, &[]));
    // Shares of 1/2, 1/4 and 1/4 have an entropy of 3/2 bits: more than two equally frequent
    // values, less than three.
    let entropy = [("kind", word("entropy"))];
    assert!(holds(&diverse, 2, &entropy) && !holds(&diverse, 3, &entropy));
    // 2 < c · 2 for l = 2, and 2 < c · 1 for l = 3.
    let recursive =
        |c: i128| [("kind", word("recursive")), ("c", Millionths(c * 1_000_000).value())];
    assert!(!holds(&diverse, 2, &recursive(1)) && holds(&diverse, 2, &recursive(2)));
    assert!(!holds(&diverse, 3, &recursive(2)) && holds(&diverse, 3, &recursive(3)));
}

/// Section 1 of the paper on proximity: a range does not show how the numbers are distributed in
/// it.
#[test]
fn li_2008_numbers_that_span_a_range_may_still_be_near_each_other() {
    let table = table(&[&["30", "31", "32", "33", "90"]]);
    let spread = [("k", count(5)), ("e", Millionths(60_000_000).value()), ("on", word("a"))];
    assert!(table.bind("k-e-anonymity", &spread).admits(&table.groups[0]).holds);
    let near = [("epsilon", Millionths(3_000_000).value()), ("m", count(2)), ("on", word("a"))];
    agree(&table.bind("epsilon-m-anonymity", &near).admits(&table.groups[0]), 0.8, false);
}
