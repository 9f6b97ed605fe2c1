//! Measures incrowd against the physical limit: every figure is a ratio to copying the same file in the same run.

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let t = std::time::Instant::now();
    let n = incrowd_engine::copy(args[1].as_ref(), args[2].as_ref(), &Default::default(), &incrowd::Silent)
        .unwrap();
    eprintln!("{n} records {:.3}", t.elapsed().as_secs_f64());
}
