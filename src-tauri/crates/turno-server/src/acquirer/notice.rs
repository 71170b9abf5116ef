//! The webhook with which the sandbox closes what it has left pending.
//!
//! Invariant: a payment is settled in the sandbox's books before anybody is told, and each time that it is told it is the
//! same event, so that whoever hears it twice can tell.

use std::{sync::Arc, time::Duration};

use reqwest::{Client, StatusCode, Url, header::CONTENT_TYPE};
use serde_json::json;
use turno_domain::Money;
use turno_protocol::secret::Secret;

use super::{
    SimulatedAcquirer,
    http::{AcquirerAddressError, AcquirerTimeouts, client, plain_address},
};
use crate::{secrets::hmac, token::hex, world::World};

/// How often a server that does not take the event is told again: for five minutes.
const ATTEMPTS: u32 = 9;

/// Before the second attempt; twice as long before each other one.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// Who is told, and when.
#[derive(Clone, Debug)]
pub struct Webhook {
    client: Client,
    address: Url,
    secret: Secret,
    /// How long a payment stays pending.
    after: Duration,
}

impl Webhook {
    /// `address` is the whole one, e.g. `http://127.0.0.1:8080/v1/acquirer/webhook`.
    ///
    /// # Errors
    /// The address is not one, or would carry money in the open.
    pub fn new(address: &str, secret: Secret, after: Duration) -> Result<Self, AcquirerAddressError> {
        let address = plain_address(address)?;
        let client = client(&address, AcquirerTimeouts::default())?;
        Ok(Self { client, address, secret, after })
    }

    /// Approve a pending payment after a while, and tell it.
    pub(super) async fn close(
        self,
        books: Arc<SimulatedAcquirer>,
        world: World,
        acquirer_payment_id: String,
        amount: Money,
    ) {
        tokio::time::sleep(self.after).await;
        if !books.approve_pending(&acquirer_payment_id, amount) {
            // Asked for twice, settled once.
            return;
        }
        let body = json!({
            "event_id": world.new_id("evt"), "acquirer_payment_id": acquirer_payment_id, "status": "approved",
            "amount": amount.to_amount_text(), "currency": amount.currency(),
        });
        let body = body.to_string();
        let mut pause = FIRST_PAUSE;
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                tokio::time::sleep(pause).await;
                pause *= 2;
            }
            match self.tell(&body).await {
                Ok(StatusCode::OK) => return,
                Ok(status) => tracing::warn!(acquirer_payment_id, %status, "the webhook was not taken"),
                Err(error) => tracing::warn!(acquirer_payment_id, %error, "the webhook got no answer"),
            }
        }
        tracing::error!(acquirer_payment_id, "the webhook is given up; a look-up finds the payment approved");
    }

    async fn tell(&self, body: &str) -> Result<StatusCode, reqwest::Error> {
        let signature = hmac(self.secret.expose().as_bytes(), body.as_bytes());
        let request = self
            .client
            .post(self.address.clone())
            .header(CONTENT_TYPE, "application/json")
            .header("x-acquirer-signature", format!("sha256={}", hex(&signature)))
            .body(body.to_owned());
        Ok(request.send().await.map_err(reqwest::Error::without_url)?.status())
    }
}
