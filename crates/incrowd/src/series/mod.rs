//! Series answers: how are several tables released under the same rules, one after the other?

pub(crate) mod batches;
