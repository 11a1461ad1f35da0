//! `pgndex serve`: serves databases over HTTP.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use pgndex::server::{Error, Server};

use crate::cli::args::ServeArgs;
use crate::cli::error::wrong_value;
use crate::cli::render::stdout;
use crate::cli::terminal::{Notifier, note, stop_on_signal};

/// Serves databases until the command is stopped.
///
/// # Errors
/// If a database or the token cannot be read, the options are invalid, or the server cannot start.
pub(crate) fn run(args: &ServeArgs) -> anyhow::Result<()> {
    let token = args.token_file.as_deref().map(read_token).transpose()?;
    let server = match Server::bind(args.options(token)) {
        Err(error @ Error::Public { .. }) => {
            return Err(wrong_value(format!("{error} (--token-file FILE, or --public)")));
        }
        Err(error @ Error::HostName { .. }) => return Err(wrong_value(format!("--allow-host: {error}"))),
        Err(error @ (Error::ShortToken { .. } | Error::TokenOfLines)) => {
            let path = args.token_file.as_deref().unwrap_or(Path::new(""));
            bail!("{}: {error}", path.display())
        }
        bound => bound?,
    };
    let stopper = server.stopper();
    let notifier = Arc::new(Notifier::from_environment());
    let stopping = Arc::clone(&notifier);
    stop_on_signal(move || {
        stopping.notify("STOPPING=1");
        stopper.stop();
    })?;
    let mut out = stdout();
    writeln!(out, "http://{}", server.address())?;
    out.flush()?;
    drop(out);
    if server.address().ip().is_unspecified() {
        note(
            "listening on all addresses of this machine; from another machine, open this machine's address in \
             a browser",
        );
    }
    notifier.notify("READY=1");
    Ok(server.run()?)
}

fn read_token(path: &Path) -> anyhow::Result<String> {
    let text = fs::read_to_string(path).with_context(|| {
        format!("{}: cannot read the token; --token-file needs a file that contains it", path.display())
    })?;
    Ok(text.trim().to_owned())
}
