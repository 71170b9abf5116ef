//! Practice in a build without it: there is none, and nothing can be asked of it.

use std::path::Path;

use turno_till::Till;
use turno_till::view::{self, PracticeLine, Problem, ProblemCode};

/// Has no value.
pub enum Practice {}

impl Practice {
    pub async fn start(_folder: &Path) -> Result<Self, Problem> {
        Err(ProblemCode::PracticeFailed.into())
    }

    pub async fn stop(&self) {
        match *self {}
    }

    pub fn address(&self) -> String {
        match *self {}
    }

    pub async fn take_in(&self, _till: &Till) -> Result<(), Problem> {
        match *self {}
    }

    pub fn view(&self) -> view::Practice {
        match *self {}
    }

    pub fn set_line(&self, _line: PracticeLine) -> Result<(), Problem> {
        match *self {}
    }
}
