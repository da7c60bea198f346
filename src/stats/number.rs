//! Numbers as text that is the same on every machine.

/// A number with six significant decimal digits, in plain notation, without trailing zeros; whole digits are kept.
pub fn significant(value: f64) -> String {
    rounded(value, 6)
}

/// The same with that many significant digits, at least one.
pub fn rounded(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    // The exponent after rounding, from the exact decimal conversion and not from a logarithm.
    let scientific = format!("{value:.*e}", digits - 1);
    let exponent: i32 = scientific.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    let decimals = usize::try_from(digits as i32 - 1 - exponent).unwrap_or(0);
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Microseconds as seconds.
pub fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

/// A number with separators between thousands.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share as a percentage that never says 0 % of something or 100 % of less than everything.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match share {
        0.0 => "0 %".to_owned(),
        1.0 => "100 %".to_owned(),
        _ if percent < 0.01 => "<0.01 %".to_owned(),
        _ if percent > 99.99 => ">99.99 %".to_owned(),
        _ if !(1.0..=99.0).contains(&percent) => format!("{percent:.2} %"),
        _ => format!("{percent:.1} %"),
    }
}

/// A time for people: three significant digits and a unit from microseconds to seconds.
pub fn duration(micros: u64) -> String {
    let (value, unit) = match micros {
        0 => return "0 s".to_owned(),
        1..1_000 => return format!("{micros} µs"),
        1_000..1_000_000 => (micros as f64 / 1e3, "ms"),
        _ => (seconds(micros), "s"),
    };
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.decimals$} {unit}")
}
