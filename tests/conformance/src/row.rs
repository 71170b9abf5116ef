//! The rows of the contract: what a case can cover.
//!
//! Invariant: every row that the contract lists has one variant here, and is covered by a case or explained by
//! [`unprovokable`]; a test compares.

use std::fmt;

macro_rules! rows {
    ($($name:ident = $text:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Row { $($name,)* }

        impl Row {
            pub const ALL: &'static [Row] = &[$(Row::$name,)*];

            pub fn as_str(self) -> &'static str {
                match self { $(Row::$name => $text,)* }
            }
        }
    };
}

rows! {
    // §5, the behaviour matrix.
    A1 = "A1",
    A2 = "A2",
    A3 = "A3",
    A4 = "A4",
    A5 = "A5",
    B1 = "B1",
    B2 = "B2",
    C1 = "C1",
    D1 = "D1",
    D2 = "D2",
    D3 = "D3",
    D4 = "D4",
    D5 = "D5",
    D6 = "D6",
    E1 = "E1",
    F1 = "F1",
    F2 = "F2",
    G1 = "G1",
    G2 = "G2",
    G3 = "G3",
    G4 = "G4",
    G5 = "G5",
    G6 = "G6",
    H1 = "H1",
    H2 = "H2",
    Races = "§5 races",
    // §1 to §4.
    Scope = "§1 scope",
    Operations = "§2 operations",
    Body = "§3 body",
    Compared = "§4 compared",
    // §6, its table line by line, then the rules around it.
    AmountAlone = "§6 amount alone",
    EqualFares = "§6 equal fares",
    OtherSeat = "§6 other seat",
    SameSeat = "§6 same seat",
    OneVoided = "§6 one voided",
    SameBuyer = "§6 same buyer",
    HoursApart = "§6 hours apart",
    Rule = "§6 rule",
    BestCandidate = "§6 best candidate",
    TokenLife = "§6 token life",
    DecidedElsewhere = "§6 decided elsewhere",
    Confirming = "§6 confirming",
    // §7, what the acquirer can say, and what surrounds it.
    Approved = "§7 approved",
    Declined = "§7 declined",
    Pending = "§7 pending",
    NotFoundYoung = "§7 not found, young",
    NotFoundOld = "§7 not found, old",
    OtherAmount = "§7 other amount",
    Unreachable = "§7 unreachable",
    HangUp = "§7 hang up",
    Webhook = "§7 webhook",
    DeadOwner = "§7 dead owner",
    // §8.
    KeyGone = "§8 key gone",
    OperationIds = "§8 operation ids",
    // §11.
    Everywhere = "§11 everywhere",
    Validation = "§11 validation",
    Keys = "§11 keys",
    Void = "§11 void",
    Payments = "§11 payments",
    Questions = "§11 questions",
    Audit = "§11 audit",
}

impl fmt::Display for Row {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Why no request from outside can bring this row about; `None` for every other row.
pub fn unprovokable(row: Row) -> Option<&'static str> {
    UNPROVOKABLE.iter().find(|(known, _)| *known == row).map(|(_, why)| *why)
}

const UNPROVOKABLE: &[(Row, &str)] = &[
    (Row::A3, "whether and when callers are throttled is the operator's choice and in no fixture"),
    (Row::A5, "needs a server that is ending or has lost its store"),
    (Row::H2, "needs a store that fails half-way"),
    (
        Row::DeadOwner,
        "needs a process to die between two commits; a lost answer (D4) is as near as a client gets",
    ),
    (Row::KeyGone, "keys live for a week at least"),
];
