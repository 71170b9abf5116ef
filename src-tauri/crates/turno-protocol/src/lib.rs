//! What travels between a till and YUPY.

pub mod canonical;
pub mod strict_json;
