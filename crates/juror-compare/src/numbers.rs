//! Numbers for people.

/// Formats a whole number with thousands separators.
pub fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut shown = String::new();
    for (index, digit) in digits.chars().enumerate() {
        let left = digits.len() - index;
        if index > 0 && left % 3 == 0 && !shown.ends_with('-') {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}
