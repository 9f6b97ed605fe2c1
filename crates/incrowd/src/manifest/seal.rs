//! Integrity of a manifest: a digest of its content, and a signature if the publisher has a key.
//!
//! The digest covers all keys and values except itself and the signature, regardless of whitespace.
//! Everybody can compute it, so it detects accidental changes, not forgery. The signature is a
//! keyed hash of the digest: creating and checking it require the key. Both cover the release,
//! because the manifest contains the digests of its files.

use std::path::Path;

use incrowd_core::{Error, Result};
use incrowd_recode::suppression::Secret;
use serde_json::Value as Json;

use super::Manifest;
use crate::making::suppression::key;

/// The keys that the digest does not cover.
const OWN: [&str; 2] = ["manifest_digest", "signature"];

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the digest of a manifest's content.
pub(super) fn digest(bytes: &[u8]) -> Option<String> {
    let mut content: Json = serde_json::from_slice(bytes).ok()?;
    let all = content.as_object_mut()?;
    for key in OWN {
        all.shift_remove(key);
    }
    Some(format!("blake3:{}", blake3::hash(&serde_json::to_vec(&content).ok()?).to_hex()))
}

/// A key that signs manifests.
pub(crate) struct SigningKey(Secret);

impl SigningKey {
    /// Reads the key of a file. The file is created if it does not exist.
    pub(crate) fn read_or_make(path: &Path) -> Result<SigningKey> {
        key::read_or_make(path).map(SigningKey)
    }

    /// Reads the key of a file.
    pub(crate) fn read(path: &Path) -> Result<SigningKey> {
        let missing = || {
            Error::job(format!("there is no key in `{}`", path.display()))
                .help("name the file that the release was signed with (`[output] sign`)")
        };
        key::read(path)?.map(SigningKey).ok_or_else(missing)
    }

    fn signature(&self, digest: &str) -> String {
        // A derived key, because the key may have other uses.
        let own = self.0.derive([&b"manifest"[..]]);
        format!("blake3-keyed:{}", hex(&own.digest([digest.as_bytes()])))
    }
}

impl Manifest {
    /// Sets the digest of its content, and signs it.
    pub(crate) fn seal(&mut self, key: Option<&SigningKey>) -> Result<()> {
        (self.manifest_digest, self.signature) = (None, None);
        self.content = digest(&self.to_bytes()?);
        self.manifest_digest = self.content.clone();
        self.signature =
            self.content.as_deref().zip(key).map(|(digest, key)| key.signature(digest));
        Ok(())
    }

    /// Returns whether it matches its own digest; `None` if it has none.
    pub fn is_as_made(&self) -> Option<bool> {
        self.manifest_digest.as_ref().map(|stated| self.content.as_ref() == Some(stated))
    }

    /// Returns whether its content is signed with this key.
    pub(crate) fn is_signed(&self, key: &SigningKey) -> bool {
        let expected = self.content.as_deref().map(|digest| key.signature(digest));
        expected.is_some() && self.signature == expected
    }
}
