//! Reads ZIP files, as Inspect writes its logs: stored, deflated or compressed with Zstandard.

use std::io::Read;

/// Why a ZIP file cannot be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ZipError {
    /// It ends in the middle, or is no ZIP file at all.
    #[error("the ZIP file is cut off or broken")]
    Broken,
    /// An entry is compressed in a way that is not supported.
    #[error("`{name}` is compressed by method {method}, which is not supported")]
    Method {
        /// The entry.
        name: String,
        /// The number of the method.
        method: u16,
    },
    /// An entry is larger than it may be.
    #[error("`{0}` becomes too large when it is decompressed")]
    TooLarge(String),
}

/// The largest entry of a small file, decompressed.
const MOST_OF_ANY: u64 = 64 << 20;

/// The largest entry of a large file, as a multiple of its size.
const TIMES: u64 = 100;

/// An entry of a ZIP file.
#[derive(Debug)]
pub struct Entry<'b> {
    /// Its name, with the folders it is in.
    pub name: String,
    method: u16,
    packed: &'b [u8],
    /// How large it may become.
    most: u64,
}

/// Whether bytes are a ZIP file.
pub fn is_zip(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06")
}

/// Returns the entries by the list at the end of the file. Entries that share bytes are refused: a small file
/// could name the same large content thousands of times.
pub fn entries(bytes: &[u8]) -> Result<Vec<Entry<'_>>, ZipError> {
    let end = memchr::memmem::rfind(bytes, b"PK\x05\x06").ok_or(ZipError::Broken)?;
    let mut count = u64::from(u16_at(bytes, end + 10)?);
    let mut at = u64::from(u32_at(bytes, end + 16)?);
    // Large files have their sizes in a record before.
    if count == 0xffff || at == 0xffff_ffff {
        let large = memchr::memmem::rfind(&bytes[..end], b"PK\x06\x06").ok_or(ZipError::Broken)?;
        count = u64_at(bytes, large + 32)?;
        at = u64_at(bytes, large + 48)?;
    }
    let mut at = usize::try_from(at).map_err(|_| ZipError::Broken)?;
    let mut entries = Vec::new();
    let mut n_packed = 0;
    for _ in 0..count {
        let (entry, next) = entry(bytes, at)?;
        n_packed += entry.packed.len();
        if n_packed > bytes.len() {
            return Err(ZipError::Broken);
        }
        entries.push(entry);
        at = next;
    }
    Ok(entries)
}

fn entry(bytes: &[u8], at: usize) -> Result<(Entry<'_>, usize), ZipError> {
    if slice(bytes, at, 4)? != b"PK\x01\x02" {
        return Err(ZipError::Broken);
    }
    let field = |offset| u16_at(bytes, at + offset).map(usize::from);
    let (name_length, extra_length, comment_length) = (field(28)?, field(30)?, field(32)?);
    let name = String::from_utf8_lossy(slice(bytes, at + 46, name_length)?).into_owned();
    let extra = slice(bytes, at + 46 + name_length, extra_length)?;
    let sizes = [u32_at(bytes, at + 24)?, u32_at(bytes, at + 20)?, u32_at(bytes, at + 42)?];
    let [_, packed, header] = large_sizes(extra, sizes)?;
    let header = usize::try_from(header).map_err(|_| ZipError::Broken)?;
    // Its fixed part must be there, so that no sum of a position that is made up overflows.
    slice(bytes, header, 30)?;
    let before =
        30 + usize::from(u16_at(bytes, header + 26)?) + usize::from(u16_at(bytes, header + 28)?);
    let packed = usize::try_from(packed).map_err(|_| ZipError::Broken)?;
    let packed = slice(bytes, header + before, packed)?;
    let most = MOST_OF_ANY.max(TIMES * bytes.len() as u64);
    let entry = Entry { name, method: u16_at(bytes, at + 10)?, packed, most };
    Ok((entry, at + 46 + name_length + extra_length + comment_length))
}

/// Sizes that do not fit are in an extra field: those that are all ones, in order.
fn large_sizes(extra: &[u8], sizes: [u32; 3]) -> Result<[u64; 3], ZipError> {
    let mut large = sizes.map(u64::from);
    let mut at = 0;
    while at + 4 <= extra.len() {
        let (kind, length) = (u16_at(extra, at)?, usize::from(u16_at(extra, at + 2)?));
        if kind == 1 {
            let mut field = at + 4;
            for (size, small) in large.iter_mut().zip(sizes) {
                if small == u32::MAX {
                    *size = u64_at(extra, field)?;
                    field += 8;
                }
            }
        }
        at += 4 + length;
    }
    Ok(large)
}

impl Entry<'_> {
    /// Decompresses the entry.
    pub fn read(&self) -> Result<Vec<u8>, ZipError> {
        match self.method {
            0 => Ok(self.packed.to_vec()),
            8 => self.unpack(flate2::read::DeflateDecoder::new(self.packed)),
            93 => {
                let decoder = zstd::stream::read::Decoder::new(self.packed);
                self.unpack(decoder.map_err(|_| ZipError::Broken)?)
            }
            method => Err(ZipError::Method { name: self.name.clone(), method }),
        }
    }

    fn unpack(&self, decoder: impl Read) -> Result<Vec<u8>, ZipError> {
        let mut plain = Vec::new();
        decoder.take(self.most + 1).read_to_end(&mut plain).map_err(|_| ZipError::Broken)?;
        if plain.len() as u64 > self.most {
            Err(ZipError::TooLarge(self.name.clone()))
        } else {
            Ok(plain)
        }
    }
}

fn slice(bytes: &[u8], at: usize, length: usize) -> Result<&[u8], ZipError> {
    let end = at.checked_add(length).ok_or(ZipError::Broken)?;
    bytes.get(at..end).ok_or(ZipError::Broken)
}

fn u16_at(bytes: &[u8], at: usize) -> Result<u16, ZipError> {
    let bytes = slice(bytes, at, 2)?;
    Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> Result<u32, ZipError> {
    Ok(u32::from(u16_at(bytes, at)?) | u32::from(u16_at(bytes, at + 2)?) << 16)
}

fn u64_at(bytes: &[u8], at: usize) -> Result<u64, ZipError> {
    Ok(u64::from(u32_at(bytes, at)?) | u64::from(u32_at(bytes, at + 4)?) << 32)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// Writes a ZIP file of entries: name, method, content.
    fn packed(files: &[(&str, u16, &str)]) -> Vec<u8> {
        let (mut out, mut list) = (Vec::new(), Vec::new());
        for (name, method, content) in files {
            let data = match method {
                8 => {
                    let mut encoder =
                        flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
                    encoder.write_all(content.as_bytes()).expect("packed");
                    encoder.finish().expect("packed")
                }
                93 => zstd::stream::encode_all(content.as_bytes(), 1).expect("packed"),
                _ => content.as_bytes().to_vec(),
            };
            let size = |length: usize| u32::try_from(length).expect("small").to_le_bytes();
            let short = |length: usize| u16::try_from(length).expect("small").to_le_bytes();
            let offset = out.len();
            let common = [
                &method.to_le_bytes()[..],
                &[0; 8],
                &size(data.len()),
                &size(content.len()),
                &short(name.len()),
                &[0; 2],
            ]
            .concat();
            out.extend(
                [&b"PK\x03\x04"[..], &[20, 0, 0, 0], &common, name.as_bytes(), &data].concat(),
            );
            list.extend(
                [
                    &b"PK\x01\x02"[..],
                    &[20, 0, 20, 0, 0, 0],
                    &common,
                    &[0; 10],
                    &size(offset),
                    name.as_bytes(),
                ]
                .concat(),
            );
        }
        let n = u16::try_from(files.len()).expect("few").to_le_bytes();
        let size = u32::try_from(list.len()).expect("small").to_le_bytes();
        let start = u32::try_from(out.len()).expect("small").to_le_bytes();
        out.extend(&list);
        out.extend([&b"PK\x05\x06"[..], &[0; 4], &n, &n, &size, &start, &[0; 2]].concat());
        out
    }

    #[test]
    fn a_position_beyond_all_numbers_is_an_error() {
        let mut list = b"PK\x01\x02".to_vec();
        list.resize(46, 0);
        list[30] = 12;
        list[42..46].fill(0xff);
        list.extend([1, 0, 8, 0]);
        list.extend(u64::MAX.to_le_bytes());
        assert_eq!(entry(&list, 0).map(|_| ()), Err(ZipError::Broken));
    }

    #[test]
    fn entries_are_read_whatever_their_method() {
        let bytes = packed(&[("a", 0, "one"), ("b", 8, "two"), ("c", 93, "three"), ("d", 12, "x")]);
        assert!(is_zip(&bytes));
        let entries = entries(&bytes).expect("entries");
        let read: Vec<_> =
            entries.iter().map(|entry| (entry.name.as_str(), entry.read())).collect();
        assert_eq!(read[0], ("a", Ok(b"one".to_vec())));
        assert_eq!(read[1], ("b", Ok(b"two".to_vec())));
        assert_eq!(read[2], ("c", Ok(b"three".to_vec())));
        assert_eq!(read[3], ("d", Err(ZipError::Method { name: "d".into(), method: 12 })));
    }

    #[test]
    fn broken_files_are_refused() {
        let bytes = packed(&[("a", 0, "one")]);
        for end in [0, 10, bytes.len() - 20] {
            assert!(entries(&bytes[..end]).is_err(), "{end}");
        }
        assert_eq!(entries(b"PK\x05\x06").err(), Some(ZipError::Broken));
    }

    #[test]
    fn no_entry_becomes_larger_than_its_file_allows() {
        let text = " ".repeat(1 << 20);
        let bytes = packed(&[("a", 8, &text), ("b", 93, &text)]);
        for mut entry in entries(&bytes).expect("entries") {
            assert_eq!(entry.most, MOST_OF_ANY);
            entry.most = 1 << 20;
            assert!(entry.read().is_ok());
            entry.most -= 1;
            assert_eq!(entry.read(), Err(ZipError::TooLarge(entry.name.clone())));
        }
    }

    #[test]
    fn entries_that_share_their_bytes_are_refused() {
        let bytes = packed(&[("a", 0, &"x".repeat(200))]);
        let (list, end) = (bytes.len() - 22 - 47, bytes.len() - 22);
        let mut many = bytes[..end].to_vec();
        many.extend(bytes[list..end].repeat(9));
        many.extend(&bytes[end..]);
        let count = many.len() - 12;
        many[count] = 10;
        assert!(entries(&bytes).is_ok());
        assert_eq!(entries(&many).map(|_| ()), Err(ZipError::Broken));
    }
}
