//! Residence, country of birth, and dependent attributes.

use crate::draw::{Dice, Weighted};
use crate::hierarchies::{COUNTRY, HOME};

/// The first digits of postal codes in the order of their largest city.
const LEADING: [u32; 10] = [1, 9, 6, 7, 3, 0, 2, 4, 8, 5];

/// Areas are postal codes with the same first three digits.
const AREAS: u32 = 100;
const ZIPS_PER_AREA: u32 = 9;

/// The people born abroad among ten thousand residents of the northeast, south, midwest and west,
/// in the order of the countries after the first.
const BORN_ABROAD: [[f64; 4]; 40] = [
    [25.0, 18.0, 18.0, 35.0],
    [110.0, 390.0, 220.0, 820.0],
    [55.0, 45.0, 9.0, 55.0],
    [60.0, 70.0, 8.0, 85.0],
    [30.0, 45.0, 6.0, 14.0],
    [6.0, 22.0, 1.5, 12.0],
    [32.0, 130.0, 5.0, 6.0],
    [165.0, 18.0, 3.0, 1.0],
    [70.0, 50.0, 2.0, 0.6],
    [95.0, 42.0, 4.0, 2.0],
    [32.0, 9.0, 1.0, 0.8],
    [60.0, 40.0, 5.0, 8.0],
    [75.0, 11.0, 5.0, 4.0],
    [34.0, 20.0, 3.0, 11.0],
    [42.0, 17.0, 4.0, 6.0],
    [28.0, 18.0, 11.0, 24.0],
    [13.0, 2.0, 3.0, 3.0],
    [8.0, 4.0, 2.5, 6.0],
    [16.0, 15.0, 13.0, 14.0],
    [38.0, 4.0, 8.0, 4.5],
    [26.0, 1.0, 0.5, 3.5],
    [11.0, 1.5, 4.5, 1.2],
    [38.0, 4.0, 30.0, 3.0],
    [24.0, 3.0, 10.0, 13.0],
    [26.0, 4.0, 6.0, 12.0],
    [8.0, 3.5, 7.0, 5.0],
    [115.0, 25.0, 30.0, 120.0],
    [9.0, 5.0, 4.0, 24.0],
    [8.0, 4.0, 6.0, 19.0],
    [38.0, 18.0, 15.0, 60.0],
    [42.0, 28.0, 24.0, 165.0],
    [20.0, 38.0, 17.0, 88.0],
    [4.0, 4.0, 3.0, 11.0],
    [1.5, 1.5, 8.0, 11.0],
    [115.0, 55.0, 62.0, 80.0],
    [24.0, 11.0, 9.0, 7.0],
    [6.0, 5.0, 2.5, 38.0],
    [17.0, 22.0, 8.0, 3.5],
    [5.0, 10.0, 10.0, 8.0],
    [14.0, 4.0, 3.0, 7.0],
];

/// Race of those born at home, by region.
const RACE_AT_HOME: [[f64; 5]; 4] = [
    [80.0, 12.5, 2.6, 0.4, 4.5],
    [73.0, 21.5, 1.4, 0.9, 3.2],
    [84.5, 10.5, 1.3, 0.8, 2.9],
    [78.0, 5.0, 7.0, 2.6, 7.4],
];

/// Race of people born abroad, by part of the world.
const RACE_ABROAD: [(&str, [f64; 5]); 12] = [
    ("Northern America", [88.0, 3.0, 7.0, 0.5, 1.5]),
    ("Central America", [55.0, 0.8, 0.3, 2.5, 41.0]),
    ("Caribbean", [38.0, 47.0, 1.0, 0.3, 14.0]),
    ("South America", [62.0, 4.0, 1.0, 1.0, 32.0]),
    ("Western Europe", [90.0, 5.0, 3.0, 0.1, 2.0]),
    ("Southern Europe", [97.0, 0.8, 0.4, 0.1, 1.7]),
    ("Eastern Europe", [98.0, 0.3, 0.6, 0.1, 1.0]),
    ("Eastern Asia", [2.0, 0.3, 96.0, 0.1, 1.6]),
    ("South-Eastern Asia", [3.5, 0.6, 93.0, 0.3, 2.6]),
    ("Southern Asia", [17.0, 0.6, 79.0, 0.3, 3.0]),
    ("Sub-Saharan Africa", [4.0, 93.0, 0.8, 0.1, 2.0]),
    ("Northern Africa", [84.0, 9.0, 1.0, 0.1, 6.0]),
];

pub(super) struct Place {
    zips: Vec<Zip>,
    crowds: Weighted,
    countries: [Weighted; 4],
    race_at_home: [Weighted; 4],
    /// By country.
    race_abroad: Vec<Weighted>,
}

struct Zip {
    text: String,
    region: usize,
}

/// The residence of a person.
pub(super) struct Home<'a> {
    pub(super) zip: &'a str,
    region: usize,
}

impl Place {
    pub(super) fn new() -> Self {
        let countries = [0, 1, 2, 3].map(|region| {
            let abroad = BORN_ABROAD.map(|weights| weights[region]);
            let home = 10_000.0 - abroad.iter().sum::<f64>();
            Weighted::new([home].into_iter().chain(abroad))
        });
        let race_abroad = |[_, part, _]: &[&str; 3]| {
            let weights = RACE_ABROAD
                .iter()
                .find(|(name, _)| name == part)
                .map_or([1.0; 5], |(_, weights)| *weights);
            Weighted::new(weights)
        };
        Self {
            zips: zips(),
            crowds: Weighted::zipf((AREAS * ZIPS_PER_AREA) as u16, 8.0),
            countries,
            race_at_home: RACE_AT_HOME.map(Weighted::new),
            race_abroad: COUNTRY.iter().map(race_abroad).collect(),
        }
    }

    #[inline]
    pub(super) fn home(&self, dice: &mut Dice) -> Home<'_> {
        let zip = &self.zips[dice.pick(&self.crowds)];
        Home { zip: &zip.text, region: zip.region }
    }

    /// Draws the country of birth; most children of immigrants were born at home.
    #[inline]
    pub(super) fn country(&self, dice: &mut Dice, home: &Home<'_>, age: u32) -> usize {
        let country = dice.pick(&self.countries[home.region]);
        if age < 18 && dice.chance(0.7) { HOME } else { country }
    }

    #[inline]
    pub(super) fn race(&self, dice: &mut Dice, home: &Home<'_>, country: usize) -> usize {
        if country == HOME {
            dice.pick(&self.race_at_home[home.region])
        } else {
            dice.pick(&self.race_abroad[country])
        }
    }
}

/// The postal codes, from the most to the least populous.
///
/// The first hundred are the centers of the hundred areas, the next hundred their second codes,
/// and so on, so that every area has large and small codes.
fn zips() -> Vec<Zip> {
    (0..AREAS * ZIPS_PER_AREA)
        .map(|rank| {
            let (ring, area) = (rank / AREAS, rank % AREAS);
            let (leading, city) = (LEADING[(area % 10) as usize], area / 10);
            let middle = (10 + city * 11 + leading * 3) % 100;
            let last = 1 + (ring * 13 + city * 7) % 97;
            let region = match leading {
                0 | 1 => 0,
                2 | 3 | 7 => 1,
                4..7 => 2,
                _ => 3,
            };
            Zip { text: format!("{leading}{middle:02}{last:02}"), region }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{RACE_ABROAD, zips};
    use crate::hierarchies::COUNTRY;

    #[test]
    fn zips_are_distinct_and_fill_their_areas() {
        let zips = zips();
        let texts: BTreeSet<&str> = zips.iter().map(|zip| zip.text.as_str()).collect();
        let areas: BTreeSet<&str> = zips.iter().map(|zip| &zip.text[..3]).collect();
        assert_eq!((texts.len(), areas.len()), (900, 100));
        assert!(texts.iter().all(|zip| zip.len() == 5));
    }

    #[test]
    fn every_part_of_the_world_has_its_races() {
        for [country, part, _] in COUNTRY {
            assert!(RACE_ABROAD.iter().any(|(name, _)| *name == part), "{country}");
        }
    }
}
