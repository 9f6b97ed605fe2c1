//! Persons of counted rows. The system that holds the table draws a random number for each person
//! and run. Here the number becomes a code. Each record without a person counts as a separate
//! person.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use incrowd_core::{Error, FoldedPersons, MISSING, Result};

use super::Rows;
use super::counted::{Counted, DROPPED};
use crate::FoldSpec;

/// The column that identifies persons, and the texts that mean a missing person.
#[derive(Clone, Copy, Debug)]
pub struct PersonColumn<'a> {
    /// The name of the column.
    pub name: &'a str,
    /// The texts that mean a missing value. A null is always missing.
    pub missing: &'a [String],
}

impl PersonColumn<'_> {
    pub(crate) fn of(spec: &FoldSpec) -> Option<PersonColumn<'_>> {
        spec.person.as_deref().map(|name| PersonColumn { name, missing: &spec.missing })
    }
}

/// The persons of counted rows, in the order of the rows.
#[derive(Debug, Default)]
pub(super) struct RowPersons {
    /// For each row, the number of records without a person.
    unnamed: Vec<u64>,
    /// For each row, the end of its persons in `held`.
    ends: Vec<usize>,
    /// For each person of each row, the code, counted from 1, and the number of records in that
    /// row.
    held: Vec<(u32, u64)>,
    /// The number of distinct persons.
    named: u32,
}

pub(super) fn odd() -> Error {
    Error::bug("a system answers with something else than what it was asked for")
}

/// The integers of each list.
fn lists(array: &ArrayRef) -> Result<Vec<ArrayRef>> {
    if array.null_count() > 0 {
        return Err(odd());
    }
    match array.data_type() {
        DataType::List(_) => Ok(array.as_list::<i32>().iter().flatten().collect()),
        DataType::LargeList(_) => Ok(array.as_list::<i64>().iter().flatten().collect()),
        _ => Err(odd()),
    }
}

pub(super) fn integers(array: &ArrayRef) -> Result<&[i64]> {
    let numbers = array.as_primitive_opt::<Int64Type>().filter(|numbers| numbers.null_count() == 0);
    Ok(numbers.ok_or_else(odd)?.values())
}

impl RowPersons {
    /// Splits the last two columns off counted rows.
    pub(super) fn split((schema, batches): Rows) -> Result<(Rows, RowPersons)> {
        let width = schema.fields().len().checked_sub(2).ok_or_else(odd)?;
        let others = std::sync::Arc::new(Schema::new(schema.fields()[..width].to_vec()));
        let (mut persons, mut left) = (RowPersons::default(), Vec::with_capacity(batches.len()));
        let mut codes: HashMap<i64, u32, FixedState> = HashMap::default();
        for batch in batches {
            let columns = batch.columns();
            let unnamed = integers(columns.get(width).ok_or_else(odd)?)?;
            for &records in unnamed {
                persons.unnamed.push(u64::try_from(records).map_err(|_| odd())?);
            }
            for list in lists(columns.get(width + 1).ok_or_else(odd)?)? {
                let (pairs, rest) = integers(&list)?.as_chunks::<2>();
                if !rest.is_empty() {
                    return Err(odd());
                }
                for &[number, records] in pairs {
                    let fresh = u32::try_from(codes.len() + 1).map_err(|_| too_many())?;
                    let code = *codes.entry(number).or_insert(fresh);
                    persons.held.push((code, u64::try_from(records).map_err(|_| odd())?));
                }
                persons.ends.push(persons.held.len());
            }
            let own = RecordBatch::try_new(others.clone(), columns[..width].to_vec());
            left.push(own.map_err(|e| Error::bug(format!("counted rows do not fit: {e}")))?);
        }
        persons.named = codes.len() as u32;
        Ok(((others, left), persons))
    }

    /// The persons of the fold of these rows.
    pub(super) fn fold(self, counted: &Counted) -> Result<FoldedPersons> {
        if counted.of_row.len() != self.ends.len() || self.unnamed.len() != self.ends.len() {
            return Err(odd());
        }
        let weights = &counted.folded.weights;
        let mut next = Vec::with_capacity(weights.len());
        let mut start = 0usize;
        for &records in weights {
            next.push(start);
            start += records as usize;
        }
        // A record without a person has the code of a missing value.
        let mut codes = vec![MISSING; start];
        let (mut from, mut unnamed) = (0, 0);
        for (row, &to) in self.ends.iter().enumerate() {
            let own = &self.held[from..to];
            from = to;
            unnamed += self.unnamed[row];
            if own.iter().map(|(_, records)| records).sum::<u64>() + self.unnamed[row]
                != counted.records[row]
            {
                return Err(Error::bug("the records of persons are not those of their rows"));
            }
            let at = counted.of_row[row];
            if at == DROPPED {
                continue;
            }
            let place = &mut next[at as usize];
            for &(code, records) in own {
                codes[*place..*place + records as usize].fill(code);
                *place += records as usize;
            }
            *place += self.unnamed[row] as usize;
        }
        if u64::from(self.named) + unnamed > u64::from(u32::MAX) {
            return Err(too_many());
        }
        Ok(name_persons(codes, weights, self.named, unnamed))
    }
}

fn too_many() -> Error {
    Error::resources("the table has more persons than can be counted").at("input.person")
}

/// Assigns codes to persons from 0 on: first the `named` persons with a name, then one per record
/// without a name. `unnamed` is the number of records without a name that were read.
fn name_persons(mut codes: Vec<u32>, weights: &[u64], named: u32, unnamed: u64) -> FoldedPersons {
    let mut fresh = 0;
    for code in &mut codes {
        *code = if *code == MISSING {
            fresh += 1;
            named + fresh - 1
        } else {
            *code - 1
        };
    }
    let read = u64::from(named) + unnamed;
    FoldedPersons { read, unnamed: u64::from(fresh), ..FoldedPersons::of_codes(codes, weights) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::Int64Array;
    use arrow_array::builder::{Int64Builder, ListBuilder};
    use arrow_schema::Field;

    use super::*;

    /// Builds rows from the number of records, the number of unnamed records, and the persons.
    fn rows(own: &[(i64, i64, &[i64])]) -> Rows {
        let mut lists = ListBuilder::new(Int64Builder::new());
        own.iter().for_each(|(.., held)| lists.append_value(held.iter().map(|&n| Some(n))));
        let numbers = |of: fn(&(i64, i64, &[i64])) -> i64| {
            Arc::new(Int64Array::from_iter_values(own.iter().map(of)))
        };
        let arrays: Vec<ArrayRef> =
            vec![numbers(|row| row.0), numbers(|row| row.1), Arc::new(lists.finish())];
        let fields = ["records", "unnamed", "held"].into_iter().zip(&arrays);
        let fields = fields.map(|(name, array)| Field::new(name, array.data_type().clone(), true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        (schema.clone(), vec![RecordBatch::try_new(schema, arrays).unwrap()])
    }

    fn folded(
        own: &[(i64, i64, &[i64])],
        of_row: &[u32],
        weights: &[u64],
    ) -> Result<FoldedPersons> {
        let (left, persons) = RowPersons::split(rows(own))?;
        assert_eq!(left.0.fields().len(), 1);
        let mut counted = Counted { of_row: of_row.to_vec(), ..Counted::default() };
        counted.records = own.iter().map(|row| row.0 as u64).collect();
        counted.folded.weights = weights.to_vec();
        persons.fold(&counted)
    }

    #[test]
    fn persons_of_parts_are_assigned_to_their_rows() {
        // Person -5 is in both rows. Person 9 is in a dropped row. Three records have no person;
        // one of them is dropped.
        let own: [(i64, i64, &[i64]); 4] =
            [(3, 1, &[-5, 2]), (2, 0, &[7, 1, -5, 1]), (2, 1, &[9, 1]), (1, 1, &[])];
        let persons = folded(&own, &[0, 1, DROPPED, 0], &[4, 2]).unwrap();
        assert_eq!((persons.read, persons.different, persons.unnamed), (3 + 3, 4, 2));
        assert_eq!(persons.codes, [0, 0, 3, 4, 0, 1]);
    }

    #[test]
    fn persons_that_do_not_add_up_are_refused() {
        assert!(folded(&[(2, 0, &[1, 2])], &[0], &[2]).is_ok());
        for own in [(3, 0, &[1, 2][..]), (2, 0, &[1, 2, 3]), (2, -1, &[1, 3]), (2, 3, &[1, -1])] {
            assert!(folded(&[own], &[0], &[own.0 as u64]).is_err(), "{own:?}");
        }
    }
}
