//! What was found, by name.

use serde_json::{Map, Value, json};

#[derive(Default)]
pub struct Figures(Map<String, Value>);

impl Figures {
    /// A figure, rounded to what its size deserves.
    pub fn put(&mut self, name: &str, value: f64) {
        let rounded = if value.abs() < 100.0 { (value * 100.0).round() / 100.0 } else { value.round() };
        println!("  {name}: {rounded}");
        self.0.insert(name.to_owned(), json!(rounded));
    }

    /// `one` over `other`, with the value that it should reach.
    pub fn put_ratio(&mut self, name: &str, one: f64, other: f64, target: Target) {
        let ratio = one / other;
        self.put(name, ratio);
        let (reached, wanted) = match target {
            Target::AtLeast(bound) => (ratio >= bound, format!("at least {bound}")),
            Target::AtMost(bound) => (ratio <= bound, format!("at most {bound}")),
            Target::Exactly(bound) => (ratio.total_cmp(&bound).is_eq(), format!("exactly {bound}")),
        };
        println!("    {} (wanted: {wanted})", if reached { "reached" } else { "NOT REACHED" });
    }

    pub fn to_json(&self) -> String {
        Value::Object(self.0.clone()).to_string()
    }
}

#[derive(Clone, Copy)]
pub enum Target {
    AtLeast(f64),
    AtMost(f64),
    Exactly(f64),
}

/// The middle one; of an even number the lower of the two.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN)
}

/// The value below which so many of a thousand are.
pub fn per_mille(values: &mut [f64], share: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = (values.len() * share).div_ceil(1_000).saturating_sub(1);
    values.get(place).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_of_what_was_measured_in_any_order() {
        assert_eq!(median(vec![9.0, 1.0, 5.0]).to_bits(), 5.0_f64.to_bits());
        assert_eq!(median(vec![4.0, 1.0]).to_bits(), 1.0_f64.to_bits());
        assert!(median(Vec::new()).is_nan());
    }

    #[test]
    fn a_figure_is_written_with_as_many_digits_as_it_deserves() {
        let mut figures = Figures::default();
        figures.put("b", 12_345.678);
        figures.put_ratio("a", 2.0, 3.0, Target::AtLeast(0.6));
        assert!(figures.to_json().contains(r#""a":0.67"#), "{}", figures.to_json());
        assert!(figures.to_json().contains(r#""b":12346"#), "{}", figures.to_json());
    }

    #[test]
    fn a_percentile_is_a_value_that_was_measured() {
        let mut values: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        assert_eq!(per_mille(&mut values, 990).to_bits(), 198.0_f64.to_bits());
        assert_eq!(per_mille(&mut values, 500).to_bits(), 100.0_f64.to_bits());
        assert_eq!(per_mille(&mut values[..1], 990).to_bits(), 1.0_f64.to_bits());
        assert!(per_mille(&mut [], 990).is_nan());
    }
}
