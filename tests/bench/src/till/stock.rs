//! A till's past: so many sales, written through the till's own tables and functions, with what recording and settling
//! them would have left behind. In bulk: without a sync, since nothing is lost if it has to be done again.

use anyhow::{Context, Result, ensure};
use rusqlite::Connection;
use serde_json::json;
use sha2::{Digest, Sha256};
use turno_domain::Money;
use turno_domain::ids::{Epoch, ExternalTransactionId, ShiftId};
use turno_protocol::body::{Context as SaleContext, TransactionBody};
use turno_protocol::keys;
use turno_till::WriterMode;
use turno_till::backup;
use turno_till::clock::rfc3339;
use turno_till::outbox::State;
use turno_till::store::audit::{self, Event};
use turno_till::store::installation::{self, Enrolment};
use turno_till::store::outbox::Entry;
use turno_till::store::requests::{NewRequest, RequestKind};
use turno_till::store::sales::{CheckoutRow, SaleRow};
use turno_till::store::{self, attempts, epochs, outbox, requests, sales, shifts};

use super::catalog::{PRICE_MINOR, SEATS, buyer, seat};
use super::shop::{CASHIER, Place};

/// Sales of a shift at a busy counter.
const SALES_OF_A_SHIFT: i64 = 500;
/// Between two sales: a million of them are two years.
const BETWEEN_MS: i64 = 60_000;
/// Sales in one transaction.
const BATCH: i64 = 20_000;

/// Gives a founded till, closed, a past. Afterwards it has a backup of today, as a till in use has.
pub async fn fill(place: &Place, count: i64) -> Result<()> {
    {
        let mut conn = Connection::open(place.folder().join(store::FILE_NAME))?;
        conn.execute_batch(
            "PRAGMA synchronous = OFF; PRAGMA cache_size = -524288; PRAGMA temp_store = MEMORY;",
        )?;
        conn.set_prepared_statement_cache_capacity(64);
        let past = Past::of(&conn, place.now_ms() - (count + 1) * BETWEEN_MS)?;
        let mut done = 0;
        while done < count {
            let batch = BATCH.min(count - done);
            let transaction = conn.transaction()?;
            for sequence in done + 1..=done + batch {
                past.sale(&transaction, sequence)?;
            }
            transaction.commit()?;
            done += batch;
        }
        let shift = past.shift_of(count)?;
        conn.execute("UPDATE installation SET last_sequence = ?1, last_shift = ?2", (count, shift))?;
        conn.execute("UPDATE shifts SET closed_at_ms = ?1 WHERE closed_at_ms IS NULL", [past.at(count)])?;
        ensure!(audit::first_broken(&conn)?.is_none(), "the audit's chain holds");
    }
    let options = place.options();
    let db = store::open(&options.folder, WriterMode::Inline).context("opening what was filled")?;
    backup::make(&db, &options.backup_folder, place.now_ms()).await?;
    db.close().await;
    // What a backup holds is not in the journal.
    std::fs::remove_dir_all(&options.journal_folder).ok();
    Ok(())
}

struct Past {
    enrolment: Enrolment,
    epoch: Epoch,
    begins_at: i64,
    price: Money,
}

impl Past {
    fn of(conn: &Connection, begins_at: i64) -> Result<Self> {
        let enrolment = installation::enrolment(conn)?.context("the till is enrolled")?;
        let epoch = epochs::current(conn)?.context("an enrolled till has an epoch")?.epoch;
        let price = Money::from_minor(PRICE_MINOR, enrolment.currency);
        Ok(Self { enrolment, epoch, begins_at, price })
    }

    fn at(&self, sequence: i64) -> i64 {
        self.begins_at + sequence * BETWEEN_MS
    }

    fn shift_of(&self, sequence: i64) -> Result<u32> {
        Ok(u32::try_from((sequence - 1) / SALES_OF_A_SHIFT + 1)?)
    }

    fn sale(&self, conn: &Connection, sequence: i64) -> Result<()> {
        let (at, shift, number) = (self.at(sequence), self.shift_of(sequence)?, u32::try_from(sequence)?);
        if (sequence - 1) % SALES_OF_A_SHIFT == 0 {
            self.next_shift(conn, shift, at)?;
        }
        let id = ExternalTransactionId::compose(
            &self.enrolment.device_id,
            &self.epoch,
            shift,
            u64::try_from(sequence)?,
        );
        let row = self.row(&id, sequence, shift, at);
        sales::insert_checkout(
            conn,
            &CheckoutRow {
                draft_id: uuid_like(number),
                charge_digest: Sha256::digest(number.to_le_bytes()).to_vec(),
                shift_number: shift,
                seller: CASHIER.to_owned(),
                recorded_at: at,
                payment_method: "cash".to_owned(),
                total_minor: PRICE_MINOR,
                rounding_minor: 0,
                received_minor: PRICE_MINOR,
            },
        )?;
        sales::insert(conn, &row)?;
        let key = keys::create_key(&self.enrolment.scope, &id, 0);
        let request = NewRequest {
            kind: RequestKind::Create,
            revision: 0,
            idempotency_key: key.as_str(),
            path: "/v1/transactions",
            body: &self.body(&id, &row).to_bytes(),
        };
        let request_id = requests::freeze(conn, sequence, &request, at)?;
        let said = |event, data| audit::Entry {
            external_transaction_id: Some(id.as_str()),
            data,
            ..audit::Entry::new(event)
        };
        let data =
            json!({ "amount": self.price.to_amount_text(), "draft_id": row.draft_id, "look_alikes": "ask" });
        audit::append(
            conn,
            at,
            &audit::Entry { person_id: Some(CASHIER), ..said(Event::SaleRecorded, data) },
        )?;
        let yupy_transaction_id = format!("ypt_{number:016x}");
        attempts::start(conn, request_id, at)?;
        let attempt_id = conn.last_insert_rowid();
        attempts::finish(
            conn,
            attempt_id,
            at + 1_000,
            &attempts::Finished {
                outcome: "accepted",
                status: Some(201),
                yupy_request_id: Some(&format!("req_{number:024x}")),
                yupy_at: Some(at),
                may_have_arrived: true,
            },
        )?;
        let data = json!({ "yupy_transaction_id": yupy_transaction_id });
        // Its id at YUPY is written by an update alone, as it is when a sale is settled.
        let queued = Entry { sequence, request_id, state: State::InReview { attempts: 1 } };
        outbox::insert(conn, &queued, at)?;
        let state = State::Accepted { yupy_transaction_id };
        outbox::update(conn, &Entry { state, ..queued }, None, at + 1_000)?;
        audit::append(conn, at + 1_000, &said(Event::SaleAccepted, data))?;
        Ok(())
    }

    fn row(&self, id: &ExternalTransactionId, sequence: i64, shift: u32, at: i64) -> SaleRow {
        let number = u32::try_from(sequence).expect("some millions");
        let service = format!("184-past-{}", number / SEATS);
        SaleRow {
            sequence,
            external_transaction_id: id.as_str().to_owned(),
            // As far apart as the random ids that drafts have.
            draft_id: Some(uuid_like(number)),
            shift_number: Some(shift),
            seller: Some(CASHIER.to_owned()),
            occurred_at: at,
            amount_minor: PRICE_MINOR,
            currency: self.enrolment.currency.code().to_owned(),
            quantity: 1,
            description: format!("Lima – Arequipa · {}", seat(number)),
            offer_id: format!("departure:{service}"),
            route: Some("184".to_owned()),
            seat: Some(seat(number)),
            product: Some("boleto".to_owned()),
            service: Some(service),
            buyer_name: Some(buyer(number)),
        }
    }

    fn body(&self, id: &ExternalTransactionId, row: &SaleRow) -> TransactionBody {
        TransactionBody {
            buyer_name: row.buyer_name.clone(),
            integration_experience: Some("turno_pos".to_owned()),
            shift_id: row.shift_number.map(|number| ShiftId::numbered(number).into_string()),
            device_id: Some(self.enrolment.device_id.as_str().to_owned()),
            occurred_at: Some(rfc3339(row.occurred_at)),
            payment_method: Some("cash".to_owned()),
            context: SaleContext {
                route: row.route.clone(),
                seat: row.seat.clone(),
                product: row.product.clone(),
                service: row.service.clone(),
                ..SaleContext::default()
            },
            ..TransactionBody::new(id.clone(), self.price)
        }
    }

    fn next_shift(&self, conn: &Connection, shift: u32, at: i64) -> Result<()> {
        conn.execute("UPDATE shifts SET closed_at_ms = ?1 WHERE closed_at_ms IS NULL", [at])?;
        shifts::open(conn, shift, CASHIER, at, 10_000)?;
        let data = json!({ "shift": shift, "float": "100.00" });
        audit::append(
            conn,
            at,
            &audit::Entry { person_id: Some(CASHIER), data, ..audit::Entry::new(Event::ShiftOpened) },
        )?;
        Ok(())
    }
}

fn uuid_like(number: u32) -> String {
    let digest = Sha256::digest(number.to_le_bytes());
    let hex: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::till::shop::told_no;

    #[tokio::test]
    async fn a_till_goes_on_selling_behind_the_past_that_it_was_given() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::new(&folder.path().join("till"), None).unwrap();
        place.found().await.unwrap();
        let count = 2 * SALES_OF_A_SHIFT + 7;
        fill(&place, count).await.unwrap();
        let shop = place.open().await.unwrap();
        shop.sell().await.unwrap();
        let newest = shop.till.recent_sales(None).await.map_err(told_no).unwrap();
        assert_eq!(newest.items[0].sequence, count + 1, "numbers go on");
        assert_eq!(newest.items[0].shift_id, "S4");
        let status = shop.till.status().await.map_err(told_no).unwrap().unwrap();
        assert_eq!((status.pending_count, status.new_epoch.is_some()), (1, false), "nothing looks put back");
        shop.till.close().await;
        let conn = Connection::open(place.folder().join(store::FILE_NAME)).unwrap();
        assert_eq!(audit::first_broken(&conn).unwrap(), None);
        let fault: String = conn.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(fault, "ok");
        assert!(!conn.prepare("PRAGMA foreign_key_check").unwrap().exists([]).unwrap());
    }
}
