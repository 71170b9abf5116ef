//! How the screen looks to the people at this till. Of the machine, like the language: it is there before any sale.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Theme {
    #[default]
    Light,
    /// For the night bus.
    Dark,
    /// Black on white with hard edges, for sunlight and weak eyes.
    HighContrast,
}

/// How big everything is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum TextSize {
    #[default]
    Normal,
    /// 125 %.
    Large,
    /// 150 %.
    Largest,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct Appearance {
    pub theme: Theme,
    pub text_size: TextSize,
}

#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(export)]
pub struct SetAppearanceRequest {
    pub appearance: Appearance,
}
