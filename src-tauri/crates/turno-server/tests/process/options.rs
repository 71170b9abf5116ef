//! What the program is told when it starts.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    process::{Command, Stdio},
};

use rcgen::{CertifiedKey, generate_simple_self_signed};

use crate::{
    program::{PATIENCE, Program, command},
    town::{Store, Town, payment},
};

/// It does not start, and says why.
#[track_caller]
fn refuses(command: &mut Command, why: &str) {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains(why), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_can_have_an_address_of_their_own() {
    let town = Town::new(Store::Sqlite);
    let mut server = Program::start(town.serve().args(["--metrics-listen", "127.0.0.1:0"]), &town.log());
    let apart = server.next_address();
    let till = town.till(&server);
    till.sell("85.50").await;
    till.get("/metrics").await.expect(404);
    let metrics = reqwest::get(format!("{apart}/metrics")).await.unwrap();
    assert!(
        metrics.text().await.unwrap().contains("turno_answers_total{code=\"ok\"} 1\n"),
        "they count for both"
    );
    assert_eq!(reqwest::get(format!("{apart}/v1/catalog")).await.unwrap().status(), 404);
    server.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_certificate_the_program_speaks_tls() {
    let town = Town::new(Store::Sqlite);
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let (certificate, key) = (town.path("certificate.pem"), town.path("key.pem"));
    fs::write(&certificate, cert.pem()).unwrap();
    fs::write(&key, signing_key.serialize_pem()).unwrap();
    let serve = || {
        let mut serve = town.serve();
        serve.arg("--tls-certificate").arg(&certificate).arg("--tls-key").arg(&key);
        serve
    };
    refuses(town.serve().arg("--tls-certificate").arg(&certificate), "--tls-key");
    fs::set_permissions(&key, Permissions::from_mode(0o644)).unwrap();
    refuses(&mut serve(), "open to everybody");

    fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
    let server = Program::start(&mut serve(), &town.log());
    assert!(server.address.starts_with("https://"));
    let trusted = reqwest::Certificate::from_pem(cert.pem().as_bytes()).unwrap();
    let client = reqwest::Client::builder().no_proxy().timeout(PATIENCE).tls_certs_only([trusted]).build();
    let health = client.unwrap().get(format!("{}/v1/catalog", server.address)).send().await.unwrap();
    assert_eq!(health.status(), 401);
}

#[test]
fn an_acquirer_needs_a_secret_that_nobody_else_knows() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secret");
    let serve = || {
        let mut serve = command();
        let database = format!("sqlite:{}", folder.path().join("ledger.db").display());
        serve.args(["serve", "--listen", "127.0.0.1:0", "--database", &database]);
        serve.env_remove("TURNO_ACQUIRER_SECRET");
        serve
    };
    let with_file = || {
        let mut serve = serve();
        serve.args(["--acquirer-url", "https://acquirer.example", "--acquirer-secret-file"]).arg(&file);
        serve
    };
    refuses(serve().args(["--acquirer-url", "https://acquirer.example"]), "an acquirer needs a secret");
    refuses(serve().env("TURNO_ACQUIRER_SECRET", "0123456789abcdef"), "no --acquirer-url");
    refuses(&mut with_file(), "cannot read");
    fs::write(&file, "short\n").unwrap();
    refuses(&mut with_file(), "open to everybody");
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    refuses(&mut with_file(), "fewer than 16 characters");
    fs::write(&file, "0123456789abcdef\n").unwrap();
    refuses(with_file().env("TURNO_ACQUIRER_SECRET", "0123456789abcdef"), "which one counts");
    let address = ["--acquirer-url", "http://acquirer.example", "--acquirer-secret-file"];
    refuses(serve().args(address).arg(&file), "money needs https");
}

#[test]
fn a_sandbox_that_tells_needs_a_secret_to_sign_with() {
    let sandbox = || {
        let mut sandbox = command();
        sandbox.args(["sandbox-acquirer", "--listen", "127.0.0.1:0"]);
        sandbox.env("TURNO_ACQUIRER_SECRET", "0123456789abcdef");
        sandbox.env_remove("TURNO_ACQUIRER_WEBHOOK_SECRET");
        sandbox
    };
    let url = |address| ["--webhook-url", address];
    refuses(sandbox().args(url("http://127.0.0.1/v1/acquirer/webhook")), "a secret is missing");
    refuses(
        sandbox()
            .args(url("http://yupy.example/v1/acquirer/webhook"))
            .env("TURNO_ACQUIRER_WEBHOOK_SECRET", "0123456789abcdef"),
        "money needs https",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_acquirer_has_the_time_that_the_server_gives_it() {
    let town = Town::new(Store::Sqlite);
    for (flag, value) in [("--acquirer-timeout-s", "0"), ("--acquirer-connect-timeout-s", "12")] {
        refuses(town.serve().args([flag, value]), "1..=11");
    }
    let server = Program::start(town.serve().env("TURNO_ACQUIRER_TIMEOUT_S", "1"), &town.log());
    let till = town.till(&server);
    // The sandbox approves this amount after three seconds.
    let payments = till.sell("85.08").await;
    let unknown = till.post(&payments, "pay", &payment("85.08")).await.unwrap().expect(503);
    assert_eq!(unknown.code(), "outcome_unknown");
    server.end().await;
}
