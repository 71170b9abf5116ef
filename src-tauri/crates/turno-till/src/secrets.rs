//! What must not be in the database: the credential for YUPY and the pepper of the PINs.
//!
//! One file per installation in the user's state folder, readable by its owner alone. Invariant: a copy of the data
//! folder has neither, so it can neither send as this till nor be used to guess PINs.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::random::{SharedEntropy, hex};
use crate::tries::Tries;

#[derive(Clone)]
pub struct Secrets {
    path: PathBuf,
    pub pepper: String,
    pub credential: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    pepper: String,
    credential: Option<String>,
}

impl Secrets {
    /// Reads the installation's secrets; the first time, makes a pepper.
    ///
    /// # Errors
    /// The file cannot be read, written or understood.
    pub fn open(folder: &Path, installation_id: Uuid, entropy: &SharedEntropy) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let path = path(folder, installation_id);
        match fs::read(&path) {
            Ok(bytes) => {
                let stored: Stored = serde_json::from_slice(&bytes)?;
                Ok(Self { path, pepper: stored.pepper, credential: stored.credential })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let secrets = Self { path, pepper: hex::<32>(&**entropy), credential: None };
                secrets.save()?;
                Ok(secrets)
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the installation has secrets here.
    #[must_use]
    pub fn exist(folder: &Path, installation_id: Uuid) -> bool {
        path(folder, installation_id).exists()
    }

    /// The secrets of an installation that was `old`: on the same machine people keep their PINs and the till its
    /// credential. What the old one has stays, since its own folder may still be in use.
    ///
    /// # Errors
    /// The file cannot be read, written or understood.
    pub fn adopt(folder: &Path, old: Uuid, new: Uuid, entropy: &SharedEntropy) -> io::Result<Self> {
        if !Self::exist(folder, old) {
            return Self::open(folder, new, entropy);
        }
        let secrets = Self { path: path(folder, new), ..Self::open(folder, old, entropy)? };
        secrets.save()?;
        Ok(secrets)
    }

    /// The count of wrong PINs of everybody who is checked with this pepper, whichever folder they are of.
    #[must_use]
    pub fn tries(&self) -> Tries {
        let digest = Sha256::digest(self.pepper.as_bytes());
        let name: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        Tries::at(self.path.with_file_name(format!("{name}.tries")))
    }

    /// Keeps a new credential.
    ///
    /// # Errors
    /// The file cannot be written; the old one stays.
    pub fn keep_credential(&mut self, credential: String) -> io::Result<()> {
        self.credential = Some(credential);
        self.save()
    }

    fn save(&self) -> io::Result<()> {
        let stored = Stored { pepper: self.pepper.clone(), credential: self.credential.clone() };
        let fresh = self.path.with_extension("new");
        let mut file = private(&fresh)?;
        file.write_all(&serde_json::to_vec(&stored)?)?;
        file.sync_all()?;
        fs::rename(&fresh, &self.path)?;
        let folder = self.path.parent().expect("the file was joined to a folder");
        File::open(folder)?.sync_all()
    }
}

fn path(folder: &Path, installation_id: Uuid) -> PathBuf {
    folder.join(format!("{installation_id}.json"))
}

fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
