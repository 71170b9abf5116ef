//! What a server is told when it starts.

use crate::world::World;

/// Largest body, by the contract.
pub const BODY_LIMIT: usize = 64 * 1024;

#[derive(Clone, Debug)]
pub struct Config {
    pub world: World,
    pub body_limit: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self { world: World::system(), body_limit: BODY_LIMIT }
    }
}
