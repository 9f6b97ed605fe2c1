//! Every format in the list is written, detected from its bytes, and read back as the same table.

use crate::common::{Cell, Style, difference, fold, slow, spec, text, write};
use incrowd_core::Silent;
use incrowd_engine::{FORMATS, Options, copy};

#[test]
fn every_format_is_recognized_by_its_bytes_and_read_back() {
    let (dir, names) = (tempfile::tempdir().unwrap(), ["n", "text"]);
    let texts = ["plain", "ü, \"twice\"", "two\nlines", "tab\there", "{}"];
    let record = |i: usize| vec![Some((i % 3).to_string()), Some(texts[i % 5].to_owned())];
    let records: Vec<Vec<Cell>> = (0..60).map(record).collect();
    let table = write(dir.path(), "table.csv", &text(&names, &records, &Style::PLAIN));
    let spec = spec(&["text", "n"], &[], false);
    let twin = slow(&names, &records, &spec, false);
    for card in FORMATS {
        let ends: &[&str] = if card.compressed { &["", ".gz", ".zst"] } else { &[""] };
        for name in card
            .extensions
            .iter()
            .flat_map(|ext| ends.iter().map(move |end| format!("t.{ext}{end}")))
        {
            // The copy has no extension, so only the bytes determine the format.
            let (written, nameless) = (dir.path().join(&name), dir.path().join("nameless"));
            copy(&table, &written, &Options::default(), &Silent)
                .unwrap_or_else(|e| panic!("{name}: {e}"));
            std::fs::rename(written, &nameless).unwrap();
            let folded = fold(std::slice::from_ref(&nameless), &Options::default(), &spec)
                .unwrap_or_else(|e| {
                    panic!("{name} is not told by its bytes (source/sniff.rs): {e}")
                });
            assert_eq!(difference(&folded, &twin), None, "{name}");
        }
    }
}

/// An extension belongs to one format only.
#[test]
fn no_extension_is_listed_twice() {
    let mut all: Vec<&str> = FORMATS.iter().flat_map(|card| card.extensions).copied().collect();
    all.sort_unstable();
    let listed = all.len();
    all.dedup();
    assert_eq!(all.len(), listed);
}
