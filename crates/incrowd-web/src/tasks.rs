//! Work that takes a while: started once for an address, shared by all who look at it, stopped when nobody does.
//!
//! What is made in a hurry begins at once and has the machine to itself: other work pauses at its next step. Of what takes longer two
//! run at a time; what was asked for last comes first, because that is what somebody is looking at. A page that waits keeps asking.
//! Work that nobody asked about for a while is given up, and soon if the table is released in another way by now.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use incrowd::work::{Failed, Gate, Watch, caught, in_pool, quietly};
use serde_json::{Value as Json, json};

use crate::steps::Answer;

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

    /// Whether it is about a release that one tries out, and of no use when another is tried.
    fn tries(self) -> bool {
        matches!(self, Kind::Quick | Kind::Release | Kind::Alternatives)
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
    /// Whether something else is tried by now.
    left: AtomicBool,
    /// Whether it was stopped because nobody asked about it. Whoever asks again wants it done.
    given_up: AtomicBool,
}

impl Task {
    fn new(watch: Watch, before: Option<f64>) -> Task {
        Task {
            watch,
            state: Mutex::new(State::Waiting),
            asked: Mutex::new(Instant::now()),
            began: Mutex::new(Instant::now()),
            before,
            left: AtomicBool::new(false),
            given_up: AtomicBool::new(false),
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
/// The same where something else is tried by now, and for what is only a quick look: a page that shows it asks twice a second.
const SHORT_PATIENCE: Duration = Duration::from_millis(1000);
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
    gate: Arc<Gate>,
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
        if let Some(task) = all.get(key).filter(|task| !task.given_up.load(Ordering::Relaxed)) {
            *lock(&task.asked) = Instant::now();
            return task.clone();
        }
        if key.kind.tries() {
            leave_others(&all, key);
        }
        quietly(|at| eprintln!("error: incrowd failed at {at}"));
        let like = (key.table.clone(), key.kind);
        let waits = key.kind.waits();
        let watch = if waits { Watch::behind(self.gate.clone()) } else { Watch::default() };
        let task = Arc::new(Task::new(watch, lock(&self.took).get(&like).copied()));
        all.insert(key.clone(), task.clone());
        let (own, queue, took) = (task.clone(), self.queue.clone(), self.took.clone());
        let gate = (!waits).then(|| self.gate.clone());
        let run = move || {
            if waits && !queue.enter(&own) {
                own.put(State::Failed(Failed::Stopped));
                return;
            }
            let began = Instant::now();
            *lock(&own.began) = began;
            own.put(State::Running);
            // Who waits for the gate must not hold the threads of who is in a hurry.
            let answer = {
                let _hurried = gate.as_ref().map(|gate| gate.hurry());
                caught(|| in_pool(|| work(&own.watch)))
            };
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
        let all = lock(&self.all);
        give_up(&all);
        all.get(key).cloned()
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

/// Marks what was tried before as left. Where another page still asks about it, it goes on.
fn leave_others(all: &HashMap<Key, Arc<Task>>, own: &Key) {
    let other = |key: &Key| key.table == own.table && key.kind.tries() && key.job != own.job;
    #[allow(clippy::iter_over_hash_type, reason = "each is told by itself")]
    for (_, task) in all.iter().filter(|(key, _)| other(key)) {
        task.left.store(true, Ordering::Relaxed);
    }
}

/// Stops work that nobody asks about.
fn give_up(all: &HashMap<Key, Arc<Task>>) {
    let patience = |key: &Key, task: &Task| match key.kind {
        Kind::Publish => Duration::MAX,
        Kind::Quick => SHORT_PATIENCE,
        _ if task.left.load(Ordering::Relaxed) => SHORT_PATIENCE,
        _ => LONG_PATIENCE,
    };
    #[allow(clippy::iter_over_hash_type, reason = "each is told by itself")]
    for (key, task) in all {
        if !task.is_over() && task.unasked() > patience(key, task) {
            task.given_up.store(true, Ordering::Relaxed);
            task.watch.stop();
        }
    }
}

/// Gives up what nobody asks about: work under way, and the oldest results.
fn tidy(all: &mut HashMap<Key, Arc<Task>>) {
    let long_stopped = |task: &Arc<Task>| {
        let stopped = matches!(*lock(&task.state), State::Failed(Failed::Stopped));
        stopped && task.unasked() > PATIENCE
    };
    all.retain(|_, task| !long_stopped(task));
    give_up(all);
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
    fn what_was_tried_before_is_given_up_unless_another_page_asks_about_it() {
        let tasks = Tasks::default();
        let forever = |watch: &Watch| loop {
            watch.advance(1);
            std::thread::yield_now();
        };
        let (seen, unseen) = (key("seen", Kind::Release), key("unseen", Kind::Release));
        let (followed, forgotten) = (tasks.ask(&seen, forever), tasks.ask(&unseen, forever));
        tasks.ask(&key("next", Kind::Quick), |_| Ok(Answer::Nothing));
        // Nobody waits for a clock here: one was asked about just now, the other long ago.
        let long_ago = Instant::now().checked_sub(2 * SHORT_PATIENCE).unwrap();
        *lock(&forgotten.asked) = long_ago;
        followed.state();
        tasks.get(&seen);
        assert!(forgotten.watch.is_stopped() && !followed.watch.is_stopped());
        *lock(&forgotten.asked) = long_ago;
        // Whoever comes back has it done anew, and does not read that it was stopped.
        let again = tasks.ask(&unseen, |_| Ok(Answer::Nothing));
        assert!(!Arc::ptr_eq(&again, &forgotten));
        assert!(matches!(wait(&forgotten), State::Failed(Failed::Stopped)));
        tasks.close();
        wait(&followed);
    }

    #[test]
    fn other_work_pauses_while_something_is_made_in_a_hurry() {
        let tasks = Tasks::default();
        let counts = |watch: &Watch| loop {
            watch.advance(1);
        };
        let slow = tasks.ask(&key("slow", Kind::Compare), counts);
        while slow.watch.seen().done == 0 {
            std::thread::yield_now();
        }
        let own = slow.clone();
        // What is in a hurry sees the other stand still: of two looks at it, however far apart, the second finds nothing new.
        let quick = tasks.ask(&key("quick", Kind::Quick), move |_| {
            while own.watch.seen().done != {
                std::thread::sleep(Duration::from_millis(1));
                own.watch.seen().done
            } {}
            let before = own.watch.seen().done;
            (0..1000).for_each(|_| std::thread::yield_now());
            assert_eq!(own.watch.seen().done, before);
            Ok(Answer::Nothing)
        });
        assert!(matches!(wait(&quick), State::Done(_)));
        let before = slow.watch.seen().done;
        while slow.watch.seen().done == before {
            std::thread::yield_now();
        }
        tasks.close();
        assert!(matches!(wait(&slow), State::Failed(Failed::Stopped)));
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
