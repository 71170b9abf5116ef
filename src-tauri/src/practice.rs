//! Practice: a real server inside this program, with an invented company, on a line that fails to order.
//!
//! Nothing leaves this machine: the server listens on loopback only, and everything that it keeps is in `practice/` of
//! the data folder. Invariant: to the till this is a server like any other; it enrols, sells and sends over a socket.

mod line;
mod portal;
mod timetable;

use std::path::{Path, PathBuf};

use tauri::async_runtime::{JoinHandle, spawn};
use tokio::sync::watch;
use turno_domain::Currency;
use turno_domain::ids::{Company, DeviceId, Environment, Integration, Scope};
use turno_server::{
    Administration, CompanySettings, Config, IntegrationSettings, NewEnrolmentCode, Rights, SqliteLedger,
    SqliteOptions, World,
};
use turno_till::Till;
use turno_till::clock::{Clock, SystemClock};
use turno_till::view::{self, ConnectRequest, PracticeLine, PracticePin, Problem, ProblemCode, Role};

use self::line::LineListener;
use crate::word;

const DATABASE: &str = "yupy.db";
/// A line that was cut stays cut over a restart, as in life.
const LINE_FILE: &str = "line";

/// Who works here: id, name, role, PIN. Roles for names, so that nobody looks for a person.
const PEOPLE: [(&str, &str, Role, &str); 2] =
    [("cashier", "Caja", Role::Cashier, "314159"), ("manager", "Encargado", Role::Manager, "271828")];

const LINES: [PracticeLine; 5] = [
    PracticeLine::Online,
    PracticeLine::Offline,
    PracticeLine::LostReply,
    PracticeLine::Slow,
    PracticeLine::Portal,
];

/// The server runs until it is stopped, or as long as the program does.
pub struct Practice {
    address: String,
    ledger: SqliteLedger,
    server: JoinHandle<()>,
    line: watch::Sender<PracticeLine>,
    line_file: PathBuf,
}

impl Practice {
    /// Starts the server on its file in the folder, with today's catalog.
    pub async fn start(folder: &Path) -> Result<Self, Problem> {
        Self::try_start(folder).await.map_err(|error| {
            tracing::error!(%error, "the practice server cannot start");
            Problem::with(ProblemCode::PracticeFailed, error.to_string())
        })
    }

    async fn try_start(folder: &Path) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        std::fs::create_dir_all(folder)?;
        let ledger = SqliteLedger::open(&folder.join(DATABASE), SqliteOptions::default()).await?;
        found_company(&ledger).await?;

        let line_file = folder.join(LINE_FILE);
        let line = watch::Sender::new(remembered(&line_file));
        let listener = LineListener::bind(line.subscribe())?;
        let address = format!("http://{}", listener.address());
        let router =
            portal::behind_portal(turno_server::app(ledger.clone(), Config::default()), line.subscribe());
        let server = spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                tracing::error!(%error, "the practice server stopped");
            }
        });
        Ok(Self { address, ledger, server, line, line_file })
    }

    /// Ends the server and lets go of its file, so that practising again finds both free.
    pub async fn stop(&self) {
        self.server.abort();
        self.ledger.close().await;
    }

    /// Where the server is now; another port at every start.
    pub fn address(&self) -> String {
        self.address.clone()
    }

    /// Makes the till one of the invented company's, with the people whose PINs the screen shows.
    pub async fn take_in(&self, till: &Till) -> Result<(), Problem> {
        if !till.is_enrolled() || till.needs_connection() {
            // Somebody who cut the line before there was a till to cut off would never get one.
            self.set_line(PracticeLine::Online)?;
            // A new one each time: a copied folder is another installation, to which a used code is refused.
            let enrolment_code = self.new_code().await.map_err(|error| {
                tracing::error!(%error, "the practice server gives no code");
                Problem::with(ProblemCode::PracticeFailed, error.to_string())
            })?;
            let request = ConnectRequest { address: self.address(), enrolment_code };
            till.connect(&request).await?;
        }
        for (person_id, name, role, pin) in PEOPLE {
            till.add_person(person_id, name, role, pin).await?;
        }
        Ok(())
    }

    async fn new_code(&self) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
        let (code, text) = NewEnrolmentCode::generate(&World::system(), scope()?, DeviceId::parse("D01")?);
        // A newcomer sees everything, also what a manager's till sees of the others.
        self.ledger.put_enrolment_code(code.with_rights(Rights::of_a_managers_till())).await?;
        Ok(text.expose().to_owned())
    }

    /// What the screen shows of it. A PIN that was changed at the till, or whose person was retired, is told no more.
    ///
    /// # Errors
    /// The till could not be read.
    pub async fn view(&self, till: &Till) -> Result<view::Practice, Problem> {
        let changed = till.people_with_another_pin().await?;
        let people = till.people().await?;
        let told = PEOPLE.iter().filter(|(person_id, ..)| {
            people.iter().any(|person| person.person_id == *person_id)
                && !changed.iter().any(|id| id == person_id)
        });
        let pin = |(_, name, role, pin): &(&str, &str, Role, &str)| PracticePin {
            name: (*name).to_owned(),
            role: *role,
            pin: (*pin).to_owned(),
        };
        Ok(view::Practice { pins: told.map(pin).collect(), line: *self.line.borrow() })
    }

    /// Acts at once, on open connections too.
    pub fn set_line(&self, line: PracticeLine) -> Result<(), Problem> {
        word::write(&self.line_file, line_word(line))
            .map_err(|error| Problem::with(ProblemCode::FolderNotWritable, error.to_string()))?;
        self.line.send_replace(line);
        Ok(())
    }
}

async fn found_company(ledger: &SqliteLedger) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let scope = scope()?;
    let name = "Transportes de Práctica".to_owned();
    let (company, integration) = (scope.company.clone(), scope.integration.clone());
    ledger.put_company(CompanySettings { company: company.clone(), name, currency: Currency::PEN }).await?;
    ledger.put_integration(IntegrationSettings::new(company.clone(), integration.clone())).await?;
    Ok(ledger.put_catalog(company, integration, timetable::catalog(SystemClock.now())).await?)
}

fn scope() -> Result<Scope, Box<dyn std::error::Error + Send + Sync>> {
    Ok(Scope {
        company: Company::parse("turno-practica")?,
        integration: Integration::parse("cajas")?,
        environment: Environment::parse("practice")?,
    })
}

fn remembered(file: &Path) -> PracticeLine {
    let word = word::read(file).unwrap_or_default();
    LINES.into_iter().find(|line| line_word(*line) == word).unwrap_or_default()
}

const fn line_word(line: PracticeLine) -> &'static str {
    match line {
        PracticeLine::Online => "online",
        PracticeLine::Offline => "offline",
        PracticeLine::LostReply => "lost_reply",
        PracticeLine::Slow => "slow",
        PracticeLine::Portal => "portal",
    }
}
