//! A table depends only on its kind, its number of rows and its seed.

use incrowd_synth::{Synth, Table};

fn csv(table: Table, rows: u64, seed: u64) -> Vec<u8> {
    let mut csv = Vec::new();
    Synth::new(table, rows, seed).write_csv(&mut csv).expect("vectors take all");
    csv
}

/// The FNV-1a hash, which detects a changed byte.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[test]
fn equal_seeds_give_equal_bytes() {
    for table in Table::ALL {
        assert!(csv(table, 20_000, 3) == csv(table, 20_000, 3), "{table}");
        assert!(csv(table, 20_000, 3) != csv(table, 20_000, 4), "{table}");
    }
}

#[test]
fn a_short_table_begins_a_long_one() {
    for table in Table::ALL {
        let long = csv(table, 10_000, 9);
        for rows in [0, 1, 1000, 4095, 4096, 4097, 9999] {
            assert!(long.starts_with(&csv(table, rows, 9)), "{table} {rows}");
        }
    }
}

/// Published numbers refer to tables by seed, so the bytes must not change by accident.
#[test]
fn the_bytes_are_the_known_ones() {
    assert_eq!(hash(&csv(Table::Census, 5000, 1)), 0x772b_cd2a_cdf9_e76d, "census");
    assert_eq!(hash(&csv(Table::Skewed, 5000, 1)), 0x4b4a_812f_9876_e202, "skewed");
}

#[test]
fn lines_are_plain_csv() {
    for table in Table::ALL {
        let text = String::from_utf8(csv(table, 5000, 2)).expect("text is ASCII");
        let names: Vec<_> = table.columns().iter().map(|column| column.name).collect();
        assert_eq!(text.lines().next(), Some(names.join(",").as_str()));
        assert_eq!(text.lines().count(), 5001);
        assert!(text.ends_with('\n') && !text.contains(['"', '\r', ';', '\'']));
        assert!(text.lines().all(|line| line.split(',').count() == names.len()));
    }
}

#[test]
fn records_are_the_lines() {
    for table in Table::ALL {
        let text = String::from_utf8(csv(table, 5000, 8)).expect("text is ASCII");
        let lines = text.lines().skip(1).map(str::to_owned);
        assert!(
            Synth::new(table, 5000, 8).records().map(|record| record.join(",")).eq(lines),
            "{table}"
        );
    }
}

#[test]
fn progress_adds_up_to_the_rows() {
    for rows in [0, 1, 4096, 50_000] {
        let mut seen = 0;
        Synth::new(Table::Skewed, rows, 1)
            .write_csv_with(&mut Vec::new(), &mut |more| seen += more)
            .expect("vectors take all");
        assert_eq!(seen, rows);
    }
}

#[test]
fn tables_are_found_by_name() {
    for table in Table::ALL {
        assert_eq!(table.name().parse(), Ok(table));
    }
    let error = "nobody".parse::<Table>().expect_err("there is no such table");
    assert_eq!(
        error.to_string(),
        "there is no synthetic table `nobody` (known: census, skewed, salaries)"
    );
}
