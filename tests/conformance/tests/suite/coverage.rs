//! What the suite says of itself.

use std::collections::BTreeSet;

use turno_conformance::{Fixture, Row, Target, Verdict, cases, run, unprovokable};

#[test]
fn every_row_of_the_contract_has_a_case_or_a_reason() {
    let covered: BTreeSet<_> = cases().iter().flat_map(|case| case.rows.iter().copied()).collect();
    for row in Row::ALL {
        assert_ne!(covered.contains(row), unprovokable(*row).is_some(), "{row} has both or neither");
    }
}

#[test]
fn cases_and_rows_have_names_of_their_own() {
    let titles: BTreeSet<_> = cases().iter().map(|case| case.title()).collect();
    assert_eq!(titles.len(), cases().len());
    let rows: BTreeSet<_> = Row::ALL.iter().map(|row| row.as_str()).collect();
    assert_eq!(rows.len(), Row::ALL.len());
}

#[tokio::test]
async fn where_nobody_listens_every_case_that_asks_fails() {
    let fixture = Fixture::parse(crate::server::FIXTURE).unwrap();
    let target = Target::new("http://127.0.0.1:1", fixture).unwrap();
    let report = run(&target, cases()).await;
    let passed: Vec<_> = report.cases.iter().filter(|(_, verdict)| *verdict == Verdict::Passed).collect();
    assert!(passed.is_empty(), "passed without a server: {passed:?}");
}

#[tokio::test]
async fn what_a_fixture_does_not_have_is_skipped_and_said() {
    let nobody = br#"{"settings": {"confirmation_token_life_s": 86400, "error_profile": "default",
        "body_limit_bytes": 65536, "acquirer_webhook_secret": "x", "acquirer_visibility_delay_s": 1}, "integrations": [], "credentials": []}"#;
    let target = Target::new("http://127.0.0.1:1", Fixture::parse(nobody).unwrap()).unwrap();
    let report = run(&target, cases()).await;
    let skipped = report.cases.iter().filter(|(_, verdict)| matches!(verdict, Verdict::Skipped(_))).count();
    assert!(skipped > cases().len() / 2, "{report}");
    assert_eq!(report.to_json()["skipped"], skipped);
}
