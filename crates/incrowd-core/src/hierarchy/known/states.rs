//! The states of the USA, in the divisions and regions of the Census Bureau.

/// A division: its name, its region, and its states with letters, FIPS number and name.
type CensusDivision = (&'static str, &'static str, &'static [(&'static str, u8, &'static str)]);

const DIVISIONS: &[CensusDivision] = &[
    (
        "New England",
        "Northeast",
        &[
            ("CT", 9, "Connecticut"),
            ("ME", 23, "Maine"),
            ("MA", 25, "Massachusetts"),
            ("NH", 33, "New Hampshire"),
            ("RI", 44, "Rhode Island"),
            ("VT", 50, "Vermont"),
        ],
    ),
    (
        "Middle Atlantic",
        "Northeast",
        &[("NJ", 34, "New Jersey"), ("NY", 36, "New York"), ("PA", 42, "Pennsylvania")],
    ),
    (
        "East North Central",
        "Midwest",
        &[
            ("IL", 17, "Illinois"),
            ("IN", 18, "Indiana"),
            ("MI", 26, "Michigan"),
            ("OH", 39, "Ohio"),
            ("WI", 55, "Wisconsin"),
        ],
    ),
    (
        "West North Central",
        "Midwest",
        &[
            ("IA", 19, "Iowa"),
            ("KS", 20, "Kansas"),
            ("MN", 27, "Minnesota"),
            ("MO", 29, "Missouri"),
            ("NE", 31, "Nebraska"),
            ("ND", 38, "North Dakota"),
            ("SD", 46, "South Dakota"),
        ],
    ),
    (
        "South Atlantic",
        "South",
        &[
            ("DE", 10, "Delaware"),
            ("DC", 11, "District of Columbia"),
            ("FL", 12, "Florida"),
            ("GA", 13, "Georgia"),
            ("MD", 24, "Maryland"),
            ("NC", 37, "North Carolina"),
            ("SC", 45, "South Carolina"),
            ("VA", 51, "Virginia"),
            ("WV", 54, "West Virginia"),
        ],
    ),
    (
        "East South Central",
        "South",
        &[
            ("AL", 1, "Alabama"),
            ("KY", 21, "Kentucky"),
            ("MS", 28, "Mississippi"),
            ("TN", 47, "Tennessee"),
        ],
    ),
    (
        "West South Central",
        "South",
        &[
            ("AR", 5, "Arkansas"),
            ("LA", 22, "Louisiana"),
            ("OK", 40, "Oklahoma"),
            ("TX", 48, "Texas"),
        ],
    ),
    (
        "Mountain",
        "West",
        &[
            ("AZ", 4, "Arizona"),
            ("CO", 8, "Colorado"),
            ("ID", 16, "Idaho"),
            ("MT", 30, "Montana"),
            ("NV", 32, "Nevada"),
            ("NM", 35, "New Mexico"),
            ("UT", 49, "Utah"),
            ("WY", 56, "Wyoming"),
        ],
    ),
    (
        "Pacific",
        "West",
        &[
            ("AK", 2, "Alaska"),
            ("CA", 6, "California"),
            ("HI", 15, "Hawaii"),
            ("OR", 41, "Oregon"),
            ("WA", 53, "Washington"),
        ],
    ),
    (
        "Island areas",
        "Territories",
        &[
            ("AS", 60, "American Samoa"),
            ("GU", 66, "Guam"),
            ("MP", 69, "Northern Mariana Islands"),
            ("PR", 72, "Puerto Rico"),
            ("VI", 78, "Virgin Islands"),
        ],
    ),
];

/// `NY` is in `Middle Atlantic` and `Northeast`.
pub(super) fn path(code: &str) -> Option<Vec<String>> {
    let number: Option<u8> = code.parse().ok().filter(|_| code.len() <= 2);
    let name = code.replace(['-', '_'], " ");
    let is = |(letters, fips, full): &(&str, u8, &str)| {
        *letters == code || Some(*fips) == number || full.eq_ignore_ascii_case(name.trim())
    };
    let (division, region, _) = DIVISIONS.iter().find(|(_, _, states)| states.iter().any(is))?;
    Some(vec![(*division).to_owned(), (*region).to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifty_states_the_capital_and_five_islands() {
        let all: Vec<_> = DIVISIONS.iter().flat_map(|(_, _, states)| states.iter()).collect();
        assert_eq!(all.len(), 56);
        let mut fips: Vec<u8> = all.iter().map(|(_, fips, _)| *fips).collect();
        fips.sort_unstable();
        fips.dedup();
        assert_eq!(fips.len(), 56);
    }
}
