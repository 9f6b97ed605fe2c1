//! Which records of a value go: each equally likely, whatever the order of the input.
//!
//! Every record of a value gets a secret number that follows from what the record says and, among records that say the same,
//! from its turn. Those with the smallest numbers go. A subset chosen so is uniform, needs no order of the rows, and is the
//! same whenever the same table is read.

use incrowd_core::{Folded, MISSING};
use rayon::prelude::*;

use super::chance::Secret;

/// How many records of each row go, so that `quota[value]` records of each value do. `value_of` is the value of each code of
/// `column`.
pub fn choose(folded: &Folded, column: usize, value_of: &[u32], quota: &[u64], secret: &Secret) -> Vec<u64> {
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
        let going = (quota[value] as usize).min(numbers.len());
        if going < numbers.len() && going > 0 {
            // Equal numbers, of which there are hardly ever two, are told apart by the texts of their rows.
            numbers.select_nth_unstable_by(going - 1, |a, b| {
                a.0.cmp(&b.0).then_with(|| by_text(folded, a.1, b.1))
            });
        }
        numbers[..going].iter().for_each(|&(_, row)| out[row as usize] += 1);
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

/// A short keyed digest of every text: codes depend on who read first, texts do not.
fn text_digests(folded: &Folded, secret: &Secret) -> Vec<Vec<[u8; 8]>> {
    let digest = |(code, text): (usize, &String)| {
        let kind: &[u8] = if code as u32 == MISSING { b"missing" } else { b"text" };
        let digest = secret.digest([kind, text.as_bytes()]);
        let mut short = [0; 8];
        short.copy_from_slice(&digest[..8]);
        short
    };
    folded.columns.iter().map(|column| column.texts.iter().enumerate().map(digest).collect()).collect()
}
