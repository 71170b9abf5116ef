//! The names of things: who sells (scope), where (device, epoch, shift) and what (external id, YUPY's id, key).
//!
//! Invariant: an id of one kind cannot be passed for another, and every id that exists has passed its rules, also when
//! it was read from JSON. Nothing is repaired on the way in: an id with a space too many is refused, not trimmed.

mod epoch;
mod key;
mod readable;

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use epoch::{Epoch, EpochError};
pub use key::{IdempotencyKey, IdempotencyKeyError};
pub use readable::IdError;
use readable::readable_id;

/// Longest id that travels, by the contract, in bytes.
const MAX_ID_BYTES: usize = 128;

/// Room for `-` + epoch + `-S` + a `u32` + `-` + a `u64` behind the device within [`MAX_ID_BYTES`].
const MAX_DEVICE_BYTES: usize = 64;

readable_id! {
    /// The company that a credential belongs to: first part of the scope.
    Company, MAX_ID_BYTES
}
readable_id! {
    /// The company's way of selling (its tills, its agency): second part of the scope.
    Integration, MAX_ID_BYTES
}
readable_id! {
    /// `production`, `test`: third part of the scope.
    Environment, MAX_ID_BYTES
}
readable_id! {
    /// A till as the server enrolled it, e.g. `D03`. Not for device ids of foreign sales: those are free content.
    DeviceId, MAX_DEVICE_BYTES
}
readable_id! {
    /// A shift of one till, e.g. `S44`.
    ShiftId, MAX_ID_BYTES
}
readable_id! {
    /// The sale's own name for ever, given by whoever sold. Compared byte by byte.
    ExternalTransactionId, MAX_ID_BYTES
}
readable_id! {
    /// The permanent name of one void, given by whoever asks for it.
    ExternalOperationId, MAX_ID_BYTES
}
readable_id! {
    /// The permanent name of one attempt to pay, given by whoever asks for it.
    ExternalPaymentId, MAX_ID_BYTES
}
readable_id! {
    /// YUPY's name for a sale it has stored.
    YupyTransactionId, MAX_ID_BYTES
}

/// Where identities are unique. Comes from the credential (server) or the enrolment (till), never from a body.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Scope {
    pub company: Company,
    pub integration: Integration,
    pub environment: Environment,
}

impl ShiftId {
    /// The id of a till's shift by its number: `S44`.
    pub fn numbered(number: u32) -> ShiftId {
        ShiftId(format!("S{number}"))
    }
}

impl ExternalTransactionId {
    /// `D03-K7M-S44-0127`: short enough to read aloud. Two installations, shifts or sequence numbers never make the
    /// same id: all parts but the device are free of hyphens, so the text can be taken apart again from its end.
    pub fn compose(
        device: &DeviceId,
        epoch: &Epoch,
        shift_number: u32,
        sequence: u64,
    ) -> ExternalTransactionId {
        let shift = ShiftId::numbered(shift_number);
        ExternalTransactionId(format!("{device}-{epoch}-{shift}-{sequence:04}"))
    }
}

/// One checkout on the screen, given out before anything is sold, so that pressing *Cobrar* twice records one sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DraftId(pub Uuid);

impl fmt::Display for DraftId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: Result<(), IdError>) {
        assert_eq!(ExternalTransactionId::parse(text).map(|_| ()), expected, "{text:?}");
    }

    #[test]
    fn an_external_id_may_be_anything_readable_of_up_to_128_bytes() {
        let longest = "x".repeat(128);
        let accented = "ñ".repeat(64);
        for text in [
            "E",
            &longest,
            &accented,
            "E-two words",
            "E/%2F?&=+#",
            "E-🎫",
            "E\"quoted\"\\",
            "E-<b>'; --",
            "T\u{ff11}",
        ] {
            check(text, Ok(()));
            assert_eq!(
                ExternalTransactionId::parse(text).unwrap().as_str(),
                text,
                "comes back as it was sent"
            );
        }
    }

    #[test]
    fn an_external_id_that_would_need_repair_is_refused() {
        check("", Err(IdError::Empty));
        for padded in [" ", " E", "E ", "\u{a0}E", "E\u{3000}", "\u{2028}E"] {
            check(padded, Err(IdError::Padded));
        }
        for control in ["E\n", "\tE", "E\0-1", "E\u{7}", "E\u{7f}-1", "E\n-1", "E\u{91}-1", "\u{85}"] {
            check(control, Err(IdError::ControlCharacter));
        }
        check("Jose\u{301}", Err(IdError::NotComposed));
        check(&"x".repeat(129), Err(IdError::TooLong { limit: 128 }));
        check(&"ñ".repeat(65), Err(IdError::TooLong { limit: 128 }));
    }

    #[test]
    fn every_reason_has_its_own_code() {
        let codes = [
            IdError::Empty,
            IdError::TooLong { limit: 1 },
            IdError::Padded,
            IdError::ControlCharacter,
            IdError::NotComposed,
        ]
        .map(|reason| reason.code());
        assert_eq!(codes, ["empty", "too_long", "padded", "control_character", "not_nfc"]);
    }

    #[test]
    fn ids_are_compared_byte_by_byte() {
        for (one, other) in
            [("Ticket", "TICKET"), ("T 1", "T  1"), ("T1", "T\u{ff11}"), ("T1", "T01"), ("Ñ", "N")]
        {
            assert_ne!(ExternalTransactionId::parse(one), ExternalTransactionId::parse(other));
        }
    }

    #[test]
    fn ids_in_json_pass_the_same_rules() {
        let id: ExternalTransactionId = serde_json::from_str(r#""D03-K7M-S44-0127""#).unwrap();
        assert_eq!(serde_json::to_string(&id).unwrap(), r#""D03-K7M-S44-0127""#);
        for refused in [r#""""#, r#"" E""#, r#""E\u0000""#, "7", "null"] {
            assert!(serde_json::from_str::<ExternalTransactionId>(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn a_composed_id_reads_as_on_the_ticket() {
        let device = DeviceId::parse("D03").unwrap();
        let epoch = Epoch::parse("K7M").unwrap();
        let compose = |shift, sequence| ExternalTransactionId::compose(&device, &epoch, shift, sequence);
        assert_eq!(compose(44, 127).as_str(), "D03-K7M-S44-0127");
        assert_eq!(compose(1, 1).as_str(), "D03-K7M-S1-0001");
        assert_eq!(compose(44, 12_345).as_str(), "D03-K7M-S44-12345");
        assert_eq!(ShiftId::numbered(44).as_str(), "S44");
    }

    #[test]
    fn the_longest_composed_id_still_fits_the_contract() {
        let device = DeviceId::parse("D".repeat(MAX_DEVICE_BYTES)).unwrap();
        let epoch = Epoch::parse("K7M").unwrap();
        let longest = ExternalTransactionId::compose(&device, &epoch, u32::MAX, u64::MAX);
        check(longest.as_str(), Ok(()));
        assert_eq!(DeviceId::parse("D".repeat(65)), Err(IdError::TooLong { limit: 64 }));
    }

    #[test]
    fn a_scope_reads_and_writes_its_three_parts() {
        let json = r#"{"company":"A","integration":"pos","environment":"test"}"#;
        let scope: Scope = serde_json::from_str(json).unwrap();
        assert_eq!(scope.company.as_str(), "A");
        assert_eq!(serde_json::to_string(&scope).unwrap(), json);
    }

    fn any_device() -> impl Strategy<Value = DeviceId> {
        "[A-Z0-9-]{1,12}".prop_filter_map("valid", |text| DeviceId::parse(text).ok())
    }

    fn any_epoch() -> impl Strategy<Value = Epoch> {
        any::<[u8; 8]>().prop_map(Epoch::from_random)
    }

    proptest! {
        #[test]
        fn different_parts_compose_different_ids(
            a in (any_device(), any_epoch(), any::<u32>(), any::<u64>()),
            b in (any_device(), any_epoch(), any::<u32>(), any::<u64>()),
        ) {
            let one = ExternalTransactionId::compose(&a.0, &a.1, a.2, a.3);
            let other = ExternalTransactionId::compose(&b.0, &b.1, b.2, b.3);
            prop_assert_eq!(a == b, one == other);
            prop_assert_eq!(ExternalTransactionId::parse(one.as_str()), Ok(one.clone()));
        }

        #[test]
        fn any_text_is_either_refused_or_kept_as_it_is(text in any::<String>()) {
            if let Ok(id) = ExternalTransactionId::parse(text.as_str()) {
                prop_assert_eq!(id.as_str(), text.as_str());
                prop_assert_eq!(text.trim(), text.as_str());
                prop_assert!(!text.is_empty() && text.len() <= 128);
            }
        }
    }
}
