//! The expansion of `#[derive(FromRow)]`: one `row.get("column")?` per named field.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Field, Fields, LitStr, Result};

pub(crate) fn expand(item: TokenStream) -> Result<TokenStream> {
    let input: DeriveInput = syn::parse2(item)?;
    let name = &input.ident;
    let (generics, type_generics, bounds) = input.generics.split_for_impl();
    let fields = named_fields(&input)?.iter().map(read_field).collect::<Result<Vec<_>>>()?;
    Ok(quote! {
        impl #generics ::wonce::sql::FromRow for #name #type_generics #bounds {
            fn from_row(row: &::wonce::sql::Row) -> ::core::result::Result<Self, ::wonce::sql::Error> {
                Ok(Self { #(#fields),* })
            }
        }
    })
}

fn named_fields(input: &DeriveInput) -> Result<&syn::punctuated::Punctuated<Field, syn::Token![,]>> {
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => Ok(&fields.named),
            Fields::Unnamed(_) | Fields::Unit => Err(no_names(input)),
        },
        Data::Enum(_) | Data::Union(_) => Err(no_names(input)),
    }
}

fn no_names(input: &DeriveInput) -> Error {
    Error::new_spanned(&input.ident, "`FromRow` needs a struct with named fields; a tuple reads columns by position")
}

fn read_field(field: &Field) -> Result<TokenStream> {
    let ident = field.ident.as_ref().ok_or_else(|| Error::new_spanned(field, "the field has no name"))?;
    let column = column_name(field)?.unwrap_or_else(|| {
        let name = ident.to_string();
        name.strip_prefix("r#").unwrap_or(&name).to_owned()
    });
    Ok(quote! { #ident: row.get(#column)? })
}

fn column_name(field: &Field) -> Result<Option<String>> {
    let mut column = None;
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("sql")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("column") {
                return Err(meta.error("the only key is `column`, as in `#[sql(column = \"order_id\")]`"));
            }
            column = Some(meta.value()?.parse::<LitStr>()?.value());
            Ok(())
        })?;
    }
    Ok(column)
}
