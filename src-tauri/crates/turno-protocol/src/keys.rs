//! Derives the `Idempotency-Key` of each request from facts that are stored before it is sent.
//!
//! Invariant: the same facts give the same key for ever, and different facts never share one. No clock, no random
//! number, no attempt count and no body goes in. `vectors/keys.json` pins the result; a change of it would turn the
//! retries of a whole fleet into new requests.
//!
//! The key is the UUIDv8 of the first 16 bytes of SHA-256 over a sequence of parts, each written as its length (four
//! bytes, big-endian) and its bytes: the version tag, what is asked for, company, integration, environment, the
//! external transaction id, and one more part that the functions below name.

use sha2::{Digest, Sha256};
use turno_domain::ids::{
    ExternalOperationId, ExternalPaymentId, ExternalTransactionId, IdempotencyKey, Scope,
};
use uuid::Uuid;

/// Changes with the derivation, so that keys of two versions cannot meet.
const VERSION_TAG: &str = "turno-key-v1";

/// The key that creates a sale. Last part: the revision in decimal digits. The body that was made at the sale is
/// revision 0; each body that a person repaired is the next one, for it is other content under the same external id.
pub fn create_key(scope: &Scope, sale: &ExternalTransactionId, revision: u32) -> IdempotencyKey {
    derive("create", scope, sale, revision.to_string().as_bytes())
}

/// The key that confirms a sale with a token. Last part: the 32 bytes of the token's SHA-256. A retry of the
/// confirmation is a replay, and a new token is a new key.
pub fn confirm_key(scope: &Scope, sale: &ExternalTransactionId, token: &str) -> IdempotencyKey {
    derive("confirm", scope, sale, &Sha256::digest(token))
}

/// The key that voids a sale. Last part: the void's permanent id.
pub fn void_key(
    scope: &Scope,
    sale: &ExternalTransactionId,
    operation: &ExternalOperationId,
) -> IdempotencyKey {
    derive("void", scope, sale, operation.as_str().as_bytes())
}

/// The key that pays for a sale. Last part: the payment's permanent id.
pub fn payment_key(
    scope: &Scope,
    sale: &ExternalTransactionId,
    payment: &ExternalPaymentId,
) -> IdempotencyKey {
    derive("payment", scope, sale, payment.as_str().as_bytes())
}

fn derive(purpose: &str, scope: &Scope, sale: &ExternalTransactionId, last: &[u8]) -> IdempotencyKey {
    let parts: [&[u8]; 7] = [
        VERSION_TAG.as_bytes(),
        purpose.as_bytes(),
        scope.company.as_str().as_bytes(),
        scope.integration.as_str().as_bytes(),
        scope.environment.as_str().as_bytes(),
        sale.as_str().as_bytes(),
        last,
    ];
    let mut hash = Sha256::new();
    for part in parts {
        let length = u32::try_from(part.len()).expect("ids, numbers and hashes are a few bytes long");
        hash.update(length.to_be_bytes());
        hash.update(part);
    }
    let digest: [u8; 32] = hash.finalize().into();
    let (half, _) = digest.split_first_chunk().expect("16 bytes are within 32");
    IdempotencyKey::from(Uuid::new_v8(*half))
}

#[cfg(test)]
mod tests;
