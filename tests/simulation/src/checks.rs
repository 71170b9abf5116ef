//! What must hold in every world once it has healed.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use serde_json::Value;
use turno_domain::lookalike::{Rule, Traits, compare};
use turno_domain::{Currency, Money};
use turno_protocol::audit::AuditRow;
use turno_protocol::chain;
use turno_till::view::{SaleState, SaleSummary};

use crate::actor::Actor;
use crate::net::Net;
use crate::server::Server;

#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    pub sales: u64,
    pub transactions: u64,
    pub questions: u64,
}

pub async fn all(actors: &[Actor], server: &Server, net: &Net) -> Result<Totals> {
    let mut totals = Totals::default();
    let mut recorded = BTreeMap::new();
    let mut decided = BTreeSet::new();
    let mut twice_decided = Vec::new();
    for actor in actors {
        let sales = actor.sales().await?;
        for ids in actor.promised.values() {
            for id in ids {
                ensure!(
                    sales.iter().any(|sale| &sale.external_transaction_id == id),
                    "{id} was confirmed to the cashier and is not in the till"
                );
            }
        }
        for sale in sales {
            totals.sales += 1;
            ensure!(
                matches!(sale.state, SaleState::Accepted | SaleState::Discarded),
                "{} ended as {:?} ({:?})",
                sale.external_transaction_id,
                sale.state,
                sale.reason
            );
            let id = sale.external_transaction_id.clone();
            let same = |other: &SaleSummary| {
                (other.amount.minor, &other.occurred_at) == (sale.amount.minor, &sale.occurred_at)
            };
            // A folder and its copy both hold what was sold before they parted.
            ensure!(recorded.get(&id).is_none_or(same), "two sales have the external id {id}");
            if let Some(other) = recorded.get(&id) {
                let states = [other.state, sale.state];
                if states == [SaleState::Accepted, SaleState::Discarded] {
                    twice_decided.push(id);
                    continue;
                }
                if states == [SaleState::Discarded, SaleState::Accepted] {
                    twice_decided.push(id.clone());
                } else {
                    ensure!(other.state == sale.state, "{id} is {:?} and {:?}", other.state, sale.state);
                }
            }
            recorded.insert(id, sale);
        }
        let conn = rusqlite::Connection::open(actor.database())?;
        decided.extend(decisions(&conn)?);
        decided.extend(actor.decided_before.iter().cloned());
        ensure!(
            actor.may_be_guarded || guard_fired(&conn)? == 0,
            "the guard of till {} fired and nobody had touched its files",
            actor.number
        );
        let broken = turno_till::store::audit::first_broken(&conn)?;
        ensure!(broken.is_none(), "the audit of till {} breaks at row {broken:?}", actor.number);
    }

    // Discarded in a copy of the folder, while the folder itself was put back to before YUPY had asked: it asks anew, and a
    // manager says that it is another sale.
    for id in &twice_decided {
        ensure!(decided.contains(id), "{id} is accepted and discarded, and nobody decided otherwise");
    }

    let mut stored = Vec::new();
    let numbers: BTreeSet<usize> = actors.iter().map(|actor| actor.number).collect();
    for number in numbers {
        stored.extend(server.list(&format!("/v1/transactions?device_id=D0{}", number + 1)).await?);
    }
    totals.transactions = u64::try_from(stored.len())?;
    let mut seen = BTreeSet::new();
    for transaction in &stored {
        let id = text(transaction, "external_transaction_id")?;
        ensure!(seen.insert(id.to_owned()), "{id} is twice at the server");
        let sale =
            recorded.get(id).with_context(|| format!("{id} is at the server and no till recorded it"))?;
        ensure!(sale.state == SaleState::Accepted, "{id} is at the server and {:?} here", sale.state);
        let amount = Money::parse_amount(text(transaction, "amount")?, Currency::PEN)?;
        ensure!(amount.minor() == sale.amount.minor, "{id} has another amount at the server");
    }
    for sale in recorded.values().filter(|sale| sale.state == SaleState::Accepted) {
        ensure!(
            seen.contains(&sale.external_transaction_id),
            "{} is accepted and not at the server",
            sale.external_transaction_id
        );
    }

    let twice = net.keys_with_two_bodies();
    ensure!(twice.is_empty(), "keys that carried two bodies: {twice:?}");
    let twice = net.bodies_with_two_keys();
    ensure!(twice.is_empty(), "bodies that travelled under two keys: {twice:?}");

    let audit = server.list("/v1/audit").await?;
    let rows: Vec<AuditRow> =
        audit.iter().map(|row| serde_json::from_value(row.clone())).collect::<Result<_, _>>()?;
    let links: Option<Vec<_>> = rows.iter().map(AuditRow::link).collect();
    let links = links.context("an audit row without hashes")?;
    ensure!(chain::verify(links).is_ok(), "the server's audit chain is broken");
    let of = |event: &str| -> BTreeSet<&str> {
        audit
            .iter()
            .filter(|row| row["event"] == event)
            .filter_map(|row| row["external_transaction_id"].as_str())
            .collect()
    };
    let (created, confirmed, suspected) =
        (of("created"), of("duplicate_confirmed"), of("duplicate_suspected"));
    totals.questions = u64::try_from(suspected.len())?;
    for id in &seen {
        ensure!(created.contains(id.as_str()), "{id} is at the server without an audit row");
    }
    for id in &confirmed {
        ensure!(decided.contains(*id), "{id} was confirmed and no manager decided it");
    }
    look_alikes(&stored, &confirmed)?;
    Ok(totals)
}

/// Sales of this till, and of others, about which a manager here said that they are other sales. What this till was
/// told that somebody decided elsewhere proves nothing.
pub fn decisions(conn: &rusqlite::Connection) -> Result<Vec<String>> {
    let mut statement = conn.prepare(
        "SELECT external_transaction_id FROM audit
         WHERE event IN ('question_decided', 'other_till_decided')
           AND json_extract(data, '$.decision') = 'different_sale'",
    )?;
    let ids = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    Ok(ids)
}

fn guard_fired(conn: &rusqlite::Connection) -> Result<u32> {
    let count =
        conn.query_row("SELECT count(*) FROM audit WHERE event = 'identity_guard_fired'", [], |row| {
            row.get(0)
        })?;
    Ok(count)
}

/// Of two sales that look alike, the one that arrived later was confirmed by a person.
fn look_alikes(stored: &[Value], confirmed: &BTreeSet<&str>) -> Result<()> {
    let mut sales = Vec::new();
    for transaction in stored {
        let at = |name: &str| -> Result<Timestamp> { Ok(text(transaction, name)?.parse()?) };
        let some = |value: &Value| value.as_str().map(str::to_owned);
        let context = &transaction["context"];
        let traits = Traits {
            buyer_name: some(&transaction["buyer_name"]),
            shift_id: some(&transaction["shift_id"]),
            device_id: some(&transaction["device_id"]),
            route: some(&context["route"]),
            seat: some(&context["seat"]),
            product: some(&context["product"]),
            service: some(&context["service"]),
            ..Traits::new(
                Money::parse_amount(text(transaction, "amount")?, Currency::PEN)?,
                at("occurred_at")?,
            )
        };
        sales.push((text(transaction, "external_transaction_id")?, at("created_at")?, traits));
    }
    let rule = Rule::default();
    for (index, (id, arrived, traits)) in sales.iter().enumerate() {
        for (other_id, other_arrived, other) in &sales[index + 1..] {
            if compare(traits, other, &rule).is_none() {
                continue;
            }
            let later = if arrived > other_arrived { id } else { other_id };
            ensure!(
                confirmed.contains(later) || (arrived == other_arrived && confirmed.contains(id)),
                "{id} and {other_id} look alike and nobody confirmed {later}"
            );
        }
    }
    Ok(())
}

fn text<'a>(value: &'a Value, name: &str) -> Result<&'a str> {
    value[name].as_str().with_context(|| format!("{name} is missing in {value}"))
}
