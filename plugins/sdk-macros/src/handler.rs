//! The expansion of `#[wonce::handler]`: the function stays as written and callable from tests; beside it comes
//! the export, and the author's manifest as a custom section of the component.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, ItemFn, Result};

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> Result<TokenStream> {
    if !arguments.is_empty() {
        return Err(Error::new_spanned(
            arguments,
            "`#[wonce::handler]` takes no arguments; settings of a handler belong in its handler.toml",
        ));
    }
    let function: ItemFn = syn::parse2(item)?;
    let name = &function.sig.ident;
    let call = match argument_count(&function)? {
        1 => quote! { #name(event) },
        _ => quote! { #name(event, delivery) },
    };
    Ok(quote! {
        #function

        #[cfg(target_arch = "wasm32")]
        const _: () = {
            struct Export;

            impl ::wonce::__private::Guest for Export {
                fn handle(event: ::wonce::Event, delivery: ::wonce::Delivery) -> ::wonce::Result {
                    let _ = &delivery;
                    #call
                }
            }

            ::wonce::__private::export_handler!(Export with_types_in ::wonce::__private::bindings);

            const MANIFEST: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/handler.toml"));

            #[used]
            #[unsafe(link_section = "wonce:handler-manifest")]
            static SECTION: [u8; MANIFEST.len()] = *include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/handler.toml"));
        };
    })
}

fn argument_count(function: &ItemFn) -> Result<usize> {
    let signature = &function.sig;
    if signature.asyncness.is_some() {
        return Err(Error::new_spanned(
            signature.asyncness,
            "a handler is an ordinary `fn`: the host runs many at once, each in its own transaction",
        ));
    }
    match signature.inputs.len() {
        count @ (1 | 2) => Ok(count),
        _ => Err(Error::new_spanned(
            &signature.inputs,
            "a handler takes `(event: wonce::Event)` or `(event: wonce::Event, delivery: wonce::Delivery)`",
        )),
    }
}
