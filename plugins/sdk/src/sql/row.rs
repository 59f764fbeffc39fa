//! Rows, by name or by position, and the types that read a whole one.

use std::rc::Rc;

use super::{Column, Error, FromValue, Value};

/// One row of an answer.
#[derive(Clone, Debug)]
pub struct Row {
    columns: Rc<[Column]>,
    values: Vec<Value>,
}

/// A type that reads a whole row. Derive it for a struct: each field reads the column of its name, or of
/// `#[sql(column = "…")]`.
pub trait FromRow: Sized {
    /// The Rust value.
    ///
    /// # Errors
    /// The column that is missing or holds something else.
    fn from_row(row: &Row) -> Result<Self, Error>;
}

impl Row {
    pub(crate) fn new(columns: Rc<[Column]>, values: Vec<Value>) -> Self {
        Self { columns, values }
    }

    /// The value of the first column of this name.
    ///
    /// # Errors
    /// [`Error::NoColumn`] or [`Error::Column`].
    pub fn get<T: FromValue>(&self, name: &str) -> Result<T, Error> {
        let position = self.columns.iter().position(|column| column.name == name);
        self.at(position.ok_or_else(|| self.no_column(name.to_owned()))?)
    }

    /// The value at a position, from 0.
    ///
    /// # Errors
    /// [`Error::NoColumn`] or [`Error::Column`].
    pub fn at<T: FromValue>(&self, position: usize) -> Result<T, Error> {
        let value = self.values.get(position).ok_or_else(|| self.no_column(position.to_string()))?;
        T::from_value(value).map_err(|reason| Error::Column { column: self.name_at(position), reason })
    }

    /// The columns, in the order of the statement.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The values, in the order of the columns.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    fn name_at(&self, position: usize) -> String {
        self.columns.get(position).map_or_else(|| position.to_string(), |column| column.name.clone())
    }

    fn no_column(&self, column: String) -> Error {
        Error::NoColumn { column, known: self.columns.iter().map(|column| column.name.clone()).collect() }
    }

    fn expect_width(&self, wanted: usize) -> Result<(), Error> {
        let found = self.values.len();
        if found == wanted { Ok(()) } else { Err(Error::ColumnCount { wanted, found }) }
    }
}

impl FromRow for Row {
    fn from_row(row: &Row) -> Result<Self, Error> {
        Ok(row.clone())
    }
}

/// One plain value reads a row of one column.
impl<T: FromValue> FromRow for T {
    fn from_row(row: &Row) -> Result<Self, Error> {
        row.expect_width(1)?;
        row.at(0)
    }
}

macro_rules! tuples {
    ($($count:literal: $($type:ident $position:tt),+;)+) => {$(
        impl<$($type: FromValue),+> FromRow for ($($type,)+) {
            fn from_row(row: &Row) -> Result<Self, Error> {
                row.expect_width($count)?;
                Ok(($(row.at::<$type>($position)?,)+))
            }
        }
    )+};
}

tuples! {
    1: A 0;
    2: A 0, B 1;
    3: A 0, B 1, C 2;
    4: A 0, B 1, C 2, D 3;
    5: A 0, B 1, C 2, D 3, E 4;
    6: A 0, B 1, C 2, D 3, E 4, F 5;
    7: A 0, B 1, C 2, D 3, E 4, F 5, G 6;
    8: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        let column = |name: &str, kind: &str| Column { name: name.into(), type_name: kind.into() };
        let columns = [column("id", "text"), column("amount_cents", "bigint"), column("paid_at", "timestamptz")];
        Row::new(columns.into(), vec![Value::Text("o-1".into()), Value::Int8(990), Value::Null])
    }

    #[test]
    fn a_row_is_read_by_name_and_as_a_tuple() {
        assert_eq!(row().get::<i64>("amount_cents"), Ok(990));
        let tuple = <(String, i64, Option<crate::Timestamp>)>::from_row(&row());
        assert_eq!(tuple, Ok(("o-1".to_owned(), 990, None)));
    }

    #[test]
    fn a_missing_column_is_named_beside_the_ones_there_are() {
        let error = row().get::<i64>("amount").unwrap_err();
        assert_eq!(error.to_string(), "the row has no column \"amount\"; it has id, amount_cents, paid_at");
    }

    #[test]
    fn a_column_of_another_type_is_named_with_both_types() {
        let error = row().get::<i64>("id").unwrap_err();
        assert_eq!(error.to_string(), "reading the column \"id\": it holds a text, which i64 cannot read");
    }

    #[test]
    fn a_tuple_or_value_of_another_width_does_not_read_half_a_row() {
        assert_eq!(<(String, i64)>::from_row(&row()), Err(Error::ColumnCount { wanted: 2, found: 3 }));
        assert_eq!(String::from_row(&row()), Err(Error::ColumnCount { wanted: 1, found: 3 }));
    }
}
