//! The contract in `wit/` as Rust, generated. Knows nothing more.

wasmtime::component::bindgen!({
    path: "../wit",
    world: "wonce:handler/handler",
    imports: {
        "wonce:handler/sql": async | trappable,
        "wonce:handler/outbox": async | trappable,
        default: trappable,
    },
    exports: { default: async },
});
