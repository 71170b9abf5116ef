//! Reads the instants that travel: RFC 3339 and nothing near it.
//!
//! Invariant: a text that is read names exactly one instant. A date without a time, a time without an offset or an
//! offset without its colon is refused rather than completed.

use jiff::Timestamp;

/// A text that is not a date and time with an offset as RFC 3339 writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a date and time with an offset as rfc 3339 writes it")]
pub struct NotAnInstant;

/// The first instant that RFC 3339 can write in UTC, which is how it is echoed.
const YEAR_0: i64 = -62_167_219_200;

/// Reads e.g. `2026-11-30T10:00:00-05:00` or `2026-11-30T15:00:00.250Z`.
///
/// From the year 0 on, up to the last instant that the library knows: `9999-12-30T22:00:00.999999999Z`. The twenty-six
/// hours that RFC 3339 could write after it are refused like any other text that names no instant here.
///
/// The shape is checked here because the library reads more than the contract allows (`-0500`, a space for the `T`,
/// no seconds); the values are left to the library.
pub fn parse_rfc3339(text: &str) -> Result<Timestamp, NotAnInstant> {
    const DATE_AND_TIME: &[u8; 19] = b"0000-00-00T00:00:00";
    // RFC 3339 lets `t` and `z` stand for `T` and `Z`.
    let text = text.to_ascii_uppercase();
    let (start, rest) = text.as_bytes().split_at_checked(DATE_AND_TIME.len()).ok_or(NotAnInstant)?;
    let offset = match rest.strip_prefix(b".") {
        Some(fraction) => {
            let digits = fraction.iter().take_while(|b| b.is_ascii_digit()).count();
            if digits == 0 {
                return Err(NotAnInstant);
            }
            &fraction[digits..]
        }
        None => rest,
    };
    let zoned = offset == b"Z" || has_shape(offset, b"+00:00") || has_shape(offset, b"-00:00");
    if !zoned || !has_shape(start, DATE_AND_TIME) {
        return Err(NotAnInstant);
    }
    let instant: Timestamp = text.parse().map_err(|_| NotAnInstant)?;
    if instant.as_second() < YEAR_0 { Err(NotAnInstant) } else { Ok(instant) }
}

/// Whether the text has a digit wherever the shape has a `0`, and the shape's own character elsewhere.
fn has_shape(text: &[u8], shape: &[u8]) -> bool {
    text.len() == shape.len()
        && text.iter().zip(shape).all(|(b, s)| if *s == b'0' { b.is_ascii_digit() } else { b == s })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_instant_is_read_from_every_offset_that_it_is_written_in() {
        for (text, utc) in [
            ("2025-11-30T10:00:00-05:00", "2025-11-30T15:00:00Z"),
            ("2025-11-30T15:00:00Z", "2025-11-30T15:00:00Z"),
            ("2025-11-30T15:00:00.250Z", "2025-11-30T15:00:00.25Z"),
            ("2025-11-30T20:30:00+05:30", "2025-11-30T15:00:00Z"),
            ("2024-02-29T00:00:00-05:00", "2024-02-29T05:00:00Z"),
            ("2025-12-31T23:59:59-05:00", "2026-01-01T04:59:59Z"),
            ("2025-11-30T15:00:00-00:00", "2025-11-30T15:00:00Z"),
            ("2025-11-30t15:00:00z", "2025-11-30T15:00:00Z"),
            ("2025-11-30T15:00:00.123456789Z", "2025-11-30T15:00:00.123456789Z"),
            ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
            ("9999-12-30T22:00:00.999999999Z", "9999-12-30T22:00:00.999999999Z"),
            ("9999-12-30T17:00:00-05:00", "9999-12-30T22:00:00Z"),
        ] {
            assert_eq!(parse_rfc3339(text).map(|at| at.to_string()), Ok(utc.to_owned()), "{text}");
        }
    }

    #[test]
    fn anything_else_is_not_an_instant() {
        for text in [
            "",
            "now",
            "2025-11-30",
            "2025-11-30T10:00:00",
            "2025-11-30T10:00-05:00",
            "30/11/2025 10:00",
            "2025-13-01T10:00:00Z",
            "2025-02-30T10:00:00Z",
            "2025-02-29T10:00:00Z",
            "2025-11-30T25:00:00Z",
            "2025-11-30T24:00:00Z",
            "2025-11-30T10:60:00Z",
            "2025-11-30T10:00:00-0500",
            "2025-11-30T10:00:00-05",
            "2025-11-30T10:00:00.Z",
            "2025-11-30T10:00:00,5Z",
            "2025-11-30 10:00:00Z",
            " 2025-11-30T10:00:00Z",
            "2025-11-30T10:00:00Z ",
            "2025-11-30T10:00:00Z[America/Lima]",
            "2025-11-30T10:00:00-05:00[America/Lima]",
            "+002025-11-30T10:00:00Z",
            "20251130T100000Z",
            "1764514800",
            "0000-01-01T00:00:00+00:01",
            "9999-12-30T22:00:01Z",
            "9999-12-31T23:59:59Z",
            "2025-11-30T10:00:00\u{2212}05:00",
            "٢٠٢٥-11-30T10:00:00Z",
        ] {
            assert_eq!(parse_rfc3339(text), Err(NotAnInstant), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn every_instant_survives_being_printed_and_read(second in 0_i64..253_402_207_200, nanosecond in 0_i32..1_000_000_000) {
            let instant = Timestamp::new(second, nanosecond).expect("until the year 9999");
            prop_assert_eq!(parse_rfc3339(&instant.to_string()), Ok(instant));
        }

        #[test]
        fn no_text_makes_it_panic(text in any::<String>(), near in "[0-9T:.Z+-]{15,30}") {
            let _ = parse_rfc3339(&text);
            let _ = parse_rfc3339(&near);
        }
    }
}
