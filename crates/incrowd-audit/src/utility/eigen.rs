//! Eigenvalues of a symmetric matrix by Jacobi rotations, which are simple and precise enough for
//! the few columns of a table.

/// Maximum number of passes over all pairs of columns.
const SWEEPS: usize = 60;

/// Returns the eigenvalues in descending order. The matrix is given row by row.
pub(super) fn eigenvalues(mut matrix: Vec<f64>, width: usize) -> Vec<f64> {
    for _ in 0..SWEEPS {
        let outside = |i: usize| i / width != i % width;
        let off: f64 =
            (0..matrix.len()).filter(|&i| outside(i)).map(|i| matrix[i] * matrix[i]).sum();
        if off < 1e-24 {
            break;
        }
        for p in 0..width {
            for q in p + 1..width {
                rotate(&mut matrix, width, p, q);
            }
        }
    }
    let mut values: Vec<f64> = (0..width).map(|i| matrix[i * width + i]).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    values
}

/// Rotates two axes so that their off-diagonal entry becomes 0.
fn rotate(matrix: &mut [f64], width: usize, p: usize, q: usize) {
    let entry = matrix[p * width + q];
    if entry == 0.0 {
        return;
    }
    let theta = (matrix[q * width + q] - matrix[p * width + p]) / (2.0 * entry);
    let tangent = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let tangent = if theta == 0.0 { 1.0 } else { tangent };
    let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
    let sine = tangent * cosine;
    for k in 0..width {
        let (a, b) = (matrix[k * width + p], matrix[k * width + q]);
        (matrix[k * width + p], matrix[k * width + q]) =
            (cosine * a - sine * b, sine * a + cosine * b);
    }
    for k in 0..width {
        let (a, b) = (matrix[p * width + k], matrix[q * width + k]);
        (matrix[p * width + k], matrix[q * width + k]) =
            (cosine * a - sine * b, sine * a + cosine * b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_values() {
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-9);
        assert!(near(&eigenvalues(vec![2.0, 1.0, 1.0, 2.0], 2), &[3.0, 1.0]));
        assert!(near(
            &eigenvalues(vec![2.0, 0.0, 0.0, 0.0, 3.0, 4.0, 0.0, 4.0, 9.0], 3),
            &[11.0, 2.0, 1.0]
        ));
    }

    proptest! {
        #[test]
        fn trace_and_sum_of_squares_are_preserved(
            width in 1usize..6,
            drawn in prop::collection::vec(-3.0f64..3.0, 36),
        ) {
            let matrix: Vec<f64> = (0..width * width)
                .map(|i| drawn[i % width * 6 + i / width] + drawn[i / width * 6 + i % width])
                .collect();
            let trace: f64 = (0..width).map(|i| matrix[i * width + i]).sum();
            let squares: f64 = matrix.iter().map(|x| x * x).sum();
            let found = eigenvalues(matrix, width);
            prop_assert!((found.iter().sum::<f64>() - trace).abs() < 1e-9);
            prop_assert!((found.iter().map(|x| x * x).sum::<f64>() - squares).abs() < 1e-6);
        }
    }
}
