//! The notations of a hierarchy: a table of the job file, or a short form such as `mask`,
//! `intervals:5`, `cuts:18,30,65`.

use std::path::Path;

use incrowd_core::hierarchy::columns::Columns;
use incrowd_core::hierarchy::dates::{Dates, Step};
use incrowd_core::hierarchy::intervals::Intervals;
use incrowd_core::hierarchy::known::{KNOWN, Known};
use incrowd_core::hierarchy::mask::{From, Mask};
use incrowd_core::hierarchy::mdr::{Mdr, Outliers, Quantile};
use incrowd_core::hierarchy::nested::Tree;
use incrowd_core::{Error, HierarchySpec, Result};

use super::files;
use super::given::{At, Entry, Given, Node, Read, Refused, one_of};

const FORMS: [&str; 10] =
    ["file", "mask", "intervals", "cuts", "dates", "bands", "tree", "mdr", "known", "columns"];
/// The end of a code that is masked first.
pub(crate) const FROM: [(&str, From); 2] = [("right", From::Right), ("left", From::Left)];

/// The short forms of hierarchies.
pub const SHORT: &str = "A file, mask[:left[,CHAR]], \
                         intervals:WIDTH[,LEVELS[,FACTOR[,ORIGIN]]], cuts:18,30,65, \
                         dates[:month,year], bands, ages, a classification such as icd10, \
                         columns:DISTRICT,REGION, mdr[:LOW,HIGH], or a table as in a job file";

/// Reads a hierarchy file: a tree if its extension is `.toml`, otherwise ARX-style lines
/// `leaf;level1;…;root`.
pub fn hierarchy_from_path(path: &Path) -> Result<HierarchySpec> {
    let name = path.display().to_string();
    let text = files::read_text(path, most_bytes(path))
        .map_err(|why| Error::input(format!("hierarchy `{name}` cannot be read: {why}")))?;
    from_text(path, name, text)
}

/// Parses the [short form](SHORT) of a hierarchy.
pub fn hierarchy_from_word(word: &str) -> Result<HierarchySpec> {
    let at = At::Flag(String::new());
    let node = Node::inline(word, &at).unwrap_or_else(|| Node::word(word, &at));
    let node = Node::table([("hierarchy", node)], &at);
    let read = |entry: &Entry<'_>| hierarchy(&entry.table("a table")?.entries()[0]);
    read(&Entry::root(&node, Path::new(""))).map_err(|refused| refused.error)
}

/// Returns whether a file contains a tree, by its extension.
fn is_tree(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

/// Returns the maximum size of a hierarchy file.
fn most_bytes(path: &Path) -> u64 {
    if is_tree(path) {
        incrowd_engine::MOST_TOML_BYTES
    } else {
        incrowd_engine::MOST_HIERARCHY_BYTES
    }
}

fn from_text(path: &Path, name: String, text: String) -> Result<HierarchySpec> {
    if is_tree(path) {
        Tree::parse(&name, &text).map(HierarchySpec::Nested)
    } else {
        Ok(HierarchySpec::Arx { name, text })
    }
}

/// Reads the value of `hierarchy`.
pub(super) fn hierarchy(entry: &Entry<'_>) -> Read<HierarchySpec> {
    if let Some(word) = entry.as_str() {
        return match short(word, &entry.node.at) {
            Some(node) => hierarchy(&entry.with(&node)).map_err(|Refused { error, at }| {
                let error = if error.advice().is_none() {
                    error.help(format!("it takes {SHORT}"))
                } else {
                    error
                };
                Refused { error, at }
            }),
            None => file(entry),
        };
    }
    let table = entry.table(
        "the path of a file, \"dates\", \"mdr\" or a table such as { intervals = { width = 5 } }",
    )?;
    table.only(&FORMS)?;
    let form = match table.entries() {
        [form] => form,
        [] => {
            let error =
                Error::job("the hierarchy is empty").help(format!("it takes {}", one_of(&FORMS)));
            return Err(table.refuse(error));
        }
        [first, second, ..] => {
            let error = Error::job(format!(
                "a hierarchy cannot have both `{}` and `{}`",
                first.key, second.key
            ));
            return Err(second.refuse_key(error));
        }
    };
    match form.key {
        "file" => file(form),
        "mask" => mask(form).map(HierarchySpec::Mask),
        "intervals" => intervals(form).map(HierarchySpec::Intervals),
        "cuts" => cuts(form).map(HierarchySpec::Intervals),
        "dates" => dates(form).map(HierarchySpec::Dates),
        "bands" => form
            .table("an empty table, as in { bands = {} }")?
            .only(&[])
            .map(|()| HierarchySpec::Bands),
        "known" => known(form),
        "columns" => Columns::new(form.texts()?)
            .map(HierarchySpec::Columns)
            .map_err(|error| form.refuse(error)),
        "mdr" => mdr(form).map(HierarchySpec::Mdr),
        _ => tree(form).map(HierarchySpec::Nested),
    }
}

/// Returns the table for a short form; `None` if the text is the name of a file.
fn short(text: &str, at: &At) -> Option<Node> {
    let (form, rest) = text.split_once(':').unwrap_or((text, ""));
    let list = |text: &str, by: char| {
        Node::list(text.split(by).map(|word| Node::word(word.trim(), at)), at)
    };
    // `left,#` and `from=left,char=#` are equivalent; several values of one key are separated by
    // `|`.
    let fields = |places: &[&str]| {
        let field = |(i, piece): (usize, &str)| {
            let place = || (places.get(i).map_or(piece, |place| place).to_owned(), piece);
            let (key, value) =
                piece.split_once('=').map_or_else(place, |(k, v)| (k.trim().to_owned(), v));
            let many = value.contains('|') || key == "factors";
            (key, if many { list(value, '|') } else { Node::word(value.trim(), at) })
        };
        Node::table(rest.split(',').filter(|piece| !piece.is_empty()).enumerate().map(field), at)
    };
    let value = match form {
        "file" if !rest.is_empty() => Node::word(rest, at),
        "mask" => fields(&["from", "char"]),
        "intervals" => fields(&["width", "levels", "factor", "origin"]),
        "cuts" if rest.contains('/') => {
            Node::list(rest.split('/').map(|level| list(level, ',')), at)
        }
        "cuts" => list(rest, ','),
        "dates" if rest.is_empty() => {
            Node::list(Step::ALL.iter().map(|(name, _)| Node::word(name, at)), at)
        }
        "dates" => list(rest, ','),
        "bands" if rest.is_empty() => fields(&[]),
        "columns" if !rest.is_empty() => list(rest, ','),
        "ages" if rest.is_empty() => {
            return Some(Node::table([("known", Node::word(form, at))], at));
        }
        _ if rest.is_empty() && Known::named(form).is_some() => {
            return Some(Node::table([("known", Node::word(form, at))], at));
        }
        "mdr" if rest.contains(',') && !rest.contains('=') => {
            Node::table([("outliers", list(rest, ','))], at)
        }
        "mdr" => fields(&["outliers"]),
        _ => return None,
    };
    Some(Node::table([(form, value)], at))
}

/// Returns age classes of five and ten years and four stages of life, as in censuses. Each level
/// keeps some cuts of the one below.
fn ages() -> Result<Intervals> {
    let every =
        |from: u32, step: usize| (from..=85).step_by(step).map(f64::from).collect::<Vec<f64>>();
    Intervals::cuts(vec![every(5, 5), every(5, 10), vec![15.0, 25.0, 65.0]])
}

/// Reads the name of a classification.
fn known(entry: &Entry<'_>) -> Read<HierarchySpec> {
    let name = entry.text()?;
    if name == "ages" {
        return ages().map(HierarchySpec::Intervals).map_err(|error| entry.refuse(error));
    }
    Known::named(name).map(HierarchySpec::Known).ok_or_else(|| {
        let error = Error::job(format!("there is no classification `{name}`"));
        entry.refuse(error.help_near(name, KNOWN.iter().map(|known| known.name).chain(["ages"])))
    })
}

fn file(entry: &Entry<'_>) -> Read<HierarchySpec> {
    let path = entry.path()?;
    let text = files::read_text(&path, most_bytes(&path)).map_err(|why| {
        let written = entry.as_str().unwrap_or_default();
        let error = Error::input(format!("hierarchy `{written}` cannot be read: {why}"));
        entry.refuse(match entry.node.at {
            At::File(_) => error.help(format!(
                "looked for `{}`: paths are relative to the job file",
                path.display()
            )),
            At::Flag(_) => error,
        })
    })?;
    from_text(&path, path.display().to_string(), text).map_err(|error| entry.refuse(error))
}

fn mask(entry: &Entry<'_>) -> Read<Mask> {
    let table = entry.table("a table such as { char = \"*\", from = \"right\" }")?;
    table.only(&["char", "from"])?;
    Ok(Mask {
        char: table.get("char").map_or(Ok('*'), Entry::character)?,
        from: table.get("from").map_or(Ok(From::Right), |entry| entry.choice(&FROM))?,
    })
}

fn intervals(entry: &Entry<'_>) -> Read<Intervals> {
    let table = entry.table("a table such as { width = 5 }")?;
    table.only(&["width", "levels", "factor", "origin"])?;
    let width = table.need("width", "width = 5, the width of the finest intervals")?.number()?;
    let origin = table.get("origin").map_or(Ok(0.0), Entry::number)?;
    let levels = table.get("levels").map_or(Ok(3), small)?;
    let factor = table.get("factor").map_or(Ok(2), small)?;
    Intervals::fixed(width, origin, levels, factor).map_err(|error| entry.refuse(error))
}

/// Reads a whole number of at least 0.
fn small(entry: &Entry<'_>) -> Read<u32> {
    let n = entry.count(0)?;
    u32::try_from(n).map_err(|_| entry.cannot_be(&n.to_string(), "a smaller number"))
}

fn cuts(entry: &Entry<'_>) -> Read<Intervals> {
    let items = entry
        .items()
        .ok_or_else(|| entry.must_be("a list of numbers, or one such list per level"))?;
    let levels = if items.iter().any(|item| matches!(item.node.given, Given::List(_))) {
        items.iter().map(Entry::numbers).collect::<Read<_>>()?
    } else {
        vec![entry.numbers()?]
    };
    Intervals::cuts(levels).map_err(|error| entry.refuse(error))
}

fn dates(entry: &Entry<'_>) -> Read<Dates> {
    let items =
        entry.items().ok_or_else(|| entry.must_be("a list such as [\"month\", \"year\"]"))?;
    let steps = items.iter().map(|item| item.choice(&Step::ALL)).collect::<Read<_>>()?;
    Dates::new(steps).map_err(|error| entry.refuse(error))
}

fn mdr(entry: &Entry<'_>) -> Read<Mdr> {
    let table = entry.table("a table such as { outliers = \"2sigma\", factors = [1, 2, 4] }")?;
    table.only(&["outliers", "factors", "quantile", "base_width"])?;
    let outliers = table.get("outliers").map_or(Ok(Outliers::TwoSigma), outliers)?;
    let factors = match table.get("factors") {
        None => vec![1, 2, 4],
        Some(entry) => match entry.items() {
            Some(items) => items.iter().map(small).collect::<Read<_>>()?,
            None => return Err(entry.must_be("a list such as [1, 2, 4]")),
        },
    };
    let quantile =
        table.get("quantile").map_or(Ok(Quantile::Cuts), |entry| entry.choice(&Quantile::ALL))?;
    let base_width = table.get("base_width").map(Entry::number).transpose()?;
    Mdr::new(outliers, factors, quantile, base_width).map_err(|error| entry.refuse(error))
}

/// Reads `"2sigma"`, `"none"`, or two bounds: numbers, or dates as text.
fn outliers(entry: &Entry<'_>) -> Read<Outliers> {
    let words = [("2sigma", Outliers::TwoSigma), ("none", Outliers::None)];
    let Some(items) = entry.items() else { return entry.choice(&words) };
    let date = |item: &Entry<'_>| -> Read<f64> {
        let day = item.as_str().and_then(incrowd_core::number::parse_date).map(f64::from);
        day.map_or_else(|| item.number(), Ok)
    };
    match items.as_slice() {
        [lo, hi] => Ok(Outliers::Bounds(date(lo)?, date(hi)?)),
        _ => Err(entry.must_be("\"2sigma\", \"none\" or two bounds such as [20, 60]")),
    }
}

fn tree(entry: &Entry<'_>) -> Read<Tree> {
    let table = entry.table("a table such as { \"N. America\" = [\"USA\", \"Canada\"] }")?;
    let mut tree = toml::Table::new();
    for child in table.entries() {
        tree.insert(child.key.to_owned(), plain(child)?);
    }
    // The core treats a tree as a file of its own; here the error is in the job.
    let column = entry.path.trim_start_matches("columns.").trim_end_matches(".hierarchy.tree");
    Tree::from_table(column, &tree).map_err(|error| entry.refuse(Error::job(error.message())))
}

/// Converts the value to TOML, without places.
fn plain(entry: &Entry<'_>) -> Read<toml::Value> {
    match &entry.node.given {
        Given::Text(text) => Ok(toml::Value::String(text.clone())),
        Given::Whole(..) => entry.integer().map(toml::Value::Integer),
        Given::List(_) => {
            let items = entry.items().unwrap_or_default();
            items.iter().map(plain).collect::<Read<_>>().map(toml::Value::Array)
        }
        Given::Table(_) => {
            let mut below = toml::Table::new();
            for child in entry.table("a table")?.entries() {
                below.insert(child.key.to_owned(), plain(child)?);
            }
            Ok(toml::Value::Table(below))
        }
        _ => Err(entry.must_be("a string, a whole number, a list or a table")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{JobError, parse};
    use super::*;

    fn of(hierarchy: &str, base: &Path) -> Result<HierarchySpec, JobError> {
        let text = format!("[columns]\nx = {{ role = \"quasi\", hierarchy = {hierarchy} }}");
        parse("job.toml", &text, base)
            .map(|mut file| file.job.column_mut("x").spec.hierarchy.take().unwrap())
    }

    fn spec(hierarchy: &str) -> HierarchySpec {
        of(hierarchy, Path::new("")).unwrap_or_else(|e| panic!("{e}: {hierarchy}"))
    }

    #[test]
    fn every_form_has_its_meaning() {
        use HierarchySpec::{Dates as D, Intervals as I, Mask as M};
        let fixed = |width, origin, levels, factor| {
            I(Intervals::fixed(width, origin, levels, factor).unwrap())
        };
        let cuts = |levels: &[&[f64]]| {
            I(Intervals::cuts(levels.iter().map(|l| l.to_vec()).collect()).unwrap())
        };
        for (written, meant) in [
            ("\"dates\"", D(Dates::all())),
            (
                "{ dates = [\"month\", \"year\"] }",
                D(Dates::new(vec![Step::Month, Step::Year]).unwrap()),
            ),
            ("{ mask = {} }", M(Mask { char: '*', from: From::Right })),
            (
                "{ mask = { char = \"#\", from = \"left\" } }",
                M(Mask { char: '#', from: From::Left }),
            ),
            ("{ intervals = { width = 5 } }", fixed(5.0, 0.0, 3, 2)),
            (
                "{ intervals = { width = 2.5, levels = 4, factor = 3, origin = -1 } }",
                fixed(2.5, -1.0, 4, 3),
            ),
            ("{ cuts = [18, 30.5] }", cuts(&[&[18.0, 30.5]])),
            ("\"mdr\"", HierarchySpec::Mdr(Mdr::default())),
            ("\"bands\"", HierarchySpec::Bands),
            ("\"icd10\"", HierarchySpec::Known(Known::named("icd10").unwrap())),
            ("{ known = \"us-states\" }", HierarchySpec::Known(Known::named("us-states").unwrap())),
            ("\"ages\"", I(ages().unwrap())),
            (
                "{ columns = [\"district\", \"region\"] }",
                HierarchySpec::Columns(
                    Columns::new(vec!["district".into(), "region".into()]).unwrap(),
                ),
            ),
            ("{ mdr = {} }", HierarchySpec::Mdr(Mdr::default())),
            (
                "{ mdr = { outliers = [22, 62], factors = [1, 4], quantile = \"chunk\", \
                 base_width = 2 } }",
                HierarchySpec::Mdr(
                    Mdr::new(Outliers::Bounds(22.0, 62.0), vec![1, 4], Quantile::Chunk, Some(2.0))
                        .unwrap(),
                ),
            ),
            (
                "{ mdr = { outliers = [\"1970-01-02\", \"1970-01-12\"] } }",
                HierarchySpec::Mdr(
                    Mdr::new(Outliers::Bounds(1.0, 11.0), vec![1, 2, 4], Quantile::Cuts, None)
                        .unwrap(),
                ),
            ),
            ("{ cuts = [[18, 30, 65], [18, 65]] }", cuts(&[&[18.0, 30.0, 65.0], &[18.0, 65.0]])),
        ] {
            assert_eq!(spec(written), meant, "{written}");
        }
    }

    #[test]
    fn trees_may_be_nested() {
        let tree = "{ tree = { \"N. America\" = [\"USA\", 7], Asia = { East = [\"Japan\"] } } }";
        let same = "\"N. America\" = [\"USA\", 7]\nAsia.East = [\"Japan\"]";
        assert_eq!(spec(tree), HierarchySpec::Nested(Tree::parse("x", same).unwrap()));
    }

    #[test]
    fn files_are_relative_to_the_job_file() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.csv"), "1;*\n").unwrap();
        std::fs::write(dir.path().join("dates"), "1;*\n").unwrap();
        std::fs::write(dir.path().join("b.TOML"), "A = [1]\n").unwrap();
        std::fs::write(dir.path().join("c.toml"), "A = \n").unwrap();
        std::fs::write(dir.path().join("latin"), b"\xe4;*\n").unwrap();
        let arx = |file: &str| HierarchySpec::Arx {
            name: dir.path().join(file).display().to_string(),
            text: "1;*\n".to_owned(),
        };
        let toml = dir.path().join("b.TOML").display().to_string();
        let nested = HierarchySpec::Nested(Tree::parse(&toml, "A = [1]").unwrap());
        for (written, meant) in [
            ("\"a.csv\"", arx("a.csv")),
            ("{ file = \"a.csv\" }", arx("a.csv")),
            ("{ file = \"dates\" }", arx("dates")),
            ("\"b.TOML\"", nested),
        ] {
            assert_eq!(of(written, dir.path()), Ok(meant), "{written}");
        }
        assert_eq!(hierarchy_from_path(&dir.path().join("a.csv")), Ok(arx("a.csv")));
        for (written, shown, key, says) in [
            (
                "\"none.csv\"",
                "\"none.csv\"",
                "columns.x.hierarchy",
                "hierarchy `none.csv` cannot be read: there is no such file",
            ),
            (
                "{ file = \"latin\" }",
                "\"latin\"",
                "columns.x.hierarchy.file",
                "it is not UTF-8 text",
            ),
            ("\"c.toml\"", "\"c.toml\"", "columns.x.hierarchy", "c.toml` is not TOML"),
        ] {
            let JobError { error, place, .. } = of(written, dir.path()).unwrap_err();
            let place = place.unwrap();
            assert!(error.message().contains(says), "{error}");
            assert_eq!(error.fault(), incrowd_core::Fault::Input);
            assert_eq!((&place.text[place.span.clone()], error.key()), (shown, Some(key)));
        }
        let error = hierarchy_from_path(Path::new("no/such.csv")).unwrap_err();
        assert_eq!(
            error.message(),
            "hierarchy `no/such.csv` cannot be read: there is no such file"
        );
    }

    #[test]
    fn invalid_hierarchies_are_refused() {
        for (written, shown, says) in [
            (
                "true",
                "true",
                "`hierarchy` must be the path of a file, \"dates\", \"mdr\" or a table",
            ),
            ("{}", "{}", "the hierarchy is empty"),
            ("{ mask = {}, cuts = [1] }", "cuts", "cannot have both `mask` and `cuts`"),
            ("{ mask = true }", "true", "`mask` must be a table such as"),
            (
                "{ mask = { char = \"**\" } }",
                "\"**\"",
                "`char` cannot be `**`: it takes a single character",
            ),
            (
                "{ intervals = { levels = 2 } }",
                "{ levels = 2 }",
                "[columns.x.hierarchy.intervals] needs `width`",
            ),
            ("{ intervals = { width = 0 } }", "{ width = 0 }", "must be a number above 0"),
            (
                "{ intervals = { width = 1, levels = -1 } }",
                "-1",
                "`levels` cannot be `-1`: it takes a whole",
            ),
            (
                "{ intervals = { width = 1, levels = 2.0 } }",
                "2.0",
                "`levels` must be a whole number",
            ),
            ("{ cuts = 5 }", "5", "`cuts` must be a list of numbers, or one such list per level"),
            (
                "{ cuts = [[1, 2], 3] }",
                "3",
                "an item of `cuts` must be a list of numbers, not a whole",
            ),
            ("{ cuts = [] }", "[]", "`cuts` needs at least one list"),
            ("{ cuts = [2, 1] }", "[2, 1]", "must ascend"),
            ("{ mdr = { outliers = 3 } }", "3", "`outliers` must be"),
            ("{ mdr = { outliers = [3, 2] } }", "{ outliers = [3, 2] }", "the lower one first"),
            ("{ mdr = { outliers = [1] } }", "[1]", "two bounds such as [20, 60]"),
            (
                "{ mdr = { factors = [2, 3] } }",
                "{ factors = [2, 3] }",
                "each a multiple of the one before",
            ),
            ("{ mdr = { factors = 2 } }", "2", "a list such as [1, 2, 4]"),
            ("{ mdr = { base_width = -1 } }", "{ base_width = -1 }", "must be a number above 0"),
            ("{ mdr = { width = 1 } }", "width", "width"),
            ("{ dates = \"year\" }", "\"year\"", "`dates` must be a list such as"),
            (
                "{ dates = [\"year\", \"month\"] }",
                "[\"year\", \"month\"]",
                "date levels must ascend",
            ),
            ("{ tree = [\"a\"] }", "[\"a\"]", "`tree` must be a table such as"),
            (
                "{ tree = { A = [1], B = [1] } }",
                "{ A = [1], B = [1] }",
                "hierarchy `x` lists a value twice",
            ),
            ("{ tree = { A = [1.5] } }", "1.5", "an item of `A` must be a string, a whole number"),
        ] {
            let JobError { error, place, .. } = of(written, Path::new("")).unwrap_err();
            let place = place.unwrap();
            assert!(error.message().contains(says), "{error}\n{written}");
            assert_eq!(
                (&place.text[place.span.clone()], error.fault()),
                (shown, incrowd_core::Fault::Job),
                "{error}"
            );
        }
    }
}
