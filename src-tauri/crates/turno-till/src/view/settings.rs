//! What the settings show of a till: where it keeps things, and who it is.

use serde::Serialize;
use ts_rs::TS;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct Settings {
    /// Sales that an export would hold.
    pub unsent_count: u32,
    /// A place for an exported file: on a medium that is plugged in, if there is one.
    pub suggested_file: String,
    /// The same for a table of sales.
    pub suggested_table: String,
    pub backup_folder: String,
    /// Null when no copy was made yet.
    pub last_backup_at: Option<String>,
    pub journal_folder: String,
    pub about: About,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct About {
    pub version: String,
    pub device_id: String,
    /// The letters on new tickets, e.g. `K7M`.
    pub epoch: Option<String>,
    pub company_name: String,
    /// Where YUPY is.
    pub address: String,
    pub data_folder: String,
}
