//! Rows D: what is known of the key decides before anything else is looked at.

use turno_domain::ids::YupyTransactionId;
use turno_protocol::body::ConflictHint;

use super::{Desk, KeyConflict, Keyed};
use crate::{
    audit::{AuditEntry, AuditEvent},
    books::{Books, KeyRecord, KeyState},
    content::Content,
};

/// What the key says.
pub(super) enum KeyRow {
    /// D1
    Conflict(KeyConflict),
    /// D2
    Final { record: KeyRecord, original_status: u16 },
    /// D3, D4
    InProgress,
    /// D5, D6: go on, and settle the key at the end.
    GoOn { had_expired: bool },
}

/// Look `keyed` up. A conflict is audited here; nothing else is written.
pub(super) async fn look_up<B: Books>(books: &mut B, desk: &Desk, keyed: &Keyed) -> Result<KeyRow, B::Error> {
    let Some(record) = books.find_key(desk.caller.scope_number, &keyed.key).await? else {
        return Ok(KeyRow::GoOn { had_expired: false });
    };
    if record.expired {
        return Ok(KeyRow::GoOn { had_expired: true });
    }
    if record.content.full != keyed.content.full {
        let hint = hint(&record.content, &keyed.content);
        let scope = &desk.caller.scope;
        let entry = AuditEntry {
            yupy_transaction_id: record.yupy_transaction_id,
            ..AuditEntry::new(AuditEvent::IdempotencyConflict, scope, books.now())
        };
        books.append_audit(&scope.company, entry).await?;
        return Ok(KeyRow::Conflict(KeyConflict { hint }));
    }
    Ok(match record.state {
        KeyState::Bound => KeyRow::GoOn { had_expired: false },
        KeyState::InProgress => KeyRow::InProgress,
        KeyState::Final { original_status } => KeyRow::Final { record, original_status },
    })
}

/// When only the confirmation differs, the till has used the question's key for the answer.
fn hint(first: &Content, now: &Content) -> Option<ConflictHint> {
    let confirms = now.full != now.core;
    (confirms && first.core == now.core).then_some(ConflictHint::ConfirmationRequiresNewKey)
}

/// The answer was a question or a conflict: the content stays, the answer does not.
pub(super) async fn bind<B: Books>(books: &mut B, desk: &Desk, keyed: &Keyed) -> Result<(), B::Error> {
    let record = KeyRecord {
        content: keyed.content,
        state: KeyState::Bound,
        yupy_transaction_id: None,
        permanent_id: None,
        expired: false,
    };
    books.put_key(desk.caller.scope_number, &keyed.key, &record).await
}

/// The answer stands and is repeated for as long as the key is kept.
pub(super) async fn finish<B: Books>(
    books: &mut B,
    desk: &Desk,
    keyed: &Keyed,
    original_status: u16,
    sale: &YupyTransactionId,
    permanent_id: Option<&str>,
) -> Result<(), B::Error> {
    let record = KeyRecord {
        content: keyed.content,
        state: KeyState::Final { original_status },
        yupy_transaction_id: Some(sale.clone()),
        permanent_id: permanent_id.map(str::to_owned),
        expired: false,
    };
    books.put_key(desk.caller.scope_number, &keyed.key, &record).await
}
