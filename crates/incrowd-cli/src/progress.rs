//! A progress bar on standard error: only on a terminal, and only for work that takes longer than a moment.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use incrowd::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_millis(400);

pub(crate) struct Bar {
    bar: ProgressBar,
    began: Mutex<Option<Instant>>,
    quiet: bool,
}

impl Bar {
    pub(crate) fn new(quiet: bool) -> Bar {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{prefix:>10} [{bar:32}] {percent:>3}% {eta}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
        Bar { bar, began: Mutex::new(None), quiet }
    }
}

impl Progress for Bar {
    fn step(&self, name: &str, total: Option<u64>) {
        if let Ok(mut began) = self.began.lock() {
            began.get_or_insert_with(Instant::now);
        }
        self.bar.reset();
        self.bar.set_length(total.unwrap_or(0));
        self.bar.set_prefix(name.to_owned());
    }

    fn advance(&self, amount: u64) {
        self.bar.inc(amount);
        if self.quiet || !self.bar.is_hidden() {
            return;
        }
        if let Ok(mut began) = self.began.lock()
            && began.is_some_and(|b| b.elapsed() > PATIENCE)
        {
            // Standard error that is no terminal stays hidden, so the question is asked once per patience.
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            *began = Some(Instant::now());
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
