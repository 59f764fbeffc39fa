use serde_json::json;

use super::*;
use crate::sql::OtherValue;
use crate::time::Timestamp;
use crate::uuid::Uuid;

fn there_and_back<T: ToSql + FromValue + PartialEq + std::fmt::Debug>(value: T) {
    assert_eq!(T::from_value(&value.to_sql().unwrap()).as_ref(), Ok(&value));
}

#[test]
fn every_type_reads_what_it_wrote() {
    there_and_back(true);
    there_and_back(i16::MIN);
    there_and_back(i32::MIN);
    there_and_back(i64::MIN);
    there_and_back(1.5_f32);
    there_and_back(1.5_f64);
    there_and_back("olá".to_owned());
    there_and_back(vec![0_u8, 255]);
    there_and_back(Numeric("12.50".into()));
    there_and_back(Uuid::from_bytes([7; 16]));
    there_and_back(Timestamp::from_micros(-1));
    there_and_back(Json(vec![1, 2]));
    there_and_back(json!({"a": [1, null]}));
    there_and_back(None::<i64>);
    there_and_back(Some(4_i64));
    there_and_back(vec![true]);
    there_and_back(vec![1_i32]);
    there_and_back(vec![Some(1_i64), None]);
    there_and_back(vec![2.5_f64]);
    there_and_back(vec!["a".to_owned()]);
    there_and_back(vec![Some(Uuid::from_bytes([9; 16])), None]);
}

#[test]
fn a_wider_type_reads_a_narrower_column_and_never_the_reverse() {
    assert_eq!(i64::from_value(&Value::Int2(3)), Ok(3));
    assert_eq!(f64::from_value(&Value::Float4(0.5)), Ok(0.5));
    assert_eq!(Numeric::from_value(&Value::Int8(3)), Ok(Numeric("3".into())));
    assert!(i32::from_value(&Value::Int8(3)).is_err());
    assert!(f64::from_value(&Value::Int4(3)).is_err());
}

#[test]
fn an_enum_column_reads_as_text() {
    let value = Value::Other(OtherValue { type_name: "shop.status".into(), text: "paid".into() });
    assert_eq!(String::from_value(&value).as_deref(), Ok("paid"));
    assert_eq!(i64::from_value(&value).unwrap_err().to_string(), "it holds a shop.status, which i64 cannot read");
}

#[test]
fn null_is_only_read_by_an_option() {
    let error = i64::from_value(&Value::Null).unwrap_err().to_string();
    assert_eq!(error, "it holds NULL (an `Option` would read it), which i64 cannot read");
    assert!(Vec::<i64>::from_value(&Value::Int8Array(vec![None])).unwrap_err().found.contains("NULL element"));
}

#[test]
fn a_wrong_type_does_not_repeat_the_content() {
    let error = i64::from_value(&Value::Text("a secret".into())).unwrap_err().to_string();
    assert!(!error.contains("secret"), "{error}");
}

#[test]
fn a_value_that_json_cannot_hold_is_refused_as_a_parameter() {
    let by_pair = std::collections::HashMap::from([((1, 2), 3)]);
    assert!(Json(by_pair).to_sql().is_err());
}
