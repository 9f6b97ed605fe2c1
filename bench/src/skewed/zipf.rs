//! The examples of the paper, and its Zipf tables.

use incrowd::front_end::recode::suppression::levels::{cut, safe_stop, stop};
use incrowd::front_end::recode::suppression::{Rule, Way};

use super::Options;
use super::rates::{Rates, header, plot, rates, row};

/// β = 1000 and 20 values.
pub(super) fn zipf(alpha: f64) -> Vec<u64> {
    (1..=20).map(|i| ((1000.0 / f64::from(i).powf(alpha) + 1e-9).floor() as u64).max(1)).collect()
}

pub(super) fn examples() {
    println!("### Examples 1 to 4 (R1, R2)\n\n| what | paper | ours |\n|---|---|---|");
    let table = [10, 4, 2, 1, 1];
    let (lower, safe) = (stop(&table, 18, 3), safe_stop(&table, 3));
    println!(
        "| Unsafe D-suppression | 6 withheld, {{4,4,2,1,1}} | {} withheld, {:?} |",
        lower.cuts,
        cut(&table, lower)
    );
    println!(
        "| Safe D-suppression | 10 withheld, {{2,2,2,1,1}} | {} withheld, {:?} |",
        safe.cuts,
        cut(&table, safe)
    );
    let reduced = [4, 3, 2, 1, 1];
    println!(
        "| R-suppression, h = 2, F = 3 | {{3,3,2,1,1}} | {:?} |",
        cut(&reduced, stop(&reduced, 18, 3))
    );
    let mean = Rule { way: Way::Random, l: 3, complete_level: false }.expected(&table);
    println!("| R-suppression on average | not stated | {mean:.3} withheld |");
}

pub(super) fn by_alpha(options: &Options) -> Result<(), String> {
    println!("\n### Zipf tables by α: β = 1000, 20 values, l = 5; withheld, % (R3, R4)\n");
    println!(
        "Paper: no violation for α < 0.8; more is withheld as α grows; R-suppression is near Unsafe and about 20 % below Safe.\n"
    );
    let alphas = [0.5, 0.7, 0.75, 0.76, 0.8, 0.9, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0];
    let all: Vec<Option<Rates>> = alphas.iter().map(|&alpha| rates(&zipf(alpha), 5)).collect();
    header("α");
    alphas.iter().zip(&all).for_each(|(alpha, &rates)| row(&alpha.to_string(), rates));
    plot(options, "skewed-alpha", "α", &alphas.map(|a| a.to_string()), &all)
}

pub(super) fn by_l(options: &Options) -> Result<(), String> {
    println!("\n### Zipf tables by l: α = 1; withheld, % (R5)\n");
    println!("Paper: Unsafe falls from l = 4 to 6 and rises to 10.\n");
    let ls: Vec<u64> = (2..=10).collect();
    let all: Vec<Option<Rates>> = ls.iter().map(|&l| rates(&zipf(1.0), l)).collect();
    header("l");
    ls.iter().zip(&all).for_each(|(l, &rates)| row(&l.to_string(), rates));
    let labels: Vec<String> = ls.iter().map(u64::to_string).collect();
    plot(options, "skewed-l", "l", &labels, &all)
}
