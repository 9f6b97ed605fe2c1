//! A number for every pair of columns: the stronger, the darker.

use plotters::prelude::*;

use super::{AFTER, Anchor, Area, Drawn, INK, RULE, fitted, svg, write};

/// Numbers from 0 to 1 for pairs of names; only one of each pair is drawn.
#[derive(Clone, Debug)]
pub(crate) struct Matrix {
    pub(crate) names: Vec<String>,
    /// For each pair `(a, b)` with `a < b`.
    pub(crate) values: Vec<((usize, usize), f64)>,
}

const LABELS: i32 = 150;
const ROOM: i32 = 400;

impl Matrix {
    fn cell(&self) -> i32 {
        (ROOM / self.names.len().max(2) as i32 - 1).clamp(10, 44)
    }

    pub(crate) fn svg(&self, title: &str, description: &str) -> String {
        let side = self.cell() * self.names.len().saturating_sub(1) as i32;
        let size = ((LABELS + side + 6) as u32, (side + 30) as u32);
        svg(size, title, description, |area| self.draw(area))
    }

    fn draw(&self, area: &Area<'_>) -> Drawn {
        let cell = self.cell();
        for &((a, b), value) in &self.values {
            // Columns across, rows downwards from the second name on: a lower triangle.
            let (x, y) = (LABELS + cell * a as i32, cell * (b as i32 - 1) + 2);
            let square = [(x, y), (x + cell - 2, y + cell - 2)];
            area.draw(&Rectangle::new(square, RULE.filled()))?;
            let shade = AFTER.mix(value.clamp(0.0, 1.0) * 0.9);
            area.draw(&Rectangle::new(square, shade.filled()))?;
            if cell >= 32 {
                let text = format!("{value:.2}");
                write(area, &text, (x + cell / 2 - 1, y + cell / 2 - 1), 13, INK, Anchor::Middle)?;
            }
        }
        for (i, name) in self.names.iter().enumerate() {
            if i > 0 {
                let y = cell * (i as i32 - 1) + 2 + cell / 2;
                let label = fitted(&format!("{name} {}", i + 1), LABELS - 10);
                write(area, &label, (LABELS - 8, y), 13, INK, Anchor::Right)?;
            }
            if i + 1 < self.names.len() {
                let at = (LABELS + cell * i as i32 + cell / 2, cell * (self.names.len() as i32 - 1) + 14);
                write(area, &(i + 1).to_string(), at, 13, INK, Anchor::Middle)?;
            }
        }
        // The first name has no row of its own, so it is told below its column.
        if let Some(first) = self.names.first() {
            let y = cell * (self.names.len() as i32 - 1) + 14;
            write(
                area,
                &fitted(&format!("{first} 1"), LABELS - 10),
                (LABELS - 8, y),
                13,
                INK,
                Anchor::Right,
            )?;
        }
        Ok(())
    }
}
