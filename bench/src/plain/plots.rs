//! Loss and group size against k, p and d.

use std::path::Path;

use super::measure::{Ask, Run, measure};
use super::table::{SERIES_B, adult_table};
use crate::chart::{Chart, Line};

/// Loss and group size against k, p and d, on a sample of Adult.
pub(super) fn plots(data: &Path, path: &Path, dir: &Path) -> Result<(), String> {
    let sample = adult_table(data, path, &SERIES_B, "occupation")?.sample(2000, 7)?;
    let draw = |name: &str,
                axis: &str,
                xs: &[f64],
                ask: &dyn Fn(f64) -> Ask<'static>|
     -> Result<(), String> {
        let (mut loss, mut size) = (Vec::new(), Vec::new());
        for method in ["expc-plus", "remove-outliers"] {
            let mut runs = Vec::new();
            for &x in xs {
                runs.push((x, measure(&sample, &ask(x), method, true)?));
            }
            let of = |of: &dyn Fn(&Run) -> f64| runs.iter().map(|(x, run)| (*x, of(run))).collect();
            loss.push(Line { name: method.to_owned(), points: of(&|r| r.per_column) });
            size.push(Line { name: method.to_owned(), points: of(&|r| r.group) });
        }
        let chart =
            |y: &str, lines: Vec<Line>| Chart { x: axis.to_owned(), y: y.to_owned(), lines }.svg();
        std::fs::write(dir.join(format!("plain-loss-{name}.svg")), chart("loss per column", loss))
            .map_err(|e| e.to_string())?;
        std::fs::write(dir.join(format!("plain-group-{name}.svg")), chart("average group", size))
            .map_err(|e| e.to_string())
    };
    let base = Ask { k: 5, p: 0.8, d: 0.85, attributes: &[] };
    draw("k", "k", &[2.0, 3.0, 5.0, 8.0, 10.0, 12.0], &|k| Ask { k: k as i64, ..base })?;
    draw("p", "p", &[0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0], &|p| Ask { p, ..base })?;
    draw("d", "d", &[0.7, 0.8, 0.85, 0.9, 1.0, 1.1, 1.2], &|d| Ask { d, ..base })
}
