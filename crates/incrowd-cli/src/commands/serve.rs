//! `incrowd serve`

use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::PoisonError;

use incrowd::Result;
use incrowd_web::{Options, Ready, Stop, Table};
use serde_json::json;

use crate::args::ServeArgs;
use crate::failure::Failure;
use crate::print::{OutputMode, say};

/// How the server of this process is stopped, while there is one.
static SERVING: Mutex<Option<Stop>> = Mutex::new(None);

/// Stops the server, if there is one.
pub(crate) fn stop() -> bool {
    let serving = SERVING.lock().unwrap_or_else(PoisonError::into_inner);
    serving.as_ref().inspect(|stop| stop.stop()).is_some()
}

pub(crate) fn run(args: &ServeArgs, mode: OutputMode) -> Result<ExitCode, Failure> {
    let options = Options {
        port: args.port,
        table: args.table.clone().map(Table::File),
        most_bytes: args.max_upload.saturating_mul(1 << 20),
    };
    let stop = Stop::default();
    *SERVING.lock().unwrap_or_else(PoisonError::into_inner) = Some(stop.clone());
    let served = incrowd_web::serve(options, &stop, |ready| {
        if mode.json {
            mode.print_json(&json!({ "address": ready.address }));
        } else {
            say!("serving  {}\n         on this machine only; Ctrl-C stops it", ready.address);
        }
        if !args.no_open && !opened(ready) {
            mode.note("no browser could be opened: open the address yourself");
        }
    });
    *SERVING.lock().unwrap_or_else(PoisonError::into_inner) = None;
    incrowd::abandon_all();
    Ok(served.map(|()| ExitCode::SUCCESS)?)
}

/// Opens the browser. It is given a private file that leads to the address: everybody on the machine can see what programs are
/// started with.
fn opened(ready: &Ready) -> bool {
    let (program, before): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/C", "start", ""]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    command.args(before).arg(&ready.page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}
