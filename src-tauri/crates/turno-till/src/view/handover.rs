//! Unsent sales on their way from one till to another.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

#[derive(Clone, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct ExportUnsentRequest {
    /// Where the file is to be, e.g. on a USB stick. A file that is there already stays.
    pub path: String,
    /// At least ten characters; the other till asks for it.
    pub passphrase: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct UnsentExported {
    pub path: String,
    pub sales_count: u32,
}

#[derive(Clone, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct ImportUnsentRequest {
    pub path: String,
    pub passphrase: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct UnsentImported {
    /// The till that wrote the file.
    pub device_id: String,
    pub made_at: String,
    pub imported_count: u32,
    /// Sales of the file that this till had already.
    pub already_here_count: u32,
}
