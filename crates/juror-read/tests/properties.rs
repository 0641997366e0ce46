//! What holds whatever the text.

use juror_document::{Document, Format};
use juror_read::{read_reference, read_responses, read_results};
use juror_score::{Aggregator, Profile};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn nothing_makes_reading_panic(text in "\\PC{0,60}", bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        for format in [Format::Json, Format::JsonLines, Format::Yaml] {
            for bytes in [text.clone().into_bytes(), bytes.clone()] {
                let Ok(document) = Document::new("x", bytes, format) else { continue };
                let _ = read_reference(&document);
                let _ = read_responses(&document);
                let _ = read_results(&document, &mut Aggregator::new(&Profile::V5, &[]));
            }
        }
    }
}
