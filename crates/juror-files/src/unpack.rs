//! Decompresses files, and limits their decompressed size.

use std::io::{self, Read};

/// The environment variable with the maximum decompressed size, in bytes.
const MOST: &str = "JUROR_MAX_UNPACKED";

/// The default limit for small files, in bytes.
const MOST_OF_ANY: u64 = 256 << 20;

/// The usual upper bound on the compression ratio of text.
const LIKELY_TIMES: u64 = 20;

/// The default limit for large files, as a multiple of the compressed size. Text usually shrinks to
/// a tenth, repetitive text to a fiftieth. Without a limit, a file of a few kilobytes could fill
/// all memory.
const TIMES: u64 = 100;

/// Decompresses gzip and zstd; returns any other bytes as they are.
pub(crate) fn unpack(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    let set = std::env::var(MOST).ok().filter(|set| !set.trim().is_empty());
    let most = match set {
        Some(set) => set.trim().parse().map_err(|_| {
            let why = format!("`{MOST}` is `{set}`, and has to be a number of bytes");
            io::Error::new(io::ErrorKind::InvalidInput, why)
        })?,
        None => MOST_OF_ANY.max(TIMES * bytes.len() as u64),
    };
    unpack_within(bytes, most)
}

fn unpack_within(bytes: Vec<u8>, most: u64) -> io::Result<Vec<u8>> {
    let likely = likely_length(&bytes).min(most);
    match bytes.as_slice() {
        [0x1f, 0x8b, ..] => read(flate2::read::MultiGzDecoder::new(bytes.as_slice()), likely, most),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            read(zstd::stream::read::Decoder::new(bytes.as_slice())?, likely, most)
        }
        _ => Ok(bytes),
    }
}

/// Returns the decompressed size that the file declares, capped at what is usual for text, because
/// a few bytes can declare any size.
fn likely_length(bytes: &[u8]) -> u64 {
    let claimed = match bytes {
        // A gzip file ends with the size of its last member.
        [0x1f, 0x8b, .., a, b, c, d] => u64::from(u32::from_le_bytes([*a, *b, *c, *d])),
        _ => zstd::zstd_safe::get_frame_content_size(bytes).ok().flatten().unwrap_or(0),
    };
    claimed.min(LIKELY_TIMES * bytes.len() as u64)
}

/// Reads everything, with the likely size allocated up front: growing would hold the text twice.
fn read(decoder: impl Read, likely: u64, most: u64) -> io::Result<Vec<u8>> {
    let mut plain = Vec::new();
    let room = usize::try_from(likely.saturating_add(1)).unwrap_or(0);
    plain.try_reserve_exact(room).map_err(io::Error::from)?;
    decoder.take(most.saturating_add(1)).read_to_end(&mut plain)?;
    if plain.len() as u64 <= most {
        return Ok(plain);
    }
    let why = format!(
        "it becomes more than {most} bytes when it is decompressed\n  hint: if it can be trusted, \
         allow more with the variable {MOST}, or decompress it first"
    );
    Err(io::Error::new(io::ErrorKind::InvalidData, why))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn packed(text: &[u8]) -> [Vec<u8>; 2] {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text).expect("packed");
        let zstd = zstd::stream::encode_all(text, 1).expect("packed");
        [gzip.finish().expect("packed"), zstd]
    }

    #[test]
    fn a_file_becomes_no_larger_than_it_may() {
        for packed in packed(&[b' '; 1000]) {
            assert_eq!(unpack_within(packed.clone(), 1000).expect("unpacked").len(), 1000);
            let refused = unpack_within(packed, 999).expect_err("refused").to_string();
            assert!(refused.starts_with("it becomes more than 999 bytes"), "{refused}");
            assert!(refused.contains("JUROR_MAX_UNPACKED"), "{refused}");
        }
        assert_eq!(unpack_within(b"plain".to_vec(), 1).expect("as it is"), b"plain");
    }

    #[test]
    fn no_more_room_is_made_than_a_file_can_be_believed_to_need() {
        let words: Vec<String> = (0..2_000).map(|n| format!("word {}", n * n % 977)).collect();
        let words = words.join(" ");
        let [gzip, _] = packed(words.as_bytes());
        let zstd = zstd::bulk::compress(words.as_bytes(), 1).expect("packed");
        for packed in [gzip, zstd] {
            assert_eq!(likely_length(&packed), words.len() as u64, "what is honest is believed");
            let plain = unpack_within(packed, 1 << 30).expect("unpacked");
            assert!(plain.capacity() <= words.len() + 1, "and the text is held once");
        }
        // Four bytes at the end of the gzip file and eight at the start of the zstd file declare
        // gigabytes.
        let gzip = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3][..], &[0xff; 8]].concat();
        let zstd = [&[0x28, 0xb5, 0x2f, 0xfd, 0xe0][..], &(1_u64 << 40).to_le_bytes()].concat();
        for claiming in [gzip, zstd] {
            assert_eq!(likely_length(&claiming), LIKELY_TIMES * claiming.len() as u64);
            assert!(unpack_within(claiming, u64::MAX).is_err());
        }
    }

    #[test]
    fn parts_that_are_packed_one_after_another_count_together() {
        for packed in packed(&[b' '; 1000]) {
            let twice = packed.repeat(2);
            assert_eq!(unpack_within(twice.clone(), 2000).expect("unpacked").len(), 2000);
            assert!(unpack_within(twice, 1999).is_err());
        }
    }

    #[test]
    fn a_small_file_does_not_fill_the_memory() {
        // One frame per megabyte; the last ones are never read.
        let frame = zstd::stream::encode_all(vec![0; 1 << 20].as_slice(), 1).expect("packed");
        let bomb = frame.repeat(10_000);
        assert!(bomb.len() < 2 << 20, "{}", bomb.len());
        assert!(unpack(bomb).is_err());
    }
}
