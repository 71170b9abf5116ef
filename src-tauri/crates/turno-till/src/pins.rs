//! PINs: who is at the till, and who may decide.
//!
//! Invariant: a try is counted on the disk before it is checked, so neither a kill nor a hundred parallel calls give
//! a free one, nor does a database that is put back as it was ([`crate::tries`]); an unknown person costs the same time
//! and gets the same answer as a wrong PIN.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use rusqlite::Connection;
use turno_sqlite::{Database, WriterMode};

use crate::clock::{Millis, SharedClock};
use crate::random::SharedEntropy;
use crate::secrets::Secrets;
use crate::store::audit::{self, Event};
use crate::store::people;
use crate::tries::Tries;
use crate::view::{Person, Problem, ProblemCode, Role};

const LANES: u32 = 1;

pub const PIN_DIGITS_MIN: usize = 6;
pub const PIN_DIGITS_MAX: usize = 12;
/// Wrong tries that cost nothing but the check.
const FREE_FAILURES: u32 = 3;
/// Ten failures lock; before that the wait doubles from two seconds.
const LOCK_FAILURES: u32 = 10;
const DELAY_BASE_MS: i64 = 2_000;
const LOCK_MS: i64 = 15 * 60_000;

/// What people choose when series and repetitions are refused, by lists of leaked PINs: walks over the pad, pairs,
/// there and back, even and odd. Short on purpose: the lock-out leaves a thief a handful of tries, not thousands.
const COMMON: [&str; 20] = [
    "112233", "332211", "445566", "778899", "123321", "654456", "147258", "258147", "147852", "741852",
    "258369", "369258", "159357", "357159", "159753", "951753", "789456", "456123", "246810", "135790",
];

/// Something like a hash, for people who do not exist: checking it takes as long.
const NOBODY: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5LW5vYm9keQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

#[derive(Clone)]
pub struct Pins {
    pub db: Database,
    pub clock: SharedClock,
    pub entropy: SharedEntropy,
    pub cost: PinCost,
    pub mode: WriterMode,
    pub secrets: Secrets,
    pub waits: Waits,
}

/// Who gives somebody a PIN: whoever stands at the till, and the manager who approved it where one must.
pub struct By<'a> {
    pub here: &'a Person,
    pub approved_by: Option<&'a Person>,
}

/// When each person's last try was counted, in time that nobody can set. It is not kept: after a restart the whole
/// wait begins anew, so neither a clock set forward nor a killed program ends one.
pub type Waits = Arc<Mutex<HashMap<String, Millis>>>;

/// How much work one check of a PIN is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PinCost {
    pub memory_kib: u32,
    pub passes: u32,
}

impl Default for PinCost {
    /// OWASP's floor for Argon2id: 19 MiB, two passes. A short PIN is protected by the pepper and the lock-out, not
    /// by this.
    fn default() -> Self {
        Self { memory_kib: 19 * 1024, passes: 2 }
    }
}

impl Pins {
    /// Adds a person who can unlock the till.
    ///
    /// # Errors
    /// `pin_weak`, `name_invalid`.
    pub async fn add(&self, person: Person, pin: &str, by: Option<By<'_>>) -> Result<(), Problem> {
        check_strength(pin)?;
        let hash = self.hash(pin.to_owned()).await?;
        let now = self.clock.now().as_millisecond();
        // Nobody is at a till that has nobody yet.
        let here = by.as_ref().map_or(&person, |by| by.here).person_id.clone();
        let approved_by = by.and_then(|by| by.approved_by).map(|manager| manager.person_id.clone());
        self.db
            .write(move |conn| {
                people::insert(conn, &person, &hash)?;
                let entry = audit::Entry {
                    person_id: Some(&here),
                    data: serde_json::json!({
                        "of": person.person_id, "role": person.role.as_word(), "approved_by": approved_by,
                    }),
                    ..audit::Entry::new(Event::PersonCreated)
                };
                audit::append(conn, now, &entry)?;
                Ok::<_, Problem>(())
            })
            .await?;
        Ok(())
    }

    /// Another PIN for somebody, who may try it at once.
    ///
    /// # Errors
    /// `pin_weak`, `not_found`.
    pub async fn replace(
        &self,
        person_id: &str,
        pin: &str,
        event: Event,
        by: &By<'_>,
    ) -> Result<(), Problem> {
        check_strength(pin)?;
        let hash = self.hash(pin.to_owned()).await?;
        let (id, here, now) = (person_id.to_owned(), by.here.clone(), self.clock.now().as_millisecond());
        let approved_by = by.approved_by.map(|manager| manager.person_id.clone());
        let tries = self.secrets.tries();
        self.db
            .write(move |conn| {
                if !people::set_pin(conn, &id, &hash)? {
                    return Err(ProblemCode::NotFound.into());
                }
                tries.forgive(&id);
                let data = serde_json::json!({ "of": id, "approved_by": approved_by });
                let entry =
                    audit::Entry { person_id: Some(&here.person_id), data, ..audit::Entry::new(event) };
                Ok::<_, Problem>(audit::append(conn, now, &entry)?)
            })
            .await?;
        self.waits.lock().unwrap_or_else(PoisonError::into_inner).remove(person_id);
        Ok(())
    }

    /// Whether this is the person's PIN. A right one forgives the wrong ones before it.
    ///
    /// # Errors
    /// `pin_wrong`; `pin_locked` with the seconds to wait as detail.
    pub async fn verify(&self, person_id: &str, pin: &str) -> Result<Person, Problem> {
        let (id, now) = (person_id.to_owned(), self.clock.now().as_millisecond());
        let (waits, running) = (Arc::clone(&self.waits), self.clock.running());
        let tries = self.secrets.tries();
        let admitted =
            self.db.write(move |conn| Ok::<_, Problem>(admit(conn, &waits, &tries, &id, running)?)).await?;
        let known = match admitted {
            Admitted::Locked { wait_ms } => return Err(locked(wait_ms)),
            Admitted::Nobody => None,
            Admitted::Counted { pin_hash } => Some(pin_hash),
        };
        let right = self.matches(pin.to_owned(), known.clone().unwrap_or_else(|| NOBODY.to_owned())).await?;
        let id = person_id.to_owned();
        if known.is_none() || !right {
            self.note_refusal(known.map(|_| id), now).await?;
            return Err(ProblemCode::PinWrong.into());
        }
        let tries = self.secrets.tries();
        let person = self
            .db
            .write(move |conn| {
                people::forgive(conn, &id)?;
                tries.forgive(&id);
                Ok::<_, Problem>(people::find(conn, &id)?)
            })
            .await?;
        person.ok_or_else(|| ProblemCode::PinWrong.into())
    }

    /// A manager's PIN, for one act.
    ///
    /// # Errors
    /// As [`Self::verify`], and `manager_required`.
    pub async fn approve(&self, manager_id: &str, pin: &str) -> Result<Person, Problem> {
        let person = self.verify(manager_id, pin).await?;
        match person.role {
            Role::Manager => Ok(person),
            Role::Cashier => Err(ProblemCode::ManagerRequired.into()),
        }
    }

    async fn note_refusal(&self, person_id: Option<String>, now: Millis) -> Result<(), Problem> {
        self.db
            .write(move |conn| {
                let entry =
                    audit::Entry { person_id: person_id.as_deref(), ..audit::Entry::new(Event::PinRefused) };
                Ok::<_, Problem>(audit::append(conn, now, &entry)?)
            })
            .await?;
        Ok(())
    }

    /// Hashing takes some 20 ms of a core; the threads that serve the screen stay free.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        match self.mode {
            WriterMode::Inline => work(),
            WriterMode::Thread => {
                tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(ProblemCode::Internal.into()))
            }
        }
    }

    async fn hash(&self, pin: String) -> Result<String, Problem> {
        let mut salt = [0; 16];
        self.entropy.fill(&mut salt);
        let (cost, pepper) = (self.cost, self.secrets.pepper.clone());
        self.blocking(move || {
            let hash = argon2(cost, &pepper)?.hash_password_with_salt(pin.as_bytes(), &salt);
            hash.map(|hash: argon2::password_hash::phc::PasswordHash| hash.to_string())
                .map_err(|_| ProblemCode::Internal.into())
        })
        .await
    }

    async fn matches(&self, pin: String, hash: String) -> Result<bool, Problem> {
        let (cost, pepper) = (self.cost, self.secrets.pepper.clone());
        self.blocking(move || {
            let Ok(hash) = PasswordHash::new(&hash) else { return Err(ProblemCode::Internal.into()) };
            Ok(argon2(cost, &pepper)?.verify_password(pin.as_bytes(), &hash).is_ok())
        })
        .await
    }
}

/// What became of somebody who wants to try a PIN.
enum Admitted {
    Nobody,
    Locked { wait_ms: Millis },
    Counted { pin_hash: String },
}

/// Counts the try, or says how long there is none.
fn admit(
    conn: &Connection,
    waits: &Waits,
    tries: &Tries,
    person_id: &str,
    running: Millis,
) -> rusqlite::Result<Admitted> {
    let known = people::lock(conn, person_id)?.filter(|lock| !lock.pin_hash.is_empty());
    let Some(lock) = known else { return Ok(Admitted::Nobody) };
    // An older state of the database knows of fewer.
    let failures = lock.failures.max(tries.failures(person_id));
    let whole_ms = delay_ms(failures);
    let mut waits = waits.lock().unwrap_or_else(PoisonError::into_inner);
    let since = waits.entry(person_id.to_owned()).or_insert(running);
    // A clock of a test may go back where a real one does not.
    *since = running.min(*since);
    let wait_ms = since.saturating_add(whole_ms).saturating_sub(running);
    if wait_ms > 0 {
        return Ok(Admitted::Locked { wait_ms });
    }
    let failures = failures.saturating_add(1);
    people::set_failures(conn, person_id, failures)?;
    tries.count(person_id, failures);
    *since = running;
    Ok(Admitted::Counted { pin_hash: lock.pin_hash })
}

fn argon2(cost: PinCost, pepper: &str) -> Result<Argon2<'_>, Problem> {
    let params = Params::new(cost.memory_kib, cost.passes, LANES, None)
        .expect("the parameters are within Argon2's range");
    Argon2::new_with_secret(pepper.as_bytes(), Algorithm::Argon2id, Version::V0x13, params)
        .map_err(|_| ProblemCode::Internal.into())
}

fn locked(wait_ms: i64) -> Problem {
    Problem::with(ProblemCode::PinLocked, ((wait_ms + 999) / 1_000).to_string())
}

/// How long nobody may try after so many failures in a row.
fn delay_ms(failures: u32) -> i64 {
    if failures < FREE_FAILURES {
        0
    } else if failures < LOCK_FAILURES {
        DELAY_BASE_MS << (failures - FREE_FAILURES)
    } else {
        LOCK_MS
    }
}

/// Six digits or more, and none of the PINs that a thief types first: one digit repeated, a run up or down, a
/// block repeated, a date's year doubled.
pub fn check_strength(pin: &str) -> Result<(), Problem> {
    let digits: Vec<u8> = pin.bytes().filter(u8::is_ascii_digit).collect();
    if digits.len() != pin.len() || !(PIN_DIGITS_MIN..=PIN_DIGITS_MAX).contains(&digits.len()) {
        return Err(ProblemCode::PinWeak.into());
    }
    let step = |by: u8| digits.windows(2).all(|pair| (pair[0] - b'0' + by) % 10 == pair[1] - b'0');
    let repeats = (1..=digits.len() / 2).any(|size| {
        digits.len().is_multiple_of(size) && digits.chunks(size).all(|chunk| chunk == &digits[..size])
    });
    if step(0) || step(1) || step(9) || repeats || COMMON.contains(&pin) {
        return Err(ProblemCode::PinWeak.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pins_that_a_thief_types_first_are_refused() {
        for weak in [
            "",
            "12345",
            "123456",
            "654321",
            "000000",
            "121212",
            "123123",
            "901234",
            "2580x1",
            "1234567890123",
            "147258",
            "112233",
        ] {
            assert!(check_strength(weak).is_err(), "{weak}");
        }
        for fair in ["314159", "271828", "482913", "19870423"] {
            assert!(check_strength(fair).is_ok(), "{fair}");
        }
    }

    #[test]
    fn the_wait_grows_and_ten_failures_lock() {
        let waits: Vec<i64> = (1..=11).map(delay_ms).collect();
        assert_eq!(waits[..3], [0, 0, 2_000]);
        assert!(waits.windows(2).all(|pair| pair[0] <= pair[1]), "{waits:?}");
        assert_eq!(waits[9..], [LOCK_MS, LOCK_MS]);
    }

    /// As cheap as Argon2id gets, so that all of them can be tried. What is shown does not depend on the cost.
    const CHEAPEST: PinCost = PinCost { memory_kib: 8, passes: 1 };
    const SALT: &[u8] = b"a salt in a file";

    fn digest(pepper: &str, pin: &str) -> [u8; 32] {
        let mut digest = [0; 32];
        argon2(CHEAPEST, pepper).unwrap().hash_password_into(pin.as_bytes(), SALT, &mut digest).unwrap();
        digest
    }

    /// What a thief of the database has: salt, cost and hash of a PIN of six digits, and not the pepper. This shows that
    /// the pepper is part of what is hashed, for every PIN that there is. That 256 random bits cannot be guessed, and that
    /// Argon2id gives nothing away, is not shown here.
    #[test]
    fn all_million_pins_against_a_database_without_its_pepper_give_nothing() {
        let (pepper, pin) = ("5f".repeat(32), "314159");
        let stolen = digest(&pepper, pin);
        assert_eq!(digest(&pepper, pin), stolen, "with the pepper the right PIN is found");
        const SHARES: u32 = 4;
        let found: u32 = std::thread::scope(|scope| {
            let shares: Vec<_> = (0..SHARES)
                .map(|share| {
                    scope.spawn(move || {
                        let tried = (share..1_000_000).step_by(SHARES as usize);
                        let hits = tried.filter(|guess| digest("", &format!("{guess:06}")) == stolen);
                        u32::try_from(hits.count()).unwrap()
                    })
                })
                .collect();
            shares.into_iter().map(|share| share.join().unwrap()).sum()
        });
        assert_eq!(found, 0);
    }

    #[test]
    fn what_is_stored_at_the_real_cost_is_checked_with_the_pepper_only() {
        fn hasher(pepper: &str) -> Argon2<'_> {
            argon2(PinCost::default(), pepper).unwrap()
        }
        let pepper = "5f".repeat(32);
        let stored: argon2::password_hash::phc::PasswordHash =
            hasher(&pepper).hash_password_with_salt(b"314159", SALT).unwrap();
        assert!(hasher(&pepper).verify_password(b"314159", &stored).is_ok());
        for other in [String::new(), "5f".repeat(31), "60".repeat(32)] {
            for pin in ["314159", "271828", "000000"] {
                assert!(hasher(&other).verify_password(pin.as_bytes(), &stored).is_err(), "{other} {pin}");
            }
        }
        assert!(!stored.to_string().contains(&pepper), "it is not in the file either");
    }
}
