//! Whether the till, the server, what travelled and what people were told are one story. Pure.

use std::collections::{BTreeMap, BTreeSet};

use crate::book::Pages;
use crate::till::Sale;

/// Everything that is known at the end.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// What the cashier was told, life after life.
    pub acknowledged: Vec<Sale>,
    pub till: Vec<Sale>,
    /// External ids and amounts, as the server lists them.
    pub server: Vec<(String, i64)>,
    pub pages: Pages,
    /// The till believes that its folder was copied or put back.
    pub new_epoch: bool,
    /// The first row at which a chain of audit breaks, and whose.
    pub broken_chains: Vec<String>,
}

/// Every rule that does not hold, in words.
#[must_use]
pub fn violations(found: &Found) -> Vec<String> {
    let mut broken = found.broken_chains.clone();
    let till: BTreeMap<&str, &Sale> =
        found.till.iter().map(|sale| (sale.external_transaction_id.as_str(), sale)).collect();
    let server: BTreeMap<&str, i64> =
        found.server.iter().map(|(id, amount)| (id.as_str(), *amount)).collect();
    if till.len() != found.till.len() {
        broken.push("the till has an external id twice".to_owned());
    }
    if server.len() != found.server.len() {
        broken.push("the server has an external id twice".to_owned());
    }
    let mut told = BTreeSet::new();
    for sale in &found.acknowledged {
        let id = sale.external_transaction_id.as_str();
        if !told.insert(id) {
            broken.push(format!("{id} was given to two sales"));
        }
        match till.get(id) {
            None => broken.push(format!("{id} was recorded, said the till, and is gone")),
            Some(kept) if kept.amount_minor != sale.amount_minor => {
                broken.push(format!("{id} was recorded with another amount"));
            }
            Some(_) => {}
        }
    }
    for (id, sale) in &till {
        match server.get(id) {
            _ if !sale.is_accepted => broken.push(format!("{id} did not come to rest")),
            None => broken.push(format!("{id} is accepted and the server does not have it")),
            Some(amount) if *amount != sale.amount_minor => {
                broken.push(format!("{id} has another amount at the server"));
            }
            Some(_) => {}
        }
    }
    broken.extend(
        server
            .keys()
            .filter(|id| !till.contains_key(*id))
            .map(|id| format!("{id} is at the server and nobody sold it")),
    );
    let twice = |count: usize| count > 1;
    broken.extend(
        found
            .pages
            .bodies_of_keys
            .iter()
            .filter(|(_, bodies)| twice(bodies.len()))
            .map(|(key, _)| format!("the key {key} carried two bodies")),
    );
    let two_keys = found.pages.keys_of_bodies.values().filter(|keys| twice(keys.len())).count();
    if two_keys > 0 {
        broken.push(format!("{two_keys} bodies travelled under two keys"));
    }
    if found.pages.told_to_strangers > 0 {
        broken.push("something was said to a host with a wrong certificate".to_owned());
    }
    if found.new_epoch {
        broken.push("the guard fired and nobody had touched the folder".to_owned());
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sale(id: &str, amount_minor: i64) -> Sale {
        Sale { external_transaction_id: id.to_owned(), amount_minor, is_accepted: true }
    }

    fn two_sales() -> Found {
        Found {
            acknowledged: vec![sale("D01-K7M-S1-0001", 200)],
            // Of the second the till was killed before it could tell.
            till: vec![sale("D01-K7M-S1-0002", 990), sale("D01-K7M-S1-0001", 200)],
            server: vec![("D01-K7M-S1-0001".to_owned(), 200), ("D01-K7M-S1-0002".to_owned(), 990)],
            ..Found::default()
        }
    }

    #[test]
    fn a_story_that_holds_has_no_violations() {
        assert_eq!(violations(&two_sales()), Vec::<String>::new());
    }

    #[test]
    fn whatever_is_lost_doubled_or_altered_is_found() {
        type Harm = fn(&mut Found);
        let harms: [(&str, Harm); 14] = [
            ("gone", |found| drop(found.till.pop())),
            ("not come to rest", |found| found.till[0].is_accepted = false),
            ("does not have it", |found| drop(found.server.pop())),
            ("another amount", |found| found.server[0].1 = 201),
            ("another amount", |found| found.acknowledged[0].amount_minor = 1),
            ("nobody sold it", |found| found.server.push(("D01-K7M-S1-0003".to_owned(), 1))),
            ("server has an external id twice", |found| found.server.push(found.server[0].clone())),
            ("till has an external id twice", |found| found.till.push(found.till[0].clone())),
            ("given to two sales", |found| found.acknowledged.push(found.acknowledged[0].clone())),
            ("carried two bodies", |found| {
                found.pages.bodies_of_keys.insert("k".to_owned(), [vec![1], vec![2]].into());
            }),
            ("under two keys", |found| {
                found.pages.keys_of_bodies.insert(vec![1], ["k".to_owned(), "l".to_owned()].into());
            }),
            ("wrong certificate", |found| found.pages.told_to_strangers = 1),
            ("guard fired", |found| found.new_epoch = true),
            ("row 7", |found| found.broken_chains.push("the till's audit breaks at row 7".to_owned())),
        ];
        for (word, harm) in harms {
            let mut found = two_sales();
            harm(&mut found);
            let said = violations(&found).join("; ");
            assert!(said.contains(word), "{word}: {said:?}");
        }
    }
}
