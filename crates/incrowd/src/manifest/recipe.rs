//! A hierarchy that needs no file, in the notation of a job file. With it the cells of a release
//! can be read without its job.

use incrowd_core::hierarchy::dates::{Dates, Step};
use incrowd_core::hierarchy::intervals::Intervals;
use incrowd_core::hierarchy::known::Known;
use incrowd_core::hierarchy::mask::{From, Mask};
use incrowd_core::{HierarchySpec, Result};
use serde::{Deserialize, Serialize};

use crate::job::{FROM, word};

/// A hierarchy with all its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Recipe {
    /// Characters masked from one end.
    Mask {
        /// The replacement character.
        char: char,
        /// The end that is masked first.
        from: String,
    },
    /// Intervals of fixed width.
    Intervals {
        /// Width of the finest intervals.
        width: f64,
        /// The start of one interval.
        origin: f64,
        /// The number of levels.
        levels: u32,
        /// The number of intervals that are joined at the next level.
        factor: u32,
    },
    /// Intervals between cut points, level by level.
    Cuts(Vec<Vec<f64>>),
    /// Calendar levels.
    Dates(Vec<String>),
    /// Values that are intervals already.
    Bands {},
    /// A classification by its name.
    Known(String),
}

impl Recipe {
    /// Returns the recipe of a hierarchy; `None` if it needs a file, a tree or columns of the
    /// table. Regular intervals have [their own entry](super::RegularIntervals).
    pub(crate) fn of(hierarchy: &HierarchySpec) -> Option<Recipe> {
        Some(match hierarchy {
            HierarchySpec::Mask(mask) => {
                Recipe::Mask { char: mask.char, from: word(&FROM, mask.from).to_owned() }
            }
            HierarchySpec::Intervals(Intervals::Fixed { width, origin, levels, factor }) => {
                Recipe::Intervals {
                    width: *width,
                    origin: *origin,
                    levels: *levels,
                    factor: *factor,
                }
            }
            HierarchySpec::Intervals(Intervals::Cuts(levels)) => Recipe::Cuts(levels.clone()),
            HierarchySpec::Dates(dates) => Recipe::Dates(
                dates.steps().iter().map(|&step| word(&Step::ALL, step).to_owned()).collect(),
            ),
            HierarchySpec::Bands => Recipe::Bands {},
            HierarchySpec::Known(known) => Recipe::Known(known.name.to_owned()),
            HierarchySpec::Arx { .. }
            | HierarchySpec::Nested(_)
            | HierarchySpec::Columns(_)
            | HierarchySpec::Mdr(_) => return None,
        })
    }

    /// Returns the recipe for the name of a hierarchy without parameters, as in older manifests.
    pub(crate) fn named(name: &str) -> Option<Recipe> {
        match name {
            "bands" => Some(Recipe::Bands {}),
            _ => Known::named(name).map(|known| Recipe::Known(known.name.to_owned())),
        }
    }

    /// Returns the hierarchy; `None` if this version does not know it, an error if the numbers are
    /// invalid.
    pub(crate) fn hierarchy(&self) -> Result<Option<HierarchySpec>> {
        fn of<T: Copy>(words: &[(&str, T)], word: &str) -> Option<T> {
            words.iter().find(|(known, _)| *known == word).map(|(_, meaning)| *meaning)
        }
        Ok(match self {
            Recipe::Mask { char, from } => {
                of::<From>(&FROM, from).map(|from| HierarchySpec::Mask(Mask { char: *char, from }))
            }
            Recipe::Intervals { width, origin, levels, factor } => {
                Some(HierarchySpec::Intervals(Intervals::fixed(*width, *origin, *levels, *factor)?))
            }
            Recipe::Cuts(levels) => {
                Some(HierarchySpec::Intervals(Intervals::cuts(levels.clone())?))
            }
            Recipe::Dates(steps) => {
                let steps =
                    steps.iter().map(|step| of(&Step::ALL, step)).collect::<Option<Vec<Step>>>();
                steps.map(Dates::new).transpose()?.map(HierarchySpec::Dates)
            }
            Recipe::Bands {} => Some(HierarchySpec::Bands),
            Recipe::Known(name) => Known::named(name).map(HierarchySpec::Known),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::hierarchy_from_word;

    #[test]
    fn every_hierarchy_without_a_file_survives_a_round_trip() {
        let words = [
            "mask",
            "mask:left,#",
            "intervals:5",
            "intervals:2.5,4,3,-1",
            "cuts:18,30,65",
            "cuts:5,10,15/10",
            "ages",
            "dates",
            "dates:month,year",
            "bands",
        ];
        let known = incrowd_core::hierarchy::known::KNOWN.iter().map(|known| known.name);
        for word in words.into_iter().chain(known) {
            let spec = hierarchy_from_word(word).unwrap();
            let text = serde_json::to_string(&Recipe::of(&spec).unwrap()).unwrap();
            let back: Recipe = serde_json::from_str(&text).unwrap();
            assert_eq!(back.hierarchy().unwrap(), Some(spec), "{word}: {text}");
        }
        assert!(Recipe::Cuts(vec![vec![3.0, 1.0]]).hierarchy().is_err());
        assert!(Recipe::of(&hierarchy_from_word("mdr").unwrap()).is_none());
    }
}
