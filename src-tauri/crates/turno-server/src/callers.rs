//! Who asked a moment ago, so that not every request of a till asks the store who it is.
//!
//! Invariant: what an operator changes (a revoked credential, other rights, other settings) counts in the process that
//! changed it from its next request on, and in every other one after [`REMEMBERED`]. A token that is refused is never
//! remembered, so a new credential counts at once everywhere.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jiff::{SignedDuration, Timestamp};

use crate::caller::{Caller, TokenHash};

/// For how long a revoked credential may still be accepted elsewhere: less than it takes to revoke it.
pub const REMEMBERED: SignedDuration = SignedDuration::from_secs(5);

/// Callers in memory, at less than a kilobyte each. Past this all are looked up again.
const LIMIT: usize = 10_000;

/// Clones remember together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Callers(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    callers: HashMap<TokenHash, (Caller, Timestamp)>,
    changes: Changes,
}

/// How often an operator has changed something. What was looked up before a change is not remembered after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes(u64);

impl Callers {
    /// The caller, or what to hand to [`Self::remember`] after looking him up.
    pub(crate) fn find(&self, token: &TokenHash, now: Timestamp) -> Result<Caller, Changes> {
        let known = self.known();
        match known.callers.get(token) {
            Some((caller, at)) if is_fresh(*at, now) => Ok(caller.clone()),
            Some(_) | None => Err(known.changes),
        }
    }

    pub(crate) fn remember(&self, token: TokenHash, caller: &Caller, now: Timestamp, before: Changes) {
        let mut known = self.known();
        if known.changes != before {
            return;
        }
        if known.callers.len() >= LIMIT {
            known.callers.retain(|_, (_, at)| is_fresh(*at, now));
        }
        if known.callers.len() >= LIMIT {
            known.callers.clear();
        }
        known.callers.insert(token, (caller.clone(), now));
    }

    /// An operator has changed something.
    pub(crate) fn forget_all(&self) {
        let mut known = self.known();
        known.callers.clear();
        known.changes.0 += 1;
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A clock that went back remembers nothing for longer.
fn is_fresh(at: Timestamp, now: Timestamp) -> bool {
    let age = now.duration_since(at);
    !age.is_negative() && age < REMEMBERED
}

#[cfg(test)]
mod tests {
    use turno_domain::{
        Currency,
        ids::{Company, Environment, Integration, Scope},
    };

    use super::*;
    use crate::{
        caller::{Rights, ScopeNumber},
        settings::{CompanySettings, IntegrationSettings},
    };

    const TILL: TokenHash = TokenHash([1; 32]);

    fn caller() -> Caller {
        let (company, integration) = (Company::parse("A").unwrap(), Integration::parse("pos").unwrap());
        let environment = Environment::parse("test").unwrap();
        Caller {
            scope: Scope { company: company.clone(), integration: integration.clone(), environment },
            scope_number: ScopeNumber(1),
            rights: Rights::of_a_till(),
            company: CompanySettings {
                company: company.clone(),
                name: String::new(),
                currency: Currency::PEN,
            },
            integration: IntegrationSettings::new(company, integration),
        }
    }

    #[test]
    fn a_caller_is_remembered_for_seconds_whatever_the_clock_does() {
        let callers = Callers::default();
        let now: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
        let Err(before) = callers.find(&TILL, now) else { panic!("nobody is known yet") };
        callers.remember(TILL, &caller(), now, before);
        assert!(callers.find(&TILL, now).is_ok());
        assert!(callers.find(&TokenHash([2; 32]), now).is_err());
        let millisecond = SignedDuration::from_millis(1);
        assert!(callers.find(&TILL, now + REMEMBERED - millisecond).is_ok());
        assert!(callers.find(&TILL, now + REMEMBERED).is_err());
        assert!(callers.find(&TILL, now - millisecond).is_err());
    }

    #[test]
    fn a_change_is_not_undone_by_who_was_looked_up_before_it() {
        let callers = Callers::default();
        let now: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
        let Err(before) = callers.find(&TILL, now) else { panic!("nobody is known yet") };
        callers.forget_all();
        callers.remember(TILL, &caller(), now, before);
        assert!(callers.find(&TILL, now).is_err(), "it was looked up before the change");
    }

    #[test]
    fn there_are_never_more_than_the_limit() {
        let callers = Callers::default();
        let now: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
        let caller = caller();
        for number in 0..=LIMIT {
            let mut hash = [0; 32];
            hash[..8].copy_from_slice(&number.to_be_bytes());
            callers.remember(TokenHash(hash), &caller, now, Changes(0));
            assert!(callers.known().callers.len() <= LIMIT);
        }
    }
}
