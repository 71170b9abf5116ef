//! How a printer's address is written. Invariant: what is accepted here can be looked up; whether anybody is there is
//! another question.

/// The port of printers that take bytes as they are.
pub const PORT: u16 = 9100;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("no host")]
    NoHost,
    #[error("the port is not a number from 1 to 65535")]
    BadPort,
}

/// Splits `host`, `host:port`, `[v6]` and `[v6]:port`.
pub fn parse(address: &str) -> Result<(String, u16), AddressError> {
    let address = address.trim();
    let (host, port) = match address.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']').ok_or(AddressError::NoHost)?;
            (host, after.strip_prefix(':'))
        }
        // More than one colon is an IPv6 address without brackets.
        None if address.matches(':').count() > 1 => (address, None),
        None => address.split_once(':').map_or((address, None), |(host, port)| (host, Some(port))),
    };
    if host.is_empty() || host.chars().any(|c| c.is_whitespace() || c.is_control() || "/?#@".contains(c)) {
        return Err(AddressError::NoHost);
    }
    let port = match port {
        None => PORT,
        Some(port) => port.parse().ok().filter(|port| *port > 0).ok_or(AddressError::BadPort)?,
    };
    Ok((host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_with_and_without_a_port() {
        for (typed, host, port) in [
            ("192.168.1.50", "192.168.1.50", 9100),
            (" cocina.local:9101 ", "cocina.local", 9101),
            ("[::1]:9100", "::1", 9100),
            ("[fe80::1]", "fe80::1", 9100),
            ("fe80::1", "fe80::1", 9100),
        ] {
            assert_eq!(parse(typed), Ok((host.to_owned(), port)), "{typed}");
        }
        for typed in ["", ":9100", "a b", "a/b", "[::1"] {
            assert_eq!(parse(typed), Err(AddressError::NoHost), "{typed}");
        }
        for typed in ["a:", "a:0", "a:65536", "a:x", "http://a"] {
            assert_eq!(parse(typed), Err(AddressError::BadPort), "{typed}");
        }
    }
}
