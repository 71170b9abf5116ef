//! Asking whether YUPY is there when there is no sale to ask with.
//!
//! A look-up that needs the credential and changes nothing, so one small answer tells the line, the address and the
//! credential apart. A sale is always the better question; this one is asked only when the queue is empty.

use serde_json::Value;

use crate::answer::{PauseCause, Verdict, WaitCause};
use crate::clock::Millis;
use crate::transport::{Request, Response, Transport};

/// While all is well and nothing is sold: rarely enough for a prepaid line.
pub const EVERY_MS: i64 = 120_000;

/// One item at most; the device id keeps it to an index.
const PATH: &str = "/v1/transactions?device_id=-&limit=1";

/// What became of the question.
pub struct Ponged {
    /// `None` when YUPY answered, otherwise the trouble in the words of a sale's answer.
    pub trouble: Option<Verdict>,
    /// What YUPY's clock said.
    pub yupy_at: Option<Millis>,
}

pub async fn ping(transport: &dyn Transport) -> Ponged {
    match transport.send(Request::get(PATH)).await {
        Ok(answer) => Ponged { trouble: trouble(&answer), yupy_at: answer.answered_at() },
        Err(failure) => Ponged { trouble: wait(failure.cause()), yupy_at: None },
    }
}

fn wait(cause: WaitCause) -> Option<Verdict> {
    Some(Verdict::Wait { cause, retry_after_ms: None })
}

fn trouble(answer: &Response) -> Option<Verdict> {
    match answer.status {
        200 if answer.json().is_some_and(|body| body.get("items").is_some_and(Value::is_array)) => None,
        401 | 403 => Some(Verdict::Pause(PauseCause::CredentialRefused)),
        404 | 405 | 415 => Some(Verdict::Pause(PauseCause::WrongAddress)),
        429 | 500..=510 => {
            Some(Verdict::Wait { cause: WaitCause::ServerBusy, retry_after_ms: answer.retry_after_ms() })
        }
        _ => wait(WaitCause::Portal),
    }
}
