use proptest::prelude::*;
use wonce_core::delivery::PayloadHash;
use wonce_core::hash::{hash_under, payload_hash, rule_name};
use wonce_core::payload::Payload;

use crate::events::{Tree, pointers, trees, webhook};

fn hash_without(data: impl Into<Vec<u8>>, ignore: &[&str]) -> PayloadHash {
    let event = webhook(data);
    payload_hash(&Payload::of(&event), &pointers(ignore))
}

/// Comparable, and another payload.
fn conflicts(one: &PayloadHash, other: &PayloadHash) -> bool {
    one.rule == other.rule && one.digest != other.digest
}

fn hash(data: impl Into<Vec<u8>>) -> PayloadHash {
    hash_without(data, &[])
}

#[test]
fn spellings_of_one_value_are_one_hash() {
    for (one, other) in [
        (r#"{"a":1,"b":[true,null]}"#, "{ \"b\" : [ true , null ],\n\"a\":1 }"),
        (r#""\u00e9""#, "\"é\""),
        (r#""\ud83d\ude00""#, "\"😀\""),
        (r#"{"\u0000":"\/"}"#, "{\"\\u0000\":\"/\"}"),
    ] {
        assert_eq!(hash(one), hash(other), "{one} and {other}");
    }
}

#[test]
fn different_values_are_different_hashes() {
    for (one, other) in [
        ("1", "1.0"),
        ("1", "\"1\""),
        ("9007199254740993", "9007199254740992"),
        ("[1,2]", "[2,1]"),
        ("[12]", "[1,2]"),
        ("[[],[]]", "[[[]]]"),
        (r#"{"a":"bc"}"#, r#"{"ab":"c"}"#),
        (r#"{"a":null}"#, "{}"),
        (r#"{"a":1,"a":2}"#, r#"{"a":2,"a":1}"#),
        ("not json", "not  json"),
    ] {
        assert_ne!(hash(one).digest, hash(other).digest, "{one} and {other}");
    }
}

#[test]
fn the_content_type_does_not_matter() {
    let mut event = webhook(r#"{"a":1}"#);
    let plain = payload_hash(&Payload::of(&event), &[]);
    event.content_type = Some("application/x-www-form-urlencoded".to_owned());
    assert_eq!(payload_hash(&Payload::of(&event), &[]), plain);
}

#[test]
fn a_payload_that_is_no_json_still_conflicts_with_one_that_is() {
    let good = hash(r#"{"amount":1}"#);
    for other in [&br#"{"amount":2"#[..], br#"{"amount":1,"amount":2}"#, b"\xff", b""] {
        assert!(conflicts(&hash(other), &good));
        assert_eq!(hash(other), hash(other));
    }
}

#[test]
fn volatile_fields_are_left_out_and_the_rule_says_so() {
    let ignore = ["/sent_at", "/meta/try"];
    let first = hash_without(r#"{"id":7,"sent_at":1,"meta":{"try":1,"x":2}}"#, &ignore);
    let again = hash_without(r#"{"meta":{"x":2,"try":9},"id":7}"#, &ignore);
    let other = hash_without(r#"{"id":8,"sent_at":1,"meta":{"try":1,"x":2}}"#, &ignore);
    assert_eq!(first, again);
    assert_eq!(first.rule, "json-v1 minus /meta/try /sent_at");
    assert!(conflicts(&other, &first));
    let without_rule = hash(r#"{"id":7,"sent_at":2,"meta":{"try":1,"x":2}}"#);
    assert_ne!(without_rule.rule, first.rule, "nothing can be said across rules");
}

#[test]
fn only_the_named_element_of_an_array_is_left_out() {
    assert_eq!(hash_without("[1,2]", &["/0"]), hash_without("[9,2]", &["/0"]));
    assert_ne!(hash_without("[1,2]", &["/0"]), hash_without("[2]", &["/0"]));
    assert_ne!(hash_without("[1,2]", &["/1"]), hash_without("[2,2]", &["/1"]));
}

#[test]
fn a_payload_with_a_member_twice_is_hashed_byte_for_byte_whatever_is_left_out() {
    let twice = hash_without(r#"{"b":0,"a":1,"a":2}"#, &["/a"]);
    for other in [r#"{"b":0,"a":1, "a":2}"#, r#"{"a":1,"a":2,"b":0}"#, r#"{"b":0}"#] {
        assert!(conflicts(&hash_without(other, &["/a"]), &twice), "{other}");
    }
}

#[test]
fn rule_names_do_not_depend_on_order_and_do_not_run_together() {
    assert_eq!(rule_name(&pointers(&["/b", "/a", "/b"])), "json-v1 minus /a /b");
    assert_ne!(rule_name(&pointers(&["/a /b"])), rule_name(&pointers(&["/a", "/b"])));
    assert_ne!(rule_name(&pointers(&["/a%20/b"])), rule_name(&pointers(&["/a /b"])));
}

#[test]
fn a_hash_can_be_made_under_the_name_of_its_rule() {
    for ignore in [&[][..], &["/a"], &["/sent_at", "/a b", "/50%", "/%20", "/x~1y"]] {
        for data in [r#"{"a":1,"a b":2,"50%":3,"%20":4,"x/y":5,"b":6}"#, "[1,2]", "no JSON"] {
            let made = hash_without(data, ignore);
            assert_eq!(hash_under(&made.rule, data.as_bytes()), Some(made), "{ignore:?} {data}");
        }
    }
    for unknown in ["", "bytes", "json-v2", "json-v1 ", "json-v1 minus", "json-v1 minus a"] {
        assert_eq!(hash_under(unknown, b"{}"), None, "{unknown:?}");
    }
}

proptest! {
    #[test]
    fn order_of_members_and_white_space_do_not_matter(tree in trees()) {
        prop_assert_eq!(hash(tree.compact()), hash(tree.respelled()));
    }

    #[test]
    fn two_values_have_two_hashes(one in trees(), other in trees()) {
        prop_assume!(one.compact() != other.compact());
        prop_assert_ne!(hash(one.compact()).digest, hash(other.compact()).digest);
    }

    #[test]
    fn a_change_anywhere_but_in_the_left_out_field_is_seen(tree in trees(), seen in any::<i64>(), time in any::<i64>()) {
        let event = |seen: i64, time: i64| Tree::Object(vec![
            ("id".to_owned(), Tree::Number(seen)),
            ("sent_at".to_owned(), Tree::Number(time)),
            ("tree".to_owned(), tree.clone()),
        ]).compact();
        let digest = |data: String| hash_without(data, &["/sent_at"]).digest;
        prop_assert_eq!(digest(event(seen, time)), digest(event(seen, time.wrapping_add(1))));
        prop_assert_ne!(digest(event(seen, time)), digest(event(seen.wrapping_add(1), time)));
    }

    #[test]
    fn arbitrary_bytes_never_panic_and_repeat_themselves(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        prop_assert_eq!(hash_without(bytes.clone(), &["/a/0"]), hash_without(bytes, &["/a/0"]));
    }
}
