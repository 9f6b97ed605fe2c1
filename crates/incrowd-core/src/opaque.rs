//! `Debug` output without cells.

/// Implements `Debug` for a struct with the named fields only. A field is printed itself or, after
/// a colon, as what an expression makes of the struct:
/// `opaque_debug!(Column { name, texts: |column| column.texts.len() })`.
///
/// Debug output ends up in logs, and cells must not: a struct that contains cells, positions or
/// persons does not derive `Debug`.
#[macro_export]
macro_rules! opaque_debug {
    (@value $made:ident $field:ident) => { $made.$field };
    (@value $made:ident $field:ident $this:ident $value:expr) => { match $made { $this => $value } };
    ($name:ident $(<$life:lifetime>)? $({ $($field:ident $(: |$this:ident| $value:expr)?),* })?) => {
        impl ::std::fmt::Debug for $name $(<$life>)? {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let mut output = f.debug_struct(stringify!($name));
                $($({
                    let made = self;
                    output.field(
                        stringify!($field),
                        &$crate::opaque_debug!(@value made $field $($this $value)?),
                    );
                })*)?
                output.finish_non_exhaustive()
            }
        }
    };
}
