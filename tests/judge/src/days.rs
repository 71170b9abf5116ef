//! Believable days, made from a seed. The truth is known because each story knows what it did.
//!
//! How often things happen is assumed, since nobody publishes it: the constants say so, one by one, and are chosen
//! before looking at the result. Anybody who knows better brings real days ([`crate::day`]).

mod booth;
mod stories;

use booth::Booth;
pub use stories::BEYOND;

use crate::day::Days;

/// Days of each kind, the same for the same seed.
pub fn generate(seed: u64, per_kind: u32) -> Days {
    let mut days = Days::new();
    for (number, (kind, story)) in (0_u64..).zip(stories::ALL) {
        for day in 1..=per_kind {
            let name = format!("{kind}-{day}");
            let mut booth = Booth::open(&name, seed, number << 32 | u64::from(day));
            story(&mut booth);
            days.insert(name, booth.close());
        }
    }
    days
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::day::{self, Truth};

    #[test]
    fn the_same_seed_makes_the_same_days_and_another_one_others() {
        assert_eq!(generate(7, 1), generate(7, 1));
        assert_ne!(generate(7, 1), generate(8, 1));
    }

    #[test]
    fn what_is_generated_reads_as_if_somebody_had_brought_it() -> anyhow::Result<()> {
        let days = generate(3, 1);
        let text: String = days
            .values()
            .flatten()
            .map(|line| serde_json::to_string(line).expect("plain data") + "\n")
            .collect();
        assert_eq!(day::read(text.as_bytes())?, days);
        Ok(())
    }

    #[test]
    fn every_kind_but_the_calm_ones_has_repeated_sales() {
        for (name, lines) in generate(5, 1) {
            let repeated = lines.iter().filter(|line| line.is != Truth::New).count();
            assert!(lines.len() > 100, "{name} has {} sales", lines.len());
            assert!(repeated * 10 < lines.len(), "{name}: {repeated} of {} are repeated", lines.len());
        }
    }
}
