//! Independent implementations of the definitions of all models, applied to a release as the csv
//! crate reads it.

use std::collections::BTreeMap;

use incrowd::Value;

/// A decimal parameter of a model, as a fraction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ratio(pub(crate) i128, pub(crate) i128);

impl Ratio {
    pub(crate) fn value(self) -> Value {
        Value::Real(self.0 as f64 / self.1 as f64)
    }

    fn float(self) -> f64 {
        self.0 as f64 / self.1 as f64
    }

    /// Returns whether `part / whole` is at most this.
    fn at_most(self, part: i128, whole: i128) -> bool {
        part * self.1 <= self.0 * whole
    }
}

/// A model with its parameters, in integers.
#[derive(Clone, Debug)]
pub(crate) enum Ask {
    K(u64),
    Distinct(u64),
    Entropy(u64),
    Recursive(u64, Ratio),
    Equal(Ratio),
    Ordered(Ratio),
    Hierarchical(Ratio),
    Alpha(Ratio, u64, Option<&'static str>),
    Range(u64, i128),
    Proximity(Ratio, u64, bool),
    Likeness(Ratio, bool),
    Disclosure(Ratio),
    Map(u64),
    Presence(Ratio, Ratio),
    Sensitive(u64, u64),
}

/// The data of one group that a model needs: its sensitive values and the people whom its cells
/// cover.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    pub(crate) values: Vec<String>,
    pub(crate) people: u64,
}

impl Ask {
    /// Returns the model's name and parameters; `on` is the sensitive column, if it has one.
    pub(crate) fn privacy_model(&self, on: &str) -> (&'static str, Vec<(&'static str, Value)>) {
        let n = |x: u64| Value::Integer(x as i64);
        let word = |w: &str| Value::Word(w.to_owned());
        let (name, mut params) = match *self {
            Ask::K(k) => return ("k-anonymity", vec![("k", n(k))]),
            Ask::Map(k) => return ("k-map", vec![("k", n(k))]),
            Ask::Presence(min, max) => {
                return (
                    "delta-presence",
                    vec![("delta_min", min.value()), ("delta_max", max.value())],
                );
            }
            Ask::Distinct(l) => ("l-diversity", vec![("l", n(l))]),
            Ask::Entropy(l) => ("l-diversity", vec![("l", n(l)), ("kind", word("entropy"))]),
            Ask::Recursive(l, c) => {
                ("l-diversity", vec![("l", n(l)), ("kind", word("recursive")), ("c", c.value())])
            }
            Ask::Equal(t) => ("t-closeness", vec![("t", t.value())]),
            Ask::Ordered(t) => {
                ("t-closeness", vec![("t", t.value()), ("distance", word("ordered"))])
            }
            Ask::Hierarchical(t) => {
                ("t-closeness", vec![("t", t.value()), ("distance", word("hierarchical"))])
            }
            Ask::Alpha(alpha, k, value) => {
                let values = Value::Words(value.map(str::to_owned).into_iter().collect());
                (
                    "alpha-k-anonymity",
                    vec![("alpha", alpha.value()), ("k", n(k)), ("values", values)],
                )
            }
            Ask::Range(k, e) => ("k-e-anonymity", vec![("k", n(k)), ("e", Value::Real(e as f64))]),
            Ask::Proximity(epsilon, m, relative) => {
                let way = word(if relative { "relative" } else { "absolute" });
                (
                    "epsilon-m-anonymity",
                    vec![("epsilon", epsilon.value()), ("m", n(m)), ("neighbourhood", way)],
                )
            }
            Ask::Likeness(beta, enhanced) => {
                let kind = word(if enhanced { "enhanced" } else { "basic" });
                ("beta-likeness", vec![("beta", beta.value()), ("kind", kind)])
            }
            Ask::Disclosure(delta) => ("delta-disclosure", vec![("delta", delta.value())]),
            Ask::Sensitive(p, k) => ("p-sensitive", vec![("p", n(p)), ("k", n(k))]),
        };
        params.push(("on", word(on)));
        (name, params)
    }

    /// Returns whether the sensitive column must be numeric.
    pub(crate) fn about_numbers(&self) -> bool {
        matches!(self, Ask::Ordered(_) | Ask::Range(..) | Ask::Proximity(..))
    }

    pub(crate) fn about_people(&self) -> bool {
        matches!(self, Ask::Map(_) | Ask::Presence(..))
    }

    /// Returns whether the model survives merging groups.
    pub(crate) fn survives_merging(&self) -> bool {
        !matches!(self, Ask::Proximity(..) | Ask::Presence(..))
    }

    /// Returns whether a group satisfies the model in a release with these values. A group without
    /// values consists of the people whom no group covers.
    pub(crate) fn keeps(&self, group: &Group, whole: &[String]) -> bool {
        let (own, all) = (tally(&group.values), tally(whole));
        let (n, total) = (group.values.len() as i128, whole.len() as i128);
        let outside = n == 0;
        if outside && !self.about_people() {
            return true;
        }
        let mut sorted: Vec<i128> = own.values().copied().collect();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        let count = |value: &String| own.get(value).copied().unwrap_or(0);
        let numbers = || group.values.iter().map(|v| hundredths(v)).collect::<Vec<i128>>();
        match *self {
            Ask::K(k) => n >= i128::from(k),
            Ask::Distinct(l) => own.len() as u64 >= l,
            Ask::Entropy(l) => {
                let sum: f64 = sorted.iter().map(|&r| r as f64 * (r as f64 / n as f64).ln()).sum();
                -sum / n as f64 >= (l as f64).ln() - 1e-12
            }
            Ask::Recursive(l, c) => {
                let rarer: i128 = sorted.iter().skip(l as usize - 1).sum();
                sorted[0] * c.1 < c.0 * rarer
            }
            Ask::Equal(t) => {
                let work: i128 = all.iter().map(|(v, &q)| (count(v) * total - q * n).abs()).sum();
                t.at_most(work, 2 * n * total)
            }
            Ask::Ordered(t) => {
                let mut order: Vec<&String> = all.keys().collect();
                order.sort_by_key(|v| hundredths(v));
                let (mut below, mut work) = (0, 0);
                for value in &order {
                    below += count(value) * total - all[*value] * n;
                    work += below.abs();
                }
                t.at_most(work, (order.len() as i128 - 1).max(1) * n * total)
            }
            Ask::Hierarchical(t) => {
                let extra = |v: &str| {
                    let q = all.get(v).copied().unwrap_or(0);
                    own.get(v).copied().unwrap_or(0) * total - q * n
                };
                // Two diseases below the same node.
                let (flu, cold) = (extra("flu"), extra("cold"));
                let settled = if (flu > 0) == (cold > 0) { 0 } else { flu.abs().min(cold.abs()) };
                let mut tops = vec![flu + cold];
                tops.extend(all.keys().filter(|v| *v != "flu" && *v != "cold").map(|v| extra(v)));
                let moved: i128 = tops.iter().filter(|x| **x > 0).sum();
                t.at_most(settled + 2 * moved, 2 * n * total)
            }
            Ask::Alpha(alpha, k, value) => {
                let about = own.iter().filter(|(v, _)| value.is_none_or(|value| value == *v));
                let most = about.map(|(_, &c)| c).max().unwrap_or(0);
                n >= i128::from(k) && alpha.at_most(most, n)
            }
            Ask::Range(k, e) => {
                let numbers = numbers();
                let span = numbers.iter().max().unwrap() - numbers.iter().min().unwrap();
                own.len() as u64 >= k && span >= 100 * e
            }
            Ask::Proximity(epsilon, m, relative) => {
                let numbers = numbers();
                let near = |x: i128, y: i128| {
                    let width = if relative { x.abs() } else { 100 };
                    (x - y).abs() * epsilon.1 <= epsilon.0 * width
                };
                let most =
                    numbers.iter().map(|&x| numbers.iter().filter(|&&y| near(x, y)).count()).max();
                most.unwrap() as i128 * i128::from(m) <= n
            }
            Ask::Likeness(beta, enhanced) => own.iter().all(|(v, &c)| {
                let (gained, base) = (c * total - all[v] * n, all[v] * n);
                let cap = (total as f64 / all[v] as f64).ln();
                gained <= 0
                    || (beta.at_most(gained, base)
                        && (!enhanced || gained as f64 / base as f64 <= cap))
            }),
            Ask::Disclosure(delta) => all.iter().all(|(v, &q)| {
                let ratio = (count(v) * total) as f64 / (q * n) as f64;
                ratio.ln().abs() < delta.float()
            }),
            Ask::Map(k) => outside || group.people >= k,
            Ask::Presence(min, max) => {
                let people = i128::from(group.people);
                if outside {
                    people == 0 || min.0 == 0
                } else {
                    people > 0 && max.at_most(n, people) && min.0 * people <= n * min.1
                }
            }
            Ask::Sensitive(p, k) => own.len() as u64 >= p && n >= i128::from(k),
        }
    }
}

/// Returns the frequency of each value; spellings of one number are one value.
fn tally(values: &[String]) -> BTreeMap<String, i128> {
    let mut counts = BTreeMap::new();
    for value in values {
        let one = value.trim().parse::<f64>().map_or(value.clone(), |x| (x + 0.0).to_string());
        *counts.entry(one).or_default() += 1;
    }
    counts
}

fn hundredths(text: &str) -> i128 {
    (text.trim().parse::<f64>().unwrap() * 100.0).round() as i128
}
