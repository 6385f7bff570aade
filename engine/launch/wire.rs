//! How the step files write what JSON has no word for: times as whole milliseconds, and texts of the
//! system, which are bytes: a JSON string where they are UTF-8, else an array of numbers.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A text of the system on its way to or from JSON.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Raw {
    Text(String),
    Bytes(Vec<u8>),
}

impl From<&std::ffi::OsStr> for Raw {
    fn from(text: &std::ffi::OsStr) -> Self {
        text.to_str().map_or_else(
            || Self::Bytes(text.as_bytes().to_vec()),
            |text| Self::Text(text.to_owned()),
        )
    }
}

impl From<Raw> for OsString {
    fn from(raw: Raw) -> Self {
        match raw {
            Raw::Text(text) => text.into(),
            Raw::Bytes(bytes) => Self::from_vec(bytes),
        }
    }
}

pub(super) mod path {
    use super::{OsString, PathBuf, Raw};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::path::Path;

    pub(crate) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        Raw::from(path.as_os_str()).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        Raw::deserialize(from).map(|raw| OsString::from(raw).into())
    }
}

pub(super) mod optional_path {
    use super::{OsString, PathBuf, Raw};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "serde's `with` passes the field by reference")]
    pub(crate) fn serialize<S: Serializer>(
        path: &Option<PathBuf>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        path.as_ref().map(|path| Raw::from(path.as_os_str())).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<PathBuf>, D::Error> {
        Option::<Raw>::deserialize(from).map(|raw| raw.map(|raw| OsString::from(raw).into()))
    }
}

pub(super) mod texts {
    use super::{OsString, Raw};
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(texts: &[OsString], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(texts.iter().map(|text| Raw::from(text.as_os_str())))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<OsString>, D::Error> {
        Ok(Vec::<Raw>::deserialize(from)?.into_iter().map(OsString::from).collect())
    }
}

pub(super) mod pairs {
    use super::{OsString, Raw};
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(
        pairs: &[(OsString, OsString)],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(
            pairs
                .iter()
                .map(|(name, value)| (Raw::from(name.as_os_str()), Raw::from(value.as_os_str()))),
        )
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<(OsString, OsString)>, D::Error> {
        Ok(Vec::<(Raw, Raw)>::deserialize(from)?
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect())
    }
}

pub(super) mod millis {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::time::Duration;

    pub(crate) fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_millis)
    }
}

pub(super) mod optional_millis {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::time::Duration;

    #[expect(clippy::ref_option, reason = "serde's `with` passes the field by reference")]
    pub(crate) fn serialize<S: Serializer>(
        time: &Option<Duration>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Duration>, D::Error> {
        Option::<u64>::deserialize(from).map(|time| time.map(Duration::from_millis))
    }
}
