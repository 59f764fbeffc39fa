//! The contract as `wit-bindgen` generates it. Nothing is written here by hand, and only [`crate::host`] and the
//! re-exports in `lib.rs` look inside.

wit_bindgen::generate!({
    path: "../../wit",
    world: "handler",
    export_macro_name: "export_handler",
    pub_export_macro: true,
    default_bindings_module: "wonce::__private::bindings",
    additional_derives: [PartialEq],
});
