//! The tables that can be made and what their columns mean.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use crate::{census, salaries, skewed};

/// A kind of synthetic table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// A census-like table: mostly categories, with missing values, a skewed geography and two
    /// sensitive columns.
    Census,
    /// A mostly numeric table with strong skew and no missing values.
    Skewed,
    /// Eight quasi-identifiers with the domains of a census extract, and a salary class in which a few people stand out.
    Salaries,
}

impl Table {
    /// Every table, in the order in which they are documented.
    pub const ALL: [Table; 3] = [Table::Census, Table::Skewed, Table::Salaries];

    /// The name under which the table is asked for, the inverse of [`Table::from_str`].
    pub fn name(self) -> &'static str {
        match self {
            Table::Census => "census",
            Table::Skewed => "skewed",
            Table::Salaries => "salaries",
        }
    }

    /// The columns in the order in which they are written.
    pub fn columns(self) -> &'static [Column] {
        match self {
            Table::Census => &census::COLUMNS,
            Table::Skewed => &skewed::COLUMNS,
            Table::Salaries => &salaries::COLUMNS,
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Table {
    type Err = UnknownTable;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|table| table.name() == name).ok_or_else(|| UnknownTable(name.to_owned()))
    }
}

/// The error for a name that belongs to no [`Table`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownTable(String);

impl fmt::Display for UnknownTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Table::ALL.map(Table::name).join(", ");
        write!(f, "there is no synthetic table `{}` (known: {known})", self.0)
    }
}

impl Error for UnknownTable {}

/// One column of a [`Table`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The name in the header line.
    pub name: &'static str,
    /// What the column means for anonymization.
    pub role: Role,
    /// One sentence about the values.
    pub about: &'static str,
}

/// What a column means for anonymization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Names exactly one person and must not be published.
    Identifier,
    /// Known to others, and in combination able to single a person out.
    Quasi,
    /// What an attacker would like to learn about a person.
    Sensitive,
}
