//! Reads numbers and texts from bytes that may be anything.

use std::collections::BTreeMap;

/// Why bytes are no partial that can be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unreadable {
    /// They are something else.
    #[error("this is no partial: it does not begin with `juror.partial/`")]
    NotAPartial,
    /// They have another format.
    #[error("this is a partial of version {version:?}, and this release of juror reads version 1")]
    OtherVersion {
        /// Which.
        version: String,
    },
    /// They have the metrics of another release.
    #[error("this partial was written by another release of juror, which has other metrics")]
    OtherRelease,
    /// Their end is missing.
    #[error("this partial is cut off")]
    CutOff,
    /// They are not what was written.
    #[error("this partial is damaged or cut off: its checksum does not agree")]
    Damaged,
}

/// More than any count can be: sums of counts do not overflow.
const TOO_MANY: u64 = 1 << 40;

/// Bytes that are left to be read.
pub(crate) struct Reader<'b> {
    rest: &'b [u8],
}

impl<'b> Reader<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Reader<'b> {
        Reader { rest: bytes }
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    fn take(&mut self, n: usize) -> Result<&'b [u8], Unreadable> {
        let (taken, rest) = self.rest.split_at_checked(n).ok_or(Unreadable::CutOff)?;
        self.rest = rest;
        Ok(taken)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Unreadable> {
        Ok(self.take(1)?[0])
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Unreadable> {
        self.take(N)?.try_into().map_err(|_| Unreadable::CutOff)
    }

    pub(crate) fn flag(&mut self) -> Result<bool, Unreadable> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Unreadable::Damaged),
        }
    }

    pub(crate) fn wide(&mut self) -> Result<u128, Unreadable> {
        let mut number = 0_u128;
        for at in 0..18 {
            let byte = self.byte()?;
            number |= u128::from(byte & 0x7f) << (7 * at);
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Unreadable::Damaged)
    }

    pub(crate) fn number(&mut self) -> Result<u64, Unreadable> {
        u64::try_from(self.wide()?).map_err(|_| Unreadable::Damaged)
    }

    /// A number of things.
    pub(crate) fn count(&mut self) -> Result<u64, Unreadable> {
        Some(self.number()?).filter(|count| *count < TOO_MANY).ok_or(Unreadable::Damaged)
    }

    pub(crate) fn size(&mut self) -> Result<usize, Unreadable> {
        usize::try_from(self.count()?).map_err(|_| Unreadable::Damaged)
    }

    pub(crate) fn small(&mut self) -> Result<u32, Unreadable> {
        u32::try_from(self.number()?).map_err(|_| Unreadable::Damaged)
    }

    pub(crate) fn signed(&mut self) -> Result<i32, Unreadable> {
        let number = self.small()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    pub(crate) fn finite_bits(&mut self) -> Result<u64, Unreadable> {
        Ok(self.finite()?.to_bits())
    }

    pub(crate) fn finite(&mut self) -> Result<f64, Unreadable> {
        let value = f64::from_le_bytes(self.array()?);
        if value.is_finite() { Ok(value) } else { Err(Unreadable::Damaged) }
    }

    pub(crate) fn text(&mut self) -> Result<String, Unreadable> {
        let n = self.size()?;
        String::from_utf8(self.take(n)?.to_vec()).map_err(|_| Unreadable::Damaged)
    }

    /// Reads a list. Everything in it takes at least a byte, so that a length beyond the end is told
    /// before memory is taken for it.
    pub(crate) fn list<T>(
        &mut self,
        mut read: impl FnMut(&mut Reader<'b>) -> Result<T, Unreadable>,
    ) -> Result<Vec<T>, Unreadable> {
        let n = self.size()?;
        if n > self.rest.len() {
            return Err(Unreadable::CutOff);
        }
        (0..n).map(|_| read(self)).collect()
    }

    /// Reads a map whose keys must be in order, each of them once.
    pub(crate) fn map<K: Ord, V>(
        &mut self,
        read: impl FnMut(&mut Reader<'b>) -> Result<(K, V), Unreadable>,
    ) -> Result<BTreeMap<K, V>, Unreadable> {
        let entries = self.list(read)?;
        if entries.is_sorted_by(|a, b| a.0 < b.0) {
            Ok(entries.into_iter().collect())
        } else {
            Err(Unreadable::Damaged)
        }
    }
}
