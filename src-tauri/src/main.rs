//! The program `turno`.

fn main() {}
