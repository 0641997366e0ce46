//! Reads files front to back, without holding them in memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use crate::load::LoadError;

/// How much is read at a time.
const BUFFER: usize = 1 << 20;

/// Opens a file to be read once; `-` is standard input. What is compressed with gzip or Zstandard,
/// by its first bytes, is decompressed on the way.
pub fn open_stream(name: &str) -> Result<Box<dyn Read + Send>, LoadError> {
    let failed = |error| LoadError::Io { name: name.to_owned(), error };
    let source: Box<dyn Read + Send> = match name {
        "-" => Box::new(io::stdin()),
        _ => Box::new(open(name).map_err(failed)?),
    };
    unpacked(source).map_err(failed)
}

fn open(name: &str) -> io::Result<File> {
    let file = File::open(name)?;
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    Ok(file)
}

fn unpacked(source: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let mut source = BufReader::with_capacity(BUFFER, source);
    Ok(match source.fill_buf()? {
        [0x1f, 0x8b, ..] => Box::new(flate2::bufread::MultiGzDecoder::new(source)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Box::new(zstd::stream::read::Decoder::with_buffer(source)?),
        _ => Box::new(source),
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn compressed_files_are_read_as_plain_ones() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = "a line\n".repeat(1000);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text.as_bytes()).expect("packed");
        let zstd = zstd::stream::encode_all(text.as_bytes(), 1).expect("packed");
        let files = [
            ("a.txt", text.clone().into_bytes()),
            ("b.gz", gzip.finish().expect("packed")),
            ("c.zst", zstd),
        ];
        for (name, bytes) in files {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).expect("written");
            let mut read = String::new();
            let mut stream = open_stream(path.to_str().expect("a name")).expect("opened");
            stream.read_to_string(&mut read).expect("read");
            assert_eq!(read, text, "{name}");
        }
        let folder = open_stream(folder.path().to_str().expect("a name"));
        assert!(folder.is_err_and(|error| error.to_string().contains("it is a folder")));
    }
}
