//! Payments through an acquirer on the other end of a socket, and a line to it that a test can spoil.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Redirect, Response},
};
use hmac::{Hmac, KeyInit, Mac};
use jiff::SignedDuration;
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::watch};
use turno_protocol::secret::Secret;
use turno_server::{
    World,
    acquirer::{AcquirerTimeouts, HttpAcquirer, SimulatedAcquirer, StatementLine, sandbox_acquirer},
};

use crate::harness::{Answer, Server, Site, sale};

const SECRET: &str = "shared with the acquirer";

/// Long enough that only what is meant to run out does.
const PATIENT: AcquirerTimeouts =
    AcquirerTimeouts { connect: Duration::from_secs(60), total: Duration::from_secs(60) };

/// What the line does to an answer that the acquirer has already given.
type Spoil = Box<dyn Fn(&Exchange) -> Response + Send>;

/// One request and its answer, as they went over the wire.
#[derive(Clone)]
struct Exchange {
    request_signature: String,
    headers: axum::http::HeaderMap,
    body: Vec<u8>,
}

#[derive(Clone, Default)]
struct Line {
    mood: Arc<Mutex<Mood>>,
    /// While true, answers stay where they are.
    holds: watch::Sender<bool>,
}

#[derive(Default)]
struct Mood {
    spoil: Option<Spoil>,
    heard: Vec<Exchange>,
}

impl Line {
    fn spoil(&self, spoil: impl Fn(&Exchange) -> Response + Send + 'static) {
        self.mood.lock().unwrap().spoil = Some(Box::new(spoil));
    }

    fn hold(&self) {
        self.holds.send_replace(true);
    }

    fn mend(&self) {
        *self.mood.lock().unwrap() = Mood::default();
        self.holds.send_replace(false);
    }

    async fn carry(State(line): State<Self>, request: Request, next: Next) -> Response {
        let request_signature = request.headers().get("x-turno-signature").cloned();
        let answer = next.run(request).await;
        line.holds.subscribe().wait_for(|holds| !holds).await.unwrap();
        let (head, body) = answer.into_parts();
        // What breaks off in the acquirer breaks off here.
        let Ok(body) = to_bytes(body, usize::MAX).await else { return broken() };
        let request_signature = request_signature.map(|value| value.to_str().unwrap().to_owned());
        let exchange = Exchange {
            request_signature: request_signature.unwrap_or_default(),
            headers: head.headers.clone(),
            body: body.to_vec(),
        };
        let mut mood = line.mood.lock().unwrap();
        mood.heard.push(exchange.clone());
        match &mood.spoil {
            Some(spoil) => spoil(&exchange),
            None => Response::from_parts(head, Body::from(body)),
        }
    }
}

fn broken() -> Response {
    let nothing = Err::<Vec<u8>, _>(std::io::Error::other("broken off"));
    Body::from_stream(futures_util::stream::iter([nothing])).into_response()
}

impl Exchange {
    fn again(&self) -> Response {
        (self.headers.clone(), self.body.clone()).into_response()
    }

    fn with_status(&self, status: StatusCode) -> Response {
        (status, self.headers.clone(), self.body.clone()).into_response()
    }

    fn with_type(&self, media: &'static str) -> Response {
        let mut answer = self.again();
        answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
        answer
    }

    /// Another body with a signature that holds, as the contract describes it.
    fn saying(&self, change: impl FnOnce(&mut Value)) -> Response {
        let mut body: Value = serde_json::from_slice(&self.body).unwrap();
        change(&mut body);
        self.signed(body.to_string().into_bytes(), SECRET)
    }

    fn signed(&self, body: Vec<u8>, secret: &str) -> Response {
        let request = self.request_signature.strip_prefix("v1=").unwrap();
        let mut mac = Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes()).unwrap();
        mac.update(format!("turno-acquirer-v1\nanswer\n{request}\n").as_bytes());
        mac.update(&body);
        let hex: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        let headers = [("content-type", "application/json"), ("x-turno-signature", &format!("v1={hex}"))];
        (headers, body).into_response()
    }
}

/// A server, and its acquirer behind a socket.
struct Town {
    server: Server,
    books: Arc<SimulatedAcquirer>,
    line: Line,
}

async fn listen(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(axum::serve(listener, router).into_future());
    address
}

impl Town {
    async fn new() -> Self {
        Self::with(PATIENT, SECRET).await
    }

    async fn with(timeouts: AcquirerTimeouts, secret: &str) -> Self {
        let (books, line) = (Arc::new(SimulatedAcquirer::default()), Line::default());
        let sandbox = sandbox_acquirer(Arc::clone(&books), Secret::new(SECRET), World::system());
        let sandbox = sandbox.layer(middleware::from_fn_with_state(line.clone(), Line::carry));
        let address = listen(Router::new().nest("/v1", sandbox)).await + "/v1";
        let acquirer =
            HttpAcquirer::with_timeouts(&address, Secret::new(secret), World::system(), timeouts).unwrap();
        Self { server: Site::new(Arc::new(acquirer)).start().await, books, line }
    }

    /// A sale that waits for its payment; each has a seat of its own.
    async fn sold(&self, number: u32, amount: &str) -> Sold<'_> {
        let more =
            json!({"payment_method": "card", "amount": amount, "context": {"seat": number.to_string()}});
        let sale = self.server.create(&format!("sale-{number}"), sale(&format!("E-{number}"), more)).await;
        Sold { town: self, id: sale.expect(201).text("yupy_transaction_id"), amount: amount.to_owned() }
    }

    fn statement(&self) -> Vec<StatementLine> {
        self.books.statement()
    }
}

struct Sold<'a> {
    town: &'a Town,
    id: String,
    amount: String,
}

impl Sold<'_> {
    async fn pay(&self, payment: &str) -> Answer {
        let body = json!({"external_payment_id": payment, "amount": self.amount, "currency": "PEN"});
        self.town.server.post(&format!("/v1/transactions/{}/payments", self.id), payment, body).await
    }

    async fn financial(&self) -> String {
        let sale = self.town.server.get(&format!("/v1/transactions/{}", self.id)).await.expect(200);
        sale.text("state.financial")
    }

    /// How often the acquirer was asked for the money.
    fn asked(&self) -> u32 {
        let of_sale = |line: &StatementLine| (line.reference == self.id).then_some(line.asked);
        self.town.statement().iter().filter_map(of_sale).sum()
    }
}

#[tokio::test]
async fn what_the_acquirer_says_first_is_what_the_till_hears() {
    let town = Town::new().await;
    let approved = town.sold(1, "85.50").await;
    approved.pay("P1").await.expect(201);
    assert!(approved.pay("P1").await.expect(200).is_replay());
    let declined = town.sold(2, "85.01").await;
    declined.pay("P2").await.refused(402, "payment_declined");
    let second_time = town.sold(3, "85.05").await;
    second_time.pay("P3").await.refused(402, "payment_declined");
    second_time.pay("P4").await.expect(201);
    assert_eq!(approved.asked() + declined.asked() + second_time.asked(), 4);
    assert_eq!(town.statement()[0].amount.as_deref(), Some("85.50"));
}

/// The seven answers of contract §7, over a socket.
#[tokio::test]
async fn a_retry_finds_out_what_became_of_a_charge_whose_owner_is_gone() {
    let town = Town::new().await;
    let lost = async |number, amount| {
        let sold = town.sold(number, amount).await;
        sold.pay(&format!("P{number}")).await.refused(503, "outcome_unknown");
        assert_eq!(sold.financial().await, "processing");
        sold
    };

    let approved = lost(3, "85.03").await;
    assert_eq!(approved.pay("P3").await.expect(201).body["recovered"], true);

    let declined = lost(7, "85.07").await;
    declined.pay("P7").await.refused(402, "payment_declined");

    let pending = town.sold(2, "85.02").await;
    pending.pay("P2").await.expect(202);
    let waiting = pending.pay("P2").await.refused(409, "idempotency_in_progress");
    assert_eq!(waiting.header("retry-after"), Some("5"));

    let missed = lost(4, "85.04").await;
    let young = missed.pay("P4").await.refused(409, "idempotency_in_progress");
    assert_eq!(young.header("retry-after"), Some("5"));
    assert_eq!(missed.asked(), 1);
    town.server.site.clock.advance(SignedDuration::from_secs(10));
    assert!(missed.pay("P4").await.expect(201).body.get("recovered").is_none(), "it was charged now");
    assert_eq!(missed.asked(), 2, "under the id of the first time");

    let less = lost(6, "85.06").await;
    less.pay("P6").await.refused(409, "reconciliation_required");

    let unreachable = lost(9, "85.09").await;
    unreachable.pay("P9").await.refused(503, "outcome_unknown");

    for sold in [&approved, &declined, &pending, &less, &unreachable] {
        assert_eq!(sold.asked(), 1, "{}", sold.amount);
    }
    assert_eq!(town.statement().len(), 6, "one payment a sale");
}

/// Whatever becomes of an answer on its way: no decline, no approval, no second charge.
#[tokio::test]
async fn an_answer_that_is_not_plainly_the_acquirer_s_leaves_the_outcome_open() {
    let town = Town::new().await;
    let of_another = town.sold(99, "85.01").await;
    of_another.pay("P99").await.refused(402, "payment_declined");
    let earlier = town.line.mood.lock().unwrap().heard[0].clone();

    let html = || ([("content-type", "text/html")], "<h1>Bienvenido</h1>").into_response();
    let spoils: Vec<(&str, Spoil)> = vec![
        ("a redirect", Box::new(|_| Redirect::temporary("/v1/charges").into_response())),
        ("a portal's redirect", Box::new(|_| Redirect::to("http://127.0.0.1:9/").into_response())),
        ("a portal's page", Box::new(move |_| html())),
        ("another media type", Box::new(|heard| heard.with_type("text/plain"))),
        ("no body", Box::new(|heard| heard.signed(Vec::new(), SECRET))),
        ("half a body", Box::new(|heard| heard.signed(heard.body[..20].to_vec(), SECRET))),
        ("a body that breaks off", Box::new(|_| broken())),
        ("too much", Box::new(|heard| heard.saying(|said| said["more"] = "x".repeat(64 * 1024).into()))),
        ("a wrong path", Box::new(|heard| heard.with_status(StatusCode::NOT_FOUND))),
        ("a decline by status", Box::new(|heard| heard.with_status(StatusCode::PAYMENT_REQUIRED))),
        ("a broken gateway", Box::new(|heard| heard.with_status(StatusCode::BAD_GATEWAY))),
        ("a success that is no 200", Box::new(|heard| heard.with_status(StatusCode::CREATED))),
        ("another secret", Box::new(|heard| heard.signed(heard.body.clone(), "another secret"))),
        (
            "no signature",
            Box::new(|heard| ([("content-type", "application/json")], heard.body.clone()).into_response()),
        ),
        (
            "a changed word",
            Box::new(|heard| {
                let changed = String::from_utf8(heard.body.clone()).unwrap().replace("approved", "declined");
                (heard.headers.clone(), changed).into_response()
            }),
        ),
        ("an answer to another request", Box::new(move |_| earlier.again())),
        ("another id", Box::new(|heard| heard.saying(|said| said["acquirer_payment_id"] = "ypa_0".into()))),
        ("another currency", Box::new(|heard| heard.saying(|said| said["currency"] = "USD".into()))),
        ("a status of the future", Box::new(|heard| heard.saying(|said| said["status"] = "held".into()))),
        (
            "a decline of other money",
            Box::new(|heard| {
                heard.saying(|said| {
                    said["status"] = "declined".into();
                    said["amount"] = "1.00".into();
                })
            }),
        ),
        (
            "nothing found by a charge",
            Box::new(|heard| heard.saying(|said| said["status"] = "not_found".into())),
        ),
    ];
    for (number, (what, spoil)) in (1..).zip(spoils) {
        let (sold, payment) = (town.sold(number, "85.50").await, format!("P{number}"));
        let is_about_charges = what.ends_with("by a charge");
        town.line.spoil(spoil);
        assert_eq!(sold.pay(&payment).await.code(), "outcome_unknown", "{what}");
        if !is_about_charges {
            assert_eq!(sold.pay(&payment).await.code(), "outcome_unknown", "{what}, of a look-up");
        }
        assert_eq!(sold.financial().await, "processing", "{what}");
        town.line.mend();
        assert_eq!(sold.pay(&payment).await.expect(201).body["recovered"], true, "{what}");
        assert_eq!(sold.asked(), 1, "{what}");
    }
}

#[tokio::test]
async fn an_acquirer_that_is_slower_than_its_deadline_has_not_answered() {
    let impatient = AcquirerTimeouts { total: Duration::from_millis(300), ..PATIENT };
    let town = Town::with(impatient, SECRET).await;
    let sold = town.sold(1, "85.50").await;
    town.line.hold();
    sold.pay("P").await.refused(503, "outcome_unknown");
    sold.pay("P").await.refused(503, "outcome_unknown");
    town.line.mend();
    assert_eq!(sold.pay("P").await.expect(201).body["recovered"], true);
    assert_eq!(sold.asked(), 1);
}

#[tokio::test]
async fn an_acquirer_does_nothing_for_whoever_cannot_sign() {
    let town = Town::with(PATIENT, "not the same secret").await;
    let sold = town.sold(1, "85.50").await;
    sold.pay("P").await.refused(503, "outcome_unknown");
    assert_eq!(town.statement(), []);
}

/// Somebody who has heard a request may send it again within minutes, and it charges nobody; later it is refused.
#[tokio::test]
async fn a_request_to_the_acquirer_is_good_for_minutes() {
    let books = Arc::new(SimulatedAcquirer::default());
    let address = listen(sandbox_acquirer(Arc::clone(&books), Secret::new(SECRET), World::system())).await;
    let body =
        json!({"acquirer_payment_id": "ypa_1", "reference": "ytx_1", "amount": "85.50", "currency": "PEN"})
            .to_string();
    let send = async |age_s: i64, operation: &str, signed_for: &str| {
        let timestamp = jiff::Timestamp::now().as_second() - age_s;
        let mut mac = Hmac::<sha2::Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
        mac.update(format!("turno-acquirer-v1\nrequest\n{signed_for}\n{timestamp}\n{body}").as_bytes());
        let hex: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        let request = reqwest::Client::new().post(format!("{address}/{operation}"));
        let request = request.header("x-turno-timestamp", timestamp).body(body.clone());
        request.header("x-turno-signature", format!("v1={hex}")).send().await.unwrap().status().as_u16()
    };
    assert_eq!(send(0, "charges", "charges").await, 200);
    assert_eq!(send(200, "charges", "charges").await, 200);
    assert_eq!(send(400, "charges", "charges").await, 401);
    assert_eq!(send(-400, "charges", "charges").await, 401);
    assert_eq!(send(0, "charges", "look-ups").await, 401);
    let statement = books.statement();
    assert_eq!((statement.len(), statement[0].asked), (1, 2));
}

/// A till that hangs up while the acquirer is asked: the answer is written down all the same.
#[tokio::test]
async fn a_till_that_hangs_up_has_its_payment_written_down() {
    let town = Town::new().await;
    let sold = town.sold(1, "85.50").await;
    town.line.hold();
    {
        let mut request = Box::pin(sold.pay("P"));
        while sold.asked() == 0 {
            tokio::select! {
                biased;
                answer = &mut request => panic!("nobody has answered yet: {}", answer.body),
                () = tokio::task::yield_now() => {}
            }
        }
        // The request is dropped here, with its connection.
    }
    sold.pay("P").await.refused(409, "idempotency_in_progress");
    town.line.mend();
    while sold.financial().await == "processing" {
        tokio::task::yield_now().await;
    }
    assert!(sold.pay("P").await.expect(200).is_replay());
    assert_eq!(sold.asked(), 1);
}
