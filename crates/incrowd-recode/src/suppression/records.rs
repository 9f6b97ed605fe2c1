//! Selects the records to suppress, uniformly among the records of a value and independently of the
//! input order.
//!
//! Every record of a value gets a secret number. It follows from the record's texts and, among
//! records with equal texts, from a sequence number. The records with the smallest numbers are
//! suppressed. Such a subset is uniform, does not depend on the order of the rows, and is the same
//! whenever the same table is read.

use incrowd_core::{Folded, MISSING};
use rayon::prelude::*;

use super::chance::Secret;

/// Returns the number of records of each row to suppress, so that `quota[value]` records of each
/// value are suppressed. `value_of` maps each code of `column` to a value.
pub fn choose(
    folded: &Folded,
    column: usize,
    value_of: &[u32],
    quota: &[u64],
    secret: &Secret,
) -> Vec<u64> {
    let mut out = vec![0; folded.rows()];
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); quota.len()];
    for row in 0..folded.rows() {
        let value = value_of[folded.row(row)[column] as usize] as usize;
        if quota[value] > 0 {
            rows[value].push(row as u32);
        }
    }
    let texts = text_digests(folded, secret);
    for (value, rows) in rows.into_iter().enumerate().filter(|(_, rows)| !rows.is_empty()) {
        let mut numbers: Vec<(u64, u32)> = rows
            .par_chunks(4096)
            .flat_map_iter(|rows| {
                let (mut bytes, mut drawn) = (Vec::new(), Vec::new());
                let mut all = Vec::with_capacity(rows.len());
                for &row in rows {
                    bytes.clear();
                    for (&code, texts) in folded.row(row as usize).iter().zip(&texts) {
                        bytes.extend_from_slice(&texts[code as usize]);
                    }
                    drawn.clear();
                    secret.numbers(&bytes, &mut drawn, folded.weights[row as usize]);
                    all.extend(drawn.iter().map(|&number| (number, row)));
                }
                all
            })
            .collect();
        let quota = (quota[value] as usize).min(numbers.len());
        if quota < numbers.len() && quota > 0 {
            // Ties, which are very rare, are broken by the texts of the rows.
            numbers.select_nth_unstable_by(quota - 1, |a, b| {
                a.0.cmp(&b.0).then_with(|| by_text(folded, a.1, b.1))
            });
        }
        numbers[..quota].iter().for_each(|&(_, row)| out[row as usize] += 1);
    }
    out
}

fn by_text(folded: &Folded, a: u32, b: u32) -> std::cmp::Ordering {
    let texts = |row: u32| {
        let cells = folded.row(row as usize).iter().zip(&folded.columns);
        cells.map(|(&code, column)| (code != MISSING, &column.texts[code as usize]))
    };
    texts(a).cmp(texts(b))
}

/// Returns a short keyed digest of every text. Codes depend on the order in which threads read the
/// table; texts do not.
fn text_digests(folded: &Folded, secret: &Secret) -> Vec<Vec<[u8; 8]>> {
    let digest = |(code, text): (usize, &String)| {
        let kind: &[u8] = if code as u32 == MISSING { b"missing" } else { b"text" };
        let digest = secret.digest([kind, text.as_bytes()]);
        let mut short = [0; 8];
        short.copy_from_slice(&digest[..8]);
        short
    };
    folded
        .columns
        .iter()
        .map(|column| column.texts.iter().enumerate().map(digest).collect())
        .collect()
}
