//! Plain text files with lists, such as classifications and words of column names.
//!
//! Each line is an entry. The fields of an entry are separated by `;`. Empty lines and lines that
//! begin with `# ` are ignored. A line `[title]` begins a list.

/// Returns the entries of a file, in order.
pub fn entries(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("# "))
}

/// Returns the entries of a file, each split into `N` fields. A missing field is empty.
pub fn table<const N: usize>(text: &'static str) -> Vec<[&'static str; N]> {
    entries(text).map(fields).collect()
}

/// Splits an entry into `N` fields. The last one contains the rest, a missing one is empty.
pub fn fields<const N: usize>(entry: &str) -> [&str; N] {
    let mut fields = entry.splitn(N, ';');
    std::array::from_fn(|_| fields.next().unwrap_or_default())
}

/// The lists of a file with titles.
///
/// ```
/// use incrowd_core::lists::Lists;
///
/// let lists = Lists::parse("# Days.\n[weekdays]\nmonday\ntuesday\n[weekend]\nsunday\n");
/// assert_eq!(lists.list("weekdays"), ["monday", "tuesday"]);
/// ```
pub struct Lists(Vec<(&'static str, Vec<&'static str>)>);

impl Lists {
    /// Parses a file. Entries above the first title are ignored.
    pub fn parse(text: &'static str) -> Lists {
        let mut lists: Vec<(&str, Vec<&str>)> = Vec::new();
        for entry in entries(text) {
            match entry.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                Some(title) => lists.push((title, Vec::new())),
                None => lists.last_mut().into_iter().for_each(|(_, list)| list.push(entry)),
            }
        }
        Lists(lists)
    }

    /// Returns titles and lists, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &[&'static str])> {
        self.0.iter().map(|(title, list)| (*title, list.as_slice()))
    }

    /// Returns the list with this title.
    ///
    /// # Panics
    ///
    /// If the file has no such list.
    pub fn list(&self, title: &str) -> &[&'static str] {
        let list = self.iter().find(|(known, _)| *known == title);
        list.unwrap_or_else(|| panic!("no list [{title}]")).1
    }
}
