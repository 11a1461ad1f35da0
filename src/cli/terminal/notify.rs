//! Words to a service manager: systemd's notify protocol, as sd_notify(3) describes it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use pgndex::index::Progress;

/// Where a service manager listens, if there is one.
#[derive(Debug, Default)]
pub(crate) struct Notifier {
    #[cfg(unix)]
    socket: Option<(std::os::unix::net::UnixDatagram, std::os::unix::net::SocketAddr)>,
}

impl Notifier {
    /// The one that the environment tells.
    #[cfg(unix)]
    pub(crate) fn from_environment() -> Self {
        use std::os::unix::net::UnixDatagram;
        let address = std::env::var_os("NOTIFY_SOCKET").and_then(|name| address(&name));
        let socket = address.and_then(|address| {
            let socket = UnixDatagram::unbound().ok()?;
            // Work never waits for whoever does not listen.
            socket.set_nonblocking(true).ok()?;
            Some((socket, address))
        });
        Self { socket }
    }

    /// None: there is no such thing here.
    #[cfg(not(unix))]
    pub(crate) fn from_environment() -> Self {
        Self::default()
    }

    /// Tells it something if so.
    fn tell_if(&self, is_so: bool, state: &str) {
        if is_so {
            self.tell(state);
        }
    }

    /// Tells it something, such as `READY=1`.
    pub(crate) fn tell(&self, state: &str) {
        #[cfg(unix)]
        if let Some((socket, address)) = &self.socket {
            // It is no reason to stop that nobody listens.
            let _ = socket.send_to_addr(state.as_bytes(), address);
        }
        #[cfg(not(unix))]
        let _ = state;
    }
}

/// Tells the service manager that the work goes on: whoever waits does so between the works, and an addition as long as it moves.
#[derive(Debug)]
pub(crate) struct Watchdog {
    notifier: Arc<Notifier>,
    /// How often the manager wants to hear of it: twice in the time after which it ends the process. `None`: not at all.
    every: Option<Duration>,
}

impl Watchdog {
    /// The one that the environment asks for.
    pub(crate) fn new(notifier: Arc<Notifier>) -> Self {
        let is_for_us = std::env::var("WATCHDOG_PID").map_or(true, |id| id == std::process::id().to_string());
        let time = std::env::var("WATCHDOG_USEC").ok().and_then(|time| time.parse::<u64>().ok());
        let every = time.filter(|&time| is_for_us && time > 1).map(|time| Duration::from_micros(time / 2));
        Self { notifier, every }
    }

    /// Waits so long, or until a word comes or can come no more.
    pub(crate) fn wait(&self, woken: &Receiver<()>, time: Duration) {
        let end = Instant::now() + time;
        loop {
            self.notifier.tell_if(self.every.is_some(), ALIVE);
            let left = end.saturating_duration_since(Instant::now());
            let at_once = self.every.map_or(left, |every| every.min(left));
            if woken.recv_timeout(at_once) != Err(RecvTimeoutError::Timeout) || Instant::now() >= end {
                return;
            }
        }
    }

    /// Does something that moves a progress while it goes on. If it hangs, the manager hears nothing.
    pub(crate) fn during<T>(&self, progress: &Progress, work: impl FnOnce() -> T) -> T {
        let Some(every) = self.every else { return work() };
        self.notifier.tell(ALIVE);
        let (end, ended) = bounded::<()>(0);
        std::thread::scope(|scope| {
            let listener =
                std::thread::Builder::new().name("watchdog".into()).spawn_scoped(scope, move || {
                    while ended.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                        self.notifier.tell_if(progress.has_moved(), ALIVE);
                    }
                });
            // Without the thread the work goes on unheard of.
            drop(listener);
            let done = work();
            drop(end);
            done
        })
    }
}

/// The word that the work goes on.
const ALIVE: &str = "WATCHDOG=1";

/// The address of a socket: a path, or a name that begins with `@`, which stands in no directory.
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
    use pgndex::source::Watch as _;

    /// A watchdog that is to be told every 20 milliseconds, and what hears it.
    fn heard() -> (tempfile::TempDir, Watchdog, UnixDatagram) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("notify");
        let manager = UnixDatagram::bind(&path).unwrap();
        manager.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let address = address(path.as_os_str()).unwrap();
        let notifier = Notifier { socket: Some((UnixDatagram::unbound().unwrap(), address)) };
        let watchdog = Watchdog { notifier: Arc::new(notifier), every: Some(Duration::from_millis(20)) };
        (directory, watchdog, manager)
    }

    fn hear(manager: &UnixDatagram) -> String {
        let mut buffer = [0; 32];
        let length = manager.recv(&mut buffer).unwrap();
        String::from_utf8_lossy(&buffer[..length]).into_owned()
    }

    #[test]
    fn work_that_moves_is_told_of_and_work_that_hangs_is_not() {
        let (_directory, watchdog, manager) = heard();
        let progress = Progress::default();
        watchdog.during(&progress, || {
            for _ in 0..4 {
                assert_eq!(hear(&manager), ALIVE);
                let _ = progress.looked_at(1, 0);
            }
        });
        // What was told at the end of the last one.
        manager.set_nonblocking(true).unwrap();
        while manager.recv(&mut [0; 32]).is_ok() {}
        let _ = progress.has_moved();
        watchdog.during(&progress, || std::thread::sleep(Duration::from_millis(300)));
        assert_eq!(hear(&manager), ALIVE, "it begins");
        assert!(manager.recv(&mut [0; 32]).is_err(), "nothing moved");
    }

    #[test]
    fn whoever_waits_tells_of_it_until_woken() {
        let (_directory, watchdog, manager) = heard();
        let (wake, woken) = bounded(1);
        std::thread::scope(|scope| {
            scope.spawn(|| watchdog.wait(&woken, Duration::from_secs(3600)));
            for _ in 0..3 {
                assert_eq!(hear(&manager), ALIVE);
            }
            wake.send(()).unwrap();
        });
        watchdog.wait(&woken, Duration::ZERO);
    }
}
