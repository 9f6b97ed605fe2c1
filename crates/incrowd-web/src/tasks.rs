//! Long work: started once per address, shared by all pages that show it, stopped without pages.
//!
//! Quick tasks start at once and have priority: other tasks pause at their next step. Of the other
//! tasks two run at a time, and the latest request comes first, because it belongs to the visible
//! page. A waiting page polls its task. A task that no page polls for some time is abandoned,
//! sooner if another release of the table was requested meanwhile.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use incrowd::work::{Failed, Gate, Watch, caught, in_pool};
use serde_json::{Value as Json, json};

use crate::steps::Answer;

/// The kind of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Profiles a table.
    Inspect,
    /// Searches for sets of columns on which records are unique.
    Uniqueness,
    /// Makes a release with a fast algorithm.
    Quick,
    /// Makes the release of the job.
    Release,
    /// Makes releases with other values of k, with a fast algorithm.
    Alternatives,
    /// Runs attacks and measures.
    Check,
    /// Compares algorithms and values of k.
    Compare,
    /// Writes the files.
    Publish,
}

impl Kind {
    pub(crate) const ALL: [(&'static str, Kind); 8] = [
        ("inspect", Kind::Inspect),
        ("uniqueness", Kind::Uniqueness),
        ("quick", Kind::Quick),
        ("release", Kind::Release),
        ("alternatives", Kind::Alternatives),
        ("check", Kind::Check),
        ("compare", Kind::Compare),
        ("publish", Kind::Publish),
    ];

    pub(crate) fn name(self) -> &'static str {
        Kind::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    /// Returns whether the task waits in the queue.
    fn is_queued(self) -> bool {
        !matches!(self, Kind::Inspect | Kind::Quick)
    }

    /// Returns whether the task belongs to a preview, which another preview replaces.
    fn is_preview(self) -> bool {
        matches!(self, Kind::Quick | Kind::Release | Kind::Alternatives)
    }
}

/// The identity of a task.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) table: String,
    pub(crate) job: String,
    pub(crate) kind: Kind,
}

/// The state of a task.
#[derive(Clone, Debug)]
pub(crate) enum State {
    Waiting,
    Running,
    Done(Answer),
    Failed(Failed),
}

/// A task.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) watch: Watch,
    state: Mutex<State>,
    /// The time of the last request for its state.
    polled: Mutex<Instant>,
    began: Mutex<Instant>,
    /// The duration of the previous task of this kind and table, in seconds.
    previous: Option<f64>,
    /// Whether another preview was requested.
    superseded: AtomicBool,
    /// Whether it was stopped because no page polled it. The next request starts it again.
    abandoned: AtomicBool,
}

impl Task {
    fn new(watch: Watch, previous: Option<f64>) -> Task {
        Task {
            watch,
            state: Mutex::new(State::Waiting),
            polled: Mutex::new(Instant::now()),
            began: Mutex::new(Instant::now()),
            previous,
            superseded: AtomicBool::new(false),
            abandoned: AtomicBool::new(false),
        }
    }

    pub(crate) fn state(&self) -> State {
        *lock(&self.polled) = Instant::now();
        lock(&self.state).clone()
    }

    fn put(&self, state: State) {
        *lock(&self.state) = state;
    }

    fn is_over(&self) -> bool {
        matches!(*lock(&self.state), State::Done(_) | State::Failed(_))
    }

    /// Returns the time since the last request for its state.
    fn unpolled(&self) -> Duration {
        lock(&self.polled).elapsed()
    }

    /// Returns the progress for the script of a page.
    pub(crate) fn to_json(&self) -> Json {
        let state = match self.state() {
            State::Waiting => "waiting",
            State::Running => "running",
            State::Done(_) => "done",
            State::Failed(Failed::Stopped) => "stopped",
            State::Failed(_) => "failed",
        };
        let seen = self.watch.state();
        let seconds = lock(&self.began).elapsed().as_secs_f64();
        json!({
            "state": state,
            "step": seen.step,
            "done": seen.done,
            "total": seen.total,
            "seconds": seconds,
            "left": self.remaining(seconds),
        })
    }

    /// Estimates the remaining seconds by the previous duration, or by the progress of the step.
    fn remaining(&self, seconds: f64) -> Option<f64> {
        if let Some(previous) = self.previous {
            return (previous > seconds).then_some(previous - seconds);
        }
        let seen = self.watch.state();
        let share = seen.done as f64 / seen.total.filter(|total| *total > 0)? as f64;
        (share > 0.02 && share < 1.0 && seen.seconds > 0.5)
            .then(|| seen.seconds * (1.0 - share) / share)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The state of the queue.
#[derive(Debug, Default)]
struct QueueState {
    running: usize,
    /// The tickets of waiting tasks. Tickets increase.
    waiting: Vec<u64>,
    last_ticket: u64,
}

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

/// The number of queued tasks that run at a time.
const MOST_RUNNING: usize = 2;
/// A waiting task that was not polled for this time is abandoned.
const WAITING_TIMEOUT: Duration = Duration::from_secs(5);
/// A running task that was not polled for this time is stopped.
const RUNNING_TIMEOUT: Duration = Duration::from_secs(60);
/// The timeout of superseded and of quick tasks. A page polls twice a second.
const SHORT_TIMEOUT: Duration = Duration::from_millis(1000);
/// The number of finished tasks that are kept.
const KEPT: usize = 60;

impl Queue {
    /// Waits for a turn. Returns `false` if the task was stopped or is not polled any more.
    fn enter(&self, task: &Task) -> bool {
        let mut state = lock(&self.state);
        state.last_ticket += 1;
        let own = state.last_ticket;
        state.waiting.push(own);
        loop {
            let gone = task.watch.is_stopped() || task.unpolled() > WAITING_TIMEOUT;
            // The latest ticket runs first.
            let next = state.running < MOST_RUNNING && state.waiting.iter().max() == Some(&own);
            if gone || next {
                state.waiting.retain(|waiting| *waiting != own);
                state.running += usize::from(!gone);
                self.changed.notify_all();
                return !gone;
            }
            let wait = self.changed.wait_timeout(state, Duration::from_millis(200));
            state = wait.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn leave(&self) {
        lock(&self.state).running -= 1;
        self.changed.notify_all();
    }
}

/// All tasks of a server.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    all: Mutex<HashMap<Key, Arc<Task>>>,
    /// The durations of finished tasks in seconds, by table and kind.
    durations: Arc<Mutex<HashMap<(String, Kind), f64>>>,
    queue: Arc<Queue>,
    gate: Arc<Gate>,
}

impl Tasks {
    /// Returns the task, started if it does not exist.
    pub(crate) fn ask(
        &self,
        key: &Key,
        work: impl FnOnce(&Watch) -> Result<Answer, Failed> + Send + 'static,
    ) -> Arc<Task> {
        let mut all = lock(&self.all);
        clean_up(&mut all);
        if let Some(task) = all.get(key).filter(|task| !task.abandoned.load(Ordering::Relaxed)) {
            *lock(&task.polled) = Instant::now();
            return task.clone();
        }
        if key.kind.is_preview() {
            supersede_others(&all, key);
        }
        let duration_key = (key.table.clone(), key.kind);
        let queued = key.kind.is_queued();
        let watch = if queued { Watch::with_gate(self.gate.clone()) } else { Watch::default() };
        let previous = lock(&self.durations).get(&duration_key).copied();
        let task = Arc::new(Task::new(watch, previous));
        all.insert(key.clone(), task.clone());
        let (own, queue, durations) = (task.clone(), self.queue.clone(), self.durations.clone());
        let gate = (!queued).then(|| self.gate.clone());
        let run = move || {
            if queued && !queue.enter(&own) {
                own.put(State::Failed(Failed::Stopped));
                return;
            }
            let began = Instant::now();
            *lock(&own.began) = began;
            own.put(State::Running);
            // Each task runs in its own thread pool: a task that pauses at the gate must not occupy
            // threads that a quick task needs.
            let answer = {
                let _priority = gate.as_ref().map(|gate| gate.begin_urgent());
                caught(|| in_pool(|| work(&own.watch)))
            };
            if queued {
                queue.leave();
            }
            if answer.is_ok() {
                lock(&durations).insert(duration_key, began.elapsed().as_secs_f64());
            }
            own.put(answer.map_or_else(State::Failed, State::Done));
        };
        if std::thread::Builder::new().name("incrowd".to_owned()).spawn(run).is_err() {
            let error = incrowd::Error::resources("cannot start a thread");
            task.put(State::Failed(error.into()));
        }
        task
    }

    /// Returns the task, if it exists.
    pub(crate) fn get(&self, key: &Key) -> Option<Arc<Task>> {
        let all = lock(&self.all);
        abandon(&all);
        all.get(key).cloned()
    }

    /// Stops a task. It stays stopped until it is started again.
    pub(crate) fn stop(&self, key: &Key) {
        if let Some(task) = self.get(key) {
            task.watch.stop();
        }
    }

    /// Removes a finished task, so that the next request starts it again.
    pub(crate) fn forget(&self, key: &Key) {
        let mut all = lock(&self.all);
        if all.get(key).is_some_and(|task| task.is_over()) {
            all.remove(key);
        }
    }

    /// Stops all tasks.
    pub(crate) fn close(&self) {
        lock(&self.all).values().for_each(|task| task.watch.stop());
    }
}

/// Marks earlier previews as superseded. They continue while another page polls them.
fn supersede_others(all: &HashMap<Key, Arc<Task>>, own: &Key) {
    let other = |key: &Key| key.table == own.table && key.kind.is_preview() && key.job != own.job;
    #[allow(clippy::iter_over_hash_type, reason = "the tasks are independent")]
    for (_, task) in all.iter().filter(|(key, _)| other(key)) {
        task.superseded.store(true, Ordering::Relaxed);
    }
}

/// Stops tasks that are not polled any more.
fn abandon(all: &HashMap<Key, Arc<Task>>) {
    let timeout = |key: &Key, task: &Task| match key.kind {
        Kind::Publish => Duration::MAX,
        Kind::Quick => SHORT_TIMEOUT,
        _ if task.superseded.load(Ordering::Relaxed) => SHORT_TIMEOUT,
        _ => RUNNING_TIMEOUT,
    };
    #[allow(clippy::iter_over_hash_type, reason = "the tasks are independent")]
    for (key, task) in all {
        if !task.is_over() && task.unpolled() > timeout(key, task) {
            task.abandoned.store(true, Ordering::Relaxed);
            task.watch.stop();
        }
    }
}

/// Abandons tasks that are not polled, and removes stopped tasks and the oldest results.
fn clean_up(all: &mut HashMap<Key, Arc<Task>>) {
    let long_stopped = |task: &Arc<Task>| {
        let stopped = matches!(*lock(&task.state), State::Failed(Failed::Stopped));
        stopped && task.unpolled() > WAITING_TIMEOUT
    };
    all.retain(|_, task| !long_stopped(task));
    abandon(all);
    // Inspections are kept: every page of a table needs its inspection.
    let mut over: Vec<(Duration, Key)> = all
        .iter()
        .filter(|(key, task)| key.kind != Kind::Inspect && task.is_over())
        .map(|(key, task)| (task.unpolled(), key.clone()))
        .collect();
    over.sort_by_key(|(age, _)| *age);
    for (_, key) in over.into_iter().skip(KEPT) {
        all.remove(&key);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use incrowd::Progress;

    use super::*;

    fn key(job: &str, kind: Kind) -> Key {
        Key { table: "t".into(), job: job.into(), kind }
    }

    fn wait(task: &Task) -> State {
        loop {
            match task.state() {
                State::Waiting | State::Running => std::thread::sleep(Duration::from_millis(5)),
                over => return over,
            }
        }
    }

    #[test]
    fn equal_tasks_run_once() {
        static RUNS: AtomicUsize = AtomicUsize::new(0);
        let tasks = Tasks::default();
        let work = |_: &Watch| {
            RUNS.fetch_add(1, Ordering::SeqCst);
            Ok(Answer::Nothing)
        };
        let (a, b) =
            (tasks.ask(&key("a", Kind::Quick), work), tasks.ask(&key("a", Kind::Quick), work));
        assert!(matches!(wait(&a), State::Done(_)) && matches!(wait(&b), State::Done(_)));
        assert_eq!(RUNS.load(Ordering::SeqCst), 1);
        tasks.forget(&key("a", Kind::Quick));
        wait(&tasks.ask(&key("a", Kind::Quick), work));
        assert_eq!(RUNS.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn superseded_previews_are_abandoned_unless_another_page_polls_them() {
        let tasks = Tasks::default();
        let forever = |watch: &Watch| loop {
            watch.advance(1);
            std::thread::yield_now();
        };
        let (visible, hidden) = (key("visible", Kind::Release), key("hidden", Kind::Release));
        let (polled, unpolled) = (tasks.ask(&visible, forever), tasks.ask(&hidden, forever));
        tasks.ask(&key("next", Kind::Quick), |_| Ok(Answer::Nothing));
        // The test sets the times instead of waiting: one was polled now, the other long ago.
        let long_ago = Instant::now().checked_sub(2 * SHORT_TIMEOUT).unwrap();
        *lock(&unpolled.polled) = long_ago;
        polled.state();
        tasks.get(&visible);
        assert!(unpolled.watch.is_stopped() && !polled.watch.is_stopped());
        *lock(&unpolled.polled) = long_ago;
        // The next request starts the task again and does not return the stopped one.
        let again = tasks.ask(&hidden, |_| Ok(Answer::Nothing));
        assert!(!Arc::ptr_eq(&again, &unpolled));
        assert!(matches!(wait(&unpolled), State::Failed(Failed::Stopped)));
        tasks.close();
        wait(&polled);
    }

    #[test]
    fn other_tasks_pause_during_a_quick_task() {
        let tasks = Tasks::default();
        let counts = |watch: &Watch| loop {
            watch.advance(1);
        };
        let slow = tasks.ask(&key("slow", Kind::Compare), counts);
        while slow.watch.state().done == 0 {
            std::thread::yield_now();
        }
        let own = slow.clone();
        // The quick task waits until the progress of the other stops, and checks that it stays
        // stopped.
        let quick = tasks.ask(&key("quick", Kind::Quick), move |_| {
            while own.watch.state().done != {
                std::thread::sleep(Duration::from_millis(1));
                own.watch.state().done
            } {}
            let before = own.watch.state().done;
            (0..1000).for_each(|_| std::thread::yield_now());
            assert_eq!(own.watch.state().done, before);
            Ok(Answer::Nothing)
        });
        assert!(matches!(wait(&quick), State::Done(_)));
        let before = slow.watch.state().done;
        while slow.watch.state().done == before {
            std::thread::yield_now();
        }
        tasks.close();
        assert!(matches!(wait(&slow), State::Failed(Failed::Stopped)));
    }

    #[test]
    fn a_stopped_task_lets_the_next_one_start() {
        let tasks = Tasks::default();
        let forever = |watch: &Watch| loop {
            watch.advance(1);
            std::thread::sleep(Duration::from_millis(1));
        };
        let running: Vec<_> = ["a", "b"]
            .map(|job| tasks.ask(&key(job, Kind::Release), forever))
            .into_iter()
            .collect();
        while !running.iter().all(|task| matches!(task.state(), State::Running)) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let third = tasks.ask(&key("c", Kind::Release), |_| Ok(Answer::Nothing));
        assert!(matches!(third.state(), State::Waiting));
        tasks.stop(&key("a", Kind::Release));
        assert!(matches!(wait(&running[0]), State::Failed(Failed::Stopped)));
        assert!(matches!(wait(&third), State::Done(_)));
        tasks.close();
        assert!(matches!(wait(&running[1]), State::Failed(Failed::Stopped)));
    }
}
