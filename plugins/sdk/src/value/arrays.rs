//! One-dimensional arrays: a slice or `Vec` for arrays without NULL elements, of `Option`s for arrays with them.

use super::{FromValue, ToSql, WrongType};
use crate::sql::Value;
use crate::uuid::Uuid;

/// A type whose arrays the contract can carry. Sealed: the set is the contract's.
pub trait ArrayElement: Sized + sealed::Sealed {
    #[doc(hidden)]
    fn gather<'a>(elements: impl Iterator<Item = Option<&'a Self>>) -> Value
    where
        Self: 'a;
    #[doc(hidden)]
    fn scatter(array: &Value) -> Result<Vec<Option<Self>>, WrongType>;
}

mod sealed {
    pub trait Sealed {}
}

/// Each Rust type, its array in the contract, and an element's way there and back.
macro_rules! elements {
    ($($type:ty, $case:ident, $to:expr, $from:expr;)+) => {$(
        impl sealed::Sealed for $type {}

        impl ArrayElement for $type {
            fn gather<'a>(elements: impl Iterator<Item = Option<&'a Self>>) -> Value {
                Value::$case(elements.map(|element| element.map($to)).collect())
            }

            fn scatter(array: &Value) -> Result<Vec<Option<Self>>, WrongType> {
                let wrong = || WrongType::new(concat!("Vec<", stringify!($type), ">"), array);
                let Value::$case(elements) = array else { return Err(wrong()) };
                let read = |element: &Option<_>| match element {
                    Some(element) => $from(element).map(Some).ok_or_else(wrong),
                    None => Ok(None),
                };
                elements.iter().map(read).collect()
            }
        }
    )+};
}

elements! {
    bool, BooleanArray, |it| *it, |it: &bool| Some(*it);
    i32, Int4Array, |it| *it, |it: &i32| Some(*it);
    i64, Int8Array, |it| *it, |it: &i64| Some(*it);
    f64, Float8Array, |it| *it, |it: &f64| Some(*it);
    String, TextArray, Clone::clone, |it: &String| Some(it.clone());
    Uuid, UuidArray, ToString::to_string, |it: &String| it.parse().ok();
}

impl<T: ArrayElement> ToSql for [T] {
    fn to_sql(&self) -> Result<Value, String> {
        Ok(T::gather(self.iter().map(Some)))
    }
}

impl<T: ArrayElement> ToSql for Vec<T> {
    fn to_sql(&self) -> Result<Value, String> {
        self.as_slice().to_sql()
    }
}

impl<T: ArrayElement, const N: usize> ToSql for [T; N] {
    fn to_sql(&self) -> Result<Value, String> {
        self.as_slice().to_sql()
    }
}

impl<T: ArrayElement> ToSql for [Option<T>] {
    fn to_sql(&self) -> Result<Value, String> {
        Ok(T::gather(self.iter().map(Option::as_ref)))
    }
}

impl<T: ArrayElement> ToSql for Vec<Option<T>> {
    fn to_sql(&self) -> Result<Value, String> {
        self.as_slice().to_sql()
    }
}

impl ToSql for [&str] {
    fn to_sql(&self) -> Result<Value, String> {
        Ok(Value::TextArray(self.iter().map(|text| Some((*text).to_owned())).collect()))
    }
}

impl<T: ArrayElement> FromValue for Vec<T> {
    fn from_value(value: &Value) -> Result<Self, WrongType> {
        let null = || WrongType {
            wanted: "an array without NULL elements",
            found: "a NULL element (a `Vec<Option<…>>` would read it)".to_owned(),
        };
        T::scatter(value)?.into_iter().map(|element| element.ok_or_else(null)).collect()
    }
}

impl<T: ArrayElement> FromValue for Vec<Option<T>> {
    fn from_value(value: &Value) -> Result<Self, WrongType> {
        T::scatter(value)
    }
}
