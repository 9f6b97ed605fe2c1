//! Prints the published crates, each after its dependencies. The release workflow publishes them in
//! this order.

use std::process::ExitCode;

use incrowd_testing::workspace::{metadata, publish_order};

fn main() -> ExitCode {
    match metadata().and_then(|metadata| publish_order(&metadata)) {
        Ok(order) => {
            println!("{}", order.join(" "));
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}
