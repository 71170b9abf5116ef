//! Every command that the page may call, by name. The build script makes a permission for each, and the capability
//! file grants them to the window `main`; a command that is not here cannot be called at all.

pub const COMMANDS: &[&str] = &[
    "frame",
    "start_practice",
    "leave_practice",
    "connect",
    "create_manager",
    "unlock",
    "lock",
    "open_shift",
    "search_offers",
    "seat_map",
    "open_draft",
    "quote",
    "charge",
    "pending",
    "recent_sales",
    "send_now",
    "pause_sending",
    "reconcile",
    "last_reconciliation",
    "reviews",
    "decide",
    "set_practice_line",
    "set_language",
    "set_appearance",
];
