//! What happens at the counter: people, the shift and the sale.

use std::sync::PoisonError;
use std::time::Duration;

use turno_domain::Money;
use turno_sqlite::WriteError;
use uuid::Uuid;

use super::Till;
use super::people::person_name;
use super::searching::completes_a_block;
use crate::clock::rfc3339;
use crate::random::uuid;
use crate::relay::Relay;
use crate::sell::{self, Seller};
use crate::store::audit::{self, Event};
use crate::store::{installation, people, sales, shifts};
use crate::view::{
    Charge, ChargeOutcome, ConnectionState, CreateManagerRequest, Deck, DraftOpened, Offer, OpenShiftRequest,
    Problem, ProblemCode, Quote, QuoteRequest, Role, Seat, SeatMap, SeatSold, Tender, UnlockRequest,
};

/// How long is waited for a disk that failed a commit, before each look at what it did: together as long as a cashier
/// keeps a customer waiting without a word.
const LOOK_UP_AFTER: [Duration; 4] =
    [Duration::ZERO, Duration::from_millis(200), Duration::from_millis(500), Duration::from_secs(1)];

impl Till {
    /// The first person of a new till, or of one whose PINs were lost.
    ///
    /// # Errors
    /// `name_invalid`, `pin_weak`, `not_allowed_now` when somebody exists already.
    pub async fn create_manager(&self, request: &CreateManagerRequest) -> Result<(), Problem> {
        // Pressed twice at once there would be two.
        let _alone = self.inner.first_manager.lock().await;
        // Without a credential anybody could have brought this folder.
        let people = self.inner.db.read(people::all).await?;
        if self.needs_connection() || people.iter().any(|person| person.role == Role::Manager) {
            return Err(ProblemCode::NotAllowedNow.into());
        }
        let person_id = uuid(&*self.inner.options.entropy).to_string();
        self.add_person(&person_id, &request.name, Role::Manager, &request.pin).await
    }

    /// Adds somebody who can unlock this till. Does nothing if the id is known.
    ///
    /// # Errors
    /// `name_invalid`, `pin_weak`.
    pub async fn add_person(
        &self,
        person_id: &str,
        name: &str,
        role: Role,
        pin: &str,
    ) -> Result<(), Problem> {
        self.enter(person_id, person_name(name)?, role, pin, None).await
    }

    /// # Errors
    /// `pin_wrong`, `pin_locked`.
    pub async fn unlock(&self, request: &UnlockRequest) -> Result<(), Problem> {
        let person = self.pins().verify(&request.person_id, &request.pin).await?;
        let (id, now) = (person.person_id.clone(), self.now());
        self.inner.db.write(move |conn| Ok::<_, Problem>(people::note_unlock(conn, &id, now)?)).await?;
        *self.inner.unlocked.lock().unwrap_or_else(PoisonError::into_inner) = Some(person);
        self.changed();
        Ok(())
    }

    pub fn lock(&self) {
        self.inner.unlocked.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.changed();
    }

    /// # Errors
    /// `not_unlocked`, `shift_already_open`, `amount_invalid`.
    pub async fn open_shift(&self, request: &OpenShiftRequest) -> Result<(), Problem> {
        let (person, enrolled) = (self.unlocked()?, self.enrolled()?);
        let float = Money::parse_typed(&request.float, enrolled.enrolment.currency)
            .map_err(|_| ProblemCode::AmountInvalid)?;
        let now = self.now();
        let number = self
            .inner
            .db
            .write(move |conn| {
                if shifts::current_number(conn)?.is_some() {
                    return Err(ProblemCode::ShiftAlreadyOpen.into());
                }
                let number = installation::take_shift_number(conn)?;
                shifts::open(conn, number, &person.person_id, now, float.minor())?;
                let entry = audit::Entry {
                    person_id: Some(&person.person_id),
                    data: serde_json::json!({ "shift": number, "float": float.to_amount_text() }),
                    ..audit::Entry::new(Event::ShiftOpened)
                };
                audit::append(conn, now, &entry)?;
                Ok::<_, Problem>(number)
            })
            .await?;
        self.note_numbers(0, number);
        self.changed();
        Ok(())
    }

    /// What can be sold now and matches the words.
    ///
    /// # Errors
    /// `not_allowed_now` before the till is set up.
    pub async fn search_offers(&self, text: &str, limit: u32) -> Result<Vec<Offer>, Problem> {
        let catalog = self.catalog()?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let found: Vec<_> = catalog.search(text, self.now(), limit).into_iter().cloned().collect();
        self.inner
            .db
            .read(move |conn| {
                found
                    .iter()
                    .map(|offer| {
                        let layout = catalog.layout(offer);
                        let free = match (layout, &offer.service) {
                            (Some(layout), Some(service)) => {
                                let sold = sales::seats_of(conn, service)?;
                                let taken =
                                    |seat: &str| sold.iter().any(|sale| sale.seat.as_deref() == Some(seat));
                                let free = layout.seats().filter(|seat| !taken(seat)).count();
                                Some(u32::try_from(free).unwrap_or(u32::MAX))
                            }
                            _ => None,
                        };
                        Ok(offer.view(free))
                    })
                    .collect()
            })
            .await
            .map_err(Into::into)
    }

    /// The seats of a departure, with what this till sold on it.
    ///
    /// # Errors
    /// `offer_gone`.
    pub async fn seat_map(&self, offer_id: &str) -> Result<SeatMap, Problem> {
        let catalog = self.catalog()?;
        let offer = catalog.offer(offer_id).cloned().ok_or(ProblemCode::OfferGone)?;
        let layout = catalog.layout(&offer).cloned().ok_or(ProblemCode::OfferGone)?;
        let service = offer.service.clone().unwrap_or_default();
        let sold = self.inner.db.read(move |conn| sales::seats_of(conn, &service)).await?;
        let seat = |label: &String| Seat {
            seat: label.clone(),
            price: offer.price_of(Some(label)).into(),
            sold: sold.iter().find(|sale| sale.seat.as_ref() == Some(label)).map(|sale| SeatSold {
                external_transaction_id: sale.external_transaction_id.clone(),
                occurred_at: rfc3339(sale.occurred_at),
                buyer_name: sale.buyer_name.clone(),
            }),
        };
        let decks: Vec<Deck> = layout
            .decks
            .iter()
            .map(|deck| Deck {
                number: deck.number,
                rows: deck
                    .rows
                    .iter()
                    .map(|row| row.iter().map(|place| place.as_ref().map(seat)).collect())
                    .collect(),
            })
            .collect();
        let taken = decks.iter().flat_map(|deck| deck.rows.iter().flatten().flatten());
        let free = taken.filter(|seat| seat.sold.is_none()).count();
        Ok(SeatMap { offer: offer.view(u32::try_from(free).ok()), decks })
    }

    /// The id under which a ticket will be recorded, whatever is pressed how often.
    #[must_use]
    pub fn open_draft(&self) -> DraftOpened {
        DraftOpened { draft_id: uuid(&*self.inner.options.entropy).to_string() }
    }

    /// # Errors
    /// Why a line cannot be sold; `disk_full` while nothing can.
    pub fn quote(&self, request: &QuoteRequest) -> Result<Quote, Problem> {
        let enrolled = self.enrolled()?;
        self.check_room()?;
        let priced =
            sell::price(&*self.catalog()?, enrolled.enrolment.currency, &request.lines, &request.tenders)?;
        Ok(priced.quote())
    }

    /// Records a ticket. From the answer on it cannot be lost; sending goes on by itself.
    ///
    /// # Errors
    /// Why nothing was recorded. Only `outcome_unknown` leaves it open: the disk kept from us what became of it.
    pub async fn charge(&self, charge: &Charge) -> Result<ChargeOutcome, Problem> {
        let (person, enrolled) = (self.unlocked()?, self.enrolled()?);
        let draft_id = Uuid::parse_str(&charge.draft_id).map_err(|_| ProblemCode::NotFound)?;
        let (catalog, currency) = (self.catalog()?, enrolled.enrolment.currency);
        let approver = self.approver(charge.approval.as_ref()).await?;
        let priced =
            self.check_room().and_then(|()| sell::price(&catalog, currency, &charge.lines, &charge.tenders));
        let priced = priced.and_then(|priced| match self.check_card(&enrolled.relay, &charge.tenders) {
            Some(problem) => Err(problem),
            None => Ok(priced),
        });
        let seller = Seller {
            person_id: person.person_id,
            approver,
            enrolment: enrolled.enrolment.clone(),
            now: self.now(),
        };
        // One draft has one name, however it was written.
        let charge = Charge { draft_id: draft_id.to_string(), ..charge.clone() };
        let (again, what) = (seller.clone(), charge.clone());
        let written = self
            .inner
            .db
            .write(move |conn| {
                // A ticket that was recorded stays recorded, also when its offer has left the catalog since.
                match (sell::already_recorded(conn, &seller, &charge)?, priced) {
                    (Some(outcome), _) => Ok(outcome),
                    (None, Err(problem)) => Err(problem),
                    (None, Ok(priced)) => sell::record(conn, &seller, &charge, &priced),
                }
            })
            .await;
        let outcome = match written {
            Err(WriteError::OutcomeUnknown(error)) => {
                tracing::error!(%error, "the disk did not confirm a ticket; it is looked up");
                self.look_up(again, what).await?
            }
            written => written?,
        };
        if let ChargeOutcome::Recorded { checkout } = &outcome {
            let newest = checkout.sales.iter().map(|sale| sale.sequence).max();
            self.note_numbers(newest.unwrap_or_default(), 0);
            if completes_a_block(newest.unwrap_or_default(), checkout.sales.len()) {
                enrolled.index_wanted.notify_one();
            }
            enrolled.journal_wanted.notify_one();
            enrolled.printing_wanted.notify_one();
        }
        enrolled.relay.wake();
        self.changed();
        Ok(outcome)
    }

    /// A card is charged by YUPY, so there must be somebody to hear it.
    pub(super) fn check_card(&self, relay: &Relay, tenders: &[Tender]) -> Option<Problem> {
        let hears = relay.line().state == ConnectionState::Online && relay.paused_since().is_none();
        (tenders.contains(&Tender::Card) && !hears).then(|| ProblemCode::CardNeedsLine.into())
    }

    /// What became of a ticket whose commit failed half-way. The writer opens the database again for this, which makes
    /// certain of whatever is found there: a reader beside it could see what is on no medium. Where nothing is found,
    /// the audit's row takes the place in the log at which the failed commit began; without it, a kill could bring back
    /// a ticket of which somebody was told that it was not saved.
    async fn look_up(&self, seller: Seller, charge: Charge) -> Result<ChargeOutcome, Problem> {
        for wait in LOOK_UP_AFTER {
            tokio::time::sleep(wait).await;
            let (seller, charge) = (seller.clone(), charge.clone());
            let look = move |conn: &rusqlite::Connection| {
                let found = sell::already_recorded(conn, &seller, &charge)?;
                if found.is_none() {
                    let entry = audit::Entry {
                        person_id: Some(&seller.person_id),
                        data: serde_json::json!({ "draft_id": charge.draft_id }),
                        ..audit::Entry::new(Event::TicketNotSaved)
                    };
                    audit::append(conn, seller.now, &entry)?;
                }
                Ok::<_, Problem>(found)
            };
            let found = self.inner.db.write(look).await;
            match found {
                Ok(Some(outcome)) => return Ok(outcome),
                Ok(None) => return Err(ProblemCode::DiskFailed.into()),
                Err(error) => tracing::error!(%error, "the disk does not say what became of a ticket"),
            }
        }
        Err(ProblemCode::OutcomeUnknown.into())
    }
}
