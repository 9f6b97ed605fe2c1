//! `incrowd serve`

use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::PoisonError;

use incrowd::Result;
use incrowd_web::{Options, Ready, Stop, Table};
use serde_json::json;

use crate::args::ServeArgs;
use crate::failure::Failure;
use crate::print::{OutputMode, outln};

/// The handle that stops the running server of this process.
static SERVING: Mutex<Option<Stop>> = Mutex::new(None);

/// Stops the server and returns whether one was running.
pub(crate) fn stop() -> bool {
    let serving = SERVING.lock().unwrap_or_else(PoisonError::into_inner);
    serving.as_ref().inspect(|stop| stop.stop()).is_some()
}

pub(crate) fn run(args: &ServeArgs, mode: OutputMode) -> Result<ExitCode, Failure> {
    let options = Options {
        port: args.port,
        table: args.table.clone().map(Table::File),
        max_upload: args.max_upload.saturating_mul(1 << 20),
    };
    let stop = Stop::default();
    *SERVING.lock().unwrap_or_else(PoisonError::into_inner) = Some(stop.clone());
    let served = incrowd_web::serve(options, &stop, |ready| {
        if mode.json {
            mode.print_json(&json!({ "address": ready.address, "page": ready.page }));
        } else {
            outln!(
                "serving  {}\n         on this machine only; Ctrl-C stops the server\n         \
                 the address works once; open {} to connect again",
                ready.address,
                ready.page.display()
            );
        }
        if !args.no_open && !opened(ready) {
            mode.note("no browser could be started: open the address manually");
        }
    });
    *SERVING.lock().unwrap_or_else(PoisonError::into_inner) = None;
    incrowd::front_end::abandon_all();
    Ok(served.map(|()| ExitCode::SUCCESS)?)
}

/// Opens the browser with a private file that redirects to the server. The address itself must not
/// be an argument, because every user of the machine can read command lines.
fn opened(ready: &Ready) -> bool {
    let (program, before): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/C", "start", ""]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    command
        .args(before)
        .arg(&ready.page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().is_ok()
}
