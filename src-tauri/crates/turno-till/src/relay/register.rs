//! Telling YUPY of an epoch that the till took by itself, at the first contact after it.
//!
//! Two folders that know nothing of each other may draw the same letters; only YUPY sees both. Invariant: nothing waits
//! for this, and whatever is answered, a sale that was numbered keeps its number.

use rusqlite::Connection;
use serde_json::json;
use turno_domain::ids::{DeviceId, Epoch};
use turno_protocol::enrol::{EpochAnswer, EpochRequest};
use uuid::Uuid;

use crate::clock::Millis;
use crate::guard;
use crate::random::Entropy;
use crate::store::audit::{self, Event};
use crate::store::{epochs, installation};
use crate::transport::{Request, Transport};
use crate::view::EpochReason;

const PATH: &str = "/v1/devices/epochs";
/// Somebody else's server may need a while to be mended; sales do not wait for it.
pub const AGAIN_MS: Millis = 60_000;

/// A device has 9 261 epochs; this many taken in a row is a server's fault, not chance.
pub const TAKEN_LIMIT: u32 = 8;

/// The till that an epoch is registered for.
#[derive(Clone, Debug)]
pub struct Registrant {
    pub installation_id: Uuid,
    pub device_id: DeviceId,
}

/// What YUPY says of an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    Known,
    /// Another installation of this device has it.
    Taken,
    /// This YUPY keeps no epochs.
    NotKept,
    Nothing,
}

pub async fn tell(transport: &dyn Transport, of: &Registrant, epoch: Epoch) -> Said {
    let (device_id, installation_id) = (of.device_id.clone(), of.installation_id);
    let request = EpochRequest { device_id, installation_id, epoch };
    let body = serde_json::to_vec(&request).expect("texts under fixed names are JSON");
    let Ok(answer) = transport.send(Request::post(PATH, body)).await else { return Said::Nothing };
    let code = answer.json().and_then(|body| Some(body.get("error")?.get("code")?.as_str()?.to_owned()));
    let known = answer.json().and_then(|body| serde_json::from_value::<EpochAnswer>(body).ok());
    match (answer.status, code.as_deref()) {
        (200, None) if known.is_some_and(|known| known.epoch == epoch) => Said::Known,
        (409, Some("epoch_taken")) => Said::Taken,
        (404 | 405, Some(_)) => Said::NotKept,
        _ => Said::Nothing,
    }
}

/// The epoch that YUPY does not know yet, if there is one.
pub fn unregistered(conn: &Connection) -> rusqlite::Result<Option<Epoch>> {
    Ok(epochs::current(conn)?.filter(|row| row.registered_at.is_none()).map(|row| row.epoch))
}

/// Writes down what was said. Letters that are somebody else's are left before the next sale; if sales bear them
/// already, people are told, and each is looked up before it is sent.
pub fn note(
    conn: &Connection,
    entropy: &dyn Entropy,
    epoch: Epoch,
    said: Said,
    now: Millis,
) -> rusqlite::Result<()> {
    match said {
        Said::Known => epochs::set_registered(conn, epoch, now),
        Said::Taken => {
            let Some(current) = epochs::current(conn)?.filter(|row| row.epoch == epoch) else {
                return Ok(());
            };
            let numbered = installation::last_sequence(conn)? - current.after_sequence;
            if numbered > 0 {
                let data = json!({ "epoch": epoch.as_str(), "numbered_count": numbered });
                let entry = audit::Entry { data, ..audit::Entry::new(Event::IdentityCollision) };
                audit::append(conn, now, &entry)?;
            }
            guard::leave_epoch(conn, entropy, EpochReason::IdentityCollision, now)
        }
        Said::NotKept | Said::Nothing => Ok(()),
    }
}
