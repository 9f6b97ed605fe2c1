//! Network addresses and identifiers: URLs, IP and MAC addresses, UUIDs.

use super::{ColumnFacts, Finding};
use crate::job::RoleName;

/// Returns whether a text has a format.
type Fits = fn(&str) -> bool;

fn is_url(text: &str) -> bool {
    let lower = text.trim().to_lowercase();
    ["http://", "https://", "ftp://", "www."].iter().any(|start| lower.starts_with(start))
}

fn is_uuid(text: &str) -> bool {
    let parts: Vec<&str> = text.trim().trim_matches(['{', '}']).split('-').collect();
    parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12])
        && parts.iter().all(|part| part.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn is_ip(text: &str) -> bool {
    let text = text.trim();
    // Version numbers have dots too, but rarely four numbers. A lone `::` is not an address of a
    // person.
    text.parse::<std::net::Ipv4Addr>().is_ok()
        || (text.len() > 4 && text.parse::<std::net::Ipv6Addr>().is_ok())
}

fn is_mac(text: &str) -> bool {
    let parts: Vec<&str> = text.trim().split([':', '-']).collect();
    parts.len() == 6
        && parts.iter().all(|p| p.len() == 2 && p.bytes().all(|b| b.is_ascii_hexdigit()))
}

pub(super) fn detect(column: &ColumnFacts<'_>) -> Option<Finding> {
    let kinds: [(Fits, &str); 4] = [
        (is_url, "holds web addresses"),
        (is_uuid, "holds UUIDs, each of which identifies one thing"),
        (is_ip, "holds IP addresses, which lead to a connection or a person"),
        (is_mac, "holds MAC addresses, each of which identifies one device"),
    ];
    let found = kinds.into_iter().find(|(fits, _)| column.share(fits) >= 0.5)?;
    Finding::sure(RoleName::Identifier, found.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_addresses_are_distinguished_from_other_texts() {
        assert!(is_url("https://example.org/ann") && !is_url("httpd"));
        assert!(
            is_uuid("123e4567-e89b-12d3-a456-426614174000") && !is_uuid("123e4567-e89b-12d3-a456")
        );
        assert!(
            is_ip("192.0.2.17") && is_ip("2001:db8::1") && !is_ip("1.2.3") && !is_ip("300.1.1.1")
        );
        assert!(is_mac("00:1A:2b:3c:4d:5e") && !is_mac("12:30"));
    }
}
