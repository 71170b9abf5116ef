//! TLS for a listener, from a certificate and its key in PEM files.
//!
//! Invariant: files that do not belong together, or a key that others may read, are found at start and not by the
//! first till.

use std::{fs, io, path::Path, sync::Arc};

use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        self, ServerConfig,
        crypto::aws_lc_rs,
        pki_types::{
            CertificateDer, PrivateKeyDer,
            pem::{self, PemObject},
        },
    },
};

/// Ready to shake hands. Clones are one.
#[derive(Clone)]
pub struct Tls {
    pub(crate) acceptor: TlsAcceptor,
}

#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("the certificate cannot be read")]
    ReadCertificate(#[source] io::Error),
    #[error("the key cannot be read")]
    ReadKey(#[source] io::Error),
    #[error("there is no certificate in the certificate's file")]
    NoCertificate,
    #[error("the certificate's file is damaged")]
    BadCertificate(#[source] pem::Error),
    #[error("there is no private key in the key's file")]
    NoKey,
    #[error("the key's file is damaged")]
    BadKey(#[source] pem::Error),
    #[error("the key's file is open to everybody on this machine: take their rights away")]
    KeyOpenToAll,
    #[error("the key is not the certificate's")]
    Mismatch,
    #[error("certificate and key cannot be used")]
    Unusable(#[source] rustls::Error),
}

impl Tls {
    /// `certificate` holds the server's own certificate first, then those that lead to a known authority.
    ///
    /// # Errors
    /// See [`TlsError`].
    pub fn from_files(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let chain = fs::read(certificate).map_err(TlsError::ReadCertificate)?;
        if is_open_to_all(key) {
            return Err(TlsError::KeyOpenToAll);
        }
        let key = fs::read(key).map_err(TlsError::ReadKey)?;
        Self::from_pem(&chain, &key)
    }

    fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let chain = CertificateDer::pem_slice_iter(chain)
            .collect::<Result<Vec<_>, _>>()
            .map_err(TlsError::BadCertificate)?;
        if chain.is_empty() {
            return Err(TlsError::NoCertificate);
        }
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| {
            if matches!(error, pem::Error::NoItemsFound) { TlsError::NoKey } else { TlsError::BadKey(error) }
        })?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Unusable)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(|error| {
                let is_mismatch = matches!(error, rustls::Error::InconsistentKeys(_));
                if is_mismatch { TlsError::Mismatch } else { TlsError::Unusable(error) }
            })?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { acceptor: TlsAcceptor::from(Arc::new(config)) })
    }
}

/// A file whose rights say that everybody may read or write it. One that is not there is somebody else's trouble.
#[cfg(unix)]
pub fn is_open_to_all(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(file).is_ok_and(|data| data.permissions().mode() & 0o007 != 0)
}

/// Rights that are no bits are not looked at.
#[cfg(not(unix))]
pub fn is_open_to_all(_: &Path) -> bool {
    false
}
