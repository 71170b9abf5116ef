//! What a screen asks with. A member that is not named here is refused, so that no misspelled one is overlooked.

use serde::Deserialize;
use ts_rs::TS;

use super::{Language, Line, PracticeLine, Tender};

#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct ConnectRequest {
    /// e.g. `https://yupy.example`; a missing scheme means `https`.
    pub address: String,
    pub enrolment_code: String,
}

#[derive(Clone, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct CreateManagerRequest {
    pub name: String,
    pub pin: String,
}

#[derive(Clone, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct UnlockRequest {
    pub person_id: String,
    pub pin: String,
}

#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct OpenShiftRequest {
    /// As typed: `100`, `50.20`, `50,20`.
    pub float: String,
}

#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct SearchOffersRequest {
    /// Empty: whatever can be sold now, soonest departures first.
    pub text: String,
    pub limit: u32,
}

#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct SeatMapRequest {
    pub offer_id: String,
}

#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct QuoteRequest {
    pub lines: Vec<Line>,
    pub tenders: Vec<Tender>,
}

#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct PageRequest {
    /// The `next` of the page before; null for the first page.
    pub after: Option<i64>,
}

#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct PauseSendingRequest {
    pub paused: bool,
}

#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct SetPracticeLineRequest {
    pub line: PracticeLine,
}

#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct SetLanguageRequest {
    pub language: Language,
}
