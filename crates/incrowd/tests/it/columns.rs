//! Columns of every kind, each with an independent rule for the values that a published cell
//! covers.

/// A quasi-identifier of the random tables.
pub(crate) struct Column {
    pub(crate) name: &'static str,
    /// Its keys in the job in addition to the role.
    pub(crate) job: &'static str,
    pub(crate) values: &'static [&'static str],
    /// Returns whether a published cell covers a value.
    pub(crate) covers: fn(&str, &str) -> bool,
    /// Whether its hierarchy is derived from the values, which requires at least one.
    pub(crate) needs_values: bool,
}

pub(crate) const COLUMNS: [Column; 15] = [
    column("age", "kind = 'numeric'", &["0", "17", "18", "35", " 36", "+64", "65", "90"], range),
    column(
        "income",
        "kind = 'numeric'",
        &["1.5", "2", "2.25", "-3", "1e3", "-0.0", "0", "2.50"],
        range,
    ),
    column(
        "country",
        "hierarchy = { tree = { 'N. America' = ['USA', 'Canada'], \
         Asia = { East = ['Japan', 'Korea'], South = ['India'] }, \
         Mars = ['Olympus'] } }",
        &["USA", "Canada", "Japan", "Korea", "India", "Olympus"],
        in_tree,
    ),
    made("zip", "hierarchy = { mask = {} }", &["02139", "02140", "02141", "10001", "100"], masked),
    made(
        "plate",
        "hierarchy = { mask = { char = '#', from = 'left' } }",
        &["AB1", "CB1", "CB2", "1"],
        masked_left,
    ),
    made(
        "weight",
        "hierarchy = { intervals = { width = 5, levels = 2 } }",
        &["50", "51", "57", "63", "-2", "07"],
        range,
    ),
    made(
        "height",
        "hierarchy = { intervals = { width = 0.1 } }",
        &["0.3", "0.31", "0.6", "0.70", "1.75", "2"],
        range,
    ),
    made(
        "years",
        "hierarchy = { cuts = [[18, 30, 65], [30]] }",
        &["3", "17", "18", "29", "30", "64", "65"],
        range,
    ),
    made(
        "born",
        "hierarchy = 'dates'",
        &["2021-03-05", "2021-03-31", "2021-02-01", "2029-12-31", "1999-01-01", "2020-01-01"],
        calendar,
    ),
    column(
        "joined",
        "kind = 'date'",
        &["2021-03-05", "2021-12-24", "1969-12-31", "2000-02-29"],
        days,
    ),
    column(
        "city",
        "kind = 'text'",
        &["Rome", "St. Ives, UK", "{a}", "*", "say \"hi\"", " x", "two\nlines"],
        in_set,
    ),
    column("job", "kind = 'text', labels = 'star'", &["clerk", "boss", "*", "cook"], in_set),
    made(
        "tenure",
        "hierarchy = 'mdr'",
        &["0", "1", "2", "3", "4", "6", "7", "07", "40", "99"],
        range,
    ),
    made(
        "dose",
        "hierarchy = { mdr = { outliers = 'none', factors = [1, 4], quantile = 'chunk' } }, \
         domain = [-5, 5]",
        &["0.25", "0.5", "1", "1.75", "3.5", "-4.125", "2.0"],
        range,
    ),
    made(
        "seen",
        "hierarchy = { mdr = { base_width = 30 } }",
        &["2021-03-05", "2021-03-31", "2021-02-01", "2022-12-31", "1999-01-01", "2020-01-01"],
        days,
    ),
];

const fn column(
    name: &'static str,
    job: &'static str,
    values: &'static [&'static str],
    covers: fn(&str, &str) -> bool,
) -> Column {
    Column { name, job, values, covers, needs_values: false }
}

const fn made(
    name: &'static str,
    job: &'static str,
    values: &'static [&'static str],
    covers: fn(&str, &str) -> bool,
) -> Column {
    Column { name, job, values, covers, needs_values: true }
}

/// `[lo, hi]`, `<hi`, `>=lo` or a number.
pub(crate) fn range(cell: &str, value: &str) -> bool {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let Some(x) = number(value) else { return false };
    if cell == "*" {
        return true;
    }
    if let Some(hi) = cell.strip_prefix('<') {
        return number(hi).is_some_and(|hi| x < hi);
    }
    if let Some(lo) = cell.strip_prefix(">=") {
        return number(lo).is_some_and(|lo| lo <= x);
    }
    match cell.strip_prefix('[').and_then(|c| c.strip_suffix(']')).and_then(|c| c.split_once(", "))
    {
        Some((lo, hi)) => number(lo).zip(number(hi)).is_some_and(|(lo, hi)| lo <= x && x <= hi),
        None => number(cell) == Some(x),
    }
}

fn in_tree(cell: &str, value: &str) -> bool {
    let below: &[&str] = match cell {
        "*" => return true,
        "N. America" => &["USA", "Canada"],
        "Asia" => &["Japan", "Korea", "India"],
        "East" => &["Japan", "Korea"],
        "South" => &["India"],
        "Mars" => &["Olympus"],
        leaf => return leaf == value,
    };
    below.contains(&value)
}

fn masked(cell: &str, value: &str) -> bool {
    cell == "*"
        || cell == value
        || (cell.len() == 5 && value.starts_with(cell.trim_end_matches('*')))
}

fn masked_left(cell: &str, value: &str) -> bool {
    cell == "*"
        || cell == value
        || (cell.len() == 3 && value.ends_with(cell.trim_start_matches('#')))
}

fn calendar(cell: &str, value: &str) -> bool {
    if let Some(decade) = cell.strip_suffix("0s") {
        return value.starts_with(decade);
    }
    if let Some((year, quarter)) = cell.split_once("-Q") {
        let month: u32 = value[5..7].parse().unwrap();
        return value.starts_with(year) && quarter.parse() == Ok(month.div_ceil(3));
    }
    cell == "*" || value.starts_with(cell)
}

/// Dates in this form sort like texts.
fn days(cell: &str, value: &str) -> bool {
    match cell.strip_prefix('[').and_then(|c| c.strip_suffix(']')).and_then(|c| c.split_once(", "))
    {
        Some((lo, hi)) => lo <= value && value <= hi,
        None => cell == "*" || cell == value,
    }
}

/// `{a, "b, c"}`, or the value itself.
pub(crate) fn in_set(cell: &str, value: &str) -> bool {
    let Some(inner) = cell.strip_prefix('{').and_then(|c| c.strip_suffix('}')) else {
        return cell == "*" || cell == value;
    };
    let quoted = format!("\"{}\"", value.replace('"', "\"\""));
    let plain =
        !value.contains(['{', '}', ',', '"', '*']) && value.trim() == value && !value.is_empty();
    let wanted = if plain { value.to_owned() } else { quoted };
    format!(", {inner}, ").contains(&format!(", {wanted}, "))
}
