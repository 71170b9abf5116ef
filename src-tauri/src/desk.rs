//! Where the program stands: which data folder it holds, which profile is open in it, and the till that works there.
//!
//! Invariant: whatever cannot be opened is a phase with a problem that the window shows, never a crash, and nothing in
//! the folder was changed by the attempt. A profile is chosen once its till is set up, not before.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::{Mutex, OnceCell, RwLockReadGuard, RwLockWriteGuard, watch};
use turno_till::view::{
    AddPersonRequest, Appearance, CancelUnpaidRequest, ChangePinRequest, ChargeCardRequest,
    CloseShiftRequest, ConnectRequest, CorrectSaleRequest, CreateManagerRequest, Decide, DiscardRequest,
    Frame, Language, OpenShiftRequest, PauseSendingRequest, Phase, Problem, ProblemCode, ResetPinRequest,
    RetirePersonRequest, SetAppearanceRequest, SetLanguageRequest, SetPracticeLineRequest, Settings,
    UnlockRequest, VoidSaleRequest,
};
use turno_till::{Options as TillOptions, Till};

use crate::folder::{DataFolder, FolderError, Profile};
use crate::options::Options;
use crate::places;
use crate::practice::Practice;

/// The currency that is shown before a till knows its own.
const CURRENCY: &str = "PEN";

/// The folders that a till lives in.
pub struct Folders {
    pub data: PathBuf,
    /// For what must not lie beside the data: a copy of the data folder can then not pass for this till.
    pub secrets: PathBuf,
    /// Where people keep their files.
    pub home: PathBuf,
}

pub struct Desk {
    folders: Folders,
    options: Options,
    opened: OnceCell<Result<Opened, Problem>>,
    changes: watch::Sender<u64>,
    recording: tokio::sync::RwLock<()>,
}

struct Opened {
    folder: DataFolder,
    at_work: RwLock<Option<AtWork>>,
    /// One set-up at a time, however often somebody presses.
    setting_up: Mutex<()>,
}

#[derive(Clone)]
struct AtWork {
    till: Till,
    practice: Option<Arc<Practice>>,
}

impl Desk {
    /// Touches nothing yet.
    pub fn new(folders: Folders, options: Options) -> Self {
        Self {
            folders,
            options,
            opened: OnceCell::new(),
            changes: watch::Sender::new(0),
            recording: tokio::sync::RwLock::default(),
        }
    }

    /// Fires whenever something on the screen may be out of date.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Takes the folder and opens what was chosen in it, the first time; afterwards says what came of that: the
    /// folder, if this process holds it.
    pub async fn open(&self) -> Option<&Path> {
        let opened = self.opened.get_or_init(|| self.take_folder()).await;
        opened.as_ref().ok().map(|_| self.folders.data.as_path())
    }

    /// Held while something is recorded that somebody waits to see.
    pub async fn recording(&self) -> RwLockReadGuard<'_, ()> {
        self.recording.read().await
    }

    /// Waits for what is being recorded; nothing more begins while this is held.
    pub async fn stop_recording(&self) -> RwLockWriteGuard<'_, ()> {
        self.recording.write().await
    }

    /// Ends sending and lets go of the folder.
    pub async fn close(&self) {
        let at_work = self.opened.get().and_then(|opened| opened.as_ref().ok()).and_then(Opened::put_down);
        if let Some(at_work) = at_work {
            at_work.till.close().await;
        }
    }

    /// The till at work; without one there is nothing to ask.
    pub async fn till(&self) -> Result<Till, Problem> {
        Ok(self.opened().await?.at_work()?.till)
    }

    // --- opening ----------------------------------------------------------------------------

    async fn opened(&self) -> Result<&Opened, Problem> {
        self.open().await;
        let opened = self.opened.get().expect("it was opened the line before");
        opened.as_ref().map_err(Problem::clone)
    }

    async fn take_folder(&self) -> Result<Opened, Problem> {
        self.try_take_folder().await.map_err(|problem| {
            let said = problem.detail.as_deref().unwrap_or_default();
            tracing::error!(code = ?problem.code, said, "the till cannot be opened");
            // What a person needs to find out more is which folder it was.
            Problem { detail: Some(self.folders.data.display().to_string()), ..problem }
        })
    }

    async fn try_take_folder(&self) -> Result<Opened, Problem> {
        let folder = DataFolder::claim(&self.folders.data)?;
        if let Some(language) = self.options.lang {
            folder.choose_language(language)?;
        }
        let at_work = match if self.options.practice { Some(Profile::Practice) } else { folder.profile() } {
            None => None,
            Some(Profile::Practice) => Some(self.practise(&folder).await?),
            Some(Profile::Live) => {
                let till = self.open_till(&folder.of(Profile::Live), None).await?;
                Some(AtWork { till, practice: None })
            }
        };
        if let Some(at_work) = &at_work {
            self.begin(at_work);
        }
        Ok(Opened { folder, at_work: RwLock::new(at_work), setting_up: Mutex::new(()) })
    }

    async fn open_till(&self, folder: &Path, address: Option<String>) -> Result<Till, Problem> {
        std::fs::create_dir_all(folder).map_err(FolderError::from)?;
        let options = TillOptions::new(folder.to_owned(), self.folders.secrets.clone());
        // Practice has a journal of its own, in its folder: no card is to hold invented sales.
        let elsewhere = self.options.journal_dir.clone().filter(|_| address.is_none());
        let journal_folder = elsewhere.unwrap_or_else(|| options.journal_folder.clone());
        Till::open(TillOptions { address, journal_folder, ..options }).await
    }

    /// Starts the practice server and, beside it, a till that knows it.
    async fn practise(&self, folder: &DataFolder) -> Result<AtWork, Problem> {
        let place = folder.of(Profile::Practice);
        let practice = Practice::start(&place).await?;
        let till = self.open_till(&place, Some(practice.address())).await?;
        practice.take_in(&till).await?;
        // A till that sells for a company and was opened for practice once is that company's again next time.
        if folder.profile().is_none() {
            folder.choose_profile(Profile::Practice)?;
        }
        Ok(AtWork { till, practice: Some(Arc::new(practice)) })
    }

    /// From here on the till's changes are the screen's.
    fn begin(&self, at_work: &AtWork) {
        let mut of_till = at_work.till.changes();
        let changes = self.changes.clone();
        tauri::async_runtime::spawn(async move {
            while of_till.changed().await.is_ok() {
                changes.send_modify(|version| *version += 1);
            }
        });
    }

    // --- what the screen shows --------------------------------------------------------------

    pub async fn frame(&self) -> Result<Frame, Problem> {
        let opened = match self.opened().await {
            Ok(opened) => opened,
            Err(problem) => return Ok(self.empty_frame(Phase::Unavailable { problem })),
        };
        let Ok(AtWork { till, practice }) = opened.at_work() else {
            return Ok(self.empty_frame(Phase::Welcome));
        };
        let empty = self.empty_frame(till.phase().await?);
        let device = till.device();
        let practice = match practice {
            Some(practice) => Some(practice.view(&till).await?),
            None => None,
        };
        Ok(Frame {
            currency: device.as_ref().map_or(empty.currency, |(_, currency)| currency.clone()),
            device_id: device.map(|(device_id, _)| device_id),
            status: till.status().await?,
            practice,
            people: till.people().await?,
            managers: till.managers().await?,
            ..empty
        })
    }

    fn empty_frame(&self, phase: Phase) -> Frame {
        Frame {
            phase,
            language: self.language(),
            appearance: self.appearance(),
            device_id: None,
            currency: CURRENCY.to_owned(),
            status: None,
            practice: None,
            people: Vec::new(),
            managers: Vec::new(),
        }
    }

    fn language(&self) -> Language {
        let opened = self.opened.get().and_then(|opened| opened.as_ref().ok());
        opened.and_then(|opened| opened.folder.language()).or(self.options.lang).unwrap_or(Language::Es)
    }

    fn appearance(&self) -> Appearance {
        let opened = self.opened.get().and_then(|opened| opened.as_ref().ok());
        opened.map(|opened| opened.folder.appearance()).unwrap_or_default()
    }

    /// Where the till keeps things, and where a file for another one could be put.
    pub async fn settings(&self) -> Result<Settings, Problem> {
        self.till().await?.settings(&places::for_files(&self.folders.home)).await
    }

    pub async fn back_up(&self) -> Result<Settings, Problem> {
        self.till().await?.back_up().await?;
        self.settings().await
    }

    // --- commands that end in a new frame ---------------------------------------------------

    pub async fn start_practice(&self) -> Result<Frame, Problem> {
        let opened = self.opened().await?;
        let _alone = opened.setting_up.lock().await;
        if opened.at_work().is_err() {
            let at_work = self.practise(&opened.folder).await?;
            self.begin(&at_work);
            opened.take_up(at_work);
        }
        self.frame().await
    }

    /// Back to the choice, or to the company's till if there is one. What was practised stays in its folder.
    pub async fn leave_practice(&self) -> Result<Frame, Problem> {
        let opened = self.opened().await?;
        let _alone = opened.setting_up.lock().await;
        if opened.at_work()?.practice.is_none() {
            return Err(ProblemCode::NotAllowedNow.into());
        }
        let live = match opened.folder.profile() {
            Some(Profile::Live) => {
                let till = self.open_till(&opened.folder.of(Profile::Live), None).await?;
                Some(AtWork { till, practice: None })
            }
            Some(Profile::Practice) | None => {
                opened.folder.forget_profile()?;
                None
            }
        };
        if let Some(left) = opened.put_down() {
            left.till.close().await;
            if let Some(practice) = left.practice {
                practice.stop().await;
            }
        }
        if let Some(live) = live {
            self.begin(&live);
            opened.take_up(live);
        }
        self.changes.send_modify(|version| *version += 1);
        self.frame().await
    }

    pub async fn connect(&self, request: ConnectRequest) -> Result<Frame, Problem> {
        let opened = self.opened().await?;
        let _alone = opened.setting_up.lock().await;
        if let Ok(AtWork { till, .. }) = opened.at_work() {
            till.connect(&request).await?;
            return self.frame().await;
        }
        let till = self.open_till(&opened.folder.of(Profile::Live), None).await?;
        // A till that enrolled and was killed before the profile was chosen is enrolled all the same.
        if !till.is_enrolled()
            && let Err(problem) = till.connect(&request).await
        {
            till.close().await;
            return Err(problem);
        }
        opened.folder.choose_profile(Profile::Live)?;
        let at_work = AtWork { till, practice: None };
        self.begin(&at_work);
        opened.take_up(at_work);
        self.frame().await
    }

    pub async fn create_manager(&self, request: CreateManagerRequest) -> Result<Frame, Problem> {
        self.till().await?.create_manager(&request).await?;
        self.frame().await
    }

    pub async fn unlock(&self, request: UnlockRequest) -> Result<Frame, Problem> {
        self.till().await?.unlock(&request).await?;
        self.frame().await
    }

    pub async fn lock(&self) -> Result<Frame, Problem> {
        self.till().await?.lock();
        self.frame().await
    }

    pub async fn add_person(&self, request: AddPersonRequest) -> Result<Frame, Problem> {
        self.till().await?.admit_person(&request).await?;
        self.frame().await
    }

    pub async fn reset_pin(&self, request: ResetPinRequest) -> Result<Frame, Problem> {
        self.till().await?.reset_pin(&request).await?;
        self.frame().await
    }

    pub async fn retire_person(&self, request: RetirePersonRequest) -> Result<Frame, Problem> {
        self.till().await?.retire_person(&request).await?;
        self.frame().await
    }

    pub async fn change_pin(&self, request: ChangePinRequest) -> Result<Frame, Problem> {
        self.till().await?.change_pin(&request).await?;
        self.frame().await
    }

    pub async fn open_shift(&self, request: OpenShiftRequest) -> Result<Frame, Problem> {
        self.till().await?.open_shift(&request).await?;
        self.frame().await
    }

    pub async fn close_shift(&self, request: CloseShiftRequest) -> Result<Frame, Problem> {
        self.till().await?.close_shift(&request).await?;
        self.frame().await
    }

    pub async fn pause_sending(&self, request: PauseSendingRequest) -> Result<Frame, Problem> {
        self.till().await?.pause_sending(&request).await?;
        self.frame().await
    }

    pub async fn decide(&self, request: Decide) -> Result<Frame, Problem> {
        self.till().await?.decide(&request).await?;
        self.frame().await
    }

    pub async fn take_back_discard(&self, request: DiscardRequest) -> Result<Frame, Problem> {
        self.till().await?.take_back_discard(&request).await?;
        self.frame().await
    }

    pub async fn leave_discard(&self, request: DiscardRequest) -> Result<Frame, Problem> {
        self.till().await?.leave_discard(&request).await?;
        self.frame().await
    }

    pub async fn charge_card(&self, request: ChargeCardRequest) -> Result<Frame, Problem> {
        self.till().await?.charge_card(&request).await?;
        self.frame().await
    }

    pub async fn cancel_unpaid(&self, request: CancelUnpaidRequest) -> Result<Frame, Problem> {
        self.till().await?.cancel_unpaid(&request).await?;
        self.frame().await
    }

    pub async fn void_sale(&self, request: VoidSaleRequest) -> Result<Frame, Problem> {
        self.till().await?.void_sale(&request).await?;
        self.frame().await
    }

    pub async fn correct_sale(&self, request: CorrectSaleRequest) -> Result<Frame, Problem> {
        self.till().await?.correct_sale(&request).await?;
        self.frame().await
    }

    pub async fn set_practice_line(&self, request: SetPracticeLineRequest) -> Result<Frame, Problem> {
        let AtWork { till, practice } = self.opened().await?.at_work()?;
        practice.ok_or(ProblemCode::NotAllowedNow)?.set_line(request.line)?;
        // The status bar must not go on showing the line of before; what is found out comes as a change.
        tauri::async_runtime::spawn(async move { till.send_now().await });
        self.frame().await
    }

    pub async fn set_appearance(&self, request: SetAppearanceRequest) -> Result<Frame, Problem> {
        self.opened().await?.folder.choose_appearance(request.appearance)?;
        self.frame().await
    }

    pub async fn set_language(&self, request: SetLanguageRequest) -> Result<Frame, Problem> {
        self.opened().await?.folder.choose_language(request.language)?;
        self.frame().await
    }
}

impl Opened {
    fn at_work(&self) -> Result<AtWork, Problem> {
        let at_work = self.at_work.read().unwrap_or_else(PoisonError::into_inner);
        at_work.clone().ok_or_else(|| ProblemCode::NotAllowedNow.into())
    }

    fn take_up(&self, at_work: AtWork) {
        *self.at_work.write().unwrap_or_else(PoisonError::into_inner) = Some(at_work);
    }

    fn put_down(&self) -> Option<AtWork> {
        self.at_work.write().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl From<FolderError> for Problem {
    fn from(error: FolderError) -> Self {
        match error {
            FolderError::InUse => ProblemCode::FolderInUse.into(),
            FolderError::NotWritable(error) => Self::with(ProblemCode::FolderNotWritable, error.to_string()),
        }
    }
}

#[cfg(all(test, feature = "practice"))]
mod tests {
    use futures_util::FutureExt;
    use tempfile::TempDir;
    use turno_till::view::{ChangePinRequest, Role, UnlockRequest};

    use super::*;

    fn desk(folder: &TempDir, options: Options) -> Desk {
        let [data, secrets, home] = ["data", "state", "home"].map(|name| folder.path().join(name));
        Desk::new(Folders { data, secrets, home }, options)
    }

    #[tokio::test]
    async fn practice_begins_with_one_press_and_is_there_again_after_a_restart() {
        let folder = TempDir::new().unwrap();
        let first = desk(&folder, Options::default());
        assert_eq!(first.frame().await.unwrap().phase, Phase::Welcome);
        let (one, other) = tokio::join!(first.start_practice(), first.start_practice());
        assert_eq!(one.unwrap(), other.unwrap(), "pressed twice, begun once");
        first.close().await;
        drop(first);

        let again = desk(&folder, Options::default());
        let frame = again.frame().await.unwrap();
        let Phase::Locked { people, .. } = frame.phase else { panic!("locked, not {:?}", frame.phase) };
        assert_eq!(
            people.iter().map(|person| person.role).collect::<Vec<_>>(),
            [Role::Cashier, Role::Manager]
        );
        assert_eq!(frame.practice.unwrap().pins.len(), people.len(), "the screen shows everybody's PIN");
        assert_eq!(frame.managers.len(), 1);

        let till = again.till().await.unwrap();
        let cashier = UnlockRequest { person_id: "cashier".to_owned(), pin: "314159".to_owned() };
        till.unlock(&cashier).await.unwrap();
        let change = ChangePinRequest { pin: cashier.pin, new_pin: "482913".to_owned() };
        till.change_pin(&change).await.unwrap();
        let told = again.frame().await.unwrap().practice.unwrap().pins;
        let told: Vec<&str> = told.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(told, ["Encargado"], "a PIN that holds no more is not shown");
    }

    #[tokio::test]
    async fn a_folder_that_somebody_holds_is_unavailable_and_names_itself() {
        let folder = TempDir::new().unwrap();
        let holder = desk(&folder, Options::default());
        holder.open().await;
        let second = desk(&folder, Options { practice: true, ..Options::default() });
        let Phase::Unavailable { problem } = second.frame().await.unwrap().phase else {
            panic!("it is held")
        };
        assert_eq!(problem.code, ProblemCode::FolderInUse);
        assert_eq!(problem.detail.unwrap(), folder.path().join("data").display().to_string());
        assert_eq!(second.start_practice().await.unwrap_err().code, ProblemCode::FolderInUse);
    }

    #[tokio::test]
    async fn closing_waits_for_what_is_being_recorded() {
        let folder = TempDir::new().unwrap();
        let desk = desk(&folder, Options::default());
        let recording = desk.recording().await;
        let mut closing = Box::pin(desk.stop_recording());
        assert!(closing.as_mut().now_or_never().is_none(), "it waits");
        drop(recording);
        let nothing_more = closing.await;
        assert!(Box::pin(desk.recording()).now_or_never().is_none(), "nothing more begins");
        drop(nothing_more);
    }

    #[tokio::test]
    async fn a_refused_connection_leaves_the_choice_open() {
        let folder = TempDir::new().unwrap();
        let desk = desk(&folder, Options::default());
        let request = ConnectRequest { address: "ftp://yupy.example".into(), enrolment_code: "K7M2P".into() };
        assert_eq!(desk.connect(request).await.unwrap_err().code, ProblemCode::AddressInvalid);
        assert_eq!(desk.frame().await.unwrap().phase, Phase::Welcome);
        desk.start_practice().await.unwrap();
    }

    #[tokio::test]
    async fn practising_once_does_not_unmake_a_companys_till() {
        let folder = TempDir::new().unwrap();
        let data = DataFolder::claim(&folder.path().join("data")).unwrap();
        data.choose_profile(Profile::Live).unwrap();
        drop(data);
        let practising = desk(&folder, Options { practice: true, ..Options::default() });
        assert!(practising.frame().await.unwrap().practice.is_some());
        practising.close().await;
        drop(practising);
        let data = DataFolder::claim(&folder.path().join("data")).unwrap();
        assert_eq!(data.profile(), Some(Profile::Live));
    }

    #[tokio::test]
    async fn without_a_till_there_is_nothing_to_ask() {
        let folder = TempDir::new().unwrap();
        let desk = desk(&folder, Options { lang: Some(Language::En), ..Options::default() });
        assert_eq!(desk.lock().await.unwrap_err().code, ProblemCode::NotAllowedNow);
        assert_eq!(desk.frame().await.unwrap().language, Language::En);
    }
}
