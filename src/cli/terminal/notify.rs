//! Sends messages to a service manager with systemd's notify protocol, which sd_notify(3) describes.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use pgndex::index::Progress;

/// A socket and the address of the service manager, if there is one.
#[derive(Debug, Default)]
pub(crate) struct Notifier {
    #[cfg(unix)]
    socket: Option<(std::os::unix::net::UnixDatagram, std::os::unix::net::SocketAddr)>,
}

impl Notifier {
    /// A notifier for the service manager that the variable `NOTIFY_SOCKET` names.
    #[cfg(unix)]
    pub(crate) fn from_environment() -> Self {
        use std::os::unix::net::UnixDatagram;
        let address = std::env::var_os("NOTIFY_SOCKET").and_then(|name| address(&name));
        let socket = address.and_then(|address| {
            let socket = UnixDatagram::unbound().ok()?;
            // The work must not wait for a manager that does not read its messages.
            socket.set_nonblocking(true).ok()?;
            Some((socket, address))
        });
        Self { socket }
    }

    /// A notifier that sends nothing: this system does not support the protocol.
    #[cfg(not(unix))]
    pub(crate) fn from_environment() -> Self {
        Self::default()
    }

    /// Sends a message, such as `READY=1`.
    pub(crate) fn notify(&self, state: &str) {
        #[cfg(unix)]
        if let Some((socket, address)) = &self.socket {
            // An error is ignored: the work continues without a service manager.
            let _ = socket.send_to_addr(state.as_bytes(), address);
        }
        #[cfg(not(unix))]
        let _ = state;
    }
}

/// Notifies the service manager that `pgndex watch` is alive: regularly while no games are added, and
/// otherwise only while the addition makes progress.
#[derive(Debug)]
pub(crate) struct Watchdog {
    notifier: Arc<Notifier>,
    /// The time between two messages: half of the time after which the manager ends a silent process. `None` if
    /// the manager expects no messages.
    every: Option<Duration>,
}

impl Watchdog {
    /// The watchdog that the variables `WATCHDOG_USEC` and `WATCHDOG_PID` request.
    pub(crate) fn new(notifier: Arc<Notifier>) -> Self {
        let is_for_us = std::env::var("WATCHDOG_PID").map_or(true, |id| id == std::process::id().to_string());
        let time = std::env::var("WATCHDOG_USEC").ok().and_then(|time| time.parse::<u64>().ok());
        let every = time.filter(|&time| is_for_us && time > 1).map(|time| Duration::from_micros(time / 2));
        Self { notifier, every }
    }

    /// Waits for the duration `time`, but only until `woken` gets a message or has no senders left. Meanwhile,
    /// notifies the manager regularly.
    pub(crate) fn wait(&self, woken: &Receiver<()>, time: Duration) {
        let end = Instant::now() + time;
        loop {
            if self.every.is_some() {
                self.notifier.notify(ALIVE);
            }
            let left = end.saturating_duration_since(Instant::now());
            let at_once = self.every.map_or(left, |every| every.min(left));
            if woken.recv_timeout(at_once) != Err(RecvTimeoutError::Timeout) || Instant::now() >= end {
                return;
            }
        }
    }

    /// Runs work that updates `progress`. Notifies the manager at the start, and then while there is
    /// progress: if the work hangs, the manager gets no more messages.
    pub(crate) fn during<T>(&self, progress: &Progress, work: impl FnOnce() -> T) -> T {
        let Some(every) = self.every else { return work() };
        self.notifier.notify(ALIVE);
        let (end, ended) = sync_channel::<()>(0);
        std::thread::scope(|scope| {
            let listener =
                std::thread::Builder::new().name("watchdog".into()).spawn_scoped(scope, move || {
                    while ended.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                        if progress.has_moved() {
                            self.notifier.notify(ALIVE);
                        }
                    }
                });
            // If the thread cannot be started, the work runs without further messages.
            drop(listener);
            let done = work();
            drop(end);
            done
        })
    }
}

/// The message that the program is alive.
const ALIVE: &str = "WATCHDOG=1";

/// Parses the address of a socket: an absolute path, or on Linux an abstract name after `@`. `None` for other
/// texts.
#[cfg(unix)]
fn address(name: &std::ffi::OsStr) -> Option<std::os::unix::net::SocketAddr> {
    use std::os::unix::net::SocketAddr;
    match name.as_encoded_bytes() {
        [b'/', ..] => SocketAddr::from_pathname(name).ok(),
        #[cfg(target_os = "linux")]
        [b'@', rest @ ..] => {
            use std::os::linux::net::SocketAddrExt as _;
            SocketAddr::from_abstract_name(rest).ok()
        }
        _ => None,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::net::UnixDatagram;

    use super::*;
    use pgndex::source::SearchObserver as _;

    /// A watchdog with an interval of 20 milliseconds, and the socket that receives its messages.
    fn watchdog_with_socket() -> (tempfile::TempDir, Watchdog, UnixDatagram) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("notify");
        let manager = UnixDatagram::bind(&path).unwrap();
        manager.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let address = address(path.as_os_str()).unwrap();
        let notifier = Notifier { socket: Some((UnixDatagram::unbound().unwrap(), address)) };
        let watchdog = Watchdog { notifier: Arc::new(notifier), every: Some(Duration::from_millis(20)) };
        (directory, watchdog, manager)
    }

    fn receive(manager: &UnixDatagram) -> String {
        let mut buffer = [0; 32];
        let length = manager.recv(&mut buffer).unwrap();
        String::from_utf8_lossy(&buffer[..length]).into_owned()
    }

    #[test]
    fn the_watchdog_is_notified_only_of_progress() {
        let (_directory, watchdog, manager) = watchdog_with_socket();
        let progress = Progress::default();
        watchdog.during(&progress, || {
            for _ in 0..4 {
                assert_eq!(receive(&manager), ALIVE);
                let _ = progress.looked_at(1, 0);
            }
        });
        // Discard the unread messages of the first run.
        manager.set_nonblocking(true).unwrap();
        while manager.recv(&mut [0; 32]).is_ok() {}
        let _ = progress.has_moved();
        watchdog.during(&progress, || std::thread::sleep(Duration::from_millis(300)));
        assert_eq!(receive(&manager), ALIVE, "it begins");
        assert!(manager.recv(&mut [0; 32]).is_err(), "nothing moved");
    }

    #[test]
    fn a_waiting_watchdog_notifies_until_woken() {
        let (_directory, watchdog, manager) = watchdog_with_socket();
        let (wake, woken) = sync_channel(1);
        std::thread::scope(|scope| {
            let watchdog = &watchdog;
            scope.spawn(move || watchdog.wait(&woken, Duration::from_secs(3600)));
            for _ in 0..3 {
                assert_eq!(receive(&manager), ALIVE);
            }
            wake.send(()).unwrap();
        });
        let (_wake, woken) = sync_channel(1);
        watchdog.wait(&woken, Duration::ZERO);
    }
}
