//! Credentials and enrolment codes as an operator makes them.
//!
//! Invariant: the text of a new token exists once, in the value that is handed to the operator; stores get its hash.

use turno_domain::ids::{DeviceId, Scope};
use turno_protocol::secret::Secret;

use crate::{
    caller::{Rights, TokenHash},
    matrix::new_token,
    world::World,
};

/// A credential to be accepted from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCredential {
    pub token: TokenHash,
    pub scope: Scope,
    pub rights: Rights,
}

impl NewCredential {
    /// A credential with a random token, and the token.
    pub fn generate(world: &World, scope: Scope, rights: Rights) -> (Self, Secret) {
        let token = new_token(world, "ytc");
        (Self::with_token(&token, scope, rights), token)
    }

    pub fn with_token(token: &Secret, scope: Scope, rights: Rights) -> Self {
        Self { token: TokenHash::of(token.expose()), scope, rights }
    }
}

/// A code with which one till can enrol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEnrolmentCode {
    pub code: TokenHash,
    pub scope: Scope,
    pub device_id: DeviceId,
    pub rights: Rights,
}

/// Letters and digits that are not taken for each other when a code is read out or typed.
const CODE_ALPHABET: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/// Three groups of five: 75 bits, out of reach of guessing over a network.
const CODE_GROUPS: usize = 3;

impl NewEnrolmentCode {
    /// A random code that a person can type, e.g. `K7M2P-QX4TD-9HWRA`, and what is kept of it.
    pub fn generate(world: &World, scope: Scope, device_id: DeviceId) -> (Self, Secret) {
        let groups: Vec<String> = (0..CODE_GROUPS)
            .map(|_| {
                world
                    .random::<5>()
                    .map(|byte| char::from(CODE_ALPHABET[usize::from(byte % 32)]))
                    .iter()
                    .collect()
            })
            .collect();
        let code = Secret::new(groups.join("-"));
        (Self::with_code(&code, scope, device_id), code)
    }

    /// The till that enrols with it may do this as well or instead.
    #[must_use]
    pub fn with_rights(self, rights: Rights) -> Self {
        Self { rights, ..self }
    }

    pub fn with_code(code: &Secret, scope: Scope, device_id: DeviceId) -> Self {
        Self { code: TokenHash::of(code.expose()), scope, device_id, rights: Rights::of_a_till() }
    }
}
