//! `#[wonce::handler]` and `#[derive(FromRow)]`: the two pieces of boilerplate that a handler would otherwise
//! repeat. This crate only rewrites syntax; it never knows the contract beyond the names the SDK re-exports.

mod from_row;
mod handler;

use proc_macro::TokenStream;

/// Makes a function the component's export. See the documentation of the crate `wonce`.
#[proc_macro_attribute]
pub fn handler(arguments: TokenStream, item: TokenStream) -> TokenStream {
    handler::expand(arguments.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Reads a struct from a row: each field from the column of its name, or of `#[sql(column = "…")]`.
#[proc_macro_derive(FromRow, attributes(sql))]
pub fn from_row(item: TokenStream) -> TokenStream {
    from_row::expand(item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
