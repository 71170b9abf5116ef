//! An acquirer behind an address, spoken to as [`super::wire`] says.
//!
//! Invariant: a request leaves this machine once and waits no longer than its deadline. Only a signed answer about the
//! payment that was asked about counts; everything else is [`NoAnswer`], never a decline.

use std::time::Duration;

use reqwest::{
    Client, Response, StatusCode, Url,
    header::{CONTENT_TYPE, HeaderMap},
    redirect, retry,
};
use turno_domain::Money;
use turno_protocol::secret::Secret;

use super::{
    Acquirer, Answer, Charge, Found, LookUp, NoAnswer,
    wire::{Asked, BODY_LIMIT, Operation, SIGNATURE, Said, Signature, TIMESTAMP},
};
use crate::{payment::PaymentResult, world::World};

/// Below the usual idle time-out of proxies, so that a kept connection is rarely a dead one.
const POOL_IDLE: Duration = Duration::from_secs(15);

/// How long an acquirer may take.
#[derive(Clone, Copy, Debug)]
pub struct AcquirerTimeouts {
    /// Until the connection stands, name and TLS included.
    pub connect: Duration,
    /// For everything. Below the twelve seconds after which a till is told to ask again.
    pub total: Duration,
}

impl Default for AcquirerTimeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(3), total: Duration::from_secs(10) }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum AcquirerAddressError {
    #[error("not an address")]
    NotAnAddress,
    #[error("the address carries a user, a query or a fragment")]
    NotPlain,
    #[error("money needs https, except on this machine")]
    NotSecure,
    #[error("the http client cannot be set up")]
    Client(#[from] reqwest::Error),
}

/// Why an exchange was worth nothing. For people who read the log; the payment's outcome is unknown in every case.
#[derive(Debug, thiserror::Error)]
enum Unclear {
    #[error("no answer came")]
    NoAnswer(#[source] reqwest::Error),
    #[error("the status is {0}")]
    Status(StatusCode),
    #[error("the answer is not json")]
    MediaType,
    #[error("the answer is too large")]
    TooLarge,
    #[error("the answer's signature does not hold")]
    Signature,
    #[error("the answer is about something else, or cannot be read")]
    NotOurs,
}

pub struct HttpAcquirer {
    client: Client,
    charges: Url,
    look_ups: Url,
    secret: Secret,
    world: World,
}

impl HttpAcquirer {
    /// `address` is what the operations' names are appended to, e.g. `https://acquirer.example/v1`.
    ///
    /// # Errors
    /// The address is not one, or would carry money in the open.
    pub fn new(address: &str, secret: Secret, world: World) -> Result<Self, AcquirerAddressError> {
        Self::with_timeouts(address, secret, world, AcquirerTimeouts::default())
    }

    /// As [`Self::new`], with other time-outs.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_timeouts(
        address: &str,
        secret: Secret,
        world: World,
        timeouts: AcquirerTimeouts,
    ) -> Result<Self, AcquirerAddressError> {
        let base = base(address)?;
        let client = client(&base, timeouts)?;
        let operation = |operation: Operation| {
            base.join(operation.as_str()).map_err(|_| AcquirerAddressError::NotAnAddress)
        };
        let (charges, look_ups) = (operation(Operation::Charges)?, operation(Operation::LookUps)?);
        Ok(Self { client, charges, look_ups, secret, world })
    }

    async fn ask(&self, operation: Operation, asked: Asked, amount: Money) -> Result<Found, NoAnswer> {
        self.exchange(operation, &asked, amount).await.map_err(|unclear| {
            let cause = std::error::Error::source(&unclear).map(root);
            tracing::warn!(
                operation = operation.as_str(),
                acquirer_payment_id = asked.acquirer_payment_id,
                %unclear,
                cause,
                "the acquirer gave no answer that can be used"
            );
            NoAnswer
        })
    }

    async fn exchange(&self, operation: Operation, asked: &Asked, amount: Money) -> Result<Found, Unclear> {
        let body = serde_json::to_vec(asked).expect("texts under fixed names are always json");
        let timestamp = u64::try_from(self.world.now().as_second()).unwrap_or(0);
        let signature = Signature::of_request(&self.secret, operation, timestamp, &body);
        let url = match operation {
            Operation::Charges => &self.charges,
            Operation::LookUps => &self.look_ups,
        };
        let request = self
            .client
            .post(url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(TIMESTAMP, timestamp)
            .header(SIGNATURE, signature.to_header())
            .body(body);
        let answer = request.send().await.map_err(Unclear::NoAnswer)?;
        if answer.status() != StatusCode::OK {
            return Err(Unclear::Status(answer.status()));
        }
        if !is_json(answer.headers()) {
            return Err(Unclear::MediaType);
        }
        let shown = the_one(answer.headers(), SIGNATURE).unwrap_or_default().to_owned();
        let body = read(answer).await?;
        if !Signature::of_answer(&self.secret, signature, &body).is(&shown) {
            return Err(Unclear::Signature);
        }
        let said = Said::parse(&body).ok_or(Unclear::NotOurs)?;
        said.about(&asked.acquirer_payment_id, amount).ok_or(Unclear::NotOurs)
    }
}

impl Acquirer for HttpAcquirer {
    fn charge(&self, charge: Charge) -> Answer<'_, PaymentResult> {
        let asked = Asked::new(&charge.acquirer_payment_id, Some(charge.reference), charge.amount);
        Box::pin(async move {
            match self.ask(Operation::Charges, asked, charge.amount).await? {
                Found::Payment(result) => Ok(result),
                // It was asked for the money and says that it was not: whatever that means, it is no result.
                Found::Nothing => Err(NoAnswer),
            }
        })
    }

    fn find<'a>(&'a self, lookup: LookUp<'a>) -> Answer<'a, Found> {
        let asked = Asked::new(lookup.acquirer_payment_id, None, lookup.amount);
        Box::pin(self.ask(Operation::LookUps, asked, lookup.amount))
    }
}

/// What talks to `address`: each request leaves once, and to nobody else.
pub(super) fn client(address: &Url, timeouts: AcquirerTimeouts) -> Result<Client, reqwest::Error> {
    let client = Client::builder()
        .connect_timeout(timeouts.connect)
        .timeout(timeouts.total)
        .pool_idle_timeout(POOL_IDLE)
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .user_agent(concat!("turno-server/", env!("CARGO_PKG_VERSION")));
    // A proxy for the internet cannot reach this machine's own ports.
    if is_loopback(address) { client.no_proxy() } else { client }.build()
}

/// Piece by piece, so that nobody's answer fills our memory.
async fn read(mut answer: Response) -> Result<Vec<u8>, Unclear> {
    let mut body = Vec::new();
    while let Some(piece) = answer.chunk().await.map_err(Unclear::NoAnswer)? {
        if body.len() + piece.len() > BODY_LIMIT {
            return Err(Unclear::TooLarge);
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

fn is_json(headers: &HeaderMap) -> bool {
    let essence = the_one(headers, CONTENT_TYPE.as_str()).and_then(|value| value.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

fn the_one<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    value.to_str().ok()
}

/// The innermost cause, which says what happened and no address.
fn root(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.last().map(ToString::to_string).unwrap_or_default()
}

/// The address with a path that ends in `/`, so that joining keeps a prefix such as `/v1`.
fn base(address: &str) -> Result<Url, AcquirerAddressError> {
    let mut url = plain_address(address)?;
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    Ok(url)
}

/// An address that money may be talked about with.
pub(super) fn plain_address(address: &str) -> Result<Url, AcquirerAddressError> {
    let url = Url::parse(address.trim()).map_err(|_| AcquirerAddressError::NotAnAddress)?;
    if !url.has_host() {
        return Err(AcquirerAddressError::NotAnAddress);
    }
    let has_user = !url.username().is_empty() || url.password().is_some();
    if has_user || url.query().is_some() || url.fragment().is_some() {
        return Err(AcquirerAddressError::NotPlain);
    }
    if !(url.scheme() == "https" || url.scheme() == "http" && is_loopback(&url)) {
        return Err(AcquirerAddressError::NotSecure);
    }
    Ok(url)
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_travels_in_the_open_on_this_machine_only() {
        for address in [
            "https://acquirer.example",
            "https://acquirer.example/v1/",
            "http://127.0.0.1:8090",
            "http://[::1]:8090/v1",
            "http://localhost",
        ] {
            base(address).unwrap();
        }
        let refused = |address| base(address).unwrap_err().to_string();
        for address in ["http://acquirer.example", "http://10.0.0.1", "ftp://127.0.0.1"] {
            assert!(refused(address).starts_with("money needs https"), "{address}");
        }
        for address in ["https://u:p@acquirer.example", "https://acquirer.example?a=b", "https://a.example#b"]
        {
            assert!(refused(address).starts_with("the address carries"), "{address}");
        }
        for address in ["", "acquirer.example", "file:///etc", "/v1"] {
            assert_eq!(refused(address), "not an address", "{address}");
        }
    }

    #[test]
    fn an_address_keeps_its_path() {
        assert_eq!(base("https://a.example/v1").unwrap().join("charges").unwrap().path(), "/v1/charges");
    }
}
