//! Encrypted connections with the parameters of `psql`: `sslmode` is the required level of
//! security, and `sslrootcert` contains the trusted certificate authorities.
//!
//! Differences: `allow` means `prefer`. If the server offers encryption but its certificate is
//! rejected, there is no unencrypted retry. Host names are only compared with the `subjectAltName`
//! of the certificate.

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use incrowd_core::{Error, Result};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_postgres::config::SslMode;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use tokio_rustls::rustls::crypto::{
    WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};

/// Requested TLS parameters of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wishes {
    pub(super) mode: Option<String>,
    /// File with the certificate authorities, or `system`.
    pub(super) root: Option<String>,
    /// Client certificate and its private key.
    pub(super) certificate: Option<String>,
    pub(super) key: Option<String>,
}

/// Level of verification of the server certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verification {
    /// No verification.
    Any,
    /// A trusted authority must have signed the certificate.
    Chain,
    /// In addition, the certificate must be for the requested host.
    Name,
}

/// TLS mode and configuration of connections.
#[derive(Clone)]
pub(super) struct Tls {
    pub(super) mode: SslMode,
    config: Option<Arc<ClientConfig>>,
}

impl Wishes {
    /// Loads the certificates and keys. `home` is the directory with the default files.
    pub(super) fn prepare(&self, home: Option<&Path>) -> Result<Tls> {
        let system = self.root.as_deref() == Some("system");
        let mode = self.mode.as_deref().unwrap_or(if system { "verify-full" } else { "prefer" });
        let (ssl, mut verification) = match mode {
            "disable" => return Ok(Tls::none()),
            "allow" | "prefer" => (SslMode::Prefer, Verification::Any),
            "require" => (SslMode::Require, Verification::Any),
            "verify-ca" => (SslMode::Require, Verification::Chain),
            "verify-full" => (SslMode::Require, Verification::Name),
            _ => {
                return Err(Error::job(format!("there is no sslmode `{mode}`"))
                    .help("write disable, prefer, require, verify-ca or verify-full"));
            }
        };
        if system && verification != Verification::Name {
            return Err(Error::job(format!(
                "sslrootcert `system` cannot be combined with sslmode `{mode}`"
            ))
            .help(
                "anybody can have a certificate of a public authority: write sslmode=verify-full",
            ));
        }
        let usual = |name: &str| {
            home.map(|home| home.join(".postgresql").join(name)).filter(|f| f.exists())
        };
        let named = |own: &Option<String>, name: &str| {
            own.as_ref().map(PathBuf::from).or_else(|| usual(name))
        };
        let trusted = match (system, named(&self.root, "root.crt")) {
            (true, _) => of_system()?,
            (false, Some(file)) => certificates(&file, "sslrootcert")?,
            (false, None) if verification == Verification::Any => Vec::new(),
            (false, None) => {
                return Err(Error::job(format!("sslmode `{mode}` needs a trusted certificate authority")).help(
                    "name the file of the authority's certificate with sslrootcert (PGSSLROOTCERT), or set sslrootcert=system",
                ));
            }
        };
        if !trusted.is_empty() {
            verification = verification.max(Verification::Chain);
        }
        let provider = Arc::new(ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(trusted.iter().cloned());
        let algorithms = provider.signature_verification_algorithms;
        let verifier = Arc::new(Verifier { verification, roots, trusted, algorithms });
        let bad = |what: &str| {
            let what = what.to_owned();
            move |e: tokio_rustls::rustls::Error| Error::job(format!("{what}: {e}"))
        };
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(bad("connections cannot be encrypted"))?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let (own, key) =
            (named(&self.certificate, "postgresql.crt"), named(&self.key, "postgresql.key"));
        let mut config = match (own, key) {
            (Some(own), Some(key)) => builder
                .with_client_auth_cert(certificates(&own, "sslcert")?, private_key(&key)?)
                .map_err(bad("sslcert and sslkey do not fit"))?,
            (Some(_), None) => {
                return Err(Error::job("sslcert names a certificate, and its key is missing")
                    .help("name the file of the key with sslkey (PGSSLKEY)"));
            }
            (None, _) => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(Tls { mode: ssl, config: Some(Arc::new(config)) })
    }
}

fn of_system() -> Result<Vec<CertificateDer<'static>>> {
    let found = rustls_native_certs::load_native_certs().certs;
    match found.is_empty() {
        true => Err(Error::resources("this system has no certificates of authorities")
            .help("name a file with sslrootcert")),
        false => Ok(found),
    }
}

fn said(error: &pem::Error) -> String {
    match error {
        pem::Error::Io(error) => error.to_string(),
        other => other.to_string(),
    }
}

fn certificates(file: &Path, key: &str) -> Result<Vec<CertificateDer<'static>>> {
    let read = CertificateDer::pem_file_iter(file)
        .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>);
    let read = read.map_err(|e| {
        Error::job(format!("{key}: `{}` cannot be read: {}", file.display(), said(&e)))
    })?;
    match read.is_empty() {
        true => Err(Error::job(format!("{key}: `{}` has no certificate in it", file.display()))
            .help("it must be of the form PEM, which begins with -----BEGIN CERTIFICATE-----")),
        false => Ok(read),
    }
}

/// Loads a private key. As in `psql`, a key file that others can read is rejected.
fn private_key(file: &Path) -> Result<PrivateKeyDer<'static>> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let others = std::fs::metadata(file)
            .is_ok_and(|own| own.mode() & if own.uid() == 0 { 0o037 } else { 0o077 } != 0);
        if others {
            return Err(Error::job(format!("sslkey: others can read `{}`", file.display()))
                .help("chmod 600"));
        }
    }
    PrivateKeyDer::from_pem_file(file).map_err(|e| {
        Error::job(format!("sslkey: `{}` cannot be read: {}", file.display(), said(&e)))
            .help("it must be a key without a password, of the form PEM")
    })
}

/// Verifier of the server certificate.
#[derive(Debug)]
struct Verifier {
    verification: Verification,
    roots: RootCertStore,
    /// The certificates in `roots`, to recognize a self-signed server certificate.
    trusted: Vec<CertificateDer<'static>>,
    algorithms: WebPkiSupportedAlgorithms,
}

type TlsResult<T> = std::result::Result<T, tokio_rustls::rustls::Error>;

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> TlsResult<ServerCertVerified> {
        use tokio_rustls::rustls::Error::InvalidCertificate;
        if self.verification >= Verification::Chain {
            let parsed = ParsedCertificate::try_from(own)?;
            let signed = verify_server_cert_signed_by_trust_anchor(
                &parsed,
                &self.roots,
                between,
                now,
                self.algorithms.all,
            );
            let itself = self.trusted.iter().any(|trusted| trusted == own);
            match signed {
                Ok(()) => {}
                // The validity period is checked before the issuer. The remaining errors concern
                // the issuer, and this certificate itself is trusted.
                Err(InvalidCertificate(
                    CertificateError::Other(_) | CertificateError::UnknownIssuer,
                )) if itself => {}
                Err(error) => return Err(error),
            }
        }
        if self.verification == Verification::Name {
            verify_server_name(&ParsedCertificate::try_from(own)?, name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> TlsResult<HandshakeSignatureValid> {
        verify_tls12_signature(message, own, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> TlsResult<HandshakeSignatureValid> {
        verify_tls13_signature(message, own, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Message for a failed handshake.
fn handshake_message(host: &str, error: &io::Error) -> String {
    use tokio_rustls::rustls::Error::InvalidCertificate;
    let inner = error.get_ref().and_then(|e| e.downcast_ref::<tokio_rustls::rustls::Error>());
    let about = match inner {
        Some(InvalidCertificate(why)) => why,
        _ => return error.to_string(),
    };
    match about {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "no authority of sslrootcert has signed the certificate of the server".to_owned()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            format!("the certificate of the server is not for the host `{host}`")
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the certificate of the server has expired".to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "the certificate of the server is not valid yet".to_owned()
        }
        other => format!("the certificate of the server is refused: {other}"),
    }
}

impl Tls {
    /// No encryption.
    pub(super) fn none() -> Tls {
        Tls { mode: SslMode::Disable, config: None }
    }
}

/// An encrypted connection.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Stream for S {}

impl TlsStream for Box<dyn Stream> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

/// Encrypts connections. `tokio-postgres` asks the server whether it encrypts, and calls the
/// connector if it does. If it does not, the mode `Require` makes `tokio-postgres` return an error.
pub(super) struct Connector {
    pub(super) tls: Tls,
}

impl<S: Stream> MakeTlsConnect<S> for Connector {
    type Stream = Box<dyn Stream>;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, domain: &str) -> io::Result<Handshake> {
        Ok(Handshake { config: self.tls.config.clone(), host: domain.to_owned() })
    }
}

/// A connection before the TLS handshake.
pub(super) struct Handshake {
    /// `None` if `tokio-postgres` must not encrypt.
    config: Option<Arc<ClientConfig>>,
    host: String,
}

impl<S: Stream> TlsConnect<S> for Handshake {
    type Stream = Box<dyn Stream>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Stream>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let Handshake { config, host } = self;
            let config = config.ok_or_else(|| io::Error::other("encryption is disabled"))?;
            let name = ServerName::try_from(host.clone());
            let name =
                name.map_err(|_| io::Error::other(format!("`{host}` is no name of a host")))?;
            let done = TlsConnector::from(config).connect(name, stream).await;
            let stream = done.map_err(|e| io::Error::other(handshake_message(&host, &e)))?;
            Ok(Box::new(stream) as Self::Stream)
        })
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    fn refused(mode: &str, root: Option<&str>) -> String {
        let wishes = Wishes {
            mode: Some(mode.to_owned()),
            root: root.map(str::to_owned),
            ..Wishes::default()
        };
        wishes.prepare(None).err().map(|e| e.message().to_owned()).unwrap_or_default()
    }

    #[test]
    fn what_is_asked_for_must_be_possible() {
        assert!(refused("requrie", None).contains("requrie"));
        assert!(refused("verify-ca", None).contains("needs a trusted certificate authority"));
        assert!(refused("verify-full", None).contains("needs a trusted certificate authority"));
        assert!(refused("require", Some("system")).contains("system"));
        assert!(refused("require", Some("/nowhere/root.crt")).contains("/nowhere/root.crt"));
        for mode in ["disable", "allow", "prefer", "require"] {
            assert_eq!(refused(mode, None), "");
        }
    }

    #[test]
    fn without_a_wish_encryption_is_taken_where_it_is_offered() {
        let mode = |wishes: Wishes| wishes.prepare(None).map(|tls| tls.mode).ok();
        assert_eq!(mode(Wishes::default()), Some(SslMode::Prefer));
        let disabled = Wishes { mode: Some("disable".into()), ..Wishes::default() };
        assert_eq!(mode(disabled), Some(SslMode::Disable));
    }

    /// The `SSLRequest` message: its length and its request code.
    const QUESTION: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

    /// Connects to a server that answers the `SSLRequest` with `answer`. Returns all bytes that the
    /// server receives, and the error.
    fn answered(mode: Option<&str>, answer: &[u8]) -> (Vec<u8>, String) {
        let tls =
            Wishes { mode: mode.map(str::to_owned), ..Wishes::default() }.prepare(None).unwrap();
        let mut config = tokio_postgres::Config::new();
        config.user("me").ssl_mode(tls.mode);
        let (ours, mut theirs) = tokio::io::duplex(1 << 12);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            theirs.write_all(answer).await.unwrap();
            theirs.shutdown().await.unwrap();
            let handshake = Handshake { config: tls.config, host: "localhost".to_owned() };
            let made = config.connect_raw(ours, handshake).await.map(|_| ());
            let mut heard = Vec::new();
            theirs.read_to_end(&mut heard).await.unwrap();
            let error = made.unwrap_err();
            let cause = std::error::Error::source(&error).map(|e| e.to_string());
            (heard, format!("{error}: {}", cause.unwrap_or_default()))
        })
    }

    #[test]
    fn a_server_that_does_not_encrypt_is_taken_unless_it_must() {
        // The user is sent in plain text.
        let in_plain = |heard: &[u8]| heard.windows(8).any(|bytes| bytes == b"user\0me\0");
        let (heard, _) = answered(Some("disable"), b"");
        assert!(in_plain(&heard) && !heard.starts_with(&QUESTION));
        for mode in [None, Some("allow"), Some("prefer")] {
            let (heard, _) = answered(mode, b"N");
            assert!(in_plain(&heard) && heard.starts_with(&QUESTION), "{mode:?}");
        }
        let (heard, error) = answered(Some("require"), b"N");
        assert_eq!(heard, QUESTION, "{error}");
        assert!(error.contains("does not support TLS"), "{error}");
        // A server that agrees gets nothing in plain text, even if the handshake fails.
        for mode in [None, Some("require")] {
            let (heard, error) = answered(mode, b"S");
            assert!(heard.starts_with(&QUESTION) && heard.len() > QUESTION.len(), "{error}");
            assert!(!in_plain(&heard), "{mode:?}");
        }
    }
}
