//! Sales that leave in a table.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Approval, SearchSalesRequest};

/// A manager writes the sales that a search finds to a CSV file. The PIN approves this one act and nothing else.
#[derive(Clone, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct ExportSalesRequest {
    /// Where the file is to be, e.g. on a USB stick. A file that is there already stays.
    pub path: String,
    /// All that it finds, not a page; with `after` null from the newest.
    pub search: SearchSalesRequest,
    pub decimal: DecimalMark,
    pub mark: ByteOrderMark,
    pub approval: Approval,
}

/// What stands before the céntimos, and so what separates cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum DecimalMark {
    /// `85.50`, cells separated by commas.
    Point,
    /// `85,50`, cells separated by semicolons.
    Comma,
}

/// Excel takes a CSV file without a mark for one in the machine's old code page, where `ñ` becomes two letters; programs
/// that read RFC 4180 strictly take the mark for a part of the first column's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum ByteOrderMark {
    None,
    Utf8,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct SalesExported {
    pub path: String,
    pub sales_count: u32,
}
