//! What no handler should do. Every command that returns was tolerated.

use std::hint::black_box;

use crate::wonce::handler::{log, sql};

/// Whether the command is one of these.
pub enum Known {
    Yes,
    No,
}

pub fn run(command: &str) -> Known {
    match command {
        "loop" => spin(),
        "sleep" => std::thread::sleep(std::time::Duration::from_secs(3600)),
        "eat" => eat(),
        "eat-politely" => eat_politely(),
        "eat-2g" => drop(black_box(vec![1_u8; 2_000_000_000])),
        "recurse" => drop(black_box(recurse(1))),
        "panic" => panic!("the guest's own words"),
        "panic-after-flood" => {
            flood_stderr();
            panic!("the last words")
        }
        "abort" => std::process::abort(),
        "exit" => std::process::exit(0),
        "out-of-bounds" => out_of_bounds(),
        "log-flood" => (0..200_000).for_each(|_| log::write(log::Level::Info, "again", &[])),
        "log-huge" => log::write(log::Level::Info, &"x".repeat(20 << 20), &[]),
        "stdout-flood" => (0..1024).for_each(|_| println!("{}", "y".repeat(1023))),
        "alias" => alias(),
        "sql-flood" => (0..1_000_000).for_each(|_| drop(sql::execute("ok", &[]))),
        _ => return Known::No,
    }
    Known::Yes
}

fn spin() {
    let mut n = 0_u64;
    while black_box(n) != u64::MAX {
        n += 1;
    }
}

fn eat() {
    let mut eaten = Vec::new();
    loop {
        eaten.push(black_box(vec![1_u8; 1 << 20]));
    }
}

fn eat_politely() {
    let mut eaten: Vec<u8> = Vec::new();
    while eaten.try_reserve(eaten.capacity() + (1 << 20)).is_ok() {
        let capacity = eaten.capacity();
        black_box(&mut eaten).resize(capacity, 1);
    }
}

fn recurse(depth: u64) -> u64 {
    let frame = black_box([depth; 64]);
    if depth == u64::MAX { frame[0] } else { recurse(depth + 1) + black_box(frame[1]) }
}

fn out_of_bounds() {
    let address = black_box(1_500_000_000_usize) as *const u8;
    // The read is what the test wants to see trapped.
    black_box(unsafe { address.read_volatile() });
}

fn flood_stderr() {
    (0..1024).for_each(|_| eprintln!("{}", "z".repeat(1023)));
}

/// One string named many times: a mebibyte here, a gibibyte when copied out.
fn alias() {
    let text = "x".repeat(1 << 20);
    let many = vec![("field".to_owned(), text); 12];
    log::write(log::Level::Info, "twelve mebibytes", &many);
}
