//! The knowledge of an adversary about the dominant value, from one release and from two.

use incrowd::eligibility::{self, Mechanism, Prior, Survey, survey};
use incrowd::front_end::recode::suppression::{Rule, Secret, Way};

use super::zipf::zipf;

pub(super) fn posteriors() {
    println!("\n### What an adversary learns: enumeration of all tables\n");
    println!("Paper: the best guess of the dominant value is right with at most 1/l.\n");
    println!(
        "| records, values, l | 1/l | prior | method | best guess is right | worst release | releases over 1/l, % |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (n, m, l) in [(12, 4, 3), (18, 5, 3), (18, 4, 2), (24, 5, 3), (24, 6, 4), (24, 4, 4)] {
        for (prior_name, prior) in Prior::ALL {
            for (name, complete) in [
                ("unsafe-d", false),
                ("r-suppression", false),
                ("r-suppression", true),
                ("safe-d", false),
            ] {
                let Some(mechanism) = Mechanism::named(name, l, complete) else { continue };
                let Survey { success, worst, over, .. } = survey(mechanism, prior, n, m);
                let name = if name == "r-suppression" && !complete {
                    "r-suppression (paper)"
                } else {
                    name
                };
                println!(
                    "| {n}, {m}, {l} | {:.3} | {prior_name} | {name} | {success:.3} | {worst:.3} | {:.0} |",
                    1.0 / l as f64,
                    100.0 * over
                );
            }
        }
    }
    let example = Mechanism::named("r-suppression", 3, false);
    if let Some(mechanism) = example {
        let release = [3, 3, 2, 1, 1];
        println!("\nExample 5, {{3,3,2,1,1}} of 18 records, l = 3. Paper: 1/3, 1/3, 1/3.\n");
        println!(
            "| prior | posterior of the values with 3 records | with 2 | with 1 |\n|---|---|---|---|"
        );
        let print = |name: &str, posterior: Option<eligibility::Posterior>| {
            if let Some(p) = posterior {
                println!("| {name} | {:.3} each | {:.3} | {:.3} each |", p.of(3), p.of(2), p.of(1));
            }
        };
        print("flat", eligibility::exact(mechanism, Prior::Flat, &release, 18));
        print("multinomial", eligibility::exact(mechanism, Prior::Multinomial, &release, 18));
        print("shape known", eligibility::shape_known(mechanism, &[10, 4, 2, 1, 1], &release));
    }
}

/// Two independent draws for one table: the value whose count changed is guessed as dominant.
pub(super) fn again() {
    const PAIRS: u32 = 2_000;
    println!("\n### A second, independent release of the same table (W1; {PAIRS} pairs)\n");
    println!(
        "| table | l | right from one release (most frequent) | right from two (which count moved) |\n|---|---|---|---|"
    );
    let tables: [(&str, Vec<u64>, u64); 2] =
        [("Zipf, α = 1", zipf(1.0), 5), ("{10,4,2,1,1}", vec![10, 4, 2, 1, 1], 3)];
    for (name, counts, l) in tables {
        let rule = Rule { way: Way::Random, l, complete_level: false };
        let (mut one, mut two) = (0.0, 0.0);
        for pair in 0..PAIRS {
            let draw = |seed: u32| {
                let secret = Secret::of_seed(u64::from(seed));
                rule.cut(&counts, &mut || secret.dice()).map(|cut| cut.kept).unwrap_or_default()
            };
            let (a, b) = (draw(2 * pair), draw(2 * pair + 1));
            let share = |guess: &dyn Fn(usize) -> bool| {
                let guessed = (0..a.len()).filter(|&i| guess(i)).count().max(1) as f64;
                if guess(0) { 1.0 / guessed } else { 0.0 }
            };
            let top = a.iter().copied().max().unwrap_or(0);
            one += share(&|i| a[i] == top);
            let moved = (0..a.len()).map(|i| a[i].abs_diff(b[i])).max().unwrap_or(0);
            two += share(&|i| if moved == 0 { a[i] == top } else { a[i].abs_diff(b[i]) == moved });
        }
        println!(
            "| {name} | {l} | {:.2} | {:.2} |",
            one / f64::from(PAIRS),
            two / f64::from(PAIRS)
        );
    }
    println!(
        "\nThe draws of a release follow from a key, so a repeat is the same release and tells nothing new."
    );
}
