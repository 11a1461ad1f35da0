//! The open connections, and the choice of one to close if there are too many.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::Method;
use tokio::sync::Notify;

/// The minimum time that idle connections with the same origin as a new one are kept.
const PATIENCE: Duration = Duration::from_secs(1);
/// An origin with more than one in this many of the places, all idle, gets no such time.
const CROWD: usize = 8;
/// The maximum number of bytes of unread answers, for all connections together.
const KEPT: u64 = 256 << 20;

/// The origin of connections: an address, or for IPv6 the network of one customer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Origin(IpAddr);

impl Origin {
    pub(super) fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V6(address) => Self(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into()),
            address => Self(address),
        }
    }
}

/// A connection and its state.
pub(super) struct Visit {
    address: IpAddr,
    state: Mutex<State>,
    leave: Notify,
}

#[derive(Default)]
struct State {
    /// Since when the server waits for the client: for a request, for its body, or for reading the answer.
    waits: Option<Instant>,
    /// Whether the whole answer has been passed to the connection.
    is_handed_over: bool,
    /// The last request, for the log.
    asked: String,
    kept: Option<Kept>,
}

/// Bytes of an answer that the client has not completely read.
struct Kept {
    all: Arc<AtomicU64>,
    bytes: u64,
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Visit {
    fn new(address: IpAddr) -> Self {
        let state = State { waits: Some(Instant::now()), ..State::default() };
        Self { address, state: Mutex::new(state), leave: Notify::new() }
    }

    /// The address of the client.
    pub(super) const fn from(&self) -> IpAddr {
        self.address
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request has arrived.
    pub(super) fn begin(&self, method: &Method, target: &str) {
        let mut state = self.state();
        state.asked.clear();
        state.asked.extend([method.as_str(), " ", target]);
        (state.waits, state.is_handed_over, state.kept) = (None, false, None);
    }

    /// The last request, with its method; empty if there was none.
    pub(super) fn asked(&self) -> String {
        self.state().asked.clone()
    }

    /// The server now waits for the client.
    pub(super) fn wait(&self) {
        self.state().waits.get_or_insert_with(Instant::now);
    }

    /// The client has done something.
    pub(super) fn go_on(&self) {
        self.state().waits = None;
    }

    /// The whole answer has been passed to the connection.
    pub(super) fn hand_over(&self) {
        self.state().is_handed_over = true;
    }

    /// All data passed to the connection has been written. Returns whether this completes an answer.
    pub(super) fn written(&self) -> bool {
        let mut state = self.state();
        let is_whole = std::mem::take(&mut state.is_handed_over);
        if is_whole {
            (state.waits, state.kept) = (Some(Instant::now()), None);
        }
        is_whole
    }

    /// Counts the bytes of an answer as unread, until they are written or the connection ends. Returns
    /// whether they are within the limit.
    pub(super) fn keep(&self, all: &Arc<AtomicU64>, bytes: u64) -> bool {
        let before = all.fetch_add(bytes, Ordering::Relaxed);
        let kept = Kept { all: Arc::clone(all), bytes };
        let has_room = before + bytes <= KEPT;
        self.state().kept = has_room.then_some(kept);
        has_room
    }

    /// Completes when the connection must be closed for another one.
    pub(super) async fn is_asked_to_leave(&self) {
        self.leave.notified().await;
    }
}

/// All connections.
pub(super) struct Visitors {
    most: usize,
    places: Mutex<Places>,
}

#[derive(Default)]
struct Places {
    taken: HashMap<u64, Arc<Visit>>,
    next: u64,
}

/// A slot among the connections, released when dropped.
pub(super) struct Place {
    visitors: Arc<Visitors>,
    number: u64,
    pub(super) visit: Arc<Visit>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.visitors.places().taken.remove(&self.number);
    }
}

/// Whether a connection is admitted.
pub(super) enum Admission {
    /// It is admitted; another connection may have been closed for it.
    Granted { place: Place, in_place_of_another: bool },
    /// All connections are busy.
    Full,
}

impl Visitors {
    pub(super) fn new(most: usize) -> Self {
        Self { most, places: Mutex::default() }
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of connections.
    pub(super) fn count(&self) -> usize {
        self.places().taken.len()
    }

    /// Finds a slot for a connection from an address. If all are in use, one idle connection is closed, of
    /// the origin that has most of them. Busy connections are never closed.
    pub(super) fn admit(self: &Arc<Self>, address: IpAddr) -> Admission {
        let from = Origin::of(address);
        let mut places = self.places();
        let is_full = places.taken.len() >= self.most;
        if is_full {
            let Some(number) = places.to_close(from, self.most / CROWD) else { return Admission::Full };
            if let Some(visit) = places.taken.remove(&number) {
                visit.leave.notify_one();
            }
        }
        let number = places.next;
        places.next += 1;
        let visit = Arc::new(Visit::new(address));
        places.taken.insert(number, Arc::clone(&visit));
        drop(places);
        let place = Place { visitors: Arc::clone(self), number, visit };
        Admission::Granted { place, in_place_of_another: is_full }
    }
}

impl Places {
    /// The connection to close for a new one from an address.
    fn to_close(&self, newcomer: Origin, crowd: usize) -> Option<u64> {
        /// The idle connections of one origin: how many, and which one has been idle longest.
        struct Waiting {
            count: usize,
            since: Instant,
            number: u64,
        }
        let mut waiting: HashMap<Origin, Waiting> = HashMap::new();
        for (&number, visit) in &self.taken {
            let Some(since) = visit.state().waits else { continue };
            let of_origin =
                waiting.entry(Origin::of(visit.address)).or_insert(Waiting { count: 0, since, number });
            of_origin.count += 1;
            if since < of_origin.since {
                (of_origin.since, of_origin.number) = (since, number);
            }
        }
        let most = waiting.into_iter().max_by_key(|(_, waiting)| waiting.count);
        let (from, Waiting { count, since, number }) = most?;
        let is_crowd_of_another = from != newcomer && count > crowd;
        (is_crowd_of_another || since.elapsed() >= PATIENCE).then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const OTHER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));

    fn admit(visitors: &Arc<Visitors>, address: IpAddr) -> Option<Place> {
        match visitors.admit(address) {
            Admission::Granted { place, .. } => Some(place),
            Admission::Full => None,
        }
    }

    fn is_there(visitors: &Visitors, place: &Place) -> bool {
        visitors.places().taken.contains_key(&place.number)
    }

    #[test]
    fn an_address_that_keeps_all_places_makes_room_for_another_one() {
        let visitors = Arc::new(Visitors::new(16));
        let places: Vec<_> = (0..16).map(|_| admit(&visitors, ONE).expect("a place")).collect();
        assert!(admit(&visitors, ONE).is_none(), "its own are waited for");
        let other = admit(&visitors, OTHER).expect("a place");
        assert!(!is_there(&visitors, &places[0]), "the one that came first is closed");
        assert!(places[1..].iter().chain([&other]).all(|place| is_there(&visitors, place)));
        assert_eq!(visitors.count(), 16);
        drop((places, other));
        assert_eq!(visitors.count(), 0);
    }

    #[test]
    fn what_is_worked_for_stays() {
        let visitors = Arc::new(Visitors::new(4));
        let places: Vec<_> = (0..4).map(|_| admit(&visitors, ONE).expect("a place")).collect();
        places.iter().for_each(|place| place.visit.begin(&Method::GET, "/"));
        assert!(admit(&visitors, OTHER).is_none());
        // After an answer has been passed on and written, the server waits for the next request.
        places[2].visit.hand_over();
        assert!(places[2].visit.written() && !places[2].visit.written());
        assert!(admit(&visitors, OTHER).is_some());
        assert!(!is_there(&visitors, &places[2]));
    }

    #[test]
    fn one_customer_has_one_network() {
        let origin = |text: &str| Origin::of(text.parse().expect("an address"));
        assert_eq!(origin("2001:db8::1"), origin("2001:db8::ffff:1"));
        assert_ne!(origin("2001:db8::1"), origin("2001:db8:0:1::1"));
        assert_eq!(origin("::ffff:192.0.2.1"), origin("192.0.2.1"));
    }

    #[test]
    fn answers_that_nobody_takes_are_kept_up_to_a_bound() {
        let (all, visit) = (Arc::default(), Visit::new(ONE));
        assert!(visit.keep(&all, KEPT - 1));
        let other = Visit::new(OTHER);
        assert!(!other.keep(&all, 2));
        visit.hand_over();
        visit.written();
        assert!(other.keep(&all, 2));
        drop(other);
        assert_eq!(all.load(Ordering::Relaxed), 0);
    }
}
