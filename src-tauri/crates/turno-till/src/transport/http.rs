//! The production transport: reqwest with every limit set, since it has none by default.

use std::error::Error;
use std::io::ErrorKind;
use std::net::IpAddr;
use std::time::Duration;

use reqwest::header::{
    AUTHORIZATION, CONTENT_TYPE, DATE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_NONE_MATCH, RETRY_AFTER,
};
use reqwest::{Client, Url, redirect, retry};
use turno_protocol::chain::AUDIT_HEAD_HEADER;

use super::{ANSWER_LIMIT, Failure, Method, Request, Response, Sending, Transport};

/// How long each part of an exchange may take. Tests shorten them; everybody else takes the default.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// Until the connection stands, name and TLS included.
    pub connect: Duration,
    /// Between two pieces of an answer.
    pub read: Duration,
    /// For everything: a host that sends a byte now and then never reaches `read`.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            read: Duration::from_secs(10),
            // Longer than the two seconds for which YUPY itself makes a twin wait (contract §5), shorter than a shift.
            total: Duration::from_secs(15),
        }
    }
}

/// Below the usual idle time-out of proxies, so that a kept connection is rarely a dead one.
const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(15);

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    #[error("not an http or https address")]
    NotHttp,
    #[error("the address carries a user, a query or a fragment")]
    NotPlain,
    #[error("the credential has characters that no header can carry")]
    Credential,
    #[error("the TLS client cannot be set up")]
    Client(#[from] reqwest::Error),
}

pub struct HttpTransport {
    client: Client,
    base: Url,
    authorization: Option<HeaderValue>,
}

impl HttpTransport {
    /// `address` is the server's base, e.g. `https://yupy.example`; a missing scheme means `https`.
    ///
    /// # Errors
    /// The address is not one, or the credential cannot travel.
    pub fn new(address: &str, credential: Option<&str>) -> Result<Self, AddressError> {
        Self::with_timeouts(address, credential, Timeouts::default())
    }

    /// As [`Self::new`], with other time-outs.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_timeouts(
        address: &str,
        credential: Option<&str>,
        timeouts: Timeouts,
    ) -> Result<Self, AddressError> {
        let base = base(address)?;
        let authorization = credential
            .map(|credential| HeaderValue::from_str(&format!("Bearer {credential}")))
            .transpose()
            .map_err(|_| AddressError::Credential)?
            .map(|mut value| {
                value.set_sensitive(true);
                value
            });
        let mut client = Client::builder()
            .connect_timeout(timeouts.connect)
            .read_timeout(timeouts.read)
            .timeout(timeouts.total)
            .pool_idle_timeout(POOL_IDLE_TIMEOUT)
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .user_agent(concat!("turno/", env!("CARGO_PKG_VERSION")));
        // The practice server is on this machine, and a proxy for the internet cannot reach it.
        if is_loopback(&base) {
            client = client.no_proxy();
        }
        Ok(Self { client: client.build()?, base, authorization })
    }

    async fn exchange(&self, request: Request) -> Result<Response, Failure> {
        let url = self.base.join(request.path.trim_start_matches('/')).map_err(|_| Failure::Unreachable)?;
        let mut call = match request.method {
            Method::Get => self.client.get(url),
            Method::Post => self.client.post(url),
        };
        if let Some(authorization) = &self.authorization {
            call = call.header(AUTHORIZATION, authorization.clone());
        }
        if let Some(key) = &request.idempotency_key {
            call = call.header(IDEMPOTENCY_KEY, key);
        }
        if let Some(head) = &request.audit_head {
            call = call.header(AUDIT_HEAD_HEADER, head);
        }
        if let Some(etag) = &request.if_none_match {
            call = call.header(IF_NONE_MATCH, etag);
        }
        if let Some(body) = request.body {
            call = call.header(CONTENT_TYPE, "application/json").body(body);
        }
        let mut answer = call.send().await.map_err(|error| failure(&error))?;
        let mut response = head(answer.status().as_u16(), answer.headers());
        while let Some(piece) = answer.chunk().await.map_err(|error| failure(&error))? {
            if response.body.len() + piece.len() > ANSWER_LIMIT {
                return Err(Failure::UnusableAnswer);
            }
            response.body.extend_from_slice(&piece);
        }
        Ok(response)
    }
}

impl Transport for HttpTransport {
    fn send(&self, request: Request) -> Sending<'_> {
        Box::pin(self.exchange(request))
    }
}

/// The base address with a path that ends in `/`, so that joining keeps a prefix such as `/yupy`.
fn base(address: &str) -> Result<Url, AddressError> {
    let address = address.trim();
    let full = if address.contains("://") { address.to_owned() } else { format!("https://{address}") };
    let mut url = Url::parse(&full).map_err(|_| AddressError::NotHttp)?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(AddressError::NotHttp);
    }
    let has_user = !url.username().is_empty() || url.password().is_some();
    if has_user || url.query().is_some() || url.fragment().is_some() {
        return Err(AddressError::NotPlain);
    }
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    Ok(url)
}

fn is_loopback(base: &Url) -> bool {
    let host = base.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn head(status: u16, headers: &HeaderMap) -> Response {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    Response {
        status,
        media_type: text(CONTENT_TYPE),
        retry_after: text(RETRY_AFTER),
        date: text(DATE),
        etag: text(ETAG),
        request_id: text(REQUEST_ID),
        body: Vec::new(),
    }
}

fn failure(error: &reqwest::Error) -> Failure {
    let reached = match (error.is_connect(), error.is_timeout()) {
        (true, _) => Reached::Nothing,
        (false, true) => Reached::TimeOut,
        (false, false) => Reached::Host,
    };
    named(reached, error)
}

/// How far an exchange came before it failed.
#[derive(Clone, Copy, Debug)]
enum Reached {
    /// There never was a connection over which bytes could have left.
    Nothing,
    Host,
    TimeOut,
}

/// Names what went wrong by walking the causes, since reqwest only says in which step it happened. Only where
/// nothing can have left do the causes matter: an unreachable network in the middle of an exchange, or an alert about
/// a certificate after it began, does not make a sale less likely to have arrived.
fn named(reached: Reached, error: &dyn Error) -> Failure {
    match reached {
        Reached::Host => return Failure::ConnectionLost,
        Reached::TimeOut => return Failure::TimedOut,
        Reached::Nothing => {}
    }
    let mut cause = error.source();
    while let Some(inner) = cause {
        if let Some(io) = inner.downcast_ref::<std::io::Error>() {
            let kind = io.kind();
            if [ErrorKind::NetworkUnreachable, ErrorKind::HostUnreachable, ErrorKind::NetworkDown]
                .contains(&kind)
            {
                return Failure::NoNetwork;
            }
        }
        let said = inner.to_string();
        if said == "dns error" {
            return Failure::NoNameResolution;
        }
        if said.contains("certificate") || said.contains("received corrupt message") {
            return Failure::CertificateOrClock;
        }
        cause = inner.source();
    }
    Failure::Unreachable
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("step failed")]
    struct Step(#[source] io::Error);

    #[test]
    fn only_what_failed_before_a_connection_stood_is_named_by_its_cause() {
        let certificate = || io::Error::other("invalid peer certificate: UnknownIssuer");
        for (cause, name) in [
            (io::Error::from(ErrorKind::NetworkUnreachable), Failure::NoNetwork),
            (io::Error::from(ErrorKind::HostUnreachable), Failure::NoNetwork),
            (io::Error::from(ErrorKind::NetworkDown), Failure::NoNetwork),
            (io::Error::from(ErrorKind::ConnectionRefused), Failure::Unreachable),
            (io::Error::from(ErrorKind::TimedOut), Failure::Unreachable),
            (io::Error::other("dns error"), Failure::NoNameResolution),
            (certificate(), Failure::CertificateOrClock),
        ] {
            let error = Step(cause);
            assert_eq!(named(Reached::Nothing, &error), name, "{error:?}");
            assert_eq!(named(Reached::Host, &error), Failure::ConnectionLost, "{error:?}");
            assert_eq!(named(Reached::TimeOut, &error), Failure::TimedOut, "{error:?}");
        }
    }
}
