//! The level of each column, where every cell of it is published at the same one.

use incrowd_core::{Dataset, Partition};
use serde_json::{Value as Json, json};

/// The published level of each quasi-identifier, if every cell of it is at the same one.
pub(crate) fn levels_json(data: &Dataset, partition: &Partition) -> Option<Json> {
    let names = data.quasi().iter().map(|quasi| quasi.name.clone());
    Some(Json::Object(names.zip(partition.levels()?.iter().map(|&level| json!(level))).collect()))
}
