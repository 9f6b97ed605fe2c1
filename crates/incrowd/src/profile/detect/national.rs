//! Numbers that states, banks and hospitals assign to one person each.
//!
//! Most have a check digit. An arbitrary number passes such a check by chance, for Luhn's with
//! probability 1/10. The probability that nine tenths of at least ten distinct numbers pass is
//! below one in ten million. With a matching column name half of them are enough, because tables
//! have typing errors.

use super::{ColumnFacts, Finding};
use crate::job::RoleName;

/// Returns the digits of a text that has only digits and separators.
fn digits(text: &str, separators: &[char]) -> Option<Vec<u32>> {
    text.trim().chars().filter(|c| !separators.contains(c)).map(|c| c.to_digit(10)).collect()
}

/// Luhn's check: every second digit from the right is doubled. Card numbers have 13 to 19 digits.
fn is_card(text: &str) -> bool {
    let Some(digits) = digits(text, &[' ', '-']).filter(|d| (13..=19).contains(&d.len())) else {
        return false;
    };
    let doubled =
        |(i, d): (usize, &u32)| if i % 2 == 0 { *d } else { d * 2 - if *d > 4 { 9 } else { 0 } };
    digits.iter().rev().enumerate().map(doubled).sum::<u32>() % 10 == 0
        && digits.iter().any(|&d| d > 0)
}

/// ISO 13616: country, two check digits, account. With the first four characters moved to the end,
/// the number modulo 97 is 1.
fn is_iban(text: &str) -> bool {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let shape = |(i, c): (usize, char)| match i {
        0 | 1 => c.is_ascii_uppercase(),
        2 | 3 => c.is_ascii_digit(),
        _ => c.is_ascii_alphanumeric(),
    };
    if !(15..=34).contains(&text.len()) || !text.chars().enumerate().all(shape) {
        return false;
    }
    let moved = text[4..].chars().chain(text[..4].chars());
    let rest = moved
        .filter_map(|c| c.to_digit(36))
        .fold(0, |rest: u32, d| (rest * if d > 9 { 100 } else { 10 } + d) % 97);
    rest == 1
}

/// US Social Security: 3-2-4 digits, without groups that are never assigned. There is no check
/// digit, so the dashes are required.
fn is_ssn(text: &str) -> bool {
    let parts: Vec<&str> = text.trim().split('-').collect();
    let [area, group, serial] = parts[..] else { return false };
    let number = |part: &str, length: usize| {
        (part.len() == length && part.bytes().all(|b| b.is_ascii_digit()))
            .then(|| part.parse::<u32>().ok())
            .flatten()
    };
    match (number(area, 3), number(group, 2), number(serial, 4)) {
        (Some(area), Some(group), Some(serial)) => {
            area != 0 && area != 666 && area < 900 && group != 0 && serial != 0
        }
        _ => false,
    }
}

/// The UK's NHS number: ten digits, weights 10 to 2, modulo 11.
fn is_nhs(text: &str) -> bool {
    let Some(d) = digits(text, &[' ', '-']).filter(|d| d.len() == 10) else { return false };
    let sum: u32 = d[..9].iter().zip((2..=10).rev()).map(|(d, w)| d * w).sum();
    (11 - sum % 11) % 11 == d[9] && d[..9].iter().any(|&x| x > 0)
}

/// The Dutch BSN: nine digits, weights 9 to 2 and −1, a multiple of 11.
fn is_bsn(text: &str) -> bool {
    let Some(d) = digits(text, &[' ', '.']).filter(|d| d.len() == 9) else { return false };
    let sum: i64 = d[..8].iter().zip((2..=9).rev()).map(|(d, w)| i64::from(*d) * w).sum();
    (sum - i64::from(d[8])) % 11 == 0 && d.iter().any(|&x| x > 0)
}

/// The Spanish DNI: eight digits and the letter for their remainder modulo 23.
fn is_dni(text: &str) -> bool {
    let text = text.trim().replace('-', "");
    let Some((number, letter)) = text.split_at_checked(8) else { return false };
    let rest =
        number.bytes().all(|b| b.is_ascii_digit()).then(|| number.parse::<usize>().ok()).flatten();
    rest.is_some_and(|n| letter == &"TRWAGMYFPDXBNJZSQVHLCKE"[n % 23..=n % 23])
}

/// The French NIR: thirteen digits and a key, which is 97 minus their remainder modulo 97.
fn is_nir(text: &str) -> bool {
    let Some(d) = digits(text, &[' ']).filter(|d| d.len() == 15 && [1, 2].contains(&d[0])) else {
        return false;
    };
    let number = |d: &[u32]| d.iter().fold(0u64, |n, &d| n * 10 + u64::from(d));
    97 - number(&d[..13]) % 97 == number(&d[13..])
}

/// The Polish PESEL: eleven digits, weights 1, 3, 7, 9.
fn is_pesel(text: &str) -> bool {
    let Some(d) = digits(text, &[]).filter(|d| d.len() == 11) else { return false };
    let weights = [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1];
    d.iter().zip(weights).map(|(d, w)| d * w).sum::<u32>() % 10 == 0 && d.iter().any(|&x| x > 0)
}

/// The Brazilian CPF: nine digits and two check digits modulo 11.
fn is_cpf(text: &str) -> bool {
    let Some(d) = digits(text, &['.', '-']).filter(|d| d.len() == 11) else { return false };
    let check = |n: usize| {
        let sum: u32 = d[..n].iter().zip((2..=n as u32 + 1).rev()).map(|(d, w)| d * w).sum();
        (sum * 10 % 11 % 10) == d[n]
    };
    check(9) && check(10) && d.iter().any(|&x| x != d[0])
}

/// Returns whether a text is such a number.
type Fits = fn(&str) -> bool;

/// A check, its subject, and parts of matching column names.
type Check = (Fits, &'static str, &'static [&'static str]);

const CHECKS: &[Check] = &[
    (is_iban, "bank account numbers (IBAN, the check digits fit)", &["iban", "account", "konto"]),
    (is_card, "card numbers (Luhn's check digit fits)", &["card", "credit", "pan"]),
    (is_ssn, "US Social Security numbers", &["ssn", "social"]),
    (is_nir, "French social security numbers (the key fits)", &["nir", "secu"]),
    (is_dni, "Spanish identity numbers (the letter fits)", &["dni", "nif"]),
    (is_pesel, "Polish PESEL numbers (the check digit fits)", &["pesel"]),
    (is_cpf, "Brazilian CPF numbers (the check digits fit)", &["cpf"]),
    (is_nhs, "NHS numbers (the check digit fits)", &["nhs"]),
    (is_bsn, "Dutch citizen service numbers (the check digit fits)", &["bsn", "sofi"]),
];

pub(super) fn detect(column: &ColumnFacts<'_>) -> Option<Finding> {
    for (fits, what, names) in CHECKS {
        let share = column.share(fits);
        let named = column.name_has(names) && share >= 0.5;
        if named || (share >= 0.9 && column.values.len() >= 10) {
            return Finding::sure(RoleName::Identifier, format!("holds {what}"));
        }
    }
    let names = [
        "ssn",
        "socialsecurity",
        "passport",
        "nationalid",
        "taxid",
        "driverslicen",
        "licenseplate",
        "iban",
    ];
    (column.name_has(&names) && column.variety() > 0.2)
        .then(|| Finding::sure(RoleName::Identifier, "is named like a number that one person has"))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::super::tests::judged;
    use super::*;

    /// Public examples from the standards and the issuers' documentation, and each with one digit
    /// changed.
    #[test]
    fn check_digits_fit_and_others_do_not() {
        let cases: [(Fits, &str, &str); 9] = [
            (is_card, "4111 1111 1111 1111", "4111 1111 1111 1112"),
            (is_iban, "GB82 WEST 1234 5698 7654 32", "GB82 WEST 1234 5698 7654 33"),
            (is_ssn, "123-45-6789", "666-45-6789"),
            (is_nhs, "943 476 5919", "943 476 5918"),
            (is_bsn, "111222333", "111222334"),
            (is_dni, "12345678Z", "12345678A"),
            (is_nir, "2 55 08 14 168 025 38", "2 55 08 14 168 025 39"),
            (is_pesel, "44051401359", "44051401358"),
            (is_cpf, "529.982.247-25", "529.982.247-26"),
        ];
        for (fits, good, bad) in cases {
            assert!(fits(good), "{good}");
            assert!(
                !fits(bad) && !fits("") && !fits("0000000000") && !fits("flu") && !fits("½½½½"),
                "{bad}"
            );
        }
    }

    #[test]
    fn a_few_chance_matches_are_no_cards() {
        let lucky = ["4111111111111111", "4111111111111111"];
        assert_ne!(judged("amount", &lucky).0, RoleName::Identifier);
        let ssn: Vec<String> =
            (1..60).map(|i| format!("{:03}-{:02}-{:04}", i + 100, i, 1000 + i)).collect();
        let ssn: Vec<&str> = ssn.iter().map(String::as_str).collect();
        assert_eq!(judged("x", &ssn), (RoleName::Identifier, true));
    }
}
