use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde::Deserialize;
use turno_domain::ids::{Company, Environment, Integration};

use super::*;

/// One line of `vectors/keys.json`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    company: Company,
    integration: Integration,
    environment: Environment,
    external_transaction_id: ExternalTransactionId,
    #[serde(flatten)]
    ask: Ask,
    key: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ask {
    CreateRevision(u32),
    ConfirmToken(String),
    VoidOperation(ExternalOperationId),
    Payment(ExternalPaymentId),
}

fn key_for(scope: &Scope, sale: &ExternalTransactionId, ask: &Ask) -> String {
    let key = match ask {
        Ask::CreateRevision(revision) => create_key(scope, sale, *revision),
        Ask::ConfirmToken(token) => confirm_key(scope, sale, token),
        Ask::VoidOperation(id) => void_key(scope, sale, id),
        Ask::Payment(id) => payment_key(scope, sale, id),
    };
    key.as_str().to_owned()
}

#[test]
fn keys_are_those_of_the_committed_vectors() {
    let vectors: Vec<Vector> =
        serde_json::from_str(include_str!("../../vectors/keys.json")).expect("vectors");
    assert!(vectors.len() >= 12);
    let mut kinds = BTreeMap::<&str, u32>::new();
    for vector in &vectors {
        let kind = match vector.ask {
            Ask::CreateRevision(_) => "create",
            Ask::ConfirmToken(_) => "confirm",
            Ask::VoidOperation(_) => "void",
            Ask::Payment(_) => "payment",
        };
        *kinds.entry(kind).or_default() += 1;
        let scope = Scope {
            company: vector.company.clone(),
            integration: vector.integration.clone(),
            environment: vector.environment.clone(),
        };
        assert_eq!(
            key_for(&scope, &vector.external_transaction_id, &vector.ask),
            vector.key,
            "{kind} {}",
            vector.external_transaction_id
        );
    }
    assert!(kinds.len() == 4 && kinds.values().all(|count| *count >= 2), "{kinds:?}");
    let distinct: BTreeSet<&str> = vectors.iter().map(|vector| vector.key.as_str()).collect();
    assert_eq!(distinct.len(), vectors.len(), "no two vectors share a key");
}

fn scope(company: &str, integration: &str, environment: &str) -> Scope {
    Scope {
        company: Company::parse(company).expect("a company"),
        integration: Integration::parse(integration).expect("an integration"),
        environment: Environment::parse(environment).expect("an environment"),
    }
}

fn sale(id: &str) -> ExternalTransactionId {
    ExternalTransactionId::parse(id).expect("an id")
}

#[test]
fn moving_a_character_from_one_part_to_the_next_makes_another_key() {
    let keys = [
        create_key(&scope("ab", "c", "d"), &sale("e"), 0),
        create_key(&scope("a", "bc", "d"), &sale("e"), 0),
        create_key(&scope("a", "b", "cd"), &sale("e"), 0),
        create_key(&scope("a", "b", "c"), &sale("de"), 0),
        create_key(&scope("a", "b", "c"), &sale("d"), 0),
    ];
    assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len());
}

#[test]
fn what_is_asked_for_is_part_of_the_key() {
    let (scope, sale) = (scope("A", "pos", "production"), sale("D03-K7M-S44-0127"));
    let keys = [
        create_key(&scope, &sale, 0),
        create_key(&scope, &sale, 1),
        confirm_key(&scope, &sale, "0"),
        confirm_key(&scope, &sale, "1"),
        void_key(&scope, &sale, &ExternalOperationId::parse("0").unwrap()),
        payment_key(&scope, &sale, &ExternalPaymentId::parse("0").unwrap()),
    ];
    assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len());
}

#[test]
fn a_key_is_a_uuid_of_version_8_in_its_usual_spelling() {
    let key = create_key(&scope("A", "pos", "production"), &sale("E"), 0);
    let uuid = Uuid::parse_str(key.as_str()).expect("a uuid");
    assert_eq!(uuid.get_version_num(), 8);
    assert_eq!(uuid.get_variant(), uuid::Variant::RFC4122);
    assert_eq!(uuid.hyphenated().to_string(), key.as_str());
}

proptest! {
    #[test]
    fn different_facts_never_share_a_key(
        a in prop::array::uniform4("[ab]{1,3}"), b in prop::array::uniform4("[ab]{1,3}"), revisions in (0_u32..12, 0_u32..12),
    ) {
        let key = |facts: &[String; 4], revision| {
            create_key(&scope(&facts[0], &facts[1], &facts[2]), &sale(&facts[3]), revision)
        };
        prop_assert_eq!(key(&a, revisions.0) == key(&b, revisions.1), a == b && revisions.0 == revisions.1);
    }
}
