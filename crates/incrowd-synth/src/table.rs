//! The tables and the roles of their columns.

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
    /// Eight quasi-identifiers with the domains of a census extract, and a salary class with a few
    /// outliers.
    Salaries,
}

impl Table {
    /// Every table, in the order of the documentation.
    pub const ALL: [Table; 3] = [Table::Census, Table::Skewed, Table::Salaries];

    /// Returns the name of the table, the inverse of [`Table::from_str`].
    pub fn name(self) -> &'static str {
        match self {
            Table::Census => "census",
            Table::Skewed => "skewed",
            Table::Salaries => "salaries",
        }
    }

    /// Returns the columns in the order of the file.
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
        Self::ALL
            .into_iter()
            .find(|table| table.name() == name)
            .ok_or_else(|| UnknownTable(name.to_owned()))
    }
}

/// The error for an unknown table name.
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
    /// The role for anonymization.
    pub role: Role,
    /// One sentence about the values.
    pub about: &'static str,
}

/// The role of a column for anonymization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Identifies one person and must not be published.
    Identifier,
    /// Known to others, and in combination able to identify a person.
    Quasi,
    /// Must not be learned about a person.
    Sensitive,
}
