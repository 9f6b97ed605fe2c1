//! Compares the output shown on a page with the printed output. A line of `…` matches any number of
//! lines, `…` within a line matches any text.

/// The mark for omitted output.
pub(crate) const GAP: &str = "…";

/// Returns whether a printed line matches the shown line.
fn line(shown: &str, printed: &str) -> bool {
    let (shown, printed) = (shown.trim_end(), printed.trim_end());
    let mut parts = shown.split(GAP);
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = printed.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Returns whether all printed lines match the shown lines.
pub(crate) fn alike(shown: &[&str], printed: &[&str]) -> bool {
    match shown {
        [] => printed.is_empty(),
        [first, rest @ ..] if first.trim() == GAP => {
            (0..=printed.len()).any(|at| alike(rest, &printed[at..]))
        }
        [first, rest @ ..] => match printed {
            [own, more @ ..] => line(first, own) && alike(rest, more),
            [] => false,
        },
    }
}

/// Removes empty lines at both ends.
pub(crate) fn trimmed<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let filled = |line: &&str| !line.trim().is_empty();
    let Some(first) = lines.iter().position(filled) else { return Vec::new() };
    let last = lines.iter().rposition(filled).unwrap_or(first);
    lines[first..=last].to_vec()
}

/// Returns the corrected output of a page: every shown line is replaced by the most similar printed
/// line, in order. Gaps are kept. Printed lines between two shown lines without a gap are added.
pub(crate) fn mended(shown: &[&str], printed: &[&str]) -> Vec<String> {
    if shown.is_empty() || !shown.iter().any(|line| line.contains(GAP)) {
        return printed.iter().map(|line| line.trim_end().to_owned()).collect();
    }
    let kept: Vec<&str> = shown.iter().copied().filter(|line| line.trim() != GAP).collect();
    let places = places(&kept, printed);
    let (mut out, mut next, mut gap, mut of) = (Vec::new(), 0, false, 0);
    for &own in shown {
        if own.trim() == GAP {
            gap = true;
            out.push(own.to_owned());
            continue;
        }
        let place = places[of];
        of += 1;
        let Some(at) = place else { continue };
        if !gap {
            out.extend(printed[next..at].iter().map(|line| line.trim_end().to_owned()));
        }
        out.push(if line(own, printed[at]) { own.to_owned() } else { with_gaps(own, printed[at]) });
        (next, gap) = (at + 1, false);
    }
    if !gap {
        out.extend(printed[next..].iter().map(|line| line.trim_end().to_owned()));
    }
    out
}

/// Returns for each shown line the index of its printed line. The indices increase and maximize the
/// sum of similarities.
fn places(shown: &[&str], printed: &[&str]) -> Vec<Option<usize>> {
    let (n, m) = (shown.len(), printed.len());
    let mut best = vec![vec![0.0; m + 1]; n + 1];
    for i in (0..n).rev() {
        for j in (0..m).rev() {
            let taken = similarity(shown[i], printed[j]) + best[i + 1][j + 1];
            best[i][j] = f64::max(taken, f64::max(best[i + 1][j], best[i][j + 1]));
        }
    }
    let (mut places, mut j) = (Vec::new(), 0);
    for i in 0..n {
        while j < m && best[i][j] == best[i][j + 1] {
            j += 1;
        }
        if j < m && best[i][j] > best[i + 1][j] {
            places.push(Some(j));
            j += 1;
        } else {
            places.push(None);
        }
    }
    places
}

/// Returns the share of common words, from 0 to 1. Two words of digits count as similar.
fn similarity(shown: &str, printed: &str) -> f64 {
    let words = |text: &str| -> Vec<String> {
        text.split_whitespace()
            .map(|word| word.replace(|c: char| c.is_ascii_digit(), "0"))
            .collect()
    };
    let (a, b) = (words(shown), words(printed));
    if a.is_empty() || b.is_empty() {
        return f64::from(u8::from(a.len() == b.len())) * 0.1;
    }
    let common = a.iter().filter(|word| b.contains(word)).count();
    if common == 0 {
        0.0
    } else {
        (common as f64 + f64::from(u8::from(a[0] == b[0]))) / (a.len().max(b.len()) + 1) as f64
    }
}

/// Returns the printed line with the gaps of the shown line.
fn with_gaps(shown: &str, printed: &str) -> String {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let (a, b) = (words(shown), words(printed));
    let mut out = printed.trim_end().to_owned();
    if a.len() == b.len() {
        for (a, b) in a.iter().zip(&b) {
            if a.contains(GAP) {
                out = out.replacen(b.as_str(), a, 1);
            }
        }
    }
    out
}

#[test]
fn gaps_match_anything() {
    let alike = |shown: &str, printed: &str| {
        alike(&shown.lines().collect::<Vec<_>>(), &printed.lines().collect::<Vec<_>>())
    };
    assert!(alike("a\nb  ", "a\nb"));
    assert!(!alike("a", "a\nb"));
    assert!(!alike("a\nb", "a"));
    assert!(
        alike("a\n…", "a")
            && alike("a\n…", "a\nb\nc")
            && alike("…\nc", "a\nb\nc")
            && alike("a\n …\nc", "a\nb\nc")
    );
    assert!(!alike("a\n…\nd", "a\nb\nc"));
    assert!(alike("took … s, k = …", "took 1.5 s, k = 3") && alike("…b…", "b"));
    assert!(!alike("took … s", "took 1.5 seconds") && !alike("a…a", "a"));
}

#[test]
fn corrected_output_matches_and_keeps_its_gaps() {
    let mend = |shown: &str, printed: &str| {
        let printed: Vec<&str> = printed.lines().collect();
        let mended = mended(&shown.lines().collect::<Vec<_>>(), &printed);
        let lines: Vec<&str> = mended.iter().map(String::as_str).collect();
        assert!(alike(&lines, &printed), "{mended:?}");
        mended.join("\n")
    };
    assert_eq!(mend("", "x\ny"), "x\ny");
    assert_eq!(
        mend("release 5 of 7\n…\nverify 3 holds", "release 6 of 7\na\nb\nverify 4 holds"),
        "release 6 of 7\n…\nverify 4 holds"
    );
    assert_eq!(mend("a 1\n…", "a 2\nnew\nc"), "a 2\n…");
    assert_eq!(mend("took … s for 3", "took 1 s for 4"), "took … s for 4");
    assert_eq!(mend("gone\n…\nstays 1", "other\nstays 2"), "…\nstays 2");
}
