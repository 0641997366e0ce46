//! SHA-256, for the names of files that others made with it. Nothing secret depends on it, and it
//! is shorter than the crates that would bring it.

/// The first 32 bits of the fractions of the square roots of the first eight primes.
const START: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// The hash of a text, in hexadecimal.
pub(super) fn hex(text: &str) -> String {
    let mut message = text.as_bytes().to_vec();
    let n_bits = (message.len() as u64) * 8;
    message.push(0x80);
    message.resize((message.len() + 8).next_multiple_of(64) - 8, 0);
    message.extend_from_slice(&n_bits.to_be_bytes());
    let constants = round_constants();
    let state = message.chunks_exact(64).fold(START, |state, chunk| mix(state, chunk, &constants));
    state.iter().fold(String::with_capacity(64), |hex, word| hex + &format!("{word:08x}"))
}

/// The first 32 bits of the fractions of the cube roots of the first 64 primes.
fn round_constants() -> [u32; 64] {
    let mut primes = (2_u128..).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0));
    std::array::from_fn(|_| {
        // The whole root of p · 2⁹⁶ is the root of p with 32 bits behind the point.
        let target = primes.next().unwrap_or(2) << 96;
        let (mut low, mut high) = (0_u128, 1_u128 << 36);
        while high - low > 1 {
            let middle = u128::midpoint(low, high);
            if middle * middle * middle <= target { low = middle } else { high = middle }
        }
        u32::try_from(low & 0xffff_ffff).unwrap_or(0)
    })
}

fn mix(state: [u32; 8], chunk: &[u8], constants: &[u32; 64]) -> [u32; 8] {
    let mut words = [0_u32; 64];
    for (word, bytes) in words.iter_mut().zip(chunk.chunks_exact(4)) {
        *word = bytes.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
    }
    for at in 16..64 {
        let (old, new) = (words[at - 15], words[at - 2]);
        let old = old.rotate_right(7) ^ old.rotate_right(18) ^ (old >> 3);
        let new = new.rotate_right(17) ^ new.rotate_right(19) ^ (new >> 10);
        words[at] = words[at - 16].wrapping_add(old).wrapping_add(words[at - 7]).wrapping_add(new);
    }
    let mut mixed = state;
    for (word, constant) in words.iter().zip(constants) {
        mixed = round(mixed, word.wrapping_add(*constant));
    }
    std::array::from_fn(|at| state[at].wrapping_add(mixed[at]))
}

#[expect(clippy::many_single_char_names, reason = "the names of the standard")]
fn round([a, b, c, d, e, f, g, h]: [u32; 8], input: u32) -> [u32; 8] {
    let turned = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
    let chosen = (e & f) ^ (!e & g);
    let first = h.wrapping_add(turned).wrapping_add(chosen).wrapping_add(input);
    let turned = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
    let most = (a & b) ^ (a & c) ^ (b & c);
    [first.wrapping_add(turned).wrapping_add(most), a, b, c, d.wrapping_add(first), e, f, g]
}

#[cfg(test)]
mod tests {
    use super::hex;

    #[test]
    fn the_examples_of_the_standard_hold() {
        assert_eq!(hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(
            hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        );
        assert_eq!(
            hex(&"a".repeat(1000)),
            "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"
        );
    }
}
