//! The algorithms: the papers' examples, vectors of independent prototypes, slow twins and random
//! tables. One binary, because linking takes longer than most tests.

mod ascent;
mod every;
mod expansion;
mod full_domain;
mod join;
mod local_recoding;
mod mondrian;
mod persons;
mod possible;
mod suppression;
