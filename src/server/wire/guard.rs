//! Access control.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use axum::http::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri};

use super::connection::Origin;
use crate::parallel::lock;
use crate::server::answer::Problem;
use crate::server::options::Options;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FORWARDED: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The number of wrong tokens allowed per origin and period.
const GUESSES: u32 = 50;
/// The length of a period.
const GUESS_TIME: Duration = Duration::from_secs(60);
/// The maximum number of origins that are counted in a period.
const GUESSERS: usize = 10_000;

/// Decides who may send requests.
pub(super) struct Guard {
    /// The address that the server listens on; `None` if it listens on all addresses of this machine.
    own: Option<IpAddr>,
    allowed: Vec<String>,
    token: Option<String>,
    guesses: FailedTokens,
}

impl Guard {
    pub(super) fn new(options: &Options, address: SocketAddr) -> Self {
        let own = Some(address.ip()).filter(|address| !address.is_unspecified());
        let allowed = options.allowed_hosts.iter().map(|host| host.trim_end_matches('.').to_lowercase());
        Self { own, allowed: allowed.collect(), token: options.token.clone(), guesses: FailedTokens::new() }
    }

    /// Whether a text is a host as in a URL, without user name and port.
    pub(super) fn can_be_host(name: &str) -> bool {
        name.parse::<Authority>().is_ok_and(|authority| authority.host() == name)
    }

    /// Refuses requests to a host name that is not one of this server's. Otherwise, a page of another host
    /// could read everything by letting its own host name resolve to this server's address.
    pub(super) fn check_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
        let mut named = headers.get_all(HOST).iter();
        let (first, second) = (named.next(), named.next());
        let header =
            first.and_then(|host| host.to_str().ok()).and_then(|host| host.parse::<Authority>().ok());
        // User names are not allowed in the header.
        let header = header.filter(|authority| !authority.as_str().contains('@'));
        let is_known = |authority: &Authority| self.is_known(authority.host());
        let is_allowed =
            second.is_none() && header.as_ref().is_some_and(is_known) && uri.authority().is_none_or(is_known);
        if is_allowed {
            return Ok(());
        }
        let detail =
            "This server does not answer to this host name; the server's option allow-host can allow it.";
        Err(Problem::new(403, "unknown host", detail))
    }

    fn is_known(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.').to_lowercase();
        let literal = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(&host);
        if let Ok(address) = literal.parse::<IpAddr>() {
            return address.is_loopback() || self.own == Some(address) || self.allowed.contains(&host);
        }
        host == "localhost" || host.ends_with(".localhost") || self.allowed.contains(&host)
    }

    /// Refuses requests without the token. For a while, also refuses the right token from an origin that sent
    /// too many wrong ones.
    pub(super) fn check_token(&self, peer: IpAddr, headers: &HeaderMap) -> Result<(), Problem> {
        let Some(token) = &self.token else { return Ok(()) };
        let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).and_then(given);
        if let Some(given) = given {
            let origin = client(peer, headers);
            self.guesses.check(origin)?;
            if is_same(given.as_bytes(), token.as_bytes()) {
                return Ok(());
            }
            self.guesses.count(origin);
        }
        let detail = "The token is missing or wrong. Send it as Authorization: Bearer TOKEN, or as the password in HTTP basic authentication, with any user name.";
        Err(Problem::new(401, "token required", detail))
    }

    /// Refuses requests that a page of another host sends on behalf of its visitor.
    pub(super) fn check_origin(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let site = headers.get(SEC_FETCH_SITE).map(|site| site.as_bytes());
        let is_own_site = site.is_none_or(|site| matches!(site, b"same-origin" | b"none"));
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let is_own = |origin: &str| {
            let rest = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            rest.is_some_and(|rest| rest.eq_ignore_ascii_case(host))
        };
        let origin = headers.get(ORIGIN).map(|origin| origin.to_str().unwrap_or("null"));
        if is_own_site && origin.is_none_or(is_own) {
            return Ok(());
        }
        Err(Problem::new(403, "foreign origin", "Web pages of other hosts may not send this request."))
    }
}

/// The origin of a request. A proxy on this machine names its client in a header; from other machines, that
/// header is ignored.
fn client(peer: IpAddr, headers: &HeaderMap) -> Origin {
    let forwarded = headers.get_all(FORWARDED).iter().next_back().and_then(|value| value.to_str().ok());
    let last = forwarded.and_then(|value| value.rsplit(',').next()).and_then(|last| last.trim().parse().ok());
    Origin::from_address(last.filter(|_| peer.to_canonical().is_loopback()).unwrap_or(peer))
}

/// When the current period began, and the number of wrong tokens since then, by origin.
struct FailedTokens(Mutex<(Instant, HashMap<Origin, u32>)>);

impl FailedTokens {
    fn new() -> Self {
        Self(Mutex::new((Instant::now(), HashMap::new())))
    }

    /// Refuses an origin from which too many wrong tokens came.
    fn check(&self, origin: Origin) -> Result<(), Problem> {
        let (since, counts) = &*lock(&self.0);
        let is_over = counts.get(&origin).is_some_and(|&count| count >= GUESSES);
        match GUESS_TIME.checked_sub(since.elapsed()) {
            Some(left) if is_over => Err(Problem::too_many_tokens(left.as_secs() as u32 + 1)),
            _ => Ok(()),
        }
    }

    /// Counts a wrong token. Does not count it if the origin is new and the maximum number of origins is
    /// reached. Begins a new period if the current one is over.
    fn count(&self, origin: Origin) {
        let (since, counts) = &mut *lock(&self.0);
        if since.elapsed() >= GUESS_TIME {
            (*since, *counts) = (Instant::now(), HashMap::new());
        }
        if counts.len() < GUESSERS || counts.contains_key(&origin) {
            *counts.entry(origin).or_default() += 1;
        }
    }
}

/// The token in a header: a bearer token, or a password.
fn given(authorization: &str) -> Option<String> {
    let (scheme, rest) = authorization.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(rest.trim().to_owned());
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let text = String::from_utf8(base64(rest.trim())?).ok()?;
    text.split_once(':').map(|(_, password)| password.to_owned())
}

/// Decodes base64, with the standard or the URL-safe alphabet; padding is optional.
fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut count) = (0_u32, 0);
    for letter in text.trim_end_matches('=').bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(value)) & 0xff_ffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}

/// Compares two texts in a time that does not depend on where they differ.
fn is_same(given: &[u8], token: &[u8]) -> bool {
    let mut difference = given.len() ^ token.len();
    for (at, &byte) in token.iter().enumerate() {
        difference |= usize::from(byte ^ given.get(at).copied().unwrap_or(0));
    }
    std::hint::black_box(difference) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;
    use std::path::PathBuf;

    fn guard(allowed: &[&str]) -> Guard {
        let mut options = Options::new(vec![PathBuf::from("games.db")]);
        options.allowed_hosts = allowed.iter().map(|&host| host.to_owned()).collect();
        Guard::new(&options, Options::ADDRESS)
    }

    #[test]
    fn only_names_of_this_machine_are_accepted() {
        let guard = guard(&["Chess.example.org"]);
        for host in
            ["localhost", "LOCALHOST", "127.0.0.1", "127.8.9.1", "[::1]", "a.localhost", "chess.example.org"]
        {
            assert!(guard.is_known(host), "{host}");
        }
        for host in [
            "",
            "example.org",
            "evil.chess.example.org",
            "localhost.evil.org",
            "10.0.0.1",
            "127.0.0.1.nip.io",
        ] {
            assert!(!guard.is_known(host), "{host}");
        }
    }

    #[test]
    fn wrong_tokens_are_counted_for_a_limited_number_of_origins() {
        let failed = FailedTokens::new();
        let origin = |number: usize| Origin::from_address(Ipv4Addr::from_bits(number as u32).into());
        for number in 0..GUESSERS + 10 {
            failed.count(origin(number));
        }
        assert_eq!(failed.0.lock().unwrap().1.len(), GUESSERS);
        for _ in 1..GUESSES {
            assert!(failed.check(origin(0)).is_ok());
            failed.count(origin(0));
        }
        assert!(failed.check(origin(0)).is_err() && failed.check(origin(1)).is_ok());
        // All counts are dropped at the end of the period.
        failed.0.lock().unwrap().0 -= GUESS_TIME;
        assert!(failed.check(origin(0)).is_ok());
        failed.count(origin(1));
        assert_eq!(failed.0.lock().unwrap().1.len(), 1);
    }

    #[test]
    fn tokens_are_read_and_compared() {
        assert_eq!(given("Bearer abc").as_deref(), Some("abc"));
        assert_eq!(given("basic dXNlcjpwYTpzcw==").as_deref(), Some("pa:ss"));
        for wrong in ["", "Bearer", "Digest x", "Basic !", "Basic dXNlcg=="] {
            assert_eq!(given(wrong), None, "{wrong}");
        }
        assert!(is_same(b"secret", b"secret"));
        for wrong in ["", "secre", "secret1", "Secret"] {
            assert!(!is_same(wrong.as_bytes(), b"secret"), "{wrong}");
        }
    }
}
