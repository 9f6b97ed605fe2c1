//! Work that takes a while: started once for an address, shared by all who look at it, stopped when nobody does.
//!
//! What is made in a hurry begins at once. Of what takes longer two run at a time; what was asked for last comes first, because
//! that is what somebody is looking at. A page that waits keeps asking; work that nobody asked about for a while is given up.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::steps::Answer;
use crate::work::{Failed, Watch, caught};

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Looking at a table.
    Look,
    /// Searching for sets of columns that single people out.
    Single,
    /// A release in a hurry.
    Quick,
    /// A release as the job says.
    Release,
    /// What other values of k would cost, in a hurry.
    Alternatives,
    /// Attacks and measures.
    Check,
    /// Other algorithms and other k.
    Compare,
    /// Files.
    Publish,
}

impl Kind {
    pub(crate) const ALL: [(&'static str, Kind); 8] = [
        ("look", Kind::Look),
        ("single", Kind::Single),
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

    fn waits(self) -> bool {
        !matches!(self, Kind::Look | Kind::Quick)
    }
}

/// Which work is meant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) table: String,
    pub(crate) job: String,
    pub(crate) kind: Kind,
}

/// How far it is.
#[derive(Clone, Debug)]
pub(crate) enum State {
    Waiting,
    Running,
    Done(Answer),
    Failed(Failed),
}

/// Work.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) watch: Watch,
    state: Mutex<State>,
    /// When somebody asked about it last.
    asked: Mutex<Instant>,
    began: Mutex<Instant>,
    /// How many seconds the like took before.
    before: Option<f64>,
}

impl Task {
    fn new(before: Option<f64>) -> Task {
        Task {
            watch: Watch::default(),
            state: Mutex::new(State::Waiting),
            asked: Mutex::new(Instant::now()),
            began: Mutex::new(Instant::now()),
            before,
        }
    }

    pub(crate) fn state(&self) -> State {
        *lock(&self.asked) = Instant::now();
        lock(&self.state).clone()
    }

    fn put(&self, state: State) {
        *lock(&self.state) = state;
    }

    fn is_over(&self) -> bool {
        matches!(*lock(&self.state), State::Done(_) | State::Failed(_))
    }

    fn unasked(&self) -> Duration {
        lock(&self.asked).elapsed()
    }

    /// How far it is, for a script.
    pub(crate) fn to_json(&self) -> Json {
        let state = match self.state() {
            State::Waiting => "waiting",
            State::Running => "running",
            State::Done(_) => "done",
            State::Failed(Failed::Stopped) => "stopped",
            State::Failed(_) => "failed",
        };
        let seen = self.watch.seen();
        let seconds = lock(&self.began).elapsed().as_secs_f64();
        json!({
            "state": state,
            "step": seen.step,
            "done": seen.done,
            "total": seen.total,
            "seconds": seconds,
            "left": self.left(seconds),
        })
    }

    /// How many seconds are probably left: by what the like took before, else by how far the step is.
    fn left(&self, seconds: f64) -> Option<f64> {
        if let Some(before) = self.before {
            return (before > seconds).then_some(before - seconds);
        }
        let seen = self.watch.seen();
        let share = seen.done as f64 / seen.total.filter(|total| *total > 0)? as f64;
        (share > 0.02 && share < 1.0 && seen.seconds > 0.5).then(|| seen.seconds * (1.0 - share) / share)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Who works and who waits.
#[derive(Debug, Default)]
struct Room {
    working: usize,
    waiting: Vec<u64>,
    last: u64,
}

#[derive(Debug, Default)]
struct Queue {
    room: Mutex<Room>,
    changed: Condvar,
}

/// So many of those that wait work at a time.
const AT_A_TIME: usize = 2;
/// Who waits and is not asked about for so long is given up.
const PATIENCE: Duration = Duration::from_secs(5);
/// Who works and is not asked about for so long is stopped.
const LONG_PATIENCE: Duration = Duration::from_secs(60);
/// So many finished ones are kept.
const KEPT: usize = 60;

impl Queue {
    /// Waits for a turn. `false` if nobody asks any more.
    fn enter(&self, task: &Task) -> bool {
        let mut room = lock(&self.room);
        room.last += 1;
        let own = room.last;
        room.waiting.push(own);
        loop {
            let gone = task.watch.is_stopped() || task.unasked() > PATIENCE;
            let next = room.working < AT_A_TIME && room.waiting.iter().max() == Some(&own);
            if gone || next {
                room.waiting.retain(|waiting| *waiting != own);
                room.working += usize::from(!gone);
                self.changed.notify_all();
                return !gone;
            }
            let wait = self.changed.wait_timeout(room, Duration::from_millis(200));
            room = wait.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn leave(&self) {
        lock(&self.room).working -= 1;
        self.changed.notify_all();
    }
}

/// All work of a server.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    all: Mutex<HashMap<Key, Arc<Task>>>,
    /// How many seconds work took, by table and kind.
    took: Arc<Mutex<HashMap<(String, Kind), f64>>>,
    queue: Arc<Queue>,
}

impl Tasks {
    /// The work, started if it is not under way.
    pub(crate) fn ask(
        &self,
        key: &Key,
        work: impl FnOnce(&Watch) -> Result<Answer, Failed> + Send + 'static,
    ) -> Arc<Task> {
        let mut all = lock(&self.all);
        tidy(&mut all);
        if let Some(task) = all.get(key) {
            *lock(&task.asked) = Instant::now();
            return task.clone();
        }
        let like = (key.table.clone(), key.kind);
        let task = Arc::new(Task::new(lock(&self.took).get(&like).copied()));
        all.insert(key.clone(), task.clone());
        let (own, queue, took, waits) =
            (task.clone(), self.queue.clone(), self.took.clone(), key.kind.waits());
        let run = move || {
            if waits && !queue.enter(&own) {
                own.put(State::Failed(Failed::Stopped));
                return;
            }
            let began = Instant::now();
            *lock(&own.began) = began;
            own.put(State::Running);
            let answer = caught(|| work(&own.watch));
            if waits {
                queue.leave();
            }
            if answer.is_ok() {
                lock(&took).insert(like, began.elapsed().as_secs_f64());
            }
            own.put(answer.map_or_else(State::Failed, State::Done));
        };
        if std::thread::Builder::new().name("incrowd".to_owned()).spawn(run).is_err() {
            let error = incrowd::Error::resources("cannot start a thread");
            task.put(State::Failed(error.into()));
        }
        task
    }

    /// The work, if it was asked for.
    pub(crate) fn get(&self, key: &Key) -> Option<Arc<Task>> {
        lock(&self.all).get(key).cloned()
    }

    /// Tells work to stop. It stays stopped until somebody wants it again.
    pub(crate) fn stop(&self, key: &Key) {
        if let Some(task) = self.get(key) {
            task.watch.stop();
        }
    }

    /// Forgets work that is over, so that it is done anew when it is asked for.
    pub(crate) fn forget(&self, key: &Key) {
        let mut all = lock(&self.all);
        if all.get(key).is_some_and(|task| task.is_over()) {
            all.remove(key);
        }
    }

    /// Stops everything.
    pub(crate) fn close(&self) {
        lock(&self.all).values().for_each(|task| task.watch.stop());
    }
}

/// Gives up what nobody asks about: work under way, and the oldest results.
fn tidy(all: &mut HashMap<Key, Arc<Task>>) {
    let given_up = |task: &Arc<Task>| {
        let stopped = matches!(*lock(&task.state), State::Failed(Failed::Stopped));
        stopped && task.unasked() > PATIENCE
    };
    all.retain(|_, task| !given_up(task));
    let forgotten = |(key, task): &(&Key, &Arc<Task>)| {
        !task.is_over() && key.kind != Kind::Publish && task.unasked() > LONG_PATIENCE
    };
    #[allow(clippy::iter_over_hash_type, reason = "each is told by itself")]
    for (_, task) in all.iter().filter(forgotten) {
        task.watch.stop();
    }
    // How a table looks is not forgotten: every page about it needs that.
    let mut over: Vec<(Duration, Key)> = all
        .iter()
        .filter(|(key, task)| key.kind != Kind::Look && task.is_over())
        .map(|(key, task)| (task.unasked(), key.clone()))
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
    fn the_same_work_is_done_once() {
        static RUNS: AtomicUsize = AtomicUsize::new(0);
        let tasks = Tasks::default();
        let work = |_: &Watch| {
            RUNS.fetch_add(1, Ordering::SeqCst);
            Ok(Answer::Nothing)
        };
        let (a, b) = (tasks.ask(&key("a", Kind::Quick), work), tasks.ask(&key("a", Kind::Quick), work));
        assert!(matches!(wait(&a), State::Done(_)) && matches!(wait(&b), State::Done(_)));
        assert_eq!(RUNS.load(Ordering::SeqCst), 1);
        tasks.forget(&key("a", Kind::Quick));
        wait(&tasks.ask(&key("a", Kind::Quick), work));
        assert_eq!(RUNS.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn work_is_stopped_and_does_not_keep_others_waiting() {
        let tasks = Tasks::default();
        let forever = |watch: &Watch| loop {
            watch.advance(1);
            std::thread::sleep(Duration::from_millis(1));
        };
        let running: Vec<_> =
            ["a", "b"].map(|job| tasks.ask(&key(job, Kind::Release), forever)).into_iter().collect();
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
