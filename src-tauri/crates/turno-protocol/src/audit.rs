//! A row of the server's audit as it is read through `GET /v1/audit`.
//!
//! Invariant: what is hashed is the row itself without its two hashes, in canonical form. So whoever reads the rows can
//! check them from the answers alone, whatever events and members a newer server adds.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::canonical;
use crate::chain::{self, Hash, Link};

/// What is said, in its place in the company's chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRow {
    /// `event`, `at`, the ids and whatever else the event is about. Never `hash` or `prev_hash`.
    #[serde(flatten)]
    pub entry: Map<String, Value>,
    pub prev_hash: String,
    pub hash: String,
}

impl AuditRow {
    /// Puts an entry behind the row with this hash.
    pub fn chained(entry: Map<String, Value>, prev: &Hash) -> AuditRow {
        let hash = chain::row_hash(prev, &canonical_entry(&entry));
        AuditRow { entry, prev_hash: chain::to_hex(prev), hash: chain::to_hex(&hash) }
    }

    /// The row for [`chain::verify`]; `None` if its hashes are no hashes.
    pub fn link(&self) -> Option<Link> {
        Some(Link {
            prev_hash: chain::from_hex(&self.prev_hash)?,
            hash: chain::from_hex(&self.hash)?,
            canonical: canonical_entry(&self.entry),
        })
    }
}

/// The bytes of an entry that go into its hash.
pub fn canonical_entry(entry: &Map<String, Value>) -> Vec<u8> {
    canonical::object_to_bytes(entry)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(number: u64, event: &str) -> Map<String, Value> {
        let entry = json!({"number": number, "event": event, "external_transaction_id": "E-1", "decision": "same_sale"});
        entry.as_object().unwrap().clone()
    }

    fn rows() -> String {
        let first = AuditRow::chained(entry(1, "duplicate_suspected"), &chain::GENESIS);
        let second = AuditRow::chained(entry(2, "duplicate_resolved"), &first.link().unwrap().hash);
        serde_json::to_string(&[first, second]).unwrap()
    }

    fn verify(json: &str) -> Result<chain::Head, chain::BrokenAt> {
        let rows: Vec<AuditRow> = serde_json::from_str(json).unwrap();
        chain::verify(rows.iter().map(|row| row.link().unwrap()))
    }

    #[test]
    fn the_order_of_members_is_not_part_of_what_is_hashed() {
        assert_eq!(
            String::from_utf8(canonical_entry(&entry(1, "created"))).unwrap(),
            r#"{"decision":"same_sale","event":"created","external_transaction_id":"E-1","number":1}"#
        );
    }

    #[test]
    fn rows_that_were_answered_can_be_verified_by_whoever_reads_them() {
        assert_eq!(verify(&rows()).unwrap().rows, 2);
    }

    #[test]
    fn a_member_that_was_changed_added_or_taken_away_shows() {
        for (find, replace) in [
            (
                r#""decision":"same_sale","event":"duplicate_resolved""#,
                r#""decision":"different_sale","event":"duplicate_resolved""#,
            ),
            (r#""number":2"#, r#""number":2,"reason":"""#),
            (r#","number":2"#, ""),
        ] {
            assert!(rows().contains(find), "{find} in {}", rows());
            assert_eq!(verify(&rows().replace(find, replace)).unwrap_err().row, 2, "{replace}");
        }
    }

    #[test]
    fn a_row_without_usable_hashes_has_no_link() {
        let mut row = AuditRow::chained(entry(1, "created"), &chain::GENESIS);
        row.hash.pop();
        assert_eq!(row.link(), None);
    }
}
