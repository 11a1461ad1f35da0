//! The open connections, and the choice of one to close if there are too many.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::http::Method;
use tokio::sync::Notify;

use crate::parallel::lock;

/// The minimum time for which an idle connection is kept, even if there are too many connections.
const MIN_IDLE: Duration = Duration::from_secs(1);
/// The maximum share of the connection limit for idle connections of one origin, as a divisor. When all slots
/// are in use, an origin that exceeds this share yields to other origins: their new connections close idle
/// connections of this origin at once, regardless of [`MIN_IDLE`].
const MAX_IDLE_SHARE: usize = 8;
/// The maximum number of bytes of unread answers, for all connections together.
const MAX_UNREAD: u64 = 256 << 20;

/// The origin of a connection: the IPv4 address of the client, or the first 64 bits of its IPv6 address.
/// These bits usually identify one customer of an internet provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Origin(IpAddr);

impl Origin {
    pub(super) fn from_address(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V6(address) => Self(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into()),
            address => Self(address),
        }
    }
}

/// A connection and its state.
pub(super) struct Connection {
    /// The address of the client.
    pub(super) address: IpAddr,
    state: Mutex<State>,
    /// Notified when the connection must be closed to free its slot for another connection.
    pub(super) leave: Notify,
}

#[derive(Default)]
struct State {
    /// Since when the server has waited for the client to send a request or its body, or to read an answer.
    /// `None` if it does not wait for the client.
    waits: Option<Instant>,
    /// Whether the whole answer has been passed to the connection.
    is_handed_over: bool,
    /// The last request, for the log.
    last_request: String,
    kept: Option<UnreadBytes>,
}

/// The size of an answer that the client has not completely read. `all` contains it until this value is dropped.
struct UnreadBytes {
    all: Arc<AtomicU64>,
    bytes: u64,
}

impl Drop for UnreadBytes {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Connection {
    fn new(address: IpAddr) -> Self {
        let state = State { waits: Some(Instant::now()), ..State::default() };
        Self { address, state: Mutex::new(state), leave: Notify::new() }
    }

    /// Records that a request has arrived.
    pub(super) fn begin(&self, method: &Method, target: &str) {
        let mut state = lock(&self.state);
        state.last_request.clear();
        state.last_request.extend([method.as_str(), " ", target]);
        (state.waits, state.is_handed_over, state.kept) = (None, false, None);
    }

    /// The last request, with its method; empty if there was none.
    pub(super) fn last_request(&self) -> String {
        lock(&self.state).last_request.clone()
    }

    /// Records that the server now waits for the client.
    pub(super) fn wait(&self) {
        lock(&self.state).waits.get_or_insert_with(Instant::now);
    }

    /// Records that the client has done something.
    pub(super) fn record_activity(&self) {
        lock(&self.state).waits = None;
    }

    /// Records that the whole answer has been passed to the connection.
    pub(super) fn set_sent(&self) {
        lock(&self.state).is_handed_over = true;
    }

    /// Records that all data passed to the connection has been written. Returns whether this completes an
    /// answer.
    pub(super) fn written(&self) -> bool {
        let mut state = lock(&self.state);
        let is_whole = std::mem::take(&mut state.is_handed_over);
        if is_whole {
            (state.waits, state.kept) = (Some(Instant::now()), None);
        }
        is_whole
    }

    /// Counts the bytes of an answer as unread, until they are written or the connection ends. Returns false,
    /// and does not count them, if they would exceed the limit.
    pub(super) fn keep(&self, all: &Arc<AtomicU64>, bytes: u64) -> bool {
        let before = all.fetch_add(bytes, Ordering::Relaxed);
        let kept = UnreadBytes { all: Arc::clone(all), bytes };
        let has_space = before + bytes <= MAX_UNREAD;
        lock(&self.state).kept = has_space.then_some(kept);
        has_space
    }
}

pub(super) struct Connections {
    most: usize,
    places: Mutex<SlotTable>,
}

#[derive(Default)]
struct SlotTable {
    taken: HashMap<u64, Arc<Connection>>,
    next: u64,
}

/// A slot among the connections, released when dropped.
pub(super) struct Slot {
    clients: Arc<Connections>,
    number: u64,
    pub(super) client: Arc<Connection>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        lock(&self.clients.places).taken.remove(&self.number);
    }
}

impl Connections {
    pub(super) fn new(most: usize) -> Self {
        Self { most, places: Mutex::default() }
    }

    /// The number of connections.
    pub(super) fn count(&self) -> usize {
        lock(&self.places).taken.len()
    }

    /// Finds a slot for a connection from an address. If all slots are in use, closes one connection: the
    /// longest idle connection of the origin with the most idle connections. Busy connections are never
    /// closed. Returns the slot, and whether a connection was closed for it; `None` if all slots are in use
    /// and no connection can be closed now.
    pub(super) fn admit(self: &Arc<Self>, address: IpAddr) -> Option<(Slot, bool)> {
        let from = Origin::from_address(address);
        let mut places = lock(&self.places);
        let is_full = places.taken.len() >= self.most;
        if is_full {
            let number = places.to_close(from, self.most / MAX_IDLE_SHARE)?;
            if let Some(client) = places.taken.remove(&number) {
                client.leave.notify_one();
            }
        }
        let number = places.next;
        places.next += 1;
        let client = Arc::new(Connection::new(address));
        places.taken.insert(number, Arc::clone(&client));
        drop(places);
        Some((Slot { clients: Arc::clone(self), number, client }, is_full))
    }
}

impl SlotTable {
    /// The slot number of the connection to close for a new connection from `newcomer`; `None` if no
    /// connection can be closed. The connection is the longest idle one of the origin with the most idle
    /// connections. It must have been idle for [`MIN_IDLE`], unless that origin has more than `crowd` idle
    /// connections and is not `newcomer`.
    fn to_close(&self, newcomer: Origin, crowd: usize) -> Option<u64> {
        // For each origin: the number of idle connections, and for the longest idle one, the start of its
        // idle time and its slot number.
        let mut waiting: HashMap<Origin, (usize, Instant, u64)> = HashMap::new();
        for (&number, client) in &self.taken {
            let Some(since) = lock(&client.state).waits else { continue };
            let of_origin = waiting.entry(Origin::from_address(client.address));
            let (count, longest, which) = of_origin.or_insert((0, since, number));
            *count += 1;
            if since < *longest {
                (*longest, *which) = (since, number);
            }
        }
        let (from, (count, since, number)) = waiting.into_iter().max_by_key(|(_, (count, ..))| *count)?;
        let is_crowd_of_another = from != newcomer && count > crowd;
        (is_crowd_of_another || since.elapsed() >= MIN_IDLE).then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const OTHER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));

    fn admit(clients: &Arc<Connections>, address: IpAddr) -> Option<Slot> {
        clients.admit(address).map(|(place, _)| place)
    }

    fn is_open(clients: &Connections, place: &Slot) -> bool {
        lock(&clients.places).taken.contains_key(&place.number)
    }

    #[test]
    fn an_address_with_all_slots_yields_one_to_another_address() {
        let clients = Arc::new(Connections::new(16));
        let places: Vec<_> = (0..16).map(|_| admit(&clients, ONE).expect("a place")).collect();
        assert!(admit(&clients, ONE).is_none(), "recent connections of the same origin are kept");
        let other = admit(&clients, OTHER).expect("a place");
        assert!(!is_open(&clients, &places[0]), "the longest idle connection is closed");
        assert!(places[1..].iter().chain([&other]).all(|place| is_open(&clients, place)));
        assert_eq!(clients.count(), 16);
        drop((places, other));
        assert_eq!(clients.count(), 0);
    }

    #[test]
    fn busy_connections_are_kept() {
        let clients = Arc::new(Connections::new(4));
        let places: Vec<_> = (0..4).map(|_| admit(&clients, ONE).expect("a place")).collect();
        places.iter().for_each(|place| place.client.begin(&Method::GET, "/"));
        assert!(admit(&clients, OTHER).is_none());
        // After an answer has been passed on and written, the server waits for the next request.
        places[2].client.set_sent();
        assert!(places[2].client.written() && !places[2].client.written());
        assert!(admit(&clients, OTHER).is_some());
        assert!(!is_open(&clients, &places[2]));
    }

    #[test]
    fn addresses_of_one_network_have_the_same_origin() {
        let origin = |text: &str| Origin::from_address(text.parse().expect("an address"));
        assert_eq!(origin("2001:db8::1"), origin("2001:db8::ffff:1"));
        assert_ne!(origin("2001:db8::1"), origin("2001:db8:0:1::1"));
        assert_eq!(origin("::ffff:192.0.2.1"), origin("192.0.2.1"));
    }

    #[test]
    fn unread_answers_are_kept_up_to_a_limit() {
        let (all, client) = (Arc::default(), Connection::new(ONE));
        assert!(client.keep(&all, MAX_UNREAD - 1));
        let other = Connection::new(OTHER);
        assert!(!other.keep(&all, 2));
        client.set_sent();
        client.written();
        assert!(other.keep(&all, 2));
        drop(other);
        assert_eq!(all.load(Ordering::Relaxed), 0);
    }
}
