//! Words to a service manager: systemd's notify protocol, as sd_notify(3) describes it.

use std::time::Duration;

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

    /// How often it wants to hear `WATCHDOG=1`: twice in the time after which it takes the process for dead.
    pub(crate) fn watchdog(&self) -> Option<Duration> {
        let is_for_us = std::env::var("WATCHDOG_PID").map_or(true, |id| id == std::process::id().to_string());
        let time = std::env::var("WATCHDOG_USEC").ok()?.parse::<u64>().ok()?;
        (is_for_us && time > 1).then(|| Duration::from_micros(time / 2))
    }
}

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
