//! By what a manifest is known to be as it was made: a digest of what it says, and a signature if its maker has a key.
//!
//! The digest is of all keys and values but itself and the signature, whatever blanks are between them. Everybody can compute it,
//! so it tells of slips and of careless changes, not of a forger. The signature is a keyed hash of the digest: only who has the key
//! can make one, and only who has it can check it. Both cover the release, because the manifest has the digests of its files.

use std::path::Path;

use incrowd_core::{Error, Result};
use incrowd_recode::suppression::Secret;
use serde_json::Value as Json;

use super::Manifest;
use crate::suppression::key;

/// The keys that the digest leaves out.
const OWN: [&str; 2] = ["manifest_digest", "signature"];

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The digest of what a manifest says.
pub(super) fn digest(bytes: &[u8]) -> Option<String> {
    let mut content: Json = serde_json::from_slice(bytes).ok()?;
    let all = content.as_object_mut()?;
    for key in OWN {
        all.shift_remove(key);
    }
    Some(format!("blake3:{}", blake3::hash(&serde_json::to_vec(&content).ok()?).to_hex()))
}

/// Signs manifests.
pub(crate) struct SigningKey(Secret);

impl SigningKey {
    /// The key in a file that is made if it is not there.
    pub(crate) fn read_or_make(path: &Path) -> Result<SigningKey> {
        key::read_or_make(path).map(SigningKey)
    }

    /// The key in a file.
    pub(crate) fn read(path: &Path) -> Result<SigningKey> {
        let missing = || {
            Error::job(format!("there is no key in `{}`", path.display()))
                .help("name the file that the release was signed with (`[output] sign`)")
        };
        key::read(path)?.map(SigningKey).ok_or_else(missing)
    }

    fn signature(&self, digest: &str) -> String {
        // The same key may serve other purposes.
        let own = self.0.derive([&b"manifest"[..]]);
        format!("blake3-keyed:{}", hex(&own.digest([digest.as_bytes()])))
    }
}

impl Manifest {
    /// States the digest of all that it says, and signs it.
    pub(crate) fn seal(&mut self, key: Option<&SigningKey>) -> Result<()> {
        (self.manifest_digest, self.signature) = (None, None);
        self.content = digest(&self.to_bytes()?);
        self.manifest_digest = self.content.clone();
        self.signature = self.content.as_deref().zip(key).map(|(digest, key)| key.signature(digest));
        Ok(())
    }

    /// Whether it says what it said when it was made; `None` if it does not state its digest.
    pub fn is_as_made(&self) -> Option<bool> {
        self.manifest_digest.as_ref().map(|stated| self.content.as_ref() == Some(stated))
    }

    /// Whether somebody with this key signed what it says now.
    pub(crate) fn is_signed(&self, key: &SigningKey) -> bool {
        let expected = self.content.as_deref().map(|digest| key.signature(digest));
        expected.is_some() && self.signature == expected
    }
}
