//! Where randomness enters: injected, so that a simulated till can be replayed from its seed.

use std::sync::Arc;

use uuid::Uuid;

pub trait Entropy: Send + Sync + 'static {
    fn fill(&self, bytes: &mut [u8]);
}

pub type SharedEntropy = Arc<dyn Entropy>;

/// The operating system's generator.
#[derive(Debug, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system gives random bytes once it has booted");
    }
}

/// A version 4 UUID.
pub fn uuid(entropy: &dyn Entropy) -> Uuid {
    let mut bytes = [0; 16];
    entropy.fill(&mut bytes);
    uuid::Builder::from_random_bytes(bytes).into_uuid()
}

/// A number in `0..=u32::MAX`, for jitter.
pub fn roll(entropy: &dyn Entropy) -> u32 {
    let mut bytes = [0; 4];
    entropy.fill(&mut bytes);
    u32::from_le_bytes(bytes)
}

/// Lower-case hexadecimal of `N` random bytes: secrets and salts in files.
pub fn hex<const N: usize>(entropy: &dyn Entropy) -> String {
    let mut bytes = [0; N];
    entropy.fill(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
