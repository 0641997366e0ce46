//! What a graph says, as a short name: equal versions give equal answers.

use std::fs::File;
use std::io;

use blake3::{Hash, Hasher};

use crate::endpoint::Endpoint;
use crate::load::{LoadError, LoadOptions, format_of};

/// Begins what is hashed. Other releases may read files or evaluate queries in other ways.
const PREFIX: &str = concat!("juror graph ", env!("CARGO_PKG_VERSION"));

/// The version of a graph: a hash of all that decides its answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphVersion(Hash);

impl GraphVersion {
    /// Hashes the bytes and formats of files. `None` if one of them is a pipe or a device, which can be
    /// read only once.
    pub fn of_files(
        names: &[String],
        options: &LoadOptions,
    ) -> Result<Option<GraphVersion>, LoadError> {
        let mut hasher = Hasher::new();
        hasher.update(PREFIX.as_bytes()).update(b" of files");
        hasher.update(&[u8::from(options.union_default)]);
        for name in names {
            let format = format_of(name)?;
            let hash = hash_of(name);
            let hash = hash.map_err(|error| LoadError::Io { name: name.clone(), error })?;
            let Some(hash) = hash else { return Ok(None) };
            hasher.update(format.file_extension().as_bytes()).update(b"\0").update(hash.as_bytes());
        }
        Ok(Some(GraphVersion(hasher.finalize())))
    }

    /// Takes a user's word for what an endpoint holds, such as the date of its data. Passwords and keys
    /// do not count.
    pub fn of_endpoint(endpoint: &Endpoint, said: &str) -> GraphVersion {
        let mut hasher = Hasher::new();
        hasher.update(PREFIX.as_bytes()).update(b" of an endpoint");
        hasher.update(endpoint.open_address().as_bytes()).update(b"\0").update(said.as_bytes());
        GraphVersion(hasher.finalize())
    }

    /// The version as 64 digits and letters.
    pub fn to_hex(self) -> String {
        self.0.to_hex().to_string()
    }
}

fn hash_of(name: &str) -> io::Result<Option<Hash>> {
    if !std::fs::metadata(name)?.is_file() {
        return Ok(None);
    }
    let mut hasher = Hasher::new();
    hasher.update_reader(File::open(name)?)?;
    Ok(Some(hasher.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EndpointOptions;

    #[test]
    fn bytes_formats_and_their_order_make_a_version_and_names_do_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let written = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("written");
            path.to_str().expect("a name").to_owned()
        };
        let version = |names: &[&String]| {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            let version = GraphVersion::of_files(&names, &LoadOptions::default());
            version.expect("readable").expect("files")
        };
        let (a, b) = (written("a.nt", "<x:a> <x:b> <x:c> ."), written("b.nt", ""));
        let same = written("same.nt", "<x:a> <x:b> <x:c> .");
        let other_format = written("a.ttl", "<x:a> <x:b> <x:c> .");
        assert_eq!(version(&[&a]), version(&[&same]));
        assert_ne!(version(&[&a]), version(&[&other_format]));
        assert_ne!(version(&[&a]), version(&[&a, &b]));
        assert_ne!(version(&[&b, &a]), version(&[&a, &b]));
        let union = LoadOptions { union_default: true, ..LoadOptions::default() };
        let union = GraphVersion::of_files(std::slice::from_ref(&a), &union).expect("readable");
        assert_ne!(union, Some(version(&[&a])));
        let missing = GraphVersion::of_files(&["none.ttl".into()], &LoadOptions::default());
        assert!(missing.is_err_and(|error| error.to_string().starts_with("none.ttl: cannot read")));
        let nameless = GraphVersion::of_files(&["none".into()], &LoadOptions::default());
        assert!(matches!(nameless, Err(LoadError::UnknownFormat(_))));
    }

    #[cfg(unix)]
    #[test]
    fn a_device_has_no_version() {
        let folder = tempfile::tempdir().expect("a folder");
        let link = folder.path().join("null.ttl");
        std::os::unix::fs::symlink("/dev/null", &link).expect("a link");
        let name = link.to_str().expect("a name").to_owned();
        assert_eq!(GraphVersion::of_files(&[name], &LoadOptions::default()).expect("read"), None);
    }

    #[test]
    fn passwords_of_an_endpoint_do_not_count_and_what_is_asked_for_does() {
        let version = |address: &str, said: &str| {
            let endpoint = Endpoint::new(address, EndpointOptions::default()).expect("an address");
            GraphVersion::of_endpoint(&endpoint, said)
        };
        let base = version("http://me:secret-word@localhost/sparql?graph=a", "May");
        assert_eq!(version("http://me:other-secret@localhost/sparql?graph=a", "May"), base);
        for (address, said) in [
            ("http://me:secret-word@localhost/sparql?graph=b", "May"),
            ("http://me:secret-word@localhost/other?graph=a", "May"),
            ("http://me:secret-word@localhost/sparql?graph=a", "June"),
        ] {
            assert_ne!(version(address, said), base, "{address} {said}");
        }
    }
}
