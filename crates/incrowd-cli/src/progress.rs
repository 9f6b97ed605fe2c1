//! A progress bar on standard error. It is shown only on a terminal and only after a delay.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::print::{OutputMode, errln, one_line};
use incrowd::Progress;
use incrowd::work::PublishedRelease;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The release that this run published.
static PUBLISHED: Mutex<Option<PublishedRelease>> = Mutex::new(None);

/// Reports after an interruption that a release was published although the run did not end.
/// `files` are the first files of the publications of this process.
pub(crate) fn report_published(mut files: Vec<PathBuf>) {
    let known = PUBLISHED.lock().ok().and_then(|published| published.clone());
    let (path, text) = match (known, files.pop()) {
        (Some(release), _) => (PathBuf::from(&release.path), release.to_string()),
        // The signal came between the publication and the report of it.
        (None, Some(path)) => {
            let shown = path.display();
            let text = format!(
                "the release `{shown}` and its manifest were published; no report was made"
            );
            (path, text)
        }
        (None, None) => return,
    };
    if crate::streams::is_temporary(&path) {
        errln!("interrupted: standard output has only a part of the release, or nothing");
    } else {
        errln!("interrupted: {}", one_line(&text));
    }
}

/// The bar is shown if work takes longer than this.
const DELAY: Duration = Duration::from_millis(400);

pub(crate) struct Bar {
    bar: ProgressBar,
    began: Mutex<Option<Instant>>,
    quiet: bool,
    /// Every step with its start, if `--times` is given.
    steps: Option<Mutex<Vec<(String, Instant)>>>,
}

const PLAIN: &str = "{prefix:>10} [{bar:32}] {percent:>3}% {eta}";
/// The template of steps that count items.
const COUNTED: &str = "{prefix:>10} [{bar:24}] {human_pos} of {human_len} {msg} {eta}";

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template);
    style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> ")
}

impl Bar {
    pub(crate) fn new(mode: OutputMode) -> Bar {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        bar.set_style(style(PLAIN));
        Bar {
            bar,
            began: Mutex::new(None),
            quiet: mode.quiet,
            steps: mode.times.then(Mutex::default),
        }
    }
}

impl Progress for Bar {
    fn step(&self, name: &str, total: Option<u64>) {
        if let Ok(mut began) = self.began.lock() {
            began.get_or_insert_with(Instant::now);
        }
        if let Some(Ok(mut steps)) = self.steps.as_ref().map(Mutex::lock) {
            steps.push((name.to_owned(), Instant::now()));
        }
        self.bar.reset();
        self.bar.set_style(style(PLAIN));
        self.bar.set_length(total.unwrap_or(0));
        self.bar.set_prefix(name.to_owned());
    }

    fn step_through(&self, name: &str, total: u64, things: &str) {
        self.step(name, Some(total));
        self.bar.set_style(style(COUNTED));
        self.bar.set_message(things.to_owned());
    }

    fn published(&self, release: &str) {
        if let Ok(mut published) = PUBLISHED.lock() {
            *published = Some(PublishedRelease { path: release.to_owned(), reported: false });
        }
    }

    fn reported(&self) {
        if let Ok(mut published) = PUBLISHED.lock() {
            published.iter_mut().for_each(|release| release.reported = true);
        }
    }

    fn is_stopped(&self) -> bool {
        crate::INTERRUPTED.load(Ordering::SeqCst)
    }

    fn note(&self, text: &str) {
        self.bar.set_message(one_line(text));
    }

    fn advance(&self, amount: u64) {
        self.bar.inc(amount);
        if self.quiet || !self.bar.is_hidden() {
            return;
        }
        if let Ok(mut began) = self.began.lock()
            && began.is_some_and(|b| b.elapsed() > DELAY)
        {
            // The bar stays hidden if standard error is not a terminal. Restarting the clock limits
            // how often that is tested.
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            *began = Some(Instant::now());
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        if let Some(Ok(steps)) = self.steps.as_ref().map(Mutex::lock) {
            let ends = steps.iter().skip(1).map(|(_, began)| *began).chain([Instant::now()]);
            for ((name, began), end) in steps.iter().zip(ends) {
                errln!("{name:>10} {:>8.3} s", (end - *began).as_secs_f64());
            }
        }
    }
}
